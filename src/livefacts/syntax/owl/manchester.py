"""The Manchester notation: axioms as people write and read them.

vin:Wine SubClassOf food:PotableLiquid and (vin:hasMaker only vin:Winery)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.language.axioms import (
    And,
    Axiom,
    ClassAssertion,
    ClassExpression,
    Count,
    DatatypeDefinition,
    Declaration,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    Domain,
    EquivalentClasses,
    EquivalentProperties,
    Has,
    HasKey,
    HasSelf,
    HasTrait,
    Individual,
    Inverse,
    InverseProperties,
    Misstated,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    PropertyAssertion,
    Range,
    Restricted,
    SameIndividuals,
    Some,
    SubClassOf,
    SubPropertyOf,
)
from livefacts.language.rule_text import write_term
from livefacts.syntax.owl.ontology_graph import THING

FACET_SIGNS = {
    "minInclusive": ">=",
    "maxInclusive": "<=",
    "minExclusive": ">",
    "maxExclusive": "<",
}


class AxiomWriter:
    """Writes axioms on one line each, with prefixes where they fit."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes

    def axiom(self, axiom: Axiom) -> str:
        """An axiom in words."""
        match axiom:
            case SubClassOf(sub, sup):
                return f"{self.cls(sub)} SubClassOf {self.cls(sup)}"
            case EquivalentClasses(members):
                return f"{self.cls(members[0])} EquivalentTo {self._classes(members[1:])}"
            case DisjointClasses(members):
                return f"DisjointClasses {self._classes(members)}"
            case DisjointUnion(whole, parts):
                return f"{self.cls(whole)} DisjointUnionOf {self._classes(parts)}"
            case Domain(property, cls):
                return f"{self.property(property)} Domain {self.cls(cls)}"
            case Range(property, cls):
                return f"{self.property(property)} Range {self.cls(cls)}"
            case HasKey(cls, properties):
                return f"{self.cls(cls)} HasKey {self._properties(properties)}"
            case DatatypeDefinition(datatype, range):
                return f"{self.term(datatype)} EquivalentTo {self.cls(range)}"
            case Declaration(name, kind):
                return f"{kind} {self.term(name)}"
            case Misstated(triple):
                return " ".join(map(self._node, (triple.subject, triple.predicate, triple.object)))
            case _:
                return self._about_properties(axiom) or self._about_individuals(axiom)

    def _about_properties(self, axiom: Axiom) -> str:
        match axiom:
            case SubPropertyOf(chain, sup):
                links = " o ".join(map(self.property, chain))
                return f"{links} SubPropertyOf {self.property(sup)}"
            case EquivalentProperties(members):
                others = self._properties(members[1:])
                return f"{self.property(members[0])} EquivalentTo {others}"
            case InverseProperties((first, second)):
                return f"{self.property(first)} InverseOf {self.property(second)}"
            case DisjointProperties(members):
                return f"DisjointProperties {self._properties(members)}"
            case HasTrait(property, trait):
                return f"{self.property(property)} {trait}"
            case _:
                return ""

    def _about_individuals(self, axiom: Axiom) -> str:
        match axiom:
            case ClassAssertion(individual, cls):
                return f"{self.term(individual)} Type {self.cls(cls)}"
            case PropertyAssertion(individual, property, value, denied):
                written = f"{self.term(individual)} {self.term(property)} {self.term(value)}"
                return f"not ({written})" if denied else written
            case SameIndividuals(members):
                return f"SameIndividual {self._terms(members)}"
            case DifferentIndividuals(members):
                return f"DifferentIndividuals {self._terms(members)}"
            case _:
                raise AssertionError(f"{type(axiom).__name__} has no words")

    def cls(self, cls: ClassExpression) -> str:
        """A class expression or data range in words."""
        match cls:
            case NamedNode():
                return self.term(cls)
            case And(members):
                return " and ".join(map(self._inner, members)) or "owl:Thing"
            case Or(members):
                return " or ".join(map(self._inner, members)) or "owl:Nothing"
            case Not(member):
                return f"not {self._inner(member)}"
            case OneOf(members):
                return f"{{{self._terms(members)}}}"
            case Some(property, filler):
                return f"{self.property(property)} some {self._inner(filler)}"
            case Only(property, filler):
                return f"{self.property(property)} only {self._inner(filler)}"
            case Has(property, value):
                return f"{self.property(property)} value {self.term(value)}"
            case HasSelf(property):
                return f"{self.property(property)} Self"
            case Count(bound, number, property, filler):
                of = "" if filler == THING else f" {self._inner(filler)}"
                return f"{self.property(property)} {bound} {number}{of}"
            case Restricted(datatype, facets):
                bounds = ", ".join(self._facet(name, bound) for name, bound in facets)
                return f"{self.term(datatype)}[{bounds}]"
            case _:
                return "…"

    def property(self, property: Property) -> str:
        """A property, or `inverse` and a property."""
        if isinstance(property, Inverse):
            return f"inverse {self.term(property.property)}"
        return self.term(property)

    def term(self, term: Individual) -> str:
        """An IRI, a literal or a label."""
        return write_term(term, self._prefixes)

    def _node(self, node: Individual | Triple) -> str:
        """A term of a triple that is no axiom, where a blank node has no name that means anything."""
        return "[]" if isinstance(node, BlankNode) else write_term(node, self._prefixes)

    def _facet(self, name: NamedNode, bound: Literal) -> str:
        local = name.value.rpartition("#")[2]
        return f"{FACET_SIGNS.get(local, local)} {self.term(bound)}"

    def _inner(self, cls: ClassExpression) -> str:
        text = self.cls(cls)
        return text if isinstance(cls, NamedNode | OneOf | Restricted) else f"({text})"

    def _classes(self, members: Iterable[ClassExpression]) -> str:
        return ", ".join(map(self.cls, members))

    def _properties(self, members: Iterable[Property]) -> str:
        return ", ".join(map(self.property, members))

    def _terms(self, members: Iterable[Individual]) -> str:
        return ", ".join(map(self.term, members))
