"""Equality support: what a derived equality rests on, and which equalities go with a fact.

An equality that follows is merged like an asserted one as long as its proof stands: the asserted
facts, the rules, and the equalities that were known before it.  When one of these goes, so does
the equality, and all that rests on it; whatever follows still is found anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from livefacts.language.program import Rule

K = TypeVar("K")
Pair = tuple[int, int]
Asserted = tuple[int, ...]
"""A fact that was asserted: its shape, and its ids."""


@dataclass(frozen=True, slots=True)
class Support:
    """What the proof of an equality rests on; rules by their keys."""

    asserted: frozenset[Asserted]
    rules: frozenset[Rule]
    equalities: frozenset[Pair]


class Resting:
    """Which proven equalities rest on what."""

    def __init__(self) -> None:
        self._on_fact: dict[Asserted, set[Pair]] = {}
        self._on_rule: dict[Rule, set[Pair]] = {}
        self._on_equality: dict[Pair, set[Pair]] = {}

    def replace(self, lost: Mapping[Pair, Support], found: Mapping[Pair, Support]) -> None:
        """Forget some equalities, and take note of others."""
        for pair, support in lost.items():
            _forget(pair, self._on_fact, support.asserted)
            _forget(pair, self._on_rule, support.rules)
            _forget(pair, self._on_equality, support.equalities)
        for pair, support in found.items():
            _note(pair, self._on_fact, support.asserted)
            _note(pair, self._on_rule, support.rules)
            _note(pair, self._on_equality, support.equalities)

    def on_facts(self, facts: Iterable[Asserted]) -> set[Pair]:
        """The equalities that go with these facts."""
        return self._closed(self._on_fact[fact] for fact in facts if fact in self._on_fact)

    def on_other_rules(self, kept: Collection[Rule]) -> set[Pair]:
        """The equalities that go when no rules are kept but these, given by their keys."""
        return self._closed(pairs for rule, pairs in self._on_rule.items() if rule not in kept)

    def _closed(self, starts: Iterable[set[Pair]]) -> set[Pair]:
        found: set[Pair] = set().union(*starts)
        waiting = list(found)
        while waiting:
            new = self._on_equality.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


def _note(pair: Pair, users: dict[K, set[Pair]], parts: Iterable[K]) -> None:
    for part in parts:
        users.setdefault(part, set()).add(pair)


def _forget(pair: Pair, users: dict[K, set[Pair]], parts: Iterable[K]) -> None:
    for part in parts:
        users[part].discard(pair)
        if not users[part]:
            del users[part]
