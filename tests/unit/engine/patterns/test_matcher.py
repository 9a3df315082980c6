"""Answers of graph patterns, followed triple by triple."""

from __future__ import annotations

from collections import Counter

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.patterns.matcher import Matcher
from livefacts.engine.patterns.signed_rows import SignedRows
from livefacts.language.graph_pattern import BasicQuery, basic_query_of
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.sparql.query_shapes import shape_of

EX = "http://example.org/"


class Asserted:
    """A matcher with its own dictionary, told triples by the names of their terms."""

    def __init__(self, group: str) -> None:
        query = basic_query_of(shape_of(f"SELECT * {{ {group} }}", {"": EX}).bound)
        assert isinstance(query, BasicQuery)
        self.terms = Dictionary()
        self.matcher = Matcher(query.patterns, self.terms.encode_one)

    def tell(self, added: str = "", removed: str = "") -> Counter[tuple[str, ...]]:
        return self._named(self.matcher.apply(self._ids(added), self._ids(removed)))

    def now(self) -> Counter[tuple[str, ...]]:
        return self._named(self.matcher.rows())

    def _ids(self, text: str) -> np.ndarray:
        terms = [NamedNode(EX + name) for name in text.replace(",", " ").split()]
        return self.terms.encode(terms).reshape(-1, 3)

    def _named(self, found: SignedRows) -> Counter[tuple[str, ...]]:
        named = Counter[tuple[str, ...]]()
        for row, count in zip(found.rows, found.counts.tolist(), strict=True):
            named[tuple(text[len(EX) + 1 : -1] for text in self.terms.texts(row))] += count
        return named


def test_an_answer_comes_with_its_last_triple_and_goes_with_its_first() -> None:
    asserted = Asserted("?x :in :Rome . ?x :likes :cats")
    assert asserted.tell("ann in Rome") == {}
    assert asserted.tell("ann likes cats") == {("ann",): 1}
    assert asserted.tell(removed="ann in Rome") == {("ann",): -1}
    assert asserted.now() == {}


def test_a_triple_that_is_there_already_or_was_never_there_changes_nothing() -> None:
    asserted = Asserted("?x :in :Rome")
    assert asserted.tell("ann in Rome, ann in Rome") == {("ann",): 1}
    assert asserted.tell("ann in Rome", "bob in Rome") == {}
    assert asserted.now() == {("ann",): 1}


def test_what_goes_and_comes_in_one_batch_stays() -> None:
    asserted = Asserted("?x :in :Rome . ?x :likes ?y")
    asserted.tell("ann in Rome, ann likes cats")
    assert asserted.tell("ann in Rome", "ann in Rome") == {}


def test_a_path_is_joined_over_its_middle() -> None:
    asserted = Asserted("?x :knows ?y . ?y :knows ?z")
    assert asserted.tell("a knows b, b knows c") == {("a", "b", "c"): 1}
    assert asserted.tell("b knows a") == {("a", "b", "a"): 1, ("b", "a", "b"): 1}
    assert asserted.tell(removed="a knows b") == {
        ("a", "b", "c"): -1,
        ("a", "b", "a"): -1,
        ("b", "a", "b"): -1,
    }


def test_a_triple_may_stand_in_the_place_of_several_patterns_at_once() -> None:
    asserted = Asserted("?x :knows ?y . ?y :knows ?z")
    assert asserted.tell("a knows a") == {("a", "a", "a"): 1}
    assert asserted.tell(removed="a knows a") == {("a", "a", "a"): -1}


def test_the_answers_of_parts_are_multiplied() -> None:
    asserted = Asserted("?x :in :Rome . ?y :in :Oslo . :sun :over :Rome")
    asserted.tell("ann in Rome, bob in Rome, cal in Oslo")
    assert asserted.now() == {}
    assert asserted.tell("sun over Rome") == {("ann", "cal"): 1, ("bob", "cal"): 1}
    assert asserted.tell("dan in Oslo", "bob in Rome") == {("bob", "cal"): -1, ("ann", "dan"): 1}


def test_no_pattern_has_one_answer_without_columns() -> None:
    matcher = Matcher((), Dictionary().encode_one)
    assert matcher.rows().rows.shape == (1, 0)
    assert not matcher.apply(np.zeros((1, 3), np.int32), np.zeros((0, 3), np.int32))
