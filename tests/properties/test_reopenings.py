"""Random histories in a folder, whose process ends at random points: nothing may differ."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.properties.compare import histories, stream_histories
from tests.properties.compare.registered_bodies import Bodies
from tests.properties.compare.registered_queries import CorrectedHistory, RegisteredHistory
from tests.properties.compare.registered_themes import (
    DeniedHistory,
    SchemaHistory,
    TimedHistory,
)
from tests.properties.compare.reopenings import Home
from tests.properties.generate.histories import draw_history
from tests.properties.generate.seeds import chunks
from tests.properties.generate.stream_histories import draw_stream_history, draw_with_rule_changes

import livefacts as lf
from livefacts.service.registered.scheduled_query import Registration
from livefacts.service.streams.event_time import EventTime

HISTORIES, STREAMS, QUERIES, EVENTS, CHUNKS = 60, 60, 60, 40, 10


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_changes_of_facts_and_rules_survive_the_end_of_the_process(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(60_000 + chunk, 60_000 + HISTORIES, CHUNKS):
        history = draw_history(seed, steps=15, graphs=True)
        found = next(histories.differences(history, folder=tmp_path / str(seed)), None)
        if found:
            pytest.fail(f"{history}\n{found}", pytrace=False)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_windows_go_on_after_the_end_of_the_process_as_if_it_had_not_been(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(61_000 + chunk, 61_000 + STREAMS, CHUNKS):
        history = draw_with_rule_changes(seed) if seed % 2 else draw_stream_history(seed)
        found = next(stream_histories.differences(history, tmp_path / str(seed)), None)
        if found:
            pytest.fail(f"{history}\n{found}", pytrace=False)


def drawn(seed: int, folder: Path) -> RegisteredHistory:
    """A history of one of several kinds."""
    match seed // CHUNKS % 6:
        case 0:
            return RegisteredHistory(seed, folder=folder)
        case 1:
            return RegisteredHistory(seed, Bodies(), folder=folder)
        case 2:
            return CorrectedHistory(seed, folder=folder)
        case 3:
            return DeniedHistory(seed, folder=folder)
        case 4:
            return SchemaHistory(seed, folder=folder)
        case _:
            return TimedHistory(seed, folder=folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_registered_queries_report_after_the_end_of_the_process_as_if_it_had_not_been(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(62_000 + chunk, 62_000 + QUERIES, CHUNKS):
        history = drawn(seed, tmp_path / str(seed))
        found = history.run()
        if found:
            pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)


class EventPair:
    """Event time in memory and in a folder that is opened again and again, told the same."""

    STREAMS = ("x:one", "x:two")
    RULES = "[?x, <x:near>, ?y] :- [?x, <x:at>, ?z], [?y, <x:at>, ?z] ."
    QUERY = (
        "REGISTER ISTREAM near AS SELECT ?x ?y FROM STREAM <x:one> [RANGE 4 STEP 1] "
        "FROM STREAM <x:two> [RANGE 6 STEP 2] { ?x <x:near> ?y }"
    )

    def __init__(self, seed: int, folder: Path) -> None:
        self.pick = pick = random.Random(f"events {seed}")
        self.given: dict[str, Any] = {
            "lateness": pick.choice((0, 2, {"x:one": 3})),
            "late": pick.choice(("wait", "correct")),
            "streams": pick.choice(((), ("x:one",), self.STREAMS)),
            "idle": pick.choice((None, 4)),
            "max_ahead": pick.choice((None, 6)),
        }
        self.home = Home(folder, seed)
        self.memory, self.kept = lf.Reasoner(self.RULES), self.home.open(self.RULES)
        self.asked = [self.begun(each) for each in (self.memory, self.kept)]
        self.time = 0

    def begun(self, reasoner: lf.Reasoner) -> tuple[EventTime, Registration]:
        return reasoner.event_time(**self.given), reasoner.register(self.QUERY)

    def step(self) -> None:
        """One thing happens on both sides; what both say afterwards is the same."""
        found = self.home.again(self.kept)
        if found is not self.kept:
            self.kept, self.asked[1] = found, self.begun(found)
        pick = self.pick
        self.time += pick.choice((0, 1, 1, 2))
        at, stream = self.time + pick.choice((-4, -2, -1, 0, 0, 1, 8)), pick.choice(self.STREAMS)
        fact = f"<x:{pick.choice('abc')}> <x:at> <x:{pick.choice('pq')}> ."
        is_silent = pick.random() < 0.15
        for events, _ in self.asked:
            if is_silent:
                events.elapse(self.time)
            else:
                events.push(fact, at=at, stream=stream)
        is_read = pick.random() < 0.6
        assert self.said(0, is_read) == self.said(1, is_read)

    def said(self, side: int, is_read: bool) -> list[object]:
        """What there is to be seen; reports that are not read now wait for another step."""
        (events, query), reasoner = self.asked[side], (self.memory, self.kept)[side]
        found = query.results() if is_read else ()
        reports = [(r.time, r.last, r.correction, sorted(map(str, r))) for r in found]
        return [reasoner.now, sorted(map(str, reasoner)), events.stats(), reports]


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_event_time_goes_on_after_the_end_of_the_process_as_if_it_had_not_been(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(63_000 + chunk, 63_000 + EVENTS, CHUNKS):
        pair = EventPair(seed, tmp_path / str(seed))
        for _ in range(25):
            pair.step()
