"""Ontologies of a reasoner: the rules of an OWL file, and axioms that come and go.

The axioms that a program was made from stay with it.  A change of axioms is a change of the
rules in which the two sets of axioms differ, and of no others, so that it is as incremental as
any change of rules.  What the axioms became is kept in memory from one change to the next
(`axiom_index`); where a change gives other axioms another meaning, all are read again.

An axiom stands while all of its rules are there: one that lost a rule to `remove_rules` is not
reported, can be stated again, and can be removed with what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from livefacts.errors import InputError, RuleError
from livefacts.language.axioms import Axiom, Declaration
from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.service.knowledge.axiom_index import AxiomChange, AxiomIndex, named_anew
from livefacts.service.knowledge.draft import Draft
from livefacts.service.knowledge.state import State
from livefacts.syntax.owl.annotations import (
    annotation_properties,
    known_properties,
    set_annotations_apart,
)
from livefacts.syntax.owl.axiom_reader import Ontology
from livefacts.syntax.owl.logic_programs import translate
from livefacts.syntax.owl.ontology_files import (
    OFF,
    RULES,
    OntologyReport,
    OntologySource,
    read_ontology,
    report_on,
    rules_of,
)

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta

__all__ = ["OFF", "RULES", "OntologyReport", "OntologySource", "rules_from_owl"]


def rules_from_owl(source: OntologySource, *, same_as: str = OFF) -> OntologyReport:
    """The rules of an ontology: `.rules` as text, `.program`, and what is `.inexpressible`.

    `source` is a path or pattern, the text of an ontology, or a list of these, which is read
    as one.  Any RDF format will do; nothing is fetched from the network.  With
    `same_as="rules"` what holds of one name holds of all that are the same.
    """
    return rules_of(source, same_as=same_as)


def change_axioms(
    state: State, add: OntologySource, remove: OntologySource, to: OntologySource | None
) -> Delta:
    """Make one change of the rules and facts that axioms stand for."""
    index = None if to is not None else _index_of(state)
    change = axiom_change(state.program, add, remove, to, index)
    draft = Draft(state)
    draft.remove(change.retracted)
    draft.add_rules(change.added)
    draft.remove_rules(change.dropped)
    delta = draft.apply()
    state.adopt(replace(state.program, axioms=change.axioms))
    if index is not None and change.counted is not None:
        index.settle(change, state.program)
    return delta


def _index_of(state: State) -> AxiomIndex | None:
    """What the axioms of a program became; None while some of them lack rules."""
    if state.axiom_index is None or not state.axiom_index.is_of(state.program):
        state.axiom_index = AxiomIndex(state.program)
    return state.axiom_index if state.axiom_index.is_complete else None


def ontology_in(program: Program) -> OntologyReport:
    """The report on the axioms that a program was made from and still has the rules of."""
    axioms, aside = set_annotations_apart(_standing(program))
    return report_on(Ontology(tuple(axioms), aside=tuple(aside)), dict(program.prefixes))


def _standing(program: Program) -> tuple[Axiom, ...]:
    """The axioms of which no rule was removed."""
    keys = {rule.key() for rule in program}
    return tuple(
        each.axiom
        for each in translate(program.axioms)
        if all(rule.key() in keys for rule in each.rules)
    )


def axiom_change(
    program: Program,
    add: OntologySource,
    remove: OntologySource,
    to: OntologySource | None,
    index: AxiomIndex | None = None,
) -> AxiomChange:
    """How a program changes when axioms come and go, or when its ontology becomes another."""
    prefixes = dict(program.prefixes)
    if to is not None:
        if add or remove:
            raise InputError(
                "axioms to add or remove, and an ontology to change to, are two different changes",
                hint="give add and remove, or `to` alone: it is the whole ontology",
            )
        return _replaced(program, _stated(read_ontology(to, prefixes)), prefixes)
    known = _properties_of(program) if index is None else index.properties.keys()
    left = read_ontology(remove, prefixes, known)
    gone = set(_stated(left))
    _check_known(set(left.axioms), program.axioms if index is None else index.translated, prefixes)
    come = _stated(read_ontology(add, prefixes, known))
    if index is not None:
        change = index.change(gone, come, prefixes)
        if change is not None:
            return change
    standing = set(_standing(program))
    before = [axiom for axiom in program.axioms if axiom in standing or axiom in gone]
    after = dict.fromkeys((*(axiom for axiom in before if axiom not in gone), *come))
    change = _difference(program, tuple(before), tuple(after), prefixes)
    kept = [axiom for axiom in program.axioms if axiom not in gone]
    facts = dict.fromkeys((*change.added.facts, *_asserted_by(come, tuple(after))))
    return replace(
        change,
        axioms=tuple(dict.fromkeys((*kept, *come))),
        added=replace(change.added, facts=tuple(facts)),
    )


def _stated(ontology: Ontology) -> tuple[Axiom, ...]:
    """All that an ontology says, also what has no meaning yet."""
    return ontology.axioms + ontology.aside


def _properties_of(program: Program) -> set[NamedNode]:
    return known_properties(program.axioms, annotation_properties(program.axioms))


def _asserted_by(come: Iterable[Axiom], axioms: tuple[Axiom, ...]) -> Iterator[Triple | Fact]:
    """The facts of axioms that are stated now, also of those that were stated before."""
    stated = set(come)
    for each in translate(axioms):
        if each.axiom in stated:
            yield from each.facts


def _replaced(program: Program, axioms: tuple[Axiom, ...], prefixes: dict[str, str]) -> AxiomChange:
    """Another ontology: what was removed by hand comes back where it has it."""
    change = _difference(program, program.axioms, axioms, prefixes)
    new, there = report_on(Ontology(axioms), prefixes).program, {rule.key() for rule in program}
    missing = [rule for rule in new if rule.key() not in there]
    taken = {rule.id for rule in program} - {rule.id for rule in change.dropped}
    rules = tuple(named_anew(missing, taken))
    return replace(change, added=replace(change.added, rules=rules, facts=new.facts))


def _check_known(gone: set[Axiom], axioms: Collection[Axiom], prefixes: dict[str, str]) -> None:
    for axiom in gone.difference(axioms):
        if not isinstance(axiom, Declaration):
            words = report_on(Ontology(), prefixes).words(axiom)
            raise RuleError(
                f"there is no such axiom to remove: {words}",
                hint="Reasoner.ontology().axioms lists those that rules were made from; an axiom "
                "is removed as it was stated",
            )


def _difference(
    program: Program,
    known: tuple[Axiom, ...],
    axioms: tuple[Axiom, ...],
    prefixes: dict[str, str],
) -> AxiomChange:
    old = report_on(Ontology(known), prefixes).program
    new = report_on(Ontology(axioms), prefixes).program
    before, after = ({rule.key() for rule in each} for each in (old, new))
    gone, asserted, retracted = before - after, set(new.facts), set(old.facts)
    dropped = [rule for rule in program if rule.key() in gone]
    come = [rule for rule in new if rule.key() not in before]
    named = named_anew(come, {rule.id for rule in program} - {rule.id for rule in dropped})
    facts = tuple(fact for fact in new.facts if fact not in retracted)
    return AxiomChange(
        axioms,
        Program(tuple(named), facts, prefixes=tuple(prefixes.items())),
        tuple(dropped),
        tuple(fact for fact in old.facts if fact not in asserted),
    )
