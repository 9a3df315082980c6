"""Query preparation: from a text to something that can be asked in a world.

A query of triple patterns and comparisons is followed by rules where a state can hold its windows,
nearly every other one by a flow.  What neither can follow is asked anew of a store that holds its world.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pyoxigraph import NamedNode, Quad

from livefacts.errors import InputError, Place, QueryError
from livefacts.language.algebra import Query, calls_in
from livefacts.language.arrival_times import timed
from livefacts.language.graph_pattern import BasicQuery, guarded_query_of
from livefacts.language.registration import RegisteredQuery, StreamWindow
from livefacts.language.windows import Extent, TimeExtent, extent_of
from livefacts.model.durations import Duration
from livefacts.plan.rules.unfolding import MatchWay
from livefacts.service.continuous.query_plans import flow_plan, refuse_unrepeatable
from livefacts.service.continuous.row_projection import Projection
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.question import QueryOptions, ask, check_functions
from livefacts.service.queries.results import QueryResult
from livefacts.service.registered.background import Background
from livefacts.service.registered.flow_answers import FlowedAnswers, looked_up
from livefacts.service.registered.match_spans import SpannedMatches
from livefacts.service.registered.query_input import QueryInput
from livefacts.service.registered.report_answers import AskedAnswers
from livefacts.service.registered.scheduled_query import Prepared, QueryRequest
from livefacts.service.registered.shared_worlds import AnyShared, Needs, SharedWorld, SharedWorlds
from livefacts.service.registered.stream_state import WindowView
from livefacts.service.registered.timed_matches import Matches, SeenAnswers
from livefacts.service.registered.window_graphs import WindowGraph
from livefacts.service.registered.window_times import WindowTimes
from livefacts.service.registered.world import World
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.sparql.csparql import WINDOW_BASE
from livefacts.syntax.sparql.query_text import place_in

MOST_PATTERNS = 32
"""A rule has a plan from each of its patterns on; larger queries are followed by flows."""
Result = TypeVar("Result")


class Preparer:
    """Prepares the queries of one reasoner."""

    def __init__(
        self, dictionary: Dictionary, background: Background, worlds: SharedWorlds
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._worlds = worlds
        self.tick: Duration | None = None

    def request(
        self,
        number: int,
        query: RegisteredQuery,
        prefixes: Mapping[str, str],
        full: bool,
        text: str,
        graphs: Sequence[str] | None = None,
    ) -> QueryRequest:
        """A query as it is to be asked; one that cannot be is refused, before anything is done.

        `graphs` are those that its background was taken from before a restart.
        """
        found = tuple(self._loaded_graphs(query) if graphs is None else graphs)
        extents = tuple([_extent(window, self.tick) for window in query.windows])
        about = self._every(query, extents), prefixes, full, found, _meant(query), text
        return QueryRequest(number, query, extents, *about)

    def _loaded_graphs(self, query: RegisteredQuery) -> list[str]:
        """The named graphs that are the background of a query; none if all that is asserted is."""
        named = query.graphs or query.named_graphs
        known = self._background.graph_names() if named else set()
        graphs = query.graphs if known else ()
        for graph in (*graphs, *query.named_graphs):
            if graph not in known:
                raise QueryError(
                    f"no graph <{graph}> is loaded",
                    place=query.place,
                    hint="load(path, graph=...) loads into a graph",
                )
        return sorted(set(graphs))

    def prepare(self, asked: QueryRequest) -> Prepared:
        """The query, ready to be asked; nothing is left behind if it cannot be."""
        basic = None if asked.query.named_graphs else guarded_query_of(asked.meant)
        if basic is not None and len(basic.patterns) > MOST_PATTERNS:
            basic = None
        try:
            prepared = None if basic is None else self._followed(asked, basic)
            return prepared or self._flowed(asked)
        except BaseException:
            self._worlds.release(asked.number)
            raise

    def _flowed(self, asked: QueryRequest) -> Prepared:
        query = asked.query
        windows = [NamedNode(window.name) for window in query.windows if window.name is not None]
        try:
            plan = flow_plan(asked.meant, query.body, windows)
        except QueryError as error:
            if asked.asks_for_times:
                raise
            # The text is known to be correct: what is wrong with it is that it must be asked anew.
            return self._queried(asked, error.message)
        shared, world, source = self._input(asked, Needs(looked_up(plan), full=asked.full))
        answers = FlowedAnswers(plan, source, query.relation, self._dictionary)
        return Prepared(asked, shared, world, answers, source)

    def _followed(self, asked: QueryRequest, basic: BasicQuery) -> Prepared | None:
        """A query whose matches are followed in a state of windows of every length, if it can be."""
        number = asked.number
        projection = Projection(basic, number, self._dictionary)
        absent = tuple(group.formulas for group in basic.absent)
        goal = MatchWay(projection.variables, projection.rule.body, absent)
        wanted = Needs((), (projection.rule,), asked.full, goal)
        needs = self._worlds.lasting(asked.windows, asked.every, wanted)
        if needs is None:
            return None
        state = self._worlds.state_of(asked.windows, asked.graphs, number)
        matches = state.kept.get(basic)
        if matches is None:
            is_plain = needs.ways == (needs.goal,) and not basic.absent
            matches = Matches(projection) if is_plain else SpannedMatches(projection, needs.ways)
            state.keep(basic, matches)
        self._worlds.need(state, number, replace(needs, rules=matches.rules))
        view = state.views[number]
        return Prepared(asked, state, view, SeenAnswers(matches, view, asked.query.relation))

    def _queried(self, asked: QueryRequest, reason: str) -> Prepared:
        query = asked.query
        shared, world, source = self._input(asked, Needs(full=asked.full))

        def answer(version: FactVersion) -> QueryResult:
            return ask(query.body, asked.prefixes, version, QueryOptions(base=WINDOW_BASE))

        answers = AskedAnswers(answer, source, query.relation, self._dictionary, reason)
        return Prepared(asked, shared, world, answers, source)

    def _input(
        self, asked: QueryRequest, needs: Needs
    ) -> tuple[AnyShared, World | WindowView, QueryInput]:
        """What a query is asked in, and what it sees there."""
        shared, world = self._world(asked, needs)
        self._worlds.need(shared, asked.number, needs)
        times = self._times(asked) if asked.asks_for_times else None
        graphs, quads = self._graphs(asked, needs), self._quads(asked.query)
        return shared, world, QueryInput(world, self._dictionary, graphs, quads, times)

    def _world(self, asked: QueryRequest, needs: Needs) -> tuple[AnyShared, World | WindowView]:
        """What the query is asked in: a state of windows of every length, if one can be."""
        is_named = any(window.name is not None for window in asked.query.windows)
        if not is_named and self._worlds.lasting(asked.windows, asked.every, needs) is not None:
            state = self._worlds.state_of(asked.windows, asked.graphs, asked.number)
            return state, state.views[asked.number]
        shared = self._world_of(asked, needs)
        return shared, shared.place

    def _world_of(self, asked: QueryRequest, needs: Needs) -> SharedWorld:
        """The world of a query's windows, with a clock of its own if its rules look at time."""
        self.check_windows(asked, needs)
        return self._worlds.world_of(asked.windows, asked.graphs, asked.number)

    def check_windows(self, asked: QueryRequest, needs: Needs) -> None:
        """Refuse windows that mean nothing beside rules that look at time."""
        rule = self._worlds.timed_rule(needs)
        if rule is None:
            return
        streams = {extent.stream for extent in asked.windows}
        reason = None
        if any(not isinstance(extent, TimeExtent) for extent in asked.windows):
            reason = "a window that is not by time"
        elif any(window.name is not None for window in asked.query.windows):
            reason = "a window that has a name"
        elif len(streams) < len(set(asked.windows)):
            reason = "two windows on one stream"
        if reason is not None:
            raise QueryError(
                f"the query needs the rule {rule.id}, which looks at time itself, and has {reason}",
                place=asked.query.place,
                hint="beside such rules each stream has one window, by time and without a name",
            )

    def _graphs(self, asked: QueryRequest, needs: Needs) -> list[WindowGraph]:
        """The windows that have names, as graphs."""
        graphs = []
        for window, extent in zip(asked.query.windows, asked.windows, strict=True):
            if window.name is not None:
                alone = self._worlds.world_of((extent,), asked.graphs, asked.number)
                empty = self._worlds.world_of((), asked.graphs, asked.number)
                self._worlds.need(alone, asked.number, needs)
                self._worlds.need(empty, asked.number, needs)
                graphs.append(WindowGraph(window.name, alone.place, empty.place))
        return graphs

    def _times(self, asked: QueryRequest) -> WindowTimes:
        """When the triples of the windows arrived."""
        windows = [self._worlds.contents(extent) for extent in asked.windows]
        return WindowTimes(windows, self._dictionary)

    def _quads(self, query: RegisteredQuery) -> list[Quad]:
        wanted = query.named_graphs
        quads = self._background.quads()
        return [quad for quad in quads if quad.graph_name.value in wanted]  # type: ignore[union-attr]

    def _every(self, query: RegisteredQuery, extents: tuple[Extent, ...]) -> int:
        every = query.every
        if every is not None:
            return _in_words(query.every_place, lambda: every.points(self.tick))
        first = extents[0]
        return first.step if isinstance(first, TimeExtent) else 1


