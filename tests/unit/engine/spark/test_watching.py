"""Continuous patterns on Spark tell the same changes as those in one process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.properties.patterns import EX, random_messages

from livefacts import ContinuousQuery, InputError, QueryError
from livefacts.spark import watch

STAR = f"SELECT ?x {{ ?x <{EX}p0> <{EX}n0> . ?x <{EX}p1> <{EX}n1> }}"
PATH = f"SELECT ?x ?z {{ ?x <{EX}p0> ?y . ?y <{EX}p1> ?z }}"
LOOSE = f"SELECT DISTINCT ?x {{ ?x <{EX}p0> <{EX}n0> . ?y <{EX}p1> <{EX}n1> }}"
BATCHES, SIZE = 3, 40
SCHEMA = "t long, op string, s string, p string, o string"
Row = tuple[Any, ...]
Change = tuple[str, ...]


def told(query: str) -> list[Row]:
    """Messages about the patterns of a query, some repeated, some about nothing."""
    group = query[query.index("{") + 1 : query.index("}")]
    patterns = [tuple(pattern.split()) for pattern in group.split(" . ")]
    rng = random.Random(3)
    messages = random_messages(rng, patterns, BATCHES * SIZE)  # type: ignore[arg-type]
    return [(t, op, *map(str, triple)) for t, (op, triple) in enumerate(messages)]


def expected(query: str, batches: Sequence[Sequence[Row]]) -> list[Counter[Change]]:
    standing = ContinuousQuery(query)
    signs = {"ins": "A", "del": "D"}
    found = []
    for batch in batches:
        patch = "\n".join(f"{signs[op]} {s} {p} {o} ." for _, op, s, p, o in batch)
        changes = standing.feed(messages=patch)
        found.append(Counter((c.op, *map(str, c.row), str(c.count)) for c in changes))
    return found


def streamed(spark: Any, query: str, batches: Sequence[Sequence[Row]], folder: Path) -> list[Any]:
    """The changes of each batch, which comes as a file of its own."""
    source = folder / "messages"
    source.mkdir()
    found: list[Any] = []
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(source))
    for number, batch in enumerate(batches):
        written = spark.createDataFrame(list(batch), SCHEMA).toPandas()
        written.to_json(source / f"{number}.json", orient="records", lines=True)
        running = (
            watch(stream, query)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .foreachBatch(lambda changes, _: found.append(rows_of(changes)))
            .trigger(availableNow=True)
            .start()
        )
        assert running.awaitTermination(240)
    return found


def rows_of(changes: Any) -> Counter[Change]:
    return Counter(tuple(map(str, row)) for row in changes.collect())


@pytest.mark.parametrize("query", [STAR, PATH, LOOSE], ids=["star", "path", "loose"])
def test_a_table_of_messages_tells_what_one_batch_would(spark: Any, query: str) -> None:
    messages = told(query)
    (wanted,) = expected(query, [messages])
    assert rows_of(watch(spark.createDataFrame(messages, SCHEMA), query)) == wanted
    assert wanted


@pytest.mark.parametrize("query", [STAR, PATH], ids=["star by centre", "path by a keeper"])
def test_a_stream_tells_batch_by_batch_what_one_process_does(
    spark: Any, query: str, tmp_path: Path
) -> None:
    messages = told(query)
    batches = [messages[at : at + SIZE] for at in range(0, len(messages), SIZE)]
    wanted = expected(query, batches)
    assert streamed(spark, query, batches, tmp_path) == wanted
    assert any(change[0] == "-" for batch in wanted for change in batch)


def test_what_cannot_be_followed_is_refused_before_anything_runs(spark: Any) -> None:
    messages = spark.createDataFrame([], SCHEMA)
    with pytest.raises(QueryError, match="only triple patterns"):
        watch(messages, "SELECT ?x { ?x <e:p> ?y FILTER(?y > 3) }")
    with pytest.raises(QueryError, match="second column count"):
        watch(messages, "SELECT ?count { ?count <e:p> ?y }")
    with pytest.raises(InputError, match="no column t"):
        watch(messages.drop("t"), STAR)
