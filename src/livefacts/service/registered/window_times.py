"""Window times: when each triple that the windows of a query hold arrived for the last time.

They are quads for the flow of the query: the triple, and its newest time in the place of a graph.
What windows hold is compared array by array with what they held before, so that a report costs
what has come and gone, and the number of time points.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence

import numpy as np
from pyoxigraph import Literal

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.service.streams.fact_rows import Key, facts_of, keys_of
from livefacts.service.streams.reclamation import ids_of
from livefacts.service.streams.window_contents import Contents
from livefacts.store.terms.dictionary import Dictionary

Place = tuple[int, int, int]
"""A window, a time point, and an array of arrivals there."""


class WindowTimes:
    """The newest times of the triples in some windows, as quads."""

    def __init__(self, windows: Sequence[Contents], dictionary: Dictionary) -> None:
        self._windows = windows
        self._dictionary = dictionary
        self._held: dict[Place, Ids] = {}
        self._times: dict[Key, list[int]] = {}
        """The times at which a triple arrived, in order."""
        self._told: dict[Key, tuple[int, int]] = {}
        """The newest time that the flow knows, and its id."""
        self._touched: dict[Key, None] = {}

    def move(self, now: int) -> None:
        """The time is `now`."""
        held = {
            (number, chunk.time, id(chunk.ids)): chunk.ids
            for number, window in enumerate(self._windows)
            for chunk in window.inside(now)
            if chunk.shape == TRIPLES
        }
        for place in self._held.keys() - held.keys():
            for key in keys_of({TRIPLES: self._held[place]}):
                self._times[key].remove(place[1])
                self._touched[key] = None
        for place in held.keys() - self._held.keys():
            for key in keys_of({TRIPLES: held[place]}):
                insort(self._times.setdefault(key, []), place[1])
                self._touched[key] = None
        self._held = held

    def changes(self) -> tuple[Ids, Ids]:
        """The quads that have come, and those that have gone, since this was last asked."""
        came: dict[Key, int] = {}
        gone: dict[Key, int] = {}
        for key in self._touched:
            times, before = self._times[key], self._told.pop(key, None)
            if before is not None and times and times[-1] == before[0]:
                self._told[key] = before
                continue
            if before is not None:
                gone[key] = before[1]
            if times:
                came[key] = self._dictionary.encode_one(Literal(times[-1]))
                self._told[key] = times[-1], came[key]
            else:
                del self._times[key]
        self._touched = {}
        return _quads(came), _quads(gone)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of triples and times."""
        yield from ids_of([*self._told, *self._times])
        yield np.array([number for _, number in self._told.values()], np.int32)


def _quads(times: dict[Key, int]) -> Ids:
    triples = facts_of(times).get(TRIPLES, np.zeros((0, 3), np.int32))
    return np.column_stack([triples, np.array(list(times.values()), np.int32)]).astype(np.int32)
