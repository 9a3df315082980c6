"""What the messages of a micro-batch add and remove, in whatever order Spark hands them over."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest

from livefacts.engine.spark.read.asked_facts import Rows
from livefacts.engine.spark.streaming.message_rows import MessageRows
from livefacts.engine.spark.streaming.operations import Operations, read_operations
from livefacts.sources import read_map

SCHEMA = pa.schema(
    [
        ("value", pa.binary()),
        ("key", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("time", pa.timestamp("us", "UTC")),
    ]
)
A, B = "<urn:a> <urn:p> <urn:o> .", "<urn:b> <urn:p> <urn:o> ."


def rows(*values: str | bytes | None, **columns: Any) -> MessageRows:
    """Messages of one partition, a second apart."""
    count = len(values)
    given = {
        "value": [each.encode() if isinstance(each, str) else each for each in values],
        "key": [None] * count,
        "topic": ["t"] * count,
        "partition": [0] * count,
        "offset": list(range(count)),
        "time": [dt.datetime.fromtimestamp(n, dt.UTC) for n in range(count)],
        **columns,
    }
    return MessageRows(pa.table(given, SCHEMA))


def texts(read: Operations, found: Rows) -> set[str]:
    """Facts as texts."""
    return {" ".join(read.asked.dictionary.texts(row)) for ids in found.values() for row in ids}


def effect(read: Operations) -> tuple[set[str], set[str], list[str]]:
    return (
        texts(read, read.asked.added),
        texts(read, read.asked.removed),
        [str(each) for each in read.rejected],
    )


def test_a_message_shows_what_it_is() -> None:
    read = read_operations(
        rows(
            "<urn:a> <urn:p> <urn:o> .",
            "A <urn:b> <urn:p> <urn:o> <urn:g> .",
            "D <urn:c> <urn:p> <urn:o> .",
            '{"facts": "<urn:d> <urn:p> 1 .", "retract": "near(a, b) ."}',
            "TX .\nA <urn:e> <urn:p> <urn:o> .\nTC .",
            "near(b, c) .",
            "@prefix x: <urn:> . x:f x:p x:o , x:q .",
            "A far(a, b) .",
        )
    )
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    assert effect(read) == (
        {
            "<urn:a> <urn:p> <urn:o>",
            "<urn:b> <urn:p> <urn:o> <urn:g>",
            f'<urn:d> <urn:p> "1"^^{integer}',
            "<urn:e> <urn:p> <urn:o>",
            "near b c",
            "far a b",
            "<urn:f> <urn:p> <urn:o>",
            "<urn:f> <urn:p> <urn:q>",
        },
        {"<urn:c> <urn:p> <urn:o>", "near a b"},
        [],
    )
    assert read.count == 10


def test_the_last_operation_on_a_fact_wins_in_the_order_of_times_and_offsets() -> None:
    values = [f"A {A}", f"D {A}", f"D {B}", f"A {B}"]
    seconds = [dt.datetime.fromtimestamp(n, dt.UTC) for n in (5, 5, 9, 7)]
    read = read_operations(rows(*values, time=seconds))
    assert effect(read) == (set(), {A[:-2], B[:-2]}, [])


def test_the_order_does_not_depend_on_how_rows_are_handed_over() -> None:
    pick = random.Random(4)
    values = [f"{pick.choice('AD')} <urn:{pick.randrange(9)}> <urn:p> <urn:o> ." for _ in range(99)]
    whole = rows(*values)
    shuffled = whole.table.take(pa.array(pick.sample(range(99), 99)))
    again = MessageRows(shuffled)
    assert effect(read_operations(again)) == effect(read_operations(whole))
    state: set[str] = set()
    for value in values:
        (state.add if value[0] == "A" else state.discard)(value[2:-2])
    assert texts(read_operations(whole), read_operations(whole).asked.added) == state


@pytest.mark.parametrize(
    "bad", ["A <urn:x> .", "<urn:x> nothing", "D <urn:x>", "{", "TX .", b"\xff"]
)
def test_a_message_that_cannot_be_read_is_rejected_with_its_place(bad: str | bytes) -> None:
    read = read_operations(rows(f"A {A}", bad, f"A {B}"))
    added, removed, (reason,) = effect(read)
    assert (added, removed) == ({A[:-2], B[:-2]}, set())
    assert reason.startswith("t:0:1: ")
    assert read.rejected[0].number == 1


def test_a_message_counts_as_a_whole() -> None:
    read = read_operations(rows(f"{A}\n<urn:x> <urn:y>", f"A {A}\nA <urn:x>", f"A {B}"))
    assert effect(read)[0] == {B[:-2]}
    assert len(read.rejected) == 2


def test_what_says_nothing_is_no_mistake() -> None:
    assert effect(read_operations(rows(None, "", "  \n", "# a comment"))) == (set(), set(), [])


def test_a_format_that_is_asked_for_is_that_of_all_messages() -> None:
    read = read_operations(rows(f"A {A}", B), "patch")
    assert effect(read)[0] == {A[:-2]}
    assert len(read.rejected) == 1
    read = read_operations(rows(f"A {A}", B), "facts")
    assert effect(read)[0] == {B[:-2]}


def test_json_of_others_is_read_by_a_map() -> None:
    read = read_operations(rows('{"room": "hall"}', '{"rooms": 1}', "x"), read_map("hot($.room)"))
    assert effect(read)[0] == {"hot hall"}
    assert [each.number for each in read.rejected] == [1, 2]


def test_blank_nodes_of_messages_are_apart_and_the_same_when_they_come_again() -> None:
    values = ["_:x <urn:p> <urn:o> .", "_:x <urn:p> <urn:o> ."]
    first, again = (effect(read_operations(rows(*values)))[0] for _ in range(2))
    assert first == again
    assert len(first) == 2
    lines = rows(*values, partition=[None, None])
    assert len(effect(read_operations(lines))[0]) == 1, "lines of one file share their labels"


def test_labels_in_patches_are_those_that_were_handed_out() -> None:
    read = read_operations(rows("A _:f1_x <urn:p> <urn:o> .", "D <_:f1_y> <urn:p> <urn:o> ."))
    assert effect(read) == ({"_:f1_x <urn:p> <urn:o>"}, {"_:f1_y <urn:p> <urn:o>"}, [])


def test_a_carriage_return_inside_of_a_message_is_no_line_of_its_own() -> None:
    read = read_operations(rows(f"A {A}\r\n", f"{A}\r{B}", f"D {B}\n"))
    assert effect(read) == ({A[:-2]}, {B[:-2]}, [])
