"""Random histories in a folder, whose process ends at random points: nothing may differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.properties.compare import histories, stream_histories
from tests.properties.generate.histories import draw_history
from tests.properties.generate.seeds import chunks
from tests.properties.generate.stream_histories import draw_stream_history, draw_with_rule_changes

HISTORIES, STREAMS, CHUNKS = 60, 60, 10


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_changes_of_facts_and_rules_survive_the_end_of_the_process(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(60_000 + chunk, 60_000 + HISTORIES, CHUNKS):
        history = draw_history(seed, steps=15, graphs=True)
        found = next(histories.differences(history, folder=tmp_path / str(seed)), None)
        if found:
            pytest.fail(f"{history}\n{found}", pytrace=False)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_windows_go_on_after_the_end_of_the_process_as_if_it_had_not_been(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(61_000 + chunk, 61_000 + STREAMS, CHUNKS):
        history = draw_with_rule_changes(seed) if seed % 2 else draw_stream_history(seed)
        found = next(stream_histories.differences(history, tmp_path / str(seed)), None)
        if found:
            pytest.fail(f"{history}\n{found}", pytrace=False)
