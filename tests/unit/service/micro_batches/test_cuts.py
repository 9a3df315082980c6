"""Answers over a stream do not depend on where it is cut into batches."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.unit.service.micro_batches.cut_streams import (
    Asked,
    answers_embedded,
    answers_in,
    answers_in_batches,
    cut,
    reasoner_of,
    table_of,
)

import livefacts as lf
from livefacts.service.micro_batches import stream_reasoner

X = "http://x/"
CUTS = 10
PREFIX = f"@prefix : <{X}> ."
SELECT = f"PREFIX : <{X}> SELECT ?s ?o FROM STREAM <{X}s>"

PROGRAMS = {
    "by time": f"{PREFIX} [?s, :was, ?o] :- sometime [?s, :p, ?o] in [4] .",
    "by count": f"{PREFIX} [?s, :last, ?o] :- sometime [?s, :p, ?o] in [3 facts] .",
    "by session": f"{PREFIX} [?s, :busy, ?o] :- sometime [?s, :p, ?o] in [session 3] .",
    "in the past": f"{PREFIX} [?s, :then, ?o] :- sometime [?s, :p, ?o] in [6 until 2 ago] .",
    "stepped": f"{PREFIX} [?s, :seen, ?o] :- sometime [?s, :p, ?o] in [range 6 step 3] .",
    "negation": f"""{PREFIX} [?s, :known, :yes] :- sometime [?s, :p, ?o] in [9] .
        [?s, :quiet, :yes] :- [?s, :known, :yes], not sometime [?s, :p, :a] in [2] .""",
    "always": f"""{PREFIX} at ?t [?s, :hot, ?o] :- at ?t [?s, :p, ?o] in [3] .
        [?s, :alarm, ?o] :- always [?s, :hot, ?o] in [1] .""",
    "totals": f"{PREFIX} [?s, :n, ?n] :- ?n = count {{ ?o : sometime [?s, :p, ?o] in [5] }} .",
}
QUERIES = {
    "by time": f"REGISTER QUERY q AS {SELECT} [RANGE 6 STEP 2] WHERE {{ ?s :p ?o }}",
    "by count": f"REGISTER QUERY q AS {SELECT} [TRIPLES 4] WHERE {{ ?s :p ?o }}",
    "by session": f"REGISTER QUERY q COMPUTE EVERY 1 AS {SELECT} [SESSION 3] WHERE {{ ?s :p ?o }}",
    "in the past": f"REGISTER QUERY q AS {SELECT} [FROM NOW-PT6S TO NOW-PT2S] WHERE {{ ?s :p ?o }}",
    "new ones": f"REGISTER ISTREAM q AS {SELECT} [RANGE 4 STEP 1] WHERE {{ ?s :p ?o }}",
    "negation": f"""REGISTER QUERY q AS {SELECT} [RANGE 6 STEP 2]
        WHERE {{ ?s :p ?o FILTER NOT EXISTS {{ ?s :p :a }} }}""",
    "totals": f"""REGISTER QUERY q AS PREFIX : <{X}> SELECT ?s (COUNT(?o) AS ?n)
        FROM STREAM <{X}s> [RANGE 6 STEP 2] WHERE {{ ?s :p ?o }} GROUP BY ?s""",
}


def lines_of(random: Random, late: int, *, named: bool) -> list[str]:
    """Facts of a stream; some are late."""
    time, lines = 1, []
    for _ in range(random.randint(20, 45)):
        time += random.choice((0, 0, 1, 1, 2, 7))
        at = max(1, time - random.choice((0, 0, 0, 1, late)))
        stream = f" <{X}s>" if named else ""
        fact = (
            f"<{X}{random.choice('uvw')}> <{X}{random.choice('ppq')}> <{X}{random.choice('abc')}>"
        )
        lines.append(f"{fact}{stream} {at} .")
    return lines


@pytest.mark.parametrize("lateness", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_concludes_is_the_same_however_a_stream_is_cut(
    name: str, lateness: int, tmp_path: Path
) -> None:
    check(Asked(PROGRAMS[name], lateness), Random(f"{name}{lateness}"), tmp_path, named=False)


@pytest.mark.parametrize("lateness", [0, 3])
@pytest.mark.parametrize("name", QUERIES)
def test_what_a_query_reports_is_the_same_however_a_stream_is_cut(
    name: str, lateness: int, tmp_path: Path
) -> None:
    check(Asked(QUERIES[name], lateness), Random(f"{name}{lateness}"), tmp_path, named=True)


def test_history_that_is_forgotten_within_a_batch_has_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, random = Asked(PROGRAMS["by time"]), Random(5)
    lines = lines_of(random, 3, named=False)
    monkeypatch.setattr(stream_reasoner, "KEEP", 0)
    stream = reasoner_of(asked, tmp_path)
    steps: list[str] = []

    def on_step(step: str) -> None:
        steps.append(step)
        if len(steps) % 5 == 0:
            stream.reasoner.checkpoint()

    monkeypatch.setattr(stream_reasoner, "on_step", on_step)
    stream.take(table_of(list(enumerate(lines))), 0)
    assert len(steps) > 20
    stream.reasoner.checkpoint()
    with pytest.raises(lf.LivefactsError, match="keep="):
        list(stream.reasoner.changes_since(0))
    stream.close()
    assert answers_in(tmp_path) == answers_embedded(asked, lines)


def check(asked: Asked, random: Random, folder: Path, *, named: bool) -> None:
    lines = lines_of(random, 5 if asked.lateness else 3, named=named)
    expected = answers_embedded(asked, lines)
    assert expected
    for number in range(CUTS):
        found = answers_in_batches(
            asked, cut(random, lines), folder / str(number), reopened=number == 0
        )
        assert found == expected, f"cut {number}"
