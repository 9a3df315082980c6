"""Value expressions: what filters, bindings and solution modifiers compute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from livefacts.language.algebra import UNNAMED, Parameter, QueryAggregate
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression
from livefacts.language.formula import Variable
from livefacts.model.namespaces import EXTENSION, RDF_TYPE
from livefacts.model.running_totals import IN_SPARQL, percentage
from livefacts.syntax.sparql.lexemes import ARITIES, Lexeme, QueryMistakeError


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate inside of an expression, until its group is known."""

    aggregate: QueryAggregate
    position: int

    @property
    def variable(self) -> Variable:
        """What stands for its value."""
        return Variable(f"{UNNAMED}{self.position}")


def aggregates_in(expression: Any) -> Iterator[AggregateCall]:
    """The aggregates of an expression."""
    if isinstance(expression, AggregateCall):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from aggregates_in(argument)


def refuse_aggregates(value: Any, where: str) -> None:
    """An aggregate has no group in some places."""
    for found in aggregates_in(value):
        raise QueryMistakeError(
            f"{found.aggregate.function} inside of {where}",
            found.position,
            "aggregates stand behind SELECT, HAVING and ORDER BY",
        )


def expression(children: list[Any]) -> QueryExpression:
    return Call("||", tuple(children))


def conjunction(children: list[Any]) -> QueryExpression:
    return Call("&&", tuple(children))


def comparison(children: list[Any]) -> QueryExpression:
    left, operator, right = children
    return Call(operator.text, (left, right))


def among(children: list[Any]) -> QueryExpression:
    value, listed = children
    return Call("IN", (value, *listed))


def not_among(children: list[Any]) -> QueryExpression:
    value, listed = children
    return Call("NOT IN", (value, *listed))


def addition(children: list[Any]) -> QueryExpression:
    found: QueryExpression = children[0]
    for operator, value in zip(children[1::2], children[2::2], strict=True):
        found = Call(operator.text, (found, value))
    return found


multiplication = addition


def unary(children: list[Any]) -> QueryExpression:
    operator, value = children
    return Call("!" if operator.text == "!" else f"u{operator.text}", (value,))


def operand(children: list[Any]) -> QueryExpression:
    value = children[0].value
    return value if isinstance(value, Variable) else Constant(value)


def type_operand(children: list[Any]) -> QueryExpression:
    return Constant(RDF_TYPE)


def triple_call(children: list[Any]) -> QueryExpression:
    return Call("TRIPLE", tuple(children))


def arguments(children: list[Any]) -> tuple[QueryExpression, ...]:
    return tuple(each for each in children if each is not None)


def function(children: list[Any]) -> QueryExpression:
    word, given = children
    fewest, most = ARITIES[word.value]
    if not fewest <= len(given) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise QueryMistakeError(
            f"{word.text} with {len(given)} arguments", word.start_pos, f"it has {wanted}"
        )
    if word.value == "BOUND" and not isinstance(given[0], Variable):
        raise QueryMistakeError("BOUND of what is no variable", word.start_pos, "write BOUND(?x)")
    return Call(word.value, given)


def custom_function(children: list[Any]) -> QueryExpression | AggregateCall:
    iri, distinct, *listed = children
    given = arguments(listed)
    name = "" if isinstance(iri.value, Parameter) else iri.value.value
    if name.startswith(EXTENSION) and name.removeprefix(EXTENSION).upper() in IN_SPARQL:
        return _extension(name.removeprefix(EXTENSION), iri, distinct is not None, given)
    if distinct is not None or isinstance(iri.value, Parameter):
        raise QueryMistakeError(f"{iri.text} is no aggregate", iri.start_pos, "leave DISTINCT out")
    return Call(f"<{iri.value.value}>", given)


def _extension(
    name: str, iri: Lexeme, distinct: bool, given: tuple[QueryExpression, ...]
) -> AggregateCall:
    """An aggregate that SPARQL does not have itself, or has under another name."""
    sort = IN_SPARQL[name.upper()]
    wanted = sort.values + (sort.parameter == "percent")
    if len(given) != wanted:
        raise QueryMistakeError(
            f"{iri.text} with {len(given)} arguments", iri.start_pos, f"it has {wanted}"
        )
    refuse_aggregates(Call(name, given), iri.text)
    parameter = None
    if sort.parameter == "percent":
        parameter = percentage(given[1].term) if isinstance(given[1], Constant) else None
        if parameter is None:
            raise QueryMistakeError(
                f"{iri.text} without a percentage", iri.start_pos, "its last argument is 0 to 100"
            )
    by = given[1] if sort.values == 2 else None
    return AggregateCall(
        QueryAggregate(name.upper(), given[0], distinct, parameter, by), iri.start_pos
    )


def aggregate(children: list[Any]) -> Any:
    word, distinct, value, separator = children
    counts_rows = isinstance(value, Lexeme)
    if counts_rows and word.value != "COUNT":
        raise QueryMistakeError(f"{word.text} of *", word.start_pos, "only COUNT counts rows")
    if separator is not None and word.value != "GROUP_CONCAT":
        raise QueryMistakeError(
            f"{word.text} with a separator", word.start_pos, "GROUP_CONCAT has one"
        )
    refuse_aggregates(value, word.text)
    made = QueryAggregate(
        word.value,
        None if counts_rows else value,
        distinct is not None,
        separator,
    )
    return AggregateCall(made, word.start_pos)


def separator(children: list[Any]) -> str:
    literal = children[-1]
    if literal.text[0] not in "\"'":
        raise QueryMistakeError("a separator is a string", literal.start_pos, 'SEPARATOR = ", "')
    text: str = literal.value.value
    return text


def exists(children: list[Any]) -> QueryExpression:
    return Exists(children[0].whole)


def not_exists(children: list[Any]) -> QueryExpression:
    return Exists(children[0].whole, negated=True)
