"""What tasks send to buckets arrives there, once, whatever its size."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from livefacts.engine.spark.jobs import tasks
from livefacts.engine.spark.jobs.shuffle import Sending, exchange
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.kb.buckets import Blocks, bucket_of, posted

NUMBERS = pa.schema([("n", pa.int64())])
ROWS, BUCKETS = 4000, 5


def send(numbers: range) -> Sending[int]:
    """Two parcels, the second of which is empty."""
    ids = np.array(numbers, np.int64) * 8
    yield posted("all", pa.table([ids], NUMBERS), ids, BUCKETS, numbers.start)
    yield posted("none", pa.table([ids[:0]], NUMBERS), ids[:0], BUCKETS)
    return len(numbers)


def receive(head: tuple[int, bytes], sent: Blocks) -> tuple[int, list[int], set[int]]:
    assert len(sent.rows("none", NUMBERS)) == 0
    return head[0], sorted(sent.rows("all", NUMBERS)["n"].to_pylist()), sent.origins("all")


@pytest.mark.parametrize("padding", [0, 100_000], ids=["small", "large"])
def test_each_bucket_gets_its_rows_and_reports_come_in_order(spark: Any, padding: int) -> None:
    """Inputs that are small, or large, which are spread in another way."""
    inputs = [range(start, start + ROWS // 4) for start in range(0, ROWS, ROWS // 4)]
    heads = [(number, bytes(padding)) for number in range(BUCKETS)]
    found = exchange(spark, send, inputs, receive, heads, "numbers")
    assert found.reports == [ROWS // 4] * 4
    assert [number for number, _, _ in found.outputs] == list(range(BUCKETS))
    ids = np.arange(ROWS, dtype=np.int64) * 8
    for number, rows, origins in found.outputs:
        assert rows == ids[bucket_of(ids, BUCKETS) == number].tolist()
        assert origins == {each.start for each in inputs}


def nothing(numbers: range) -> Sending[None]:
    yield from ()


def test_buckets_to_which_nothing_was_sent_have_their_tasks(spark: Any) -> None:
    heads = [(number, b"") for number in range(BUCKETS)]
    found = exchange(spark, nothing, [range(3)], receive, heads, "nothing")
    assert found.outputs == [(number, [], set()) for number in range(BUCKETS)]


def length(_: int, each: bytes) -> int:
    return len(each)


@pytest.mark.parametrize("most", [0, 1 << 20], ids=["as rows", "in the function"])
def test_results_are_in_the_order_of_their_inputs(
    spark: Any, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(tasks, "SMALL_BYTES", most)
    inputs = [bytes(n) for n in (5, 0, 3, 9, 1)]
    heard: list[tuple[int, int]] = []
    found = run_tasks(spark, partial(length, 0), inputs, "lengths", lambda *now: heard.append(now))
    assert found == [5, 0, 3, 9, 1]
    assert heard[-1] == (5, 5)
