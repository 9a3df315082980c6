"""RDF files of every format become rows; what cannot be read is rejected with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard
from pyoxigraph import NamedNode, RdfFormat

from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.input import files
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.rdf.documents import format_of, read_rows, scope_of_name

RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://example.org/">\n'
    "{}\n</rdf:RDF>\n"
)
KITCHEN_XML = '<rdf:Description rdf:about="http://example.org/kitchen">{}</rdf:Description>'
NAMED_XML = KITCHEN_XML.format("<ex:named>kitchen</ex:named>")
KITCHEN = ("<http://example.org/kitchen>", "<http://example.org/named>", '"kitchen"')
TURTLE = '@prefix ex: <http://example.org/> .\nex:kitchen ex:named "kitchen" .\n'
DOCUMENTS = {
    ".nt": '<http://example.org/kitchen> <http://example.org/named> "kitchen" .\n',
    ".nq": '<http://example.org/kitchen> <http://example.org/named> "kitchen" .\n',
    ".ttl": TURTLE,
    ".trig": TURTLE,
    ".n3": TURTLE,
    ".rdf": RDF_XML.format(NAMED_XML),
    ".owl": RDF_XML.format(NAMED_XML),
    ".xml": RDF_XML.format(NAMED_XML),
    ".jsonld": '{"@id": "http://example.org/kitchen", "http://example.org/named": "kitchen"}',
}


class Read:
    """Everything that reading a source gave."""

    def __init__(self, source: files.Source, **options: object) -> None:
        self.rejects = Rejects()
        self.rows: list[tuple[str, ...]] = []
        self.prefixes: dict[str, str] = {}
        dictionary = Dictionary()
        for rows, graphs, _ in read_rows(
            source,
            dictionary,
            rejects=self.rejects,
            prefixes=self.prefixes,
            **options,  # type: ignore[arg-type]
        ):
            column = np.full(len(rows), -1, np.int32) if graphs is None else graphs
            for *row, graph in np.column_stack([rows, column]).tolist():
                self.rows.append(tuple(dictionary.texts(row if graph < 0 else [*row, graph])))


def pack(data: bytes, packing: str) -> bytes:
    packers = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
    return packers[packing](data)


# formats and packings


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("extension", DOCUMENTS)
def test_the_extension_says_the_format_and_the_packing(
    tmp_path: Path, extension: str, packing: str
) -> None:
    path = tmp_path / f"room{extension.upper()}{packing}"
    path.write_bytes(pack(DOCUMENTS[extension].encode(), packing))
    read = Read(path)
    assert read.rows == [KITCHEN]
    assert read.rejects.count == 0


def test_an_unknown_extension_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        format_of("rooms.doc.gz")
    assert ".nt .nq .ttl .trig .n3 .rdf .owl .xml .jsonld" in caught.value.hint


def test_a_format_that_is_given_wins_over_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "rooms.txt"
    path.write_text(TURTLE)
    assert Read(path, format="turtle").rows == [KITCHEN]
    assert Read(path, format=RdfFormat.TURTLE).rows == [KITCHEN]
    with pytest.raises(InputError, match="unknown format csv"):
        Read(path, format="csv")


def test_standard_input_is_n_triples_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, options in ((DOCUMENTS[".nt"], {}), (TURTLE, {"format": "ttl"})):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert Read("-", **options).rows == [KITCHEN]
        assert not sys.stdin.closed


def test_several_packed_pieces_in_one_file_are_read_as_one(tmp_path: Path) -> None:
    lines = [f"<a:b> <a:c> <a:{i}> .\n".encode() for i in range(3)]
    for packing in (".gz", ".zst"):
        path = tmp_path / f"x.nt{packing}"
        path.write_bytes(b"".join(pack(line, packing) for line in lines))
        assert len(Read(path).rows) == 3


def test_prefixes_that_a_file_declares_are_handed_over() -> None:
    assert Read(TURTLE.encode(), format="ttl").prefixes == {"ex": "http://example.org/"}


def test_progress_is_told_in_bytes_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.nt.gz"
    path.write_bytes(gzip.compress(DOCUMENTS[".nt"].encode() * 1000))
    seen: list[tuple[int, int | None]] = []
    Read(path, progress=lambda done, size: seen.append((done, size)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize("extension", DOCUMENTS)
def test_progress_is_told_for_every_format(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"room{extension}"
    path.write_text(DOCUMENTS[extension])
    seen: list[int] = []
    Read(path, progress=lambda done, size: seen.append(done))
    assert seen == [path.stat().st_size]


@pytest.mark.slow
def test_many_statements_come_in_batches_and_none_is_lost() -> None:
    lines = b"".join(b"<a:b> <a:c> <a:%d> .\n" % i for i in range(150_000))
    batches = list(read_rows(lines, Dictionary()))
    assert len(batches) == 3
    assert sum(len(batch.rows) for batch in batches) == 150_000
    turtle = b"".join(b"<a:b> <a:c> <a:%d> .\n" % i for i in range(40_000))
    assert len(Read(turtle, format="ttl").rows) == 40_000


# graphs and blank nodes


def test_statements_of_the_default_graph_go_where_the_caller_says() -> None:
    text = b"<a:b> <a:c> <a:d> .\n<a:b> <a:c> <a:d> <a:g> .\n"
    read = Read(text, format="nq", graph=NamedNode("a:h"))
    assert sorted(row[3] for row in read.rows) == ["<a:g>", "<a:h>"]
    assert [len(row) for row in Read(text, format="nq").rows] == [3, 4]


def test_graphs_of_trig_and_json_ld_are_kept() -> None:
    trig = Read(b"<a:g> { <a:b> <a:c> _:x } <a:b> <a:c> <a:d> .", format="trig", scope=b"f3")
    assert sorted(map(len, trig.rows)) == [3, 4]
    json_ld = Read(b'{"@id": "a:g", "@graph": [{"@id": "a:b", "a:c": 1}]}', format="jsonld")
    assert [row[3] for row in json_ld.rows] == ["<a:g>"]


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig", "n3"])
def test_a_label_gets_the_same_scope_in_every_format(format: str) -> None:
    text = b'_:x <a:c> _:y .\n_:x <a:c> "_:x \\" _:y" .\n'
    read = Read(text, format=format, scope=b"f3")
    assert read.rows == [
        ("_:f3_x", "<a:c>", "_:f3_y"),
        ("_:f3_x", "<a:c>", '"_:x \\" _:y"'),
    ]


def test_labels_inside_triple_terms_and_graph_names_get_the_scope() -> None:
    read = Read(b"_:g { <a:b> <a:c> <<( _:x <a:c> _:y )>> }", format="trig", scope=b"f3")
    assert read.rows == [("<a:b>", "<a:c>", "<<( _:f3_x <a:c> _:f3_y )>>", "_:f3_g")]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("ttl", "<a:b> <a:c> [ <a:d> (1 2) ], _:x ."),
        ("jsonld", '{"@id": "a:b", "a:c": [{"a:d": {"@list": [1, 2]}}, {"@id": "_:x"}]}'),
        (
            "rdf",
            RDF_XML.format(
                KITCHEN_XML.format('<ex:p rdf:parseType="Resource"><ex:q rdf:nodeID="x"/></ex:p>')
            ),
        ),
    ],
)
def test_nodes_without_label_are_numbered_so_that_reading_again_changes_nothing(
    format: str, text: str
) -> None:
    first, second = (Read(text.encode(), format=format, scope=b"f3").rows for _ in range(2))
    assert first == second
    labels = {term for row in first for term in row if term.startswith("_:")}
    assert "_:f3_x" in labels
    assert "_:f3_-1" in labels


def test_the_scope_of_a_name_is_stable_and_its_own() -> None:
    assert scope_of_name("data/a.ttl") == scope_of_name(Path("data") / "a.ttl")
    assert scope_of_name("data/a.ttl") != scope_of_name("data/b.ttl")
    assert scope_of_name("data/a.ttl") != scope_of_name("s3://data/a.ttl")
    assert scope_of_name("data/a.ttl").isalnum()


# rejects


def test_a_bad_line_takes_nothing_else_with_it() -> None:
    for format in ("nt", "nq"):
        read = Read(b"<a:b> <a:c> <a:d> .\n<a:b> <c> <a:d> .\n<a:b> <a:c> <a:e> .", format=format)
        assert len(read.rows) == 2
        (reject,) = read.rejects.kept
        assert str(reject) == "<text>:2:7: No scheme found in an absolute IRI"
        assert reject.text == "<a:b> <c> <a:d> ."


@pytest.mark.parametrize(
    ("format", "text", "line", "column"),
    [
        ("ttl", TURTLE + "ex:kitchen ex:size <bad iri> .\nex:a ex:b ex:c .", 3, 20),
        ("trig", TURTLE + "ex:g { ex:kitchen ex:size <bad iri> . ex:a ex:b ex:c }", 3, 27),
        ("n3", TURTLE + "ex:kitchen ex:size <bad iri> .\nex:a ex:b ex:c .", 3, 20),
        (
            "rdf",
            RDF_XML.format(NAMED_XML + "\n<rdf:Description\nrdf:about='rel'/>" + NAMED_XML),
            4,
            1,
        ),
        (
            "jsonld",
            '[{"@id":"http://example.org/kitchen","http://example.org/named":"kitchen"},\n{,}]',
            2,
            2,
        ),
    ],
)
def test_other_formats_keep_what_stands_before_the_error_and_reject_the_rest(
    format: str, text: str, line: int, column: int
) -> None:
    read = Read(text.encode(), format=format)
    assert read.rows == [KITCHEN]
    (reject,) = read.rejects.kept
    assert (reject.line, reject.column) == (line, column)
    assert reject.reason.endswith("; the rest of the text was not read")
    assert reject.text == text.splitlines()[line - 1]


def test_without_a_place_for_rejects_the_first_one_is_an_error() -> None:
    with pytest.raises(InputError) as caught:
        list(read_rows(b"<a:b> <a:c> <a:d> .\njunk\n", Dictionary()))
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.text) == (2, "junk")


def test_formulas_of_n3_are_not_taken_for_facts() -> None:
    read = Read(b"<a:b> <a:c> <a:d> . { <a:b> <a:c> <a:e> } <a:c> <a:f> .", format="n3")
    assert read.rows == [("<a:b>", "<a:c>", "<a:d>")]
    assert "formulas are not facts" in read.rejects.kept[0].reason


def test_rejects_are_written_as_csv_or_as_json_lines(tmp_path: Path) -> None:
    reject = Reject("rooms.nt", 3, 7, 'a "reason"', "x" * 500)
    for name in ("rejects.csv", "rejects.jsonl"):
        with Rejects(tmp_path / name) as rejects:
            rejects.add(reject)
    row = {"file": "rooms.nt", "line": 3, "column": 7, "reason": 'a "reason"', "text": "x" * 200}
    with (tmp_path / "rejects.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{key: str(value) for key, value in row.items()}]
    assert json.loads((tmp_path / "rejects.jsonl").read_text()) == row


def test_a_load_without_rejects_leaves_an_empty_rejects_file(tmp_path: Path) -> None:
    (tmp_path / "rejects.csv").write_text("old")
    Rejects(tmp_path / "rejects.csv").close()
    assert (tmp_path / "rejects.csv").read_text().strip() == "file,line,column,reason,text"


def test_a_rejects_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write the rejects file"):
        Rejects(tmp_path / "nowhere" / "rejects.csv")


def test_rejects_are_all_counted_and_only_the_first_are_kept() -> None:
    read = Read(b"bad\n" * 25_000)
    assert read.rejects.count == 25_000
    assert len(read.rejects.kept) == 10_000
    assert read.rejects.kept[-1].line == 10_000


# bad files


@pytest.mark.parametrize("extension", [each for each in DOCUMENTS if each != ".jsonld"])
def test_an_empty_file_has_no_statements(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"empty{extension}"
    path.touch()
    read = Read(path)
    assert (read.rows, read.rejects.count) == ([], 0)


def test_a_binary_file_is_rejected_line_by_line_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "binary.nt"
    path.write_bytes(bytes(range(256)) * 64)
    read = Read(path)
    assert read.rows == []
    assert read.rejects.count > 0
    assert read.rejects.hints == [
        f"{path}: nothing in it could be read; is it a text in this format?"
    ]


@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("extension", [".nt", ".ttl", ".rdf"])
def test_a_packed_file_that_is_cut_short_is_an_error(
    tmp_path: Path, extension: str, packing: str
) -> None:
    path = tmp_path / f"cut{extension}{packing}"
    source = random.Random(5)
    random_names = "".join(f"# {source.randbytes(20).hex()}\n" for _ in range(3_000))
    text = DOCUMENTS[extension] + (random_names if extension != ".rdf" else "")
    path.write_bytes(pack(text.encode(), packing)[:-9])
    with pytest.raises(InputError, match="ends in the middle of the compressed data"):
        Read(path)


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_a_file_that_is_not_packed_as_it_says_is_an_error(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"plain.nt{packing}"
    path.write_text(DOCUMENTS[".nt"])
    with pytest.raises(InputError, match="cannot read") as caught:
        Read(path)
    assert "not what its name says" in caught.value.hint


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_a_packed_file_with_a_plain_name_is_an_error(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "packed.nt"
    path.write_bytes(pack(DOCUMENTS[".nt"].encode(), packing))
    with pytest.raises(InputError, match="is packed") as caught:
        Read(path)
    assert caught.value.hint == f"rename it to packed.nt{packing}"


def test_a_packed_file_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    checked = zstandard.ZstdCompressor(write_checksum=True).compress
    for packing, packer in ((".gz", gzip.compress), (".zst", checked)):
        packed = bytearray(packer(random.Random(5).randbytes(200_000)))
        packed[-5] ^= 255
        path = tmp_path / f"damaged.nt{packing}"
        path.write_bytes(packed)
        with pytest.raises(InputError, match="cannot read"):
            Read(path)


def test_a_missing_file_a_directory_and_a_pattern_without_match_are_named(tmp_path: Path) -> None:
    for name in ("nowhere.nt", "nowhere.doc", "nowhere"):
        with pytest.raises(InputError, match="there is no file"):
            Read(tmp_path / name)
    for name in ("folder.nt", "folder"):
        (tmp_path / name).mkdir()
        with pytest.raises(InputError, match="is a directory") as caught:
            Read(tmp_path / name)
        assert "*.nt" in caught.value.hint
    with pytest.raises(InputError, match="no file matches"):
        files.expand(str(tmp_path / "*.ttl"))


def test_a_file_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *arguments: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="no permission to read"):
        Read(tmp_path / "secret.nt")


def test_a_pattern_stands_for_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b.nt", "a.nt", "c.ttl", "odd[1].nt"):
        (tmp_path / name).touch()
    assert [path.name for path in files.expand(str(tmp_path / "?.nt"))] == ["a.nt", "b.nt"]
    assert files.expand(tmp_path / "odd[1].nt") == [tmp_path / "odd[1].nt"]


def test_relative_iris_are_resolved_against_the_file_where_the_format_has_a_base(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rooms.ttl"
    path.write_text("<#kitchen> <a:c> <hall> .")
    folder = tmp_path.as_uri()
    assert Read(path).rows == [(f"<{folder}/rooms.ttl#kitchen>", "<a:c>", f"<{folder}/hall>")]
    assert Read(path, base="http://example.org/x").rows[0][2] == "<http://example.org/hall>"
    assert Read(b"<#kitchen> <a:c> <a:d> .", format="ttl").rejects.count == 1


# documents that attack the parser

ENTITY = '<!DOCTYPE rdf:RDF [<!ENTITY e "boom">]>'


@pytest.mark.parametrize(
    "document",
    [
        ENTITY.lower() + RDF_XML.format(NAMED_XML),
        ENTITY + ENTITY + RDF_XML.format(NAMED_XML),
        "<!-- " + ENTITY + " -->" + RDF_XML.format(NAMED_XML),
        RDF_XML.format(ENTITY + KITCHEN_XML.format("<ex:p>&e;</ex:p>")),
        RDF_XML.format(KITCHEN_XML.format(ENTITY + "<ex:p>&e;</ex:p>")),
        "<!-- <![CDATA[ -->" + RDF_XML.format(ENTITY + NAMED_XML),
        " " * 65_530 + ENTITY + RDF_XML.format(NAMED_XML),
    ],
)
def test_a_doctype_is_refused_wherever_else_it_stands(document: str) -> None:
    with pytest.raises(InputError, match="has a DOCTYPE that is refused"):
        Read(document.encode(), format="rdf")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_rdf_xml_in_another_encoding_is_refused(encoding: str) -> None:
    for document in (RDF_XML.format(NAMED_XML), ENTITY + RDF_XML.format(NAMED_XML)):
        with pytest.raises(InputError, match="is not in UTF-8"):
            Read(document.encode(encoding), format="rdf")


def test_an_encoding_that_is_only_declared_is_rejected() -> None:
    read = Read(
        b'<?xml version="1.0" encoding="UTF-7"?>' + DOCUMENTS[".rdf"].encode(), format="rdf"
    )
    assert read.rows == []
    assert "Only UTF-8" in read.rejects.kept[0].reason


@pytest.mark.parametrize("format", ["ttl", "trig"])
def test_triple_terms_that_are_nested_without_end_do_not_crash(format: str) -> None:
    nested = "<<( <a:a> <a:b> " * 100_000 + "1" + " )>>" * 100_000
    read = Read(f"<a:b> <a:c> <a:d> .\n<a:a> <a:b> {nested} .".encode(), format=format)
    assert read.rows == [("<a:b>", "<a:c>", "<a:d>")]
    assert "nested too deeply" in read.rejects.kept[0].reason


def test_many_triple_terms_side_by_side_are_fine() -> None:
    line = b"<a:a> <a:b> <<( <a:a> <a:b> <<( <a:a> <a:b> 1 )>> )>> .\n"
    assert len(Read(line * 5_000, format="ttl").rows) == 5_000


def test_remote_contexts_of_json_ld_are_not_fetched() -> None:
    document = b'{"@context": "http://example.org/context", "@id": "a:b", "name": "x"}'
    read = Read(document, format="jsonld")
    assert read.rows == []
    assert read.rejects.count == 1
