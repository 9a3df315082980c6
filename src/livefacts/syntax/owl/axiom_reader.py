"""The axiom reader: from an ontology as RDF to axioms, triple by triple.

Every triple is an axiom, a part of one, a declaration or an annotation.  Axioms come in the
order of the text.  Triples that say nothing to a reasoner (labels, comments, declarations)
are counted by predicate, so that nothing disappears without a trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import NamedNode, Triple

from livefacts.language.axioms import (
    Axiom,
    ClassAssertion,
    DatatypeDefinition,
    Declaration,
    DifferentIndividuals,
    DisjointClasses,
    DisjointProperties,
    DisjointUnion,
    Domain,
    EntityKind,
    EquivalentClasses,
    EquivalentProperties,
    HasKey,
    HasTrait,
    Individual,
    InverseProperties,
    Misstated,
    Property,
    PropertyAssertion,
    Range,
    SameIndividuals,
    SubClassOf,
    SubPropertyOf,
    Trait,
)
from livefacts.model.namespaces import OWL, RDF, RDFS, XSD
from livefacts.syntax.owl.annotations import EXTREMES, VOCABULARY, set_annotations_apart
from livefacts.syntax.owl.ontology_graph import (
    CONSTRUCTIONS,
    NOTHING,
    RESTRICTIONS,
    TYPE,
    BrokenError,
    Node,
    OntologyGraph,
    definitions_of,
    in_order,
)
from livefacts.syntax.owl.vocabulary import FACETS, misspelling

TRAITS = {f"{OWL}{trait}Property": trait for trait in Trait}
KINDS = {
    OWL + "ObjectProperty": EntityKind.OBJECT_PROPERTY,
    OWL + "DatatypeProperty": EntityKind.DATA_PROPERTY,
    OWL + "AnnotationProperty": EntityKind.ANNOTATION_PROPERTY,
    RDFS + "Datatype": EntityKind.DATATYPE,
    OWL + "DataRange": EntityKind.DATATYPE,
}
GROUPS = frozenset(
    OWL + f"All{kind}" for kind in ("Different", "DisjointClasses", "DisjointProperties")
)
MEMBERS = (OWL + "members", OWL + "distinctMembers")
DECLARATIONS = {
    *GROUPS,
    *(OWL + kind for kind in ("Class", "Restriction", "OntologyProperty", "Ontology")),
    *(OWL + kind for kind in ("NamedIndividual", "DeprecatedClass", "DeprecatedProperty")),
    *(OWL + kind for kind in ("Axiom", "Annotation")),
    *(RDFS + kind for kind in ("Class", "Resource")),
    *(RDF + kind for kind in ("Property", "List")),
}
RESTRICTION_PARTS = [OWL + p for p in (*RESTRICTIONS, "onClass", "onDataRange", "onProperties")]
DENIAL_PARTS = [
    *(OWL + part for part in ("sourceIndividual", "assertionProperty")),
    *(OWL + part for part in ("targetIndividual", "targetValue")),
]
PARTS = {
    *(OWL + part for part in ("annotatedSource", "annotatedProperty", "annotatedTarget")),
    OWL + "withRestrictions",
    RDF + "first",
    RDF + "rest",
    *FACETS,
}
DENIAL = OWL + "NegativePropertyAssertion"


@dataclass(frozen=True, slots=True)
class Ontology:
    """What an ontology says: its axioms, and what was left aside."""

    axioms: tuple[Axiom, ...] = ()
    annotations: tuple[tuple[str, int], ...] = ()
    """Predicates of triples that say nothing to a reasoner, and how many there are."""
    imports: tuple[str, ...] = ()
    aside: tuple[Axiom, ...] = ()
    """Annotations, and axioms about them, that other axioms may give a meaning."""


def ontology_of(triples: Iterable[Triple], known: Iterable[NamedNode] = ()) -> Ontology:
    """The ontology that these triples state; `known` are properties that it need not declare."""
    reading = _Reading(list(triples))
    axioms, aside = set_annotations_apart(reading.axioms(), set(known))
    reading.annotations.update(filter(None, map(_annotation, aside)))
    return Ontology(
        tuple(dict.fromkeys(axioms)),
        tuple(sorted(reading.annotations.items())),
        tuple(dict.fromkeys(reading.imports)),
        tuple(dict.fromkeys(aside)),
    )


def _annotation(axiom: Axiom) -> str:
    """The predicate of the triple that an axiom without a meaning was; none of a declaration."""
    match axiom:
        case PropertyAssertion(property=property):
            return property.value
        case SubPropertyOf():
            return RDFS + "subPropertyOf"
        case Domain():
            return RDFS + "domain"
        case Range():
            return RDFS + "range"
        case _:
            return ""


class _Reading:
    """One ontology on its way from triples to axioms."""

    def __init__(self, triples: list[Triple]) -> None:
        self.graph = OntologyGraph(triples)
        self.annotations: Counter[str] = Counter()
        self.imports: list[str] = []
        self._triples = triples
        self._without_type: set[Node] = set()

    def axioms(self) -> Iterator[Axiom]:
        for triple in self._triples:
            try:
                yield from self._axioms_of(triple)
            except BrokenError as error:
                about = tuple(sorted(_properties_in(triple), key=str))
                yield Misstated(triple, str(error), about)

    def _axioms_of(self, triple: Triple) -> Iterable[Axiom]:
        predicate = triple.predicate.value
        read = READERS.get(predicate)
        if read is not None:
            return read(self, triple.subject, triple.object)
        if predicate in PARTS:
            return ()
        mistake = misspelling(predicate)
        if mistake is not None or predicate.startswith(XSD):
            raise BrokenError(mistake or "this is no facet that bounds the values of a datatype")
        property, value = triple.predicate, triple.object
        may_be_fact = property in EXTREMES or not predicate.startswith(VOCABULARY)
        if may_be_fact and not isinstance(value, Triple):
            return (PropertyAssertion(_individual(triple.subject), property, value),)
        self.annotations[predicate] += 1
        return ()

    # one reader for each predicate

    def type(self, subject: Node, cls: Node) -> Iterable[Axiom]:
        kind = cls.value if isinstance(cls, NamedNode) else ""
        if kind in TRAITS:
            return (HasTrait(self.graph.property(subject), TRAITS[kind]),)
        if kind == DENIAL:
            return (self._denial(subject),)
        if kind in GROUPS and not any(self.graph.objects(subject, each) for each in MEMBERS):
            raise BrokenError("whom it speaks of is not said: it has no owl:members")
        if kind in KINDS and isinstance(subject, NamedNode):
            return (Declaration(subject, KINDS[kind]),)
        if kind in DECLARATIONS or kind in KINDS:
            return ()
        return (ClassAssertion(_individual(subject), self.graph.cls(cls)),)

    def _denial(self, node: Node) -> Axiom:
        property = self.graph.object(node, OWL + "assertionProperty")
        source = self.graph.object(node, OWL + "sourceIndividual")
        end = self.graph.one_of(node, (OWL + "targetIndividual", OWL + "targetValue"))
        target = None if end is None else self.graph.object(node, end)
        if source is None or target is None or not isinstance(property, NamedNode):
            raise BrokenError("a denied assertion lacks its source, its property or its target")
        return PropertyAssertion(_individual(source), property, _individual(target), denied=True)

    def denial_part(self, node: Node, value: Node) -> Iterable[Axiom]:
        """A part of a denied assertion, which its type makes one."""
        if not self.graph.is_a(node, DENIAL) and node not in self._without_type:
            self._without_type.add(node)
            raise BrokenError("what this is a part of is not said: owl:NegativePropertyAssertion")
        return ()

    def restriction_part(self, node: Node, value: Node) -> Iterable[Axiom]:
        """A part of a restriction; one without a name is read where it stands in an axiom."""
        if isinstance(node, NamedNode) and not self.graph.objects(node, OWL + "onProperty"):
            raise BrokenError("a restriction without owl:onProperty says nothing")
        return ()

    def sub_class(self, sub: Node, sup: Node) -> Iterable[Axiom]:
        return (SubClassOf(self.graph.cls(sub), self.graph.cls(sup)),)

    def same_class(self, first: Node, second: Node) -> Iterable[Axiom]:
        if isinstance(first, NamedNode) and self.graph.is_datatype(first):
            return (DatatypeDefinition(first, self.graph.cls(second)),)
        members = in_order((self.graph.cls(first), self.graph.cls(second)))
        return (EquivalentClasses(members),) if len(members) > 1 else ()

    def defined(self, subject: Node, value: Node) -> Iterable[Axiom]:
        """A named class that is made of others directly, without owl:equivalentClass."""
        if not isinstance(subject, NamedNode):
            return
        for definition in definitions_of(self.graph, subject):
            if self.graph.is_datatype(subject):
                yield DatatypeDefinition(subject, definition)
            else:
                yield EquivalentClasses(in_order((subject, definition)))

    def disjoint(self, first: Node, second: Node) -> Iterable[Axiom]:
        members = in_order((self.graph.cls(first), self.graph.cls(second)))
        return (DisjointClasses(members) if len(members) > 1 else SubClassOf(members[0], NOTHING),)

    def disjoint_union(self, whole: Node, parts: Node) -> Iterable[Axiom]:
        return (DisjointUnion(self.graph.cls(whole), self.graph.members(parts, 1)),)

    def members(self, subject: Node, items: Node) -> Iterable[Axiom]:
        """owl:AllDifferent, owl:AllDisjointClasses and owl:AllDisjointProperties."""
        axioms: list[Axiom] = []
        if self.graph.is_a(subject, OWL + "AllDifferent"):
            axioms.append(DifferentIndividuals(_individuals(self.graph.items(items))))
        if self.graph.is_a(subject, OWL + "AllDisjointClasses"):
            axioms.append(DisjointClasses(self.graph.members(items, 1)))
        if self.graph.is_a(subject, OWL + "AllDisjointProperties"):
            axioms.append(DisjointProperties(self._properties_of(items)))
        if not axioms:
            raise BrokenError("what these are the members of is not said")
        return axioms

    def _properties_of(self, items: Node) -> tuple[Property, ...]:
        return _sorted_properties(map(self.graph.property, self.graph.items(items)))

    def sub_property(self, sub: Node, sup: Node) -> Iterable[Axiom]:
        return (SubPropertyOf((self.graph.property(sub),), self.graph.property(sup)),)

    def chain(self, sup: Node, items: Node) -> Iterable[Axiom]:
        links = tuple(map(self.graph.property, self.graph.items(items)))
        if not links:
            raise BrokenError("a chain has one property at least")
        return (SubPropertyOf(links, self.graph.property(sup)),)

    def same_property(self, first: Node, second: Node) -> Iterable[Axiom]:
        members = _sorted_properties(map(self.graph.property, (first, second)))
        return (EquivalentProperties(members),) if len(members) > 1 else ()

    def inverse(self, first: Node, second: Node) -> Iterable[Axiom]:
        if not isinstance(first, NamedNode):
            return ()
        both = sorted((first, self.graph.property(second)), key=repr)
        return (InverseProperties((both[0], both[1])),)

    def disjoint_properties(self, first: Node, second: Node) -> Iterable[Axiom]:
        if first == second:
            raise BrokenError("a property that is disjoint with itself has no values at all")
        both = _sorted_properties(map(self.graph.property, (first, second)))
        return (DisjointProperties(both),)

    def domain(self, property: Node, cls: Node) -> Iterable[Axiom]:
        return (Domain(self.graph.property(property), self.graph.cls(cls)),)

    def range(self, property: Node, cls: Node) -> Iterable[Axiom]:
        return (Range(self.graph.property(property), self.graph.cls(cls)),)

    def key(self, cls: Node, items: Node) -> Iterable[Axiom]:
        properties = self._properties_of(items)
        if not properties:
            raise BrokenError("a key has one property at least")
        return (HasKey(self.graph.cls(cls), properties),)

    def same(self, first: Node, second: Node) -> Iterable[Axiom]:
        return (SameIndividuals(_individuals((first, second))),)

    def different(self, first: Node, second: Node) -> Iterable[Axiom]:
        if first == second:
            raise BrokenError("nothing is different from itself")
        return (DifferentIndividuals(_individuals((first, second))),)

    def imported(self, subject: Node, ontology: Node) -> Iterable[Axiom]:
        self.imports.append(getattr(ontology, "value", str(ontology)))
        return ()


Reader: TypeAlias = Callable[[_Reading, Node, Node], Iterable[Axiom]]
AXIOM_READERS: dict[str, Reader] = {
    TYPE: _Reading.type,
    RDFS + "subClassOf": _Reading.sub_class,
    RDFS + "subPropertyOf": _Reading.sub_property,
    RDFS + "domain": _Reading.domain,
    RDFS + "range": _Reading.range,
    OWL + "equivalentClass": _Reading.same_class,
    OWL + "disjointWith": _Reading.disjoint,
    OWL + "disjointUnionOf": _Reading.disjoint_union,
    OWL + "propertyChainAxiom": _Reading.chain,
    OWL + "equivalentProperty": _Reading.same_property,
    OWL + "inverseOf": _Reading.inverse,
    OWL + "propertyDisjointWith": _Reading.disjoint_properties,
    OWL + "hasKey": _Reading.key,
    OWL + "sameAs": _Reading.same,
    OWL + "differentFrom": _Reading.different,
    OWL + "imports": _Reading.imported,
}
READERS: Mapping[str, Reader] = (
    AXIOM_READERS
    | dict.fromkeys(MEMBERS, _Reading.members)
    | dict.fromkeys(CONSTRUCTIONS, _Reading.defined)
    | dict.fromkeys(RESTRICTION_PARTS, _Reading.restriction_part)
    | dict.fromkeys(DENIAL_PARTS, _Reading.denial_part)
)


def _properties_in(triple: Triple) -> set[NamedNode]:
    """The properties that a triple of an axiom names."""
    subjects = {RDFS + "subPropertyOf", RDFS + "domain", RDFS + "range"} | {
        OWL + name
        for name in (
            "inverseOf",
            "equivalentProperty",
            "propertyDisjointWith",
            "propertyChainAxiom",
        )
    }
    objects = {RDFS + "subPropertyOf"} | {
        OWL + name for name in ("inverseOf", "equivalentProperty", "propertyDisjointWith")
    }
    predicate = triple.predicate.value
    ends: list[Node] = [triple.subject] if predicate in subjects else []
    ends += [triple.object] if predicate in objects else []
    return {each for each in ends if isinstance(each, NamedNode)}


def _individual(node: Node) -> Individual:
    if isinstance(node, Triple):
        raise BrokenError("a triple term stands where an individual should")
    return node


def _individuals(nodes: Iterable[Node]) -> tuple[Individual, ...]:
    return tuple(sorted(map(_individual, dict.fromkeys(nodes)), key=str))


def _sorted_properties(properties: Iterable[Property]) -> tuple[Property, ...]:
    return tuple(sorted(dict.fromkeys(properties), key=repr))
