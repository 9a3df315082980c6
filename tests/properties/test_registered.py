"""Random registered queries: every report is what its definition says."""

from __future__ import annotations

import pytest
from tests.properties.registered import Abreast, History

HISTORIES, CHUNKS = 300, 20


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reports_are_what_the_definition_says(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        history = History(seed)
        found = history.run()
        if found:
            pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)


def test_the_histories_bite() -> None:
    """Most histories report something, change their answers on the way, and share a state."""
    answered = changed = lasting = resettled = 0
    for seed in range(60):
        history = History(seed)
        history.run()
        answered += history.answered > 2
        changed += history.changed > 2
        lasting += history.lasting > 1
        resettled += history.resettled
    assert answered >= 27
    assert changed >= 30
    assert lasting >= 20
    assert resettled >= 2


@pytest.mark.parametrize("chunk", range(5))
def test_queries_that_share_a_state_report_what_each_reports_alone(chunk: int) -> None:
    for seed in range(chunk, 60, 5):
        abreast = Abreast(seed)
        for together, alone in abreast.run():
            assert together == alone, f"seed {seed}"
