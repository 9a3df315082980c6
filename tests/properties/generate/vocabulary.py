"""The words of random programs: predicates with the sorts of their places, and terms.

A place is of sort `NODE` or `VALUE`.  Rules compare and compute on values only, so that
random arithmetic mostly meets numbers; nodes are few, so that random joins mostly match.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.model.facts import Symbol, Term

NODE, VALUE = "node", "value"
EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"

PREDICATES: dict[str, tuple[str, ...]] = {
    "alarm": (),
    "idle": (),
    "hot": (NODE,),
    "cold": (NODE,),
    "size": (VALUE,),
    "near": (NODE, NODE),
    "linked": (NODE, NODE),
    "reading": (NODE, VALUE),
    "total": (NODE, VALUE),
    "route": (NODE, NODE, NODE),
    "score": (NODE, VALUE, NODE),
    "_mark": (NODE,),
    "_pair": (NODE, NODE),
}
TYPE = NamedNode(RDF + "type")
SUBCLASS, SUBPROPERTY = NamedNode(RDFS + "subClassOf"), NamedNode(RDFS + "subPropertyOf")
DOMAIN, RANGE = NamedNode(RDFS + "domain"), NamedNode(RDFS + "range")
NODE_PROPERTIES = tuple(NamedNode(EX + name) for name in ("knows", "partOf", "likes"))
VALUE_PROPERTIES = tuple(NamedNode(EX + name) for name in ("age", "label"))
CLASSES = tuple(NamedNode(EX + name) for name in ("Person", "Robot", "Place"))
IRIS = tuple(NamedNode(EX + name) for name in ("ann", "bob", "cat", "dan", "eve"))
BLANKS = (BlankNode("one"), BlankNode("two"))
SYMBOLS = tuple(Symbol(name) for name in ("kitchen", "hall", "roof"))


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + datatype))


def integer(value: int) -> Literal:
    return typed(str(value), "integer")


SMALL_INTEGERS = tuple(integer(n) for n in range(-2, 7))
INTEGER_EDGES = (
    *(integer(sign * 2**bits + by) for bits in (29, 30, 31) for sign in (1, -1) for by in (-1, 0)),
    integer(2**63),
    integer(-(2**63) - 1),
    integer(10**30),
    typed("01", "integer"),
    typed("+2", "integer"),
    typed("-0", "integer"),
    typed("3", "byte"),
)
OTHER_NUMBERS = (
    typed("1.0", "decimal"),
    typed("2.50", "decimal"),
    typed("-0.5", "decimal"),
    typed("0.000000000000000000001", "decimal"),
    typed("1.0E0", "double"),
    typed("2.5", "double"),
    typed("INF", "double"),
    typed("NaN", "double"),
    typed("1.5", "float"),
)
OTHER_VALUES = (
    Literal("1"),
    Literal("a"),
    Literal("b"),
    Literal("a", language="en"),
    typed("true", "boolean"),
    typed("0", "boolean"),
    typed("2026-01-01T00:00:00Z", "dateTime"),
    typed("2026-01-01T02:00:00+02:00", "dateTime"),
    typed("2026-01-02T00:00:00", "dateTime"),
    typed("2026-01-01", "date"),
    typed("P1D", "dayTimeDuration"),
    typed("PT24H", "dayTimeDuration"),
    typed("P1Y", "yearMonthDuration"),
    typed("abc", "integer"),
    typed("x", "unknown"),
    NamedNode(EX + "ann"),
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms that one random program draws from."""

    nodes: tuple[Term, ...]
    values: tuple[Term, ...]

    @property
    def subjects(self) -> tuple[NamedNode | BlankNode, ...]:
        return tuple(n for n in self.nodes if isinstance(n, NamedNode | BlankNode))

    @property
    def iris(self) -> tuple[NamedNode, ...]:
        return tuple(n for n in self.nodes if isinstance(n, NamedNode))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(n for n in self.nodes if isinstance(n, Symbol))

    def any_of(self, sort: str, pick: random.Random) -> Term:
        return pick.choice(self.nodes if sort == NODE else self.values)


def draw_vocabulary(pick: random.Random) -> Vocabulary:
    """Four to six nodes, and values of one flavour: small integers, numbers, or anything."""
    nodes: list[Term] = pick.sample(IRIS, pick.choice((3, 4)))
    nodes += pick.sample((*SYMBOLS, *BLANKS), pick.choice((0, 1, 2)))
    flavour = pick.choice(("small", "edges", "numbers", "anything"))
    values: list[Term] = pick.sample(SMALL_INTEGERS, 4)
    if flavour in ("edges", "anything"):
        values += pick.sample(INTEGER_EDGES, 3)
    if flavour in ("numbers", "anything"):
        values += pick.sample(OTHER_NUMBERS, 3)
    if flavour == "anything":
        values += pick.sample(OTHER_VALUES, 5)
    return Vocabulary(tuple(nodes), tuple(values))


def plain_vocabulary(pick: random.Random) -> Vocabulary:
    """Nodes and small integers only: what every Datalog system understands."""
    return Vocabulary(tuple(pick.sample(IRIS, 4)), tuple(pick.sample(SMALL_INTEGERS, 4)))
