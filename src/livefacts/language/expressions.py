"""Expressions of queries: variables, constants, and calls of operators and functions.

An operator is a call, too: `?x + 1` is `Call("+", (?x, 1))`.  Functions have the names of
the recommendation in capitals, or an IRI in angle brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyoxigraph import Literal

from livefacts.language.formula import Variable
from livefacts.model.facts import Term

INFIX = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"])
PREFIX = frozenset(["!", "u-", "u+"])
UNREPEATABLE = frozenset(["NOW", "RAND", "UUID", "STRUUID", "BNODE"])
"""Functions that give another value each time: what came with one could never go again."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that is written in the query."""

    term: Term


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function and its arguments."""

    name: str
    arguments: tuple[QueryExpression, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { ... }`, or `NOT EXISTS { ... }`."""

    pattern: Any
    negated: bool = False


QueryExpression: TypeAlias = Variable | Constant | Call | Exists
TRUE = Constant(Literal(True))


def conjuncts(expression: QueryExpression) -> Iterator[QueryExpression]:
    """The parts of a condition that must all be true."""
    if isinstance(expression, Call) and expression.name == "&&":
        for argument in expression.arguments:
            yield from conjuncts(argument)
    elif expression != TRUE:
        yield expression


def variables_in_expression(expression: QueryExpression) -> Iterator[Variable]:
    """The variables of an expression, without those inside EXISTS; some of them repeatedly."""
    if isinstance(expression, Variable):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from variables_in_expression(argument)


def rewritten(
    expression: QueryExpression, change: Callable[[QueryExpression], QueryExpression | None]
) -> QueryExpression:
    """The expression with parts replaced, the outermost first; None leaves a part as it is."""
    changed = change(expression)
    if changed is not None:
        return changed
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(rewritten(argument, change) for argument in expression.arguments)
    return Call(expression.name, arguments)


def written(expression: QueryExpression, word: Callable[[Variable | Term], str] = str) -> str:
    """The expression as SPARQL writes it; `word` writes its variables and constants.

    >>> written(Call("+", (Variable("x"), Constant(Literal("a")))))
    '(?x + "a")'
    """
    if isinstance(expression, Variable):
        return word(expression)
    if isinstance(expression, Constant):
        return word(expression.term)
    if isinstance(expression, Exists):
        return "NOT EXISTS { ... }" if expression.negated else "EXISTS { ... }"
    return _written_call(expression.name, [written(each, word) for each in expression.arguments])


def _written_call(name: str, arguments: list[str]) -> str:
    if name in INFIX:
        return f"({f' {name} '.join(arguments)})"
    if name in PREFIX:
        return f"({name[-1]}{arguments[0]})"
    if name in ("IN", "NOT IN"):
        return f"({arguments[0]} {name} ({', '.join(arguments[1:])}))"
    return f"{name}({', '.join(arguments)})"
