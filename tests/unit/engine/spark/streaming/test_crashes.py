"""A stream is cut off at any step, again and again: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from tests.unit.engine.spark.beside import facts_of, texts_of
from tests.unit.engine.spark.streaming.cut_operations import (
    TOLD,
    cut,
    draw_operations,
    shown,
    undisturbed,
    write_files,
)

from livefacts.spark import Pipeline

BATCHES, CRASHES = 9, 20


class Cut(Exception):  # noqa: N818
    """The driver has ended here."""


def cut_off_after(steps: int) -> Callable[[object], None]:
    """What raises at the n-th step of a stream."""
    left = [steps]

    def reached(_step: object) -> None:
        left[0] -= 1
        if not left[0]:
            raise Cut

    return reached


def prepared(spark: Any, folder: Path) -> None:
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    pipeline.ingest(folder / "told.nt")
    pipeline.materialize("rho-df")


def follow(spark: Any, folder: Path, steps: int) -> bool:
    """Follow the stream in a new pipeline, which is cut off after some steps; whether it got to the end."""
    pipeline = Pipeline(spark, folder / "kb")
    pipeline.base.reached = pipeline.on_batch = cut_off_after(steps)
    stream = spark.readStream.format("rdfpatch").option("maxFilesPerTrigger", 1)
    query = pipeline.stream(
        stream.load(str(folder / "in")), deltas=folder / "out", trigger={"availableNow": True}
    )
    with suppress(StreamingQueryException):
        query.awaitTermination()
    failure = query.exception()
    assert failure is None or "Cut" in str(failure)
    return failure is None


def check(spark: Any, folder: Path, batches: list[list[str]]) -> None:
    """Everything is as if nothing had happened."""
    pipeline = Pipeline(spark, folder / "kb")
    good = [[row for row in rows if row != "x"] for rows in batches]
    reasoner = undisturbed("rho-df", good)
    assert facts_of(pipeline) == texts_of(reasoner)
    assert [c.kind for c in pipeline.history()[2:]] == ["stream"] * len(batches)
    rejects = Counter(row.seq for row in pipeline.rejects().collect())
    assert rejects == {n: 1 for n, rows in enumerate(batches, 3) if "x" in rows}
    total = Counter[str]()
    for row in DeltaTable(folder / "out").to_pyarrow_table().to_pylist():
        total[row["fact"]] += 1 if row["op"] == "A" else -1
    assert set(total.values()) <= {-1, 0, 1}, "a delta is there twice"
    gone = {fact for fact, count in total.items() if count < 0}
    begun = shown(undisturbed("rho-df", []))
    assert (begun - gone) | {f for f, n in total.items() if n > 0} == shown(reasoner)


def test_a_stream_that_is_cut_off_at_any_step_ends_as_if_nothing_had_happened(
    spark: Any, tmp_path: Path
) -> None:
    pick = random.Random(23)
    batches = [[*rows, "x"] for rows in cut(pick, draw_operations(pick, 70), BATCHES)]
    prepared(spark, tmp_path)
    write_files(tmp_path / "in", batches)
    crashes = 0
    while not follow(spark, tmp_path, pick.randrange(1, 25)):
        crashes += 1
        assert crashes < 200
    check(spark, tmp_path, batches)
    assert crashes >= 3


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_the_same_with_other_streams(spark: Any, tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    batches = [[*rows, "x"] for rows in cut(pick, draw_operations(pick, 90), CRASHES)]
    prepared(spark, tmp_path)
    write_files(tmp_path / "in", batches)
    while not follow(spark, tmp_path, pick.randrange(1, 25)):
        pass
    check(spark, tmp_path, batches)
