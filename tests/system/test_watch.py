"""`livefacts watch`: signed rows on standard output, everything else apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.system.running import livefacts

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
KB = f"<x:Cat> <{RDFS}subClassOf> <x:Animal> .\n<x:tom> {TYPE} <x:Cat> .\n"
PATCH = f"""H id "1" .
TX .
A <x:kit> {TYPE} <x:Cat> .
D <x:tom> {TYPE} <x:Cat> .
TC .
A <x:rex> {TYPE} <x:Animal> .
"""
ANIMALS = "SELECT ?x { ?x a <x:Animal> }"


@pytest.fixture
def kb(tmp_path: Path) -> str:
    path = tmp_path / "kb.nt"
    path.write_text(KB)
    return str(path)


@pytest.fixture
def updates(tmp_path: Path) -> str:
    path = tmp_path / "changes.rdfp"
    path.write_text(PATCH)
    return str(path)


def test_answers_come_first_and_then_what_each_transaction_changes(kb: str, updates: str) -> None:
    ended = livefacts("watch", ANIMALS, "--data", kb, "--rules", "rho-df", "--updates", updates)
    assert ended.code == 0
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines == [["?x"], ["+", "<x:tom>"], ["-", "<x:tom>"], ["+", "<x:kit>"], ["+", "<x:rex>"]]
    assert "4 rows printed" in ended.err


def test_updates_are_read_from_standard_input_and_told_as_json(kb: str) -> None:
    ended = livefacts(
        *("watch", ANIMALS, "--data", kb, "--rules", "rho-df", "--changes-only"),
        *("--updates", "-", "--format", "jsonl"),
        stdin=PATCH,
    )
    asserted = [json.loads(line) for line in ended.out.splitlines()]
    assert [(each["op"], each["row"]["x"]["value"], each["seq"]) for each in asserted] == [
        ("-", "x:tom", 2),
        ("+", "x:kit", 2),
        ("+", "x:rex", 3),
    ]


def test_columns_stand_below_their_names(kb: str, updates: str) -> None:
    ended = livefacts("watch", "SELECT ?x ?c { ?x a ?c }", "--data", kb, "--updates", updates)
    head, *rows = ended.out.splitlines()
    assert len(rows) > 2
    assert {row.rindex("<") for row in rows} == {head.index("?c")}
    assert {row.index("<") for row in rows} == {head.index("?x")}


def test_rows_as_csv_have_a_head(kb: str, updates: str) -> None:
    ended = livefacts(
        *("watch", "SELECT ?c (COUNT(?x) AS ?n) { ?x a ?c } GROUP BY ?c", "--data", kb),
        *("--updates", updates, "--format", "csv", "--changes-only"),
    )
    assert ended.out.splitlines() == ["op,seq,time,count,c,n", "+,3,,1,x:Animal,1"]


TIMED = f"""H time 17 .
A <x:kit> {TYPE} <x:Cat> .
TX .
H time "2026-11-16T08:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
D <x:kit> {TYPE} <x:Cat> .
TC .
"""


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", ["17 +    <x:kit>", "2026-11-16T08:00:00Z -    <x:kit>"]),
        ("csv", ["+,2,17,1,x:kit", "-,3,2026-11-16T08:00:00Z,1,x:kit"]),
    ],
)
def test_a_change_is_told_with_the_time_of_its_message(
    kb: str, form: str, expected: list[str]
) -> None:
    watched = ("watch", "SELECT ?x { ?x a <x:Cat> }", "--data", kb, "--changes-only")
    ended = livefacts(*watched, "--updates", "-", "--format", form, stdin=TIMED)
    assert ended.out.splitlines()[1:] == expected


def test_the_time_of_a_change_is_a_number_or_a_date_in_json(kb: str) -> None:
    watched = ("watch", "SELECT ?x { ?x a <x:Cat> }", "--data", kb)
    ended = livefacts(*watched, "--updates", "-", "--format", "jsonl", stdin=TIMED)
    times = [json.loads(line).get("time") for line in ended.out.splitlines()]
    assert times == [None, 17, "2026-11-16T08:00:00Z"]


def test_a_mistake_in_the_updates_is_shown_where_it_stands(kb: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.rdfp"
    path.write_text(f"{PATCH}# a comment\nA <x:a> <x:b .\n")
    ended = livefacts("watch", ANIMALS, "--data", kb, "--updates", str(path))
    assert ended.code == 1
    assert "wrong.rdfp:8:" in ended.err


def test_the_plan_is_said_first(kb: str) -> None:
    ended = livefacts("watch", ANIMALS, "--data", kb, "--plan")
    assert "every step is followed change by change" in ended.err


def test_a_query_that_is_refused_ends_with_1(kb: str) -> None:
    ended = livefacts("watch", "SELECT ?x { ?x a ?y FILTER(RAND() < 1) }", "--data", kb)
    assert (ended.code, ended.out) == (1, "")
    assert "another value each time" in ended.err
