"""Queries and programs beside a stream that Spark reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from livefacts.errors import LivefactsError
from livefacts.spark import Pipeline

X = "http://x/"
RULES = f"@prefix : <{X}> . [?s, :near, ?r] :- sometime [?s, :in, ?p] in [2], [?p, :of, ?r] ."
QUERY = f"""REGISTER QUERY seen AS PREFIX : <{X}> SELECT ?s ?r
    FROM STREAM <{X}s> [RANGE 2 STEP 2] WHERE {{ ?s :in ?p . ?p :of ?r }}"""
ONCE = {"availableNow": True}


def put(folder: Path, number: int, *lines: str) -> None:
    """One more file of a stream."""
    folder.mkdir(exist_ok=True)
    (folder / f".{number}").write_text("".join(f"{line}\n" for line in lines))
    (folder / f".{number}").rename(folder / f"{number}.nq")


def fact(who: str, place: str, time: int, stream: str = "") -> str:
    return f"<{X}{who}> <{X}in> <{X}{place}>{stream} {time} ."


def text_of(spark: Any, folder: Path) -> Any:
    """The lines of files as they come, one file a batch."""
    reader = spark.readStream.format("text").option("maxFilesPerTrigger", 1)
    return (
        reader.load(str(folder))
        .selectExpr("value", "_metadata.file_name as file")
        .selectExpr("value", "file", "0L as line")
    )


@pytest.fixture(scope="module")
def kb(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of one place."""
    folder = tmp_path_factory.mktemp("kb")
    (folder / "places.nt").write_text(f"<{X}hall> <{X}of> <{X}house> .\n")
    pipeline = Pipeline(spark, folder / "kb", buckets=1)
    pipeline.ingest(str(folder / "places.nt"))
    pipeline.materialize(())
    return folder / "kb"


def rows_in(folder: Path) -> list[Mapping[str, Any]]:
    lines = [
        line for path in sorted(folder.glob("[0-9]*")) for line in path.read_text().splitlines()
    ]
    return [json.loads(line) for line in lines]


def test_a_program_goes_on_where_it_stopped_and_follows_the_knowledge_base(
    spark: Any, kb: Path, tmp_path: Path
) -> None:
    pipeline, come, to = Pipeline(spark, kb), tmp_path / "in", tmp_path / "answers"
    given: dict[str, Any] = {"to": str(to), "format": "jsonl", "trigger": ONCE, "name": "near"}
    put(come, 1, fact("ann", "hall", 1), fact("ben", "yard", 2), fact("ben", "yard", 3))
    pipeline.run(RULES, source=text_of(spark, come), **given).await_end()
    assert [(row["time"], row["op"]) for row in rows_in(to)] == [(1, "+")]
    pipeline.update(add=f"<{X}yard> <{X}of> <{X}farm> .")
    put(come, 2, fact("cleo", "hall", 6))
    pipeline.run(RULES, source=text_of(spark, come), **given).await_end()
    found = [(row["time"], row["op"], row["fact"].count("farm")) for row in rows_in(to)]
    assert found == [(1, "+", 0), (2, "+", 1), (4, "-", 0), (6, "-", 1)][: len(found)]
    assert found[1][2] == 1
    with pytest.raises(LivefactsError, match="belongs to another query"):
        pipeline.run(RULES.replace("[2]", "[3]"), source=text_of(spark, come), **given)
    again = pipeline.run(
        RULES.replace("[2]", "[3]"), source=text_of(spark, come), upgrade=True, **given
    )
    again.await_end()


def test_reports_of_a_query_are_rows_of_a_table(spark: Any, kb: Path, tmp_path: Path) -> None:
    pipeline, come, to = Pipeline(spark, kb), tmp_path / "in", tmp_path / "answers"
    put(come, 1, fact("ann", "hall", 1, f" <{X}s>"), fact("ann", "hall", 9, f" <{X}s>"))
    pipeline.register(QUERY, source=text_of(spark, come), to=str(to), trigger=ONCE).await_end()
    (row,) = DeltaTable(str(to)).to_pyarrow_table().to_pylist()
    assert (row["batch"], row["time"], row["s"], row["r"]) == (0, 2, f"<{X}ann>", f"<{X}house>")


def test_a_program_that_is_proven_is_followed_by_key_and_says_so(
    spark: Any, kb: Path, tmp_path: Path
) -> None:
    pipeline, come, to = Pipeline(spark, kb), tmp_path / "in", tmp_path / "answers"
    assert "its subject" in pipeline.plan(RULES)
    given: dict[str, Any] = {"to": str(to), "format": "jsonl", "trigger": ONCE}
    names = ["ann", "ben", "cleo"] * 2
    lines = [fact(who, "hall", 2 * time) for time, who in enumerate(names, 1)]
    for number in (0, 1):
        put(come, number, *lines[3 * number : 3 * number + 3])
        found = pipeline.run(
            RULES, source=text_of(spark, come), keys=3, checkpoint=tmp_path / "k", **given
        )
        found.await_end()
    whole = {**given, "to": str(tmp_path / "whole"), "checkpoint": tmp_path / "w"}
    pipeline.run(RULES, source=text_of(spark, come), **whole).await_end()
    told = [
        sorted((row["time"], row["op"], row["fact"]) for row in rows_in(folder))
        for folder in (to, tmp_path / "whole")
    ]
    assert told[0] == told[1]
    assert len(told[0]) > 3
    with pytest.raises(LivefactsError, match="concludes something without the key"):
        pipeline.run(
            f"@prefix : <{X}> . [:all, :near, ?r] :- sometime [?s, :in, ?p] in [2], [?p, :of, ?r] .",
            source=text_of(spark, come),
            keys=True,
            name="none",
            **given,
        )
