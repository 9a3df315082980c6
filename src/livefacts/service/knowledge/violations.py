"""Violations: the facts of constraints, as what they mean.

What a constraint finds in several orders is one violation (`language.checks.symmetry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.language.checks.symmetry import Mirrors, mirrors_of, symmetric_predicates
from livefacts.language.formula import Formula, PredicateAtom, TripleAtom, Variable, filled
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Term
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables
from livefacts.service.change.assertions import without
from livefacts.service.change.delta import Violation
from livefacts.service.change.fact_reader import Terms
from livefacts.service.explanations.proof_reader import as_triple
from livefacts.service.streams.fact_rows import different


class Violated(NamedTuple):
    """The violations that came with a change, and those that went."""

    came: list[Violation]
    went: list[Violation]


NO_VIOLATIONS = Violated([], [])


class Violations:
    """Finds the violations of constraints among facts; any thread may ask."""

    def __init__(self) -> None:
        self._listings: tuple[_Listing, ...] = ()
        """How violations of the latest programs are listed; replaced, not changed."""

    def among(
        self, facts: Mapping[int, Ids], program: Program, terms: Terms
    ) -> Iterator[Violation]:
        """The violations of a program's constraints among facts."""
        tables = [rows for shape, rows in facts.items() if shape != TRIPLES and len(rows)]
        if not tables:
            return
        listing = self._listing(program)
        for rows in tables if listing.constraints else ():
            present = {str(terms.decode_one(each)): each for each in different(rows[:, 0])}
            for name, rule in listing.constraints.items():
                if name in present:
                    chosen = rows[rows[:, 0] == present[name]]
                    yield from listing.violations(rule, chosen, terms)

    def changes(
        self,
        ids: IdDelta,
        before: Program,
        after: Program,
        moved: Sequence[Rule],
        facts: Callable[[], Mapping[int, Ids]],
        terms: Terms,
    ) -> Violated:
        """The violations that came and those that went with a change; `moved` are its rules.

        Where it makes a predicate symmetric, or no longer, violations that stay may come to
        be listed once or twice: then all `facts` that are true are looked at.
        """
        if before is after and not self._listing(after).constraints:
            return NO_VIOLATIONS
        came, went = (
            list(self.among(ids.added, after, terms)),
            list(self.among(ids.removed, before, terms)),
        )
        if symmetric_predicates(moved):
            standing = _standing(facts(), ids)
            was = {str(v): v for v in self.among(standing, before, terms)}
            now = {str(v): v for v in self.among(standing, after, terms)}
            came += [violation for text, violation in now.items() if text not in was]
            went += [violation for text, violation in was.items() if text not in now]
        return Violated(came, went)

    def _listing(self, program: Program) -> _Listing:
        known = self._listings
        for listing in known:
            if listing.rules is program.rules:
                return listing
        listing = _Listing(program)
        self._listings = (*known[-1:], listing)
        return listing


class _Listing:
    """The constraints of a program by the names of their facts, and which violations say the same."""

    def __init__(self, program: Program) -> None:
        self._mirrors: dict[str, Mirrors] = {}
        self.rules = program.rules
        self.symmetric = symmetric_predicates(program)
        self.constraints = {VIOLATION + rule.id: rule for rule in program if rule.is_constraint}

    def violations(self, rule: Rule, rows: Ids, terms: Terms) -> Iterator[Violation]:
        """The violations of a constraint, of those that are symmetric the first."""
        variables = violation_variables(rule)
        if rule.id not in self._mirrors:
            self._mirrors[rule.id] = mirrors_of(rule, variables, self.symmetric)
        mirrors, size = self._mirrors[rule.id], len(variables)
        decoded = terms.decode(rows[:, 1:].ravel())
        for at in range(len(rows)):
            values = decoded[at * size : (at + 1) * size]
            if mirrors.is_first(values):
                found = dict(zip(variables, values, strict=True))
                bindings = {variable.name: term for variable, term in found.items()}
                yield Violation(rule.id, bindings, _in_conflict(rule, found))


def _standing(facts: Mapping[int, Ids], ids: IdDelta) -> dict[int, Ids]:
    """The facts of predicates that were true before a change and are true after it."""
    return {
        shape: without(
            without(rows, ids.added.get(shape, rows[:0])), ids.removed.get(shape, rows[:0])
        )
        for shape, rows in facts.items()
        if shape != TRIPLES
    }


def _in_conflict(rule: Rule, terms: Mapping[Variable, Term]) -> tuple[Triple | Fact, ...]:
    """The facts that match the atoms of a constraint, as far as users see them."""
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
