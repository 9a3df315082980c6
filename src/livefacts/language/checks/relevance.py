"""Relevance: the rules whose conclusions can matter to a query; the others need not run for it.

A rule is relevant if its head can match an atom that is looked up, by the query or by a
relevant rule.  This is decided on patterns, constants at every position included.

Paper: Barbieri et al., section 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from livefacts.language.checks.strata import TRIPLES, Pattern, Relation, body_atoms, pattern_of
from livefacts.language.formula import Atom, Slot
from livefacts.language.program import Rule

Key: TypeAlias = tuple[Relation, Slot | None]
"""A relation, and for triples the predicate; None is any."""


def needed_rules(rules: Iterable[Rule], asked: Iterable[Atom]) -> tuple[Rule, ...]:
    """The rules that can matter to these atoms, in their order; constraints never do."""
    rules = tuple(rules)
    heads = _Heads(rules)
    waiting = list(dict.fromkeys(map(pattern_of, asked)))
    seen, needed = set(waiting), set[int]()
    while waiting:
        for number in heads.matching(waiting.pop()):
            if number in needed:
                continue
            needed.add(number)
            for atom, _ in body_atoms(rules[number].body):
                pattern = pattern_of(atom)
                if pattern not in seen:
                    seen.add(pattern)
                    waiting.append(pattern)
    return tuple(rules[number] for number in sorted(needed))


class _Heads:
    """The heads of rules, found by relation and by the predicate of triples."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._by_key: dict[Key, list[tuple[int, Pattern]]] = {}
        self._by_relation: dict[Relation, list[tuple[int, Pattern]]] = {}
        for number, rule in enumerate(rules):
            if rule.head is None:
                continue
            pattern = pattern_of(rule.head)
            self._by_key.setdefault(_key(pattern), []).append((number, pattern))
            self._by_relation.setdefault(pattern.relation, []).append((number, pattern))

    def matching(self, pattern: Pattern) -> list[int]:
        """The rules whose head can match the pattern."""
        relation, predicate = _key(pattern)
        if relation != TRIPLES or predicate is None:
            found = self._by_relation.get(relation, [])
        else:
            found = self._by_key.get((relation, predicate), [])
            found = found + self._by_key.get((relation, None), [])
        return [number for number, head in found if _can_meet(head, pattern)]


def _key(pattern: Pattern) -> Key:
    return pattern.relation, pattern.constants[1] if pattern.relation == TRIPLES else None


def _can_meet(head: Pattern, pattern: Pattern) -> bool:
    return all(
        one is None or other is None or one == other
        for one, other in zip(head.constants, pattern.constants, strict=True)
    )
