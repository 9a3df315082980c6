"""The SPARQL algebra as data: graph patterns, property paths, and what is asked of them.

A pattern yields a bag of rows; a variable of a row may be unbound.  The operators are those
of the SPARQL 1.1 recommendation, section 18, solution modifiers too: `Ordered` stands inside of
`Chosen`, that inside of `DistinctRows` or `ReducedRows`, and `Slice` around them all.  Blank
nodes of a pattern are variables whose names begin with `_:`, which no text can write; those of
keys and aggregates without a name begin with a dot.

Queries that differ in their constants alone have one shape: the same query, with a `Parameter`
in the place of each constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import Triple

from livefacts.language.expressions import (
    TRUE,
    Call,
    Constant,
    Exists,
    QueryExpression,
    variables_in_expression,
)
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term

BLANK = "_:"
"""What the names of variables begin with that stand for blank nodes of a pattern."""
UNNAMED = "."
"""What the names of variables begin with that a query computes and does not name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """The place of a constant, by its number in the text; it stands where a term does."""

    number: int


@dataclass(frozen=True, slots=True)
class TripleTerm:
    """`<<( ?s ex:p ?o )>>`: a triple as a term, with a variable in it or what makes it none."""

    subject: Slot | TripleTerm
    predicate: Slot
    object: Slot | TripleTerm

    @property
    def slots(self) -> tuple[Slot | TripleTerm, ...]:
        return (self.subject, self.predicate, self.object)


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


class LiftedPatterns(NamedTuple):
    """Triple patterns apart from their constants: variables by their names, constants by numbers.

    The first constant is number -1, the next one -2, and so on.
    """

    patterns: tuple[tuple[int | str, int | str, int | str], ...]
    constants: tuple[Term | Parameter, ...]
    names: frozenset[str]


@dataclass(frozen=True)
class Basic:
    """Triple patterns and paths that must all match; none of them: one empty row."""

    atoms: tuple[TripleAtom | PathAtom, ...] = ()

    @cached_property
    def lifted(self) -> LiftedPatterns | None:
        """The triple patterns, if there is nothing else."""
        numbers: dict[Any, int] = {}
        patterns: list[Any] = []
        for atom in self.atoms:
            if isinstance(atom, PathAtom) or any(isinstance(s, TripleTerm) for s in atom.slots):
                return None
            patterns.append(
                tuple(
                    slot.name
                    if isinstance(slot, Variable)
                    else numbers.setdefault(slot, ~len(numbers))
                    for slot in atom.slots
                )
            )
        names = {slot for slots in patterns for slot in slots if isinstance(slot, str)}
        return LiftedPatterns(tuple(patterns), tuple(numbers), frozenset(names))


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
    """`COUNT(DISTINCT ?x)`; without a value it counts rows.

    `by` is what ARGMIN and ARGMAX compare; the parameter a separator, or a percentage.
    """

    function: str
    value: QueryExpression | None = None
    distinct: bool = False
    parameter: str | None = None
    by: QueryExpression | None = None

    @property
    def values(self) -> tuple[QueryExpression, ...]:
        """What is computed of each row."""
        return tuple(each for each in (self.value, self.by) if each is not None)


@dataclass(frozen=True, slots=True)
class Grouped:
    """One row per group: its keys, and what is aggregated over it."""

    of: Pattern
    keys: tuple[Variable, ...]
    aggregates: tuple[tuple[Variable, QueryAggregate], ...]


@dataclass(frozen=True, slots=True)
class OrderKey:
    """What rows are ordered by."""

    value: QueryExpression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows in an order (OrderBy)."""

    of: Pattern
    keys: tuple[OrderKey, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows with these variables only (Project)."""

    of: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """Each row once (Distinct)."""

    of: Pattern


@dataclass(frozen=True, slots=True)
class ReducedRows:
    """Each row at least once, and as often as one likes up to how often it is there (Reduced)."""

    of: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    """So many rows, from a place on (Slice); without a length, all of them from there."""

    of: Pattern
    start: int = 0
    length: int | None = None


