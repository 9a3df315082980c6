"""One random stream of operations, cut into micro-batches in several ways, beside the embedded engine."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.properties.compare.spark_frames import tiny
from tests.unit.engine.spark.beside import facts_of, texts_of
from tests.unit.engine.spark.streaming.cut_operations import (
    TOLD,
    cut,
    draw_operations,
    net,
    shown,
    write_files,
)

import livefacts as lf
from livefacts.spark import Pipeline

JOINS = "near(?x, ?z) :- near(?x, ?y), near(?y, ?z) . [?x, a, <urn:N>] :- near(?x, ?x) ."
ROADS = [
    pytest.param("rho-df", {}, id="driver"),
    pytest.param(JOINS, {}, id="handed over"),
    pytest.param("rho-df", {"road": "tasks"}, id="tasks", marks=pytest.mark.thorough),
    pytest.param(JOINS, {"road": "joins"}, id="joins", marks=pytest.mark.thorough),
]
CUTS = (1, 4)


def streamed(session: Any, folder: Path, rules: str, batches: list[list[str]], **road: Any) -> Any:
    """A knowledge base after a stream of these batches; its table of deltas."""
    (folder / "in").mkdir(parents=True)
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    write_files(folder / "in", batches)
    pipeline = Pipeline(session, folder / "kb", buckets=2, **road)
    pipeline.ingest(folder / "told.nt")
    pipeline.materialize(rules)
    stream = session.readStream.format("rdfpatch").option("maxFilesPerTrigger", 1)
    query = pipeline.stream(
        stream.load(str(folder / "in")), deltas=folder / "out", trigger={"availableNow": True}
    )
    query.awaitTermination()
    return pipeline, DeltaTable(folder / "out").to_pyarrow_table().to_pylist()


@pytest.mark.parametrize(("rules", "options"), ROADS)
@pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")
def test_facts_and_deltas_do_not_depend_on_where_a_stream_is_cut(
    spark: Any, tmp_path: Path, rules: str, options: dict[str, Any]
) -> None:
    pick = random.Random(f"streams {rules}")
    rows = draw_operations(pick, 60)
    sums = []
    with tiny(spark) as session:
        for parts in CUTS:
            batches = [each for each in cut(pick, rows, parts) if each]
            folder = tmp_path / str(parts)
            pipeline, deltas = streamed(session, folder, rules, batches, **options)
            reasoner = lf.Reasoner(rules=rules)
            reasoner.add(TOLD)
            begun = shown(reasoner)
            for seq, batch in enumerate(batches, 3):
                come, go = net(batch)
                delta = reasoner.apply(add=come, remove=go)
                for op, facts in (("A", delta.added), ("D", delta.removed)):
                    found = [r["fact"] for r in deltas if (r["seq"], r["op"]) == (seq, op)]
                    assert sorted(found) == sorted(shown(facts)), (parts, seq, op)
            assert facts_of(pipeline) == texts_of(reasoner)
            total = Counter[str]()
            for row in deltas:
                total[row["fact"]] += 1 if row["op"] == "A" else -1
            assert begun | {f for f, n in total.items() if n > 0} == shown(reasoner)
            sums.append({fact: n for fact, n in total.items() if n})
    assert sums[0] == sums[1]
