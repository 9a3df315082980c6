"""The keyed stream: groups of keys in the tasks of Spark, whose state Spark keeps.

Two stateful steps follow each other.  The first has the clock, in one task: it reads the rows of a
batch, and gives each fact to the group of its key, in order; every group is told how far time has
gone.  The second has a reasoner for each group.  What both know is a value that Spark commits with the
batch, so that a task, or a batch, that comes again does what was done before.

A reasoner that stands where Spark's value says is used again; the mark of that value says so.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from livefacts.errors import LivefactsError
from livefacts.service.micro_batches.batch_events import (
    ARRIVAL,
    RowReading,
    clock_of,
    events_of,
)
from livefacts.service.micro_batches.keyed_groups import (
    GlobalClock,
    KeyedGroup,
    KeyedProgram,
    KeyStep,
)
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.stream_files import Event

if TYPE_CHECKING:
    from livefacts.engine.spark.watch.answer_frames import Messages as DataFrame

STEPS = "part int, number long, steps binary"
ANSWERS = "time long, op string, fact string"
REJECTED, REJECTED_PART = "!", -1
MOST_HELD = 256
"""Reasoners that a process holds ready."""
STEPS_TOGETHER = 2_000


@dataclass(frozen=True)
class KeyedQuery:
    """A program by key, how rows are read, and how late facts may be."""

    keyed: KeyedProgram
    reading: RowReading
    event_time: tuple[tuple[str, Any], ...]


def answers_by_key(rows: DataFrame, query: KeyedQuery) -> DataFrame:
    """What comes and goes: time, op and fact; a row with the op "!" could not be read."""
    steps = rows.selectExpr("*", "0 as clock").groupBy("clock")
    made = steps.transformWithStateInPandas(ClockStep(query), STEPS, "append", "none")  # type: ignore[arg-type]
    groups = made.groupBy("part")
    return groups.transformWithStateInPandas(GroupReasoner(query), ANSWERS, "append", "none")  # type: ignore[arg-type]


class ClockStep:
    """The clock of all groups, as Spark calls it."""

    def __init__(self, query: KeyedQuery) -> None:
        self._query = query

    def init(self, handle: Any) -> None:
        """Spark gives the state."""
        self._saved = handle.getValueState("clock", "number long, value binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timer: Any) -> Iterator[Any]:  # noqa: N802
        """What the rows of a batch mean for each group."""
        import pandas as pd
        import pyarrow as pa

        query, given = self._query, dict(self._query.event_time)
        number, saved = self._saved.get() if self._saved.exists() else (0, None)
        clock = (
            GlobalClock(query.keyed, **given)
            if saved is None
            else GlobalClock.restored(query.keyed, saved, **given)
        )
        table = pa.concat_tables(
            [pa.Table.from_pandas(each, preserve_index=False) for each in rows]
        ).select(["value", "time", "lane", "offset", "arrival"])
        rejects = Rejects()
        arrived = clock_of(table, query.reading.tick) if query.reading.when == ARRIVAL else None
        if arrived is not None:
            clock.elapse(arrived)
        events = events_of(table, query.reading, rejects, number, clock.latest)
        steps = clock.take(_known(events, query.keyed, rejects))
        self._saved.update((number + 1, clock.saved()))
        found = [
            (group, at, pickle.dumps(made[at : at + STEPS_TOGETHER]))
            for group, made in steps.items()
            for at in range(0, len(made), STEPS_TOGETHER)
        ]
        found += [
            (REJECTED_PART, at, f"{each}: {each.text}".encode())
            for at, each in enumerate(rejects.kept)
        ]
        yield pd.DataFrame(found, columns=["part", "number", "steps"])

    def handleExpiredTimer(self, key: Any, timer: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        """Time goes on with the rows of batches alone."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def _known(events: Iterator[Event], keyed: KeyedProgram, rejects: Rejects) -> Iterator[Event]:
    """The events whose facts may be followed by key."""
    for event in events:
        try:
            for fact in event.facts:
                keyed.check(fact)
        except LivefactsError as error:
            facts = " ".join(map(str, event.facts))
            rejects.add(Reject(event.stream or "", 0, 0, error.message, facts))
            continue
        yield event


_HELD: OrderedDict[tuple[str, int], KeyedGroup] = OrderedDict()
"""The reasoners of this process, by the mark of the value at which each stands."""


class GroupReasoner:
    """The reasoner of a group, as Spark calls it."""

    def __init__(self, query: KeyedQuery) -> None:
        self._query = query

    def init(self, handle: Any) -> None:
        """Spark gives the state."""
        self._saved = handle.getValueState("group", "mark string, value binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timer: Any) -> Iterator[Any]:  # noqa: N802
        """What comes and goes of the keys of a group."""
        import pandas as pd

        (part,) = key
        told = sorted((row.number, row.steps) for table in rows for row in table.itertuples())
        if part == REJECTED_PART:
            texts = [bytes(text).decode() for _, text in told]
            yield pd.DataFrame({"time": 0, "op": REJECTED, "fact": texts})
            return
        group = self._group(int(part))
        steps: Sequence[KeyStep] = [
            step for _, packed in told for step in pickle.loads(bytes(packed))
        ]
        changes = group.take(steps)
        mark = uuid4().hex
        self._saved.update((mark, group.saved()))
        _hold(mark, int(part), group)
        yield pd.DataFrame(
            [(each.time, each.op, str(each.fact)) for each in changes],
            columns=["time", "op", "fact"],
        )

    def _group(self, part: int) -> KeyedGroup:
        if not self._saved.exists():
            return KeyedGroup(self._query.keyed, part)
        mark, value = self._saved.get()
        held = _HELD.pop((mark, part), None)
        return held or KeyedGroup(self._query.keyed, part, bytes(value))

    def handleExpiredTimer(self, key: Any, timer: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        """Time goes on with the rows of batches alone."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def _hold(mark: str, part: int, group: KeyedGroup) -> None:
    _HELD[(mark, part)] = group
    while len(_HELD) > MOST_HELD:
        _HELD.popitem(last=False)