@dataclass(frozen=True, slots=True)
class InGraph:
    """What a pattern finds in a named graph, or in each of them (Graph)."""

    graph: Slot
    of: Pattern


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
    | Ordered
    | Chosen
    | DistinctRows
    | ReducedRows
    | Slice
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
    CONSTRUCT, `targets` what a DESCRIBE describes.
    """

    form: str
    pattern: Pattern
    selected: tuple[str, ...] = ()
    template: tuple[TripleAtom, ...] = ()
    targets: tuple[Slot, ...] = ()
    base: str = ""
    dataset: Dataset | None = None
    """What FROM and FROM NAMED say; without them a query sees everything."""
    parameters: int = 0
    """How many constants are to be filled in."""

    def bound(self, constants: SequenceOf[Term]) -> Query:
        """The query with these constants in the places of its parameters."""
        if not self.parameters:
            return self
        filled: Query = _filled(self, constants)
        if filled.dataset is not None:
            default, named = filled.dataset.default, filled.dataset.named
            dataset = Dataset(tuple(dict.fromkeys(default)), tuple(dict.fromkeys(named)))
            filled = replace(filled, dataset=dataset)
        return replace(filled, parameters=0)


def _filled(part: Any, constants: SequenceOf[Term]) -> Any:
    if isinstance(part, Parameter):
        return constants[part.number]
    if isinstance(part, tuple):
        return tuple([_filled(each, constants) for each in part])
    if isinstance(part, Variable) or not is_dataclass(part):
        return part
    kind: Any = type(part)
    made = kind(*[_filled(getattr(part, name), constants) for name in _names(kind)])
    return ground(made) if isinstance(made, TripleTerm) else made


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def parts_in(pattern: Any) -> list[tuple[Any, int]]:
    """Every part of a pattern, expressions too, and how deep it lies; nothing calls itself."""
    found: list[tuple[Any, int]] = []
    waiting: list[tuple[Any, int]] = [(pattern, 0)]
    while waiting:
        part, depth = waiting.pop()
        found.append((part, depth))
        if isinstance(part, tuple):
            waiting += zip(part, repeat(depth), strict=False)
        elif hasattr(part, "__dataclass_fields__") and not isinstance(part, Variable):
            kind: Any = type(part)
            for name in _names(kind):
                waiting.append((getattr(part, name), depth + 1))
    return found


def calls_in(query: Query) -> list[Call]:
    """The calls of functions and operators."""
    return [part for part, _ in parts_in(query) if isinstance(part, Call)]


def ground(term: TripleTerm) -> TripleTerm | Triple:
    """A triple term without variables as the term that it is."""
    if any(isinstance(slot, Variable | Parameter | TripleTerm) for slot in term.slots):
        return term
    try:
        return Triple(*term.slots)  # type: ignore[arg-type]
    except TypeError:
        # A literal as a subject: no triple is like this, and none is found.
        return term


def variables_in(pattern: Pattern) -> Iterator[Variable]:
    """Every variable that occurs in a pattern, also in expressions; some of them repeatedly."""
    match pattern:
        case Basic():
            for atom in pattern.atoms:
                yield from variables_in_slots(atom.slots)
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
        case Ordered() | DistinctRows() | ReducedRows() | Slice():
            yield from variables_in(pattern.of)
        case InGraph():
            yield from variables_in_slots((pattern.graph,))
            yield from variables_in(pattern.of)


def variables_in_slots(slots: SequenceOf[Slot | TripleTerm]) -> Iterator[Variable]:
    """The variables among slots, and inside of the triple terms among them."""
    for slot in slots:
        if isinstance(slot, Variable):
            yield slot
        elif isinstance(slot, TripleTerm):
            yield from variables_in_slots(slot.slots)


def variables_in_scope(pattern: Pattern) -> Iterator[Variable]:
    """The variables that rows of a pattern can have; some of them repeatedly."""
    match pattern:
        case Both() | Optionally() | Either():
            yield from variables_in_scope(pattern.left)
            yield from variables_in_scope(pattern.right)
        case Without():
            yield from variables_in_scope(pattern.left)
        case With():
            yield from variables_in_scope(pattern.of)
            yield pattern.variable
        case InGraph():
            yield from variables_in_slots((pattern.graph,))
            yield from variables_in_scope(pattern.of)
        case Where() | Ordered() | DistinctRows() | ReducedRows() | Slice():
            yield from variables_in_scope(pattern.of)
        case _:
            yield from variables_in(pattern)


def bound_variables(pattern: Pattern) -> set[Variable]:
    """The variables that have a value in every row; some that have may be missing."""
    match pattern:
        case Basic():
            return set(variables_in(pattern))
        case Both():
            return bound_variables(pattern.left) | bound_variables(pattern.right)
        case Optionally() | Without():
            return bound_variables(pattern.left)
        case Either():
            return bound_variables(pattern.left) & bound_variables(pattern.right)
        case Where() | With() | InGraph():
            return bound_variables(pattern.of)
        case Chosen():
            return bound_variables(pattern.of) & set(pattern.variables)
    return set()


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
