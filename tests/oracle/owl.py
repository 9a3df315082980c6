"""OWL 2 RL/RDF in plain Python: tables 4 to 9 of the standard, rule by rule, over sets of triples.

It shares nothing with the rule set, not even its text: lists are read as lists, and every
rule is a loop.  A thing is never concluded to be the same as itself, and dt-type2, dt-eq,
dt-diff and dt-not-type are left to tests of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product

from pyoxigraph import NamedNode

from livefacts.model.facts import Term

Terms = tuple[Term, Term, Term]
Violation = tuple[str, tuple[tuple[str, Term], ...]]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"


def owl(name: str) -> NamedNode:
    return NamedNode(OWL + name)


def rdfs(name: str) -> NamedNode:
    return NamedNode(RDFS + name)


TYPE, FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("type", "first", "rest", "nil"))
SAME, DIFFERENT, THING, NOTHING = map(owl, ("sameAs", "differentFrom", "Thing", "Nothing"))
SUBCLASS, SUBPROPERTY = rdfs("subClassOf"), rdfs("subPropertyOf")
EQUAL_CLASS, EQUAL_PROPERTY = owl("equivalentClass"), owl("equivalentProperty")
ON, SOME, ALL, VALUE = map(owl, ("onProperty", "someValuesFrom", "allValuesFrom", "hasValue"))
ANNOTATIONS = [
    *map(rdfs, ("label", "comment", "seeAlso", "isDefinedBy")),
    *map(owl, ("deprecated", "versionInfo", "priorVersion")),
    *map(owl, ("backwardCompatibleWith", "incompatibleWith")),
]
OF_XML_SCHEMA = """
    decimal integer nonNegativeInteger nonPositiveInteger positiveInteger negativeInteger long int
    short byte unsignedLong unsignedInt unsignedShort unsignedByte float double string
    normalizedString token language Name NCName NMTOKEN boolean hexBinary base64Binary anyURI
    dateTime dateTimeStamp
