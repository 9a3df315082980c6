"""The random programs bite: most derive something, and every feature is among them."""

from __future__ import annotations

import pytest
from tests.properties.cases import shrink
from tests.properties.measures import shares
from tests.properties.programs import draw_case

LEAST = {
    "derives something": 0.7,
    "derives five or more": 0.5,
    "recursion": 0.4,
    "recursion through others": 0.2,
    "negation": 0.25,
    "strata: 3": 0.1,
    "aggregates": 0.25,
    "constants": 0.2,
    "repeated variables": 0.3,
    "variable predicates": 0.2,
    "class constants": 0.3,
    "comparisons": 0.2,
    "constraints": 0.1,
    "violations": 0.05,
    "generalized triples": 0.05,
    "hidden predicates": 0.2,
    "late rules": 0.1,
    "steps: several": 0.5,
    **{f"arity {n}": 0.1 for n in range(4)},
    **{f"arithmetic {operator}": 0.02 for operator in "+-*/"},
    **dict.fromkeys(("count", "sum", "min", "max", "avg"), 0.02),
}


@pytest.fixture(scope="module")
def measured() -> dict[str, float]:
    return shares(draw_case(seed) for seed in range(300))


@pytest.mark.parametrize("feature", LEAST)
def test_enough_random_cases_have(feature: str, measured: dict[str, float]) -> None:
    found = measured.get(feature, 0.0)
    assert found >= LEAST[feature], f"{feature}: only {found:.0%} of the cases"


def test_the_same_seed_gives_the_same_case() -> None:
    assert str(draw_case(7)) == str(draw_case(7))


def test_shrinking_keeps_only_what_a_failure_needs() -> None:
    case = draw_case(3)
    needed = case.facts[-1]
    small = shrink(case, lambda other: needed in other.facts)
    assert small.facts == (needed,)
    assert small.rules == ()
