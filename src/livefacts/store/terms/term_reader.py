"""The term reader: ids become terms, and terms are looked up, in the table as it is now.

Whoever owns the table goes on adding terms to it; none of that changes what is read here, and
terms that are given back are still in the table that was captured.  Readers of any thread may
share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Triple

from livefacts.model.facts import Symbol, Term
from livefacts.store.compiled import described
from livefacts.store.terms import term_table, term_writer
from livefacts.store.terms.decoder import Decoder, strings
from livefacts.store.terms.term_table import (
    COUNT,
    INLINE_FIRST,
    INLINE_ZERO,
    IRI,
    KIND_MASK,
    KIND_SHIFT,
    LITERAL,
    LONG_TEXT,
    OFFSET_MASK,
    PREFIX_MASK,
    PREFIX_SHIFT,
    TermArrays,
)

Ids = NDArray[np.int32]

SYMBOL_MARK = "'"
"""Stands before the name of a symbol in the heap, where no other kind of term begins so."""
XSD_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
SHORT_TEXT = 256
VERY_FEW = 6
"""Up to so many are decoded one by one."""
FEW = 24
"""Up to so many ids are decoded without arrays."""


def text_of(term: Term) -> str:
    """The text of a term: N-Triples, or the name of a symbol.

    >>> text_of(Literal("x", language="en")), text_of(Symbol("kitchen"))
    ('"x"@en', 'kitchen')
    """
    if type(term) is Symbol:
        return term.name
    if type(term) is Triple:
        return f"<<( {term} )>>"
    return str(term)


def key_of(term: Term) -> bytes:
    """The text of a term as the table keeps it."""
    if type(term) is Symbol:
        return (SYMBOL_MARK + term.name).encode()
    if type(term) is Triple:
        return f"<<( {term} )>>".encode()
    return str(term).encode()


def packed(terms: Iterable[Term]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The keys of terms one after the other in one array, and their lengths."""
    keys = [key_of(term) for term in terms]
    return as_array(b"".join(keys)), np.array([len(key) for key in keys], np.int64)


def as_array(text: bytes) -> NDArray[np.uint8]:
    """Bytes as an array of their own."""
    return np.frombuffer(bytearray(text), np.uint8)


def as_ids(ids: Sequence[int] | Ids) -> Ids:
    """Contiguous and writable: kernels would be compiled again for any other array."""
    if isinstance(ids, np.ndarray) and ids.flags.carray and ids.dtype == np.int32:
        return ids
    return np.require(ids, np.int32, ["C", "W"])


class TermFinder:
    """Looks terms up one by one; each thread has its own."""

    def __init__(self, place: Sequence[int]) -> None:
        self._text = np.empty(SHORT_TEXT, np.uint8)
        self._desk = np.array([*place, self._text.ctypes.data], np.int64)

    def find(self, term: Term) -> int | None:
        """The id of a term, or None if it was never added."""
        key = key_of(term)
        if len(key) > len(self._text):
            self._text = np.empty(2 * len(key), np.uint8)
            self._desk[-1] = self._text.ctypes.data
        self._text.data[: len(key)] = key
        number: int = term_table.look_up(self._desk, len(key), False)
        return None if number < 0 else number


class TermReader:
    """Reads a table of terms."""

    def __init__(self, terms: TermArrays) -> None:
        self._terms = terms
        self._decoder = Decoder()
        self._place = described(terms)

    @property
    def numbers(self) -> int:
        """How many numbers were given out: every id is below this, or an inline integer."""
        return int(self._terms.sizes[COUNT])

    def find(self, term: Term) -> int | None:
        """The id of a term, or None if it was never added."""
        return self.finder().find(term)

    def finder(self) -> TermFinder:
        """What looks terms up, for one thread."""
        return TermFinder(self._place)

    def decode(self, ids: Sequence[int] | Ids) -> list[Term]:
        """The terms of ids; ids that are the same share one object."""
        if len(ids) <= FEW:
            return self._decode_few(ids if isinstance(ids, list) else np.asarray(ids).tolist())
        distinct, places = np.unique(as_ids(ids), return_inverse=True)
        terms = self._decoder.terms(*self.packed_texts(distinct), self.kinds(distinct))
        found: list[Term] = terms[places].tolist()
        return found

    def _decode_few(self, ids: list[int]) -> list[Term]:
        terms = dict.fromkeys(ids)
        if len(terms) <= VERY_FEW:
            known = {number: self.decode_one(number) for number in terms}
            return [known[number] for number in ids]
        numbers = np.array(list(terms), np.int32)
        packed, ends = self.packed_texts(numbers)
        found = self._decoder.few(packed, ends.tolist(), self.kinds(numbers).tolist())
        decoded = dict(zip(terms, found, strict=True))
        return [decoded[number] for number in ids]

    def decode_one(self, term_id: int) -> Term:
        """The term of an id, its lexical form as it came in."""
        if term_id >= INLINE_FIRST:
            return Literal(str(term_id - INLINE_ZERO), datatype=XSD_INTEGER)
        terms = self._terms
        record = int(terms.records[term_id])
        prefix, start = (record >> PREFIX_SHIFT) & PREFIX_MASK, (record & OFFSET_MASK) + 1
        length = int(terms.heap[start - 1])
        if length == LONG_TEXT:
            length = int.from_bytes(terms.heap[start : start + 4].tobytes(), "little")
            start += 4
        text = terms.heap[start : start + length].tobytes()
        if prefix:
            first, last = terms.prefix_starts[prefix : prefix + 2].tolist()
            text = terms.prefix_heap[first:last].tobytes() + text
        kind = (record >> KIND_SHIFT) & KIND_MASK
        return (
            NamedNode(text.decode()[1:-1])
            if kind == IRI
            else self._decoder.term(text.decode(), kind)
        )

    def texts(self, ids: Sequence[int] | Ids) -> list[str]:
        """The texts of ids."""
        return [text.removeprefix(SYMBOL_MARK) for text in strings(*self.packed_texts(as_ids(ids)))]

    def kinds(self, ids: Sequence[int] | Ids) -> NDArray[np.uint8]:
        """The kinds of terms: IRI, BLANK, LITERAL, SYMBOL or TRIPLE."""
        numbers = np.asarray(ids, np.int32)
        stored = numbers < INLINE_FIRST
        if stored.all():
            return ((self._terms.records[numbers] >> KIND_SHIFT) & KIND_MASK).astype(np.uint8)
        kinds = np.full(numbers.shape, LITERAL, np.uint8)
        kinds[stored] = (self._terms.records[numbers[stored]] >> KIND_SHIFT) & KIND_MASK
        return kinds

    def packed_texts(self, ids: Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The keys of ids one after the other in one array, and where each of them ends.

        A key is the text, with a mark before the name of a symbol.
        """
        ids = as_ids(ids)
        lengths = np.empty(len(ids), np.int64)
        term_writer.lengths_of(self._terms, ids, lengths)
        ends = lengths.cumsum()
        out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
        term_writer.write_texts(self._terms, ids, out)
        return out, ends
