"""Shapes: SHACL Core as constraints, so that a violation comes and goes with a change.

A violation binds `?focus`, `?path`, `?value`, `?component`, `?shape` and `?message`, as far as it
has them.  Inside, each shape has hidden predicates: the nodes that it is asked of, the values of
its path, its results, and the nodes that do not conform.  Shapes that need each other's negation in
a circle are refused, as any rules are.

Not read, and listed: what looks at texts (patterns, lengths, languages), SPARQL, qualified shapes,
`sh:xone`, node kinds that tell IRIs from blank nodes, and paths with choices or repetition.

Papers: Shapes Constraint Language (SHACL), W3C Recommendation, sections 2 to 4.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.errors import Place, RuleError
from livefacts.language.formula import (
    Aggregate,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import OWL, RDF, RDF_TYPE, RDFS, XSD
from livefacts.syntax.foreign_rules.formula_maker import ForeignProgram
from livefacts.syntax.foreign_rules.statements import Refusal, UnsayableError
from livefacts.syntax.rdf.documents import read_quads

SH = "http://www.w3.org/ns/shacl#"
FOCUS, VALUE, OTHER = Variable("focus"), Variable("value"), Variable("other")
SUBCLASS = NamedNode(RDFS + "subClassOf")
CLASSES = (NamedNode(RDFS + "Class"), NamedNode(OWL + "Class"))
ORDER = {"minInclusive": ">=", "minExclusive": ">", "maxInclusive": "<=", "maxExclusive": "<"}
COMPARED = {"lessThan": "<", "lessThanOrEquals": "<="}
LITERAL_KINDS = {SH + "Literal": True, SH + "BlankNodeOrIRI": False}
ASIDE = frozenset(
    {"property", "path", "targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf"}
    | {
        "severity",
        "message",
        "name",
        "description",
        "order",
        "group",
        "defaultValue",
        "deactivated",
    }
    | {"closed", "ignoredProperties", "declare", "prefixes", "suggestedShapesGraph", "shapesGraph"}
)
"""What of a shape is no constraint by itself."""
MADE_OF = (
    *(SH + name for name in ("property", "node", "not", "and", "or")),
    RDF + "first",
    RDF + "rest",
)
"""What leads from a shape to others that it is made of."""
Values: TypeAlias = Mapping[str, Sequence[Term]]


def read(path: str | os.PathLike[str]) -> ForeignProgram:
    """The constraints of a file of shapes."""
    graph: dict[Term, dict[str, list[Term]]] = {}
    for quad in read_quads(path):
        graph.setdefault(quad.subject, {}).setdefault(quad.predicate.value, []).append(quad.object)
    file = Path(path).name
    try:
        return ShapeReader(graph, file).program()
    except RecursionError:
        raise RuleError(
            f"the shapes of {file} are nested too deeply", hint="give the inner ones names"
        ) from None


class ShapeReader:
    """Makes rules and constraints of the shapes in a graph."""

    def __init__(self, graph: Mapping[Term, Values], file: str) -> None:
        self._graph = graph
        self._file = file
        self._rules: dict[Rule, None] = {}
        self._facts: dict[Triple | Fact, None] = {}
        self._refused: dict[Refusal, None] = {}
        self._read: set[Term] = set()
        self._partly: set[Term] = set()
        """The shapes of which something was refused."""
        self._digests: dict[Term, str] = {}

    def program(self) -> ForeignProgram:
        """All of it."""
        instance = "_instance", (VALUE, OTHER)
        self._rule(*instance, TripleAtom(VALUE, RDF_TYPE, OTHER))
        above = Variable("above")
        self._rule(
            "_instance",
            (VALUE, above),
            PredicateAtom("_instance", (VALUE, OTHER)),
            TripleAtom(OTHER, SUBCLASS, above),
        )
        targeted = [shape for shape in self._graph if self._targets(shape)]
        if not targeted:
            self._refused[Refusal(Place(self._file, 0, 0), "there is no shape with a target")] = (
                None
            )
        for shape in targeted:
            self._shape(shape)
            asked = self._name("asked", shape)
            self._rule(asked, (FOCUS,), PredicateAtom(self._name("told", shape), (FOCUS,)))
        program = Program(facts=tuple(self._facts)).plus(self._rules)
        return ForeignProgram(program, tuple(self._refused))

    # the graph

    def _all(self, node: Term, name: str) -> Sequence[Term]:
        return self._graph.get(node, {}).get(SH + name, ())

    def _one(self, node: Term, name: str) -> Term | None:
        return next(iter(self._all(node, name)), None)

    def _items(self, node: Term) -> Iterator[Term]:
        seen = set()
        while node != NamedNode(RDF + "nil"):
            said = self._graph.get(node, {})
            if node in seen or RDF + "first" not in said or RDF + "rest" not in said:
                raise UnsayableError("a list is not well-formed")
            seen.add(node)
            yield said[RDF + "first"][0]
            node = said[RDF + "rest"][0]

    def _name(self, word: str, *about: object) -> str:
        """A hidden predicate; blank nodes of shapes are told apart by what is said of them."""
        said = " ".join(
            self._said(each) if isinstance(each, BlankNode) else str(each) for each in about
        )
        return f"_{word}_{_digest([said])[:12]}"

    def _said(self, node: BlankNode) -> str:
        """A digest of what is said of a blank node; a list is followed item by item."""
        known = self._digests.get(node)
        if known is None:
            self._digests[node] = "a circle"
            known = self._digests[node] = _digest(map(str, self._pairs(node)))
        return known

    def _pairs(self, node: BlankNode) -> Iterator[tuple[str, str]]:
        """What is said of a node; of the links of a list, all in one go."""
        link: Term = node
        seen: set[Term] = set()
        while isinstance(link, BlankNode) and link not in seen:
            seen.add(link)
            rest: Term | None = None
            here: list[tuple[str, str]] = []
            for name, values in self._graph.get(link, {}).items():
                for each in values:
                    if name == RDF + "rest" and rest is None:
                        rest = each
                    elif isinstance(each, BlankNode):
                        here.append((name, self._said(each)))
                    else:
                        here.append((name, str(each)))
            yield from sorted(here)
            link = NamedNode(RDF + "nil") if rest is None else rest
            yield RDF + "rest", "" if isinstance(link, BlankNode) else str(link)

    # targets

    def _targets(self, shape: Term) -> bool:
        """Rules for the nodes that a shape is about; whether it has any."""
        told = self._name("told", shape)
        count = len(self._rules) + len(self._facts)
        for node in self._all(shape, "targetNode"):
            self._facts[Fact(told, (node,))] = None
        classes = [*self._all(shape, "targetClass")]
        if any(kind in CLASSES for kind in self._graph[shape].get(RDF_TYPE.value, ())):
            is_shape = NamedNode(SH + "NodeShape") in self._graph[shape].get(RDF_TYPE.value, ())
            classes += [shape] if is_shape else []
        for each in classes:
            self._rule(told, (FOCUS,), PredicateAtom("_instance", (FOCUS, each)))
        for each in self._all(shape, "targetSubjectsOf"):
            self._rule(told, (FOCUS,), TripleAtom(FOCUS, each, OTHER))
        for each in self._all(shape, "targetObjectsOf"):
            self._rule(told, (FOCUS,), TripleAtom(OTHER, each, FOCUS))
        return len(self._rules) + len(self._facts) > count

    # shapes

    def _shape(self, shape: Term) -> None:
        """The rules of a shape, and of those below it."""
        if shape in self._read:
            return
        self._read.add(shape)
        if self._one(shape, "deactivated") == _boolean(True):
            return
        asked = PredicateAtom(self._name("asked", shape), (FOCUS,))
        try:
            self._path_values(shape, asked)
        except UnsayableError as error:
            self._refuse(shape, f"sh:path: {error}")
            return
        for name in [p.removeprefix(SH) for p in self._graph.get(shape, {}) if p.startswith(SH)]:
            try:
                self._component(shape, name, asked)
            except UnsayableError as error:
                self._refuse(shape, f"sh:{name}: {error}")
        values = PredicateAtom(self._name("values", shape), (FOCUS, VALUE))
        for below in self._all(shape, "property"):
            if self._one(below, "path") is None:
                self._refuse(below, "sh:path: a shape of a property has one")
                continue
            self._below(shape, below, values)
            told = PredicateAtom(self._name("told", shape), (FOCUS,))
            self._rule(self._name("told", below), (VALUE,), told, values)
            bad = PredicateAtom(self._name("bad", below), (VALUE,))
            self._rule(self._name("bad", shape), (FOCUS,), values, bad)

    def _below(self, shape: Term, other: Term, values: PredicateAtom) -> None:
        """Another shape is asked of the values of this one."""
        self._rule(self._name("asked", other), (VALUE,), values)
        self._shape(other)

    def _path_values(self, shape: Term, asked: PredicateAtom) -> None:
        path = self._one(shape, "path")
        name = self._name("values", shape)
        if path is None:
            self._rule(name, (FOCUS, FOCUS), asked)
            return
        steps = [*self._steps(path)]
        body: list[Formula] = [asked]
        here: Slot = FOCUS
        for number, (predicate, is_inverse) in enumerate(steps, 1):
            there: Slot = VALUE if number == len(steps) else Variable(f"step{number}")
            body.append(
                TripleAtom(there, predicate, here)
                if is_inverse
                else TripleAtom(here, predicate, there)
            )
            here = there
        self._rule(name, (FOCUS, VALUE), *body)

    def _steps(self, path: Term) -> Iterator[tuple[NamedNode, bool]]:
        if isinstance(path, NamedNode):
            yield path, False
            return
        inverse = self._one(path, "inversePath")
        if isinstance(inverse, NamedNode):
            yield inverse, True
        elif RDF + "first" in self._graph.get(path, {}):
            for each in self._items(path):
                yield from self._steps(each)
        else:
            raise UnsayableError("only properties, their inversions and sequences of them are read")

    # constraints

    def _component(self, shape: Term, name: str, asked: PredicateAtom) -> None:
        if name == "closed":
            self._closed(shape, asked)
        if name in ASIDE:
            return
        values = PredicateAtom(self._name("values", shape), (FOCUS, VALUE))
        for number, given in enumerate(self._all(shape, name)):
            made = _Made(self, shape, f"{name}{number}", given, asked, values)
            component = COMPONENTS.get(name)
            if component is None:
                raise UnsayableError("this constraint is not read")
            for body, has_value in component(made):
                self._result(shape, name, made.named("result"), body, has_value)

    def _closed(self, shape: Term, asked: PredicateAtom) -> None:
        if self._one(shape, "closed") != _boolean(True):
            return
        allowed, path = self._name("allowed", shape), Variable("path")
        ignored = self._one(shape, "ignoredProperties")
        known = [*(self._items(ignored) if ignored is not None else ())]
        known += [p for below in self._all(shape, "property") for p in self._all(below, "path")]
        for each in known:
            if isinstance(each, NamedNode):
                self._facts[Fact(allowed, (each,))] = None
        body: list[Formula] = [asked, TripleAtom(FOCUS, path, VALUE)]
        if any(isinstance(each, NamedNode) for each in known):
            body.append(Negation(PredicateAtom(allowed, (path,))))
        self._result(shape, "closed", self._name("result", shape, "closed"), body, True, path)

    def _result(
        self,
        shape: Term,
        component: str,
        name: str,
        body: Sequence[Formula],
        has_value: bool,
        path: Variable | None = None,
    ) -> None:
        """A result of a shape: its rules, and the constraint for the nodes that it is about."""
        slots = (FOCUS, *((VALUE,) if has_value else ()), *((path,) if path else ()))
        self._rule(name, slots, *body)
        result = PredicateAtom(name, slots)
        self._rule(self._name("bad", shape), (FOCUS,), result)
        said: list[Formula] = [PredicateAtom(self._name("told", shape), (FOCUS,)), result]
        given: dict[str, Term | None] = {
            "path": None if path else self._one(shape, "path"),
            "component": NamedNode(
                f"{SH}{component[:1].upper()}{component[1:]}ConstraintComponent"
            ),
            "shape": shape,
            "message": self._one(shape, "message"),
        }
        for word, term in given.items():
            if term is not None and not isinstance(term, BlankNode):
                said.append(Comparison(Variable(word), "=", _expression(term)))
        local = str(getattr(shape, "value", "")).replace("/", "#").rpartition("#")[2]
        label = "".join(c if c.isalnum() and c.isascii() else "_" for c in local)
        label = "shape" if isinstance(shape, BlankNode) or not label else label
        identity = f"{label}-{component}-{name.rpartition('_')[2][:6]}"
        self._rules[Rule(None, tuple(said), identity, place=Place(self._file, 0, 0))] = None

    def _rule(self, name: str, slots: Sequence[Slot], *body: Formula) -> None:
        self._rules[Rule(PredicateAtom(name, tuple(slots)), tuple(body))] = None

    def _refuse(self, shape: Term, reason: str) -> None:
        label = shape if isinstance(shape, NamedNode) else "a shape without a name"
        self._refused[Refusal(Place(self._file, 0, 0), f"{label}: {reason}")] = None
        self._partly.add(shape)

    def is_all_read(self, shape: Term) -> bool:
        """Whether nothing was refused of a shape, and of those that it is made of."""
        found, waiting = {shape}, [shape]
        while waiting:
            said = self._graph.get(waiting.pop(), {})
            below = {each for name in MADE_OF for each in said.get(name, ())} - found
            found |= below
            waiting += below
        return not found & self._partly

    def fact(self, name: str, term: Term) -> None:
        """A hidden fact that the constraints look up."""
        self._facts[Fact(name, (term,))] = None

    def helper(self, name: str, slots: Sequence[Slot], *body: Formula) -> None:
        """A hidden predicate that a constraint needs."""
        self._rule(name, slots, *body)

    def other(self, shape: Term, other: Term, values: PredicateAtom) -> PredicateAtom:
        """The values that do not conform to another shape."""
        self._below(shape, other, values)
        bad = self._name("bad", other)
        return PredicateAtom(bad, (VALUE,))

    def named(self, word: str, *about: object) -> str:
        return self._name(word, *about)

    def items(self, node: Term) -> Iterator[Term]:
        return self._items(node)


class _Made:
    """One constraint that is being made: of which shape, with which value."""

    def __init__(
        self,
        reader: ShapeReader,
        shape: Term,
        key: str,
        given: Term,
        asked: PredicateAtom,
        values: PredicateAtom,
    ) -> None:
        self.reader, self.shape, self.key, self.given = reader, shape, key, given
        self.asked, self.values = asked, values

    def named(self, word: str) -> str:
        """A hidden predicate of this constraint."""
        return self.reader.named(word, self.shape, self.key, self.given)

    def unless(self, *conditions: Formula) -> tuple[list[Formula], bool]:
        """The values of which these conditions do not hold."""
        fine = PredicateAtom(self.named("fine"), (VALUE,))
        self.reader.helper(fine.name, (VALUE,), self.values, *conditions)
        return [self.values, Negation(fine)], True


Bodies: TypeAlias = Iterator[tuple[Sequence[Formula], bool]]


def _class(made: _Made) -> Bodies:
    yield [made.values, Negation(PredicateAtom("_instance", (VALUE, made.given)))], True


def _datatype(made: _Made) -> Bodies:
    yield made.unless(Comparison(FunctionCall("datatype", VALUE), "is", _expression(made.given)))


def _node_kind(made: _Made) -> Bodies:
    kind = getattr(made.given, "value", "")
    if kind not in LITERAL_KINDS:
        raise UnsayableError("only sh:Literal and sh:BlankNodeOrIRI can be told apart")
    # Only literals have a datatype.
    is_literal = Comparison(FunctionCall("datatype", VALUE), "is", FunctionCall("datatype", VALUE))
    yield made.unless(is_literal) if LITERAL_KINDS[kind] else ([made.values, is_literal], True)


def _min_count(made: _Made) -> Bodies:
    least = _whole(made.given)
    if least < 1:
        return
    some = PredicateAtom(made.named("some"), (FOCUS,))
    made.reader.helper(some.name, (FOCUS,), made.values)
    yield [made.asked, Negation(some)], False
    if least > 1:
        yield [_count(made.values), Comparison(Variable("n"), "<", _expression(made.given))], False


def _max_count(made: _Made) -> Bodies:
    _whole(made.given)
    yield [_count(made.values), Comparison(Variable("n"), ">", _expression(made.given))], False


def _ordered(operator: str) -> Callable[[_Made], Bodies]:
    def bodies(made: _Made) -> Bodies:
        yield made.unless(Comparison(VALUE, operator, _expression(made.given)))

    return bodies


def _has_value(made: _Made) -> Bodies:
    yield [made.asked, Negation(PredicateAtom(made.values.name, (FOCUS, made.given)))], False


def _in(made: _Made) -> Bodies:
    listed = made.named("listed")
    items = [*made.reader.items(made.given)]
    for each in items:
        made.reader.fact(listed, each)
    if items:
        yield [made.values, Negation(PredicateAtom(listed, (VALUE,)))], True
    else:
        yield [made.values], True


def _equals(made: _Made) -> Bodies:
    said = TripleAtom(FOCUS, made.given, VALUE)
    yield [made.values, Negation(said)], True
    yield [made.asked, said, Negation(made.values)], True


def _disjoint(made: _Made) -> Bodies:
    yield [made.values, TripleAtom(FOCUS, made.given, VALUE)], True


def _less(operator: str) -> Callable[[_Made], Bodies]:
    def bodies(made: _Made) -> Bodies:
        fine = PredicateAtom(made.named("fine"), (FOCUS, VALUE, OTHER))
        said = TripleAtom(FOCUS, made.given, OTHER)
        made.reader.helper(
            fine.name, fine.arguments, made.values, said, Comparison(VALUE, operator, OTHER)
        )
        yield [made.values, said, Negation(fine)], True

    return bodies


def _node(made: _Made) -> Bodies:
    yield [made.values, made.reader.other(made.shape, made.given, made.values)], True


def _not(made: _Made) -> Bodies:
    other = made.reader.other(made.shape, made.given, made.values)
    if not made.reader.is_all_read(made.given):
        # Whatever is left out makes more conform to it, and would be a violation here.
        raise UnsayableError("not all of what it denies is read")
    yield [made.values, Negation(other)], True


def _and(made: _Made) -> Bodies:
    for each in made.reader.items(made.given):
        yield [made.values, made.reader.other(made.shape, each, made.values)], True


def _or(made: _Made) -> Bodies:
    others = [made.reader.other(made.shape, x, made.values) for x in made.reader.items(made.given)]
    yield [made.values, *others], True


COMPONENTS: Mapping[str, Callable[[_Made], Bodies]] = {
    "class": _class,
    "datatype": _datatype,
    "nodeKind": _node_kind,
    "minCount": _min_count,
    "maxCount": _max_count,
    **{name: _ordered(operator) for name, operator in ORDER.items()},
    "hasValue": _has_value,
    "in": _in,
    "equals": _equals,
    "disjoint": _disjoint,
    **{name: _less(operator) for name, operator in COMPARED.items()},
    "node": _node,
    "not": _not,
    "and": _and,
    "or": _or,
}


def _count(values: PredicateAtom) -> Aggregate:
    return Aggregate(Variable("n"), "count", (VALUE,), (values,))


def _whole(term: Term) -> int:
    try:
        return int(term.value)  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        raise UnsayableError(f"{term} is no number") from None


def _expression(term: Term) -> Expression:
    assert not isinstance(term, Symbol), "RDF has no symbols"
    return term


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _boolean(value: bool) -> Literal:
    return Literal("true" if value else "false", datatype=NamedNode(XSD + "boolean"))
