"""The shuffle: what tasks send to buckets, and what the task of each bucket makes of it.

Rows go from stage to stage through Spark's own shuffle, but not one by one: a task sends a
block for each bucket (`kb.buckets`), a large value in a binary column, and the partition with
the number of the bucket gets all of its blocks.  So Spark makes again what is lost with an
executor, and takes the results of one attempt of a task, whichever ends first.

The task of a bucket is given a head, a small value from the driver, beside the blocks.  What
sending tasks have to say to the driver goes through the shuffle as well, beside the blocks.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from livefacts.engine.spark.jobs.tasks import Tell, Unpack, spread, watched
from livefacts.kb.buckets import Blocks, contents, parcel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HEAD, REPORT = "head", "report"
PARCELS = "bucket int, kind string, origin long, block binary"
OUTPUTS = "is_report boolean, number long, output binary"
OUTPUT_COLUMNS = pa.schema(
    [("is_report", pa.bool_()), ("number", pa.int64()), ("output", pa.binary())]
)

Input = TypeVar("Input")
Head = TypeVar("Head")
Report = TypeVar("Report")
Output = TypeVar("Output")
Sending = Generator[pa.RecordBatch, None, Report]
"""A task that yields parcels, and returns what it has to say to the driver."""


@dataclass(frozen=True, slots=True)
class Exchanged(Generic[Report, Output]):
    """What the tasks that sent had to say, and what the task of each bucket gave, in order."""

    reports: list[Report]
    outputs: list[Output]


def exchange(
    session: SparkSession,
    send: Callable[[Input], Sending[Report]],
    inputs: Sequence[Input],
    receive: Callable[[Head, Blocks], Output],
    heads: Sequence[Head],
    title: str,
    on_progress: Tell = None,
) -> Exchanged[Report, Output]:
    """Two stages: a task for each input sends blocks, and a task for each head takes them in."""
    rows, unpack = spread(session, inputs)
    sent = rows.mapInArrow(partial(_send, send, unpack, len(heads)), PARCELS)
    tasks = len(inputs) + len(heads)
    with watched(session, title, tasks, on_progress):
        return received(session, sent, receive, heads)


def received(
    session: SparkSession,
    sent: DataFrame,
    receive: Callable[[Head, Blocks], Output],
    heads: Sequence[Head],
) -> Exchanged[Any, Output]:
    """What the task of each bucket gives, to which a DataFrame of parcels has blocks."""
    packed = [pickle.dumps(head) for head in heads]
    given = parcel(HEAD, 0, range(len(heads)), packed)
    together = sent.unionAll(session.createDataFrame(pa.Table.from_batches([given])))
    placed = together.repartitionById(len(heads), "bucket")
    reports, outputs = dict[int, Any](), dict[int, Output]()
    for row in placed.mapInArrow(partial(_receive, receive), OUTPUTS).collect():
        (reports if row.is_report else outputs)[row.number] = pickle.loads(row.output)
    assert len(outputs) == len(heads), "every bucket has a task"
    return Exchanged(*([each[n] for n in sorted(each)] for each in (reports, outputs)))


def _send(
    task: Callable[[Any], Sending[Any]],
    unpack: Unpack,
    buckets: int,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number, each in unpack(batch):
            report = yield from task(each)
            yield parcel(REPORT, number, [number % buckets], [pickle.dumps(report)])


def _receive(
    task: Callable[[Any, Blocks], Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    heads, sent = dict[int, Any](), dict[int, Blocks]()
    for batch in batches:
        for bucket, kind, origin, block in contents(batch):
            if kind == REPORT:
                yield _output(True, origin, block.to_pybytes())
            elif kind == HEAD:
                heads[bucket] = pickle.loads(block)
            else:
                sent.setdefault(bucket, Blocks()).put(kind, origin, block)
    for bucket, head in heads.items():
        result = task(head, sent.pop(bucket, Blocks()))
        yield _output(False, bucket, pickle.dumps(result))


def _output(is_report: bool, number: int, output: bytes) -> pa.RecordBatch:
    columns = [pa.array([is_report]), pa.array([number]), pa.array([output], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, schema=OUTPUT_COLUMNS)