def _extent(declared: StreamWindow, tick: Duration | None) -> Extent:
    """A window of a query, in time points."""
    window = replace(declared.window, stream=NamedNode(declared.stream))
    return _in_words(declared.place, lambda: extent_of(window, tick))


def _in_words(place: Place, read: Callable[[], Result]) -> Result:
    """What is read; a `QueryError` with its place if it is not a whole number of time points."""
    try:
        return read()
    except InputError as error:
        raise QueryError(error.message, place=place, hint=error.hint) from None


TIMES = re.compile(r"timestamp>?\s*\(\s*", re.IGNORECASE)


def _meant(registered: RegisteredQuery) -> Query:
    """What a query asks, with its times looked up; what is wrong with them is shown in the text."""
    query, text = registered.asked, registered.body
    if not calls_in(query):
        return query
    try:
        meant = timed(query)
    except QueryError as error:
        calls = [(found.start(), text[found.end() :]) for found in TIMES.finditer(text)]
        named = [start for start, rest in calls if rest and rest.split(")")[0] in error.message]
        first = next(iter(named or [start for start, _ in calls]))
        raise QueryError(error.message, place=place_in(text, first), hint=error.hint) from None
    if meant is not query:
        refuse_unrepeatable(text)
    check_functions(meant)
    return meant
