"""The fast road for N-Triples accepts, rejects and means exactly what pyoxigraph does."""

from __future__ import annotations

import io
import random
import re
from collections import Counter

import numpy as np
import pytest
from pyoxigraph import BlankNode, DefaultGraph, RdfFormat, Triple, parse

from livefacts.store.terms import line_scanner, ntriples
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import text_of
from livefacts.store.terms.ntriples import BadLine, StatementReader, encode_quads, scoped

Row = tuple[str, ...]

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SUBJECTS = [
    "<http://example.org/s>",
    "<urn:x:y>",
    "_:b1",
    "_:a.b",
    "<http://é.org/ü>",
    "_:é",
    "<a:>",
]
PREDICATES = ["<http://example.org/p#q>", "<http://h:80/p?q=1&r=%41#f>", f"<{RDF}type>"]
OBJECTS = [
    *SUBJECTS,
    '"plain"',
    '"caf\\u00e9 \\"quoted\\" \\n"',
    '"ünï 日本 😀"',
    '"tab\tbell\x07del\x7f"',
    '"x"@en',
    '"x"@en-US',
    '"x"@de-Latn-DE-1996',
    '"x"@en--ltr',
    f'"1"^^<{XSD}integer>',
    f'"01"^^<{XSD}integer>',
    f'"-12"^^<{XSD}integer>',
    f'"x"^^<{XSD}string>',
    f'"2020-01-01T00:00:00Z"^^<{XSD}dateTime>',
    f'"<b/>"^^<{RDF}XMLLiteral>',
    '<<( <a:b> <a:c> "x"@EN )>>',
    "<<(_:b1<a:c><<(<a:b><a:c>_:z)>>)>>",
    '""',
]
GRAPHS = ["", "<http://example.org/g>", "_:g", "<relative>", '"literal"']
ENDS = [" .", ".", " . # comment", "\t.\t", " . \xff", " . .", "", " # .", "#."]
ODD_BYTES = [
    b"<",
    b">",
    b'"',
    b"\\",
    b"\\u0041",
    b"\\uD800",
    b"_:",
    b"@",
    b"@EN",
    b"^^",
    b".",
    b" ",
    b"\t",
]
ODD_BYTES += [
    b"#",
    b"%",
    b"%4",
    b"%41",
    b":",
    b"//",
    b"[",
    b"{",
    b"|",
    b"\x00",
    b"\x7f",
    b"\x0b",
    b"\xff",
]
ODD_BYTES += [
    "é".encode(),
    b"\xc3",
    b"\xa9",
    b"\xed\xa0\x80",
    b"\xef\xbf\xbe",
    b"\xf0\x9f\x98\x80",
    b"\xc2\x80",
]
ODD_BYTES += [
    b"<<(",
    b")>>",
    b"--ltr",
    b"-",
    b"'",
    b"a",
    b"1",
    b"\\n",
    b"\\'",
    b"@en-",
    b"\xee\x80\x80",
    b"_:1",
]


def random_line(source: random.Random, quads: bool) -> bytes:
    space = source.choice([" ", " ", " ", "\t", "  ", ""])
    kinds = [SUBJECTS, PREDICATES, OBJECTS, GRAPHS][: 4 if quads else 3]
    is_plain = source.random() < 0.5
    terms = [source.choice(kind[:3] if is_plain else kind) for kind in kinds]
    end = source.choice(ENDS) if source.random() < 0.3 else " ."
    return (source.choice(["", "", " "]) + space.join(terms) + end).encode("utf-8")


def mutated(source: random.Random, line: bytes) -> bytes:
    for _ in range(source.choice([0, 1, 1, 1, 2, 3])):
        start = source.randrange(len(line) + 1)
        stop = min(len(line), start + source.choice([0, 0, 1, 1, 2, 5]))
        line = line[:start] + source.choice([b"", *ODD_BYTES]) + line[stop:]
    return line


def expected(line: bytes, quads: bool) -> list[Row] | None:
    """What pyoxigraph reads in a line, or None if it finds anything wrong."""
    try:
        found = list(parse(line, format=RdfFormat.N_QUADS if quads else RdfFormat.N_TRIPLES))
    except SyntaxError:
        return None
    return [
        tuple(text_of(term) for term in quad if not isinstance(term, DefaultGraph))
        for quad in found
    ]


