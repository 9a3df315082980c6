"""The writer of ids: kernels that write ids as text, the other direction of the term table.

Each writes into an array that is exactly large enough: its size is asked for first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel, prefetch
from livefacts.store.terms.byte_text import Number, address_of, copy_bytes, store_byte
from livefacts.store.terms.text_table import (
    BLOCK,
    INLINE_FIRST,
    INLINE_ZERO,
    INTEGER_SUFFIX,
    MINUS,
    OFFSET_MASK,
    PREFIX_MASK,
    PREFIX_SHIFT,
    QUOTE,
    ZERO,
    TermArrays,
    rest_of,
)

SPACE, DOT, NEWLINE = 32, 46, 10


@inlined
def decimal_digits(value: Number) -> Number:
    """How many digits a number that is not negative has."""
    digits = 1
    while value >= 10:
        value //= 10
        digits += 1
    return digits


@inlined
def text_length(terms: TermArrays, term: Number) -> Number:
    """How many bytes the text of an id has."""
    if term >= INLINE_FIRST:
        value = term - INLINE_ZERO
        sign = 1 if value < 0 else 0
        return 1 + sign + decimal_digits(abs(value)) + INTEGER_SUFFIX.shape[0]
    record = terms.records[term]
    prefix = (record >> PREFIX_SHIFT) & PREFIX_MASK
    _address, rest = rest_of(terms, record)
    return rest + terms.prefix_starts[prefix + 1] - terms.prefix_starts[prefix]


@inlined
def write_text(terms: TermArrays, term: Number, target: Number) -> Number:
    """Write the text of an id at an address; the address after it."""
    if term >= INLINE_FIRST:
        value = term - INLINE_ZERO
        store_byte(target, np.uint8(QUOTE))
        target += 1
        if value < 0:
            store_byte(target, np.uint8(MINUS))
            target += 1
            value = -value
        digits = decimal_digits(value)
        for position in range(digits - 1, -1, -1):
            store_byte(target + position, np.uint8(ZERO + value % 10))
            value //= 10
        target += digits
        size = INTEGER_SUFFIX.shape[0]
        copy_bytes(target, address_of(INTEGER_SUFFIX), size)
        return target + size
    record = terms.records[term]
    prefix = (record >> PREFIX_SHIFT) & PREFIX_MASK
    start = terms.prefix_starts[prefix]
    shared = terms.prefix_starts[prefix + 1] - start
    copy_bytes(target, address_of(terms.prefix_heap) + start, shared)
    target += shared
    address, rest = rest_of(terms, record)
    copy_bytes(target, address, rest)
    return target + rest


@kernel
def lengths_of(terms: TermArrays, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> None:
    """Fill `lengths` with the sizes of the texts of ids."""
    records = address_of(terms.records)
    for start in range(0, ids.shape[0], BLOCK):
        stop = min(ids.shape[0], start + BLOCK)
        for i in range(start, stop):
            if ids[i] < INLINE_FIRST:
                prefetch(records + 8 * np.int64(ids[i]))
        for i in range(start, stop):
            lengths[i] = text_length(terms, np.int64(ids[i]))


@kernel
def write_texts(terms: TermArrays, ids: NDArray[np.int32], out: NDArray[np.uint8]) -> None:
    """Write the texts of ids one after the other; `out` is exactly large enough."""
    heap = address_of(terms.heap)
    target = address_of(out)
    for start in range(0, ids.shape[0], BLOCK):
        stop = min(ids.shape[0], start + BLOCK)
        for i in range(start, stop):
            if ids[i] < INLINE_FIRST:
                prefetch(heap + (terms.records[ids[i]] & OFFSET_MASK))
        for i in range(start, stop):
            target = write_text(terms, np.int64(ids[i]), target)


@kernel
def write_statements(
    terms: TermArrays, statements: NDArray[np.int32], out: NDArray[np.uint8]
) -> None:
    """Write rows of ids as lines of N-Triples or, with a fourth column, of N-Quads.

    A graph id below 0 is the default graph.  `out` is exactly large enough.
    """
    heap = address_of(terms.heap)
    target = address_of(out)
    columns = statements.shape[1]
    for start in range(0, statements.shape[0], BLOCK):
        stop = min(statements.shape[0], start + BLOCK)
        for i in range(start, stop):
            for column in range(columns):
                term = statements[i, column]
                if term >= 0 and term < INLINE_FIRST:
                    prefetch(heap + (terms.records[term] & OFFSET_MASK))
        for i in range(start, stop):
            for column in range(columns):
                term = np.int64(statements[i, column])
                if term >= 0:
                    target = write_text(terms, term, target)
                    store_byte(target, np.uint8(SPACE))
                    target += 1
            store_byte(target, np.uint8(DOT))
            store_byte(target + 1, np.uint8(NEWLINE))
            target += 2


@kernel
def statements_length(terms: TermArrays, statements: NDArray[np.int32]) -> Number:
    """How many bytes `write_statements` writes."""
    records = address_of(terms.records)
    size = 2 * statements.shape[0]
    columns = statements.shape[1]
    for start in range(0, statements.shape[0], BLOCK):
        stop = min(statements.shape[0], start + BLOCK)
        for i in range(start, stop):
            for column in range(columns):
                term = np.int64(statements[i, column])
                if term >= 0 and term < INLINE_FIRST:
                    prefetch(records + 8 * term)
        for i in range(start, stop):
            for column in range(columns):
                term = np.int64(statements[i, column])
                if term >= 0:
                    size += text_length(terms, term) + 1
    return size
