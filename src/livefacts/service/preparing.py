"""Preparing queries: from a text to something that can be asked in a world.

A query of triple patterns and comparisons is followed change by change; every other one is
asked anew of a store that holds its world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from livefacts.errors import QueryError
from livefacts.model.durations import Duration
from livefacts.rules.query import BasicQuery
from livefacts.rules.registration import CountWindow, RegisteredQuery, Relation
from livefacts.service.answering import AskedAnswers, FollowedAnswers
from livefacts.service.queries import QueryStore
from livefacts.service.reading import FactReader
from livefacts.service.registration import Prepared
from livefacts.service.sharing import Needs, SharedWorlds
from livefacts.service.windowing import Extent, extent_of, points
from livefacts.service.worlds import Background
from livefacts.service.worldstores import WindowGraph, WorldStore
from livefacts.store.dictionary import Dictionary
from livefacts.syntax.basicquery import parse_basic_query
from livefacts.syntax.csparql import WINDOW_BASE


class Preparer:
    """Prepares the queries of one reasoner."""

    def __init__(
        self, dictionary: Dictionary, background: Background, worlds: SharedWorlds
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._worlds = worlds
        self._reader = FactReader(dictionary)
        self.tick: Duration | None = None

    def check(self, query: RegisteredQuery, prefixes: Mapping[str, str]) -> None:
        """Refuse a query that cannot be asked, before anything is done for it."""
        QueryStore().query(query.body, prefixes, base=WINDOW_BASE)
        known = {quad.graph_name.value for quad in self._background.quads()}  # type: ignore[union-attr]
        for graph in query.named_graphs:
            if graph not in known:
                raise QueryError(
                    f"no graph <{graph}> is loaded",
                    place=query.place,
                    hint="load(path, graph=...) loads into a graph",
                )

    def prepare(
        self, number: int, query: RegisteredQuery, prefixes: Mapping[str, str], full: bool
    ) -> Prepared:
        """The query, ready to be asked; nothing is left behind if it cannot be."""
        basic = None if query.named_graphs else parse_basic_query(query.body, prefixes)
        extents = tuple(extent_of(window, self.tick) for window in query.windows)
        every = self._every(query, extents)
        try:
            if basic is not None:
                return self._followed(number, query, basic, extents, every, prefixes, full)
            return self._asked(number, query, extents, every, prefixes, full)
        except BaseException:
            self._worlds.release(number)
            raise

    def _followed(
        self,
        number: int,
        query: RegisteredQuery,
        basic: BasicQuery,
        extents: tuple[Extent, ...],
        every: int,
        prefixes: Mapping[str, str],
        full: bool,
    ) -> Prepared:
        shared = self._worlds.world_of(extents)
        answers = shared.followed.get(basic) if query.relation is Relation.ALL else None
        if answers is None:
            answers = FollowedAnswers(basic, query.relation, number, self._dictionary)
            key = basic if query.relation is Relation.ALL else replace(basic, name=str(number))
            shared.followed[key] = answers
            shared.world.follow(answers.follow)
        self._worlds.need(shared, number, Needs(answers.patterns, answers.rule, full))
        return Prepared(number, query, extents, every, shared, answers, None, prefixes, full)

    def _asked(
        self,
        number: int,
        query: RegisteredQuery,
        extents: tuple[Extent, ...],
        every: int,
        prefixes: Mapping[str, str],
        full: bool,
    ) -> Prepared:
        shared = self._worlds.world_of(extents)
        self._worlds.need(shared, number, Needs(full=full))
        graphs = []
        for window, extent in zip(query.windows, extents, strict=True):
            if window.name is not None:
                alone, empty = self._worlds.world_of((extent,)), self._worlds.world_of(())
                self._worlds.need(alone, number, Needs(full=full))
                self._worlds.need(empty, number, Needs(full=full))
                graphs.append(WindowGraph(window.name, alone.world, empty.world))
        quads = [
            quad
            for quad in self._background.quads()
            if quad.graph_name.value in query.named_graphs  # type: ignore[union-attr]
        ]
        store = WorldStore(shared.world, self._reader, graphs, quads)
        answers = AskedAnswers(lambda: store.query(query.body, prefixes), query.relation)
        return Prepared(number, query, extents, every, shared, answers, store, prefixes, full)

    def _every(self, query: RegisteredQuery, extents: tuple[Extent, ...]) -> int:
        if query.every is not None:
            return points(query.every, self.tick, query.place)
        is_by_count = isinstance(query.windows[0].window, CountWindow)
        return 1 if is_by_count else extents[0].step
