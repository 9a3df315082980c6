"""CSRBench: C-SPARQL queries over sensor observations, beside what the C-SPARQL engine answered.

The data of second NN arrives between NN and NN + 1, so it has arrived at time point NN + 1.
Then every recorded answer of the engine (queries 1 and 4) is one of ours, at the same time.
Query 3 has no record; its answers are compared with those of a plain SPARQL query over the
files of each window.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import RdfFormat, Store

import livefacts as lf
from livefacts.service.registered.scheduled_query import Registration

STREAM = "http://ex.org/streams/test"
SECONDS = 34


def text_of(folder: Path, number: int, file: str = "engine.query") -> str:
    """A query with the values of its configuration."""
    values = json.loads((folder / f"queries/csparql_Q{number}/config.json").read_text())["vars"]
    text = (folder / f"queries/csparql_Q{number}" / file).read_text()
    return re.sub(r"\$\{(\w+)\}", lambda found: str(values[found[1]]), text)


def played(folder: Path, number: int, until: int) -> Registration:
    """A query that has seen all of the data."""
    r = lf.Reasoner(start=0)
    query = r.register(text_of(folder, number))
    for second in range(SECONDS):
        text = (folder / f"data/data_{second:02d}.ttl").read_text()
        r.push(text, at=second + 1, stream=STREAM)
    r.advance(until)
    return query


def recorded(folder: Path, number: int) -> dict[int, list[dict[str, Any]]]:
    """What the engine answered, by second."""
    asserted = json.loads((folder / f"csparql-answer-{number}.json").read_text())
    return {
        relation["timestamp"] // 1000: [b["binding"] for b in relation["results"]["bindings"]]
        for relation in asserted["relations"]
    }


@pytest.fixture
def folder(third_party_data: Path) -> Path:
    return third_party_data / "csrbench"


def test_query_1_answers_what_the_engine_answered(folder: Path) -> None:
    found = {
        report.time: {(row["sensor"].value, row["obs"].value) for row in report.rows}  # type: ignore[union-attr]
        for report in played(folder, 1, 40).results()
    }
    for second, rows in recorded(folder, 1).items():
        expected = {(row["sensor"]["value"], row["obs"]["value"]) for row in rows}
        assert found.get(second, set()) == expected


def test_query_4_answers_what_the_engine_answered(folder: Path) -> None:
    found = {
        time: float(report.rows[0]["avg"].value)  # type: ignore[union-attr]
        for report in played(folder, 4, 36).results()
        for time in range(report.first, report.last + 1, 4)
    }
    for second, (row,) in recorded(folder, 4).items():
        assert found[second] == pytest.approx(float(row["avg"]["value"]))


def test_query_3_answers_what_a_query_over_each_window_answers(folder: Path) -> None:
    found = {
        report.time: {tuple(map(str, row)) for row in report.rows}
        for report in played(folder, 3, 36).results()
    }
    asked = text_of(folder, 3, "oracle.query")
    for time in range(4, 37, 4):
        store = Store()
        for second in range(time - 4, min(time, SECONDS)):
            store.load(path=folder / f"data/data_{second:02d}.ttl", format=RdfFormat.TURTLE)
        expected = {tuple(map(str, row)) for row in store.query(asked)}  # type: ignore[union-attr]
        assert found.get(time, set()) == expected
    assert sum(map(len, found.values())) > 9