def read(
    text: bytes, *, quads: bool = False, scope: bytes = b""
) -> tuple[list[Row], list[BadLine]]:
    dictionary, bad = Dictionary(), list[BadLine]()
    reader = StatementReader(dictionary, scope=scope, quads=quads, on_bad_line=bad.append)
    rows: list[Row] = []
    for batch in reader.read(io.BytesIO(text)):
        graphs = batch.graphs if batch.graphs is not None else np.full(len(batch.rows), -1)
        for ids, graph in zip(batch.rows, graphs.tolist(), strict=True):
            rows.append(tuple(dictionary.texts([*ids, graph] if graph >= 0 else ids)))
    return rows, bad


@pytest.mark.parametrize("seed", range(3))
def test_rows_know_the_lines_on_which_they_stand(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ntriples, "CHUNK", 1 << 10)
    source, text, wanted = random.Random(f"lines {seed}"), b"", {}
    for number in range(1, 400):
        odd = source.choice([" ", "# nothing", "bad line", "<a:> <b:> "])
        repeated = f'<a:s{number // 3}> <b:> "\\u0041{number}" .'
        line = source.choice([f"<a:> <b:> <c:{number}> .", f"  {repeated}", repeated, odd])
        text += line.encode() + source.choice([b"\n", b"\r\n", b"\r"])
        if line.endswith(" ."):
            wanted[number] = str(number)
    dictionary, found = Dictionary(), {}
    reader = StatementReader(
        dictionary, scope=b"", quads=False, on_bad_line=lambda bad: None, numbered=True
    )
    for batch in reader.read(io.BytesIO(text)):
        assert batch.lines is not None
        objects = dictionary.texts(batch.rows[:, 2].tolist())
        found |= dict(zip(batch.lines.tolist(), objects, strict=True))
    assert {line: re.sub(r"\D", "", name) for line, name in found.items()} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("quads", [False, True], ids=["triples", "quads"])
@pytest.mark.parametrize("seed", range(4))
def test_every_line_is_read_as_pyoxigraph_reads_it(seed: int, quads: bool) -> None:
    source = random.Random(seed)
    accepted = 0
    for _ in range(4_000):
        line = mutated(source, random_line(source, quads))
        rows, bad = read(line, quads=quads)
        wanted = expected(line, quads)
        assert (rows, len(bad)) == (wanted or [], wanted is None), line
        accepted += bool(rows)
    assert 600 < accepted < 3_400, "the lines should be both good and bad"


@pytest.mark.parametrize("quads", [False, True], ids=["triples", "quads"])
@pytest.mark.parametrize("seed", range(4))
def test_a_text_is_read_line_by_line_and_loses_nothing_but_bad_lines(
    seed: int, quads: bool
) -> None:
    source = random.Random(seed)
    text = b"".join(
        mutated(source, random_line(source, quads))
        + source.choice([b"\n", b"\r\n", b"\r", b"\n\n"])
        for _ in range(2_000)
    )
    lines = re.split(rb"\r\n|\n|\r", text)
    wanted = [expected(line, quads) for line in lines]
    rows, bad = read(text, quads=quads)
    assert Counter(rows) == Counter(row for each in wanted for row in each or [])
    assert sorted(line.line for line in bad) == [
        n for n, each in enumerate(wanted, 1) if each is None
    ]


@pytest.mark.parametrize("quads", [False, True], ids=["triples", "quads"])
@pytest.mark.parametrize("seed", range(3))
def test_a_good_text_is_read_as_pyoxigraph_reads_the_whole(seed: int, quads: bool) -> None:
    source = random.Random(seed)
    lines = (mutated(source, random_line(source, quads)) for _ in range(3_000))
    text = b"\n# comment\n".join(line for line in lines if expected(line, quads) is not None)
    rows, bad = read(text, quads=quads)
    assert Counter(rows) == Counter(expected(text, quads))
    assert bad == []
    assert len(rows) > 500


