"""Message rows: what a micro-batch brings, whatever its source, in the order in which it happened.

A source has a column `value`, which is text or bytes, and says in further columns where a message
comes from and when it was written: Kafka in key, headers, topic, partition, offset and timestamp,
files in file, line and time.  A DataFrame of terms (s, p, o and g), or of a delta (op and fact),
is one of messages as well.  The order is that of times, then of places: it does not depend on how
Spark cuts and shuffles.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from livefacts.engine.spark.read.frame_columns import GRAPH, TERMS
from livefacts.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

VALUE, KEY, TOPIC, PARTITION, OFFSET, TIME = COLUMNS = (
    "value",
    "key",
    "topic",
    "partition",
    "offset",
    "time",
)
OTHER_NAMES = {TOPIC: "file", OFFSET: "line", TIME: "timestamp"}
"""What sources call the same thing."""
KINDS = {
    VALUE: "binary",
    KEY: "binary",
    TOPIC: "string",
    PARTITION: "int",
    OFFSET: "bigint",
    TIME: "timestamp",
}
HEADERS = "headers"
OP, FACT = "op", "fact"
TEXTS = ("string", "binary")
WANTED = (
    "a message is text or bytes in a column `value`; where it comes from may be in key, headers, "
    "topic, partition, offset and timestamp, or in file, line and time; else the columns are "
    "s, p, o and g, or op and fact"
)


def message_frame(frame: DataFrame) -> DataFrame:
    """The columns of messages, out of those that a source has; null where it has none."""
    if not frame.isStreaming:
        raise InputError(
            "this DataFrame has an end: it is no stream",
            hint="spark.readStream gives one that goes on; update(add=df) takes this one",
        )
    columns = [_column(frame, name) for name in COLUMNS]
    if HEADERS in frame.columns:
        columns.append(frame[HEADERS])
    return frame.select(*columns)


def _column(frame: DataFrame, name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    kinds = dict(frame.dtypes)
    if name == VALUE:
        return _value(frame, kinds).cast(KINDS[name]).alias(name)
    known = next((each for each in (name, OTHER_NAMES.get(name, "")) if each in kinds), None)
    if known is None:
        return F.lit(None).cast(KINDS[name]).alias(name)
    return F.col(f"`{known}`").cast(KINDS[name]).alias(name)


def _value(frame: DataFrame, kinds: dict[str, str]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if kinds.get(VALUE) in TEXTS:
        return F.col(VALUE)
    if {OP, FACT} <= kinds.keys():
        return F.concat_ws(" ", OP, FACT, F.lit("."))
    if set(TERMS) <= kinds.keys():
        named = [name for name in (OP, *TERMS, GRAPH) if name in kinds]
        return F.concat_ws(" ", *named, F.lit("."))
    has = ", ".join(f"{name} {kind}" for name, kind in kinds.items()) or "none"
    raise InputError(f"this is no DataFrame of messages: its columns are {has}", hint=WANTED)


class MessagePlace(NamedTuple):
    """Where a message stands: a topic and its partition, or a file; an offset, or a line."""

    topic: str | None
    partition: int | None
    offset: int | None

    def __str__(self) -> str:
        known = [
            str(part) for part in (self.topic, self.partition, self.offset) if part is not None
        ]
        return ":".join(known) or "a message"


class MessageRows:
    """The messages of one micro-batch, in the order of their times and places."""

    def __init__(self, table: pa.Table) -> None:
        """The rows of a `message_frame`, in any order."""
        keys = [TIME, TOPIC, PARTITION, OFFSET]
        known = [(name, "ascending") for name in keys if table[name].null_count < len(table)]
        if known and len(table) > 1:
            order = pc.sort_indices(table, sort_keys=known)
            table = table.take(order)
        self.table = table.combine_chunks()

    def __len__(self) -> int:
        return len(self.table)

    def values(self) -> pa.Array:
        """The messages as bytes."""
        return whole_column(self.table, VALUE).cast(pa.large_binary())

    def latest(self) -> float | None:
        """When the last message was written, in seconds since 1970; None if nobody says."""
        found = pc.max(self.table[TIME]).as_py()
        return None if found is None else float(found.timestamp())

    def place(self, number: int) -> MessagePlace:
        """Where a message stands."""
        return MessagePlace(*(self.cell(name, number) for name in (TOPIC, PARTITION, OFFSET)))

    def cell(self, column: str, number: int) -> Any:
        """What a column says of a message; None if the source does not say it."""
        return self.table[column][number].as_py()

    def name(self, number: int) -> str:
        """What no other message is called, whenever it comes again: its place, or else its text."""
        place = self.place(number)
        if place.offset is not None:
            return str(place)
        return hashlib.sha256(self.cell(VALUE, number) or b"").hexdigest()[:16]

    def scope(self, number: int) -> bytes:
        """The scope of blank nodes: that of the file in which a line stands, else the message's own."""
        place = self.place(number)
        is_of_file = place.topic is not None and place.partition is None
        name = str(place.topic) if is_of_file else self.name(number)
        return b"n" + hashlib.sha256(name.encode()).hexdigest()[:16].encode()


def whole_column(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece."""
    found = table[name].combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
