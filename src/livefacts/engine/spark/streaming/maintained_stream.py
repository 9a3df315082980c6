"""A maintained knowledge base: a streaming query under which a knowledge base follows a stream of operations.

Each micro-batch is one change and one commit.  The commit notes the id of the query and the number
of the batch: Spark hands a batch over again when the process ended before Spark knew that it was
done, and such a replay changes nothing.  Messages that cannot be read are rejected in the same
commit.  If too many come in a row, that is no accident of a few messages: the stream pauses before
that batch, with nothing of it taken.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Written
from livefacts.engine.spark.read.asked_facts import AskedFacts
from livefacts.engine.spark.streaming.message_rows import KEY, TIME, MessageRows, message_frame
from livefacts.engine.spark.streaming.operations import (
    MessageFormat,
    Operations,
    check_format,
    read_operations,
)
from livefacts.errors import ConflictError, InputError, LivefactsError
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
STREAM, PAUSED = "stream", "stream paused"
PAUSE = 100
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
QUERY_ID = "sql.streaming.queryId"
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

    def __init__(self, base: KnowledgeBase, take: Take, options: StreamOptions) -> None:
        self._base = base
        self._take = take
        self._options = options

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """One micro-batch; Spark calls this, and again with the same batch after a failure."""
        query = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID) or ""
        found = self._writing(lambda start: self._replay(start, query, batch))
        if found:
            return
        messages = MessageRows(frame.toArrow())
        read = read_operations(messages, self._options.format)
        self._writing(lambda start: self._taken(start, query, batch, messages, read))

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


def start_stream(
    frame: DataFrame,
    taker: BatchTaker,
    name: str,
    checkpoint: str,
    trigger: Trigger | None,
) -> StreamingQuery:
    """Start the streaming query; the same call goes on where the last one stopped."""
    if not frame.isStreaming:
        raise InputError(
            "this DataFrame has an end: it is no stream",
            hint="spark.readStream gives one that goes on; update(add=df) takes this one",
        )
    writer = (
        message_frame(frame).writeStream.queryName(name).option("checkpointLocation", checkpoint)
    )
    if trigger is not None:
        writer = writer.trigger(**trigger)
    return writer.foreachBatch(taker).start()
