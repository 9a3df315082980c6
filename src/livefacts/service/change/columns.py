"""Columns: many predicate facts of one shape, looked up in the dictionary column by column.

A list of tuples such as ("reading", "s1", 95), or of Facts, has few kinds of values: words are
joined to one text that is checked and looked up at once, and small numbers are ids by
themselves.  Whatever does not fit is left to the code that looks at facts one by one, and that
knows what to say of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import Ids
from livefacts.language.formula import RESERVED
from livefacts.model.facts import Fact, Symbol
from livefacts.store.terms.dictionary import SYMBOL_MARK, Dictionary
from livefacts.store.terms.term_table import INLINE_REACH, INLINE_ZERO

FEWEST = 8
"""With fewer tuples, one by one is as fast."""
WORD = re.compile(r"[^\W\d]\w*")


def encoded(facts: Any, dictionary: Dictionary) -> Ids | None:
    """The rows of many predicate facts of one shape; None for anything else.

    >>> rows = encoded([("hot", f"s{n}", n) for n in range(9)], Dictionary())
    >>> rows.shape
    (9, 3)
    >>> encoded([("hot", "two words", n) for n in range(9)], Dictionary()) is None
    True
    """
    if not isinstance(facts, list | tuple) or len(facts) < FEWEST:
        return None
    columns = _columns(facts)
    if not columns or set(map(type, columns[0])) != {str}:
        return None
    rows = np.empty((len(facts), len(columns)), np.int32)
    for place, column in enumerate(columns):
        ids = _column(column, dictionary)
        if ids is None:
            return None
        rows[:, place] = ids
    return rows


def _columns(facts: Sequence[Any]) -> list[Sequence[Any]]:
    """What stands at each place, the names first; nothing if facts have several shapes."""
    kinds = set(map(type, facts))
    try:
        if kinds == {tuple}:
            return list(zip(*facts, strict=True))
        if kinds == {Fact}:
            names, arguments = zip(*facts, strict=True)
            return [names, *zip(*arguments, strict=True)]
    except (ValueError, TypeError):
        pass
    return []


def _column(column: Sequence[Any], dictionary: Dictionary) -> Ids | int | None:
    kinds = set(map(type, column))
    if kinds == {str}:
        return _words(column, dictionary)
    if kinds == {Symbol}:
        return _words([symbol.name for symbol in column], dictionary)
    if kinds <= {NamedNode, Literal}:
        return dictionary.encode(column)
    return _numbers(column) if kinds == {int} else None


def _words(column: Sequence[str], dictionary: Dictionary) -> Ids | int | None:
    """The ids of symbols, if all of them are words."""
    if column[0] == column[-1] and column.count(column[0]) == len(column):
        return dictionary.encode_one(Symbol(column[0])) if _are_words(column[:1]) else None
    if not _are_words(column):
        return None
    text = _bytes(SYMBOL_MARK + SYMBOL_MARK.join(column))
    starts = np.flatnonzero(text == ord(SYMBOL_MARK))
    return dictionary.encode_spans(text, starts, np.append(starts[1:], len(text)), b"")


def _are_words(texts: Sequence[str]) -> bool:
    """Whether all texts can be written as names; in ASCII, as Python's own names are."""
    if not all(map(str.isascii, texts)):
        return all(map(WORD.fullmatch, texts)) and RESERVED.isdisjoint(texts)
    return all(map(str.isidentifier, texts)) and RESERVED.isdisjoint(texts)


def _numbers(column: Sequence[int]) -> Ids | None:
    """The ids of integers, if all of them are small."""
    if min(column) < -INLINE_REACH or max(column) >= INLINE_REACH:
        return None
    return np.array(column, np.int32) + np.int32(INLINE_ZERO)


def _bytes(text: str) -> NDArray[np.uint8]:
    # A copy that can be written to: kernels would be compiled again for any other array.
    return np.frombuffer(bytearray(text.encode()), np.uint8)
