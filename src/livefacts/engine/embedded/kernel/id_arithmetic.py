"""Arithmetic on ids, and comparisons of what they stand for.

Small integers are computed here.  Whatever else is asked of Python once, and found in the
memo from then on: the kernels return a question instead of an answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.registers import lookup_entry, number_place
from livefacts.store.machine_code import inlined, kernel


@inlined
def ordered(operator: Any, order: Any) -> Any:
    """Whether a comparison holds when left is below (-1), equal to (0) or above (1) right."""
    if operator == code.EQUAL:
        return order == 0
    if operator == code.UNEQUAL:
        return order != 0
    if operator == code.LESS:
        return order < 0
    if operator == code.AT_MOST:
        return order <= 0
    if operator == code.MORE:
        return order > 0
    return order >= 0


@inlined
def ask(state: Any, operator: Any, left: Any, right: Any) -> Any:
    state[code.ASKED] = operator
    state[code.ASKED + 1] = left
    state[code.ASKED + 2] = right


@kernel
def recall_pair(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """Put the remembered result into answer[0]; ask for it if there is none."""
    at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)
    if at < 0:
        ask(state, operator, left, right)
        return code.ASK_PAIR
    answer[0] = memo.pairs[at, 2]
    return code.DONE


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
    if operator == code.SAME:
        answer[0] = left == right
        return code.DONE
    if operator == code.DIFFERENT:
        answer[0] = left != right
        return code.DONE
    if left >= code.INLINE and right >= code.INLINE:
        order = np.int64(0)
        if left < right:
            order = np.int64(-1)
        elif left > right:
            order = np.int64(1)
        answer[0] = ordered(operator, order)
        return code.DONE
    left_kind, right_kind = np.int64(code.EXACT), np.int64(code.EXACT)
    left_value = np.float64(left - code.INLINE - code.INLINE_HALF)
    right_value = np.float64(right - code.INLINE - code.INLINE_HALF)
    if left < code.INLINE:
        at = recall_number(memo, state, left)
        if at < 0:
            return code.ASK_NUMBER
        left_kind, left_value = memo.number_kinds[at], memo.number_values[at]
    if right < code.INLINE:
        at = recall_number(memo, state, right)
        if at < 0:
            return code.ASK_NUMBER
        right_kind, right_value = memo.number_kinds[at], memo.number_values[at]
    if (left_kind == code.NAME or right_kind == code.NAME) and operator in (
        code.EQUAL,
        code.UNEQUAL,
    ):
        answer[0] = (left == right) == (operator == code.EQUAL)
        return code.DONE
    # Rounding to the nearest double keeps order: only a tie of rounded values is open.
    doubles = (left_kind == code.DOUBLE and right_kind <= code.DOUBLE) or (
        right_kind == code.DOUBLE and left_kind <= code.DOUBLE
    )
    if doubles and (np.isnan(left_value) or np.isnan(right_value)):
        answer[0] = operator == code.UNEQUAL
        return code.DONE
    if doubles or (
        left_kind <= code.ROUNDED and right_kind <= code.ROUNDED and left_value != right_value
    ):
        order = np.int64(left_value > right_value) - np.int64(left_value < right_value)
        answer[0] = ordered(operator, order)
        return code.DONE
    if left_kind == code.EXACT and right_kind == code.EXACT:
        answer[0] = ordered(operator, np.int64(0))
        return code.DONE
    return recall_pair(memo, state, operator, left, right, answer)


@kernel
def compute(memo: Any, state: Any, operator: Any, left: Any, right: Any, answer: Any) -> Any:
    """answer[0] = the id of the result, or -1 for none; returns DONE or a question."""
    if operator == code.COPY:
        answer[0] = left
        return code.DONE
    if left >= code.INLINE and right >= code.INLINE and operator <= code.MULTIPLY:
        a = left - code.INLINE - code.INLINE_HALF
        b = right - code.INLINE - code.INLINE_HALF
        if operator == code.ADD:
            result = a + b
        elif operator == code.SUBTRACT:
            result = a - b
        else:
            result = a * b
        if -code.INLINE_HALF <= result < code.INLINE_HALF:
            answer[0] = result + code.INLINE + code.INLINE_HALF
            return code.DONE
    return recall_pair(memo, state, operator, left, right, answer)
