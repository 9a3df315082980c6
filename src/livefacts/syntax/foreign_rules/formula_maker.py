"""Rule parts: what the languages have in common, as formulas.

Blank nodes of a body are variables; sequences and inversions of properties become triples with
variables between them.  A negated group of several atoms becomes a hidden predicate with a rule of
its own: `not _without_1a2b(?x)`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urljoin

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.errors import Place
from livefacts.language.formula import (
    NOWHERE,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_formula
from livefacts.model.facts import Fact, Symbol
from livefacts.model.namespaces import DECLARED, RDF_TYPE, XSD
from livefacts.syntax.foreign_rules.statements import ForeignText, Refusal, UnsayableError

if TYPE_CHECKING:
    from lark import Token, Tree

Node: TypeAlias = "Tree[Token] | Token"
"""A part of a parse tree."""
KINDS = {"INTEGER": "integer", "DECIMAL": "decimal", "DOUBLE": "double"}
OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
NUMBERED = re.compile(r"r[0-9]+")
"""The names that rules without a name get."""
ID = re.compile(r"\w+(?:[.-]\w+)*")


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """What a text says in the rule language, and what of it could not be said."""

    program: Program
    refused: tuple[Refusal, ...] = ()


def kind_of(node: Node) -> str:
    """The name of a tree, or the type of a token."""
    return str(getattr(node, "data", None) or node.type)  # type: ignore[union-attr]


def parts_of(node: Node) -> list[Node]:
    """What is below a tree."""
    return list(node.children)  # type: ignore[union-attr]


@dataclass
class RuleParts:
    """Makes rules of the statements of one text, and keeps them."""

    source: ForeignText
    base: str = ""
    prefixes: dict[str, str] = field(default_factory=lambda: dict(DECLARED))
    rules: list[Rule] = field(default_factory=list)
    facts: list[Triple | Fact] = field(default_factory=list)
    included: Program = field(default_factory=Program)
    blank_is_variable: bool = True
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _labels: dict[str, Variable] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """A new statement: its blank nodes are its own."""
        self._numbers, self._labels = count(1), {}

    def result(self) -> ForeignProgram:
        """All that was taken, and what was not."""
        made = Program(
            facts=tuple(dict.fromkeys(self.facts)), prefixes=tuple(self.prefixes.items())
        )
        # Those with names come first: a number that is given would take one of them.
        named = sorted(self.rules, key=lambda rule: not rule.id)
        program = self.included.joined(made.plus(named))
        return ForeignProgram(program, tuple(self.source.refused))

    # rules

    def declare(self, tree: Node) -> None:
        """A prefix, or the base of relative IRIs."""
        *_, iri = parts_of(tree)
        meaning = self.iri(iri).value
        if kind_of(tree) == "base":
            self.base = meaning
            return
        name = str(parts_of(tree)[1])[:-1]
        if DECLARED.get(name, meaning) != meaning:
            raise UnsayableError(f"the prefix {name}: always means <{DECLARED[name]}>")
        self.prefixes[name] = meaning

    def add_rule(
        self, heads: Sequence[Atom], body: Sequence[Formula], place: Place, name: str = ""
    ) -> None:
        """A rule for each head; `name` is the id of the only one."""
        if not body:
            self.facts += [self._fact(head) for head in heads]
            return
        bound = {v for part in body if not isinstance(part, Negation) for v in variables_of(part)}
        for head in heads:
            if free := [v for v in variables_of(head) if v not in bound]:
                raise UnsayableError(
                    f"{_names(free)} stands in the head and in no premise: it would be a new thing"
                )
        known = ID.fullmatch(name) is not None and name not in self._taken and len(heads) == 1
        known = known and NUMBERED.fullmatch(name) is None
        for head in heads:
            self.rules.append(Rule(head, tuple(body), name if known else "", place=place))
        if known:
            self._taken.add(name)

    def add_constraint(self, body: Sequence[Formula], place: Place) -> None:
        """What must not be."""
        self.rules.append(Rule(None, tuple(body), place=place))

    def _fact(self, head: Atom) -> Triple | Fact:
        if variables_of(head):
            raise UnsayableError("a fact has no variables")
        if isinstance(head, PredicateAtom):
            return Fact(head.name, head.arguments)  # type: ignore[arg-type]
        try:
            return Triple(*head.slots)  # type: ignore[arg-type]
        except TypeError as error:
            raise UnsayableError(f"this is no triple: {error}") from None

    def without(self, inner: Sequence[Formula], outer: Iterable[Variable]) -> list[Formula]:
        """What says that a group matches nothing."""
        if not inner:
            raise UnsayableError("a negation of nothing")
        inside, known = bound_in(inner), set(outer)
        first = inner[0]
        if (
            len(inner) == 1
            and isinstance(first, TripleAtom | PredicateAtom)
            and known.issuperset(inside)
        ):
            return [Negation(first)]
        shared = tuple(v for v in inside if v in known)
        bound = {
            v
            for part in inner
            if isinstance(part, TripleAtom | PredicateAtom)
            for v in variables_of(part)
        }
        if free := [v for v in shared if v not in bound]:
            raise UnsayableError(
                f"{_names(free)} is compared inside of a negation and bound outside"
            )
        said = ", ".join(write_formula(part) for part in inner)
        # Equal groups have equal names, whichever text they come from.
        digest = hashlib.sha256(f"{said} / {_names(shared)}".encode()).hexdigest()[:12]
        atom = PredicateAtom(f"_without_{digest}", shared)
        self.rules.append(Rule(atom, tuple(inner), place=NOWHERE))
        return [Negation(atom)]

    # triples

    def atoms(self, tree: Node) -> list[Atom]:
        """The triples of a subject with its properties."""
        found: list[Atom] = []
        subject, pairs = parts_of(tree)
        self._pairs(self.node(subject, found), pairs, found)
        return found

    def _pairs(self, subject: Slot, pairs: Node, found: list[Atom]) -> None:
        for pair in parts_of(pairs):
            verb, objects = parts_of(pair)
            for each in parts_of(objects):
                self._step(subject, verb, self.node(each, found), found)

    def _step(self, subject: Slot, verb: Node, object_: Slot, found: list[Atom]) -> None:
        if kind_of(verb) == "VARIABLE":
            found.append(TripleAtom(subject, self.variable(verb), object_))
        elif kind_of(verb) == "EQUAL":
            found.append(
                TripleAtom(subject, NamedNode("http://www.w3.org/2002/07/owl#sameAs"), object_)
            )
        elif kind_of(verb) == "step":
            *inverse, inner = parts_of(verb)
            if inverse:
                subject, object_ = object_, subject
            if kind_of(inner) == "path":
                self._step(subject, inner, object_, found)
            else:
                predicate = RDF_TYPE if kind_of(inner) == "A" else self.iri(inner)
                found.append(TripleAtom(subject, predicate, object_))
        else:
            steps = parts_of(verb)
            for step in steps[:-1]:
                between = self.fresh()
                self._step(subject, step, between, found)
                subject = between
            self._step(subject, steps[-1], object_, found)

    def node(self, node: Node, found: list[Atom]) -> Slot:
        """A term or variable; what is said in brackets is added to what was found."""
        if kind_of(node) == "anonymous":
            new = self.fresh()
            for pairs in parts_of(node):
                self._pairs(new, pairs, found)
            return new
        if kind_of(node) == "list":
            raise UnsayableError("lists in triples are not read")
        return self.slot(node)

    def fresh(self) -> Variable:
        """A variable that the text does not have."""
        return Variable(f"_{next(self._numbers)}")

    def slot(self, node: Node) -> Slot:
        """A variable or a constant."""
        if kind_of(node) == "VARIABLE":
            return self.variable(node)
        if kind_of(node) == "BLANK":
            if not self.blank_is_variable:
                return BlankNode(str(node)[2:])
            return self._labels.setdefault(str(node), self.fresh())
        return self.constant(node)

    def variable(self, node: Node) -> Variable:
        return Variable(str(node)[1:])

    # constants

    def constant(self, node: Node) -> Slot:
        match kind_of(node):
            case "IRI" | "PREFIXED":
                return self.iri(node)
            case "BOOLEAN":
                return Literal(str(node), datatype=NamedNode(XSD + "boolean"))
            case "number" | "value":
                text = "".join(map(str, parts_of(node)))
                datatype = KINDS[kind_of(parts_of(node)[-1])]
                return Literal(text, datatype=NamedNode(XSD + datatype))
            case "literal_term":
                return self._literal(*parts_of(node))
        raise UnsayableError(f"{node} cannot stand here")

    def _literal(self, string: Node, more: Node | None = None) -> Literal:
        quotes = 3 if str(string)[:3] in ('"""', "'''") else 1
        value = ESCAPE.sub(_character, str(string)[quotes:-quotes])
        if any("\ud800" <= each <= "\udfff" for each in value):
            raise UnsayableError("an escape is half of a surrogate pair")
        try:
            if more is None:
                return Literal(value)
            if kind_of(more) == "LANGUAGE":
                return Literal(value, language=str(more)[1:])
            return Literal(value, datatype=self.iri(more))
        except ValueError as error:
            raise UnsayableError(f"{string} is no literal: {error}") from None

    def iri(self, node: Node) -> NamedNode:
        text = str(node)
        if kind_of(node) == "PREFIXED":
            prefix, _, local = text.partition(":")
            if prefix not in self.prefixes:
                raise UnsayableError(f"the prefix {prefix}: is not declared")
            text = self.prefixes[prefix] + local
        else:
            text = ESCAPE.sub(_character, text[1:-1])
            if not SCHEME.match(text):
                if not self.base:
                    raise UnsayableError(f"<{text}> is a relative IRI, and there is no base")
                text = urljoin(self.base, text)
        try:
            return NamedNode(text)
        except ValueError as error:
            raise UnsayableError(f"<{text}> is no IRI: {error}") from None

    # expressions

    def conditions(self, node: Node) -> list[Formula]:
        """What a filter asks, as comparisons that must all hold."""
        match kind_of(node):
            case "either" | "both":
                parts = parts_of(node)
                if len(parts) > 1 and kind_of(node) == "either":
                    raise UnsayableError("|| is not read: write a rule for each case")
                return [each for part in parts for each in self.conditions(part)]
            case "comparison":
                left, sign, right = parts_of(node)
                return [Comparison(self.expression(left), str(sign), self.expression(right))]
            case "denied":
                return [self._denied(parts_of(node)[0])]
            case "call":
                return [self._test(node)]
        raise UnsayableError("a filter compares: ?x < 3, ?x != ?y, sameTerm(?x, ?y)")

    def _denied(self, node: Node) -> Formula:
        asked = self.conditions(node)
        if len(asked) == 1 and isinstance(asked[0], Comparison) and asked[0].operator in OPPOSITE:
            return replace(asked[0], operator=OPPOSITE[asked[0].operator])
        if len(asked) == 1 and isinstance(asked[0], Comparison) and asked[0].operator == "is":
            return replace(asked[0], operator="is not")
        raise UnsayableError("! stands in front of one comparison")

    def _test(self, node: Node) -> Formula:
        name, *arguments = parts_of(node)
        if str(name).lower() == "sameterm" and len(arguments) == 2:
            left, right = map(self.expression, arguments)
            return Comparison(left, "is", right)
        raise UnsayableError(f"there is no test {name} in rules")

    def expression(self, node: Node) -> Expression:
        """A value that is computed."""
        match kind_of(node):
            case "VARIABLE":
                return self.variable(node)
            case "either" | "both":
                if len(parts_of(node)) == 1:
                    return self.expression(parts_of(node)[0])
                raise UnsayableError("a value is wanted, and not a condition")
            case "arithmetic":
                left, sign, right = parts_of(node)
                return Arithmetic(str(sign), self.expression(left), self.expression(right))
            case "negative":
                zero = Literal("0", datatype=NamedNode(XSD + "integer"))
                return Arithmetic("-", zero, self.expression(parts_of(node)[-1]))
            case "call":
                name, *arguments = parts_of(node)
                if str(name).lower() == "datatype" and len(arguments) == 1:
                    return FunctionCall("datatype", self.expression(arguments[0]))
                raise UnsayableError(f"there is no function {name} in rules")
            case "comparison" | "denied" | "among":
                raise UnsayableError("a value is wanted, and not a condition")
        found = self.constant(node)
        assert not isinstance(found, Symbol), "constants of other languages are RDF terms"
        return found


