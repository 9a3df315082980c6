"""What is written can be read again, and means the same."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.ntriples import Batch
from livefacts.syntax.rdf.documents import read_rows
from livefacts.syntax.rdf.serializer import write_rows

ROOMS = b"""\
<http://example.org/kitchen> <http://example.org/is/in> <http://example.org/house> .
<http://example.org/kitchen> <http://example.org/is/named> "K\\u00FCche \\"1\\""@de .
<http://example.org/kitchen> <http://example.org/is/warm> "21"^^<http://www.w3.org/2001/XMLSchema#integer> .
_:cat <http://example.org/is/in> <http://example.org/kitchen> .
"""
IN_GRAPH = b"<http://example.org/a> <http://example.org/is/b> <http://example.org/c> <http://example.org/g> .\n"
ALL_FORMATS = [".nt", ".nq", ".ttl", ".trig", ".n3", ".rdf", ".owl", ".xml", ".jsonld"]


def rows_of(source: str | Path | bytes, dictionary: Dictionary) -> set[tuple[int, ...]]:
    format = "nq" if isinstance(source, bytes) else None
    found: set[tuple[int, ...]] = set()
    for rows, graphs, _ in read_rows(source, dictionary, format=format):
        column = np.full(len(rows), -1, np.int32) if graphs is None else graphs
        found.update(map(tuple, np.column_stack([rows, column]).tolist()))
    return found


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("extension", ALL_FORMATS)
def test_every_format_is_read_back_as_it_was(tmp_path: Path, extension: str, packing: str) -> None:
    dictionary = Dictionary()
    batches = list(read_rows(ROOMS, dictionary))
    path = tmp_path / f"rooms{extension}{packing}"
    assert write_rows(path, batches, dictionary) == 4
    assert rows_of(path, dictionary) == rows_of(ROOMS, dictionary)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("extension", [".nq", ".trig", ".jsonld"])
def test_graphs_are_kept_where_the_format_has_them(tmp_path: Path, extension: str) -> None:
    dictionary = Dictionary()
    batches = list(read_rows(ROOMS + IN_GRAPH, dictionary, format="nq"))
    path = tmp_path / f"rooms{extension}"
    write_rows(path, batches, dictionary)
    assert rows_of(path, dictionary) == rows_of(ROOMS + IN_GRAPH, dictionary)


@pytest.mark.parametrize("extension", [".nt", ".ttl", ".n3", ".rdf"])
def test_other_formats_get_the_statements_of_all_graphs(tmp_path: Path, extension: str) -> None:
    dictionary = Dictionary()
    batches = list(read_rows(ROOMS + IN_GRAPH, dictionary, format="nq"))
    path = tmp_path / f"rooms{extension}"
    assert write_rows(path, batches, dictionary) == 5
    everything = rows_of(ROOMS + IN_GRAPH, dictionary)
    assert rows_of(path, dictionary) == {(*row[:3], -1) for row in everything}


def test_a_stream_gets_n_triples_unless_told_otherwise() -> None:
    dictionary = Dictionary()
    batches = list(read_rows(b"<a:b> <a:c> <a:d> .", dictionary))
    plain, turtle = io.BytesIO(), io.BytesIO()
    write_rows(plain, batches, dictionary)
    write_rows(turtle, batches, dictionary, format="turtle", prefixes={"a": "a:"})
    assert plain.getvalue() == b"<a:b> <a:c> <a:d> .\n"
    assert turtle.getvalue() == b"@prefix a: <a:> .\na:b a:c a:d .\n"


def test_many_rows_are_written_in_their_order() -> None:
    dictionary = Dictionary()
    things = dictionary.encode(NamedNode(f"http://example.org/{i}") for i in range(100_000))
    rows = np.column_stack([things, things, things[::-1]])
    out = io.BytesIO()
    assert write_rows(out, [Batch(rows, None)], dictionary) == 100_000
    read = parse(out.getvalue(), format=RdfFormat.N_TRIPLES)
    assert [int(quad.subject.value.rpartition("/")[2]) for quad in read] == list(range(100_000))


def test_the_same_rows_give_the_same_gzip_bytes(tmp_path: Path) -> None:
    dictionary = Dictionary()
    batches = list(read_rows(ROOMS, dictionary))
    for name in ("a.nt.gz", "b.nt.gz"):
        write_rows(tmp_path / name, batches, dictionary)
    assert (tmp_path / "a.nt.gz").read_bytes() == (tmp_path / "b.nt.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.nt.gz").read_bytes()).count(b"\n") == 4


def test_a_predicate_without_xml_name_is_refused_in_rdf_xml(tmp_path: Path) -> None:
    dictionary = Dictionary()
    batches = list(read_rows(b"<a:b> <http://example.org/1> <a:d> .", dictionary))
    with pytest.raises(InputError, match="does not end in an XML name"):
        write_rows(tmp_path / "x.rdf", batches, dictionary)
    assert list(tmp_path.iterdir()) == []


def test_an_error_on_the_way_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rooms.nt"
    path.write_text("old")
    dictionary = Dictionary()

    def broken() -> object:
        yield from read_rows(ROOMS, dictionary)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_rows(path, broken(), dictionary)  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["rooms.nt"]


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*nowhere"):
        write_rows(tmp_path / "nowhere" / "x.nt", [], Dictionary())


def test_an_extension_that_is_unknown_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not say which format"):
        write_rows(tmp_path / "x.doc", [], Dictionary())
    assert list(tmp_path.iterdir()) == []
