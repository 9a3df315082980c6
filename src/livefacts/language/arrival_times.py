"""Arrival times: `timestamp(?x)` of C-SPARQL as something that a query looks up.

The newest arrival of every triple that the windows of a query hold is put beside the world as a
quad, whose graph is the time.  So the time of a triple pattern's match is one more pattern,
`OPTIONAL { GRAPH ?time { ?x ?p ?o } }`, and `timestamp(?x)` is the greatest of the times of all
patterns that have `?x`, where the expression stands.  A pattern that background or rules match,
and no arrival, has no time.

The function is of C-SPARQL (Barbieri et al.); docs/streams.md
says what each case means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from livefacts.errors import QueryError
from livefacts.language.algebra import (
    UNNAMED,
    Basic,
    Both,
    Chosen,
    DistinctRows,
    Either,
    Grouped,
    InGraph,
    Listed,
    Optionally,
    Ordered,
    OrderKey,
    Pattern,
    Query,
    ReducedRows,
    Slice,
    Where,
    With,
    Without,
    bound_variables,
    calls_in,
    variables_in_slots,
)
from livefacts.language.expressions import (
    Call,
    Constant,
    Exists,
    QueryExpression,
    rewritten,
    variables_in_expression,
)
from livefacts.language.formula import Slot, TripleAtom, Variable

TIMESTAMP = "TIMESTAMP"
NAMES = frozenset([TIMESTAMP, "<http://larkc.eu/csparql/sparql/jena/ext#timestamp>"])
"""The function as the papers have it, and as the first engine had it."""
Times = Mapping[Variable, tuple[Variable, ...]]
"""For some variables, what has the times of the patterns that match them."""


def refuse_times(query: Query, calls: Iterable[Call] | None = None) -> Query:
    """The query, which is not about streams."""
    if any(call.name in NAMES for call in (calls_in(query) if calls is None else calls)):
        raise QueryError(
            "timestamp() is the time at which a triple arrived on a stream",
            hint="REGISTER the query, with FROM STREAM",
        )
    return query


def timed(query: Query) -> Query:
    """The query with patterns for the times that it asks for; the same if it asks for none."""
    calls = [call for call in calls_in(query) if call.name in NAMES]
    if not calls:
        return query
    for call in calls:
        _check(call)
    asked = {call.arguments[0] for call in calls if len(call.arguments) == 1}
    return replace(query, pattern=_Timing(asked).pattern(query.pattern)[0])


def _check(call: Call) -> None:
    given = call.arguments
    is_variable = len(given) == 1 and isinstance(given[0], Variable)
    is_triple = len(given) == 3 and all(isinstance(each, Variable | Constant) for each in given)
    if not is_variable and not is_triple:
        raise QueryError(
            "timestamp() of what is no variable, and no subject, predicate and object",
            hint="write timestamp(?x), or timestamp(?s, ?p, ?o)",
        )


class _Timing:
    """Puts patterns for times beside others."""

    def __init__(self, asked: Iterable[object]) -> None:
        self._asked = frozenset(asked)
        self._made = 0
        self._depth = 0
        """How many GRAPHs are around what is looked at: no arrivals are there."""

    def pattern(self, pattern: Pattern) -> tuple[Pattern, Times]:
        """A pattern with the times of its matches, and where these are."""
        match pattern:
            case Basic():
                return self._basic(pattern)
            case Both() | Either():
                left, right, times = self._sides(pattern)
                return type(pattern)(left, right), times
            case Optionally():
                left, right, times = self._sides(pattern)
                right, condition = self._with(right, pattern.condition, times)
                return Optionally(left, right, condition), times
            case Without():
                left, times = self.pattern(pattern.left)
                return Without(left, self.pattern(pattern.right)[0]), times
            case Where():
                of, times = self.pattern(pattern.of)
                return Where(*self._with(of, pattern.condition, times)), times
            case With():
                of, times = self.pattern(pattern.of)
                of, value = self._with(of, pattern.value, times)
                return With(of, pattern.variable, value), times
            case Listed():
                return pattern, {}
            case _:
                return self._whole(pattern), {}

    def _whole(
        self,
        pattern: Grouped | Ordered | Chosen | DistinctRows | ReducedRows | Slice | InGraph,
    ) -> Pattern:
        """Patterns whose rows have no times any more."""
        if isinstance(pattern, InGraph):
            return self._in_graph(pattern)
        of, times = self.pattern(pattern.of)
        if isinstance(pattern, Grouped):
            made = []
            for variable, aggregate in pattern.aggregates:
                if aggregate.value is not None:
                    of, value = self._with(of, aggregate.value, times)
                    aggregate = replace(aggregate, value=value)
                if aggregate.by is not None:
                    of, by = self._with(of, aggregate.by, times)
                    aggregate = replace(aggregate, by=by)
                made.append((variable, aggregate))
            return Grouped(of, pattern.keys, tuple(made))
        if isinstance(pattern, Ordered):
            keys = []
            for key in pattern.keys:
                of, value = self._with(of, key.value, times)
                keys.append(OrderKey(value, key.descending))
            return Ordered(of, tuple(keys))
        return replace(pattern, of=of)

    def _in_graph(self, pattern: InGraph) -> Pattern:
        if isinstance(pattern.graph, Variable):
            raise QueryError(
                f"timestamp() beside GRAPH ?{pattern.graph.name}",
                hint="name the graph; times are of what FROM STREAM brings, outside of GRAPH",
            )
        self._depth += 1
        of, _ = self.pattern(pattern.of)
        self._depth -= 1
        return InGraph(pattern.graph, of)

    def _basic(self, pattern: Basic) -> tuple[Pattern, Times]:
        found: Pattern = pattern
        times: dict[Variable, tuple[Variable, ...]] = {}
        for atom in pattern.atoms if not self._depth else ():
            used = self._asked.intersection(variables_in_slots(atom.slots))
            if isinstance(atom, TripleAtom) and used:
                found, time = self._looked_up(found, atom)
                for variable in variables_in_slots(atom.slots):
                    times[variable] = tuple(dict.fromkeys((*times.get(variable, ()), time)))
        return found, times

    def _looked_up(self, pattern: Pattern, atom: TripleAtom) -> tuple[Pattern, Variable]:
        """Rows with the time of a triple, all of which they have."""
        self._made += 1
        time = Variable(f"{UNNAMED}time{self._made}")
        return Optionally(pattern, InGraph(time, Basic((atom,)))), time

    def _sides(self, pattern: Both | Either | Optionally) -> tuple[Pattern, Pattern, Times]:
        left, times = self.pattern(pattern.left)
        right, others = self.pattern(pattern.right)
        both = {v: (*times.get(v, ()), *others.get(v, ())) for v in (*times, *others)}
        return left, right, both

    def _with(
        self, pattern: Pattern, expression: QueryExpression, times: Times
    ) -> tuple[Pattern, QueryExpression]:
        """An expression about the times of a pattern, and the pattern with times of triples."""
        for call in dict.fromkeys(_calls(expression)):
            if len(call.arguments) == 1:
                value = _newest(call, times)
            else:
                pattern, value = self._looked_up(pattern, _atom(call, pattern))
            expression = rewritten(expression, partial(_replaced, call, value))
        return pattern, rewritten(expression, self._inside)

    def _inside(self, part: QueryExpression) -> QueryExpression | None:
        """EXISTS has patterns of its own, and times of these."""
        return (
            replace(part, pattern=self.pattern(part.pattern)[0])
            if isinstance(part, Exists)
            else None
        )


def _calls(expression: QueryExpression) -> Iterable[Call]:
    """The calls of timestamp() in an expression; not those inside of EXISTS."""
    if isinstance(expression, Call):
        if expression.name in NAMES:
            yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


def _newest(call: Call, times: Times) -> QueryExpression:
    """The greatest of the times that a variable's patterns have."""
    (variable,) = call.arguments
    assert isinstance(variable, Variable), "this was checked"
    found = times.get(variable, ())
    if not found:
        raise QueryError(
            f"timestamp(?{variable.name}) where no triple pattern of the windows has it",
            hint="use it beside the pattern; behind GROUP BY write MAX(timestamp(...))",
        )
    newest: QueryExpression = found[-1]
    for time in found[-2::-1]:
        first, *others = (_is_later(time, other) for other in found if other != time)
        condition = Call("&&", (first, *others)) if others else first
        newest = Call("IF", (condition, time, newest))
    return newest


def _is_later(time: Variable, other: Variable) -> QueryExpression:
    """Whether a time is known, and another is not or is not later."""
    return Call("COALESCE", (Call(">=", (time, other)), Call("BOUND", (time,))))


def _atom(call: Call, pattern: Pattern) -> TripleAtom:
    certain = bound_variables(pattern)
    for variable in variables_in_expression(call):
        if variable not in certain:
            raise QueryError(
                f"timestamp(?s, ?p, ?o) where ?{variable.name} may have no value",
                hint="use it where the patterns before it bind all three",
            )
    subject, predicate, value = map(_slot, call.arguments)
    return TripleAtom(subject, predicate, value)


def _slot(given: QueryExpression) -> Slot:
    assert isinstance(given, Variable | Constant), "this was checked"
    return given if isinstance(given, Variable) else given.term


def _replaced(
    call: Call, value: QueryExpression, expression: QueryExpression
) -> QueryExpression | None:
    return value if expression == call else None
