"""The order of terms: blank nodes, IRIs, and literals by what they stand for.

Numbers are ordered by value, strings by code point, then booleans, dates and times, and the
rest by their texts.  SPARQL leaves open how values of different sorts are ordered; here every two
terms are, and terms of one value, `1` and `1.0`, have one rank.

Only terms with one value, and literals of rare datatypes, are looked at one by one; IRIs and
strings are compared as rows of bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.solutions import Flags, Ids, Rows
from livefacts.engine.queries.value_columns import TermValues
from livefacts.engine.queries.value_lines import (
    BLANK,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    IRI,
    LOCAL_DAY,
    LOCAL_TIME,
    NOTHING,
    SORTS,
    STRING,
    TAGGED,
    ZONED_DAY,
    ZONED_TIME,
)
from livefacts.model.facts import Term
from livefacts.model.numbers import Number, nearest_double
from livefacts.model.term_ranks import TermClass, rank_of
from livefacts.model.values import value_of

# The classes of the sorts of terms; what is not named here is looked at one by one.
CLASSES = np.full(SORTS, TermClass.REST, np.uint8)
CLASSES[[NOTHING, BLANK, IRI, BOOLEAN]] = 0, TermClass.BLANK, TermClass.IRI, TermClass.TRUTH
CLASSES[[INTEGER, DECIMAL, FLOAT, DOUBLE]] = TermClass.NUMBER
CLASSES[[STRING, TAGGED]] = TermClass.TEXT
CLASSES[[ZONED_TIME, LOCAL_TIME]] = TermClass.TIME
CLASSES[[ZONED_DAY, LOCAL_DAY]] = TermClass.DATE
MOST_BYTES = 1 << 28
"""So much is spent on texts as rows of bytes."""


class Ranks(NamedTuple):
    """Where terms stand: terms of one value have one rank, and places of their own."""

    ranks: Rows
    places: Rows


class TermOrder:
    """The order of the terms of one query."""

    def __init__(self, terms: QueryTerms, values: TermValues) -> None:
        self._terms = terms
        self._values = values

    def of(self, ids: Ids) -> Ranks:
        """The ranks and the places of different ids among each other."""
        column = self._values.of(ids)
        classes = CLASSES[column.sorts]
        reals = np.where(classes == TermClass.NUMBER, column.reals, 0.0)
        wholes = np.where(classes == TermClass.NUMBER, 0, column.wholes)
        for some in (TermClass.BLANK, TermClass.IRI, TermClass.TEXT):
            here = np.flatnonzero(classes == some)
            wholes[here] = self.text_places(ids[here])
        rest = np.flatnonzero(classes == TermClass.REST)
        classes[rest], reals[rest], wholes[rest] = self._rest(ids[rest])
        order = np.lexsort((wholes, reals, classes))
        same = np.zeros(len(ids), np.bool_)
        in_order = (key[order] for key in (classes, reals, wholes))
        same[1:] = np.logical_and.reduce([key[1:] == key[:-1] for key in in_order])
        self._untie(ids, order, same)
        return Ranks(_scattered(np.cumsum(~same), order), _scattered(np.arange(len(ids)), order))

    def _untie(self, ids: Ids, order: Rows, same: Flags) -> None:
        """Put terms with one key in the order of their exact values, and then of their texts."""
        starts = np.flatnonzero(np.diff(np.append(same, False).astype(np.int8)) == 1)
        for start in starts.tolist():
            stop = start + 1
            while stop < len(same) and same[stop]:
                stop += 1
            numbers = order[start:stop]
            terms = self._terms.decode(ids[numbers])
            keys = sorted((rank_of(term), at, term) for at, term in enumerate(terms) if term)
            order[start:stop] = numbers[[at for _, at, _ in keys]]
            same[start + 1 : stop] = list(_repeated(term for _, _, term in keys))[1:]

    def text_places(self, ids: Ids) -> Rows:
        """The places of IRIs, blank nodes or strings by their texts."""
        rows = self._byte_rows(ids)
        if rows is not None:
            return _scattered(np.arange(len(ids)), np.argsort(rows, kind="stable"))
        terms = self._terms.decode(ids)
        keys = [(term.value, getattr(term, "language", "") or "") for term in terms]  # type: ignore[union-attr]
        order = sorted(range(len(ids)), key=keys.__getitem__)
        return _scattered(np.arange(len(ids)), np.array(order, np.int64))

    def _byte_rows(self, ids: Ids) -> NDArray[np.bytes_] | None:
        """Texts without their marks as rows of bytes; None where they are no such rows."""
        if len(ids) < 2 or (ids < 0).any():
            return None
        packed, ends = self._terms.packed_texts(ids)
        starts = np.concatenate([[0], ends[:-1]])
        width = int((ends - starts).max())
        marks = np.isin(packed[ends - 1], np.frombuffer(b'>"', np.uint8))
        if width * len(ids) > MOST_BYTES or not marks.all() or (packed == ord("\\")).any():
            return None
        padded = np.concatenate([packed, np.zeros(width, np.uint8)])
        rows = sliding_window_view(padded, width)[starts + 1]
        rows[np.arange(width) >= (ends - starts - 2)[:, None]] = 0
        found: NDArray[np.bytes_] = rows.view(f"S{width}").reshape(-1)
        return found

    def _rest(self, ids: Ids) -> tuple[list[int], list[float], list[int]]:
        """Classes, numbers and places of terms that no column can hold."""
        keys = [rank_of(term)[:-1] for term in self._terms.decode(ids) if term is not None]
        places = {key: at for at, key in enumerate(sorted(set(keys)))}
        are_numbers = [key[0] in (TermClass.NUMBER, TermClass.NAN) for key in keys]
        return (
            [
                key[0] if each else TermClass.REST
                for key, each in zip(keys, are_numbers, strict=True)
            ],
            [nearest_double(key[1]) if key[0] == TermClass.NUMBER else 0.0 for key in keys],
            [0 if each else places[key] for key, each in zip(keys, are_numbers, strict=True)],
        )


def _repeated(terms: Iterable[Term]) -> Iterator[bool]:
    """Whether terms that one double stands for have the value of the one before.

    A rounded number is equal to several exact ones; it counts as equal to the one before it.
    """
    known: int | Decimal | float | None = None
    for term in terms:
        value = value_of(term)
        if isinstance(value, Number) and value.kind.is_exact:
            yield known is None or value.amount == known
            known = value.amount
        else:
            yield True


def _scattered(values: NDArray[np.int64], order: Rows) -> Rows:
    found = np.empty(len(order), np.int64)
    found[order] = values
    return found
