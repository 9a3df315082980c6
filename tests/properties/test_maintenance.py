"""Random changes of facts and rules by maintenance programs, which the oracle evaluates."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.properties.compare import expiry_programs, maintenance_programs
from tests.properties.compare.histories import LIMIT, draw_history
from tests.properties.generate.programs import draw_case
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.language.program import Program
from livefacts.syntax.rulelang.rule_parser import parse

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

HISTORIES, CHUNKS = 100, 5
STREAMS, TICKS = 60, 5


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_plus_and_minus_are_what_the_reasoner_says_has_changed(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk, HISTORIES, CHUNKS):
        history = draw_history(seed, steps=3)
        found = list(maintenance_programs.differences(history, seen, split=seed % 3 == 0))
        if found:
            pytest.fail("\n".join([str(history), *found[:5]]), pytrace=False)
    assert seen["refused"] < 0.25 * seen["steps"]
    assert min(seen["plus"], seen["minus"]) > 0.3 * seen["steps"]
    assert seen["red"] > 0


@pytest.mark.parametrize("seed", chunks(STREAMS, 30))
def test_a_window_keeps_what_follows_from_the_facts_that_still_hold(seed: int) -> None:
    assert list(expiry_programs.differences(seed, TICKS)) == []


def test_a_maintenance_program_reads_back_from_its_text() -> None:
    read = 0
    for seed in range(60):
        try:
            made = lf.maintenance_program(Program(draw_case(seed).rules, limit=LIMIT))
        except lf.RuleError:
            continue
        assert parse(str(made)).rules == Program().plus(made.program.rules).rules
        read += 1
    assert read > 45
