"""Random streams of rows: who reads them finds the rows that were reported while its window saw them."""

from __future__ import annotations

from random import Random

import pytest
from tests.properties.generate.seeds import chunks
from tests.unit.service.registered.stage import EX, Stage, by_time, triples

MAKER = "REGISTER STREAM <made> AS SELECT ?x ?y FROM STREAM <s> [RANGE {}] WHERE {{ ?x :in ?y }}"
READER = (
    f"REGISTER QUERY q AS PREFIX made: <{EX}made#> SELECT ?x ?y FROM STREAM <made> [RANGE {{}}] "
    "WHERE {{ ?row made:x ?x ; made:y ?y }}"
)
LAST, LATENESS, SEEDS = 12, 4, 40


@pytest.mark.parametrize("chunk", chunks(4, 1))
def test_rows_are_read_as_long_as_the_window_sees_a_report_that_had_them(chunk: int) -> None:
    for seed in range(chunk, SEEDS, 4):
        pick, stage = Random(seed), Stage(start=1)
        made, read = pick.randint(1, 4), pick.randint(1, 4)
        stage.register(MAKER.format(made))
        query = stage.register(READER.format(read))
        corrects = pick.random() < 0.5
        events = stage.reasoner.event_time(lateness=LATENESS if corrects else 0, late="correct")
        arrivals = sorted(
            (pick.randint(1, LAST), pick.choice("AB"), pick.choice("CD")) for _ in range(9)
        )
        if corrects:
            arrivals.sort(key=lambda arrival: arrival[0] + pick.randint(0, 2))
        for time, one, other in arrivals:
            events.push(triples(f"in {one} {other}"), time, EX + "s")
        events.finish()
        for time, words in by_time(query).items():
            seen = {
                f"{one}{other}"
                for at, one, other in arrivals
                for report in range(max(1, time - read + 1), time + 1)
                if report - made < at <= report
            }
            assert words == " ".join(sorted(seen)), f"seed {seed}, time {time}: {arrivals}"
