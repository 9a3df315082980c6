"""Violations: the facts of constraints, as what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from livefacts.engine.contract import Ids
from livefacts.model.facts import Symbol
from livefacts.plan.normalize import VIOLATION, violation_variables
from livefacts.rules.program import Program, Rule
from livefacts.service.delta import Violation
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES


def violations_in(
    facts: Mapping[int, Ids], program: Program, dictionary: Dictionary
) -> Iterator[Violation]:
    """The violations of a program's constraints among facts."""
    if facts.keys() <= {TRIPLES}:
        return
    for rule in program:
        if rule.is_constraint:
            yield from _violations_of(rule, facts, dictionary)


def _violations_of(
    rule: Rule, facts: Mapping[int, Ids], dictionary: Dictionary
) -> Iterator[Violation]:
    names = [variable.name for variable in violation_variables(rule)]
    rows = facts.get(1 + len(names))
    predicate = dictionary.find(Symbol(VIOLATION + rule.id))
    if rows is None or predicate is None:
        return
    for row in rows[rows[:, 0] == predicate]:
        terms = dictionary.decode(row[1:])
        yield Violation(rule.id, dict(zip(names, terms, strict=True)))
