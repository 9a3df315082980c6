"""A maintained knowledge base: a streaming query under which a knowledge base follows a stream of operations.

Each micro-batch is one change and one commit.  The commit notes the id of the query and the number
of the batch: Spark hands a batch over again when the process ended before Spark knew that it was
done, and such a replay changes nothing.  Messages that cannot be read are rejected in the same
commit.  If too many come in a row, that is no accident of a few messages: the stream pauses before
that batch, with nothing of it taken.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Written
from livefacts.engine.spark.read.asked_facts import AskedFacts
from livefacts.engine.spark.streaming.batch_figures import OnBatch, StreamFigures, note_figures
from livefacts.engine.spark.streaming.delta_output import DeltaOutput
from livefacts.engine.spark.streaming.message_rows import KEY, TIME, MessageRows, message_frame
from livefacts.engine.spark.streaming.operations import (
    MessageFormat,
    Operations,
    check_format,
    read_operations,
)
from livefacts.errors import ConflictError, InputError, LivefactsError
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    REJECTED_MESSAGES,
    SCHEMAS,
    STREAMS,
    Commit,
    KnowledgeBase,
    Write,
    write_file,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

CHECKPOINTS = "_streams"
"""The folder of a knowledge base in which streams note how far they have come."""
STREAM = "stream"
PAUSE = 100
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
QUERY_ID = "sql.streaming.queryId"
MEASURED_EVERY = 100
"""Batches between looks at the size of the tables."""
CHANGED = ("asserted", "retracted", "added", "removed")
TURNS, BETWEEN_TURNS = 600, 0.1
"""How often, and after how many seconds, a batch asks again while someone else is writing."""

Trigger = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a stream is called, how its messages are read, and when it gives up."""

    name: str
    format: MessageFormat
    pause: int | None

    def __post_init__(self) -> None:
        check_format(self.format)
        if not NAME.fullmatch(self.name):
            raise InputError(
                f"a stream cannot be called {self.name!r}",
                hint="letters, digits, dots and hyphens: its checkpoint is a folder of that name",
            )
        if self.pause is not None and self.pause < 1:
            raise InputError(f"pause={self.pause} is no number of messages", hint="None: never")


Take = Callable[[Commit, AskedFacts, Written, str], JobReport]
"""Makes a change from a commit on, with what is written beside it, under the name of a batch."""


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """How far a stream has come: its query, the last batch, and rejected messages in a row since."""

    query: str = ""
    batch: int = -1
    rejected: int = 0

    @classmethod
    def at(cls, commit: Commit, name: str) -> StreamPosition:
        """The position that a commit notes."""
        return cls(**commit.notes.get(STREAMS, {}).get(name, {}))

    def note(self, commit: Commit, name: str) -> dict[str, Any]:
        """What the next commit notes in its place."""
        found = {"query": self.query, "batch": self.batch, "rejected": self.rejected}
        return {STREAMS: {**commit.notes.get(STREAMS, {}), name: found}}


