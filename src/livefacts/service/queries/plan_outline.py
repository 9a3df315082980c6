"""The outline of a query: its plan, read off its algebra and the notes of its evaluation.

The walk goes the way of `engine.queries.evaluation`: it knows which variables each part is told,
and which are needed of it.  So the joins of a query that never ran can be planned, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from livefacts.engine.queries.basic_parts import Numbered, PartReader, names_of
from livefacts.engine.queries.binding_scopes import (
    certain_in,
    may_know,
    names_in,
    names_in_condition,
    names_in_scope,
    parts_of,
)
from livefacts.engine.queries.joins.leapfrog import BIND, COUNT, GIVEN
from livefacts.engine.queries.joins.step_tables import JoinStep
from livefacts.engine.queries.joins.variable_order import IdPattern
from livefacts.engine.queries.run_notes import ROWS, SECONDS, Part, QueryNotes
from livefacts.language.algebra import (
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
    Pattern,
    ReducedRows,
    Slice,
    Where,
    With,
    Without,
    exists_in,
    variables_in_slots,
)
from livefacts.language.expressions import TRUE, QueryExpression
from livefacts.service.queries.plan_joins import JoinSource, Names, PlannedJoin, PlanScope
from livefacts.service.queries.plan_tree import PatternLookup, PlanTree
from livefacts.service.queries.sparql_words import QueryWords
from livefacts.store.versions.sorted_orders import PLACES, PSO


class Outline:
    """Reads the plan of one query."""

    def __init__(self, words: QueryWords, notes: QueryNotes, joins: JoinSource) -> None:
        self._words = words
        self._notes = notes
        self._joins = joins

    def tree(self, pattern: Pattern, scope: PlanScope) -> PlanTree:
        """The plan of a pattern."""
        match pattern:
            case Basic():
                return self._basic(pattern, scope)
            case Both():
                return self._node("join", id(pattern), self._sequence(pattern, scope))
            case Either():
                sides = [self._told(side, scope) for side in _sides(pattern)]
                return self._node("UNION", id(pattern), sides)
            case Optionally():
                return self._optionally(pattern, scope)
            case Without():
                return self._without(pattern, scope)
            case Where():
                title = f"FILTER {self._words.expression(pattern.condition)}"
                return self._asking(title, pattern, pattern.of, [pattern.condition], scope)
            case With():
                return self._with(pattern, scope)
            case Listed():
                names = " ".join(map(self._words.slot, pattern.variables))
                return self._node(f"VALUES {names}", id(pattern))
            case InGraph():
                title = f"GRAPH {self._words.slot(pattern.graph)}"
                known = scope.known.union(v.name for v in variables_in_slots((pattern.graph,)))
                inner = replace(scope, graph=pattern.graph, known=known)
                return self._node(title, id(pattern), [self._told(pattern.of, inner)])
            case _:
                return self._modified(pattern, scope)

    def _node(
        self, operator: str, part: Part, below: Iterable[PlanTree] = (), **more: Any
    ) -> PlanTree:
        """A node with what was noted of a part."""
        note = self._notes.parts.get(part)
        if note is not None:
            more |= {"rows": note[ROWS], "seconds": note[SECONDS]}
        return PlanTree(operator, below=tuple(below), **more)

    # groups

    def _sequence(self, pattern: Both, scope: PlanScope) -> Iterator[PlanTree]:
        waiting = self._notes.groups.get(id(pattern)) or parts_of(pattern)
        known = scope.known
        while waiting:
            first, *waiting = waiting
            later = scope.needed.union(*map(names_in, waiting))
            yield self._told(first, scope.asked(later, known))
            known = (known | names_in_scope(first)) & later

    def _told(self, pattern: Pattern, scope: PlanScope) -> PlanTree:
        """A part of a group, which knows of the others if it may."""
        scope = replace(scope, is_inner=True)
        if not scope.known or scope.is_exists or may_know(pattern, scope.known):
            return self.tree(pattern, scope)
        return self._alone(pattern, scope.needed | scope.known, scope)

    def _alone(self, pattern: Pattern, needed: Names, scope: PlanScope) -> PlanTree:
        alone = self.tree(pattern, scope.alone(needed & names_in_scope(pattern)))
        return replace(alone, operator=f"{alone.operator}, by itself")

    def _optionally(self, pattern: Optionally, scope: PlanScope) -> PlanTree:
        asked = names_in_condition(pattern.condition)
        more = scope.needed | names_in(pattern.right) | asked
        left = self.tree(pattern.left, scope.asked(more))
        known = (scope.known | names_in_scope(pattern.left)) & more
        right = self._told(pattern.right, scope.asked(scope.needed | asked, known))
        condition = pattern.condition
        title = "OPTIONAL"
        if condition != TRUE:
            title += f" with FILTER {self._words.expression(condition)}"
        exists = self._exists([condition], scope.asked(more, known | names_in_scope(pattern.right)))
        return self._node(title, id(pattern), [left, right, *exists])

    def _without(self, pattern: Without, scope: PlanScope) -> PlanTree:
        shared = frozenset(names_in_scope(pattern.left) & names_in_scope(pattern.right))
        told: Names = frozenset()
        if scope.is_exists:
            told = scope.known & names_in(pattern.right)
            shared -= told
        left = self.tree(pattern.left, scope.asked(scope.needed | shared | told))
        below = [left]
        if shared:
            certain = certain_in(pattern.left) & certain_in(pattern.right)
            if told or (shared <= certain and may_know(pattern.right, shared)):
                met = replace(scope, is_exists=bool(told), is_inner=True)
                below.append(self._met(pattern.right, shared | told, met))
            else:
                below.append(self._alone(pattern.right, shared, scope))
        return self._node("MINUS", id(pattern), below)

    def _met(self, pattern: Pattern, known: Names, scope: PlanScope) -> PlanTree:
        """A pattern of which some match for each row is enough."""
        scope = replace(scope, needed=frozenset(), known=known, first_only=True)
        return self.tree(pattern, scope)

    # values and conditions

    def _asking(
        self,
        title: str,
        pattern: Pattern,
        of: Pattern,
        asked: Sequence[QueryExpression],
        scope: PlanScope,
        without: Iterable[str] = (),
    ) -> PlanTree:
        """An operator that asks expressions of the rows of a pattern."""
        needed = scope.needed.union(*map(names_in_condition, asked)).difference(without)
        below = self.tree(of, scope.asked(needed))
        known = (scope.known | names_in_scope(of)) & needed
        exists = self._exists(asked, scope.asked(needed, known))
        return self._node(title, id(pattern), [below, *exists])

    def _exists(self, asked: Sequence[QueryExpression], scope: PlanScope) -> Iterator[PlanTree]:
        """The patterns that must exist, or must not."""
        for part in (each for expression in asked for each in exists_in(expression)):
            inner = replace(scope, is_exists=True, is_inner=True)
            below = self._met(part.pattern, scope.known & names_in(part.pattern), inner)
            yield PlanTree("NOT EXISTS" if part.negated else "EXISTS", below=(below,))

    def _with(self, pattern: With, scope: PlanScope) -> PlanTree:
        computed: list[With] = []
        of: Pattern = pattern
        while isinstance(of, With):
            computed.insert(0, of)
            of = of.of
        texts = map(self._words.binding, computed)
        names = [each.variable.name for each in computed]
        values = [each.value for each in computed]
        return self._asking(f"BIND {' '.join(texts)}", pattern, of, values, scope, names)

    # modifiers

    def _modified(self, pattern: Pattern, scope: PlanScope) -> PlanTree:
        match pattern:
            case Slice():
                length = "" if pattern.length is None else f"LIMIT {pattern.length:,}"
                start = f"OFFSET {pattern.start:,}" if pattern.start else ""
                below = self.tree(pattern.of, scope.asked(scope.needed))
                return self._node(f"{length} {start}".strip() or "OFFSET 0", id(pattern), [below])
            case DistinctRows():
                names = frozenset(names_in_scope(pattern.of))
                return self._node(
                    "DISTINCT", id(pattern), [self.tree(pattern.of, scope.asked(names))]
                )
            case ReducedRows():
                return self._node(
                    "REDUCED", id(pattern), [self.tree(pattern.of, scope.asked(scope.needed))]
                )
            case Chosen():
                return self._chosen(pattern, scope)
            case Ordered():
                keys = " ".join(map(self._words.key, pattern.keys))
                asked = [key.value for key in pattern.keys]
                return self._asking(f"ORDER BY {keys}", pattern, pattern.of, asked, scope)
            case Grouped():
                return self._grouped(pattern, scope)
            case _:
                raise AssertionError(f"{type(pattern).__name__} is a part of a group")

    def _chosen(self, pattern: Chosen, scope: PlanScope) -> PlanTree:
        """An inner query; that of the whole one stands above all."""
        names = frozenset(variable.name for variable in pattern.variables)
        below = self.tree(pattern.of, scope.asked(scope.needed & names))
        if not scope.is_inner:
            return below
        selected = " ".join(map(self._words.slot, pattern.variables))
        title = f"SELECT {selected}".rstrip()
        return PlanTree(title, below=(below,), rows=below.rows, seconds=below.seconds)

    def _grouped(self, pattern: Grouped, scope: PlanScope) -> PlanTree:
        aggregates = [each for _, each in pattern.aggregates]
        values = [value for each in aggregates for value in each.values]
        keys = frozenset(variable.name for variable in pattern.keys)
        if any(each.value is None and each.distinct for each in aggregates):
            keys |= names_in_scope(pattern.of)
        named = " ".join(map(self._words.slot, pattern.keys))
        totals = ", ".join(dict.fromkeys(map(self._words.total, pattern.aggregates)))
        title = f"GROUP BY {named}" if named else "GROUP"
        title += f": {totals}" if totals else ""
        return self._asking(title, pattern, pattern.of, values, scope.asked(keys))

    # basic graph patterns

    def _basic(self, pattern: Basic, scope: PlanScope) -> PlanTree:
        parts = PartReader(self._words.number).parts(pattern)
        if pattern.lifted is None:
            scope = scope.asked(scope.needed)
        if not parts.paths and not parts.nested:
            return self._joined(parts.triples, self._joins.joins(pattern, scope), id(pattern))
        stages = self._stages(pattern, parts.stages(scope.known), scope)
        return self._node("graph pattern", id(pattern), stages)

    def _stages(
        self, pattern: Basic, stages: Sequence[Numbered], scope: PlanScope
    ) -> Iterator[PlanTree]:
        known = scope.known
        for at, (number, stage) in enumerate(stages, start=1):
            part = id(pattern), number
            if isinstance(stage, list):
                later = scope.needed.union(*(names_of(each) for _, each in stages[at:]))
                joins = self._joins.joins(pattern, scope.asked(later, known))
                yield self._joined(stage, joins, part)
            else:
                yield self._node(self._words.stage(stage), part)
            known |= names_of(stage)

    def _joined(
        self, triples: Sequence[IdPattern], joins: Sequence[PlannedJoin], part: Part
    ) -> PlanTree:
        count = len(triples)
        title = "1 triple pattern" if count == 1 else f"join of {count} triple patterns"
        if not count:
            return self._node("one empty row", part)
        if not joins:
            # There is no program where a constant is in no fact, or where nobody asked.
            return self._node(title, part, lookups=tuple(map(self._lookup, triples)))
        if len(joins) == 1:
            return self._node(title, part, self._steps(triples, joins[0]), expected=_last(joins[0]))
        each = (PlanTree("rows alike", below=tuple(self._steps(triples, join))) for join in joins)
        return self._node(title, part, each)

    def _steps(self, triples: Sequence[IdPattern], join: PlannedJoin) -> Iterator[PlanTree]:
        rows: Sequence[int | None] = join.rows or [None] * len(join.steps)
        for step, found in zip(join.steps, rows, strict=True):
            if step.kind != GIVEN or join.given or step.checked:
                yield PlanTree(
                    self._step_name(step, triples, join.given),
                    tuple(self._lookups(step, triples)),
                    expected=step.expected,
                    rows=found,
                )

    def _step_name(self, step: JoinStep, triples: Sequence[IdPattern], given: Sequence[str]) -> str:
        if step.kind == BIND:
            use = step.uses[0]
            return self._words.slot(triples[use.pattern][use.place])
        if step.kind == GIVEN:
            return " ".join(["for each", *map(self._words.slot, sorted(given))]) if given else "if"
        return "count" if step.kind == COUNT else "any"

    def _lookups(self, step: JoinStep, triples: Sequence[IdPattern]) -> Iterator[PatternLookup]:
        for use in step.uses:
            yield self._lookup(triples[use.pattern], _order_name(use.order))
        for number in step.checked:
            yield self._lookup(triples[number], _order_name(PSO))

    def _lookup(self, triple: IdPattern, order: str = "") -> PatternLookup:
        return PatternLookup(self._words.triple(triple), order)


def _order_name(order: int) -> str:
    """
    >>> _order_name(PSO)
    'PSO'
    """
    return "".join("SPO"[place] for place in PLACES[order])


def _last(join: PlannedJoin) -> float | None:
    """How many rows a join is expected to find, where its last step says so."""
    return join.steps[-1].expected


def _sides(pattern: Pattern) -> Iterator[Pattern]:
    """The sides of a UNION of several, each with its own."""
    if isinstance(pattern, Either):
        yield from _sides(pattern.left)
        yield from _sides(pattern.right)
    else:
        yield pattern
