"""The parse tree of a rule text, read into a program: what may stand where, and why not.

The grammar lets any value stand anywhere; here each one is given its role (argument,
expression, atom, condition, head), and one that does not fit is refused with the reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import Literal, NamedNode, Triple

from livefacts.errors import Place, RuleError, UnsafeVariableError
from livefacts.language.checks.safety import Arities
from livefacts.language.formula import (
    AGGREGATES,
    FUNCTIONS,
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.model.namespaces import RDF_TYPE
from livefacts.model.running_totals import IN_RULES, percentage
from livefacts.model.values import Text, value_of
from livefacts.syntax.rulelang.constants import DATATYPES, BlankNodes, Constants
from livefacts.syntax.rulelang.source_text import PlainFact, RuleText
from livefacts.syntax.rulelang.time_syntax import TimeReader

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token] | Token

NUMBERS = ("INTEGER", "DECIMAL", "DOUBLE")
DEEPEST = 200
LONGEST_LIMIT = 18
MINUS_ONE = Literal("-1", datatype=DATATYPES["INTEGER"])


class TreeReader:
    """Reads the statements of one text, in order, into a program."""

    def __init__(self, text: RuleText, blank_nodes: BlankNodes | None = None) -> None:
        self.text = text
        self.constants = Constants(text)
        self.blank_nodes = blank_nodes
        self.rules: list[Rule] = []
        self.facts: list[Triple | Fact] = []
        self.limit: int | None = None
        self.times = TimeReader(text, self.constants)
        self.arities = Arities()

    def program(self) -> Program:
        """What has been read so far."""
        return Program(
            facts=tuple(dict.fromkeys(self.facts)),
            limit=self.limit,
            tick=self.times.tick,
            retained=tuple(self.times.retained.items()),
            streams=tuple(self.times.streams.items()),
            prefixes=tuple(self.constants.prefixes.items()),
        ).plus(self.rules)

    def statement(self, tree: Tree[Token]) -> None:
        match tree.data:
            case "prefix":
                _, name, iri = tree.children
                self.constants.declare(name, iri)  # type: ignore[arg-type]
            case "limit":
                self._limit(_first(tree.children[1]))
            case "tick" | "retain" | "stream":
                self.times.directive(tree)
            case _:
                self._rule(list(tree.children))

    def _limit(self, number: Token) -> None:
        if len(number) > LONGEST_LIMIT:
            raise self.text.refuse(number, "this limit is no limit", "leave it out")
        limit = int(number)
        self.limit = limit if self.limit is None else min(limit, self.limit)

    def plain_fact(self, fact: PlainFact) -> None:
        arguments = tuple(map(self.constants.plain, fact.arguments))
        if not self.arities.agree(fact.name, len(arguments)):
            place = self.text.at(fact.line, self.text.lines[fact.line - 1].index(fact.name) + 1)
            self.arities.use(fact.name, len(arguments), place)
        self.facts.append(Fact(fact.name, arguments))

    def _rule(self, parts: list[Node]) -> None:
        name = self._id(parts) if _type(parts[0]) == "AT_ID" else ""
        at = self._head_time(parts) if _type(parts[0]) == "AT" else None
        self.constants.blank_nodes = self.blank_nodes if len(parts) == 1 else None
        start = _first(parts[0])
        place = self.text.place(start)
        head = None if _type(parts[0]) == "FALSE" else self._head(parts[0])
        if at is not None and (head is None or len(parts) == 1):
            raise self.text.refuse(
                start,
                "a constraint holds now, and has no `at`"
                if head is None
                else "a fact at a time point is not part of a program",
                "" if head is None else "push it: r.push(fact, at=…)",
            )
        if len(parts) == 1:
            self._fact(head, start, name)
        else:
            body = tuple(self._formula(part) for part in _children(parts[2]))
            self.rules.append(Rule(head, body, name, at, place))

    def _head_time(self, parts: list[Node]) -> Slot:
        _, time = parts.pop(0), parts.pop(0)
        return self._slot(_children(time)[0])

    def _id(self, parts: list[Node]) -> str:
        _, name = parts.pop(0), _first(parts.pop(0))
        if name[0] == "r" and name[1:].isdecimal():
            raise self.text.refuse(
                name,
                f"{name} is a name that livefacts gives to rules without one",
                "choose another name",
            )
        return str(name)

    def _head(self, node: Node) -> Atom:
        if _data(node) not in ("call", "triple") and _type(node) != "NAME":
            raise self.text.refuse(
                _first(node),
                "the head of a rule is an atom, or false",
                "write name(?x, …), or a triple [?s, ex:p, ?o]",
            )
        return self._atom(node)

    def _fact(self, head: Atom | None, start: Token, name: str) -> None:
        if head is None:
            raise self.text.refuse(
                start, "a constraint needs a body", "write false :- what must not hold ."
            )
        variable = next(iter(variables_of(head)), None)
        if variable is not None:
            raise UnsafeVariableError(
                f"{variable} is in the head but there is no body that binds it",
                place=variable.place,
                hint="write a body after :-, or a constant in place of the variable",
            )
        if name:
            raise self.text.refuse(
                start, f"a fact has no name, so {name} names nothing", "leave @id out"
            )
        self.facts.append(self._asserted(head, start))

    def _asserted(self, head: Atom, start: Token) -> Triple | Fact:
        if isinstance(head, PredicateAtom):
            return Fact(head.name, head.arguments)  # type: ignore[arg-type]
        try:
            return Triple(*head.slots)  # type: ignore[arg-type]
        except TypeError:
            raise self.text.refuse(
                start, "a fact cannot have a literal as its subject", "give the thing an IRI"
            ) from None

    def _formula(self, node: Node) -> Formula:
        match _data(node):
            case "comparison":
                left, operator, right = _children(node)
                return Comparison(
                    self._expression(left),
                    " ".join(str(operator).split()),
                    self._expression(right),
                    self._place(node),
                )
            case "negation":
                return Negation(self._atom(_children(node)[1]), self._place(node))
            case "timed":
                return self._timed(node)
            case "denial":
                return replace(self._timed(_children(node)[1]), denied=True)
            case "aggregate":
                return self._aggregate(node)
            case _:
                return self._atom(node)

    def _timed(self, node: Node) -> Timed:
        operator, *parts = _children(node)
        time = self._slot(_children(parts.pop(0))[0]) if _type(operator) == "AT" else None
        negated = _type(parts[0]) == "NOT"
        atom = self._atom(parts[1] if negated else parts[0])
        window = self.times.window(parts[-1]) if _data(parts[-1]) == "window" else None
        return Timed(str(operator), atom, window, time, negated, place=self._place(node))

    def _aggregate(self, node: Node) -> Aggregate:
        result, operator, named, listed, body = _children(node)
        function, *given = _children(named) if _data(named) == "call" else (named,)
        if _type(result) != "VARIABLE" or str(operator) != "=":
            raise self.text.refuse(
                _first(node),
                "an aggregate gives its result to a variable",
                f"write ?n = {_first(function)} {{ … }}, then compare ?n",
            )
        if _type(function) != "NAME" or str(function) not in AGGREGATES:
            raise self.text.refuse(
                _first(function),
                f"there is no aggregate called {_first(function)}",
                f"there are {', '.join(AGGREGATES)}",
            )
        nested = next((f for f in _children(body) if _data(f) == "aggregate"), None)
        if nested is not None:
            raise self.text.refuse(
                _first(nested),
                "an aggregate cannot stand inside another",
                "give the inner one a rule of its own, and use its head here",
            )
        return Aggregate(
            self._variable(_first(result)),
            str(function),
            self._listed(str(function), listed),
            tuple(self._formula(f) for f in _children(body)),
            self._place(node),
            self._parameter(function, [each for each in given if each is not None]),
        )

    def _listed(self, function: str, node: Node) -> tuple[Variable, ...]:
        """The variables that an aggregate lists."""
        listed = tuple(self._variable(_first(v)) for v in _children(node))
        if len(listed) < IN_RULES[function].values:
            raise self.text.refuse(
                _first(node),
                f"{function} lists what it gives and the number that it compares",
                f"write {function} {{ ?x, ?v : … }}",
            )
        return listed

    def _parameter(self, function: Node, given: list[Node]) -> str | None:
        """What stands in brackets behind the name of an aggregate."""
        wanted = IN_RULES[str(function)].parameter
        if not given and wanted != "percent":
            return None
        value = self._expression(given[0]) if len(given) == 1 else None
        if isinstance(value, Literal) and wanted == "percent":
            found = percentage(value)
        elif isinstance(value, Literal) and wanted == "separator":
            found = value.value if isinstance(value_of(value), Text) else None
        else:
            found = None
        if found is None:
            hints = {
                "percent": f"write {function}(95) {{ … }}, with a number from 0 to 100",
                "separator": f'write {function}(", ") {{ … }}, with a string',
            }
            raise self.text.refuse(
                _first(function),
                f"{function} cannot have this in brackets"
                if given
                else f"{function} of how many percent?",
                hints.get(wanted, f"write {function} {{ … }}"),
            )
        return found

    def _atom(self, node: Node) -> Atom:
        match _data(node), _type(node):
            case "call", _:
                name, *arguments = _children(node)
                return self._predicate_atom(_first(name), arguments)
            case "triple", _:
                return self._triple(node)
            case _, "NAME":
                return self._predicate_atom(_first(node), [])
            case _:
                raise self._not_an_atom(node)

    def _predicate_atom(self, name: Token, arguments: list[Node]) -> PredicateAtom:
        place = self.text.place(name)
        slots = tuple(self._slot(argument) for argument in arguments)
        self.arities.use(str(name), len(slots), place)
        return PredicateAtom(str(name), slots, place)

    def _not_an_atom(self, node: Node) -> RuleError:
        first = _first(node)
        if first.type in ("TRUE", "FALSE"):
            hint = "false stands before :- only" if first.type == "FALSE" else "leave it out"
            return self.text.refuse(first, f"{first} is not a condition", hint)
        if first.type in ("IRI", "PREFIXED_NAME"):
            return self.text.refuse(
                first,
                f"{first} alone is neither an atom nor a comparison",
                f"a triple is written [?s, {first}, ?o]; names of predicates are plain words",
            )
        return self.text.refuse(
            first,
            "an atom or a comparison was expected here, this is only a value",
            "compare it (?v >= 90), or write name(…) or [?s, ex:p, ?o]",
        )

    def _triple(self, node: Node) -> TripleAtom:
        bracket, *places = _children(node)
        if len(places) != 3:
            raise self.text.refuse(
                _first(bracket),
                f"a triple has three places, this one has {len(places)}",
                "write [subject, predicate, object]",
            )
        subject, predicate, object = places
        return TripleAtom(
            self._of_triple(subject),
            self._predicate(predicate),
            self._of_triple(object),
            self._place(node),
        )

    def _predicate(self, node: Node) -> Slot:
        if _type(node) == "NAME" and str(node) == "a":
            return RDF_TYPE
        slot = self._of_triple(node)
        if not isinstance(slot, NamedNode | Variable):
            raise self.text.refuse(
                _first(node), "the predicate of a triple is an IRI or a variable"
            )
        return slot

    def _of_triple(self, node: Node) -> Slot:
        slot = self._slot(node)
        if isinstance(slot, Symbol):
            hint = "a means rdf:type in the middle only" if slot.name == "a" else ""
            raise self.text.refuse(
                _first(node),
                f"the symbol {slot} cannot stand in a triple",
                hint or f'write an IRI (ex:{slot}), a string ("{slot}") or a variable (?{slot})',
            )
        return slot

    def _slot(self, node: Node) -> Slot:
        """What stands in a place of an atom: a variable or a constant."""
        value = self._expression(node)
        if isinstance(value, Arithmetic | FunctionCall):
            what = "arithmetic" if isinstance(value, Arithmetic) else f"{value.function}(…)"
            raise self.text.refuse(
                _first(node),
                f"{what} cannot stand inside an atom",
                "give it to a variable in the body (?m = ?n + 1) and use the variable here",
            )
        return value

    def _expression(self, node: Node, depth: int = 0) -> Expression:
        if depth > DEEPEST:
            raise self.text.refuse(_first(node), "this expression is nested too deeply")
        match _data(node):
            case "":
                return self._value(_first(node))
            case "string" | "triple_term":
                return self.constants.part(node)
            case "negative":
                return self._negative(node, depth)
            case "call":
                return self._call(node, depth)
            case _:
                left, operator, right = _children(node)
                return Arithmetic(
                    str(operator),
                    self._expression(left, depth + 1),
                    self._expression(right, depth + 1),
                    self._place(node),
                )

    def _negative(self, node: Node, depth: int) -> Expression:
        _, operand = _children(node)
        if _type(operand) in NUMBERS:
            return self.constants.negative(_first(operand))
        value = self._expression(operand, depth + 1)
        return Arithmetic("*", MINUS_ONE, value, self._place(node))

    def _call(self, node: Node, depth: int) -> FunctionCall:
        name, *arguments = _children(node)
        if str(name) not in FUNCTIONS:
            raise self.text.refuse(
                _first(name),
                f"there is no function called {name}",
                f"functions are: {', '.join(FUNCTIONS)}; an atom stands on its own, between commas",
            )
        if len(arguments) != 1:
            raise self.text.refuse(_first(name), f"{name} takes one argument")
        return FunctionCall(str(name), self._expression(arguments[0], depth + 1), self._place(node))

    def _value(self, token: Token) -> Expression:
        if token.type == "VARIABLE":
            return self._variable(token)
        return self.constants.constant(token)

    def _variable(self, token: Token) -> Variable:
        return Variable(token[1:], self.text.place(token))

    def _place(self, node: Node) -> Place:
        return self.text.place(_first(node))


def _data(node: Node) -> str:
    """The rule that made this node; empty for a token."""
    return getattr(node, "data", "")


def _type(node: Node) -> str:
    """The terminal of a token; empty for a tree."""
    return getattr(node, "type", "")


def _children(node: Node) -> list[Node]:
    return node.children  # type: ignore[union-attr]


def _first(node: Node) -> Token:
    while hasattr(node, "data"):
        node = node.children[0]  # type: ignore[union-attr]
    return node
