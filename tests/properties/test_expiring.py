"""Random lives of expiring facts beside what they mean."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.properties.compare.expiring_facts import Life, window_differences
from tests.properties.generate.seeds import chunks

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

LIVES, CHUNKS, STEPS = 300, 5, 8
STREAMS = 60


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 3))
def test_everything_holds_as_long_as_its_longest_derivation(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk, LIVES, CHUNKS):
        life = Life(seed, seen)
        wrong = list(life.steps(STEPS))
        if wrong:
            pytest.fail("\n".join([f"seed {seed}", *map(str, life.rules), *wrong]), pytrace=False)
    _check_that_it_bites(seen)


def _check_that_it_bites(seen: Counter[str]) -> None:
    assert seen["states with conclusions"] > 0.4 * seen["states"]
    assert seen["endings that change something"] > 0.25 * seen["endings"]
    assert seen["give that move a time"] > 0.2 * seen["give"]
    assert seen["lower that change something"] > 0.5 * seen["lower"]
    assert seen["lower that move a time"] > 0.05 * seen["lower"]
    assert seen["rules that change something"] > 0.1 * seen["rules"]
    assert seen["refused"] > 0


@pytest.mark.parametrize("seed", chunks(STREAMS, 40))
def test_one_state_of_arrival_times_is_that_of_every_window(seed: int) -> None:
    assert list(window_differences(seed, ticks=6)) == []
