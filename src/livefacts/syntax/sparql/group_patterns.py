"""Group patterns: what stands in braces, as the recommendation translates it (section 18.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from livefacts.language.algebra import (
    Basic,
    Both,
    Either,
    InGraph,
    Listed,
    Optionally,
    Pattern,
    TripleTerm,
    Where,
    With,
    Without,
    variables_in_scope,
)
from livefacts.language.expressions import TRUE, Call, QueryExpression
from livefacts.syntax.sparql.lexemes import Lexeme, QueryMistakeError, QueryRefusedError
from livefacts.syntax.sparql.triple_blocks import Atom
from livefacts.syntax.sparql.value_expressions import refuse_aggregates

NOTHING_YET = Basic()
Extension = Callable[[Pattern], Pattern]
"""What an element makes of the elements before it."""


class GroupPattern(NamedTuple):
    """A group, and the filters that are about all of it."""

    pattern: Pattern
    conditions: tuple[QueryExpression, ...] = ()

    @property
    def condition(self) -> QueryExpression:
        first, *others = self.conditions or (TRUE,)
        return Call("&&", (first, *others)) if others else first

    @property
    def whole(self) -> Pattern:
        return Where(self.pattern, self.condition) if self.conditions else self.pattern


class FilterElement(NamedTuple):
    """A FILTER: where it stands in its group does not matter."""

    value: QueryExpression


def joined(left: Pattern, right: Pattern) -> Pattern:
    """Both patterns; one that says nothing is left out."""
    if left == NOTHING_YET:
        return right
    return left if right == NOTHING_YET else Both(left, right)


def group_body(children: list[Any]) -> GroupPattern:
    found: Pattern = NOTHING_YET
    atoms: list[Atom] = []
    conditions: list[QueryExpression] = []
    for element in children:
        if isinstance(element, list):
            atoms += element
        elif isinstance(element, FilterElement):
            conditions.append(element.value)
        elif element is not None:
            found, atoms = element(joined(found, Basic(tuple(atoms)))), []
    return GroupPattern(joined(found, Basic(tuple(atoms))), tuple(conditions))


def optional(children: list[Any]) -> Extension:
    group: GroupPattern = children[0]
    return lambda left: Optionally(left, group.pattern, group.condition)


def minus(children: list[Any]) -> Extension:
    return lambda left: Without(left, children[0].whole)


def union(children: list[Any]) -> Extension:
    first, *others = (group.whole for group in children)
    for other in others:
        first = Either(first, other)
    return lambda left: joined(left, first)


def graph(children: list[Any]) -> Extension:
    name, group = children
    return lambda left: joined(left, InGraph(name, group.whole))


def window_pattern(children: list[Any]) -> Extension:
    _, name, group = children
    return graph([name, group])


def service(children: list[Any]) -> Extension:
    raise QueryRefusedError(
        "SERVICE is refused: a query reads only the facts of this reasoner",
        children[0].start_pos,
        "fetch the data first and load it",
    )


def condition(children: list[Any]) -> FilterElement:
    refuse_aggregates(children[0], "FILTER")
    return FilterElement(children[0])


def bind(children: list[Any]) -> Extension:
    value, name = children
    refuse_aggregates(value, "BIND")

    def extended(left: Pattern) -> Pattern:
        if name.value in variables_in_scope(left):
            raise QueryMistakeError(
                f"BIND of {name.text}, which is used before",
                name.start_pos,
                "choose another name, or compare with FILTER",
            )
        return With(left, name.value, value)

    return extended


# VALUES


def values_clause(children: list[Any]) -> Extension:
    listed: Listed = children[0]
    return lambda left: joined(left, listed)


def column(children: list[Any]) -> Listed:
    name, *values = children
    return Listed((name.value,), tuple((value,) for value in values))


def table(children: list[Any]) -> Listed:
    names, *rows = children
    for opening, row in rows:
        if len(row) != len(names):
            raise QueryMistakeError(
                f"a row of {len(row)} for {len(names)} variables",
                opening.start_pos,
                "UNDEF stands for no value",
            )
    return Listed(names, tuple(row for _, row in rows))


def names(children: list[Any]) -> tuple[Any, ...]:
    found = tuple(each.value for each in children)
    for at, each in enumerate(children):
        if each.value in found[:at]:
            raise QueryMistakeError(f"{each.text} twice in VALUES", each.start_pos, "name it once")
    return found


def row(children: list[Any]) -> tuple[Any, tuple[Any, ...]]:
    opening, *values = children
    return opening, tuple(values)


def value(children: list[Any]) -> Any:
    found = children[0]
    if isinstance(found, TripleTerm):
        raise QueryMistakeError("a variable in a row of VALUES", 0, "rows are of constants")
    return found.value if isinstance(found, Lexeme) else found
