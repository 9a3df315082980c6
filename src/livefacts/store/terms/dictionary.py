"""The dictionary: terms become ids once on the way in, ids become terms once on the way out.

An id is an int32 that is never negative.  Below 2**30 it is the number of a term in the
term table; from there on it is a small xsd:integer itself, which needs no table: its value
is `id - 2**30 - 2**29`, and only the canonical form is inline ("01" and "+1" are ordinary
terms, equal only to themselves).

The text of a term is what N-Triples writes for it, escaped as pyoxigraph escapes it, and
the name itself for a symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Protocol, TypeVar
from weakref import WeakSet, ref

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import RdfFormat, Triple, serialize

from livefacts.errors import LimitError
from livefacts.model.facts import Term
from livefacts.store.critical_sections import uninterrupted
from livefacts.store.machine_code import described
from livefacts.store.terms import text_table
from livefacts.store.terms.blank_labels import relabelled
from livefacts.store.terms.id_reader import TermReader, as_array, as_ids, key_of, packed
from livefacts.store.terms.line_scanner import split_triples
from livefacts.store.terms.text_table import (
    ALL_PASS,
    BLANK,
    BYTES_WANTED,
    COUNT,
    HEAP_USED,
    INLINE_FIRST,
    INLINE_REACH,
    INLINE_ZERO,
    IRI,
    IS_PASSING,
    LABELS_STAY,
    LITERAL,
    LIVE,
    LOAD_DENOMINATOR,
    LOAD_NUMERATOR,
    LOOSE,
    PREFIX_COUNT,
    PREFIX_HEAP_USED,
    SYMBOL,
    TRIPLE,
    TermArrays,
)

__all__ = [
    "BLANK",
    "IRI",
    "LITERAL",
    "SYMBOL",
    "TRIPLE",
    "Dictionary",
    "inline_id",
    "inline_value",
    "is_inline",
]

Ids = NDArray[np.int32]
Cells = TypeVar("Cells", NDArray[np.int64], NDArray[np.uint8])

MOST_TERMS = 2**30
HEAP_LIMIT = 2**40
SPARE_ROOM = 4
BLANK_MARK = ord("_")
"""What the text of a blank node begins with."""
"""A full array grows by a quarter."""


def inline_id(value: int) -> int | None:
    """The id of an integer that needs no dictionary, or None.

    >>> inline_value(inline_id(-7))
    -7
    >>> inline_id(2**29) is None
    True
    """
    return value + INLINE_ZERO if -INLINE_REACH <= value < INLINE_REACH else None


def is_inline(term_id: int) -> bool:
    """Whether an id is an integer itself."""
    return term_id >= INLINE_FIRST


def inline_value(term_id: int) -> int:
    """The integer that an inline id is."""
    return term_id - INLINE_ZERO


class Loan:
    """Ids that somebody keeps, to read them later; alive as long as that one keeps it."""

    __slots__ = ("__weakref__", "ids")

    def __init__(self, ids: Callable[[], Iterable[Ids]]) -> None:
        self.ids = ids


class Rememberer(Protocol):
    """Remembers ids that it could do without."""

    def let_go(self) -> None:
        """Forget what nobody needs any more."""
        ...


class _Passing(AbstractContextManager[None]):
    """A time in which new terms are transient; it may be entered again inside."""

    def __init__(self, dictionary: Dictionary, which: int) -> None:
        self._dictionary = dictionary
        self._which = which
        self._before: list[int] = []

    def __enter__(self) -> None:
        sizes = self._dictionary.table.sizes
        self._before.append(sizes[IS_PASSING])
        sizes[IS_PASSING] = self._which

    def __exit__(self, *error: object) -> None:
        # A sweep has put other arrays in the place of these, maybe.
        self._dictionary.table.sizes[IS_PASSING] = self._before.pop()


class Dictionary:
    """All terms that a store speaks of, each with its id."""

    def __init__(self) -> None:
        self._desk = np.zeros(text_table.DESK_LENGTH, np.int64)
        self._set_scratch(256)
        self.epoch = 0
        """Changes when ids mean other terms than before."""
        self._loans: set[ref[Loan]] = set()
        """Those that somebody keeps: one that is given back takes itself out."""
        self._rememberers: WeakSet[Rememberer] = WeakSet()
        self.passing = _Passing(self, ALL_PASS)
        """While this is entered, new terms are transient: a sweep may reclaim them."""
        self.passing_but_labels = _Passing(self, LABELS_STAY)
        """The same for all but labels of blank nodes that are not those of a scope."""
        self.clear()

    def clear(self) -> None:
        """Forget all terms: numbers are given out from 0 again."""
        self._set_terms(
            TermArrays(
                slots=np.zeros(1024, np.int64),
                records=np.zeros(1024, np.int64),
                heap=np.empty(1 << 14, np.uint8),
                prefix_slots=np.zeros(256, np.int64),
                prefix_starts=np.zeros(256, np.int64),
                prefix_heap=np.empty(1 << 12, np.uint8),
                sizes=np.array([0, 0, 1, 0, 0, 0, 0, 0, 0], np.int64),
                block=np.empty((3, text_table.BLOCK), np.int64),
            )
        )

    @uninterrupted
    def _set_terms(self, terms: TermArrays) -> None:
        self.table = terms
        self._reader = TermReader(terms)
        self._desk[: text_table.TEXT_ON_DESK] = described(terms)

    @uninterrupted
    def _set_scratch(self, size: int) -> None:
        """Room for the text of one term."""
        self._scratch = np.empty(size, np.uint8)
        self._scratch_bytes = self._scratch.data
        self._desk[text_table.TEXT_ON_DESK] = self._scratch.ctypes.data

    def __len__(self) -> int:
        """How many terms have a number; inline integers have none."""
        return int(self.table.sizes[LIVE])

    @property
    def nbytes(self) -> int:
        """The memory that the tables take, spare room included."""
        return sum(array.nbytes for array in self.table)

    @property
    def desk(self) -> NDArray[np.int64]:
        """Where the tables are, for kernels that look up texts themselves."""
        return self._desk

    def encode(self, terms: Iterable[Term]) -> Ids:
        """The ids of terms; new ones are added."""
        text, lengths = packed(terms)
        ends = np.cumsum(lengths)
        return self.encode_spans(text, ends - lengths, ends, b"")

    def encode_triples(self, triples: Sequence[Triple]) -> Ids:
        """The ids of triples, a row each; their texts are taken as they are written together."""
        text = as_array(serialize(triples, format=RdfFormat.N_TRIPLES) or b"")
        starts, ends = np.empty((2, 3 * len(triples)), np.int64)
        split_triples(text, starts, ends)
        return self.encode_spans(text, starts, ends, b"").reshape(-1, 3)

    def encode_one(self, term: Term) -> int:
        """The id of a term, which is added if it is new."""
        length = self._put_key(term)
        number: int = text_table.intern(self._desk, length)
        if number < 0:
            self.make_room(1)
            number = text_table.intern(self._desk, length)
        return number

    def find(self, term: Term) -> int | None:
        """The id of a term, or None if it was never added."""
        number: int = text_table.look_up(self._desk, self._put_key(term), True)
        return None if number < 0 else number

    def find_all(self, terms: Iterable[Term]) -> Ids:
        """The ids of terms; -1 for a term never added."""
        text, lengths = packed(terms)
        return self._found(text, np.cumsum(lengths))

    def find_spans(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> Ids:
        """The ids of spans of canonical N-Triples text; -1 for a term never added."""
        lengths = ends - starts
        after = np.cumsum(lengths)
        places = np.repeat(ends - after, lengths) + np.arange(lengths.sum())
        return self._found(buffer[places], after)

    def ids_of(self, other: Dictionary, ids: Ids) -> Ids:
        """The ids that terms of another dictionary have here; -1 for a term never added."""
        return self._found(*other.packed_texts(ids))

    def _found(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> Ids:
        found = np.empty(len(ends), np.int32)
        text_table.look_up_spans(self.table, text, ends, found, True)
        return found

    def encode_spans(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        scope: bytes,
    ) -> Ids:
        """The ids of spans of canonical N-Triples text; blank node labels get the scope."""
        # Few texts have blank nodes, and one fact alone is in a hurry.
        blank = (buffer[starts] == BLANK_MARK).nonzero()[0]
        others = relabelled(buffer, starts, ends, blank, scope) if scope and len(blank) else {}
        if others:
            return self._encode_apart(buffer, starts, ends, scope, others)
        ids = np.empty(len(starts), np.int32)
        scope_bytes = np.frombuffer(bytearray(scope), np.uint8)
        done = 0
        while done < len(ids):
            done = text_table.intern_spans(self.table, buffer, starts, ends, scope_bytes, done, ids)
            if done < len(ids):
                self.make_room(text_table.BLOCK)
        return ids

    def _encode_apart(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        scope: bytes,
        others: Mapping[int, bytes],
    ) -> Ids:
        """The same, where some spans stand for texts that are as they should be."""
        places = np.array(list(others))
        others_ends = np.cumsum([len(text) for text in others.values()], dtype=np.int64)
        others_starts = np.concatenate([np.zeros(1, np.int64), others_ends[:-1]])
        data = np.frombuffer(bytearray(b"".join(others.values())), np.uint8)
        rest = np.delete(np.arange(len(starts)), places)
        ids = np.empty(len(starts), np.int32)
        ids[places] = self.encode_spans(data, others_starts, others_ends, b"")
        ids[rest] = self.encode_spans(buffer, starts[rest], ends[rest], scope)
        return ids

    def reader(self) -> TermReader:
        """The terms as they are now, for readers of any thread."""
        return self._reader

    def decode(self, ids: Sequence[int] | Ids) -> list[Term]:
        """The terms of ids; ids that are the same share one object."""
        return self._reader.decode(ids)

    def decode_one(self, term_id: int) -> Term:
        """The term of an id, its lexical form as it came in."""
        return self._reader.decode_one(term_id)

    def texts(self, ids: Sequence[int] | Ids) -> list[str]:
        """The texts of ids."""
        return self._reader.texts(ids)

    def kinds(self, ids: Sequence[int] | Ids) -> NDArray[np.uint8]:
        """The kinds of terms: IRI, BLANK, LITERAL, SYMBOL or TRIPLE."""
        return self._reader.kinds(ids)

    def packed_texts(self, ids: Sequence[int] | Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The keys of ids one after the other in one array, and where each of them ends."""
        return self._reader.packed_texts(ids)

    def mark_statements(self, triples: Ids, marks: NDArray[np.bool_]) -> bool:
        """Mark the triples that RDF can write; whether that is all of them."""
        return bool(text_table.mark_statements(self._desk, as_ids(triples), marks))

    def write_ntriples(self, rows: Ids) -> bytes:
        """Rows of ids as N-Triples; as N-Quads if there is a fourth column of graphs."""
        return self._reader.write_ntriples(rows)

    # transient terms (they pass by)

    @property
    def loose(self) -> int:
        """How many transient terms may be in use nowhere: those that have come since the last
        sweep and were not settled, and those of facts that went."""
        return int(self.table.sizes[LOOSE])

    def loosen(self, terms: int) -> None:
        """So many terms may be in use nowhere from now on; below 0: so many are in use after all."""
        self.table.sizes[LOOSE] += terms

    def lend(self, *ids: Ids) -> Loan:
        """Keep the terms of these ids as long as the loan is kept."""
        return self.lend_later(lambda: ids)

    def lend_later(self, ids: Callable[[], Iterable[Ids]]) -> Loan:
        """The same for ids that are asked for at a sweep."""
        loan = Loan(ids)
        self._loans.add(ref(loan, self._loans.discard))
        return loan

    def lend_rows(self, rows: Iterable[Sequence[int]]) -> Loan:
        """The same for rows of ids, one by one; what is below 0 stands for no term."""
        return self.lend(np.array([number for row in rows for number in row], np.int32))

    def tell_before_sweeps(self, rememberer: Rememberer) -> None:
        """Before every sweep, this cache of ids is emptied."""
        self._rememberers.add(rememberer)

    def sweep(self, held: Iterable[Ids]) -> int:
        """Reclaim the transient terms that are neither held nor lent; how many that are.

        Their ids will mean other terms from then on.
        """
        for rememberer in list(self._rememberers):
            rememberer.let_go()
        terms = self.table
        marks = np.zeros(int(terms.sizes[COUNT]) + 1, np.uint8)
        kept = [loan for found in list(self._loans) if (loan := found()) is not None]
        lent = (ids for loan in kept for ids in loan.ids())
        for ids in chain(held, lent):
            numbers = ids.reshape(-1)
            marks[numbers[(numbers >= 0) & (numbers < INLINE_FIRST)]] = 1
        swept = terms._replace(
            slots=np.zeros_like(terms.slots),
            records=terms.records.copy(),
            heap=np.empty_like(terms.heap),
            sizes=terms.sizes.copy(),
        )
        freed: int = text_table.sweep(terms, marks, swept)
        self._set_terms(swept)
        self.epoch += freed > 0
        return freed

    def _put_key(self, term: Term) -> int:
        key = key_of(term)
        length = len(key)
        if length > len(self._scratch):
            self._set_scratch(2 * length)
        self._scratch_bytes[:length] = key
        return length

    def make_room(self, texts: int) -> None:
        """Make room for so many texts, and for the bytes that the last kernel asked for."""
        terms = self.table
        count, live, used, prefixes, prefix_used = (
            int(terms.sizes[i]) for i in (COUNT, LIVE, HEAP_USED, PREFIX_COUNT, PREFIX_HEAP_USED)
        )
        wanted = int(terms.sizes[BYTES_WANTED])
        if count + texts >= MOST_TERMS or used + 2 * wanted >= HEAP_LIMIT:
            raise LimitError(
                f"the dictionary is full: {count:,} terms, {used:,} bytes of text",
                hint="a store holds at most 2**30 different terms",
            )
        self._set_terms(
            terms._replace(
                slots=_larger_slots(terms.slots, live + texts),
                records=_larger(terms.records, count + 1, count + texts + 1, MOST_TERMS + 1),
                heap=_larger(terms.heap, used, used + 2 * wanted, HEAP_LIMIT),
                prefix_slots=_larger_slots(terms.prefix_slots, prefixes + texts),
                prefix_starts=_larger(terms.prefix_starts, prefixes + 1, prefixes + texts + 1),
                prefix_heap=_larger(terms.prefix_heap, prefix_used, prefix_used + wanted),
            )
        )


def _larger(array: Cells, used: int, needed: int, most: int = 2**62) -> Cells:
    if needed <= len(array):
        return array
    larger: Cells = np.empty(min(needed + needed // SPARE_ROOM, most), array.dtype)
    larger[:used] = array[:used]
    return larger


def _larger_slots(slots: NDArray[np.int64], needed: int) -> NDArray[np.int64]:
    size = len(slots)
    while needed * LOAD_DENOMINATOR > size * LOAD_NUMERATOR:
        size *= 2
    if size == len(slots):
        return slots
    larger = np.zeros(size, np.int64)
    text_table.move_slots(slots, larger)
    return larger
