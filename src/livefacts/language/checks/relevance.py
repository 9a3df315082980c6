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
    heads = _Patterns((n, rule.head) for n, rule in enumerate(rules) if rule.head is not None)
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


def dependent_rules(rules: Iterable[Rule], on: Iterable[Rule]) -> tuple[Rule, ...]:
    """Some of the rules, and those to which their conclusions can matter, in their order."""
    rules, waiting = tuple(rules), list(on)
    if not waiting:
        return ()
    found = {id(rule) for rule in waiting}
    atoms = ((n, atom) for n, rule in enumerate(rules) for atom, _ in body_atoms(rule.body))
    bodies = _Patterns(atoms)
    while waiting:
        head = waiting.pop().head
        for number in [] if head is None else bodies.matching(pattern_of(head)):
            if id(rules[number]) not in found:
                found.add(id(rules[number]))
                waiting.append(rules[number])
    return tuple(rule for rule in rules if id(rule) in found)


def can_meet(one: Atom, other: Atom) -> bool:
    """Whether a fact can match both atoms, as far as constants say."""
    mine, theirs = pattern_of(one), pattern_of(other)
    return mine.relation == theirs.relation and _can_meet(mine, theirs)


class _Patterns:
    """Heads or body atoms of rules, found by relation and by the predicate of triples."""

    def __init__(self, atoms: Iterable[tuple[int, Atom]]) -> None:
        self._by_key: dict[Key, list[tuple[int, Pattern]]] = {}
        self._by_relation: dict[Relation, list[tuple[int, Pattern]]] = {}
        for number, atom in atoms:
            pattern = pattern_of(atom)
            self._by_key.setdefault(_key(pattern), []).append((number, pattern))
            self._by_relation.setdefault(pattern.relation, []).append((number, pattern))

    def matching(self, pattern: Pattern) -> list[int]:
        """The rules that have an atom which can match the pattern."""
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
