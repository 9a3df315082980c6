"""Random registered queries: every report is what its definition says."""

from __future__ import annotations

import pytest
from tests.properties.registered import History

HISTORIES, CHUNKS = 300, 20


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reports_are_what_the_definition_says(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        history = History(seed)
        found = history.run()
        if found:
            pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)


def test_the_histories_bite() -> None:
    """Most histories report something, and change their answers on the way."""
    answered = changed = 0
    for seed in range(60):
        history = History(seed)
        history.run()
        answered += history.answered > 2
        changed += history.changed > 2
    assert answered >= 27
    assert changed >= 30
