"""Admission of update messages: they become ids, and only those that a pattern can use get any.

A standing query keeps no graph, so it must not keep the terms of one either.  A message is
looked at as text: its predicate first, then its object and subject, in the dictionary of
the terms that are kept already.  A triple that fits none of the patterns is dropped; the new
terms of one that fits are added when it comes, and never when it goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.messages.signed_lines import Messages
from livefacts.store.machine_code import inlined, kernel
from livefacts.store.terms.byte_text import address_of, equal_bytes, hash_tag
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.text_table import (
    BYTES_WANTED,
    NOT_INLINE,
    add_text,
    find_text,
    has_room,
    inline_integer,
    terms_on,
)

Signs = NDArray[np.int32]

UNKNOWN = np.int64(-1)
TEXTS_OF_A_TRIPLE = 3


class Gate:
    """Lets in what fits one of the patterns: rows of ids, with -1 for any variable."""

    def __init__(self, patterns: Ids, dictionary: Dictionary) -> None:
        self._patterns = patterns
        self._dictionary = dictionary
        self._state = np.zeros(2, np.int64)

    def admit(self, messages: Messages) -> tuple[Ids, Signs]:
        """The triples that fit and whether they come (1) or go (-1), in their order."""
        signs = messages.signs
        triples = np.empty((len(signs), 3), np.int32)
        kept = np.empty(len(signs), np.int32)
        self._state[:] = 0
        while not admit_spans(
            self._dictionary.desk,
            self._patterns,
            *messages[:4],
            triples,
            kept,
            self._state,
        ):
            self._dictionary.make_room(TEXTS_OF_A_TRIPLE)
        count = int(self._state[1])
        return triples[:count], kept[:count]


@inlined
def known_id(terms: Any, address: Any, length: Any) -> Any:
    """The id of a text, or UNKNOWN."""
    inline = inline_integer(address, length)
    if inline != NOT_INLINE:
        return np.int64(inline)
    number, _slot = find_text(terms, address, length, hash_tag(address, length))
    return np.int64(number)


@inlined
def new_id(terms: Any, address: Any, length: Any) -> Any:
    """The id of a text, which is added if it is new; there is room."""
    tag = hash_tag(address, length)
    number, slot = find_text(terms, address, length, tag)
    if number >= 0:
        return np.int64(number)
    return np.int64(add_text(terms, address, length, tag, slot))


@inlined
def may_lead(patterns: Any, predicate: Any) -> Any:
    """Whether a pattern has this predicate, or any."""
    j = 0
    many = patterns.shape[0]
    while j < many and patterns[j, 1] >= 0 and patterns[j, 1] != predicate:
        j += 1
    return j < many


@inlined
def has_constants(patterns: Any, subject: Any, predicate: Any, value: Any) -> Any:
    """Whether a triple has the constants of at least one pattern."""
    for j in range(patterns.shape[0]):
        if patterns[j, 1] >= 0 and patterns[j, 1] != predicate:
            continue
        if patterns[j, 2] >= 0 and patterns[j, 2] != value:
            continue
        if patterns[j, 0] >= 0 and patterns[j, 0] != subject:
            continue
        return True
    return False


@kernel
def admit_spans(
    desk: Any,
    patterns: Any,
    text: Any,
    starts: Any,
    ends: Any,
    signs: Any,
    triples: Any,
    kept: Any,
    state: Any,
) -> Any:
    """Fill `triples` and `kept` with what fits; False where the dictionary needs room first.

    `state` counts the messages that were looked at and the triples that were let in.
    """
    terms = terms_on(desk)
    base = address_of(text)
    count = state[1]
    last: Any = np.int64(-1)
    last_id = UNKNOWN
    for i in range(state[0], signs.shape[0]):
        k = 3 * i
        address = base + starts[k + 1]
        length = ends[k + 1] - starts[k + 1]
        # Messages about one predicate often follow each other.
        is_same = last >= 0 and ends[last] - starts[last] == length
        if is_same and equal_bytes(base + starts[last], address, length):
            predicate = last_id
        else:
            predicate = known_id(terms, address, length)
            last = k + 1
            last_id = predicate
        if not may_lead(patterns, predicate):
            continue
        value = known_id(terms, base + starts[k + 2], ends[k + 2] - starts[k + 2])
        subject = known_id(terms, base + starts[k], ends[k] - starts[k])
        if not has_constants(patterns, subject, predicate, value):
            continue
        if subject < 0 or predicate < 0 or value < 0:
            if signs[i] < 0:
                continue
            size = ends[k] - starts[k] + length + ends[k + 2] - starts[k + 2]
            if not has_room(terms, 3, size):
                terms.sizes[BYTES_WANTED] = size
                state[0] = i
                state[1] = count
                return False
            subject = (
                new_id(terms, base + starts[k], ends[k] - starts[k]) if subject < 0 else subject
            )
            predicate = new_id(terms, address, length) if predicate < 0 else predicate
            value = (
                new_id(terms, base + starts[k + 2], ends[k + 2] - starts[k + 2])
                if value < 0
                else value
            )
            last_id = predicate
        triples[count, 0] = subject
        triples[count, 1] = predicate
        triples[count, 2] = value
        kept[count] = signs[i]
        count += 1
    state[0] = signs.shape[0]
    state[1] = count
    return True
