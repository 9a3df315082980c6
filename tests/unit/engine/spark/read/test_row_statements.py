"""Rows of texts as statements: what files say of them, and no more than one term in a value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyoxigraph import RdfFormat, parse

from livefacts.engine.spark.read.row_statements import FRAME, RowStatements, statements_of
from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.ntriples import DEFAULT_GRAPH
from livefacts.syntax.input.rejects import Rejects

S, P = "<urn:s>", "<urn:p>"
GOOD = [
    "<urn:o>",
    "_:b0.1",
    '"plain"',
    '"with \\"quotes\\" # and . marks <urn:x>"',
    '"two\\nlines"@en',
    '"4"^^<http://www.w3.org/2001/XMLSchema#integer>',
    '"\\u00e9"',
    '<<( <urn:a> <urn:b> <<( <urn:a> <urn:b> "c" )>> )>>',
]
BAD = [
    "urn:o",
    "plain",
    "",
    " <urn:o>",
    "<urn:o> ",
    "<urn:o> <urn:g>",
    "<urn:o> . # and so on",
    "<urn:o> .\n<urn:x> <urn:y> <urn:z>",
    '"open',
    '"a" "b"',
    '"two\nlines"',
    '"a\\\r"',
    "_:",
    "_:b# hidden",
    "_:b.",
    "<<( <urn:a> <urn:b> <urn:c> )>> <urn:g>",
    "<<( <urn:a> <urn:b> )>>",
    "<relative>",
]


def table(*rows: tuple[str | None, ...], **more: list[Any]) -> pa.Table:
    columns = {name: [row[at] for row in rows] for at, name in enumerate("spog")}
    return pa.table({name: pa.array(each, pa.string()) for name, each in columns.items()} | more)


def read(rows: pa.Table, scope: bytes = b"") -> tuple[list[tuple[str, ...]], Rejects]:
    """The statements as texts, and what was rejected."""
    dictionary, rejects, found = Dictionary(), Rejects(), []
    for batch in RowStatements(rows.to_batches(max_chunksize=3), scope, rejects).read(dictionary):
        graphs = batch.graphs if batch.graphs is not None else [DEFAULT_GRAPH] * len(batch.rows)
        for row, graph in zip(batch.rows.tolist(), graphs, strict=True):
            ids = row if graph == DEFAULT_GRAPH else [*row, graph]
            found.append(tuple(str(term) for term in dictionary.decode(ids)))
    return found, rejects


def test_every_kind_of_term_is_what_a_file_would_have() -> None:
    found, rejects = read(table(*((S, P, o, None) for o in GOOD)))
    assert not rejects.count
    file = "".join(f"{S} {P} {o} .\n" for o in GOOD).encode()
    stated = {str(quad.object) for quad in parse(file, format=RdfFormat.N_TRIPLES)}
    assert {row[2] for row in found} == stated


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("place", range(4))
def test_a_value_that_is_not_one_whole_term_takes_its_row_alone(text: str, place: int) -> None:
    bad = [S, P, "<urn:bad>", "<urn:g>"]
    bad[place] = text
    rows = table((S, P, "<urn:1>", None), tuple(bad), (S, P, "<urn:2>", "<urn:g>"))
    found, rejects = read(rows)
    assert sorted(found) == [(S, P, "<urn:1>"), (S, P, "<urn:2>", "<urn:g>")]
    (reject,) = rejects.kept
    assert (reject.file, reject.line) == (FRAME, 2)
    assert text[:10].strip() in reject.text


def test_nulls_are_rejected_and_a_graph_may_be_null() -> None:
    rows = table((None, P, S, None), (S, None, S, None), (S, P, None, None), (S, P, S, None))
    found, rejects = read(rows)
    assert found == [(S, P, S)]
    assert [(r.line, r.reason) for r in rejects.kept] == [
        (1, "s is null"),
        (2, "p is null"),
        (3, "o is null"),
    ]


def test_rows_are_counted_over_batches_and_labels_have_the_scope() -> None:
    rows = table(*((f"_:b{n}", P, "<urn:o>" if n != 7 else "no", None) for n in range(9)))
    found, rejects = read(rows, b"s1f0")
    assert {row[0] for row in found} == {f"_:s1f0_b{n}" for n in range(9) if n != 7}
    assert [reject.line for reject in rejects.kept] == [8]


def test_a_change_takes_all_rows_or_names_the_first_bad_one() -> None:
    good = table((S, P, "<urn:o>", None))
    assert sum(len(batch.rows) for batch in statements_of(good, Dictionary(), b"")) == 1
    bad = table((S, P, "<urn:o>", None), (S, P, None, None))
    with pytest.raises(InputError, match="o is null") as refused:
        statements_of(bad, Dictionary(), b"")
    assert refused.value.place is not None
    assert refused.value.place.line == 2


def test_a_line_that_was_bad_where_it_comes_from_is_told_with_its_place() -> None:
    more = {"line": [17], "_corrupt_record": ["<half"], "file": ["a.nt"], "reason": ["cut"]}
    _, rejects = read(table((None, None, None, None), **more))
    (reject,) = rejects.kept
    assert (reject.line, reject.reason, reject.text) == (0, "cut (a.nt:17)", "<half")