def read_statements(
    source: ForeignText, take: Callable[[RuleParts, Node, Place], None]
) -> ForeignProgram:
    """The rules and facts of a text, whose statements are taken one by one; what cannot be is noted."""
    parts = RuleParts(source)
    for place, tree in source.statements():
        parts.begin()
        try:
            take(parts, tree, place)
        except UnsayableError as error:
            source.refuse(place, str(error))
    return parts.result()


def ordered(body: Iterable[Formula]) -> list[Formula]:
    """Atoms first: what compares or negates needs them."""
    parts = list(body)
    return [p for p in parts if isinstance(p, TripleAtom | PredicateAtom)] + [
        p for p in parts if not isinstance(p, TripleAtom | PredicateAtom)
    ]


def bound_in(body: Iterable[Formula]) -> list[Variable]:
    """The variables of a body."""
    return list(dict.fromkeys(v for part in body for v in variables_of(part)))


def renamed(parts: Sequence[Formula], names: Mapping[Variable, Slot]) -> list[Formula]:
    """Formulas with other variables."""
    from livefacts.language.formula import filled

    return [filled(part, names) for part in parts]


def _names(variables: Iterable[Variable]) -> str:
    return ", ".join(map(str, variables))


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "uU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number <= 0x10FFFF else "�"
    return ESCAPED.get(code, code)
