"""Programs as clingo reads them, and clingo's answer as rows of the oracle.

Only what both languages mean alike is translated: nodes, small integers, negation, counts,
sums, least and greatest.  Integers become numbers, all other terms strings; an aggregate
gets a rule of its own for its groups, because clingo does not bind a group by counting it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import clingo
from pyoxigraph import Literal, Triple
from tests.oracle import Row
from tests.properties.generate.vocabulary import PREDICATES, VALUE, VALUE_PROPERTIES

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    Negation,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Term

FUNCTIONS = {"count": "#count", "sum": "#sum", "min": "#min", "max": "#max"}


class UntranslatableError(Exception):
    """The case holds something that clingo has no equal for."""


def clingo_model(program: Program, facts: Iterable[Triple | Fact]) -> set[Row]:
    """What clingo derives; the predicates for groups are left out."""
    translation = Translation()
    lines = [translation.fact(fact) for fact in (*facts, *program.facts)]
    for rule in program:
        if not rule.is_constraint:
            lines += translation.rule(rule)
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        symbols = [symbol for answer in handle for symbol in answer.symbols(atoms=True)]
    rows = {translation.row(s) for s in symbols if not s.name.startswith("group_")}
    if any(_puts_a_node_where_values_are(row) for row in rows):
        raise UntranslatableError("clingo orders and sums whatever it finds")
    return rows


def _puts_a_node_where_values_are(row: Row) -> bool:
    name, terms = row
    if name == "[]":
        return terms[1] in VALUE_PROPERTIES and not isinstance(terms[2], Literal)
    sorts = PREDICATES.get(name, ())
    return any(
        s == VALUE and not isinstance(t, Literal) for s, t in zip(sorts, terms, strict=False)
    )


class Translation:
    """Writes terms and rules, and remembers which string stands for which term."""

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}
        self._groups = 0

    def fact(self, fact: Triple | Fact) -> str:
        if isinstance(fact, Triple):
            return f"triple({', '.join(self.term(t) for t in fact)})."
        return f"{self._call(fact.name, [self.term(t) for t in fact.arguments])}."

    def term(self, term: Term) -> str:
        if isinstance(term, Literal) and term.value.lstrip("-").isdigit():
            return term.value
        self._terms[str(term)] = term
        return clingo.String(str(term)).__str__()

    def row(self, symbol: clingo.Symbol) -> Row:
        terms = tuple(
            Literal(argument.number)
            if argument.type == clingo.SymbolType.Number
            else self._terms[argument.string]
            for argument in symbol.arguments
        )
        return ("[]" if symbol.name == "triple" else symbol.name.removeprefix("p")), terms

    def rule(self, rule: Rule) -> Iterator[str]:
        assert rule.head is not None
        parts: list[str] = []
        for i, part in enumerate(rule.body):
            others = [rule.head, *rule.body[:i], *rule.body[i + 1 :]]
            if isinstance(part, Aggregate):
                outside = {v for other in others for v in variables_of(other)}
                group, line, text = self._aggregate(part, outside)
                parts += [group, text]
                yield line
            else:
                parts.append(self.formula(part))
        yield f"{self.formula(rule.head)} :- {', '.join(parts)}."

    def formula(self, part: Formula) -> str:
        match part:
            case Negation(atom):
                return f"not {self.formula(atom)}"
            case Comparison(left, operator, right):
                sign = {"is": "=", "is not": "!="}.get(operator, operator)
                return f"{self.value(left)} {sign} {self.value(right)}"
            case Aggregate():
                raise UntranslatableError("an aggregate inside an aggregate")
            case _:
                return self._atom(part)

    def value(self, part: Expression) -> str:
        match part:
            case Variable(name):
                return f"V_{name}"
            case Arithmetic("/", _, _):
                raise UntranslatableError("clingo divides to integers")
            case Arithmetic(operator, left, right):
                return f"({self.value(left)} {operator} {self.value(right)})"
            case _:
                return self.term(part)  # type: ignore[arg-type]

    def _aggregate(self, part: Aggregate, outside: set[Variable]) -> tuple[str, str, str]:
        """The atom for the group, the rule that makes it, and the aggregate itself."""
        if part.function not in FUNCTIONS:
            raise UntranslatableError(part.function)
        body = ", ".join(self.formula(inner) for inner in part.body)
        inside = {v for inner in part.body for v in variables_of(inner)}
        self._groups += 1
        grouping = [self.value(v) for v in sorted(inside & outside)]
        group = self._call(f"group_{self._groups}", grouping, prefix="")
        listed = ", ".join(self.value(v) for v in part.listed)
        text = f"{self.value(part.result)} = {FUNCTIONS[part.function]} {{ {listed} : {body} }}"
        return group, f"{group} :- {body}.", text

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, TripleAtom):
            return f"triple({', '.join(self.value(slot) for slot in atom.slots)})"
        return self._call(atom.name, [self.value(slot) for slot in atom.arguments])

    def _call(self, name: str, arguments: list[str], prefix: str = "p") -> str:
        """Predicates get a letter in front: clingo's may not begin with an underscore."""
        return f"{prefix}{name}({', '.join(arguments)})" if arguments else f"{prefix}{name}"
