"""General rules on Spark against the oracle: facts, counters, violations and deltas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.properties.compare.spark_frames import SmallTerms, tiny
from tests.properties.compare.spark_worlds import differences
from tests.properties.generate.worlds import draw_worlds

from livefacts.engine.spark.joins.closure_change import Way
from livefacts.engine.spark.joins.rounds import Setting

WORLDS, STEPS = 20, 5
SEEDS = (6, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (3, 5)))
COMPARED = 8
"""A seed whose worlds are followed in the other ways too."""


@pytest.fixture
def setting(spark: Any) -> Iterator[Setting]:
    with tiny(spark) as session:
        yield Setting.of(session, SmallTerms(session), worlds=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_twenty_worlds_side_by_side_are_what_the_oracle_computes_after_every_change(
    setting: Setting, seed: int
) -> None:
    assert next(differences(draw_worlds(seed, WORLDS, STEPS), setting), None) is None


@pytest.mark.thorough
@pytest.mark.parametrize("way", [Way.DRED, Way.RECOMPUTE])
def test_every_way_of_maintenance_gives_the_same(setting: Setting, way: Way) -> None:
    assert next(differences(draw_worlds(COMPARED, 6, 3), setting, way), None) is None
