"""Changes through the pipeline, by every road, against the oracle after every change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare.spark_frames import tiny
from tests.properties.compare.spark_pipelines import differences, parts_of_plan
from tests.properties.generate.pipeline_steps import draw_steps

from livefacts.kb import compaction, tables
from livefacts.spark import Pipeline

WORLDS, STEPS = 20, 3
ROADS = [
    pytest.param("driver", "rdfs", {"small": 1_000_000}, id="driver"),
    pytest.param("tasks", "rho-df", {"small": 0}, id="tasks"),
    pytest.param("joins", "rho-df", {"road": "joins"}, id="joins"),
]
STAGE = {"driver": "reason", "tasks": "follow and sign", "joins": "follow by joins"}


@pytest.fixture
def session(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for module in (compaction, tables):
        # Files are merged, and logs summed up, in the middle of every history.
        monkeypatch.setattr(module, "TIDY_EVERY", 4)
    # Changes are folded into the facts as soon as they are a fourth of them.
    monkeypatch.setattr(compaction, "FOLD_ROWS", 0)
    with tiny(spark) as session:
        yield session


@pytest.mark.parametrize(("road", "rules", "options"), ROADS)
def test_twenty_worlds_in_one_pipeline_are_what_the_oracle_computes_after_every_change(
    session: Any, tmp_path: Path, road: str, rules: str, options: Any
) -> None:
    stages: set[str] = set()
    pipeline = Pipeline(
        session,
        tmp_path / "kb",
        buckets=2,
        memory=None,
        on_stage=lambda stage, is_done: stages.add(stage.name),
        **options,
    )
    steps = list(draw_steps(random.Random(road), WORLDS, STEPS, rules))
    assert next(differences(pipeline, tmp_path, steps), None) is None
    others = {stage for name, stage in STAGE.items() if name != road}
    assert STAGE[road] in stages
    assert "compact facts" in stages, "changes were never folded"
    assert not others & stages, "a change took another road"


def test_no_general_rule_is_followed_but_by_joins(session: Any, tmp_path: Path) -> None:
    """As the plan says, and the stages show."""
    stages: list[str] = []
    pipeline = Pipeline(
        session,
        tmp_path / "kb",
        buckets=2,
        memory=None,
        on_stage=lambda stage, is_done: stages.append(stage.name),
    )
    (tmp_path / "told.nt").write_text("<x:a> <x:p> <x:b> .\n<x:b> <x:p> <x:c> .\n")
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize("[?x, <x:q>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .")
    general = parts_of_plan(pipeline)
    assert general.keys() == {"general"}
    assert "rounds of DataFrame joins" in general["general"]
    pipeline.update(add="<x:c> <x:p> <x:d> .")
    assert {"close by joins", "follow by joins"} <= set(stages)
    others = {
        "close in the driver",
        "reason in the driver",
        "close and publish",
        "reason",
        "follow and sign",
    }
    assert not others & set(stages)
