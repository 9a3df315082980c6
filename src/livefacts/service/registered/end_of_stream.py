"""The end of the streams: how far queries go on when nothing more will come.

A fact is seen by a query at its first report at or after the next step of its window.  So a
query goes on until the last fact of its streams has been seen; where another query makes
such a stream, it goes on as long as that one brings something.  A window by count moves with
its facts: what does not complete a step of it waits, as it always does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from livefacts.language.windows import TimeExtent, grid_point
from livefacts.service.registered.scheduled_query import Registration
from livefacts.service.registered.shared_worlds import SharedWorlds

NEVER = 1 << 63


class Ending:
    """What queries have still to report, when streams have ended at a time.

    `gaps` are the times at which streams were not made by their queries.
    """

    def __init__(self, worlds: SharedWorlds, gaps: Mapping[str, set[int]], now: int) -> None:
        self._worlds = worlds
        self._gaps = gaps
        self._now = now

    def due(self, query: Registration) -> int:
        """The next report that a query still owes; `NEVER` if it has made them all."""
        return NEVER if query.due is None or query.due > self.end(query) else query.due

    def end(self, query: Registration) -> int:
        """The report of a query that sees the last fact of its streams."""
        ends = [
            max(query.begins, grid_point(grid_point(last + back, step), query.every))
            for stream, back, step in self._read(query)
            if (last := self._last(stream)) is not None
        ]
        return max(ends, default=self._now)

    def _read(self, query: Registration) -> Iterator[tuple[str, int, int]]:
        """The streams that a query looks at, and how long they may wait for its windows."""
        for extent in query.windows:
            name = "" if extent.stream is None else extent.stream.value
            if isinstance(extent, TimeExtent):
                yield name, extent.newer, extent.step
            else:
                yield name, 0, 1
        for lane in self._worlds.log.lanes:
            name = self._worlds.name(lane)
            if lane >= 0 and query.reads(name):
                yield name, 0, 1

    def _last(self, stream: str) -> int | None:
        """When something came to a stream for the last time, as far as it is kept."""
        pushed, made = (self._worlds.log.lanes.get(lane) for lane in self._lanes(stream))
        until = [time for time in ([] if pushed is None else pushed.times) if time <= self._now]
        made_until = [] if made is None else made.times
        found = [*until[-1:], *made_until[-1:], *self._gaps.get(stream, ())]
        return max(found, default=None)

    def _lanes(self, stream: str) -> tuple[int, int]:
        lane = self._worlds.lane(stream)
        return lane, ~lane
