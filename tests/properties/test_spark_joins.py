"""General rules on Spark against the oracle: facts, counters, violations and deltas.

By rounds of joins, and by the embedded engine in one task where it can hold the facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare.spark_frames import SmallTerms, tiny
from tests.properties.compare.spark_worlds import differences
from tests.properties.generate.seeds import chunks
from tests.properties.generate.worlds import draw_worlds

from livefacts.engine.spark.joins.closure_change import Way
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.engine.spark.joins.task_closure import TASK, TOO_LARGE

WORLDS, STEPS = 20, 5
SEEDS = (6, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (3, 5)))
MANY = 1_000_000
TURNS = [
    (10, 173),
    *(pytest.param(*turn, marks=pytest.mark.thorough) for turn in ((9, 255), (13, 315))),
]
"""Seeds, and a size that their worlds pass again and again."""
COMPARED = 8
"""A seed whose worlds are followed in the other ways too."""


@pytest.fixture
def setting(spark: Any, tmp_path: Path) -> Iterator[Setting]:
    """Nothing is closed in one task."""
    with tiny(spark) as session:
        yield Setting.of(session, SmallTerms(session), tmp_path, worlds=True, most=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_twenty_worlds_side_by_side_are_what_the_oracle_computes_after_every_change(
    setting: Setting, seed: int
) -> None:
    assert next(differences(draw_worlds(seed, WORLDS, STEPS), setting), None) is None


@pytest.mark.parametrize("seed", chunks(16, 2))
def test_worlds_in_one_task_are_what_the_oracle_computes_after_every_change(
    setting: Setting, seed: int
) -> None:
    worlds = draw_worlds(seed, WORLDS, STEPS)
    assert next(differences(worlds, replace(setting, most=MANY)), None) is None


@pytest.mark.parametrize(("seed", "most"), TURNS)
def test_joins_and_tasks_take_turns_as_facts_become_too_many_for_a_task(
    setting: Setting, seed: int, most: int
) -> None:
    """Each goes on with the counters of the other."""
    heard: list[str] = []
    worlds = draw_worlds(seed, 8, 4)
    listening = replace(setting, most=most, on_round=lambda what, count: heard.append(what))
    assert next(differences(worlds, listening), None) is None
    assert {TASK, TOO_LARGE} <= set(heard)


@pytest.mark.thorough
@pytest.mark.parametrize("way", [Way.DRED, Way.RECOMPUTE])
def test_every_way_of_maintenance_gives_the_same(setting: Setting, way: Way) -> None:
    assert next(differences(draw_worlds(COMPARED, 6, 3), setting, way), None) is None
