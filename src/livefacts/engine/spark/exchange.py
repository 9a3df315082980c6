"""Exchange between stages: files in which each bucket's rows are a record batch of their own.

A task writes one file; a task of the next stage reads its bucket out of every file.  Each
file has a name of its own, and only files named in task results are read, so a task that
runs twice does no harm.  The folder has to be on a file system that all executors see.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.store.hashrows import order_by_bucket
from livefacts.store.xxhash import KIND_BITS, HashIds

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

SPREAD = np.uint64(0x9E3779B97F4A7C15)
SPREAD_SHIFT = np.uint64(40)
SECONDS_BETWEEN_LOOKS = 1.0

Input = TypeVar("Input")
Output = TypeVar("Output")


def run_tasks(
    session: SparkSession,
    task: Callable[[Input], Output],
    inputs: Sequence[Input],
    title: str,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Output]:
    """What a task makes of each input, one task an input; results come in order.

    `on_progress` hears now and then how many tasks are done, and how many there are.
    """
    if not inputs:
        return []
    context = session.sparkContext
    group = uuid.uuid4().hex
    context.setJobGroup(group, title)
    try:
        with _watched(context, group, len(inputs), on_progress):
            return context.parallelize(inputs, len(inputs)).map(task).collect()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        context.setJobDescription(None)  # type: ignore[arg-type]


@contextmanager
def _watched(
    context: SparkContext, group: str, tasks: int, tell: Callable[[int, int], None] | None
) -> Iterator[None]:
    """Tell how many tasks are done, every now and then while they run, and at the end."""
    if tell is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(SECONDS_BETWEEN_LOOKS):
            tell(_done(context, group), tasks)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    tell(tasks, tasks)


def _done(context: SparkContext, group: str) -> int:
    """How many tasks of a group of jobs are done."""
    status = context.statusTracker()
    jobs = [status.getJobInfo(job) for job in status.getJobIdsForGroup(group)]
    stages = [status.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage)


def bucket_of(ids: HashIds, buckets: int) -> NDArray[np.int64]:
    """The bucket that each id belongs to.

    >>> bucket_of(np.array([8, 16, 24]), 1).tolist()
    [0, 0, 0]
    """
    mixed = (ids >> KIND_BITS).view(np.uint64) * SPREAD >> SPREAD_SHIFT
    return (mixed % np.uint64(buckets)).astype(np.int64)


def write_buckets(folder: Path, table: pa.Table, keys: HashIds, buckets: int) -> str:
    """Write rows so that those of a bucket are found together; the name of the file."""
    order, ends = order_by_bucket(bucket_of(keys, buckets).astype(np.uint16), buckets)
    ordered = table.take(pa.array(order)).combine_chunks()
    name = str(folder / f"{uuid.uuid4().hex}.arrow")
    start = 0
    with pa.OSFile(name, "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        for end in ends.tolist():
            writer.write_batch(_one_batch(ordered.slice(start, end - start)))
            start = end
    return name


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.to_batches()
    if len(batches) == 1:
        return batches[0]
    assert not batches or len(table) == 0, "rows that were combined are one batch"
    return pa.RecordBatch.from_pylist([], schema=table.schema)


def read_bucket(files: Iterable[str], bucket: int, schema: pa.Schema) -> pa.Table:
    """The rows of one bucket in all of these files."""
    batches = [pa.ipc.open_file(pa.memory_map(name)).get_batch(bucket) for name in files]
    return pa.Table.from_batches(batches, schema=schema)


def as_columns(rows: HashIds, names: str) -> dict[str, Any]:
    """The columns of rows by name, each contiguous."""
    return {name: np.ascontiguousarray(rows[:, at]) for at, name in enumerate(names)}
