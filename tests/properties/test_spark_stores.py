"""Changes of a knowledge base on a store, by every road, against the oracle after every change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare.spark_frames import tiny
from tests.properties.compare.spark_pipelines import differences
from tests.properties.generate.pipeline_steps import draw_steps
from tests.properties.test_spark_pipelines import ROADS
from tests.system.store_servers import StoreServer

from livefacts.kb import compaction
from livefacts.spark import Pipeline

WORLDS, STEPS = 4, 2
IN_ALL_TESTS = "driver"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("road", "rules", "options"),
    [
        pytest.param(*road.values, marks=() if road.id == IN_ALL_TESTS else pytest.mark.thorough)
        for road in ROADS
    ],
)
def test_worlds_on_a_store_are_what_the_oracle_computes_after_every_change(
    spark: Any,
    s3: StoreServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    road: str,
    rules: str,
    options: Any,
) -> None:
    # Changes are folded into the facts as soon as they are a fourth of them.
    monkeypatch.setattr(compaction, "FOLD_ROWS", 0)
    with tiny(spark) as session:
        pipeline = Pipeline(
            session, s3.place(), buckets=2, memory=None, storage_options=s3.options, **options
        )
        steps = list(draw_steps(random.Random(f"store {road}"), WORLDS, STEPS, rules))
        assert next(differences(pipeline, tmp_path, steps), None) is None
        kinds = {commit.kind for commit in pipeline.history()}
    assert {"ingest", "materialize", "update", "optimize"} <= kinds
