"""Ids as keys of totals: the numbers and the terms that they stand for, numbers read once.

What comes into a window goes again, and a total asks for its number twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import Number, NumberKind, literal_of, parse_double
from livefacts.model.term_ranks import rank_of, rank_of_whole
from livefacts.model.values import value_of
from livefacts.store.terms.dictionary import inline_id, inline_value, is_inline
from livefacts.store.terms.text_table import INLINE_FIRST, INLINE_ZERO

UNBOUND = -1
REMEMBERED = 1 << 16
DOUBLE = f'"^^<{XSD}double>'.encode()
"""The end of the text of a double."""


class NumberedTerms(Protocol):
    """Gives terms their ids, and ids their terms."""

    @property
    def epoch(self) -> int:
        """Changes when ids mean other terms than before."""
        ...

    def encode_one(self, term: Term, /) -> int:
        """The id of a term."""
        ...

    def decode(self, ids: Sequence[int], /) -> Sequence[Term | None]:
        """The terms of ids."""
        ...

    def decode_one(self, term_id: int, /) -> Term | None:
        """The term of an id."""
        ...

    def packed_texts(self, ids: Sequence[int], /) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The keys of ids one after the other in one array, and where each of them ends."""
        ...


class IdTerms:
    """What ids stand for, as totals ask."""

    error = UNBOUND

    def __init__(self, dictionary: NumberedTerms) -> None:
        self._dictionary = dictionary
        self._known: dict[int, Number | None] = {UNBOUND: None}
        self._epoch = dictionary.epoch

    def learn(self, values: Iterable[int]) -> None:
        """Read the numbers of several ids at once, which is cheaper than one by one."""
        if self._epoch != self._dictionary.epoch or len(self._known) > REMEMBERED:
            self._known = {UNBOUND: None}
            self._epoch = self._dictionary.epoch
        known = self._known
        missing = list({each for each in values if each < INLINE_FIRST and each not in known})
        if not missing:
            return
        others = self._learn_doubles([each for each in missing if each > UNBOUND])
        others += [each for each in missing if each < UNBOUND]
        for value, term in zip(others, self._dictionary.decode(others), strict=True):
            number = None if term is None else value_of(term)
            known[value] = number if isinstance(number, Number) else None

    def _learn_doubles(self, stored: list[int]) -> list[int]:
        """Read doubles off their texts, without a term for each; the ids of what is none."""
        if not stored:
            return []
        texts, ends = self._dictionary.packed_texts(stored)
        packed, start, others = texts.tobytes(), 0, []
        for value, end in zip(stored, ends.tolist(), strict=True):
            if packed.endswith(DOUBLE, start, end):
                self._known[value] = parse_double(packed[start + 1 : end - len(DOUBLE)].decode())
            else:
                others.append(value)
            start = end
        return others

    def whole(self, key: int, /) -> int | None:
        """The integer that an inline id is."""
        return key - INLINE_ZERO if key >= INLINE_FIRST else None

    def number(self, key: int, /) -> Number | None:
        """The number of an id; None for anything else."""
        if is_inline(key):
            return Number(NumberKind.INTEGER, inline_value(key))
        if self._epoch != self._dictionary.epoch or key not in self._known:
            self.learn((key,))
        return self._known[key]

    def term(self, key: int, /) -> Term | None:
        """The term of an id."""
        return None if key == UNBOUND else self._dictionary.decode_one(key)

    def rank(self, key: int, /) -> tuple[Any, ...]:
        """Where the term of an id stands in the order of SPARQL."""
        if is_inline(key):
            return rank_of_whole(inline_value(key))
        term = self.term(key)
        assert term is not None, "a value is a term"
        return rank_of(term)

    def key(self, term: Term, /) -> int:
        """The id of a term that was computed."""
        return self._dictionary.encode_one(term)

    def key_of_whole(self, number: int, /) -> int:
        """The id of an integer."""
        known = inline_id(number)
        if known is not None:
            return known
        return self._dictionary.encode_one(literal_of(Number(NumberKind.INTEGER, number)))
