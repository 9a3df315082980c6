"""The SPARQL algebra as data: graph patterns, property paths, and what is asked of them.

A pattern yields a bag of rows; a variable of a row may be unbound.  The operators are those
of the SPARQL 1.1 recommendation, section 18.  Blank nodes of a pattern are variables whose
names begin with `_:`, which no text can write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from livefacts.language.expressions import (
    TRUE,
    Constant,
    Exists,
    QueryExpression,
    variables_in_expression,
)
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term

BLANK = "_:"
"""What the names of variables begin with that stand for blank nodes of a pattern."""


@dataclass(frozen=True, slots=True)
class PredicatePath:
    """`ex:p`: one triple."""

    predicate: Term


@dataclass(frozen=True, slots=True)
class InversePath:
    """`^path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """`a / b / c`."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """`a | b`."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`path?`, `path*` or `path+`: each pair of ends once."""

    path: Path
    mark: str


@dataclass(frozen=True, slots=True)
class NoneOf:
    """`!(a | b)`: one triple with another predicate."""

    predicates: tuple[Term, ...]


Path: TypeAlias = PredicatePath | InversePath | Sequence | Alternative | Repeated | NoneOf


@dataclass(frozen=True, slots=True)
class PathAtom:
    """`?x path ?y`."""

    subject: Slot
    path: Path
    object: Slot

    @property
    def slots(self) -> tuple[Slot, Slot]:
        return (self.subject, self.object)


@dataclass(frozen=True, slots=True)
class Basic:
    """Triple patterns and paths that must all match; none of them: one empty row."""

    atoms: tuple[TripleAtom | PathAtom, ...] = ()


@dataclass(frozen=True, slots=True)
class Both:
    """Rows of the left and of the right side that agree (Join)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Optionally:
    """Rows of the left side, with those of the right where they agree and fit (LeftJoin)."""

    left: Pattern
    right: Pattern
    condition: QueryExpression = TRUE


@dataclass(frozen=True, slots=True)
class Either:
    """Rows of the left side and rows of the right side (Union)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Without:
    """Rows of the left side that agree with none of the right that shares a value (Minus)."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Where:
    """Rows for which a condition is true (Filter)."""

    of: Pattern
    condition: QueryExpression


@dataclass(frozen=True, slots=True)
class With:
    """Rows with a computed value; unbound where it is an error (Extend)."""

    of: Pattern
    variable: Variable
    value: QueryExpression


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows that are written in the query (VALUES); None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class QueryAggregate:
    """`COUNT(DISTINCT ?x)`; without a value it counts rows."""

    function: str
    value: QueryExpression | None = None
    distinct: bool = False
    separator: str = " "


@dataclass(frozen=True, slots=True)
class Grouped:
    """One row per group: its keys, and what is aggregated over it."""

    of: Pattern
    keys: tuple[Variable, ...]
    aggregates: tuple[tuple[Variable, QueryAggregate], ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows with these variables only (Project), each row once if they are to be distinct."""

    of: Pattern
    variables: tuple[Variable, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What rows are ordered by."""

    value: QueryExpression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class InGraph:
    """What a pattern finds in a named graph, or in each of them (Graph)."""

    graph: Slot
    of: Pattern


@dataclass(frozen=True, slots=True)
class OrderedSlice:
    """So many rows of an order, from a place on (OrderBy with Slice)."""

    of: Pattern
    order: tuple[OrderKey, ...]
    start: int
    length: int | None


Pattern: TypeAlias = (
    Basic
    | Both
    | Optionally
    | Either
    | Without
    | Where
    | With
    | Listed
    | Grouped
    | Chosen
    | OrderedSlice
    | InGraph
)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs that a query speaks of: those whose triples it sees, and those it can name."""

    default: tuple[Term, ...]
    named: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its form, its pattern, and what is asked of it.

    `selected` are the names of a SELECT in their order, `template` the triples of a
    CONSTRUCT, `order` the order in which answers are read.
    """

    form: str
    pattern: Pattern
    selected: tuple[str, ...] = ()
    template: tuple[TripleAtom, ...] = ()
    order: tuple[OrderKey, ...] = ()
    base: str = ""
    dataset: Dataset | None = None
    """What FROM and FROM NAMED say; without them a query sees everything."""


def variables_in(pattern: Pattern) -> Iterator[Variable]:
    """Every variable that occurs in a pattern, also in expressions; some of them repeatedly."""
    match pattern:
        case Basic():
            for atom in pattern.atoms:
                yield from (slot for slot in atom.slots if isinstance(slot, Variable))
        case Both() | Optionally() | Either() | Without():
            yield from variables_in(pattern.left)
            yield from variables_in(pattern.right)
            if isinstance(pattern, Optionally):
                yield from variables_in_condition(pattern.condition)
        case Where():
            yield from variables_in(pattern.of)
            yield from variables_in_condition(pattern.condition)
        case With():
            yield from variables_in(pattern.of)
            yield pattern.variable
            yield from variables_in_condition(pattern.value)
        case Listed():
            yield from pattern.variables
        case Grouped():
            yield from pattern.keys
            yield from (variable for variable, _ in pattern.aggregates)
        case Chosen():
            yield from pattern.variables
        case OrderedSlice():
            yield from variables_in(pattern.of)
        case InGraph():
            if isinstance(pattern.graph, Variable):
                yield pattern.graph
            yield from variables_in(pattern.of)


def variables_in_condition(expression: QueryExpression) -> Iterator[Variable]:
    """The variables of an expression, and of the patterns that must exist in it."""
    yield from variables_in_expression(expression)
    for part in exists_in(expression):
        yield from variables_in(part.pattern)


def exists_in(expression: QueryExpression) -> Iterator[Exists]:
    """The patterns of EXISTS in an expression, the outermost ones."""
    if isinstance(expression, Exists):
        yield expression
    elif not isinstance(expression, Variable | Constant):
        for argument in expression.arguments:
            yield from exists_in(argument)
