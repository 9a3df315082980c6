"""The log of arrivals: what comes, goes, is forgotten, and is written down and read back."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from pyoxigraph import NamedNode

from livefacts.service.streams import arrival_log
from livefacts.service.streams.arrival_log import ArrivalLog, ArrivalView, LogState
from livefacts.service.streams.fact_rows import row_bytes
from livefacts.service.streams.saved_time import SavedTime, unpacked
from livefacts.store.terms.dictionary import Dictionary

ALL = range(-5, 25)


def rows(*numbers: int) -> dict[int, Any]:
    """Facts of one predicate, one for each number."""
    return {2: np.array([[7, number] for number in numbers], np.int32)}


def seen(view: ArrivalView) -> list[tuple[int, int, list[list[int]]]]:
    return [(c.time, c.lane, c.ids.tolist()) for c in view.chunks(ALL[0], ALL[-1])]


def test_the_same_fact_twice_at_a_time_point_of_a_stream_is_one_arrival() -> None:
    log = ArrivalLog()
    log.add(3, 1, [rows(1, 2), rows(2, 3)])
    log.add(3, 1, [rows(1)])
    log.add(3, 2, [rows(1)])
    assert seen(ArrivalView(log)) == [
        (3, 1, [[7, 1], [7, 2]]),
        (3, 1, [[7, 3]]),
        (3, 2, [[7, 1]]),
    ]
    assert len(log) == 4


def test_what_a_query_makes_is_seen_by_those_who_read_it() -> None:
    log = ArrivalLog()
    log.add(1, 5, [rows(1)])
    log.add(1, ~5, [rows(2)])
    assert [ids for _, _, ids in seen(ArrivalView(log))] == [[[7, 1]]]
    assert [ids for _, _, ids in seen(ArrivalView(log, 5, {5}))] == [[[7, 1]], [[7, 2]]]
    assert seen(ArrivalView(log).without([5])) == []


def test_what_was_taken_back_can_be_restored_in_its_place() -> None:
    log = ArrivalLog()
    log.add(1, 5, [rows(1, 2, 3)])
    log.add(1, 5, [rows(4)])
    before = seen(ArrivalView(log))
    gone, chunks = log.remove(1, 5, rows(2, 9))
    assert [chunk.ids.tolist() for chunk in gone] == [[[7, 2]]]
    log.restore(chunks)
    assert seen(ArrivalView(log)) == before


@pytest.mark.parametrize("seed", range(10))
def test_a_log_that_is_written_down_and_read_back_is_the_same(seed: int) -> None:
    pick, log = Random(seed), ArrivalLog()
    log.first = 0
    for _ in range(40):
        time, lane = pick.randrange(20), pick.choice((1, 2, ~2))
        facts = rows(*pick.sample(range(8), 3))
        if pick.random() < 0.3:
            log.remove(time, lane, facts)
        else:
            log.add(time, lane, [facts])
    log.forget(lambda lane: 4)
    log.lateness[1] = 3
    copy = ArrivalLog()
    copy.resume(read_back(log.state()))
    assert seen(ArrivalView(copy, made={2})) == seen(ArrivalView(log, made={2}))
    assert (copy.first, copy.set_aside, copy.lateness) == (log.first, log.set_aside, log.lateness)
    assert len(copy) == len(log)
    for each in (log, copy):
        each.add(9, 1, [rows(1, 9)])
        each.remove(12, ~2, rows(*range(8)))
    views = [ArrivalView(each, 1) for each in (log, copy)]
    assert views[0].count_until(20) == views[1].count_until(20)
    assert seen(views[0]) == seen(views[1])


def read_back(state: LogState) -> LogState:
    """The state by way of JSON."""
    dictionary = Dictionary()
    dictionary.encode([NamedNode(f"x:{number}") for number in range(20)])
    written = json.dumps(SavedTime(3, False, state, {}).packed(dictionary.reader()))
    return unpacked(json.loads(written), dictionary).log


class Last:
    """A window that counts facts."""

    def __init__(self, count: int) -> None:
        self.count = count

    def wanted(self) -> int:
        return self.count

    def chosen(self, chunk: arrival_log.ArrivalChunk) -> Any:
        return np.ones(len(chunk.ids), np.bool_)


def test_what_a_window_by_count_may_need_is_kept_however_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrival_log, "FEWEST_SWEPT", 0)
    log = ArrivalLog()
    for time in range(10):
        log.add(time, 1, [rows(time, time + 100)])
    log.forget(lambda lane: 9, [Last(5)])
    view = ArrivalView(log)
    assert view.between(*ALL[:: len(ALL) - 1]) == [7, 8, 9]
    assert view.count_until(9) == 20
    assert row_bytes(view.at(7)[0].ids) == row_bytes(rows(7, 107)[2])
