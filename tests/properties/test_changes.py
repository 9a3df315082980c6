"""Random changes of facts and rules, by every way of maintenance."""

from __future__ import annotations

import pytest
from tests.properties.changes import LIMIT, History, differences, draw_history, stored

import livefacts as lf
from livefacts.rules.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

HISTORIES, CHUNKS = 400, 20
COMPARED = 60


def check(history: History, maintenance: str) -> None:
    found = list(differences(history, maintenance))
    if found:
        pytest.fail("\n".join([str(history), *found[:5]]), pytrace=False)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_sum_of_the_deltas_is_what_the_oracle_computes(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        check(draw_history(seed), "counting-dred")


@pytest.mark.parametrize("maintenance", ["dred", "counting", "recompute"])
def test_every_way_of_maintenance_gives_the_same(maintenance: str) -> None:
    for seed in range(5_000, 5_000 + COMPARED):
        check(draw_history(seed, steps=5), maintenance)


@pytest.mark.parametrize("seed", range(40))
def test_adding_and_removing_again_changes_nothing(seed: int) -> None:
    history = draw_history(seed, steps=1)
    (change,) = history.changes
    there = [*draw_history(seed + 1, steps=1).changes[0].added]
    reasoner = lf.Reasoner()
    reasoner.add_rules(Program(history.start, limit=LIMIT))
    reasoner.add(there)
    before = stored(reasoner)
    new = [fact for fact in change.added if fact not in set(there)]
    reasoner.add(new)
    reasoner.remove(new)
    assert stored(reasoner) == before