PLAIN_IRI = (
    rb"<[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9\-._~!$&'()*+,;=]*(?::[0-9]*)?(?=[/?#>])|(?!//))"
    rb"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2}|ICHAR)*"
    rb"(?:#(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2}|ICHAR)*)?>"
)
TWO_TO_THREE = (
    rb"(?:\xc2[\xa0-\xbf]|[\xc3-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf])"
)
PLAIN_LITERAL = rb'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[tbnrf"\\]|CHAR)*"'
CHARACTER = (
    rb"(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xef(?!\xbf[\xbe\xbf])[\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
IRI = PLAIN_IRI.replace(b"ICHAR", TWO_TO_THREE)
LABEL = rb"_:[A-Za-z0-9_][A-Za-z0-9_-]*(?=[ \t])"
LITERAL = (
    PLAIN_LITERAL.replace(b"CHAR", CHARACTER)
    + rb"(?:@[A-Za-z]{2,3}(?:-[A-Za-z]{2})?(?=[ \t.])|\^\^(?!<"
    + RDF.encode()
    + rb")"
    + IRI
    + rb"|(?![@^]))"
)
SURE = re.compile(
    rb"[ \t]*(?:(?:%b|%b)[ \t]*%b[ \t]*(?:%b|%b|%b)[ \t]*\.[ \t]*)?(?:#.*)?"
    % (IRI, LABEL, IRI, IRI, LABEL, LITERAL),
    re.DOTALL,
)


def test_the_scanner_is_sure_of_the_lines_that_its_plain_twin_is_sure_of() -> None:
    source = random.Random(11)
    spans = line_scanner.Spans(*(np.zeros(shape, np.int64) for shape in (3, 3, 1, 1, (1, 3))))
    sure = 0
    for _ in range(4_000):
        line = mutated(source, random_line(source, quads=False))
        buffer = np.frombuffer(bytearray(line + b"\n"), np.uint8)
        *_, slow = line_scanner.scan(buffer, 0, len(line), 1, False, spans)
        assert (slow == 0) == bool(SURE.fullmatch(line)), line
        sure += slow == 0
    assert 400 < sure < 3_000


def test_common_data_is_never_read_slowly() -> None:
    text = "".join(
        f'<http://example.org/{name}> <http://localhost:8080/p?x=%20y#é> "{name}\\n{name}"{tag} .\r\n'
        for name in ("kitchen", "café", "日本")
        for tag in ("", "@en", "@en-US", f"^^<{XSD}dateTime>", f"^^<{XSD}string>")
    )
    buffer = np.frombuffer(bytearray(text.encode() + b"\n"), np.uint8)
    spans = line_scanner.Spans(*(np.zeros(shape, np.int64) for shape in (99, 99, 33, 33, (33, 3))))
    end = len(text.encode())
    assert line_scanner.scan(buffer, 0, end, 1, False, spans) == (end, 16, 15, 0)


@pytest.mark.parametrize(
    ("line", "reason", "column"),
    [
        ("<a> <a:b> <a:c> .", "No scheme found in an absolute IRI", 1),
        ("<a:b> <a:c> <rel/ative> .", "No scheme found in an absolute IRI", 13),
        ("<a:b> <a:c> <a:d>", "Triples must be followed by a dot", 18),
        ('<a:b> <a:c> "x', "the line ends too early", 13),
        ("junk", "The subject of a triple must be an IRI or a blank node", 1),
    ],
)
def test_a_bad_line_is_rejected_with_its_place(line: str, reason: str, column: int) -> None:
    rows, bad = read(f"<a:b> <a:c> <a:d> .\n{line}\n<a:b> <a:c> <a:e> .\n".encode())
    assert len(rows) == 2
    assert bad == [BadLine(2, column, reason, line)]


def test_a_line_with_two_statements_is_rejected_as_a_whole() -> None:
    rows, bad = read(b"<a:b> <a:c> <a:d> . <a:b> <a:c> <a:e> .\n<a:b> <a:c> <a:f> .")
    assert rows == [("<a:b>", "<a:c>", "<a:f>")]
    assert [line.line for line in bad] == [1]


def test_invalid_utf_8_spoils_one_line_only() -> None:
    rows, bad = read(
        b'<a:b> <a:c> "\xff" .\n<a:b> <a:c> "\xc3\xa9" .\n<a:b> <a:c> "\xed\xa0\x80" .\n'
    )
    assert rows == [("<a:b>", "<a:c>", '"é"')]
    assert [line.line for line in bad] == [1, 3]


def test_nothing_is_read_from_an_empty_text() -> None:
    assert read(b"") == ([], [])
    assert read(b"\n\r\n  \n# comment") == ([], [])


def test_labels_get_the_scope_on_both_roads() -> None:
    fast, _ = read(b"_:x <a:p> _:y .", scope=b"f3")
    slow, _ = read(b"_:x<a:p> _:y.", scope=b"f3")
    nested, _ = read(b"_:x <a:p> <<( _:y <a:p> <<( <a:b> <a:p> _:x )>> )>> .", scope=b"f3")
    assert fast == slow == [("_:f3_x", "<a:p>", "_:f3_y")]
    assert nested[0][2] == "<<( _:f3_y <a:p> <<( <a:b> <a:p> _:f3_x )>> )>>"


def test_every_label_stays_valid_in_a_scope() -> None:
    for label in ("a", "0", "é", "a.b", "a-", "_", "a·", "A.-"):
        rows, bad = read(f"_:{label} <a:p> <a:o> .".encode(), scope=b"f3")
        assert bad == []
        again, bad = read(" ".join(rows[0]).encode() + b" .")
        assert (again, bad) == (rows, [])


def test_scoping_a_term_without_blank_nodes_changes_nothing() -> None:
    (quad,) = parse(b'<a:b> <a:c> "x" .', format=RdfFormat.N_TRIPLES)
    assert [scoped(term, b"f3") for term in quad.triple] == list(quad.triple)
    assert scoped(BlankNode("x"), b"") == BlankNode("x")
    assert scoped(Triple(BlankNode("x"), quad.predicate, quad.object), b"f3") == Triple(
        BlankNode("f3_x"), quad.predicate, quad.object
    )


def test_quads_in_and_out_of_graphs_are_encoded_together() -> None:
    dictionary = Dictionary()
    text = b"<a:b> <a:c> <a:d> .\n<a:b> <a:c> <a:d> _:g ."
    batch = encode_quads(list(parse(text, format=RdfFormat.N_QUADS)), dictionary, b"f3")
    assert batch.rows[0].tolist() == batch.rows[1].tolist()
    assert batch.graphs is not None
    assert batch.graphs.tolist() == [ntriples.DEFAULT_GRAPH, dictionary.find(BlankNode("f3_g"))]


class Trickle(io.RawIOBase):
    """A stream that hands out few bytes at a time, as pipes do."""

    def __init__(self, text: bytes, size: int) -> None:
        self._text = io.BytesIO(text)
        self._size = size

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        return self._text.readinto(buffer[: self._size])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_lines_may_be_cut_anywhere_by_the_stream(size: int) -> None:
    text = b"<a:b> <a:c> <a:d> .\r\nbad\r\r\n<a:b> <a:c> <a:e> .\rbad\n\n<a:b> <a:c> <a:f> .\r"
    dictionary, bad = Dictionary(), list[BadLine]()
    reader = StatementReader(dictionary, scope=b"", quads=False, on_bad_line=bad.append)
    rows = [row for batch in reader.read(Trickle(text, size)) for row in batch.rows.tolist()]
    assert rows == [[0, 1, 2], [0, 1, 3], [0, 1, 4]]
    assert [line.line for line in bad] == [2, 5]


def test_a_literal_of_a_hundred_megabytes_is_rejected_and_the_rest_is_read() -> None:
    text = b'<a:b> <a:c> "' + b"x" * 100_000_000 + b'" .\r\n<a:b> <a:c> <a:d> .\nbad\n'
    rows, bad = read(text)
    assert rows == [("<a:b>", "<a:c>", "<a:d>")]
    assert [line.line for line in bad] == [1, 3]
    assert bad[0].reason == "line longer than 16,777,216 bytes"
    assert bad[0].text.startswith('<a:b> <a:c> "xxx')


@pytest.mark.slow
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r", b""])
@pytest.mark.parametrize(
    "excess", [-1, 0, 1, ntriples.CHUNK - 1, ntriples.CHUNK, 2 * ntriples.CHUNK]
)
def test_a_line_that_is_too_long_is_passed_over_to_its_very_end(excess: int, ending: bytes) -> None:
    size = ntriples.LONGEST_LINE + excess
    text = b"#".ljust(size - len(ending), b"x") + ending
    rows, bad = read(text + b"<a:b> <a:c> <a:d> .\nbad" * bool(ending))
    assert len(rows) == bool(ending)
    assert [line.line for line in bad if line.text != "bad"] == [1] * (excess > 0)
    assert [line.line for line in bad if line.text == "bad"] == [3] * bool(ending)


def test_a_million_columns_of_anything_are_read_or_rejected_quickly() -> None:
    wide = b'<a:b> <a:c> "' + b"y" * 1_000_000 + b'" .'
    words = b"word " * 200_000
    nested = b"<a:b> <a:c> " + b"<<( <a:b> <a:c> " * 60_000 + b"<a:d>" + b" )>>" * 60_000 + b" ."
    rows, bad = read(b"\n".join([wide, words, nested, b"<a:b> <a:c> <a:d> ."]))
    assert len(rows) == 2
    assert [line.line for line in bad] == [2, 3]
    assert bad[1].reason == "more than 100 triple terms in a line"
