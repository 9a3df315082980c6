"""Violations: the facts of constraints, as what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.contract import Ids
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.plan.normalize import VIOLATION, violation_variables
from livefacts.rules.formula import Formula, PredicateAtom, TripleAtom, filled
from livefacts.rules.program import Program, Rule
from livefacts.service.delta import Violation
from livefacts.service.explanations.proofreading import as_triple
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES


def violations_in(
    facts: Mapping[int, Ids], program: Program, dictionary: Dictionary
) -> Iterator[Violation]:
    """The violations of a program's constraints among facts."""
    found = {
        name: rows[rows[:, 0] == predicate]
        for shape, rows in facts.items()
        if shape != TRIPLES and len(rows)
        for predicate in np.unique(rows[:, 0])
        if (name := _constraint(dictionary.decode_one(int(predicate)))) is not None
    }
    for rule in program if found else ():
        if rule.is_constraint and rule.id in found:
            yield from _violations_of(rule, found[rule.id], dictionary)


def _constraint(predicate: Term) -> str | None:
    """The name of the constraint whose violations a predicate lists, if it does."""
    if not isinstance(predicate, Symbol) or not predicate.name.startswith(VIOLATION):
        return None
    return predicate.name.removeprefix(VIOLATION)


def _violations_of(rule: Rule, rows: Ids, dictionary: Dictionary) -> Iterator[Violation]:
    names = [variable.name for variable in violation_variables(rule)]
    for row in rows:
        bindings = dict(zip(names, dictionary.decode(row[1:]), strict=True))
        yield Violation(rule.id, bindings, _in_conflict(rule, bindings))


def _in_conflict(rule: Rule, bindings: Mapping[str, Term]) -> tuple[Triple | Fact, ...]:
    """The facts that match the atoms of a constraint, as far as users see them."""
    terms = {variable: bindings[variable.name] for variable in violation_variables(rule)}
    atoms = [formula for formula in rule.body if isinstance(formula, TripleAtom | PredicateAtom)]
    return tuple(fact for atom in atoms if (fact := _fact(filled(atom, terms))) is not None)


def _fact(atom: Formula) -> Triple | Fact | None:
    if isinstance(atom, TripleAtom):
        shown = as_triple(*atom.slots)  # type: ignore[arg-type]
        return shown if isinstance(shown, Triple) else None
    assert isinstance(atom, PredicateAtom)
    if atom.name.startswith("_"):
        return None
    return Fact(atom.name, atom.arguments)  # type: ignore[arg-type]
