"""What a change asks for: facts in every form, terms that clash, and graphs that tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pyoxigraph import NamedNode, Triple

import livefacts as lf
from livefacts.engine.spark.read.asked_facts import (
    QUADS,
    SettledChange,
    read_asked,
    settle,
    unique_rows,
)
from livefacts.engine.spark.read.graph_change import NotedGraphs
from livefacts.engine.spark.read.predicate_change import ToldPredicates
from livefacts.kb.graph_rows import DEFAULT
from livefacts.kb.term_encoding import Encoding
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds

TRIPLE = Triple(NamedNode("x:a"), NamedNode("x:p"), NamedNode("x:b"))
FACT = lf.Fact("road", (NamedNode("x:a"), NamedNode("x:b")))


def in_ids(add: object = (), remove: object = (), bits: int = 61) -> SettledChange:
    return settle(read_asked(add, remove), Encoding(bits), lambda ids: {})  # type: ignore[arg-type]


def test_facts_are_the_same_as_objects_texts_and_files(tmp_path: Path) -> None:
    (tmp_path / "one.nt").write_text(f"{TRIPLE} .\n")
    (tmp_path / "one.rules").write_text("road(<x:a>, <x:b>) .\n")
    triples = [TRIPLE, [TRIPLE, TRIPLE], f"{TRIPLE} .", tmp_path / "one.nt"]
    facts = [FACT, "road(<x:a>, <x:b>) .", tmp_path / "one.rules"]
    assert len({str(in_ids(each).added[TRIPLES].tolist()) for each in triples}) == 1
    assert len({str(in_ids(each).added[3].tolist()) for each in facts}) == 1


def test_terms_of_what_goes_are_not_new() -> None:
    found = in_ids([TRIPLE], "<x:c> <x:p> <x:d> .")
    assert set(found.terms.values()) == {"<x:a>", "<x:p>", "<x:b>"}


def test_texts_with_one_hash_get_ids_of_their_own() -> None:
    lines = "".join(f"<x:{n}> <x:p> <x:q> .\n" for n in range(40))
    found = in_ids(lines, bits=6)
    assert found.encoding.exceptions
    assert len(found.terms) == 42
    assert len(found.added[TRIPLES]) == 40


@pytest.mark.parametrize(
    ("facts", "match"),
    [
        ("p(?x) :- q(?x) .", "a rule where facts are wanted"),
        ("<x:a> <x:b>", "line 1|:1:"),
        ([("road", "a", "b")], "is not a fact"),
    ],
)
def test_what_is_no_fact_is_refused(facts: object, match: str) -> None:
    with pytest.raises(lf.InputError, match=match):
        read_asked(facts)  # type: ignore[arg-type]


def test_triples_of_named_graphs_are_apart(tmp_path: Path) -> None:
    (tmp_path / "one.nq").write_text("<x:a> <x:p> <x:b> <x:g> .\n<x:a> <x:p> <x:c> .\n")
    found = in_ids(tmp_path / "one.nq")
    assert {shape: rows.shape for shape, rows in found.added.items()} == {
        TRIPLES: (1, 3),
        QUADS: (1, 4),
    }
    assert "<x:g>" in found.terms.values()


def test_predicate_facts_are_told_once() -> None:
    told = ToldPredicates()
    first = told.change({2: np.array([[8, 16], [8, 24]])}, {})
    told.take(first.rows)
    second = told.change({2: np.array([[8, 16]])}, {2: np.array([[8, 16], [8, 24], [8, 32]])})
    assert (first.came, second.came, second.gone) == (2, 0, 1)
    assert second.rows.to_pylist() == [
        {"pred": 8, "arguments": [24], "support": 0, "told": -1, "sign": -1}
    ]


def test_a_triple_that_a_named_graph_tells_stays_told() -> None:
    graphs = NotedGraphs(lambda: np.array([[1, 2, 3, 9], [1, 2, 3, DEFAULT], [4, 5, 6, 9]]))
    rows = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    found, change = graphs.change(SettledChange({}, {TRIPLES: rows}, {}, Encoding()), none_is_told)
    assert found.removed[TRIPLES].tolist() == [[7, 8, 9]]
    assert change.ceases == {(1, 2, 3, DEFAULT)}
    graphs.take(change)
    _, change = graphs.change(SettledChange({TRIPLES: rows}, {}, {}, Encoding()), none_is_told)
    assert change.begins == {(1, 2, 3, DEFAULT), (4, 5, 6, DEFAULT)}


def none_is_told(triples: HashIds) -> NDArray[np.bool_]:
    return np.zeros(len(triples), np.bool_)


def test_rows_in_order_are_each_there_once() -> None:
    rows = np.random.default_rng(1).integers(0, 4, (200, 3))
    expected = sorted({tuple(row) for row in rows.tolist()})
    assert [tuple(row) for row in unique_rows(rows).tolist()] == expected
