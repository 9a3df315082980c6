"""RDF Patch as text: rows, transactions, and every mistake with its place."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from livefacts.errors import InputError
from livefacts.model.facts import Fact, Symbol
from livefacts.syntax.rdf.patch import fact_lines, parse_patch, read_patch, write_patch

S, P, X, G = (NamedNode(f"x:{name}") for name in "spog")
XSD = "http://www.w3.org/2001/XMLSchema#"


def rows(text: str) -> list[tuple[str, object]]:
    return [("A" if row.adds else "D", row.statement) for row in parse_patch(text).rows]


class TestRows:
    def test_triples_quads_and_predicate_facts_are_rows(self) -> None:
        text = "A <x:s> <x:p> <x:o> .\nD <x:s> <x:p> <x:o> <x:g> .\nA isIn(tom, 3) .\nD alarm .\n"
        assert rows(text) == [
            ("A", Triple(S, P, X)),
            ("D", Quad(S, P, X, G)),
            ("A", Fact("isIn", (Symbol("tom"), Literal("3", datatype=NamedNode(XSD + "integer"))))),
            ("D", Fact("alarm", ())),
        ]

    def test_lexical_forms_are_kept(self) -> None:
        text = f'A <x:s> <x:p> "01"^^<{XSD}integer> .\nA <x:s> <x:p> "Ja"@de .\n'
        assert [str(row.statement.object) for row in parse_patch(text).rows] == [  # type: ignore[union-attr]
            f'"01"^^<{XSD}integer>',
            '"Ja"@de',
        ]

    @pytest.mark.parametrize("node", ["_:f1_x", "<_:f1_x>"])
    def test_blank_nodes_are_written_in_two_ways(self, node: str) -> None:
        assert rows(f"A {node} <x:p> {node} .") == [
            ("A", Triple(BlankNode("f1_x"), P, BlankNode("f1_x")))
        ]

    def test_what_looks_like_a_node_or_a_comment_in_a_string_is_a_string(self) -> None:
        ((_, triple),) = rows(r'A <x:s> <x:p> "<_:no> . # \" x" . # a comment "')
        assert triple == Triple(S, P, Literal('<_:no> . # " x'))

    def test_prefixes_hold_from_their_row_to_the_one_that_ends_them(self) -> None:
        text = "PA ex: <x:> .\nA ex:s ex:p ex:o ex:g .\nA near(ex:s, b) .\nPD ex: .\n"
        assert rows(text) == [
            ("A", Quad(S, P, X, G)),
            ("A", Fact("near", (S, Symbol("b")))),
        ]
        with pytest.raises(InputError, match="prefix ex: has not been declared"):
            parse_patch(text + "A ex:s ex:p ex:o .")

    def test_prefixes_may_be_written_as_two_strings(self) -> None:
        text = 'TX .\nPA "ex" "x:" .\nA ex:s ex:p ex:o .\nPD "ex" .\nTC .\n'
        assert rows(text) == [("A", Triple(S, P, X))]

    def test_one_unusual_row_does_not_change_the_others(self) -> None:
        text = "PA ex: <x:> .\nA <x:s> <x:p> <x:o> .\nD ex:s ex:p 5 .\nA <x:s> <x:p> true .\n"
        assert [mark for mark, _ in rows(text)] == ["A", "D", "A"]
        assert [row.place.line for row in parse_patch(text).rows] == [2, 3, 4]

    def test_triple_terms_are_terms(self) -> None:
        ((_, triple),) = rows("A <x:s> <x:p> <<( <x:s> <x:p> <x:o> )>> .")
        assert triple == Triple(S, P, Triple(S, P, X))

    def test_headers_are_kept(self) -> None:
        patch = parse_patch('H id <uuid:1> .\nH prev "6" . # the one before\n')
        assert patch.headers == {"id": NamedNode("uuid:1"), "prev": Literal("6")}


class TestTransactions:
    def test_rows_of_an_aborted_transaction_are_dropped_and_counted(self) -> None:
        patch = parse_patch("TX .\nA p(a) .\nTC .\nTX .\nA p(b) .\nA p(c) .\nTA .\nA p(d) .")
        assert [str(row.statement) for row in patch.rows] == ["p(a)", "p(d)"]
        assert patch.aborted == 2

    def test_a_patch_that_is_cut_off_is_refused_where_the_transaction_begins(self) -> None:
        with pytest.raises(InputError, match="ends inside a transaction") as caught:
            parse_patch("A p(a) .\nTX .\nA p(b) .\n", "cut.rdfp")
        assert str(caught.value.place) == "cut.rdfp:2:1"

    @pytest.mark.parametrize("text", ["TC .", "TA .", "TX .\nTX .", "TX .\nTC .\nTC ."])
    def test_bounds_that_do_not_fit_are_refused(self, text: str) -> None:
        with pytest.raises(InputError, match=r"(inside|outside of) a transaction"):
            parse_patch(text)


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("X <x:s> <x:p> <x:o> .", "no row of a patch", 1),
        ("a <x:s> <x:p> <x:o> .", "no row of a patch", 1),
        ("A <x:s> <x:p> .", "and this has 2", 3),
        ("A <x:s> <x:p> <x:o> <x:g> <x:h> .", "and this has 5", 3),
        ("A <x:s> <x:p> <x:o>", "the dot at the end is missing", 20),
        ("A", "the dot at the end is missing", 1),
        ("A <s> <x:p> <x:o> .", "No scheme found", 3),
        ("A 5 <x:p> <x:o> .", "not a statement of RDF", 3),
        ("A <x:s> <x:p> [] .", "neither lists nor", 3),
        ("A <x:s> <x:p> ( 1 ) .", "neither lists nor", 3),
        ('A <x:s> <x:p> "open .', "Unexpected end", 15),
        ("A p(?x) .", r"\?x is in the head", 5),
        ("A p(ex:a) .", "prefix ex: is not declared", 5),
        ("A p(a) :- q(a) .", "one fact", 3),
        ("A p(a) . q(a) .", "one fact", 3),
        ("H id .", "no header", 3),
        ("PA ex: .", "declares no prefix", 4),
        ("PD ex: <x:> .", "declares no prefix", 4),
        ("A <x:s> <x:p> " + "<<( <x:s> <x:p> " * 200 + ".", "more than 100 triple terms", 3),
    ],
)
def test_a_mistake_is_shown_where_it_stands(text: str, reason: str, column: int) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        parse_patch(f"# first\n{text}\n", "bad.rdfp")
    assert caught.value.place is not None
    assert (caught.value.place.file, caught.value.place.line) == ("bad.rdfp", 2)
    assert caught.value.place.column == column
    assert caught.value.place.text == text


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "day.rdfp.gz"
    path.write_bytes(gzip.compress(b"A p(a) .\n"))
    assert [str(row.statement) for row in read_patch(path).rows] == ["p(a)"]


def test_what_is_not_utf8_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match="UTF-8") as caught:
        read_patch(b"A p(a) .\nA p(\xff) .\n")
    assert caught.value.place is not None
    assert caught.value.place.line == 2


def test_what_is_written_is_read_back() -> None:
    facts = [Fact("p", (Symbol("a"), Literal('x\n"y"'))), Fact("q", ())]
    text = write_patch(7, ["<x:s> <x:p> <x:o> .\n", ""], [fact_lines(facts)])
    patch = parse_patch(text)
    assert patch.headers == {"id": Literal("7")}
    assert [row.statement for row in patch.rows] == [Triple(S, P, X), *facts]
    assert [row.adds for row in patch.rows] == [False, True, True]
