"""Columns of Arrow have what terms say, by type where all of them have one."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import livefacts as lf

XSD = "http://www.w3.org/2001/XMLSchema#"
NOON = datetime(2026, 5, 1, 12)


def column(*written: str) -> pa.ChunkedArray:
    """The column of some terms, each asked for once, in their order."""
    reasoner = lf.Reasoner()
    reasoner.add("".join(f"<x:{at}> <x:p> {term} .\n" for at, term in enumerate(written)))
    values = " ".join(f"<x:{at}>" for at in range(len(written)))
    rows = reasoner.query(f"SELECT ?o {{ VALUES ?s {{ {values} }} ?s <x:p> ?o }} ORDER BY ?s")
    assert not isinstance(rows, bool)
    return rows.to_arrow()["o"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("written", "kind", "values"),
    [
        ((f'"1"^^<{XSD}integer>', f'"-7"^^<{XSD}integer>'), pa.int64(), [1, -7]),
        ((f'"+5"^^<{XSD}int>', f'"12345678901"^^<{XSD}integer>'), pa.int64(), [5, 12345678901]),
        ((f'"1"^^<{XSD}integer>', f'"-INF"^^<{XSD}double>'), pa.float64(), [1.0, float("-inf")]),
        ((f'"2.50"^^<{XSD}decimal>',), pa.decimal128(3, 2), [Decimal("2.50")]),
        ((f'"true"^^<{XSD}boolean>', f'"0"^^<{XSD}boolean>'), pa.bool_(), [True, False]),
        ((f'"2026-05-01"^^<{XSD}date>',), pa.date32(), [date(2026, 5, 1)]),
        ((f'"2026-05-01T12:00:00"^^<{XSD}dateTime>',), pa.timestamp("us"), [NOON]),
        (
            (f'"2026-05-01T14:00:00+02:00"^^<{XSD}dateTime>',),
            pa.timestamp("us", "UTC"),
            [NOON.replace(tzinfo=UTC)],
        ),
    ],
)
def test_terms_of_one_type_are_a_column_of_it(
    written: tuple[str, ...], kind: pa.DataType, values: list[Any]
) -> None:
    found = column(*written)
    assert found.type == kind
    assert found.to_pylist() == values


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        (("<x:a>", '"b"@en', "_:c"), ["x:a", "b"]),
        ((r'"say \"a\\b\"\n"', '"é"'), ['say "a\\b"\n', "é"]),
        ((f'"{10**30}"^^<{XSD}integer>',), [str(10**30)]),
        ((f'"x"^^<{XSD}integer>', f'"1"^^<{XSD}integer>'), ["x", "1"]),
        ((f'"24:61"^^<{XSD}dateTime>',), ["24:61"]),
        ((f'"1"^^<{XSD}integer>', '"1"'), ["1", "1"]),
    ],
)
def test_other_terms_are_texts_that_stand_once(written: tuple[str, ...], texts: list[str]) -> None:
    found = column(*written)
    assert pa.types.is_dictionary(found.type)
    assert [each for each in found.to_pylist() if not each.startswith("_:")] == texts


def test_computed_and_unbound_values_have_their_place() -> None:
    reasoner = lf.Reasoner()
    reasoner.add('<x:a> <x:n> 3 ; <x:name> "Ann" . <x:b> <x:n> 4 .')
    rows = reasoner.query(
        "SELECT (CONCAT('no ', STR(?n)) AS ?text) (?n / 2 AS ?half) ?name ?none "
        "{ ?x <x:n> ?n OPTIONAL { ?x <x:name> ?name } } ORDER BY ?n"
    )
    assert rows.to_arrow().to_pydict() == {  # type: ignore[union-attr]
        "text": ["no 3", "no 4"],
        "half": [Decimal("1.5"), Decimal(2)],
        "name": ["Ann", None],
        "none": [None, None],
    }


def test_facts_and_results_are_frames_and_tables_of_other_libraries() -> None:
    reasoner = lf.Reasoner(rules="hot(?s) :- reading(?s, ?v), ?v > 90 .")
    reasoner.add([("reading", "boiler", 95), ("reading", "oven", 20)])
    readings = reasoner.facts("reading(?sensor, ?value)")
    assert readings.to_pandas().to_dict("list") == {
        "sensor": ["boiler", "oven"],
        "value": [95, 20],
    }
    assert duckdb.sql("SELECT max(value) FROM readings").fetchall() == [(95,)]
    reasoner.add("<x:a> <x:p> <x:b> .")
    triples = reasoner.query("CONSTRUCT WHERE { ?s ?p ?o }")
    assert pa.table(triples).to_pylist() == [
        {"subject": "x:a", "predicate": "x:p", "object": "x:b"}
    ]
    with pytest.raises(lf.InputError, match="several predicates"):
        reasoner.facts().to_arrow()
