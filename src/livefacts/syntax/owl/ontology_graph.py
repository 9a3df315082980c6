"""The graph of an ontology: its triples by subject, lists, class expressions, kinds of properties.

OWL writes `hasMaker only Winery` as four triples around a blank node.  Here they become a
class expression again.  What cannot be understood becomes `Unreadable`, with the reason: it
stands in its axiom, which is then reported and not lost.  So does what is said twice of one
node: a restriction with two classes of values means neither of them for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.language.axioms import (
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
from livefacts.model.namespaces import DECLARED, OWL, RDF, RDFS, XSD
from livefacts.syntax.owl.vocabulary import FACETS, misspelling

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
        self._objects: dict[tuple[Node, str], dict[Node, None]] = {}
        self._kinds: dict[str, set[Node]] = {}
        for triple in triples:
            key = triple.subject, triple.predicate.value
            self._objects.setdefault(key, {})[triple.object] = None
            if triple.predicate.value == TYPE and isinstance(triple.object, NamedNode):
                self._kinds.setdefault(triple.object.value, set()).add(triple.subject)

    def objects(self, subject: Node, predicate: str) -> list[Node]:
        """The objects of a subject, in the order of the text."""
        return list(self._objects.get((subject, predicate), ()))

    def object(self, subject: Node, predicate: str) -> Node | None:
        """The only one of them; raises if there are several."""
        objects = self.objects(subject, predicate)
        if len(objects) > 1:
            raise BrokenError(f"it has {len(objects)} of {_short(predicate)}, which takes one")
        return objects[0] if objects else None

    def one_of(self, subject: Node, predicates: Iterable[str]) -> str | None:
        """Which of these predicates a subject has; raises if it has several."""
        there = [each for each in predicates if (subject, each) in self._objects]
        if len(there) > 1:
            raise BrokenError(
                f"it has {' and '.join(map(_short, there))}, which exclude each other"
            )
        return there[0] if there else None

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
            if (mistake := misspelling(node.value)) is not None:
                raise BrokenError(mistake)
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
            mistake = misspelling(node.value)
            return node if mistake is None else Unreadable(mistake)
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
        predicate = self.one_of(node, CONSTRUCTIONS)
        value = None if predicate is None else self.object(node, predicate)
        if predicate is None or value is None:
            return None
        return CONSTRUCTIONS[predicate](self, node, value, depth + 1)

    def members(self, head: Node, depth: int) -> tuple[ClassExpression, ...]:
        """The classes in a list, each once, in an order of our own."""
        return in_order(self.cls(item, depth) for item in self.items(head))


class BrokenError(Exception):
    """Triples that are no list, no property or no number where one has to be."""


def _short(predicate: str) -> str:
    """A word of OWL or RDF as people write it."""
    prefix = next((name for name, space in DECLARED.items() if predicate.startswith(space)), "")
    return f"{prefix}:{predicate.removeprefix(DECLARED[prefix])}" if prefix else predicate


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
    predicate = graph.one_of(node, (OWL + name for name in RESTRICTIONS))
    filler = None if predicate is None else graph.object(node, predicate)
    if predicate is None or filler is None:
        return Unreadable("a restriction does not say what the values have to be")
    return RESTRICTIONS[predicate.removeprefix(OWL)](graph, node, property, filler, depth)


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
    if not isinstance(filler, Literal) or filler.value not in ("true", "1"):
        raise BrokenError(f"owl:hasSelf is true where it is said, not {filler}")
    return HasSelf(property)


def _count(name: str, bound: Bound) -> Restriction:
    def made(
        graph: OntologyGraph, node: Node, property: Property, number: Node, depth: int
    ) -> ClassExpression:
        if not isinstance(number, Literal) or not number.value.strip("+").isdecimal():
            raise BrokenError(f"{number} is no number of values")
        on = graph.one_of(node, (OWL + "onClass", OWL + "onDataRange"))
        if (on is not None) != ("ualified" in name):
            raise BrokenError("values of one class are counted by a qualified cardinality of it")
        filler = THING if on is None else graph.cls(graph.object(node, on), depth)
        return Count(bound, int(number.value), property, filler)

    return made


def _restricted(graph: OntologyGraph, node: Node, value: Node, depth: int) -> ClassExpression:
    facets: list[tuple[NamedNode, Literal]] = []
    for item in graph.items(graph.object(node, OWL + "withRestrictions")):
        bounds = [(NamedNode(name), each) for name in FACETS for each in graph.objects(item, name)]
        if not bounds or not all(isinstance(bound, Literal) for _, bound in bounds):
            raise BrokenError("a restricted datatype has a bound that is not known")
        facets += bounds  # type: ignore[arg-type]
    if not isinstance(value, NamedNode) or not facets:
        raise BrokenError("a restricted datatype has no datatype or no bounds that are known")
    return Restricted(value, tuple(sorted(facets, key=str)))


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
