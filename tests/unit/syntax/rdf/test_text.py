"""Texts of facts: N-Triples is read by lines, and says the same as Turtle would."""

from __future__ import annotations

import pytest
from pyoxigraph import RdfFormat

from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rdf.documents import read_rows, read_text

TEXTS = [
    "<x:a> <x:b> <x:c> .\n",
    '_:a <x:b> "c"@en .\n# nothing\n\n_:a <x:d> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    "<x:a> <x:b> <x:c> . <x:d> <x:e> <x:f> .",
    "<x:a> <x:b> <x:c> ;\n <x:d> <x:e> .",
    "@prefix e: <x:> . e:a e:b e:c .",
    '<x:a> <x:b> "é\\u00e9" .',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_what_turtle_makes_of_it(text: str) -> None:
    terms = Dictionary()
    as_turtle = list(read_rows(text.encode(), terms, format=RdfFormat.TURTLE, scope=b"t1"))
    found = read_text(text, terms, b"t1")
    assert [batch.rows.tolist() for batch in found] == [b.rows.tolist() for b in as_turtle]


def test_a_mistake_is_told_as_turtle_tells_it() -> None:
    text = "<x:a> <x:b> <x:c> .\n<x:a> <x:b .\n"
    with pytest.raises(InputError, match="<text>:2") as asserted:
        read_text(text, Dictionary(), b"t1")
    with pytest.raises(InputError) as expected:
        list(read_rows(text.encode(), Dictionary(), format=RdfFormat.TURTLE, scope=b"t1"))
    assert str(asserted.value) == str(expected.value)
