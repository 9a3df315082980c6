"""Violations: the facts of constraints, as what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyoxigraph import Triple

from livefacts.engine.contract import Ids
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.plan.normalize import VIOLATION, violation_variables
from livefacts.rules.formula import Formula, PredicateAtom, TripleAtom, filled
from livefacts.rules.program import Program, Rule
from livefacts.service.delta import Violation
from livefacts.service.explanations.proofreading import as_triple
from livefacts.service.streams.arrivals import different
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES


class Violations:
    """Finds the violations of constraints among facts, by the ids of their predicates."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._rules: tuple[Rule, ...] = ()
        self._constraints: dict[int, Rule] = {}
        """The constraints among these rules."""

    def among(self, facts: Mapping[int, Ids], program: Program) -> Iterator[Violation]:
        """The violations of a program's constraints among facts."""
        tables = [rows for shape, rows in facts.items() if shape != TRIPLES and len(rows)]
        constraints = self._constraints_of(program) if tables else {}
        for rows in tables if constraints else ():
            present = different(rows[:, 0])
            for predicate, rule in constraints.items():
                if predicate in present:
                    found = rows[rows[:, 0] == predicate]
                    yield from _violations_of(rule, found, self._dictionary)

    def _constraints_of(self, program: Program) -> dict[int, Rule]:
        if program.rules is not self._rules:
            encode = self._dictionary.encode_one
            self._constraints = {
                encode(Symbol(VIOLATION + rule.id)): rule for rule in program if rule.is_constraint
            }
            self._rules = program.rules
        return self._constraints


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
