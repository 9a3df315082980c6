"""The order of terms: blank nodes, IRIs, and literals by what they stand for.

Numbers are ordered by value, strings by code point, then booleans, dates and times, and the
rest by their texts.  SPARQL leaves open how values of different sorts are ordered; here every two
terms are, and terms of one value, `1` and `1.0`, have one rank.

Only terms with one value, and literals of rare datatypes, are looked at one by one; IRIs and
strings are compared as rows of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from pyoxigraph import Literal

from livefacts.engine.queries.query_terms import QueryTerms
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
from livefacts.model.moments import DAY, Moment, Span
from livefacts.model.numbers import Number, nearest_double
from livefacts.model.values import value_of

# classes of terms, in their order; what is not named here is looked at one by one
UNNAMED, NAMED, NUMBER, NOT_A_NUMBER, TEXT, TRUTH, TIME, DATE, REST = range(1, 10)
CLASSES = np.full(SORTS, REST, np.uint8)
CLASSES[[NOTHING, BLANK, IRI, BOOLEAN]] = 0, UNNAMED, NAMED, TRUTH
CLASSES[[INTEGER, DECIMAL, FLOAT, DOUBLE]] = NUMBER
CLASSES[[STRING, TAGGED]] = TEXT
CLASSES[[ZONED_TIME, LOCAL_TIME]] = TIME
CLASSES[[ZONED_DAY, LOCAL_DAY]] = DATE
MOST_BYTES = 1 << 28
"""So much is spent on texts as rows of bytes."""
MONTH = Fraction(DAY * 146097, 400 * 12)
"""The mean length of a month, in seconds."""


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
        reals = np.where(classes == NUMBER, column.reals, 0.0)
        wholes = np.where(classes == NUMBER, 0, column.wholes)
        for some in (UNNAMED, NAMED, TEXT):
            here = np.flatnonzero(classes == some)
            wholes[here] = self.text_places(ids[here])
        rest = np.flatnonzero(classes == REST)
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
            amounts = _amounts(terms)
            keys = list(zip(amounts, map(str, terms), range(len(terms)), strict=True))
            keys.sort()
            order[start:stop] = numbers[[at for _, _, at in keys]]
            found = [amount for amount, _, _ in keys]
            same[start + 1 : stop] = [a == b for a, b in pairwise(found)]

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

    def _rest(self, ids: Ids) -> tuple[Sequence[int], Sequence[float], Rows]:
        """Classes, numbers and places of terms that no column can hold."""
        keys = [_key(term) for term in self._terms.decode(ids)]
        places = {key: at for at, key in enumerate(sorted(set(keys)))}
        wholes = np.array([places[key] if key[0] == REST else 0 for key in keys], np.int64)
        return [key[0] for key in keys], [float(key[1]) for key in keys], wholes


Key = tuple[int, float, str, Fraction, str]


def _key(term: Term | None) -> Key:
    """Class, real, datatype, amount and text."""
    nothing = Fraction(0)
    match value_of(term) if isinstance(term, Literal) else None:
        case Number(_, amount):
            real = nearest_double(amount)
            return (
                (NUMBER, real, "", nothing, "")
                if real == real
                else (NOT_A_NUMBER, 0.0, "", nothing, "")
            )
        case Moment(datatype, seconds):
            return REST, 0.0, datatype, seconds, ""
        case Span(months, seconds):
            return REST, 0.0, "duration", months * MONTH + seconds, ""
    return REST, 0.0, "~" if isinstance(term, Literal) else "~~", nothing, str(term)


def _amounts(terms: Sequence[Term | None]) -> list[Fraction | int]:
    """Exact amounts; a rounded number is equal to the least exact one that it is next to."""
    values = [value_of(term) if isinstance(term, Literal) else None for term in terms]
    exact = [Fraction(v.amount) for v in values if isinstance(v, Number) and v.kind.is_exact]
    least = min(exact, default=Fraction(0))
    return [
        Fraction(v.amount) if isinstance(v, Number) and v.kind.is_exact else least for v in values
    ]


def _scattered(values: NDArray[np.int64], order: Rows) -> Rows:
    found = np.empty(len(order), np.int64)
    found[order] = values
    return found
