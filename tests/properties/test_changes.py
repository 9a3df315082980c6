"""Random changes of facts and rules, by every way of maintenance, checked after every step."""

from __future__ import annotations

import pytest
from tests.properties.compare.histories import History, differences, draw_history, report
from tests.properties.generate.histories import draw_schema_history
from tests.properties.generate.seeds import chunks

from livefacts.syntax.rule_sets import open_rules

HISTORIES, CHUNKS = 200, 20
COMPARED = 40
SCHEMAS = 12


def check(history: History, maintenance: str = "counting-dred") -> None:
    if next(differences(history, maintenance), None):
        pytest.fail(report(history, maintenance), pytrace=False)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 4))
def test_the_sum_of_the_deltas_is_what_the_oracle_computes(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        check(draw_history(seed, steps=50, graphs=True))


@pytest.mark.parametrize("maintenance", ["dred", "counting", "recompute"])
@pytest.mark.parametrize("chunk", chunks(4, 2))
def test_every_way_of_maintenance_gives_the_same(maintenance: str, chunk: int) -> None:
    for seed in range(5_000 + chunk, 5_000 + COMPARED, 4):
        check(draw_history(seed, steps=25, graphs=True), maintenance)


@pytest.mark.parametrize("rules", ["rho-df", "rdfs"])
def test_a_schema_can_change_like_everything_else(rules: str) -> None:
    for seed in range(SCHEMAS):
        check(draw_schema_history(seed, open_rules(rules).rules, steps=25))
