"""The host: what a reasoner's registered queries see of it.

The background of their worlds is what the reasoner asserts for all time; what its streams
bring reaches the queries' own windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pyoxigraph import NamedNode, Quad

from livefacts.engine.contract import IN_DEFAULT, TRIPLES, Engine, Facts, Flags, Ids
from livefacts.language.program import Program
from livefacts.model.durations import Duration
from livefacts.service.registered.registry import Registrations
from livefacts.service.streams.arrival_log import ArrivalChunk, LatestNeed
from livefacts.service.streams.streams import Listener, Streams
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.dictionary import Dictionary

OWN = ":"
"""What is in the names of predicates that no rule text can write, and in no others."""


class AssertedForAllTime:
    """The background of a reasoner."""

    def __init__(self, engine: Engine, graphs: NamedGraphs) -> None:
        self._engine = engine
        self._graphs = graphs

    def facts(self) -> Facts:
        """What the default graph or a named one asserts."""
        found = {}
        for shape, ids in self._engine.asserted().items():
            if shape != TRIPLES:
                ids = ids[self._is_written(ids)]
            found[shape] = ids[self.holds(shape, ids)]
        return {shape: ids for shape, ids in found.items() if len(ids)}

    def _is_written(self, ids: Ids) -> Flags:
        names = np.unique(ids[:, 0])
        texts = self._engine.dictionary.texts(names)
        written = names[np.array([OWN not in text for text in texts], np.bool_)]
        return np.isin(ids[:, 0], written)

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are asserted for all time."""
        asserted: Flags = self._engine.standing(shape, ids) & IN_DEFAULT != 0
        if shape == TRIPLES and len(self._graphs):
            asserted |= self._graphs.others(ids, ids[:0])
        return asserted

    def conclusions(self) -> int:
        """How many conclusions there are; some may come from streams."""
        return sum(map(len, self._engine.derived().values()))

    def narrowed(self, graphs: tuple[str, ...]) -> GraphsAlone:
        """What these named graphs alone assert."""
        return GraphsAlone(self, self._graphs, self._engine.dictionary, graphs)

    def quads(self) -> Iterator[Quad]:
        """What named graphs assert."""
        return self.decoded(self._graphs.quads())

    def decoded(self, quads: Ids) -> Iterator[Quad]:
        """Quads of ids as terms."""
        for row in quads:
            yield Quad(*self._engine.dictionary.decode(row))  # type: ignore[arg-type]


class GraphsAlone:
    """The background that some named graphs of a reasoner assert."""

    def __init__(
        self,
        whole: AssertedForAllTime,
        graphs: NamedGraphs,
        dictionary: Dictionary,
        names: tuple[str, ...],
    ) -> None:
        self._whole = whole
        self._graphs = graphs
        self._wanted = [dictionary.encode_one(NamedNode(name)) for name in names]

    def facts(self) -> Facts:
        """What these graphs assert."""
        quads = self._graphs.quads()
        return {TRIPLES: np.unique(quads[np.isin(quads[:, 3], self._wanted)][:, :3], axis=0)}

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts one of the graphs asserts."""
        asserted = np.zeros(len(ids), np.bool_)
        if shape == TRIPLES and len(ids):
            for graph in self._wanted:
                asserted |= self._graphs.asserts(graph, ids)
        return asserted

    def conclusions(self) -> int:
        """How many conclusions all that is asserted has."""
        return self._whole.conclusions()

    def narrowed(self, graphs: tuple[str, ...]) -> GraphsAlone:
        """What other named graphs assert."""
        return self._whole.narrowed(graphs)

    def quads(self) -> Iterator[Quad]:
        """What named graphs assert."""
        return self._whole.quads()


class Host(Listener):
    """The registered queries of one reasoner, which hear of everything that happens to it."""

    is_heard = True

    def __init__(self, streams: Streams, program: Program) -> None:
        self._engine = streams.engine
        self._dictionary = streams.engine.dictionary
        self._background = AssertedForAllTime(streams.engine, streams.graphs)
        self.queries = Registrations(self._dictionary, self._background, program, streams.log)
        self.queries.now = streams.now
        if streams.log.first is not None:
            self.queries.begin()

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> None:
        """Facts have arrived, or have been taken back."""
        self.queries.arrived(chunks)

    def needed(self, lane: int) -> int:
        """The time from which on arrivals of a lane of the log can matter."""
        return self.queries.needed(lane)

    def latest(self) -> Sequence[LatestNeed]:
        """Windows whose facts are kept by their number."""
        return self.queries.latest()

    def changed(
        self, program: Program, asserted: Facts, retracted: Facts, came: Ids, gone: Ids
    ) -> None:
        """Background or rules have changed."""
        self.queries.limit = self._engine.limit
        self.queries.rules(program)
        touched: dict[int, list[Ids]] = {}
        for facts in (asserted, retracted, {TRIPLES: came[:, :3]}, {TRIPLES: gone[:, :3]}):
            for shape, ids in facts.items():
                if len(ids):
                    touched.setdefault(shape, []).append(ids)
        if touched:
            joined = {shape: np.concatenate(parts) for shape, parts in touched.items()}
            decoded = self._background.decoded
            self.queries.background(joined, decoded(came), decoded(gone))

    def advanced(self, now: int) -> None:
        """Every time point up to now is complete."""
        self.queries.limit = self._engine.limit
        self.queries.advance(now)

    def finished(self) -> None:
        """Nothing more will come."""
        self.queries.finish()

    def stats(self) -> dict[str, Any]:
        """What is kept for the queries."""
        return self.queries.stats()

    def held_ids(self) -> Iterator[Ids]:
        """The ids that are kept for the queries."""
        return self.queries.held_ids()


def host_of(streams: Streams, program: Program, tick: Duration | None) -> Host:
    """The registered queries of a reasoner; the first time, they begin to listen."""
    host = streams.listener
    if not isinstance(host, Host):
        host = streams.listener = Host(streams, program)
    host.queries.tick = tick
    host.queries.limit = streams.engine.limit
    return host
