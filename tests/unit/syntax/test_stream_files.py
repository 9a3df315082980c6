"""Stream files: facts and their times, and what is rejected."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from livefacts.errors import InputError
from livefacts.model.facts import Fact, Symbol
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.stream_files import Event, read_events

EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
FACT = Triple(NamedNode(EX + "a"), NamedNode(EX + "in"), NamedNode(EX + "b"))
OTHER = Triple(NamedNode(EX + "c"), NamedNode(EX + "in"), NamedNode(EX + "d"))
A, B = f"<{EX}a> <{EX}in> <{EX}b>", f"<{EX}c> <{EX}in> <{EX}d>"
NOON = Literal("2026-01-01T12:00:00Z", datatype=NamedNode(XSD + "dateTime"))


def read(text: str, format: str | None = None) -> tuple[list[Event], list[str]]:
    with Rejects() as rejects:
        events = list(read_events(text.encode(), rejects, format))
    return events, [f"{reject.line}: {reject.reason}" for reject in rejects.kept]


def test_timed_quads_name_their_stream_and_time() -> None:
    events, rejected = read(f'{A} <{EX}s> "7"^^<{XSD}integer> .\n{B} <{EX}s> 8 . # late\n')
    assert rejected == []
    seven = Literal("7", datatype=NamedNode(XSD + "integer"))
    assert events == [Event(seven, EX + "s", (FACT,)), Event(8, EX + "s", (OTHER,))]


def test_timed_triples_have_a_time_and_no_stream() -> None:
    events, _ = read(f'{A} "2026-01-01T12:00:00Z"^^<{XSD}dateTime> .\n')
    assert events == [Event(NOON, None, (FACT,))]


def test_lines_of_one_time_and_stream_are_one_event() -> None:
    events, _ = read(f"{A} 1 .\n\n# remark\n{B} 1 .\n{A} 2 .\n")
    assert [(event.time, len(event.facts)) for event in events] == [(1, 2), (2, 1)]


def test_a_bad_line_is_rejected_and_costs_no_other() -> None:
    events, rejected = read(f"{A} 1 .\n{B} .\n<{EX}a> nonsense 2 .\n{B} 3 .\n")
    assert [event.time for event in events] == [1, 3]
    assert [line.partition(":")[0] for line in rejected] == ["2", "3"]


def test_json_lines_push_and_retract() -> None:
    events, rejected = read(
        f'{{"at": 3, "stream": "{EX}s", "facts": "{A} ."}}\n'
        '{"at": "2026-01-01T12:00:00Z", "facts": ["inside(a, b) ."], "retract": "inside(c, d) ."}\n'
    )
    assert rejected == []
    inside = [Fact("inside", (Symbol(x), Symbol(y))) for x, y in ("ab", "cd")]
    assert events == [
        Event(3, EX + "s", (FACT,)),
        Event(NOON, None, (inside[1],), True),
        Event(NOON, None, (inside[0],)),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON"),
        ("[]", "a line is an object"),
        ("{}", 'there is neither "facts" nor "retract"'),
        ('{"facts": ""}', 'there is no "at", which is the time; with --arrival-time'),
        ('{"at": 1, "fact": ""}', 'unknown "fact"; did you mean "facts"?'),
        ('{"at": 1, "colour": "red"}', 'unknown "colour"; there are at, stream, facts, retract'),
        ('{"at": 1.5, "facts": ""}', "whole number or a dateTime"),
        ('{"at": 1}', 'there is neither "facts" nor "retract"'),
        ('{"at": 1, "facts": 7}', "text"),
        ('{"at": 1, "facts": "nonsense"}', ""),
        ('{"at": 1, "facts": "", "stream": 7}', "is an IRI"),
    ],
)
def test_a_bad_json_line_says_why(line: str, reason: str) -> None:
    events, rejected = read(f'{line}\n{{"at": 2, "facts": "{A} ."}}\n', "json")
    assert [event.time for event in events] == [2]
    assert len(rejected) == 1
    assert reason in rejected[0]


def test_the_rows_of_a_patch_happen_at_the_time_of_the_header_above() -> None:
    events, rejected = read(
        f"H stream <{EX}s> .\nH time 1 .\nA {A} .\nTX .\nD {B} .\nTC .\n"
        f"H time 2 .\nPA ex: <{EX}> .\nTX .\nA {B} .\nTA .\nA ex:a ex:in ex:b .\nA inside(a, b) .\n"
    )
    assert rejected == []
    assert events == [
        Event(1, EX + "s", (FACT,)),
        Event(1, EX + "s", (OTHER,), True),
        Event(2, EX + "s", (FACT,)),
        Event(2, EX + "s", (Fact("inside", (Symbol("a"), Symbol("b"))),)),
    ]


def test_a_row_before_any_time_is_rejected() -> None:
    events, rejected = read(f"A {A} .\nH time soon .\nA {A} .\nH time 1 .\nA {A} .\n", "patch")
    assert len(events) == 1
    assert len(rejected) == 3


def test_the_name_of_a_file_tells_its_format(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f'{{"at": 2, "facts": "{A} ."}}\n', encoding="utf-8")
    with Rejects() as rejects:
        assert [event.facts for event in read_events(path, rejects)] == [(FACT,)]


def test_a_line_that_is_not_utf_8_is_rejected() -> None:
    with Rejects() as rejects:
        text = f"{A} 1 .\n".encode() + b"\xff\xfe 2 .\n" + f"{B} 3 .\n".encode()
        assert len(list(read_events(text, rejects))) == 2
    assert rejects.count == 1


@pytest.mark.parametrize(
    ("format", "lines"),
    [
        ("json", ['{"at": 1, "facts": "a ."}', '{"at": "noon", "facts": "a ."}']),
        ("quads", ["<u:a> <u:b> <u:c> 1 .", '<u:a> <u:b> <u:c> "noon" .']),
        ("patch", ["H time 1 .", "A <u:a> <u:b> <u:c> .", 'H time "noon" .']),
    ],
)
def test_a_time_that_cannot_be_read_is_rejected_in_its_line(format: str, lines: list[str]) -> None:
    with Rejects(None) as rejects:
        events = list(read_events("\n".join(lines).encode(), rejects, format))
    assert [event.time for event in events] == [1]
    (reject,) = rejects.kept
    assert reject.line == len(lines)
    assert "is not a time point" in reject.reason


@pytest.mark.parametrize(
    "text",
    [
        f"{A} <{EX}s> .\n{B} <{EX}s> .",
        f"{A} <{EX}s> 5 .\n{B} <{EX}s> .",
        f'{{"stream": "{EX}s", "facts": "{A} ."}}\n{{"stream": "{EX}s", "facts": "{B} ."}}',
        f"A {A} <{EX}s> .\nA {B} <{EX}s> .",
        f"H stream <{EX}s> .\nA {A} .\nA {B} .",
    ],
)
def test_where_times_do_not_matter_lines_need_none(text: str) -> None:
    with Rejects() as rejects:
        events = list(read_events(text.encode(), rejects, untimed=0))
    assert rejects.count == 0
    assert [fact for event in events for fact in event.facts] == [FACT, OTHER]
    assert {event.stream for event in events} == {EX + "s"}
    assert read(text)[0] != events


def test_a_number_that_ends_a_line_without_a_time_is_its_object() -> None:
    number = Literal("17", datatype=NamedNode(XSD + "integer"))
    text = f"<{EX}a> <{EX}in> {number} .\n<{EX}a> <{EX}in> {number} 5 .\n"
    with Rejects() as rejects:
        events = list(read_events(text.encode(), rejects, untimed=0))
    fact = Triple(NamedNode(EX + "a"), NamedNode(EX + "in"), number)
    assert events == [Event(0, None, (fact,)), Event(5, None, (fact,))]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f'{{"at": 1, "facts": "{A} ."}}\n{{"at": 2, "stream": "zz", "facts": "{B} ."}}\n', "2"),
        (f"H time 1 .\nA {A} .\nH stream <zz> .\nA inside(a, b) .\n", "34"),
    ],
)
def test_a_stream_without_a_proper_name_costs_its_lines_alone(text: str, lines: str) -> None:
    events, rejected = read(text)
    assert [event.facts for event in events] == [(FACT,)]
    assert [line.partition(":")[0] for line in rejected] == list(lines)
    assert "'zz' is not the name of a stream" in rejected[0]


def test_rejected_lines_say_where_and_what_is_wrong() -> None:
    with Rejects() as rejects:
        assert not list(read_events(f"garbage\n{A} .\n".encode(), rejects))
    assert all(reject.column == 1 for reject in rejects.kept)
    assert ["time is missing" in reject.reason for reject in rejects.kept] == [False, True]
    assert "--arrival-time" in rejects.kept[1].reason


@pytest.mark.parametrize("name", ["p.ttl", "p.ttl.gz", "p.rules"])
def test_a_format_without_times_is_refused_as_a_stream(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes((gzip.compress if name.endswith("gz") else bytes)(b"<x:a> a <x:B> ."))
    with (
        pytest.raises(InputError, match="is no format of streams") as refused,
        Rejects() as rejects,
    ):
        list(read_events(path, rejects))
    assert ".nq .nt .trdf .jsonl .ndjson .rdfp" in refused.value.hint
    assert "--data" in refused.value.hint
