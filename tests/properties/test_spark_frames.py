"""Random histories that come as DataFrames: facts and deltas are those of the embedded engine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad
from tests.properties.compare.spark_frames import tiny
from tests.properties.generate.pipeline_steps import draw_steps
from tests.unit.engine.spark.beside import delta_of, facts_of, texts_of

import livefacts as lf
from livefacts.engine.spark.single.frame_change import COMES
from livefacts.spark import Pipeline

WORLDS, STEPS = 8, 4
JOINS = "[?x, <urn:near>, ?z] :- [?x, a, ?c], [?z, a, ?c] ."
Graphs = tuple[DefaultGraph | NamedNode, ...]
GRAPHS: Graphs = (DefaultGraph(), DefaultGraph(), NamedNode("urn:g"), NamedNode("urn:h"))
STAYING = {"small": 0, "road": "tasks"}
"""DataFrames of any size stay with tasks, where no named graph asserts anything."""
ROADS = [
    pytest.param("rho-df", STAYING, id="frames stay with tasks"),
    pytest.param("rdfs", {}, id="driver"),
    pytest.param("rho-df", {"road": "tasks"}, id="tasks", marks=pytest.mark.thorough),
    pytest.param(JOINS, {}, id="handed over"),
    pytest.param(JOINS, {"road": "joins"}, id="joins", marks=pytest.mark.thorough),
]


def draw_history(pick: random.Random, graphs: Graphs) -> Iterator[tuple[list[Quad], list[Quad]]]:
    """What comes and goes, in graphs; some of what goes was never there, some comes as well."""
    known: set[Quad] = set()
    for step in draw_steps(pick, WORLDS, STEPS, "rho-df"):
        come = [Quad(*triple, pick.choice(graphs)) for triple in step.add]
        go = pick.sample(sorted(known, key=str), len(known) // 4)
        go += [Quad(*triple, pick.choice(graphs)) for triple in step.remove]
        go += pick.sample(come, len(come) // 4)
        known |= set(come)
        yield come, go


def frame_of(session: Any, quads: list[Quad], pick: random.Random) -> Any:
    """The same as a DataFrame: in any order and cut, some rows twice, without graphs if there are none."""
    rows = quads + pick.choices(quads, k=3) if quads else []
    pick.shuffle(rows)
    columns = {
        "s": [str(quad.subject) for quad in rows],
        "p": [str(quad.predicate) for quad in rows],
        "o": [str(quad.object) for quad in rows],
        "g": [
            None if isinstance(quad.graph_name, DefaultGraph) else str(quad.graph_name)
            for quad in rows
        ],
    }
    if not any(columns["g"]):
        del columns["g"]
    table = pa.table({name: pa.array(each, pa.string()) for name, each in columns.items()})
    return session.createDataFrame(table).repartition(pick.choice((1, 2, 5)))


@pytest.mark.parametrize(("rules", "options"), ROADS)
@pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")
def test_a_history_of_frames_is_what_the_embedded_engine_makes_of_the_same_facts(
    spark: Any, tmp_path: Path, rules: str, options: dict[str, Any]
) -> None:
    pick = random.Random(f"frames {rules}")
    stays = options is STAYING
    reasoner = lf.Reasoner(rules=rules)
    with tiny(spark) as session:
        pipeline = Pipeline(session, tmp_path / "kb", buckets=2, **options)
        (first, _), *changes = draw_history(pick, GRAPHS[:1] if stays else GRAPHS)
        pipeline.ingest(frame_of(session, first, pick))
        pipeline.materialize(rules)
        reasoner.add(first)
        assert facts_of(pipeline) == texts_of(reasoner)
        for come, go in changes:
            added, removed = (frame_of(session, quads, pick) for quads in (come, go))
            report = pipeline.update(add=added, remove=removed)
            assert stays == any(stage.name == COMES for stage in report.stages)
            delta = reasoner.apply(add=come, remove=go)
            assert delta_of(pipeline, report.seq) == (
                texts_of(delta.added),
                texts_of(delta.removed),
            )
        assert facts_of(pipeline) == texts_of(reasoner)
        report = pipeline.verify()
        assert report, str(report)
