"""Versions of a set of triples: a few terms, and changes that add and remove some."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from livefacts.engine.queries.joins.variable_order import IdPattern

Row = tuple[int, int, int]
NAMES = "abcde"


@dataclass(frozen=True)
class RandomVersions:
    """Triples, and what each change adds that is not there and removes that is."""

    first: frozenset[Row]
    changes: tuple[tuple[frozenset[Row], frozenset[Row]], ...]


@dataclass(frozen=True)
class RandomJoin:
    """Patterns, rows of some of their variables that are given, and the variables asked for."""

    patterns: tuple[IdPattern, ...]
    given: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    wanted: frozenset[str]


def draw_versions(random: Random, terms: int) -> RandomVersions:
    first = now = _rows(random, terms, random.randrange(30))
    changes = []
    for _ in range(random.randrange(5)):
        added = _rows(random, terms, random.randrange(5)) - now
        removed = frozenset(random.sample(sorted(now), min(len(now), random.randrange(4))))
        now = (now - removed) | added
        changes.append((added, removed))
    return RandomVersions(first, tuple(changes))


def draw_join(random: Random, terms: int) -> RandomJoin:
    patterns = tuple(_pattern(random, terms) for _ in range(random.randrange(1, 5)))
    given = tuple(sorted(random.sample(NAMES, random.choice([0, 0, 1, 2]))))
    rows = [tuple(random.randrange(terms) for _ in given) for _ in range(random.randrange(1, 5))]
    names = {slot for slots in patterns for slot in slots if isinstance(slot, str)}
    wanted = frozenset(name for name in names - set(given) if random.random() < 0.6)
    return RandomJoin(patterns, given, tuple(rows if given else rows[:1]), wanted)


def _rows(random: Random, terms: int, count: int) -> frozenset[Row]:
    return frozenset(
        (random.randrange(terms), random.randrange(3), random.randrange(terms))
        for _ in range(count)
    )


def _pattern(random: Random, terms: int) -> IdPattern:
    subject, predicate, value = (
        random.choice(NAMES[: random.choice([2, 3, 5])])
        if random.random() < share
        else random.randrange(many)
        for share, many in ((0.8, terms), (0.3, 3), (0.8, terms))
    )
    return subject, predicate, value
