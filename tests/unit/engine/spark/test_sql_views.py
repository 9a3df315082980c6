"""Views: what SQL sees of a version is what the pipeline shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare.spark_frames import tiny

import livefacts as lf
from livefacts.spark import Pipeline

TOLD = """
<urn:ada> a <urn:Person> . <urn:ben> a <urn:Person> . _:x a <urn:Thing> .
<urn:ada> <urn:knows> <urn:ben> ; <urn:age> 36 .
GRAPH <urn:g> { <urn:ben> <urn:knows> <urn:ada> . }
"""
RULES = """
[?x, a, <urn:Thing>] :- [?x, a, <urn:Person>] .
isIn(?x, ?y) :- [?x, <urn:knows>, ?y] .
isin(?x) :- [?x, <urn:knows>, ?y] .
"""


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    with tiny(spark) as session:
        yield session
        session.sql("DROP DATABASE IF EXISTS kg CASCADE")


def rows(frame: Any) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in frame.collect()}


def test_views_show_a_version_as_the_pipeline_does(session: Any, tmp_path: Path) -> None:
    folder = tmp_path / "a place, with {marks}"
    folder.mkdir()
    (folder / "told.trig").write_text(TOLD, encoding="utf-8")
    pipeline = Pipeline(session, folder / "kb", buckets=2)
    pipeline.ingest(str(folder / "told.trig"))
    pipeline.materialize(RULES)
    pipeline.update(add="<urn:ben> <urn:knows> <urn:eve> .", remove="<urn:ada> <urn:age> 36 .")
    names = pipeline.create_views("kg")
    assert set(names[-2:]) == {"kg.facts_isin", "kg.facts_isin_1"}
    triples = pipeline.facts(decoded=True).select("s", "p", "o", "told")
    assert rows(session.table("kg.triples")) == rows(triples)
    graphs = pipeline.graphs(decoded=True).select("s", "p", "o", "g")
    assert rows(session.table("kg.graphs")) == rows(graphs)
    assert rows(session.table("kg.facts_isin").drop("told")) == {
        ("<urn:ada>", "<urn:ben>"),
        ("<urn:ben>", "<urn:ada>"),
        ("<urn:ben>", "<urn:eve>"),
    }
    assert rows(session.table("kg.classes")) == {("<urn:Person>", 2), ("<urn:Thing>", 3)}
    edges, vertices = session.table("kg.edges"), session.table("kg.vertices")
    assert rows(edges) == {(s, o, p) for s, p, o, _ in rows(triples) if not o.startswith('"')}
    ends = rows(edges.select("src").union(edges.select("dst")))
    assert rows(vertices) == ends
    assert vertices.count() == len(ends)


def test_views_stay_until_they_are_made_again_and_those_of_others_are_left_alone(
    session: Any, tmp_path: Path
) -> None:
    (tmp_path / "told.nt").write_text("<urn:a> <urn:p> <urn:b> .\n", encoding="utf-8")
    pipeline = Pipeline(session, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize("isIn(?x, ?y) :- [?x, <urn:p>, ?y] .")
    pipeline.create_views("kg")
    session.sql("CREATE VIEW kg.facts_mine AS SELECT 1 AS one")
    pipeline.change_rules(remove=["r1"])
    pipeline.update(remove="<urn:a> <urn:p> <urn:b> .")
    assert session.table("kg.triples").count() == session.table("kg.facts_isin").count() == 1
    pipeline.create_views("kg")
    assert session.table("kg.triples").count() == 0
    assert not session.catalog.tableExists("kg.facts_isin")
    assert rows(session.table("kg.facts_mine")) == {(1,)}
    pipeline.create_views("kg", version=2)
    assert session.table("kg.triples").count() == 1
    session.sql("DROP VIEW kg.triples")
    session.sql("CREATE VIEW kg.triples AS SELECT 1 AS one")
    with pytest.raises(lf.LivefactsError, match=r"kg\.triples is there"):
        pipeline.create_views("kg")
    with pytest.raises(lf.LivefactsError, match="no name of a database"):
        pipeline.create_views("kg; DROP")
    assert not Path("spark-warehouse").exists(), "nothing is made where the command was typed"
