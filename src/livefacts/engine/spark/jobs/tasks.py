"""Tasks: a function of ours over a list of inputs, one task an input, as a DataFrame.

Inputs and results are pickled values in a binary column, so that nothing but DataFrames is
needed, which a session of Spark Connect has as well.
"""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

PARTITIONS, CHOSEN = "spark.sql.shuffle.partitions", "spark.livefacts.partitions"
"""How many parts Spark shuffles into; and whether that is for us to say."""
SECONDS_BETWEEN_LOOKS = 1.0
SMALL_BYTES = 1 << 20
"""Inputs that are smaller, all together, are sent along with the function."""
BYTES_PER_PART = 32 << 20
"""Of data files; rows of them are three times as large."""
MOST_CORES = 1 << 16
RESULT = "number int, output binary"

Input = TypeVar("Input")
Output = TypeVar("Output")
Unpack = Callable[[pa.RecordBatch], Iterator[tuple[int, Any]]]
Tell = Callable[[int, int], None] | None
"""Hears now and then how many tasks are done, and how many there are."""


def run_tasks(
    session: SparkSession,
    task: Callable[[Input], Output],
    inputs: Sequence[Input],
    title: str,
    on_progress: Tell = None,
) -> list[Output]:
    """What a task makes of each input, one task an input; results come in order."""
    if not inputs:
        return []
    rows, unpack = spread(session, inputs)
    with watched(session, title, len(inputs), on_progress):
        found = rows.mapInArrow(partial(_run, task, unpack), RESULT).collect()
    return [pickle.loads(row.output) for row in sorted(found, key=lambda row: row.number)]


def _run(
    task: Callable[[Any], Any], unpack: Unpack, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number, each in unpack(batch):
            yield pa.record_batch(
                [pa.array([number], pa.int32()), pa.array([pickle.dumps(task(each))], pa.binary())],
                names=["number", "output"],
            )


def spread(session: SparkSession, inputs: Sequence[Any]) -> tuple[DataFrame, Unpack]:
    """Inputs by number, each in a partition of its own, and how a task finds its own."""
    packed = [pickle.dumps(each) for each in inputs]
    count = len(packed)
    if sum(map(len, packed)) < SMALL_BYTES:
        return session.range(0, count, 1, count), partial(_chosen, packed)
    columns = [pa.array(np.arange(count, dtype=np.int32)), pa.array(packed, pa.binary())]
    rows = session.createDataFrame(pa.table(columns, names=["number", "input"]))
    return rows.repartitionById(count, "number"), _unpacked


def _chosen(packed: Sequence[bytes], batch: pa.RecordBatch) -> Iterator[tuple[int, Any]]:
    for number in batch.column(0).to_pylist():
        yield number, pickle.loads(packed[number])


def _unpacked(batch: pa.RecordBatch) -> Iterator[tuple[int, Any]]:
    for number, each in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        yield number, pickle.loads(each)


# how a job goes on


def context_of(session: SparkSession) -> SparkContext | None:
    """What runs the jobs of a session; a session of Spark Connect has none."""
    return getattr(session, "sparkContext", None)


def cores_of(session: SparkSession) -> int:
    """How many tasks the executors of a session run at the same time."""
    context = context_of(session)
    if context is not None:
        return context.defaultParallelism
    # A range is cut into as many parts.
    from pyspark.sql import functions as F  # noqa: N812

    parts = session.range(0, MOST_CORES).select(F.spark_partition_id().alias("part"))
    return 1 + int(parts.agg(F.max("part")).collect()[0][0])


def fit_partitions(session: SparkSession, size: int) -> None:
    """Have Spark shuffle so many bytes into parts that fit tasks, if that is for us to say."""
    if session.conf.get(CHOSEN, None) is not None:
        parts = max(2, 2 * cores_of(session), size // BYTES_PER_PART)
        session.conf.set(PARTITIONS, str(parts))


@contextmanager
def watched(session: SparkSession, title: str, tasks: int, tell: Tell) -> Iterator[None]:
    """Give the jobs that are run inside a title, and report how many of their tasks are done."""
    context = context_of(session)
    if context is None:
        yield
    else:
        group = uuid.uuid4().hex
        context.setJobGroup(group, title)
        try:
            with _looked_at(context, group, tasks, tell):
                yield
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
            context.setJobDescription(None)  # type: ignore[arg-type]
    if tell is not None:
        tell(tasks, tasks)


@contextmanager
def _looked_at(context: SparkContext, group: str, tasks: int, tell: Tell) -> Iterator[None]:
    if tell is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(SECONDS_BETWEEN_LOOKS):
            tell(min(_done(context, group), tasks), tasks)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _done(context: SparkContext, group: str) -> int:
    """How many tasks of a group of jobs are done."""
    status = context.statusTracker()
    jobs = [status.getJobInfo(job) for job in status.getJobIdsForGroup(group)]
    numbers = {number for job in jobs if job for number in job.stageIds}
    stages = [status.getStageInfo(number) for number in numbers]
    return sum(stage.numCompletedTasks for stage in stages if stage)
