"""Random ontologies, and random changes of their axioms and facts.

A case has a few sorts of axioms, so that something follows and not everything is the same.
Some bend the schema itself: a subproperty of rdfs:subClassOf, a class of transitive
properties, classes and properties that are the same as others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle.owl import (
    ALL,
    DIFFERENT,
    EQUAL_CLASS,
    EQUAL_PROPERTY,
    FIRST,
    NIL,
    NOTHING,
    ON,
    REST,
    SAME,
    SOME,
    SUBCLASS,
    SUBPROPERTY,
    THING,
    TYPE,
    VALUE,
    XSD,
    owl,
    rdfs,
)

EX = "http://example.org/"
Axiom = Callable[["Words"], list[Triple]]


def named(names: str) -> list[NamedNode]:
    return [NamedNode(EX + name) for name in names]


CLASSES, PROPERTIES, THINGS, RESTRICTIONS = map(named, ("ABCD", "pqr", "abcde", "RS"))
NUMBERS = [Literal(n, datatype=NamedNode(XSD + "nonNegativeInteger")) for n in "01"]

LITERALS = [
    Literal("1", datatype=NamedNode(XSD + "integer")),
    Literal("01", datatype=NamedNode(XSD + "integer")),
    Literal("u", datatype=NamedNode(EX + "unknown")),
    Literal("v", datatype=NamedNode(EX + "unknown")),
]


class Words:
    """Draws names, and makes lists with cells of their own."""

    def __init__(self, seed: str) -> None:
        self.pick = random.Random(seed)
        self._cells = 0

    def one(self, *sorts: Iterable[NamedNode]) -> NamedNode:
        return self.pick.choice([name for sort in sorts for name in sort])

    def described(self) -> NamedNode:
        """A class, perhaps a restriction."""
        return self.one(CLASSES, CLASSES, RESTRICTIONS)

    def list(self, sort: Iterable[NamedNode]) -> tuple[NamedNode, list[Triple]]:
        """A list of one to three, and its triples.

        Now and then it has no end, but runs in a ring, or a cell leads to two others.
        """
        cell, triples = NIL, []
        for _ in range(self.pick.choice((1, 2, 2, 3))):
            self._cells += 1
            new = NamedNode(f"{EX}cell{self._cells}")
            triples += [Triple(new, FIRST, self.one(sort)), Triple(new, REST, cell)]
            cell = new
        if self.pick.random() < 0.08:
            triples[1] = Triple(triples[1].subject, REST, cell)
        if self.pick.random() < 0.08:
            one, other = (self.pick.choice(triples).subject for _ in "12")
            triples.append(Triple(one, REST, other))
        return cell, triples


def _between(predicate: NamedNode, draw: Callable[[Words], NamedNode]) -> Axiom:
    return lambda words: [Triple(draw(words), predicate, draw(words))]


def _property(words: Words) -> NamedNode:
    return words.one(PROPERTIES)


def _of_type(name: str) -> Axiom:
    return lambda words: [Triple(_property(words), TYPE, owl(name))]


def _with_list(
    draw: Callable[[Words], NamedNode], predicate: str, sort: list[NamedNode], kind: str = ""
) -> Axiom:
    def axiom(words: Words) -> list[Triple]:
        subject, (cell, triples) = draw(words), words.list(sort)
        typed = [Triple(subject, TYPE, owl(kind))] if kind else []
        return [Triple(subject, owl(predicate), cell), *triples, *typed]

    return axiom


def _restriction(words: Words) -> list[Triple]:
    name = words.one(RESTRICTIONS)
    filler = words.one(CLASSES, [THING])
    value: NamedNode | Literal = words.one(THINGS)
    predicate = words.pick.choice([SOME, ALL, VALUE, owl("maxCardinality"), "qualified"])
    triples = [Triple(name, ON, _property(words))]
    if predicate == "qualified":
        triples.append(Triple(name, owl("onClass"), filler))
        predicate = owl("maxQualifiedCardinality")
    if predicate in (SOME, ALL):
        value = filler
    elif predicate != VALUE:
        value = words.pick.choice(NUMBERS)
    return [*triples, Triple(name, predicate, value)]


def _denied(words: Words) -> list[Triple]:
    name = words.one(named("NM"))
    return [
        Triple(name, owl("sourceIndividual"), words.one(THINGS)),
        Triple(name, owl("assertionProperty"), _property(words)),
        Triple(name, owl("targetIndividual"), words.one(THINGS)),
    ]


def _side(words: Words) -> list[Triple]:
    side = words.pick.choice((rdfs("domain"), rdfs("range")))
    return [Triple(_property(words), side, words.described())]


def _bent(words: Words) -> list[Triple]:
    """What makes facts say something about the schema."""
    a, b = words.one(CLASSES), words.one(CLASSES)
    p, q = _property(words), _property(words)
    return words.pick.choice(
        [
            [Triple(p, SUBPROPERTY, words.one([SUBCLASS, SUBPROPERTY, SAME, TYPE]))],
            [Triple(a, SUBCLASS, owl(words.pick.choice(PROPERTY_KINDS)))],
            [Triple(p, rdfs("range"), owl(words.pick.choice(PROPERTY_KINDS)))],
            [Triple(a, SAME, b)],
            [Triple(p, SAME, q)],
            [Triple(p, TYPE, a), Triple(a, words.one([SUBCLASS, _property(words)]), b)],
            [Triple(p, q, words.one(PROPERTIES))],
            [Triple(p, SUBPROPERTY, q), Triple(SUBCLASS, SUBPROPERTY, p)],
        ]
    )


PROPERTY_KINDS = ("TransitiveProperty", "SymmetricProperty", "FunctionalProperty")
COMMON: list[Axiom] = [
    _between(SUBCLASS, Words.described),
    _between(SUBCLASS, Words.described),
    _between(SUBPROPERTY, _property),
    _between(EQUAL_CLASS, Words.described),
    _between(EQUAL_PROPERTY, _property),
    _between(owl("inverseOf"), _property),
    _of_type("SymmetricProperty"),
    _of_type("TransitiveProperty"),
    _side,
    _side,
    _restriction,
    _restriction,
    _with_list(Words.described, "intersectionOf", [*CLASSES, *RESTRICTIONS]),
    _with_list(Words.described, "unionOf", [*CLASSES, *RESTRICTIONS]),
    _with_list(Words.described, "oneOf", THINGS),
    _with_list(_property, "propertyChainAxiom", PROPERTIES),
    lambda words: [Triple(words.described(), TYPE, owl("Class"))],
    lambda words: [Triple(_property(words), TYPE, owl("ObjectProperty"))],
]
EQUALITY: list[Axiom] = [
    _of_type("FunctionalProperty"),
    _of_type("InverseFunctionalProperty"),
    _with_list(Words.described, "hasKey", PROPERTIES),
    _between(SAME, lambda words: words.one(THINGS)),
    _between(DIFFERENT, lambda words: words.one(THINGS)),
    _with_list(lambda words: words.one(named("XY")), "members", THINGS, "AllDifferent"),
    _with_list(lambda words: words.one(named("XY")), "distinctMembers", THINGS, "AllDifferent"),
]
CONFLICTS: list[Axiom] = [
    _between(owl("disjointWith"), Words.described),
    _between(owl("complementOf"), Words.described),
    _between(owl("propertyDisjointWith"), _property),
    _of_type("IrreflexiveProperty"),
    _of_type("AsymmetricProperty"),
    _denied,
    _with_list(lambda words: words.one(named("XY")), "members", CLASSES, "AllDisjointClasses"),
    _with_list(
        lambda words: words.one(named("XY")), "members", PROPERTIES, "AllDisjointProperties"
    ),
    lambda words: [Triple(words.described(), SUBCLASS, NOTHING)],
]
BENT: list[Axiom] = [_bent]


def _fact(words: Words) -> list[Triple]:
    if words.pick.random() < 0.4:
        return [Triple(words.one(THINGS), TYPE, words.described())]
    if words.pick.random() < 0.1:
        return [Triple(words.one(THINGS), _property(words), words.pick.choice(LITERALS))]
    return [Triple(words.one(THINGS), _property(words), words.one(THINGS))]


@dataclass(frozen=True)
class Step:
    """One change."""

    added: list[Triple]
    removed: list[Triple]

    def __str__(self) -> str:
        return "\n".join([*(f"- {t}" for t in self.removed), *(f"+ {t}" for t in self.added)])


def draw_life(seed: int, steps: int = 6) -> list[Step]:
    """The changes of a random ontology and its facts."""
    words = Words(f"ontology {seed}")
    pick = words.pick
    sorts = pick.sample(COMMON, 5) + pick.sample(CONFLICTS, 2)
    sorts += pick.sample(EQUALITY, 2) if pick.random() < 0.5 else []
    sorts += BENT if pick.random() < 0.3 else []
    axioms = [triple for _ in range(8) for triple in pick.choice(sorts)(words)]
    facts = [triple for _ in range(9) for triple in _fact(words)]
    asserted: set[Triple] = set()
    life = []
    for number in range(steps):
        axiomatic, others = (
            pick.sample(some, min(len(some), pick.choice((0, 1, 2, len(some))) or number == 0))
            for some in (axioms, facts)
        )
        removed = pick.sample(
            sorted(asserted, key=str), len(asserted) * pick.choice((0, 0, 1, 2)) // 4
        )
        step = Step(axiomatic + others, removed)
        asserted = (asserted - set(removed)) | set(step.added)
        life.append(step)
    return life
