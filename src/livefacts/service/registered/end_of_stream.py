"""The end of the streams: how far queries go on when nothing more will come.

A fact is seen by a query at its first report at or after the next step of its window.  So a
query goes on until the last fact of its streams has been seen; where another query makes
such a stream, it goes on as long as that one brings something.  A window by count moves with
its facts: what does not complete a step of it waits, as it always does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from livefacts.service.registered.moving_window import grid_point
from livefacts.service.registered.scheduled_query import Registration
from livefacts.service.streams.stream_log import StreamLog

NEVER = 1 << 63


class Ending:
    """What queries have still to report, when streams have ended at a time.

    `gaps` are the times at which streams were not made by their queries.
    """

    def __init__(
        self, logs: Mapping[str, StreamLog], gaps: Mapping[str, set[int]], now: int
    ) -> None:
        self._logs = logs
        self._gaps = gaps
        self._now = now

    def due(self, query: Registration) -> int:
        """The next report that a query still owes; `NEVER` if it has made them all."""
        return NEVER if query.due is None or query.due > self.end(query) else query.due

    def end(self, query: Registration) -> int:
        """The report of a query that sees the last fact of its streams."""
        ends = [
            max(query.begins, grid_point(grid_point(last, step), query.every))
            for stream, step in self._read(query)
            if (last := self._last(stream)) is not None
        ]
        return max(ends, default=self._now)

    def _read(self, query: Registration) -> Iterator[tuple[str, int]]:
        """The streams that a query looks at, and how long they may wait for its windows."""
        for extent in query.windows:
            yield extent.stream, 1 if extent.by_count else extent.step
        for stream, log in self._logs.items():
            if not log.is_made and query.reads(stream):
                yield stream, 1

    def _last(self, stream: str) -> int | None:
        """When something came to a stream for the last time, as far as it is kept."""
        log = self._logs[stream]
        kept = len(log.times) if log.is_made else bisect_right(log.times, self._now)
        return max([*log.times[:kept][-1:], *self._gaps.get(stream, ())], default=None)
