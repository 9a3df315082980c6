"""The joins of a plan: how the triple patterns of a query were joined, or would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, Protocol, TypeAlias

from livefacts.engine.queries.basic_parts import PartReader
from livefacts.engine.queries.joins.leapfrog import COUNT, EXIST
from livefacts.engine.queries.joins.step_tables import JoinProgram, JoinStep
from livefacts.engine.queries.joins.variable_order import join_shape, lifted
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.run_notes import QueryNotes
from livefacts.language.algebra import Basic
from livefacts.language.formula import Slot, Variable
from livefacts.store.versions.snapshots import GraphSnapshots, Snapshot

Names: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class PlanScope:
    """Where a pattern stands: what is asked of it, what it is told, and in which graph."""

    needed: Names
    known: Names = frozenset()
    graph: Slot | None = None
    is_inner: bool = False
    """Whether it stands in a group: a SELECT there is an inner query."""
    is_exists: bool = False
    """Whether all of it knows the values of a row."""
    first_only: bool = False
    """Whether one match for each row is enough."""

    def asked(self, needed: Names, known: Names | None = None) -> PlanScope:
        """The scope of what is inside: with other variables, and all of its matches."""
        known = self.known if known is None else known
        return replace(self, needed=needed, known=known, first_only=False)

    def alone(self, needed: Names) -> PlanScope:
        """The scope of a part that is evaluated by itself."""
        return PlanScope(needed, graph=self.graph, is_inner=True)


class PlannedJoin(NamedTuple):
    """A join of triple patterns: the variables that are given, its steps, and their rows."""

    given: tuple[str, ...]
    steps: Sequence[JoinStep]
    rows: Sequence[int] = ()


class JoinSource(Protocol):
    """Knows how the triple patterns of a basic graph pattern are joined."""

    def joins(self, pattern: Basic, scope: PlanScope) -> list[PlannedJoin]:
        """One join; several where rows differ in what is known; none where it was not needed."""
        ...


class NotedJoins:
    """The joins of a query that ran."""

    def __init__(self, notes: QueryNotes) -> None:
        self._notes = notes

    def joins(self, pattern: Basic, scope: PlanScope) -> list[PlannedJoin]:
        found = self._notes.joins.get(id(pattern), {})
        return [_noted(program, rows) for program, rows in found.items()]


def _noted(program: JoinProgram, rows: Sequence[int]) -> PlannedJoin:
    # What was expected is for each row that was given.
    steps = program.outline([rows[0] * each for each in program.expected])
    return PlannedJoin(program.given, steps, rows)


class FutureJoins:
    """The joins of a query that does not run, as they would be."""

    def __init__(self, graphs: GraphSnapshots, terms: QueryTerms) -> None:
        self._graphs = graphs
        self._terms = terms

    def joins(self, pattern: Basic, scope: PlanScope) -> list[PlannedJoin]:
        triples = PartReader(self._terms.encode_one).parts(pattern).triples
        patterns, constants = lifted(triples)
        if not triples or (constants and min(constants) < 0):
            return []
        snapshot, slots = self._snapshot(scope.graph), set(chain.from_iterable(patterns))
        given = tuple(sorted(scope.known & slots))
        wanted = frozenset[str]() if scope.first_only else scope.needed.difference(given) & slots
        shape = join_shape(patterns, given, wanted, EXIST if scope.first_only else COUNT)
        plan = shape.planned(snapshot, constants)
        return [PlannedJoin(given, plan.program.outline(shape.expected(snapshot, plan)))]

    def _snapshot(self, graph: Slot | None) -> Snapshot:
        """Where a pattern is looked for: of several named graphs, in the largest."""
        if graph is None:
            return self._graphs.everything
        named = self._graphs.named
        if not isinstance(graph, Variable):
            return named.get(self._terms.encode_one(graph), NO_GRAPH)
        return max(named.values(), key=lambda each: each.count, default=NO_GRAPH)


NO_GRAPH = Snapshot(())
