"""Random programs with time, beside the oracle of streams, at every time point."""

from __future__ import annotations

import pytest
from tests.oracle.timeline import Timeline
from tests.properties.compare.stream_ends import ended
from tests.properties.compare.stream_histories import differences, report
from tests.properties.coverage import too_low
from tests.properties.coverage.stream_histories import asserted, shares
from tests.properties.generate.cases import shrink
from tests.properties.generate.seeds import chunks
from tests.properties.generate.stream_histories import (
    Statement,
    StreamHistory,
    draw_stream_history,
    draw_with_rule_changes,
    smaller,
)
from tests.properties.generate.triple_streams import facts, retold

STREAMS, CHUNKS = 500, 20
RETOLD = 40
CHANGING, EXPLAINED = 80, 40

LEAST = {
    "recursion": 0.3,
    "recursion through time": 0.15,
    "strata: several": 0.15,
    "negation": 0.1,
    "not inside": 0.15,
    "not outside": 0.2,
    "not both": 0.05,
    "sometime": 0.6,
    "always": 0.5,
    "at": 0.7,
    "heads with at": 0.5,
    "heads at a computed time": 0.12,
    "aggregates over windows": 0.15,
    "arithmetic": 0.18,
    "time windows": 0.8,
    "stepped windows": 0.25,
    "closed windows": 0.08,
    "windows of facts": 0.25,
    "windows of facts of one predicate": 0.06,
    "session windows": 0.15,
    "windows in the past": 0.15,
    "full windows": 0.12,
    "windows on a stream": 0.1,
    "windows of triples": 0.15,
    "retained": 0.02,
    "declared streams": 0.15,
    "triples concluded": 0.06,
    "constraints": 0.05,
    "derives something": 0.7,
}
LEAST_OF_ACTS = {
    "tick that changes conclusions": 0.3,
    "tick in silence that changes conclusions": 0.1,
    "push late that changes conclusions": 0.05,
    "push now that changes conclusions": 0.15,
    "retract late that changes conclusions": 0.04,
    "retract now that changes conclusions": 0.2,
    "add that changes conclusions": 0.1,
    "remove that changes conclusions": 0.2,
}


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 6))
def test_what_holds_at_every_time_point_is_what_the_oracle_computes(chunk: int) -> None:
    for seed in range(chunk, STREAMS, CHUNKS):
        history = draw_stream_history(seed)
        if next(differences(history), None):
            pytest.fail(report(history), pytrace=False)


@pytest.mark.parametrize("chunk", chunks(4, 2))
def test_rules_that_come_and_go_see_what_is_remembered(chunk: int) -> None:
    for seed in range(chunk, CHANGING, 4):
        history = draw_with_rule_changes(seed)
        if next(differences(history), None):
            pytest.fail(report(history), pytrace=False)


@pytest.mark.parametrize("chunk", chunks(4, 2))
def test_at_the_end_of_a_stream_history_everything_is_verified_and_explained(chunk: int) -> None:
    for seed in range(40_000 + chunk, 40_000 + EXPLAINED, 4):
        for found in ended(draw_with_rule_changes(seed) if seed % 2 else draw_stream_history(seed)):
            pytest.fail(f"seed {seed}: {found}", pytrace=False)


@pytest.mark.parametrize("chunk", chunks(4, 2))
def test_windows_over_triples_are_windows_over_predicates(chunk: int) -> None:
    for seed in range(10_000 + chunk, 10_000 + RETOLD, 4):
        history = draw_stream_history(seed)
        triples = retold(history)
        end = max(act.at for act in history.acts)
        ours, theirs = (_at_the_end(each, end) for each in (history, triples))
        assert facts(ours) == theirs, str(history)
        if next(differences(triples), None):
            pytest.fail(report(triples), pytrace=False)


def _at_the_end(history: StreamHistory, now: int) -> set[Statement]:
    timeline = Timeline()
    for act in history.acts:
        asserted(timeline, act)
    return timeline.model(history.program, now).facts


def test_enough_random_stream_histories_have_every_feature_and_every_effect() -> None:
    found = shares(draw_stream_history(seed) for seed in range(150))
    assert not too_low(found, LEAST)
    assert not too_low(found, {f"acts: {effect}": least for effect, least in LEAST_OF_ACTS.items()})


def test_the_same_seed_gives_the_same_stream_history() -> None:
    assert str(draw_stream_history(7)) == str(draw_stream_history(7))


def test_shrinking_a_stream_history_keeps_only_what_a_failure_needs() -> None:
    history = draw_stream_history(3)
    needed, last = history.program.rules[0], history.acts[-1]

    def fails(other: StreamHistory) -> bool:
        return needed in other.program.rules and last in other.acts

    small = shrink(history, fails, smaller)
    assert small.program.rules == (needed,)
    assert small.acts == (last,)
