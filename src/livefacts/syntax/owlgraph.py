"""The triples of an ontology, by subject: lists, class expressions and kinds of properties.

OWL writes `hasMaker only Winery` as four triples around a blank node.  Here they become a
class expression again.  What cannot be understood becomes `Unreadable`, with the reason: it
stands in its axiom, which is then reported and not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.model.namespaces import OWL, RDF, RDFS, XSD
from livefacts.rules.axioms import (
    And,
    Bound,
    ClassExpression,
    Count,
    Has,
    HasSelf,
    Inverse,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Restricted,
    Some,
    Unreadable,
)

Node: TypeAlias = NamedNode | BlankNode | Literal | Triple
DEEPEST = 50
"""Class expressions inside each other."""

THING = NamedNode(OWL + "Thing")
NOTHING = NamedNode(OWL + "Nothing")
LITERAL = NamedNode(RDFS + "Literal")
TYPE = RDF + "type"
DATATYPE_KINDS = (RDFS + "Datatype", OWL + "DataRange")
COUNTS = {
    "minCardinality": Bound.MIN,
    "maxCardinality": Bound.MAX,
    "cardinality": Bound.EXACTLY,
    "minQualifiedCardinality": Bound.MIN,
    "maxQualifiedCardinality": Bound.MAX,
    "qualifiedCardinality": Bound.EXACTLY,
}


class OntologyGraph:
    """Triples that can be asked for the objects of a subject, and for what a node means."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._objects: dict[tuple[Node, str], list[Node]] = {}
        self._kinds: dict[str, set[Node]] = {}
        for triple in triples:
            key = triple.subject, triple.predicate.value
            self._objects.setdefault(key, []).append(triple.object)
            if triple.predicate.value == TYPE and isinstance(triple.object, NamedNode):
                self._kinds.setdefault(triple.object.value, set()).add(triple.subject)

    def objects(self, subject: Node, predicate: str) -> list[Node]:
        """The objects of a subject, in the order of the text."""
        return self._objects.get((subject, predicate), [])

    def object(self, subject: Node, predicate: str) -> Node | None:
        """The first of them."""
        return next(iter(self.objects(subject, predicate)), None)

    def is_a(self, node: Node, *kinds: str) -> bool:
        """Whether the node is declared to be of one of these kinds."""
        return any(node in self._kinds.get(kind, ()) for kind in kinds)

    def items(self, head: Node | None) -> list[Node]:
        """The items of an RDF list; raises if it is broken."""
        items, seen = [], set[Node]()
        while head is not None and head != NamedNode(RDF + "nil"):
            first = self.object(head, RDF + "first")
            if first is None or head in seen:
                raise BrokenError("a list is not complete" if first is None else "a list is a ring")
            seen.add(head)
            items.append(first)
            head = self.object(head, RDF + "rest")
        if head is None:
            raise BrokenError("a list is not complete")
        return items

    # properties

    def property(self, node: Node | None) -> Property:
        """A property by its name, or an inverse; raises if it is neither."""
        if isinstance(node, NamedNode):
            return node
        inner = None if node is None else self.object(node, OWL + "inverseOf")
        if isinstance(inner, NamedNode):
            return Inverse(inner)
        raise BrokenError("a property is an IRI, or the inverse of one")

    def is_datatype(self, node: Node) -> bool:
        """Whether a node stands for a set of literals."""
        named = isinstance(node, NamedNode) and (node.value.startswith(XSD) or node in BUILT_IN)
        return named or self.is_a(node, *DATATYPE_KINDS)

    # classes

    def cls(self, node: Node | None, depth: int = 0) -> ClassExpression:
        """The class that a node stands for."""
        if isinstance(node, NamedNode):
            return node
        if not isinstance(node, BlankNode):
            return Unreadable(f"{node} stands where a class should")
        if depth > DEEPEST:
            return Unreadable(f"classes are nested more than {DEEPEST} deep, or in a ring")
        try:
            return self.definition(node, depth) or Unreadable(
                "a class without a name has no definition that is known"
            )
        except BrokenError as error:
            return Unreadable(str(error))

    def definition(self, node: Node, depth: int = 0) -> ClassExpression | None:
        """What the node itself is made of: an intersection, a restriction, …; None if it is not."""
        for predicate, made in CONSTRUCTIONS.items():
            value = self.object(node, predicate)
            if value is not None:
                return made(self, node, value, depth + 1)
        return None

    def members(self, head: Node, depth: int) -> tuple[ClassExpression, ...]:
        """The classes in a list, each once, in an order of our own."""
        return in_order(self.cls(item, depth) for item in self.items(head))


