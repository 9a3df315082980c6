"""The value memory: values of literals and results of arithmetic that Python has computed once.

Comparisons and arithmetic on small integers are done in the kernel.  For every other
term it asks once, Python computes the exact answer with `model.values`, and the kernel
finds it here from then on.
"""

from __future__ import annotations

import numpy as np
from pyoxigraph import Literal, Triple

from livefacts.engine.embedded.kernel import registers as code
from livefacts.model import values
from livefacts.store.critical_sections import uninterrupted
from livefacts.store.terms.dictionary import Dictionary

COMPARISONS = {
    code.EQUAL: "=",
    code.UNEQUAL: "!=",
    code.LESS: "<",
    code.AT_MOST: "<=",
    code.MORE: ">",
    code.AT_LEAST: ">=",
}
ARITHMETIC = {code.ADD: "+", code.SUBTRACT: "-", code.MULTIPLY: "*", code.DIVIDE: "/"}
FUNCTIONS = {code.DATATYPE: "datatype", code.VALUE: "value", code.NARROWEST: "kind"}
NOT_A_NUMBER = 8
"""The kind of a term whose comparisons go by pairs."""
MOST_ANSWERS = 1 << 21
"""Beyond this many answers the tables start anew."""


class ValueMemo:
    """The kernel's memo, and the computing of what it lacks."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._start()

    @uninterrupted
    def _start(self) -> None:
        self.epoch = self.dictionary.epoch
        self._start_numbers(64)
        self._start_pairs(64)
        self.tables = self._memo()

    @property
    def memo(self) -> code.Memo:
        """What is known, of the terms that ids mean now; `tables`, if the `epoch` is theirs."""
        if self.epoch != self.dictionary.epoch:
            self._start()
        return self.tables

    def answer_number(self, term: int) -> None:
        """Enter the kind and the nearest double of a term."""
        decoded = self.dictionary.decode_one(term)
        number = values.number_of(decoded)
        other = NOT_A_NUMBER if isinstance(decoded, Literal | Triple) else code.NAME
        kind, value = (other, 0.0) if number is None else number
        if 2 * self._numbers >= len(self._number_ids):
            self._grow_numbers()
        self._put_number(term, kind, value)

    def answer_pair(self, operator: int, left: int, right: int) -> None:
        """Enter the result of an operator on two terms: 0 or 1, an id, or -1 for none."""
        result = self._result(operator, left, right)
        if 2 * self._pairs_used >= len(self._pairs):
            self._grow_pairs()
        self._put_pair(((operator + 1) << 32) | left, right, result)

    def _result(self, operator: int, left: int, right: int) -> int:
        first, second = self.dictionary.decode_one(left), self.dictionary.decode_one(right)
        if operator in COMPARISONS:
            return int(values.compare(COMPARISONS[operator], first, second))
        if operator in FUNCTIONS:
            term = values.apply_function(FUNCTIONS[operator], first)
        else:
            term = values.arithmetic(ARITHMETIC[operator], first, second)
        if term is None:
            return -1
        with self.dictionary.passing:
            return int(self.dictionary.encode_one(term))

    def _memo(self) -> code.Memo:
        return code.Memo(self._number_ids, self._number_kinds, self._number_values, self._pairs)

    def _start_numbers(self, size: int) -> None:
        self._numbers = 0
        self._number_ids = np.zeros(size, np.int64)
        self._number_kinds = np.zeros(size, np.int64)
        self._number_values = np.zeros(size, np.float64)

    def _put_number(self, term: int, kind: int, value: float) -> None:
        at = code.number_place(self.tables, term)
        self._number_ids[at], self._number_kinds[at] = term + 1, kind
        self._number_values[at] = value
        self._numbers += 1

    @uninterrupted
    def _grow_numbers(self) -> None:
        ids, kinds, numbers = self._number_ids, self._number_kinds, self._number_values
        kept: list[int] = np.flatnonzero(ids).tolist() if self._numbers < MOST_ANSWERS else []
        self._start_numbers(2 * len(ids) if kept else 64)
        self.tables = self._memo()
        for at in kept:
            self._put_number(int(ids[at]) - 1, int(kinds[at]), float(numbers[at]))

    def _start_pairs(self, size: int) -> None:
        self._pairs_used = 0
        self._pairs = np.zeros((size, 3), np.int64)

    def _put_pair(self, first: int, second: int, result: int) -> None:
        at = code.place_entry(self._pairs, first, second)
        self._pairs[at] = first, second, result
        self._pairs_used += 1

    @uninterrupted
    def _grow_pairs(self) -> None:
        old = self._pairs
        kept = old[old[:, 0] != 0] if self._pairs_used < MOST_ANSWERS else old[:0]
        self._start_pairs(2 * len(old) if len(kept) else 64)
        self.tables = self._memo()
        for first, second, result in kept.tolist():
            self._put_pair(first, second, result)
