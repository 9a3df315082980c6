"""The frame source: a DataFrame of s, p, o (and g) as one more thing that reading tasks read.

Its partitions are read where they are; the driver hears how many rows there were, and which
were rejected.  A DataFrame has no name by which it would be known again: one that was cut off
goes on after its last finished stage if it has a batch, which says that the data are the same.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from livefacts.engine.spark.jobs.shuffle import PARCELS, REPORT, received
from livefacts.engine.spark.jobs.stage_report import Stage
from livefacts.engine.spark.jobs.tasks import watched
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.bucket_intake import Read, ReadJob, SettledBucket, read_and_send
from livefacts.engine.spark.read.frame_columns import GRAPH, ORIGIN, TERMS
from livefacts.engine.spark.read.row_statements import FRAME, RowStatements
from livefacts.engine.spark.read.split_reader import MOST_KEPT, FactPiece, encoded_pieces
from livefacts.engine.spark.read.splits import BYTES_PER_SPLIT, Split
from livefacts.errors import InputError, LivefactsError
from livefacts.kb.bucket_stages import Bucket
from livefacts.kb.buckets import Blocks, parcel
from livefacts.kb.term_encoding import Encoding
from livefacts.syntax.input.rejects import Rejects

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from typing_extensions import TypeIs

COLUMNS_HINT = (
    'columns are "s", "p", "o" and, for named graphs, "g", of N-Triples text: '
    'df.selectExpr("subject AS s", ...) names them'
)
VALUES_HINT = 'values are N-Triples text: <http://example.org/a>, _:b, "text"'
PACKED = 4
"""Files that Spark reads are packed; their text is about this many times as large."""


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A DataFrame whose rows are read by tasks; `scope` is that of its blank nodes."""

    frame: DataFrame
    scope: bytes
    batch: str = ""

    def key(self) -> list[Any]:
        """What it is known by when the same is read again."""
        names = self.frame.columns
        return ["frame", self.batch or uuid.uuid4().hex, self.scope.hex(), sorted(names)]

    def exchange(
        self,
        work: Work,
        stage: Stage,
        job: ReadJob,
        receive: Callable[[Bucket, Blocks], SettledBucket],
        buckets: Sequence[Bucket],
    ) -> Callable[[], list[Read | SettledBucket]]:
        """The tasks that read it, and those that receive what was read, ready to run."""
        told = work.stages.progress(stage)

        def run() -> list[Read | SettledBucket]:
            rows = whole_columns(self.frame)
            sent = rows.mapInArrow(partial(send_partition, job, self.scope), PARCELS)
            with watched(work.session, stage.name, len(buckets), told):
                found = received(work.session, sent, receive, buckets)
            return [*found.reports, *found.outputs]

        return run


class FrameReading:
    """The rows of one partition on their way into buckets."""

    def __init__(self, scope: bytes, encoding: Encoding, batches: Iterable[pa.RecordBatch]) -> None:
        # A DataFrame is no file: it has no size, and no end where it would be cut.
        self.split = Split(FRAME, scope, None, 0, 0)
        self.rejects = Rejects(most=MOST_KEPT)
        self.failure = ""
        self._encoding = encoding
        self._statements = RowStatements(batches, scope, self.rejects)

    @property
    def lines(self) -> int:
        """How many rows there were."""
        return self._statements.rows

    def pieces(self) -> Iterator[FactPiece]:
        """The facts of the rows."""
        return encoded_pieces(self._statements.read, self._encoding)


def send_partition(
    job: ReadJob, scope: bytes, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Read and encode the rows of a task, and send them and a report to their buckets."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "rows are read in a task"
    number = context.partitionId()
    read = yield from read_and_send(job, FrameReading(scope, job.encoding, batches), 0)
    yield parcel(REPORT, number, [number % job.buckets], [pickle.dumps(read)])


def is_frame(value: object) -> TypeIs[DataFrame]:
    """Whether someone gave a DataFrame of Spark."""
    from pyspark.sql import DataFrame

    return isinstance(value, DataFrame)


def check_frame(frame: DataFrame, session: SparkSession) -> None:
    """Refuse a DataFrame that cannot be read, before anything is read."""
    if frame.isStreaming:
        raise InputError(
            "a streaming DataFrame has no end, and a change has one",
            hint="writeStream.foreachBatch hands on one DataFrame after the other, with a number "
            "that can be its batch",
        )
    if not _is_of(frame, session):
        raise LivefactsError(
            "the DataFrame belongs to another Spark session than the pipeline",
            hint="make both with one session: Pipeline(df.sparkSession, ...)",
        )
    _check_columns(frame)


def _is_of(frame: DataFrame, session: SparkSession) -> bool:
    theirs = frame.sparkSession
    if theirs is session:
        return True
    # One session of Java may have several faces in Python.
    java = [getattr(each, "_jsparkSession", None) for each in (theirs, session)]
    return None not in java and bool(java[0].equals(java[1]))  # type: ignore[union-attr]


def _check_columns(frame: DataFrame) -> None:
    from pyspark.sql.types import StringType

    names = frame.columns
    missing = [name for name in TERMS if name not in names]
    others = [name for name in names if name not in (*TERMS, GRAPH, *ORIGIN)]
    twice = [name for name in names if names.count(name) > 1]
    for wrong, what in ((missing, "no column"), (others, "a column"), (twice, "more than one")):
        if wrong:
            has = ", ".join(names) or "none"
            raise InputError(
                f"the DataFrame has {what} {wrong[0]!r}; its columns are {has}", hint=COLUMNS_HINT
            )
    for field in frame.schema.fields:
        if field.name in (*TERMS, GRAPH) and not isinstance(field.dataType, StringType):
            kind = field.dataType.simpleString()
            raise InputError(
                f"column {field.name!r} of the DataFrame is {kind}, not text", hint=COLUMNS_HINT
            )


def size_of(frame: DataFrame) -> int:
    """About how many bytes of text a DataFrame has, as far as Spark can tell; 0 if it cannot."""
    plan = getattr(frame, "_jdf", None)
    if plan is None:
        return 0
    execution = plan.queryExecution()
    told = int(str(execution.optimizedPlan().stats().sizeInBytes())) * PACKED
    parts = execution.executedPlan().outputPartitioning().numPartitions()
    # Of a source that does not say how large it is, Spark believes that it is huge.
    return int(min(told, max(1, parts) * BYTES_PER_SPLIT))


def whole_columns(frame: DataFrame) -> DataFrame:
    """The same with a column for graphs, null where it has none."""
    from pyspark.sql import functions as F  # noqa: N812

    named = [name for name in (*TERMS, GRAPH, *ORIGIN) if name in frame.columns]
    found = frame.select(*(F.col(f"`{name}`") for name in named))
    return found if GRAPH in named else found.withColumn(GRAPH, F.lit(None).cast("string"))


def has_more(frame: DataFrame, rows: int) -> bool:
    """Whether a DataFrame has more rows than so many; no more of them are counted."""
    return frame.limit(rows + 1).count() > rows


def table_of_frame(frame: DataFrame, session: SparkSession) -> pa.Table:
    """All rows of a DataFrame in the driver, for a change that is made there."""
    check_frame(frame, session)
    return whole_columns(frame).toArrow()
