"""The saved time: the clock of a reasoner, and what streams have brought that can still matter.

It is a value that any dictionary can read, and that is all: what windows hold, and what follows
from it, is found anew from the arrivals, the rules and the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.journal import fact_texts
from livefacts.service.streams.arrival_log import ArrivalChunk, LogState
from livefacts.service.streams.feeds import Notes
from livefacts.service.streams.lifetimes import Longs
from livefacts.service.streams.time_movement import Streams
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import TermReader

ARRIVALS, BEGAN = "arrivals", "began"


@dataclass(frozen=True, slots=True)
class SavedTime:
    """One moment of streams, in the numbers of a dictionary."""

    now: int | None
    is_dense: bool
    log: LogState
    began: Mapping[int, tuple[Longs, Ids]]
    queries: Mapping[str, Any] | None = None
    """What registered queries go on from, as plain data."""
    events: Mapping[str, Any] | None = None
    """What event time goes on from, likewise."""

    def packed(self, terms: TermReader) -> dict[str, Any]:
        """The moment as plain data, with the texts of all terms."""
        log = self.log
        names = sorted({_stream(lane) for lane in (*log.forgotten, *log.lateness)})
        place = {name: at for at, name in enumerate(names)}
        chunks = sorted(log.chunks, key=lambda chunk: chunk.number)
        parts = {ARRIVALS: _facts(chunks), BEGAN: {s: ids for s, (_, ids) in self.began.items()}}
        return {
            "now": self.now,
            "dense": self.is_dense,
            "first": log.first,
            "set_aside": log.set_aside,
            "streams": fact_texts.texts_of(np.array(names, np.int32), terms),
            "lateness": [[_renamed(n, place), late] for n, late in log.lateness.items()],
            "forgotten": [[_renamed(n, place), many] for n, many in log.forgotten.items()],
            "chunks": [
                [c.time, _renamed(c.lane, place), c.shape, c.number, len(c.ids)] for c in chunks
            ],
            "began": {shape: times.tolist() for shape, (times, _) in self.began.items()},
            "facts": fact_texts.pack(parts, terms),
            "queries": self.queries,
            "events": self.events,
        }


def moment_of(streams: Streams) -> SavedTime:
    """The present moment."""
    timeline, began = streams.timeline, streams.beginnings.state(streams.engine)
    queries = streams.listener.state()
    events = None if streams.events is None else streams.events.state()
    log = streams.log.state()
    return SavedTime(timeline.now, timeline.is_dense, log, began, queries, events)


def unpacked(found: Mapping[str, Any], dictionary: Dictionary) -> SavedTime:
    """A moment that was written down."""
    names = fact_texts.number_texts(found["streams"], dictionary).tolist()
    with dictionary.passing:
        parts = fact_texts.unpack(found["facts"], dictionary)
    log = LogState(
        found["first"],
        found["set_aside"],
        {_renamed(lane, names): late for lane, late in found["lateness"]},
        {_renamed(lane, names): many for lane, many in found["forgotten"]},
        list(_chunks(found["chunks"], names, parts.get(ARRIVALS, {}))),
    )
    began = {
        shape: (np.array(found["began"][str(shape)], np.int64), ids)
        for shape, ids in parts.get(BEGAN, {}).items()
    }
    others = found["queries"], found["events"]
    return SavedTime(found["now"], found["dense"], log, began, *others)


def resume(streams: Streams, moment: SavedTime) -> Notes:
    """Streams that are new go on from a moment; what their windows assert."""
    streams.log.resume(moment.log)
    return streams.timeline.resume(moment.now, moment.is_dense)


def _facts(chunks: list[ArrivalChunk]) -> dict[int, Ids]:
    """By shape, the facts in the order in which they came."""
    by_shape: dict[int, list[Ids]] = {}
    for chunk in chunks:
        by_shape.setdefault(chunk.shape, []).append(chunk.ids)
    return {shape: np.concatenate(parts) for shape, parts in by_shape.items()}


def _chunks(
    rows: Iterable[list[int]], names: list[int], facts: Mapping[int, Ids]
) -> Iterable[ArrivalChunk]:
    done: Counter[int] = Counter()
    for time, lane, shape, number, size in rows:
        ids = facts[shape][done[shape] : done[shape] + size]
        yield ArrivalChunk(time, _renamed(lane, names), shape, ids, number)
        done[shape] += size


def _stream(lane: int) -> int:
    return lane if lane >= 0 else ~lane


def _renamed(lane: int, names: Any) -> int:
    """A lane under another number of its stream; those that queries make stay apart."""
    named = int(names[_stream(lane)])
    return named if lane >= 0 else ~named
