"""Specialisation (partial evaluation): axioms become constants of the rules that read them.

A rule such as cls-svf1 of OWL looks up an axiom for every triple it is shown: its predicate
is a variable that the schema binds.  For the schema that is there, a *template* of this kind
is replaced by its instances, in which predicates and classes are constants, so that only
triples are shown to them that matter.  A change of an axiom is then a change of rules.

What a template reads of the schema are triples of fixed kinds, and hidden predicates that
follow from such triples alone, like the cells of a list.  Rules that follow single triples
are left to the closed schema, which does the same for them.

Papers: Volz et al., section 2.2 (rules of one ontology) and 4 (changes of rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Formula,
    FunctionCall,
    PredicateAtom,
    TripleAtom,
    Variable,
    filled,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Term
from livefacts.model.namespaces import RDF
from livefacts.plan.rules.memo import by_address
from livefacts.plan.rules.normal_form import positive_atoms
from livefacts.plan.rules.schema_split import OF_INSTANCES, TYPE, follows_single_triples, is_schema

LISTS = (NamedNode(RDF + "first"), NamedNode(RDF + "rest"))
IMPLIED = {
    "cls-int2": {"scm-int", "cax-sco"},
    "cls-uni": {"scm-uni", "cax-sco"},
    "cax-eqc1": {"scm-eqc1", "cax-sco"},
    "cax-eqc2": {"scm-eqc1.back", "cax-sco"},
    "prp-eqp1": {"scm-eqp1", "prp-spo1"},
    "prp-eqp2": {"scm-eqp1.back", "prp-spo1"},
}
"""Rules of OWL that conclude nothing beside these others."""
Kind = tuple[Term, Term | None]
"""Triples with a predicate, and perhaps an object."""


@dataclass(frozen=True, slots=True)
class Template:
    """A rule that reads the schema: what it reads, and what is left of it then."""

    rule: Rule
    read: tuple[Atom, ...]
    tests: tuple[Comparison, ...]
    rest: tuple[Formula, ...]
    variables: tuple[Variable, ...]
    """Those that the schema binds and the rest needs."""

    def instance(self, terms: Mapping[Variable, Term], number: int) -> Rule:
        """What is left of the rule where the schema binds these variables."""
        assert self.rule.head is not None
        head = filled(self.rule.head, terms)
        assert isinstance(head, TripleAtom | PredicateAtom), "an atom stays an atom"
        body = tuple(filled(formula, terms) for formula in self.rest)
        return replace(self.rule, head=head, body=body, id=f"{self.rule.id}:{number}")


@dataclass(frozen=True, slots=True)
class SchemaReading:
    """The rules of a program, by what they read of the schema.

    `guarded` are rules that look at every triple, and have nothing to do while there is none
    with a certain predicate.
    """

    templates: tuple[Template, ...]
    guarded: Mapping[Rule, Term]
    others: tuple[Rule, ...]
    single: frozenset[Rule]
    closing: tuple[Rule, ...]
    """The rules by which the schema is closed, as far as templates read it."""
    kinds: frozenset[Kind]
    predicates: frozenset[str]


def reading_of(rules: Sequence[Rule]) -> SchemaReading:
    """What rules in normal form read of the schema."""
    hidden = _schema_predicates(rules)
    ids = {rule.id for rule in rules}
    templates: list[Template] = []
    others: list[Rule] = []
    guarded: dict[Rule, Term] = {}
    for rule in rules:
        if rule.id in IMPLIED and ids >= IMPLIED[rule.id]:
            continue
        template = _template(rule, hidden) if _may_read_schema(rule) else None
        guard = _guard(rule)
        if template is not None:
            templates.append(template)
        elif guard is not None:
            guarded[rule] = guard
        else:
            others.append(rule)
    closing = _closing(rules, templates, hidden)
    read = [atom for template in templates for atom in template.read]
    read += [atom for rule in closing for atom in positive_atoms(rule)]
    return SchemaReading(
        tuple(templates),
        guarded,
        tuple(others),
        frozenset(rule for rule in others if follows_single_triples(rule)),
        closing,
        frozenset(_kind(atom) for atom in read if isinstance(atom, TripleAtom)),
        frozenset(atom.name for atom in read if isinstance(atom, PredicateAtom)),
    )


@by_address
def _may_read_schema(rule: Rule) -> bool:
    """Whether a rule reads the schema, or a hidden predicate that may follow from it."""
    return any(
        atom.name.startswith("_") if isinstance(atom, PredicateAtom) else _reads_schema(atom, set())
        for atom in positive_atoms(rule)
    )


def _reads_schema(atom: Atom, hidden: set[str]) -> bool:
    if isinstance(atom, PredicateAtom):
        return atom.name in hidden
    return is_schema(atom) or atom.predicate in LISTS


def _schema_predicates(rules: Sequence[Rule]) -> set[str]:
    """The hidden predicates that rules conclude from the schema alone."""
    concluding = [
        (rule.head.name, rule)
        for rule in rules
        if isinstance(rule.head, PredicateAtom) and rule.head.name.startswith("_")
    ]
    found = {name for name, _ in concluding if ":" not in name}
    shrinking = True
    while shrinking:
        bad = {name for name, rule in concluding if not _is_closing(rule, found)}
        shrinking = bool(found & bad)
        found -= bad
    return found


def _is_closing(rule: Rule, hidden: set[str]) -> bool:
    """Whether a rule reads nothing but the schema."""
    return all(
        isinstance(formula, TripleAtom | PredicateAtom) and _reads_schema(formula, hidden)
        for formula in rule.body
    )


def _template(rule: Rule, hidden: set[str]) -> Template | None:
    """The template that a rule is, unless nothing is gained by that."""
    read = tuple(atom for atom in positive_atoms(rule) if _reads_schema(atom, hidden))
    known = {variable for atom in read for variable in variables_of(atom)}
    tests = tuple(
        formula
        for formula in rule.body
        if isinstance(formula, Comparison)
        and not isinstance(formula.left, Arithmetic | FunctionCall)
        and not isinstance(formula.right, Arithmetic | FunctionCall)
        and known >= set(variables_of(formula))
    )
    done = {id(formula) for formula in (*read, *tests)}
    rest = tuple(formula for formula in rule.body if id(formula) not in done)
    if not _gains(rule, read, rest, known):
        return None
    needed = {v for part in (rule.head, *rest) if part is not None for v in variables_of(part)}
    return Template(rule, read, tests, rest, tuple(sorted(known & needed)))


def _gains(rule: Rule, read: Sequence[Atom], rest: Sequence[Formula], known: set[Variable]) -> bool:
    """Whether the schema makes a predicate or class constant, and no other way does that."""
    atoms = [formula for formula in rest if isinstance(formula, TripleAtom | PredicateAtom)]
    if not read or not atoms:
        return False
    if not any(_is_bound_by(atom, known) for atom in atoms):
        return False
    return not follows_single_triples(rule) or any(_looks_inside(atom, known) for atom in atoms)


def _is_bound_by(atom: Atom, known: set[Variable]) -> bool:
    if isinstance(atom, PredicateAtom):
        return bool(known.intersection(atom.arguments[:1]))
    return atom.predicate in known or (atom.predicate == TYPE and atom.object in known)


def _looks_inside(atom: Atom, known: set[Variable]) -> bool:
    """Whether an atom of any predicate looks at what a triple is about."""
    return (
        isinstance(atom, TripleAtom)
        and isinstance(atom.predicate, Variable)
        and bool(known & {atom.subject, atom.object})
    )


@by_address
def _guard(rule: Rule) -> Term | None:
    """The predicate without which a rule that looks at every triple has nothing to do."""
    atoms = positive_atoms(rule)
    looks_at_all = any(
        isinstance(a, TripleAtom) and isinstance(a.predicate, Variable) for a in atoms
    )
    names = [
        a.predicate for a in atoms if isinstance(a, TripleAtom) and a.predicate in OF_INSTANCES
    ]
    return names[0] if looks_at_all and names else None  # type: ignore[return-value]


def _closing(
    rules: Sequence[Rule], templates: Iterable[Template], hidden: set[str]
) -> tuple[Rule, ...]:
    """The rules that conclude the hidden predicates that templates read."""
    needed = {a.name for t in templates for a in t.read if isinstance(a, PredicateAtom)}
    found: dict[Rule, None] = {}
    growing = True
    while growing:
        new = [
            rule
            for rule in rules
            if isinstance(rule.head, PredicateAtom)
            and rule.head.name in needed & hidden
            and rule not in found
        ]
        found |= dict.fromkeys(new)
        needed |= {a.name for r in new for a in positive_atoms(r) if isinstance(a, PredicateAtom)}
        growing = bool(new)
    return tuple(found)


def _kind(atom: TripleAtom) -> Kind:
    assert not isinstance(atom.predicate, Variable), "an atom of the schema has a predicate"
    by_class = atom.predicate == TYPE and not isinstance(atom.object, Variable)
    return atom.predicate, atom.object if by_class else None  # type: ignore[return-value]
