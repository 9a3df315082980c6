"""Ingesting what is more than triples, and ingesting and materializing again."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.spark import Pipeline

QUADS = """
<urn:a> <urn:knows> <urn:b> .
<urn:a> <urn:knows> <urn:b> <urn:g1> .
<urn:b> <urn:knows> <urn:c> <urn:g1> .
<urn:b> <urn:knows> <urn:c> <urn:g2> .
<urn:c> <urn:knows> <urn:d> .
"""
TRIG = "GRAPH <urn:g2> { <urn:c> <urn:knows> <urn:d> , _:someone . }"
REACHES = """
reaches(?x, ?y) :- [?x, <urn:knows>, ?y] .
reaches(?x, ?z) :- reaches(?x, ?y), [?y, <urn:knows>, ?z] .
"""
HOT = "hot(?room) :- reading(?room, ?value), ?value > 30 ."
SCHEMA = "<urn:knows> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Person> ."


def shown(frame: Any) -> set[tuple[str | None, ...]]:
    return {tuple(row) for row in frame.collect()}


def triples_of(pipeline: Pipeline) -> set[tuple[str | None, ...]]:
    return shown(pipeline.facts(decoded=True).select("s", "p", "o"))


@pytest.fixture
def graphs(tmp_path: Path) -> list[Path]:
    (tmp_path / "some.nq").write_text(QUADS, encoding="utf-8")
    (tmp_path / "more.trig.gz").write_bytes(gzip.compress(TRIG.encode()))
    return [tmp_path / "some.nq", tmp_path / "more.trig.gz"]


def test_named_graphs_are_kept_as_the_embedded_engine_keeps_them(
    spark: Any, tmp_path: Path, graphs: list[Path]
) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(graphs[0], bnodes="by-name")
    pipeline.ingest(graphs[1], bnodes="by-name")
    reasoner = lf.Reasoner()
    reasoner.load(graphs, bnodes="by-name")
    query = "SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }"
    named = {tuple(str(term) for term in row) for row in reasoner.query(query)}
    found = shown(pipeline.graphs(decoded=True).select("s", "p", "o", "g"))
    assert {row for row in found if row[3] is not None} == named
    assert {row[:3] for row in found if row[3] is None} == {
        ("<urn:a>", "<urn:knows>", "<urn:b>"),
        ("<urn:c>", "<urn:knows>", "<urn:d>"),
    }
    assert triples_of(pipeline) == {
        (str(t.subject), str(t.predicate), str(t.object)) for t in reasoner
    }


def test_a_triple_of_a_graph_that_comes_into_the_default_graph_later_is_in_both(
    spark: Any, tmp_path: Path, graphs: list[Path]
) -> None:
    (tmp_path / "later.nt").write_text("<urn:b> <urn:knows> <urn:c> .\n", encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(graphs[0])
    before = pipeline.facts().count()
    for _ in range(2):
        pipeline.ingest(tmp_path / "later.nt")
        found = shown(pipeline.graphs(decoded=True).where("s = '<urn:b>'").select("g"))
        assert found == {("<urn:g1>",), ("<urn:g2>",), (None,)}
    assert pipeline.facts().count() == before


def test_facts_of_rule_files_are_told_and_rules_see_them(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.rules").write_text(
        "reading(kitchen, 35).\nreading(hall, 20).\nalarm().\nowns(ada, kitchen, 3).\n"
    )
    (tmp_path / "b.rules").write_text("reading(attic, 31).\nreading(kitchen, 35).\n")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    assert pipeline.ingest(tmp_path / "a.rules").figures["asserted"] == 4
    assert pipeline.ingest(tmp_path / "b.rules").figures["asserted"] == 5
    pipeline.materialize(HOT)
    reasoner = lf.Reasoner(rules=HOT)
    reasoner.load([tmp_path / "a.rules", tmp_path / "b.rules"])
    found = {
        (row.name, *(text.removeprefix("'") for text in row.arguments))
        for row in pipeline.predicate_facts(decoded=True).collect()
    }
    assert found == {(fact.name, *map(str, fact.arguments)) for fact in reasoner.facts()}
    assert ("hot", "attic") in found


def test_a_bad_rule_file_is_left_out_and_the_others_are_not_lost(
    spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "good.rules").write_text("alarm().\n")
    (tmp_path / "bad.rules").write_text("alarm().\nreading(kitchen, .\n")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    report = pipeline.ingest([tmp_path / "good.rules", tmp_path / "bad.rules"])
    assert "ingest; 1 read, 1 asserted, 1 rejected\n" in str(report)
    (reject,) = pipeline.rejects().collect()
    assert reject.file.endswith("bad.rules")
    assert "line 2" in reject.reason


def test_more_rejects_than_are_kept_are_counted_and_the_report_says_so(
    spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "bad.nt").write_text("no triple\n" * 1200 + "<urn:a> <urn:b> <urn:c> .\n")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    report = pipeline.ingest(tmp_path / "bad.nt")
    assert report.figures["rejected"] == 1200
    assert pipeline.rejects().count() == 1000
    assert "200 more lines were rejected" in report.hints[0]


def test_what_is_ingested_after_materializing_waits_for_the_next_time(
    spark: Any, tmp_path: Path, graphs: list[Path]
) -> None:
    (tmp_path / "schema.nt").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "later.nt").write_text("<urn:z> <urn:knows> <urn:a> .\n", encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest([graphs[0], tmp_path / "schema.nt"])
    pipeline.materialize("rho-df")
    drawn = shown(pipeline.facts(derived=True, decoded=True))
    pipeline.ingest(tmp_path / "later.nt")
    assert shown(pipeline.facts(derived=True, decoded=True)) == drawn
    assert "materialize()" in pipeline.plan()
    with pytest.raises(lf.LivefactsError, match="not drawn from everything asserted"):
        pipeline.update(add="<urn:y> <urn:knows> <urn:a> .")
    pipeline.materialize()
    more = shown(pipeline.facts(derived=True, decoded=True)) - drawn
    assert {row[0] for row in more} == {"<urn:z>"}


def test_other_rules_take_the_place_of_those_before_with_all_their_conclusions(
    spark: Any, tmp_path: Path, graphs: list[Path]
) -> None:
    (tmp_path / "schema.nt").write_text(SCHEMA, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest([graphs[0], tmp_path / "schema.nt"])
    told = triples_of(pipeline)
    pipeline.materialize(REACHES)
    assert triples_of(pipeline) == told
    assert pipeline.predicate_facts().count() == 6
    pipeline.materialize("rho-df")
    assert pipeline.predicate_facts().count() == 0
    types = {row for row in triples_of(pipeline) - told if row[2] == "<urn:Person>"}
    assert len(types) == 3
    pipeline.materialize("[?y, <urn:knownBy>, ?x] :- [?x, <urn:knows>, ?y] .")
    assert {row[1] for row in triples_of(pipeline) - told} == {"<urn:knownBy>"}
