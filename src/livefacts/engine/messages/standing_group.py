"""The standing group: all queries over one stream; messages become ids once.

All queries of a group share a dictionary and one admission.  A query of patterns hears of a
batch only if a predicate of the batch stands in one of them; all others are one flow, which
shares the steps that they have in common.  As soon as one of them speaks of graphs, messages
may be about quads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.engine.flow.memory_use import Footprint, KeptPart
from livefacts.engine.flow.triple_changes import TripleChange
from livefacts.engine.messages.admission import Gate
from livefacts.engine.messages.signed_lines import Messages
from livefacts.engine.messages.standing_flow import StandingFlow
from livefacts.engine.messages.standing_query import StandingPattern, StandingQuery
from livefacts.engine.messages.stream_facts import (
    DEFAULT,
    NO_CHANGE,
    StreamChange,
    StreamFacts,
    StreamQuads,
    StreamTriples,
)
from livefacts.engine.patterns.projection import Signs
from livefacts.engine.patterns.signed_rows import Factored
from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary

Build = Callable[[Dictionary, Dataflow], StandingQuery]
"""Makes a standing query over a dictionary, perhaps in a flow; again when terms are forgotten."""

NOTHING = Factored((), ())
FEWEST_TERMS = 4096
"""Terms that may be kept before it is looked at whether they are still needed."""


@dataclass(frozen=True, slots=True)
class Cached:
    """What is kept: entries and bytes of each part, and the terms."""

    parts: tuple[KeptPart, ...]
    terms: int
    term_bytes: int

    @property
    def entries(self) -> int:
        """Centres, triples and rows of all parts."""
        return sum(part.entries for part in self.parts)

    @property
    def bytes(self) -> int:
        """The memory of all parts and of the terms, spare room included."""
        return sum(part.bytes for part in self.parts) + self.term_bytes

    def __str__(self) -> str:
        lines = [
            f"{p.name}: {p.entries:,} {'entry' if p.entries == 1 else 'entries'}, {p.bytes:,} bytes"
            for p in self.parts
        ]
        return "\n".join([*lines, f"terms: {self.terms:,}, {self.term_bytes:,} bytes"])


class StandingGroup:
    """Queries that follow the same messages."""

    def __init__(self, builds: Sequence[Build]) -> None:
        self._builds = builds
        self._look_at = FEWEST_TERMS
        self.seq = 0
        self._begin(Dictionary())

    def _begin(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._flow = Dataflow(dictionary)
        self.queries = [build(dictionary, self._flow) for build in self._builds]
        patterns = np.concatenate([query.patterns for query in self.queries])
        self._gate = Gate(np.unique(patterns, axis=0), dictionary)
        self._patterned = [q for q in self.queries if isinstance(q, StandingPattern)]
        self._concerned = _by_predicate(self.queries)
        self._numbers = {
            id(query.standing): number
            for number, query in enumerate(self.queries)
            if isinstance(query, StandingFlow)
        }
        self._there: StreamFacts = StreamQuads() if self._has_graphs else StreamTriples()
        """What the flow can see, and all that was let in where graphs matter."""
        self._seen = _predicates(q.patterns for q in self.queries if isinstance(q, StandingFlow))

    @property
    def _has_graphs(self) -> bool:
        flows = (query for query in self.queries if isinstance(query, StandingFlow))
        return any(query.standing.looks_at_graphs for query in flows)

    def take(self, messages: Messages) -> list[Factored]:
        """What a batch changes, for each of the queries."""
        return self.follow(*self.admit(messages))

    def admit(self, messages: Messages) -> tuple[Ids, Signs]:
        """The triples that fit a pattern of a query, and whether they come (1) or go (-1).

        Where graphs matter, each has its graph in a fourth place.
        """
        if isinstance(self._there, StreamQuads):
            return self._admit_quads(messages)
        for graph in messages.graphs:
            if graph is not None:
                raise InputError(
                    f"a triple of the graph {graph}, of which the query does not speak",
                    hint="feed triples of the default graph; with GRAPH or FROM a query takes quads",
                )
        return self._gate.admit(messages)

    def _admit_quads(self, messages: Messages) -> tuple[Ids, Signs]:
        graphs = dict.fromkeys([None, *messages.graphs])
        numbers = {graph: number for number, graph in enumerate(graphs, start=1)}
        homes = np.ones_like(messages.signs)
        if messages.graphs:
            homes = np.array([numbers[graph] for graph in messages.graphs], np.int32)
        # Admission passes signs through: they carry the graph as well.
        triples, coded = self._gate.admit(messages._replace(signs=messages.signs * homes))
        ids = dict.fromkeys(numbers.values(), DEFAULT)
        for graph, number in numbers.items():
            if graph is not None and (np.abs(coded) == number).any():
                ids[number] = self.dictionary.encode_one(graph)
        home = np.array([ids[number] for number in np.abs(coded).tolist()], np.int32)
        return np.column_stack([triples, home.reshape(-1)]), np.sign(coded)

    def follow(self, triples: Ids, signs: Signs) -> list[Factored]:
        """What was let in changes, as one batch."""
        self.seq += 1
        return self._followed(triples, signs)

    def _followed(self, rows: Ids, signs: Signs) -> list[Factored]:
        found = [NOTHING] * len(self.queries)
        change = self._changed(rows, signs) if self._numbers else NO_CHANGE
        if isinstance(self._there, StreamQuads):
            rows, signs = TripleChange(change.added, change.removed).signed
        for number in self._hearing(rows):
            query = self.queries[number]
            assert isinstance(query, StandingPattern), "only queries of patterns hear of triples"
            found[number] = query.change(rows, signs)
        if change is not NO_CHANGE and any(map(len, change)):
            for standing, bag in self._flow.apply(*change):
                number = self._numbers[id(standing)]
                query = self.queries[number]
                assert isinstance(query, StandingFlow), "it stands in the flow"
                found[number] = query.answers_in(bag)
        return found

    def _changed(self, rows: Ids, signs: Signs) -> StreamChange:
        """What changes in what the flow can see, or in all quads."""
        is_part = self._patterned and ANY_PREDICATE not in self._seen
        if is_part and not isinstance(self._there, StreamQuads):
            is_seen = np.isin(rows[:, 1], self._seen)
            rows, signs = rows[is_seen], signs[is_seen]
        return self._there.follow(rows, signs)

    def _hearing(self, triples: Ids) -> Sequence[int]:
        if not len(triples) or not self._patterned:
            return ()
        if len(self.queries) == 1:
            return (0,)
        hearing = set(self._concerned.get(ANY_PREDICATE, ()))
        for predicate in set(triples[:, 1].tolist()):
            hearing.update(self._concerned.get(predicate, ()))
        return sorted(hearing)

    def kept(self) -> list[Ids]:
        """What each query of patterns knows to be there, and what the flow does."""
        known = [] if isinstance(self._there, StreamQuads) else [q.kept() for q in self._patterned]
        return [*known, self._there.rows()] if self._numbers else known

    def forget_terms(self) -> None:
        """Begin anew with what is kept, if most terms are not needed any more."""
        old = self.dictionary
        if len(old) <= self._look_at:
            return
        kept = self.kept()
        needed = np.unique(np.concatenate([ids.reshape(-1) for ids in kept]))
        if 2 * len(needed) < len(old):
            self._begin(Dictionary())
            self._restore([_carried_over(ids, old, self.dictionary) for ids in kept])
        self._look_at = max(FEWEST_TERMS, 2 * len(self.dictionary))

    def _restore(self, kept: Sequence[Ids]) -> None:
        all_come = [np.ones(len(ids), np.int32) for ids in kept]
        if isinstance(self._there, StreamQuads):
            self._followed(kept[0], all_come[0])
            return
        for query, ids, signs in zip(self._patterned, kept, all_come, strict=False):
            query.change(ids, signs)
        if self._numbers:
            self._flow.apply(*self._there.follow(kept[-1], all_come[-1]))

    def cached(self) -> Cached:
        """What is kept for all queries together, and the terms of the group."""
        measured = Footprint()
        parts = [part for query in self.queries for part in query.cached(measured)]
        there = [self._there.kept()] if self._numbers else []
        return Cached((*there, *parts), len(self.dictionary), self.dictionary.nbytes)


ANY_PREDICATE = -1


def _by_predicate(queries: Sequence[StandingQuery]) -> dict[int, list[int]]:
    """The numbers of the queries that a predicate concerns."""
    concerned: dict[int, list[int]] = {}
    for number, query in enumerate(queries):
        if not isinstance(query, StandingPattern):
            continue
        for predicate in set(query.patterns[:, 1].tolist()):
            concerned.setdefault(predicate, []).append(number)
    return concerned


def _predicates(patterns: Iterable[Ids]) -> Ids:
    """The predicates of all patterns, -1 for any."""
    found = [each[:, 1] for each in patterns]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int32)


def _carried_over(rows: Ids, old: Dictionary, new: Dictionary) -> Ids:
    """The same triples or quads in the ids of another dictionary."""
    known = rows != DEFAULT
    text, ends = old.packed_texts(rows[known])
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    carried = np.full_like(rows, DEFAULT)
    carried[known] = new.encode_spans(text, starts, ends, b"")
    return carried
