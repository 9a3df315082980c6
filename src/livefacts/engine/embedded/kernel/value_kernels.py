"""Value kernels: comparisons and arithmetic on ids.

Small integers are computed here.  Whatever else is asked of Python once, and found in the
memo from then on: the kernels return a question instead of an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel.registers import (
    ADD,
    ASK_NUMBER,
    ASK_PAIR,
    ASKED,
    AT_MOST,
    COPY,
    DIFFERENT,
    DONE,
    DOUBLE,
    EQUAL,
    EXACT,
    INLINE,
    INLINE_HALF,
    LESS,
    MORE,
    MULTIPLY,
    NAME,
    ROUNDED,
    SAME,
    SUBTRACT,
    UNEQUAL,
    lookup_entry,
    number_place,
)
from livefacts.store.compiled import (
    inlined,
    kernel,
)


@inlined
def ordered(operator: Any, order: Any) -> Any:
    """Whether a comparison holds when left is below (-1), equal to (0) or above (1) right."""
    if operator == EQUAL:
        return order == 0
    if operator == UNEQUAL:
        return order != 0
    if operator == LESS:
        return order < 0
    if operator == AT_MOST:
        return order <= 0
    if operator == MORE:
        return order > 0
    return order >= 0


@inlined
def ask(state: Any, operator: Any, left: Any, right: Any) -> Any:
    state[ASKED] = operator
    state[ASKED + 1] = left
    state[ASKED + 2] = right


@kernel
def recall_pair(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """Put the remembered result into answer[0]; ask for it if there is none."""
    at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)
    if at < 0:
        ask(state, operator, left, right)
        return ASK_PAIR
    answer[0] = memo.pairs[at, 2]
    return DONE


@kernel
def recall_number(memo: Any, state: Any, term: Any) -> Any:
    """The place of a term in the table of numbers, or -1 with the question asked."""
    at = number_place(memo, term)
    if memo.number_ids[at] == 0:
        ask(state, 0, term, 0)
        return np.int64(-1)
    return at


@kernel
def compare(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """answer[0] = whether the comparison holds; returns DONE or a question."""
    if operator == SAME:
        answer[0] = left == right
        return DONE
    if operator == DIFFERENT:
        answer[0] = left != right
        return DONE
    if left >= INLINE and right >= INLINE:
        order = np.int64(0)
        if left < right:
            order = np.int64(-1)
        elif left > right:
            order = np.int64(1)
        answer[0] = ordered(operator, order)
        return DONE
    left_kind, right_kind = np.int64(EXACT), np.int64(EXACT)
    left_value = np.float64(left - INLINE - INLINE_HALF)
    right_value = np.float64(right - INLINE - INLINE_HALF)
    if left < INLINE:
        at = recall_number(memo, state, left)
        if at < 0:
            return ASK_NUMBER
        left_kind, left_value = memo.number_kinds[at], memo.number_values[at]
    if right < INLINE:
        at = recall_number(memo, state, right)
        if at < 0:
            return ASK_NUMBER
        right_kind, right_value = memo.number_kinds[at], memo.number_values[at]
    if (left_kind == NAME or right_kind == NAME) and operator in (EQUAL, UNEQUAL):
        answer[0] = (left == right) == (operator == EQUAL)
        return DONE
    # Rounding to the nearest double keeps order: only a tie of rounded values is open.
    doubles = (left_kind == DOUBLE and right_kind <= DOUBLE) or (
        right_kind == DOUBLE and left_kind <= DOUBLE
    )
    if doubles and (np.isnan(left_value) or np.isnan(right_value)):
        answer[0] = operator == UNEQUAL
        return DONE
    if doubles or (left_kind <= ROUNDED and right_kind <= ROUNDED and left_value != right_value):
        order = np.int64(left_value > right_value) - np.int64(left_value < right_value)
        answer[0] = ordered(operator, order)
        return DONE
    if left_kind == EXACT and right_kind == EXACT:
        answer[0] = ordered(operator, np.int64(0))
        return DONE
    return recall_pair(memo, state, operator, left, right, answer)


@kernel
def compute(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """answer[0] = the id of the result, or -1 for none; returns DONE or a question."""
    if operator == COPY:
        answer[0] = left
        return DONE
    if left >= INLINE and right >= INLINE and operator <= MULTIPLY:
        a = left - INLINE - INLINE_HALF
        b = right - INLINE - INLINE_HALF
        if operator == ADD:
            result = a + b
        elif operator == SUBTRACT:
            result = a - b
        else:
            result = a * b
        if -INLINE_HALF <= result < INLINE_HALF:
            answer[0] = result + INLINE + INLINE_HALF
            return DONE
    return recall_pair(memo, state, operator, left, right, answer)