class BrokenError(Exception):
    """Triples that are no list, no property or no number where one has to be."""


def in_order(members: Iterable[ClassExpression]) -> tuple[ClassExpression, ...]:
    """Each member once, names first: so that the order in a text does not matter."""
    return tuple(sorted(dict.fromkeys(members), key=lambda m: (not _is_name(m), repr(m))))


def _is_name(member: object) -> bool:
    return isinstance(member, NamedNode)


def _and(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    return And(graph.members(value, depth))


def _or(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    return Or(graph.members(value, depth))


def _not(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    return Not(graph.cls(value, depth))


def _one_of(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    items = graph.items(value)
    if any(isinstance(item, Triple) for item in items):
        return Unreadable("a triple term stands where an individual should")
    return OneOf(tuple(sorted(dict.fromkeys(items), key=str)))  # type: ignore[arg-type]


def _restriction(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    property = graph.property(value)
    for name, made in RESTRICTIONS.items():
        filler = graph.object(node, OWL + name)
        if filler is not None:
            return made(graph, node, property, filler, depth)
    return Unreadable("a restriction does not say what the values have to be")


def _some(
    graph: OntologyGraph, node: Node, property: Property, filler: Node, depth: int
) -> ClassExpression:
    return Some(property, graph.cls(filler, depth))


def _only(
    graph: OntologyGraph, node: Node, property: Property, filler: Node, depth: int
) -> ClassExpression:
    return Only(property, graph.cls(filler, depth))


def _has(
    graph: OntologyGraph, node: Node, property: Property, filler: Node, depth: int
) -> ClassExpression:
    if isinstance(filler, Triple):
        return Unreadable("a triple term stands where a value should")
    return Has(property, filler)


def _self(
    graph: OntologyGraph, node: Node, property: Property, filler: Node, depth: int
) -> ClassExpression:
    return HasSelf(property)


def _count(name: str, bound: Bound) -> Restriction:
    def made(
        graph: OntologyGraph, node: Node, property: Property, number: Node, depth: int
    ) -> ClassExpression:
        if not isinstance(number, Literal) or not number.value.strip("+").isdecimal():
            raise BrokenError(f"{number} is no number of values")
        on = graph.object(node, OWL + "onClass") or graph.object(node, OWL + "onDataRange")
        filler = graph.cls(on, depth) if on is not None and "ualified" in name else THING
        return Count(bound, int(number.value), property, filler)

    return made


def _restricted(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    facets = [
        (NamedNode(XSD + name), bound)
        for item in graph.items(graph.object(node, OWL + "withRestrictions"))
        for name in FACETS
        for bound in graph.objects(item, XSD + name)
        if isinstance(bound, Literal)
    ]
    if not isinstance(value, NamedNode) or not facets:
        raise BrokenError("a restricted datatype has no datatype or no bounds that are known")
    return Restricted(value, tuple(sorted(facets, key=str)))


FACETS = (
    "minInclusive",
    "maxInclusive",
    "minExclusive",
    "maxExclusive",
    "length",
    "minLength",
    "maxLength",
    "pattern",
    "langRange",
)
BUILT_IN = {
    LITERAL,
    NamedNode(RDF + "PlainLiteral"),
    NamedNode(RDF + "XMLLiteral"),
    NamedNode(RDF + "langString"),
    NamedNode(OWL + "real"),
    NamedNode(OWL + "rational"),
}

Construction: TypeAlias = Callable[[OntologyGraph, Node, Node, int], ClassExpression]
Restriction: TypeAlias = Callable[[OntologyGraph, Node, Property, Node, int], ClassExpression]
CONSTRUCTIONS: dict[str, Construction] = {
    OWL + "intersectionOf": _and,
    OWL + "unionOf": _or,
    OWL + "complementOf": _not,
    OWL + "datatypeComplementOf": _not,
    OWL + "oneOf": _one_of,
    OWL + "onProperty": _restriction,
    OWL + "onDatatype": _restricted,
}
RESTRICTIONS: dict[str, Restriction] = {
    "someValuesFrom": _some,
    "allValuesFrom": _only,
    "hasValue": _has,
    "hasSelf": _self,
} | {name: _count(name, bound) for name, bound in COUNTS.items()}


def definitions_of(graph: OntologyGraph, node: Node) -> Iterator[ClassExpression]:
    """All that a named class is made of, where it has several definitions of this kind."""
    for predicate, made in CONSTRUCTIONS.items():
        for value in graph.objects(node, predicate):
            yield made(graph, node, value, 1)
