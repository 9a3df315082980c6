"""Flows: plans of continuous queries, as operators that pass on signed bags of rows.

A step is an operator and the steps whose rows it takes; columns are known by position, so
that queries with other names for their variables share steps.  Steps stand in an order in
which each comes after its inputs.  What a change brings is passed on from step to step;
nothing is computed anew, except where an operator says so (`Cut`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from livefacts.language.expressions import QueryExpression, variables_in_expression
from livefacts.language.formula import Variable
from livefacts.model.facts import Term

COLUMN = "c"
"""Expressions of steps speak of column 3 as the variable `c3`."""
NEVER_BOUND = Variable("unbound")
"""A variable of expressions that stands for no column."""


Order: TypeAlias = tuple[tuple[QueryExpression, bool], ...]
"""What rows are ordered by, and whether the greatest come first."""


def column(position: int) -> Variable:
    """The variable that stands for a column."""
    return Variable(f"{COLUMN}{position}")


def position_of(variable: Variable) -> int:
    """The column that a variable stands for."""
    return int(variable.name[len(COLUMN) :])


def positions_in(expression: QueryExpression) -> list[int]:
    """The columns that an expression speaks of."""
    variables = set(variables_in_expression(expression)) - {NEVER_BOUND}
    return sorted(map(position_of, variables))


@dataclass(frozen=True, slots=True)
class Match:
    """The triples that match a pattern; a number is the column that its place is read into."""

    slots: tuple[Term | int, Term | int, Term | int]


@dataclass(frozen=True, slots=True)
class MatchNamed:
    """The triples of named graphs that match a pattern, whose last place is the graph.

    Where that is None, graphs are not distinguished; `within` are the only ones that count.
    """

    slots: tuple[Term | int, Term | int, Term | int, Term | int | None]
    within: tuple[Term, ...] | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """The matches of several patterns together; a number is the column of a variable."""

    patterns: tuple[tuple[Term | int, Term | int, Term | int], ...]


@dataclass(frozen=True, slots=True)
class Constantly:
    """Rows that never change; None is unbound."""

    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Combine:
    """Pairs of rows that agree: columns of the left, then the columns only the right has.

    Columns of `agreeing` may be unbound on a side, which then takes the other's value;
    those of `equal` must be the same, bound or not.
    """

    agreeing: tuple[tuple[int, int], ...]
    equal: tuple[tuple[int, int], ...]
    right_only: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Rows of the first input whose key columns are, or are not, a row of the second."""

    keys: tuple[int, ...]
    present: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """Rows of the first input with one more column: whether their key is a row of the second."""

    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """Rows for which an expression is true."""

    expression: QueryExpression


@dataclass(frozen=True, slots=True)
class Compute:
    """Rows with one more column: the value of an expression, unbound where it is an error."""

    expression: QueryExpression


@dataclass(frozen=True, slots=True)
class Stamp:
    """Rows with one more column: a blank node of their own, named after the template's."""

    name: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Other columns: numbers are columns of the input, terms are constants, None is unbound."""

    sources: tuple[Term | int | None, ...]


@dataclass(frozen=True, slots=True)
class Gather:
    """The rows of all inputs together."""


@dataclass(frozen=True, slots=True)
class Once:
    """Every row once."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Rows of three columns that are triples of RDF."""


@dataclass(frozen=True, slots=True)
class Total:
    """One aggregate of a group: a function of one or two columns; without any, of whole rows."""

    function: str
    columns: tuple[int, ...]
    distinct: bool = False
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """One row per group: its keys, and its totals.  Without keys there is always one group."""

    keys: tuple[int, ...]
    totals: tuple[Total, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """Pairs (seed, node): the nodes that edges lead to, from each seed of the second input.

    Where edges and seeds have one column more, they meet only where that is the same.
    """

    apart: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """So many rows of an order, from a place on; ordered anew whenever something changes.

    With keys, so many rows of each group that has the same values there.
    """

    order: Order
    start: int
    length: int | None
    keys: tuple[int, ...] = ()


Operator: TypeAlias = (
    Match
    | MatchNamed
    | Joined
    | Constantly
    | Combine
    | Keep
    | Mark
    | Condition
    | Compute
    | Stamp
    | Choose
    | Gather
    | Once
    | Statements
    | Group
    | Reach
    | Cut
)


@dataclass(frozen=True, slots=True)
class FlowStep:
    """An operator, the steps whose rows it takes, and how many columns its own rows have."""

    operator: Operator
    inputs: tuple[int, ...]
    width: int


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """The steps of a query; the rows of the last one are its answers.

    Their first columns are those of `variables`; more of them are there for the order alone.
    """

    steps: tuple[FlowStep, ...]
    form: str
    variables: tuple[str, ...]
    order: Order = ()
    base: str = ""

    @property
    def is_ordered_by_more(self) -> bool:
        """Whether the order needs what the answers do not show."""
        return self.steps[-1].width > len(self.variables)

    @property
    def shown_order(self) -> Order:
        """The part of the order that needs nothing but what the answers show."""
        width = len(self.variables)
        return tuple(
            key
            for key in self.order
            if all(
                v == NEVER_BOUND or position_of(v) < width for v in variables_in_expression(key[0])
            )
        )

    def patterns(self) -> Iterator[tuple[Term | int, Term | int, Term | int]]:
        """The triple patterns that are matched, alone or together."""
        for step in self.steps:
            if isinstance(step.operator, Match | MatchNamed):
                yield step.operator.slots[:3]
            elif isinstance(step.operator, Joined):
                yield from step.operator.patterns


class FlowBuilder:
    """Collects steps; a step that is there already is used again."""

    def __init__(self) -> None:
        self.steps: list[FlowStep] = []
        self._numbers: dict[FlowStep, int] = {}

    def step(self, operator: Operator, inputs: tuple[int, ...], width: int) -> int:
        """The number of a step."""
        wanted = FlowStep(operator, inputs, width)
        if wanted not in self._numbers:
            self._numbers[wanted] = len(self.steps)
            self.steps.append(wanted)
        return self._numbers[wanted]
