"""Batch events: the rows of a micro-batch as facts with times, in an order that no cut can change.

Rows of one partition, or of one file, are taken as they stand there; of several the one whose
message is the oldest comes first.  So what a row meets does not depend on which rows came with it,
as long as each partition is in order, or lateness covers the disorder between them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from livefacts.errors import InputError, OptionError
from livefacts.model.durations import SECOND, Duration
from livefacts.model.time_points import time_point
from livefacts.service.streams.playback import MOST_JOINED
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.json_map.fact_lines import JsonMap
from livefacts.syntax.json_map.mapping_text import read_map
from livefacts.syntax.stream_files import Event, mapped_events, read_events

if TYPE_CHECKING:
    import pyarrow as pa

    from livefacts.engine.spark.watch.answer_frames import Messages as DataFrame

VALUE = "value"
PLACES = (("topic", "partition", "offset"), ("file", "line"), ("partition", "offset"), ("offset",))
"""What sources call the place of a row, and the order within it."""
TIMES = ("timestamp", "time")
IN_VALUE, OF_ROW, ARRIVAL = WHEN = ("value", "row", "arrival")
FILE = "file"
CLOCK = "~clock"
"""The lane of rows that say nothing but that time goes on."""
MICROSECOND = 1_000
HINT = 'a column "value" with text; "timestamp", and "partition" and "offset", where there are any'


@dataclass(frozen=True, slots=True)
class RowReading:
    """How rows become events: by a map from JSON or as they say themselves, and when they happen."""

    json_map: JsonMap | None = None
    when: str = IN_VALUE
    tick: Duration | None = None

    @classmethod
    def of(cls, json_map: str | JsonMap | None, when: str, tick: Duration | None) -> RowReading:
        """What was asked for."""
        if when not in WHEN:
            raise OptionError(f"when is one of {', '.join(WHEN)}, not {when!r}")
        return cls(read_map(json_map) if isinstance(json_map, str) else json_map, when, tick)


def rows_of(frame: DataFrame) -> DataFrame:
    """The columns of a frame that matter here: what was said, when, and where it stands."""
    if VALUE not in frame.columns:
        raise InputError(
            f"a source has a column {VALUE!r}, and this one has {', '.join(frame.columns)}",
            hint=HINT,
        )
    time = next((name for name in TIMES if dict(frame.dtypes).get(name) == "timestamp"), None)
    place = next((names for names in PLACES if set(names) <= set(frame.columns)), ())
    *lane, offset = place or ("",)
    joined = ", ".join([*(["'file'"] if FILE in lane else []), *(f"`{name}`" for name in lane)])
    return frame.selectExpr(
        f"cast(`{VALUE}` as binary) as value",
        f"unix_micros(`{time}`) as time" if time else "cast(null as long) as time",
        f"concat_ws(':', {joined}) as lane" if lane else "'' as lane",
        f"cast(`{offset}` as long) as offset" if offset else "cast(null as long) as offset",
        # The time of a batch is in Spark's log: a batch that comes again has the same.
        "unix_micros(current_timestamp()) as arrival",
    )


def clock_of(table: pa.Table, tick: Duration | None) -> int | None:
    """The time point at which a batch has arrived; None if it has no rows."""
    if not len(table):
        return None
    arrival: int = table["arrival"][0].as_py()
    return arrival * MICROSECOND // (tick or SECOND).amount


@dataclass(frozen=True, slots=True)
class _Row:
    value: bytes | None
    time: int | None
    lane: str
    offset: int | None
    arrival: int

    @property
    def place(self) -> str:
        return self.lane if self.offset is None else f"{self.lane}:{self.offset}".strip(":")


def events_of(
    table: pa.Table, reading: RowReading, rejects: Rejects, batch: int, latest: int | None = None
) -> Iterator[Event]:
    """The events of a micro-batch, in order; neighbours that cannot be late are one event.

    `latest` is the latest time of all events before.
    """
    cells = zip(*(column.to_pylist() for column in table), strict=True)
    rows = [row for row in (_Row(*each) for each in cells) if row.lane != CLOCK]
    lanes = [list(lane) for _, lane in groupby(sorted(rows, key=_order), key=_lane)]
    if len(lanes) <= 1:
        rows = lanes[0] if lanes else []
        return joined(_read(rows, reading, rejects, batch), reading.tick, latest)
    each = [_read(lane, reading, rejects, batch) for lane in lanes]
    merged = heapq.merge(*each, key=lambda event: _point(event, reading.tick))
    return joined(merged, reading.tick, latest)


def _lane(row: _Row) -> str:
    """Files are read one after the other, in the order of their names."""
    return FILE if row.lane.startswith(f"{FILE}:") else row.lane


def _order(row: _Row) -> tuple[Any, ...]:
    """Where rows have no offset, they are in the order of their times, or of the frame."""
    return (row.lane, row.offset) if row.offset is not None else (row.lane, row.time or 0)


def _point(event: Event, tick: Duration | None) -> int:
    try:
        return time_point(event.time, tick)
    except InputError:
        return 0


def _read(rows: list[_Row], reading: RowReading, rejects: Rejects, batch: int) -> Iterator[Event]:
    if reading.json_map is None and reading.when == IN_VALUE:
        text = b"\n".join(row.value or b"" for row in rows)
        yield from read_events(text, _Renamed(rows, rejects))
        return
    length = (reading.tick or SECOND).amount
    for number, row in enumerate(rows):
        untimed = None
        if reading.when != IN_VALUE:
            time = row.arrival if reading.when == ARRIVAL else row.time
            if time is None:
                rejects.add(_reject(row, "this row has no time"))
                continue
            untimed = time * MICROSECOND // length
        for event in _read_row(row, f"{batch}:{row.place or number}", untimed, reading, rejects):
            yield event if untimed is None else replace(event, time=untimed)


def _read_row(
    row: _Row, name: str, untimed: int | None, reading: RowReading, rejects: Rejects
) -> Iterable[Event]:
    if reading.json_map is None:
        return read_events(row.value or b"", _Renamed([row], rejects), untimed=untimed)
    try:
        return mapped_events(reading.json_map, row.value or b"", name, untimed)
    except InputError as error:
        rejects.add(_reject(row, error.message))
        return []


def _reject(row: _Row, reason: str) -> Reject:
    text = (row.value or b"").decode(errors="backslashreplace")
    return Reject(row.place, 0, 0, reason, text)


class _Renamed(Rejects):
    """Rejects that name the rows in which lines stand."""

    def __init__(self, rows: list[_Row], kept: Rejects) -> None:
        super().__init__()
        self._rows, self._kept = rows, kept

    def add(self, reject: Reject) -> None:
        is_known = len(self._rows) == 1 or 0 < reject.line <= len(self._rows)
        row = self._rows[0 if len(self._rows) == 1 else reject.line - 1] if is_known else None
        self._kept.add(reject if row is None or not row.place else replace(reject, file=row.place))


def joined(
    events: Iterable[Event], tick: Duration | None, latest: int | None = None
) -> Iterator[Event]:
    """Neighbours of one time as one event, unless something later came before: then each fact counts
    by itself, at once, and what it changes must not depend on who came with it."""
    held: list[Event] = []
    size = 0
    for event in events:
        point = _point(event, tick)
        is_late = latest is not None and point < latest
        latest = point if latest is None else max(point, latest)
        if held and (is_late or not _goes_with(held[-1], event) or size >= MOST_JOINED):
            yield _as_one(held)
            held, size = [], 0
        if is_late:
            for fact in event.facts:
                yield replace(event, facts=(fact,))
            continue
        held.append(event)
        size += len(event.facts)
    if held:
        yield _as_one(held)


def _goes_with(last: Event, event: Event) -> bool:
    return (last.time, last.stream, last.retracts) == (event.time, event.stream, event.retracts)


def _as_one(events: list[Event]) -> Event:
    if len(events) == 1:
        return events[0]
    return replace(events[0], facts=tuple(fact for event in events for fact in event.facts))
