"""Random graph patterns of every class, and random update messages that fit them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyoxigraph import Literal, NamedNode, Triple

EX = "http://example.org/"
NODES = [NamedNode(f"{EX}n{number}") for number in range(5)]
VALUES = [*NODES, Literal("a b"), Literal(7)]
PREDICATES = [NamedNode(f"{EX}p{number}") for number in range(4)]
VARIABLES = ("?x", "?y", "?z", "?w")
Pattern = tuple[str, str, str]
CLASSES = ("ground", "star", "loose", "path", "cycle", "tree", "mixed", "any")


@dataclass(frozen=True)
class Case:
    """A query, and the messages that it is to follow."""

    text: str
    messages: tuple[tuple[str, Triple], ...]


def random_case(seed: int, messages: int = 24) -> Case:
    """The case of this number; classes take turns."""
    rng = random.Random(seed)
    patterns = list(_PATTERNS[CLASSES[seed % len(CLASSES)]](rng))
    rng.shuffle(patterns)
    asserted = tuple(random_messages(rng, patterns, messages))
    return Case(_asked(rng, patterns), asserted)


def _constant(rng: random.Random) -> str:
    return str(rng.choice(NODES))


def _value(rng: random.Random) -> str:
    return str(rng.choice(VALUES))


def _predicate(rng: random.Random) -> str:
    return str(rng.choice(PREDICATES))


def _spoke(rng: random.Random, centre: str) -> Pattern:
    """A pattern with one variable."""
    kind = rng.randrange(8)
    if kind < 5:
        return centre, _predicate(rng), _value(rng)
    if kind < 7:
        return _constant(rng), _predicate(rng), centre
    return centre, _predicate(rng), centre


def _edge(rng: random.Random, first: str, second: str) -> Pattern:
    ends = (first, second) if rng.random() < 0.5 else (second, first)
    return ends[0], _predicate(rng), ends[1]


def _ground(rng: random.Random) -> Iterator[Pattern]:
    for _ in range(rng.randint(1, 4)):
        yield _constant(rng), _predicate(rng), _value(rng)


def _star(rng: random.Random) -> Iterator[Pattern]:
    for _ in range(rng.randint(1, 4)):
        yield _spoke(rng, "?x")


def _loose(rng: random.Random) -> Iterator[Pattern]:
    for centre in VARIABLES[: rng.randint(2, 3)]:
        for _ in range(rng.randint(1, 2)):
            yield _spoke(rng, centre)
    if rng.random() < 0.5:
        yield next(_ground(rng))


def _path(rng: random.Random) -> Iterator[Pattern]:
    for first, second in pairwise(VARIABLES[: rng.randint(2, 4)]):
        yield _edge(rng, first, second)


def _cycle(rng: random.Random) -> Iterator[Pattern]:
    names = VARIABLES[: rng.randint(2, 4)]
    for first, second in zip(names, (*names[1:], names[0]), strict=True):
        yield _edge(rng, first, second)


def _tree(rng: random.Random) -> Iterator[Pattern]:
    for number, name in enumerate(VARIABLES[1:], start=1):
        yield _edge(rng, VARIABLES[rng.randrange(number)], name)
    for _ in range(rng.randint(0, 2)):
        yield _spoke(rng, rng.choice(VARIABLES))


def _mixed(rng: random.Random) -> Iterator[Pattern]:
    yield _edge(rng, "?x", "?y")
    yield _spoke(rng, "?x")
    yield _spoke(rng, "?z")
    if rng.random() < 0.5:
        yield next(_ground(rng))


def _any(rng: random.Random) -> Iterator[Pattern]:
    """Variables wherever they may stand, predicates included."""
    for _ in range(rng.randint(1, 3)):
        subject = rng.choice(VARIABLES) if rng.random() < 0.6 else _constant(rng)
        predicate = rng.choice(("?p", *VARIABLES[:1])) if rng.random() < 0.4 else _predicate(rng)
        value = rng.choice(VARIABLES) if rng.random() < 0.6 else _value(rng)
        yield subject, predicate, value


_PATTERNS = dict(
    zip(CLASSES, (_ground, _star, _loose, _path, _cycle, _tree, _mixed, _any), strict=True)
)


def _asked(rng: random.Random, patterns: Sequence[Pattern]) -> str:
    group = " . ".join(" ".join(pattern) for pattern in patterns)
    names = sorted({term for pattern in patterns for term in pattern if term.startswith("?")})
    if not names or rng.random() < 0.1:
        return f"ASK {{ {group} }}"
    if rng.random() < 0.5:
        rng.shuffle(names)
        names = names[: rng.randint(1, len(names))]
    distinct = "DISTINCT " if rng.random() < 0.3 else ""
    return f"SELECT {distinct}{' '.join(names)} {{ {group} }}"


def random_messages(
    rng: random.Random, patterns: Sequence[Pattern], count: int
) -> Iterator[tuple[str, Triple]]:
    """Mostly triples that fit, many of them twice; some that are to go were never there."""
    known: list[Triple] = []
    for _ in range(count):
        if known and rng.random() < 0.4:
            yield rng.choice(("del", "del", "ins")), rng.choice(known)
            continue
        triple = _fitting(rng, rng.choice(patterns))
        known.append(triple)
        yield ("ins" if rng.random() < 0.9 else "del"), triple


def _fitting(rng: random.Random, pattern: Pattern) -> Triple:
    chosen = {name: rng.choice(NODES[:3]) for name in ("?p", *VARIABLES)}
    by_text = {str(term): term for term in (*VALUES, *PREDICATES)}
    s, p, o = (chosen.get(slot) or by_text[slot] for slot in pattern)
    if rng.random() < 0.2 or pattern[1] == "?p":
        p = rng.choice(PREDICATES)
    return Triple(s, p, o)  # type: ignore[arg-type]
