"""Verification on Spark: what is right is said to be, and each kind of damage is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.properties.compare.spark_frames import tiny

import livefacts as lf
from livefacts.cli import run
from livefacts.spark import Pipeline

TOLD = """
<urn:ann> <urn:parent> <urn:ben> .
<urn:ben> <urn:parent> <urn:cy> .
<urn:parent> <http://www.w3.org/2000/01/rdf-schema#range> <urn:Person> .
<urn:ann> <urn:knows> <urn:ben> <urn:g> .
"""
JOINS = """
ancestor(?x, ?y) :- [?x, <urn:parent>, ?y] .
ancestor(?x, ?z) :- ancestor(?x, ?y), [?y, <urn:parent>, ?z] .
[?x, <urn:in>, ?z] :- [?x, <urn:parent>, ?y], [?y, <urn:parent>, ?z] .
"""


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    with tiny(spark) as session:
        yield session


@pytest.fixture
def pipeline(session: Any, tmp_path: Path) -> Pipeline:
    return closed(session, tmp_path, "rho-df")


def closed(session: Any, folder: Path, rules: str, **options: Any) -> Pipeline:
    (folder / "told.nq").write_text(TOLD, encoding="utf-8")
    pipeline = Pipeline(session, folder / "kb", buckets=2, **options)
    pipeline.ingest(folder / "told.nq")
    pipeline.materialize(rules)
    return pipeline


def changed(pipeline: Pipeline, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write other rows into the data files of a table, behind its back."""
    for path in pipeline.base.files(table, pipeline.base.last()):
        pq.write_table(change(pq.read_table(path, partitioning=None)), path)


def id_of(pipeline: Pipeline, text: str) -> int:
    return int(pipeline.terms().where(f"text = '{text}'").collect()[0].id)


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        pytest.param("rho-df", {}, id="single triples"),
        pytest.param(JOINS, {}, id="handed over"),
        pytest.param(JOINS, {"memory": None}, id="joins"),
    ],
)
def test_what_changes_have_left_is_found_right(
    session: Any, tmp_path: Path, rules: str, options: dict[str, Any]
) -> None:
    pipeline = closed(session, tmp_path, rules, **options)
    pipeline.update(
        add="<urn:cy> <urn:parent> <urn:dan> .", remove="<urn:ann> <urn:parent> <urn:ben> ."
    )
    pipeline.change_rules(add="old(?x) :- [?x, <urn:parent>, ?y] ." if rules == JOINS else "")
    files = sorted(path.name for path in (tmp_path / "kb").rglob("*.parquet"))
    report = pipeline.verify()
    assert report, str(report)
    assert report.facts >= 5
    assert "everything is as it should be" in str(report)
    assert sorted(path.name for path in (tmp_path / "kb").rglob("*.parquet")) == files
    assert pipeline.seq == 4 if rules == JOINS else 3


def test_facts_that_were_lost_or_made_up_are_named(pipeline: Pipeline) -> None:
    cy, ann = (id_of(pipeline, f"<urn:{name}>") for name in ("cy", "ann"))

    def swap(rows: pa.Table) -> pa.Table:
        """cy is no Person any more, and ann is one."""
        listed = rows.to_pylist()
        for row in listed:
            if row["s"] == cy and not row["told"]:
                row["s"] = ann
        return pa.Table.from_pylist(listed, rows.schema)

    changed(pipeline, "facts_3", swap)
    report = pipeline.verify()
    assert report.counts == {"missing": 1, "unfounded": 1}
    text = str(report)
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert f"<urn:cy> {a} <urn:Person> follows, but is missing" in text
    assert f"<urn:ann> {a} <urn:Person> is there, but nothing asserts or derives it" in text


def test_counters_and_doubles_are_compared(pipeline: Pipeline) -> None:
    def recounted(rows: pa.Table) -> pa.Table:
        listed = rows.to_pylist()
        for row in listed:
            row["support"] += 4 if not row["told"] else 0
        return pa.Table.from_pylist(
            listed + [row for row in listed if row["told"]][:1], rows.schema
        )

    changed(pipeline, "facts_3", recounted)
    counts = pipeline.verify().counts
    assert counts.keys() == {"support", "twice"}
    assert counts["support"] == 2


def test_terms_and_graphs_are_held_against_facts(pipeline: Pipeline) -> None:
    ann, graph = id_of(pipeline, "<urn:ann>"), id_of(pipeline, "<urn:g>")

    def renamed(rows: pa.Table) -> pa.Table:
        """ann is lost, and the graph has the text of another."""
        listed = [row for row in rows.to_pylist() if row["id"] != ann]
        named = [{**row, "text": "<urn:h>"} if row["id"] == graph else row for row in listed]
        return pa.Table.from_pylist(named, rows.schema)

    def moved(rows: pa.Table) -> pa.Table:
        listed = [{**row, "o": row["s"]} for row in rows.to_pylist() if row["g"] == graph]
        return pa.Table.from_pylist(listed, rows.schema)

    changed(pipeline, "terms", renamed)
    changed(pipeline, "graphs", moved)
    report = pipeline.verify()
    assert report.counts == {"terms": 2, "graphs": 1}
    assert f"there is no term {ann}, and facts speak of it" in str(report)
    assert f"<urn:h> has the id {graph} of another" in str(report)
    assert "is of <urn:h>, but not asserted" in str(report)


def test_files_that_are_damaged_or_gone_are_named_and_the_command_ends_with_1(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, terms = (
        pipeline.base.files(each, pipeline.base.last()) for each in ("facts_3", "terms")
    )
    Path(facts[0]).unlink()
    Path(terms[0]).write_bytes(Path(terms[0]).read_bytes()[:-9])
    report = pipeline.verify()
    assert report.counts == {"files": 2}
    assert all(str(name) in str(report) for name in (facts[0], terms[0]))
    assert run(["spark", "verify", "--kb", str(pipeline.base.path)]) == 1
    printed = capsys.readouterr().out
    assert "files are damaged" in printed
    assert str(facts[0]) in printed


def test_a_state_whose_conclusions_are_not_drawn_is_not_verified(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    pipeline.ingest(tmp_path / "told.nq")
    with pytest.raises(lf.LivefactsError, match="conclusions are not drawn"):
        pipeline.verify()
