"""Hash ids are those of Spark, and say what kind of term they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.model.facts import Symbol
from livefacts.store.terms.dictionary import BLANK, IRI, LITERAL, SYMBOL, Dictionary
from livefacts.store.terms.hash_ids import hashes, id_of_text, kind_of_text, kinds_of, term_ids

TEXTS = [
    "",
    "a",
    "abcd",
    "<http://example.org/ada>",
    "ü" * 31,
    "x" * 32,
    '"' + "lang " * 50 + '"@en',
]


def packed(texts: list[str]) -> tuple[Any, Any]:
    data = [text.encode() for text in texts]
    return np.frombuffer(bytearray(b"".join(data)), np.uint8), np.cumsum([len(d) for d in data])


@pytest.mark.parametrize("text", TEXTS)
def test_the_hash_of_a_text_depends_on_nothing_else(text: str) -> None:
    alone = hashes(*packed([text]))[0]
    among = hashes(*packed(["before", text, "after"]))[1]
    assert alone == among


def test_hashes_are_those_of_spark(spark: Any) -> None:
    texts = [*TEXTS, *(f"<http://example.org/{'n' * i}{i}>" for i in range(70))]
    rows = spark.createDataFrame([(i, text) for i, text in enumerate(texts)], "i int, t string")
    theirs = [row.h for row in rows.selectExpr("i", "xxhash64(t) AS h").orderBy("i").collect()]
    assert hashes(*packed(texts)).view(np.int64).tolist() == theirs


def test_an_id_says_what_kind_of_term_it_is_of() -> None:
    terms = [NamedNode("http://x/a"), BlankNode("a"), Literal("a"), Symbol("a"), Literal(7)]
    dictionary = Dictionary()
    numbers = dictionary.encode(terms)
    text, ends = dictionary.packed_texts(numbers)
    ids = term_ids(hashes(text, ends), dictionary.kinds(numbers))
    assert kinds_of(ids).tolist() == [IRI, BLANK, LITERAL, SYMBOL, LITERAL]
    assert len(set(ids.tolist())) == 5


def test_one_text_has_the_id_that_it_has_among_many() -> None:
    dictionary = Dictionary()
    numbers = dictionary.encode([NamedNode("http://x/a"), Literal("b", language="en")])
    text, ends = dictionary.packed_texts(numbers)
    ids = term_ids(hashes(text, ends), dictionary.kinds(numbers))
    alone = [id_of_text(t, kind_of_text(t)) for t in ("<http://x/a>", '"b"@en')]
    assert ids.tolist() == alone


def test_a_salt_makes_another_id() -> None:
    assert id_of_text("<http://x/a>", IRI) != id_of_text("<http://x/a>", IRI, salt=1)
