"""The decoder: the texts of many terms become terms at once.

Texts lie one after the other in an array of bytes.  They are made to one string, of which
the terms are parts: that costs less than to make a string of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, RdfFormat, parse

from livefacts.model.facts import Symbol, Term
from livefacts.store.terms.text_table import BLANK, IRI, LITERAL, SYMBOL

DIRECTIONS = {"ltr": BaseDirection.LTR, "rtl": BaseDirection.RTL}
ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}
MOST_DATATYPES = 1024

Bytes = NDArray[np.uint8]
Ends = NDArray[np.int64]


class Decoder:
    """Makes terms of their texts."""

    def __init__(self) -> None:
        self._datatypes: dict[str, NamedNode] = {}
        """By what follows the quotes of a literal."""

    def terms(self, packed: Bytes, ends: Ends, kinds: NDArray[np.uint8]) -> list[Term]:
        """The terms of texts that lie one after the other."""
        texts = strings(packed, ends)
        if (kinds == LITERAL).all():
            return list(self._literals(texts))
        return [self.term(text, kind) for text, kind in zip(texts, kinds.tolist(), strict=True)]

    def term(self, text: str, kind: int) -> Term:
        """The term of one text."""
        if kind == IRI:
            return NamedNode(text[1:-1])
        if kind == LITERAL:
            return next(self._literals([text]))
        if kind == BLANK:
            return BlankNode(text[2:])
        return Symbol(text[1:]) if kind == SYMBOL else _triple_term(text)

    def _literals(self, texts: Iterable[str]) -> Iterator[Literal]:
        known = self._datatypes
        for text in texts:
            end = text.rindex('"')
            value, tail = text[1:end], text[end + 1 :]
            if "\\" in value:
                value = _unescaped(value)
            if not tail:
                yield Literal(value)
            elif tail[0] == "^":
                yield Literal(value, datatype=known.get(tail) or self._datatype(tail))
            else:
                yield _tagged_literal(value, tail[1:])

    def _datatype(self, tail: str) -> NamedNode:
        if len(self._datatypes) >= MOST_DATATYPES:
            self._datatypes.clear()
        made = self._datatypes[tail] = NamedNode(tail[3:-1])
        return made


def strings(packed: Bytes, ends: Ends) -> list[str]:
    """Texts that lie one after the other, each by itself."""
    if not len(ends):
        return []
    text, last = _joined(packed, ends)
    first = np.concatenate([np.zeros(1, np.int64), last[:-1]])
    return _parts(text, first, last)


def _joined(packed: Bytes, ends: Ends) -> tuple[str, Ends]:
    """All texts as one string, and where each of them ends in it."""
    text = packed.tobytes()
    if text.isascii():
        return text.decode("ascii"), ends
    begins = (packed & 0xC0) != 0x80
    return text.decode(), np.cumsum(begins)[ends - 1]


def _parts(text: str, first: Ends, last: Ends) -> list[str]:
    return [text[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]


def _unescaped(text: str) -> str:
    parts, position = [], 0
    while (escape := text.find("\\", position)) >= 0:
        parts.append(text[position:escape])
        letter = text[escape + 1]
        position = escape + 2
        if letter == "u":
            parts.append(chr(int(text[position : position + 4], 16)))
            position += 4
        else:
            parts.append(ESCAPED[letter])
    parts.append(text[position:])
    return "".join(parts)


def _tagged_literal(value: str, tag: str) -> Literal:
    language, _, direction = tag.partition("--")
    if not direction:
        return Literal(value, language=language)
    return Literal(value, language=language, direction=DIRECTIONS[direction])


def _triple_term(text: str) -> Term:
    (quad,) = parse(f"<x:s> <x:p> {text} .", format=RdfFormat.N_TRIPLES)
    term: Term = quad.object
    return term