"""
DATATYPES = [
    NamedNode(RDF + "PlainLiteral"),
    NamedNode(RDF + "XMLLiteral"),
    rdfs("Literal"),
    *(NamedNode(XSD + name) for name in OF_XML_SCHEMA.split()),
]
AXIOMS: set[Terms] = {
    (THING, TYPE, owl("Class")),
    (NOTHING, TYPE, owl("Class")),
    *((p, TYPE, owl("AnnotationProperty")) for p in ANNOTATIONS),
    *((d, TYPE, rdfs("Datatype")) for d in DATATYPES),
}


class Graph:
    """Triples, by predicate with subject or object."""

    def __init__(self, triples: Iterable[Terms]) -> None:
        self.triples: set[Terms] = set()
        self._pairs: defaultdict[Term, set[tuple[Term, Term]]] = defaultdict(set)
        self._objects: defaultdict[tuple[Term, Term], set[Term]] = defaultdict(set)
        self._subjects: defaultdict[tuple[Term, Term], set[Term]] = defaultdict(set)
        self.add(triples)

    def add(self, triples: Iterable[Terms]) -> bool:
        """Add triples; whether one of them was new."""
        new = set(triples) - self.triples
        self.triples |= new
        for s, p, o in new:
            self._pairs[p].add((s, o))
            self._objects[s, p].add(o)
            self._subjects[p, o].add(s)
        return bool(new)

    def pairs(self, p: Term) -> list[tuple[Term, Term]]:
        return list(self._pairs.get(p, ()))

    def objects(self, s: Term, p: Term) -> list[Term]:
        return list(self._objects.get((s, p), ()))

    def subjects(self, p: Term, o: Term) -> list[Term]:
        return list(self._subjects.get((p, o), ()))

    def of_class(self, name: str) -> list[Term]:
        return self.subjects(TYPE, owl(name))

    def lists(self, cell: Term, met: tuple[Term, ...] = ()) -> Iterator[list[Term]]:
        """Every list that begins at a cell; more than one where a cell has several values."""
        if cell == NIL:
            yield []
        elif cell not in met:
            for value in self.objects(cell, FIRST):
                for rest in self.objects(cell, REST):
                    for tail in self.lists(rest, (*met, cell)):
                        yield [value, *tail]

    def cells(self, cell: Term) -> set[Term]:
        """The cells of the lists that begin at a cell; none, if it leads to no end."""
        return {each for each in self._after(cell) if NIL in self._after(each)} - {NIL}

    def _after(self, cell: Term) -> set[Term]:
        """A cell and all that come after it, by cells that have values."""
        found, waiting = {cell}, [cell]
        while waiting:
            here = waiting.pop()
            new = set(self.objects(here, REST)) - found if self.objects(here, FIRST) else set()
            found |= new
            waiting += new
        return found

    def next_cells(self, cell: Term) -> set[Term]:
        """The cells that come after one, by one step or more; itself where they go round."""
        return {each for step in self.objects(cell, REST) for each in self.cells(step)}

    def members(self, cell: Term) -> set[Term]:
        return {value for each in self.cells(cell) for value in self.objects(each, FIRST)}

    def places(self, cell: Term) -> list[tuple[Term, Term]]:
        """The values in a list, each with its cell."""
        return [(each, v) for each in self.cells(cell) for v in self.objects(each, FIRST)]


def equality(g: Graph) -> Iterator[Terms]:
    """Table 4 without contradictions, and without eq-ref."""
    for x, y in g.pairs(SAME):
        yield y, SAME, x
        yield from ((x, SAME, z) for z in g.objects(y, SAME) if x != z)
        for s, p, o in list(g.triples):
            if s == x and p != SAME:
                yield y, p, o
            if p == x:
                yield s, y, o
            if o == x and p != SAME:
                yield s, p, y


def properties(g: Graph) -> Iterator[Terms]:
    """Table 5 without contradictions."""
    for p, c in g.pairs(rdfs("domain")):
        yield from ((x, TYPE, c) for x, _ in g.pairs(p))
    for p, c in g.pairs(rdfs("range")):
        yield from ((y, TYPE, c) for _, y in g.pairs(p))
    for p in g.of_class("FunctionalProperty"):
        yield from all_same(_groups(g.pairs(p)).values())
    for p in g.of_class("InverseFunctionalProperty"):
        yield from all_same(_groups((y, x) for x, y in g.pairs(p)).values())
    for p in g.of_class("SymmetricProperty"):
        yield from ((y, p, x) for x, y in g.pairs(p))
    for p in g.of_class("TransitiveProperty"):
        yield from ((x, p, z) for x, y in g.pairs(p) for z in g.objects(y, p))
    for p, q in g.pairs(SUBPROPERTY):
        yield from ((x, q, y) for x, y in g.pairs(p))
    for p, q in g.pairs(EQUAL_PROPERTY):
        yield from ((x, q, y) for x, y in g.pairs(p))
        yield from ((x, p, y) for x, y in g.pairs(q))
    for p, q in g.pairs(owl("inverseOf")):
        yield from ((y, q, x) for x, y in g.pairs(p))
        yield from ((y, p, x) for x, y in g.pairs(q))
    yield from chains(g)
    yield from keys(g)


def _groups(pairs: Iterable[tuple[Term, Term]]) -> dict[Term, set[Term]]:
    found: defaultdict[Term, set[Term]] = defaultdict(set)
    for x, y in pairs:
        found[x].add(y)
    return found


def all_same(groups: Iterable[Iterable[Term]]) -> Iterator[Terms]:
    for group in groups:
        yield from ((x, SAME, y) for x, y in permutations(set(group), 2))


def chains(g: Graph) -> Iterator[Terms]:
    for p, cell in g.pairs(owl("propertyChainAxiom")):
        for steps in g.lists(cell):
            if steps:
                ends = g.pairs(steps[0])
                for q in steps[1:]:
                    ends = [(x, z) for x, y in ends for z in g.objects(y, q)]
                yield from ((x, p, z) for x, z in ends)


def keys(g: Graph) -> Iterator[Terms]:
    for c, cell in g.pairs(owl("hasKey")):
        for key in g.lists(cell):
            for x, y in permutations(g.subjects(TYPE, c), 2):
                common = [set(g.objects(x, p)) & set(g.objects(y, p)) for p in key]
                if key and all(common):
                    yield x, SAME, y


def classes(g: Graph) -> Iterator[Terms]:
    """Table 6 without contradictions."""
    for c, cell in g.pairs(owl("intersectionOf")):
        for parts in g.lists(cell):
            if parts:
                common = set.intersection(*(set(g.subjects(TYPE, d)) for d in parts))
                yield from ((x, TYPE, c) for x in common)
        yield from ((x, TYPE, d) for x in g.subjects(TYPE, c) for d in g.members(cell))
    for c, cell in g.pairs(owl("unionOf")):
        yield from ((x, TYPE, c) for d in g.members(cell) for x in g.subjects(TYPE, d))
    for c, cell in g.pairs(owl("oneOf")):
        yield from ((x, TYPE, c) for x in g.members(cell))
    for r, p in g.pairs(ON):
        yield from restrictions(g, r, p)


def restrictions(g: Graph, r: Term, p: Term) -> Iterator[Terms]:
    for c in g.objects(r, SOME):
        for x, y in g.pairs(p):
            if c == THING or c in g.objects(y, TYPE):
                yield x, TYPE, r
    for v in g.objects(r, VALUE):
        yield from ((x, p, v) for x in g.subjects(TYPE, r))
        yield from ((x, TYPE, r) for x in g.subjects(p, v))
    for x in g.subjects(TYPE, r):
        yield from ((y, TYPE, c) for c in g.objects(r, ALL) for y in g.objects(x, p))
        if is_at_most(g, r, "maxCardinality", "1"):
            yield from all_same([g.objects(x, p)])
        if is_at_most(g, r, "maxQualifiedCardinality", "1"):
            for c in g.objects(r, owl("onClass")):
                yield from all_same([counted(g, x, p, c)])


def counted(g: Graph, x: Term, p: Term, c: Term) -> list[Term]:
    return [y for y in g.objects(x, p) if c == THING or c in g.objects(y, TYPE)]


def is_at_most(g: Graph, r: Term, limit: str, number: str) -> bool:
    return any(getattr(n, "value", None) == number for n in g.objects(r, owl(limit)))


def class_axioms(g: Graph) -> Iterator[Terms]:
    """Table 7 without contradictions."""
    for c, d in g.pairs(SUBCLASS):
        yield from ((x, TYPE, d) for x in g.subjects(TYPE, c))
    for c, d in g.pairs(EQUAL_CLASS):
        yield from ((x, TYPE, d) for x in g.subjects(TYPE, c))
        yield from ((x, TYPE, c) for x in g.subjects(TYPE, d))


def schema(g: Graph) -> Iterator[Terms]:
    """Table 9."""
    for c in g.of_class("Class"):
        yield from ((c, SUBCLASS, c), (c, EQUAL_CLASS, c))
        yield from ((c, SUBCLASS, THING), (NOTHING, SUBCLASS, c))
    for p in g.of_class("ObjectProperty") + g.of_class("DatatypeProperty"):
        yield from ((p, SUBPROPERTY, p), (p, EQUAL_PROPERTY, p))
    for below, equal in ((SUBCLASS, EQUAL_CLASS), (SUBPROPERTY, EQUAL_PROPERTY)):
        for x, y in g.pairs(below):
            yield from ((x, below, z) for z in g.objects(y, below))
            if (y, below, x) in g.triples:
                yield x, equal, y
        for x, y in g.pairs(equal):
            yield from ((x, below, y), (y, below, x))
    for side in (rdfs("domain"), rdfs("range")):
        for p, c in g.pairs(side):
            yield from ((p, side, d) for d in g.objects(c, SUBCLASS))
            yield from ((q, side, c) for q in g.subjects(SUBPROPERTY, p))
    for c, cell in g.pairs(owl("intersectionOf")):
        yield from ((c, SUBCLASS, d) for d in g.members(cell))
    for c, cell in g.pairs(owl("unionOf")):
        yield from ((d, SUBCLASS, c) for d in g.members(cell))
    yield from compared(g)


def compared(g: Graph) -> Iterator[Terms]:
    """The last part of table 9: restrictions below one another."""
    for (c, p), (d, q) in ((a, b) for a in g.pairs(ON) for b in g.pairs(ON)):
        below = (p, SUBPROPERTY, q) in g.triples
        if below and set(g.objects(c, VALUE)) & set(g.objects(d, VALUE)):
            yield c, SUBCLASS, d
        if below and set(g.objects(c, SOME)) & set(g.objects(d, SOME)):
            yield c, SUBCLASS, d
        if below and set(g.objects(c, ALL)) & set(g.objects(d, ALL)):
            yield d, SUBCLASS, c
        for filler in (SOME, ALL) if p == q else ():
            for y in g.objects(c, filler):
                if set(g.objects(y, SUBCLASS)) & set(g.objects(d, filler)):
                    yield c, SUBCLASS, d


TABLES: tuple[Callable[[Graph], Iterator[Terms]], ...] = (
    equality,
    properties,
    classes,
    class_axioms,
    schema,
)


def owl_closure(triples: Iterable[Terms]) -> set[Terms]:
    """Everything that follows, generalized triples too."""
    graph = Graph(AXIOMS | set(triples))
    while graph.add([triple for table in TABLES for triple in table(graph)]):
        pass
    return graph.triples


About = Iterator[tuple[str, dict[str, Term]]]


def contradictions(closure: Iterable[Terms]) -> set[Violation]:
    """The contradictions in a closure: the rule, and what it is about."""
    g = Graph(closure)
    tables = (_of_equality(g), _of_properties(g), _of_assertions(g), _of_classes(g), _of_limits(g))
    return {(rule, tuple(sorted(about.items()))) for table in tables for rule, about in table}


def _of_equality(g: Graph) -> About:
    for x, y in g.pairs(SAME):
        if (x, DIFFERENT, y) in g.triples:
            yield "eq-diff1", {"x": x, "y": y}
    for rule, predicate in (("eq-diff2", "members"), ("eq-diff3", "distinctMembers")):
        for x in g.of_class("AllDifferent"):
            for y, z in _pairs_in_lists(g, x, owl(predicate)):
                if (y, SAME, z) in g.triples:
                    yield rule, {"x": x, "y": y, "z": z}


def _pairs_in_lists(g: Graph, x: Term, predicate: Term) -> Iterator[tuple[Term, Term]]:
    """Two values in one list, the earlier one first."""
    for cell in g.objects(x, predicate):
        places = g.places(cell)
        for (i, y), (j, z) in product(places, places):
            if j in g.next_cells(i):
                yield y, z


def _of_properties(g: Graph) -> About:
    for p in g.of_class("IrreflexiveProperty"):
        yield from (("prp-irp", {"p": p, "x": x}) for x, y in g.pairs(p) if x == y)
    for p in g.of_class("AsymmetricProperty"):
        for x, y in g.pairs(p):
            if (y, p, x) in g.triples and str(x) <= str(y):
                yield "prp-asyp", {"p": p, "x": x, "y": y}
    for p, q in g.pairs(owl("propertyDisjointWith")):
        for x, y in set(g.pairs(p)) & set(g.pairs(q)):
            yield "prp-pdw", {"p": p, "q": q, "x": x, "y": y}
    for z in g.of_class("AllDisjointProperties"):
        for p, q in _pairs_in_lists(g, z, owl("members")):
            for x, y in set(g.pairs(p)) & set(g.pairs(q)):
                yield "prp-adp", {"z": z, "p": p, "q": q, "x": x, "y": y}


def _of_assertions(g: Graph) -> About:
    for rule, target in (("prp-npa1", "targetIndividual"), ("prp-npa2", "targetValue")):
        for n, x in g.pairs(owl("sourceIndividual")):
            for p in g.objects(n, owl("assertionProperty")):
                for y in g.objects(n, owl(target)):
                    if (x, p, y) in g.triples:
                        yield rule, {"n": n, "x": x, "p": p, "y": y}


def _of_classes(g: Graph) -> About:
    yield from (("cls-nothing2", {"x": x}) for x in g.subjects(TYPE, NOTHING))
    for rule, predicate in (("cls-com", "complementOf"), ("cax-dw", "disjointWith")):
        for c, d in g.pairs(owl(predicate)):
            for x in set(g.subjects(TYPE, c)) & set(g.subjects(TYPE, d)):
                yield rule, {"c": c, "d": d, "x": x}
    for z in g.of_class("AllDisjointClasses"):
        for c, d in _pairs_in_lists(g, z, owl("members")):
            for x in set(g.subjects(TYPE, c)) & set(g.subjects(TYPE, d)):
                yield "cax-adc", {"z": z, "c": c, "d": d, "x": x}


def _of_limits(g: Graph) -> About:
    for r, p in g.pairs(ON):
        for x in g.subjects(TYPE, r):
            for y in g.objects(x, p):
                about = {"r": r, "p": p, "x": x, "y": y}
                if is_at_most(g, r, "maxCardinality", "0"):
                    yield "cls-maxc1", about
                if is_at_most(g, r, "maxQualifiedCardinality", "0"):
                    yield from _of_qualified(g, about)


def _of_qualified(g: Graph, about: dict[str, Term]) -> About:
    for c in g.objects(about["r"], owl("onClass")):
        if c in g.objects(about["y"], TYPE):
            yield "cls-maxqc1", {**about, "c": c}
        if c == THING:
            yield "cls-maxqc2", about