class BatchTaker:
    """Takes the micro-batches of one stream."""

    def __init__(
        self,
        base: KnowledgeBase,
        take: Take,
        options: StreamOptions,
        deltas: DeltaOutput | None,
        on_batch: OnBatch | None,
    ) -> None:
        self._base = base
        self._take = take
        self._options = options
        self._deltas = deltas
        self._on_batch = on_batch
        self._size = 0

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """One micro-batch; Spark calls this, and again with the same batch after a failure."""
        query = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID) or ""
        begun = time.perf_counter()
        if self._replay(self._base.last(), query, batch):
            self._write_deltas()
            return
        messages = MessageRows(frame.toArrow())
        read = read_operations(messages, self._options.format)
        reading = time.perf_counter()
        report = self._writing(lambda start: self._taken(start, query, batch, messages, read))
        changing = time.perf_counter()
        self._write_deltas()
        if report is not None:
            now = time.perf_counter()
            spent = reading - begun, changing - reading, now - changing
            self._tell(batch, messages, read, report, spent)

    def _write_deltas(self) -> None:
        if self._deltas is not None:
            self._deltas.catch_up()

    def _tell(
        self,
        batch: int,
        messages: MessageRows,
        read: Operations,
        report: JobReport,
        spent: tuple[float, float, float],
    ) -> None:
        if not self._size or batch % MEASURED_EVERY == 0:
            self._size = self._base.size()
        changed = {name: report.figures.get(name, 0) for name in CHANGED}
        # The clock is for people: nothing is ever derived from it.
        latest = messages.latest()
        late = None if latest is None else max(0.0, time.time() - latest)
        figures = StreamFigures(
            stream=self._options.name,
            batch=batch,
            seq=report.seq,
            rows=len(messages),
            facts=read.count,
            rejected=len(read.rejected),
            **changed,
            reading=spent[0],
            changing=spent[1],
            writing=spent[2],
            late=late,
            state_bytes=self._size,
        )
        note_figures(self._base.path / CHECKPOINTS, figures)
        if self._on_batch is not None:
            self._on_batch(figures)

    def _writing(self, act: Callable[[Commit], Any]) -> Any:
        """Do something as the only writer, when nobody else is."""
        wait = threading.Event().wait
        for turn in range(TURNS):
            try:
                with self._base.writing() as start:
                    return act(start)
            except ConflictError:
                if turn == TURNS - 1:
                    raise
            wait(BETWEEN_TURNS)
        return None

    def _replay(self, start: Commit, query: str, batch: int) -> bool:
        known = StreamPosition.at(start, self._options.name)
        return known.query == query and batch <= known.batch

    def _taken(
        self, start: Commit, query: str, batch: int, messages: MessageRows, read: Operations
    ) -> JobReport | None:
        if self._replay(start, query, batch):
            return None
        name = self._options.name
        in_a_row = self._rejected_in_a_row(start, messages, read)
        position = StreamPosition(query, batch, in_a_row)
        beside = Written(self._rejects(start, messages, read), 0, position.note(start, name))
        return self._take(start, read.asked, beside, f"{STREAM} {name} {query} {batch}")

    def _rejected_in_a_row(self, start: Commit, messages: MessageRows, read: Operations) -> int:
        """How many messages at the end were rejected; too many anywhere pause the stream."""
        known = StreamPosition.at(start, self._options.name)
        found, last = known.rejected, -1
        for each in read.rejected:
            found = found + 1 if each.number == last + 1 else 1
            last = each.number
            if self._options.pause is not None and found >= self._options.pause:
                self._pause(start, f"{found} messages in a row could not be read, the last: {each}")
        return found if last == len(messages) - 1 else 0

    def _pause(self, start: Commit, reason: str) -> None:
        name = self._options.name
        raise LivefactsError(
            f"the stream {name} of {self._base.path} is paused: {reason}",
            hint="nothing of this batch was taken: mend what writes the messages, or the format= "
            "by which they are read; pause=None rejects them all and goes on",
        )

    def _rejects(self, start: Commit, messages: MessageRows, read: Operations) -> dict[str, Write]:
        if not read.rejected:
            return {}
        rows = [
            {
                "seq": start.seq + 1,
                "stream": self._options.name,
                **each.place._asdict(),
                "time": messages.cell(TIME, each.number),
                "key": _shown(messages.cell(KEY, each.number)),
                "reason": each.reason,
                "text": each.text,
            }
            for each in read.rejected
        ]
        table = pa.Table.from_pylist(rows, SCHEMAS[REJECTED_MESSAGES])
        folder = self._base.path / REJECTED_MESSAGES
        return {REJECTED_MESSAGES: Write((write_file(folder, table),))}


def _shown(key: bytes | None) -> str | None:
    return None if key is None else key.decode(errors="backslashreplace")


def check_checkpoint(commit: Commit, name: str, checkpoint: StorePath) -> None:
    """Refuse a checkpoint that does not go with what the knowledge base has of the stream."""
    known = StreamPosition.at(commit, name)
    query, done = _query_of(checkpoint), _last_batch_of(checkpoint)
    if known.query and query != known.query:
        what = "is gone" if query is None else "belongs to another query"
        raise LivefactsError(
            f"the checkpoint of the stream {name} in {checkpoint} {what}",
            hint=f"the knowledge base has its batches up to {known.batch}: put the folder back, or "
            "give the stream another name= to read its source from where that begins",
        )
    if done > known.batch:
        raise LivefactsError(
            f"the stream {name} has got to batch {done} by its checkpoint {checkpoint}, and to "
            f"{known.batch if known.query else 'none'} in this knowledge base",
            hint="what lies between would be lost: put back folders that belong together, or "
            "give the stream another name= to read its source from where that begins",
        )


def _query_of(checkpoint: StorePath) -> str | None:
    try:
        return str(json.loads((checkpoint / "metadata").read())["id"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError) as error:
        raise LivefactsError(
            f"{checkpoint / 'metadata'} is not as Spark wrote it", hint="put it back from a backup"
        ) from error


def _last_batch_of(checkpoint: StorePath) -> int:
    """The last batch that Spark knows to be done; -1 if there is none."""
    names = (checkpoint / "commits").list()
    return max((int(name) for name in names if name.isdigit()), default=-1)


def start_stream(
    frame: DataFrame, taker: BatchTaker, name: str, checkpoint: str, trigger: Trigger | None
) -> StreamingQuery:
    """Start the streaming query; the same call goes on where the last one stopped."""
    columns = message_frame(frame)
    writer = columns.writeStream.queryName(name).option("checkpointLocation", checkpoint)
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.foreachBatch(taker).start()
