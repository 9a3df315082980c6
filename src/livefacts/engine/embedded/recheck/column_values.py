"""Column values: comparisons and arithmetic on columns of ids.

Small integers are their own ids and are compared and computed as they are.  Every other
pair of terms is looked at once, by `model.values`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal

from livefacts.engine.contract import Flags, Ids
from livefacts.language.formula import Aggregate
from livefacts.model import values
from livefacts.model.facts import Term
from livefacts.model.running_totals import aggregate
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.text_table import INLINE_FIRST, INLINE_REACH, INLINE_ZERO

NONE = -1
"""Stands for the result of a calculation that makes no sense."""
COMPARE: dict[str, Callable[[Ids, Ids], Flags]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
OF_TERMS = {"is": np.equal, "is not": np.not_equal}
COMPUTE: dict[str, Callable[..., NDArray[np.int64]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}


class Calculator:
    """Operators of the rule language on ids of one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary

    def compare(self, operator: str, left: Ids, right: Ids) -> Flags:
        """Which pairs compare; a missing value compares with nothing."""
        if operator in OF_TERMS:
            known: Flags = OF_TERMS[operator](left, right) & (left != NONE) & (right != NONE)
            return known
        holds = np.zeros(len(left), np.bool_)
        small = _are_inline(left) & _are_inline(right)
        holds[small] = COMPARE[operator](left[small], right[small])
        others = ~small & (left != NONE) & (right != NONE)
        holds[others] = self._each_pair(
            lambda a, b: int(values.compare(operator, a, b)), left[others], right[others]
        )
        return holds

    def compute(self, operator: str, left: Ids, right: Ids) -> Ids:
        """The ids of the results, NONE where there is none."""
        results = np.full(len(left), NONE, np.int32)
        there = (left != NONE) & (right != NONE)
        if operator in COMPUTE:
            small = there & _are_inline(left) & _are_inline(right)
            results[small], is_small = _of_integers(operator, left[small], right[small])
            there[np.flatnonzero(small)[is_small]] = False
        results[there] = self._each_pair(
            lambda a, b: self._id(values.arithmetic(operator, a, b)), left[there], right[there]
        )
        return results

    def call(self, function: str, argument: Ids) -> Ids:
        """The ids of a function's values, NONE where there is none."""
        results = np.full(len(argument), NONE, np.int32)
        there = argument != NONE
        results[there] = self._each_pair(
            lambda a, b: self._id(values.apply_function(function, a)),
            argument[there],
            argument[there],
        )
        return results

    def aggregate(self, formula: Aggregate, ids: Ids) -> int:
        """The id of the aggregate of one group, NONE if it has no value.

        The ids have a column for each value that the aggregate looks at.
        """
        if formula.function == "count":
            return self._id(Literal(len(ids)))
        columns = [self._dictionary.decode(column) for column in ids.T]
        keys: Iterable[Any] = columns[0] if len(columns) == 1 else zip(*columns, strict=True)
        return self._id(aggregate(formula.function, keys, formula.parameter))

    def _each_pair(
        self, operate: Callable[[Term, Term], int], left: Ids, right: Ids
    ) -> Sequence[int] | Ids:
        """The results for all pairs, with each different pair computed once."""
        if not len(left):
            return []
        pairs = (left.astype(np.int64) << 32) | right
        different, places = np.unique(pairs, return_inverse=True)
        terms = self._dictionary.decode(
            np.concatenate([different >> 32, different & 0xFFFFFFFF]).astype(np.int32)
        )
        half = len(different)
        results = [operate(a, b) for a, b in zip(terms[:half], terms[half:], strict=True)]
        spread: Ids = np.array(results, np.int32)[places]
        return spread

    def _id(self, term: Term | None) -> int:
        return NONE if term is None else int(self._dictionary.encode_one(term))


def _are_inline(ids: Ids) -> Flags:
    inline: Flags = ids >= INLINE_FIRST
    return inline


def _of_integers(operator: str, left: Ids, right: Ids) -> tuple[NDArray[np.int64], Flags]:
    """The ids of results on small integers, and which of them are small again."""
    zero = np.int64(INLINE_ZERO)
    results = COMPUTE[operator](left - zero, right - zero)
    is_small = (results >= -INLINE_REACH) & (results < INLINE_REACH)
    return np.where(is_small, results + zero, NONE), is_small
