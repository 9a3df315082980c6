"""Relevance: the rules whose conclusions can matter to a query; the others need not run for it.

A rule is relevant if its head can match an atom that is looked up, by the query or by a
relevant rule.  This is decided on patterns, constants at every position included.

Paper: Barbieri et al., section 6.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeAlias

from livefacts.language.checks.strata import TRIPLES, Pattern, Relation, body_atoms, pattern_of
from livefacts.language.formula import Atom, Slot
from livefacts.language.program import Rule

Key: TypeAlias = tuple[Relation, Slot | None]
"""A relation, and for triples the predicate; None is any."""


def needed_rules(rules: Iterable[Rule], asked: Iterable[Atom]) -> tuple[Rule, ...]:
    """The rules that can matter to these atoms, in their order; constraints never do."""
    return RulesByHead(rules).needed(asked)


class RulesByHead:
    """Rules, found by what they conclude; constraints conclude nothing."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple([rule for rule in rules if rule.head is not None])
        heads = [(n, rule.head) for n, rule in enumerate(self.rules) if rule.head is not None]
        self._heads = _Patterns(heads)

    def needed(self, asked: Iterable[Atom]) -> tuple[Rule, ...]:
        """Those that can matter to these atoms, in their order."""
        waiting = list(dict.fromkeys(map(pattern_of, asked)))
        seen, needed = set(waiting), set[int]()
        while waiting:
            for number in self._heads.matching(waiting.pop(), needed):
                needed.add(number)
                for atom, _ in body_atoms(self.rules[number].body):
                    pattern = pattern_of(atom)
                    if pattern not in seen:
                        seen.add(pattern)
                        waiting.append(pattern)
        return tuple([self.rules[number] for number in sorted(needed)])


def dependent_rules(rules: Iterable[Rule], on: Iterable[Rule]) -> tuple[Rule, ...]:
    """Some of the rules, and those to which their conclusions can matter, in their order."""
    rules, waiting = tuple(rules), list(on)
    if not waiting:
        return ()
    own = set(map(id, waiting))
    found = {number for number, rule in enumerate(rules) if id(rule) in own}
    atoms = ((n, atom) for n, rule in enumerate(rules) for atom, _ in body_atoms(rule.body))
    bodies = _Patterns(atoms)
    while waiting:
        head = waiting.pop().head
        for number in [] if head is None else bodies.matching(pattern_of(head), found):
            found.add(number)
            waiting.append(rules[number])
    return tuple([rule for number, rule in enumerate(rules) if number in found])


def fed_rules(rules: Iterable[Rule]) -> list[list[int]]:
    """For each rule, the numbers of those to which its own conclusions can matter at once."""
    rules = tuple(rules)
    atoms = ((n, atom) for n, rule in enumerate(rules) for atom, _ in body_atoms(rule.body))
    bodies = _Patterns(atoms)
    heads = (rule.head for rule in rules)
    return [[] if head is None else sorted(bodies.matching(pattern_of(head), ())) for head in heads]


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

    def matching(self, pattern: Pattern, known: Collection[int]) -> set[int]:
        """The rules, but for those that are known, that have an atom which can match the pattern."""
        relation, predicate = _key(pattern)
        if relation != TRIPLES or predicate is None:
            found = self._by_relation.get(relation, [])
        else:
            found = self._by_key.get((relation, predicate), [])
            found = found + self._by_key.get((relation, None), [])
        return {n for n, head in found if n not in known and _can_meet(head, pattern)}


def _key(pattern: Pattern) -> Key:
    return pattern.relation, pattern.constants[1] if pattern.relation == TRIPLES else None


def _can_meet(head: Pattern, pattern: Pattern) -> bool:
    return all(
        one is None or other is None or one == other
        for one, other in zip(head.constants, pattern.constants, strict=True)
    )
