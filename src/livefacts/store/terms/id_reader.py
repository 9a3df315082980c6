"""The reader of ids: ids become terms, and terms are looked up, in the table as it is now.

Whoever owns the table goes on adding terms to it; none of that changes what is read here, and
terms that are given back are still in the table that was captured.  Readers of any thread may
share one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from livefacts.model.facts import Symbol, Term
from livefacts.store.machine_code import described
from livefacts.store.terms import id_writer, text_table
from livefacts.store.terms.decoder import Decoder, strings
from livefacts.store.terms.text_table import (
    COUNT,
    INLINE_FIRST,
    INLINE_ZERO,
    IRI,
    KIND_MASK,
    KIND_SHIFT,
    LITERAL,
    LIVE,
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
FEW = 2048
"""Up to so many terms are remembered when they are decoded."""
VERY_FEW = 8
"""Up to so many are made one by one."""
MOST_REMEMBERED = 1 << 14
IRIS_AT_ONCE = 3


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
        number: int = text_table.look_up(self._desk, len(key), False)
        return None if number < 0 else number


class TermReader:
    """Reads a table of terms; the terms that were asked for in small numbers are remembered."""

    def __init__(self, terms: TermArrays) -> None:
        self._terms = terms
        self._decoder = Decoder()
        self._place = described(terms)
        self._finders = threading.local()
        self._remembered: dict[int, Term] = {}
        """Never emptied, but replaced: other threads may be reading it."""

    @property
    def numbers(self) -> int:
        """How many numbers were given out: every id is below this, or an inline integer."""
        return int(self._terms.sizes[COUNT])

    def __len__(self) -> int:
        """How many terms there are; in one table that can only grow."""
        return int(self._terms.sizes[LIVE])

    def find(self, term: Term) -> int | None:
        """The id of a term, or None if it was never added."""
        return self.finder().find(term)

    def finder(self) -> TermFinder:
        """What looks terms up, for this thread."""
        try:
            found: TermFinder = self._finders.finder
        except AttributeError:
            found = self._finders.finder = TermFinder(self._place)
        return found

    def decode(self, ids: Sequence[int] | Ids) -> list[Term]:
        """The terms of ids; ids that are the same share one object."""
        if len(ids) > FEW:
            return self._decode_many(as_ids(ids))
        numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids
        known = self._remembered
        try:
            return [known[number] for number in numbers]
        except KeyError:
            known = self._remember(numbers)
            return [known[number] for number in numbers]

    def _remember(self, ids: Sequence[int]) -> dict[int, Term]:
        """What is remembered, with the terms of these ids."""
        known = self._remembered
        if len(known) + len(ids) > MOST_REMEMBERED:
            known = self._remembered = {}
        missing = [number for number in dict.fromkeys(ids) if number not in known]
        if len(missing) <= VERY_FEW:
            for number in missing:
                known[number] = self._made(number)
        else:
            known.update(zip(missing, self._decode_many(np.array(missing, np.int32)), strict=True))
        return known

    def _decode_many(self, ids: Ids) -> list[Term]:
        if (ids[1:] > ids[:-1]).all():
            return self._terms_of(ids)
        distinct, places = np.unique(ids, return_inverse=True)
        terms = np.fromiter(self._terms_of(distinct), np.object_, len(distinct))
        return terms[places].tolist()  # type: ignore[no-any-return]

    def _terms_of(self, ids: Ids) -> list[Term]:
        """The terms of ids, each of them once."""
        kinds = self.kinds(ids)
        are_iris = kinds == IRI
        if are_iris.all():
            return self._named_nodes(ids)
        others = ids[~are_iris]
        terms = iter(self._decoder.terms(*self.packed_texts(others), kinds[~are_iris]))
        nodes = iter(self._named_nodes(ids[are_iris]))
        return [next(nodes if is_iri else terms) for is_iri in are_iris.tolist()]

    def _named_nodes(self, ids: Ids) -> list[Term]:
        """The IRIs of ids.

        They are written and read again as if they were triples: that takes half the time of
        making them one by one, since they are not looked over again.
        """
        left = -len(ids) % IRIS_AT_ONCE
        rows = np.concatenate([ids, ids[:1].repeat(left)]).reshape(-1, IRIS_AT_ONCE)
        found: list[Term] = []
        for quad in parse(self.write_ntriples(rows), RdfFormat.N_TRIPLES, lenient=True):
            found.append(quad.subject)
            found.append(quad.predicate)
            found.append(quad.object)
        return found[: len(ids)]

    def decode_one(self, term_id: int) -> Term:
        """The term of an id, its lexical form as it came in."""
        found = self._remembered.get(term_id)
        return self._remember((term_id,))[term_id] if found is None else found

    def _made(self, term_id: int) -> Term:
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
        return self._decoder.term(text.decode(), (record >> KIND_SHIFT) & KIND_MASK)

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

    def packed_texts(self, ids: Sequence[int] | Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The keys of ids one after the other in one array, and where each of them ends.

        A key is the text, with a mark before the name of a symbol.
        """
        ids = as_ids(ids)
        lengths = np.empty(len(ids), np.int64)
        id_writer.lengths_of(self._terms, ids, lengths)
        ends = lengths.cumsum()
        out = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
        id_writer.write_texts(self._terms, ids, out)
        return out, ends

    def write_ntriples(self, rows: Ids) -> bytes:
        """Rows of ids as N-Triples; as N-Quads if there is a fourth column of graphs.

        A graph id below 0 is the default graph.
        """
        statements = as_ids(rows)
        out = np.empty(id_writer.statements_length(self._terms, statements), np.uint8)
        id_writer.write_statements(self._terms, statements, out)
        return out.tobytes()
