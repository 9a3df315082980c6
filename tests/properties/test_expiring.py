"""Random lives of expiring facts beside what they mean."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.properties.expiring import Life

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

LIVES, CHUNKS, STEPS = 300, 5, 8


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_everything_holds_as_long_as_its_longest_derivation(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk, LIVES, CHUNKS):
        life = Life(seed, seen)
        wrong = list(life.steps(STEPS))
        if wrong:
            rules = [f"{rule}" for rule in life.rules]
            pytest.fail("\n".join([f"seed {seed}", *rules, *wrong[:3]]), pytrace=False)
    assert seen["states with conclusions"] > 0.5 * seen["states"]
