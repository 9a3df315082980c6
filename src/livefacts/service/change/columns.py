"""Columns: many predicate facts of one shape, looked up in the dictionary column by column.

A list of tuples such as ("reading", "s1", 95), or of Facts, has few shapes, and few kinds of
values: words are joined to one text that is checked and looked up at once, and small numbers
are ids by themselves.  Whatever does not fit is left to the code that looks at facts one by
one, and that knows what to say of it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import Ids
from livefacts.language.formula import RESERVED
from livefacts.model.facts import Fact, Symbol
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import SYMBOL_MARK
from livefacts.store.terms.text_table import INLINE_REACH, INLINE_ZERO

FEWEST = 8
"""With fewer tuples, one by one is as fast."""
WORD = re.compile(r"[^\W\d]\w*")
KINDS = {str, Symbol, NamedNode, Literal, int}
Shape = tuple[type, int]
"""A tuple or a Fact, and how many values it has, the name among them."""
Groups = dict[Shape | None, Sequence[Any]]


def encode_columns(facts: Any, dictionary: Dictionary) -> tuple[list[Ids], Any]:
    """The rows of predicate facts, by shape, where many have it; and the facts that are left.

    >>> kitchens = [("hot", f"s{n}", n) for n in range(9)]
    >>> arrays, left = encode_columns([*kitchens, ("open",), *kitchens], Dictionary())
    >>> [rows.shape for rows in arrays], left
    ([(18, 3)], [('open',)])
    >>> encode_columns([("hot", "two words", n) for n in range(9)], Dictionary())[0]
    []
    """
    if not _may_be_many(facts):
        return [], facts
    groups = _by_shape(facts)
    found = {
        shape: _rows(group, dictionary)
        for shape, group in groups.items()
        if shape is not None and len(group) >= FEWEST
    }
    done = {shape: rows for shape, rows in found.items() if rows is not None}
    return list(done.values()), _left(facts, groups, done) if done else facts


def _left(facts: Sequence[Any], groups: Groups, done: Container[Shape | None]) -> Sequence[Any]:
    """The facts of the other groups, in their order."""
    left = [group for shape, group in groups.items() if shape not in done]
    if len(left) > 1:
        return [fact for fact in facts if _shape(fact) not in done]
    return left[0] if left else []


def _may_be_many(facts: Any) -> bool:
    """Whether this is a list of facts; a tuple may be one fact."""
    if not isinstance(facts, list | tuple) or len(facts) < FEWEST:
        return False
    return isinstance(facts, list) or type(facts[0]) in (tuple, Fact)


def _shape(fact: Any) -> Shape | None:
    """How a predicate fact is written, and how many values it has; None for anything else."""
    if type(fact) is tuple and fact and type(fact[0]) is str:
        return tuple, len(fact)
    if type(fact) is Fact and type(fact.arguments) is tuple:
        return Fact, 1 + len(fact.arguments)
    return None


def _are_alike(facts: Sequence[Any]) -> bool:
    """Whether all are tuples of one length, with a name first."""
    if set(map(type, facts)) != {tuple} or set(map(len, facts)) != {len(facts[0]) or None}:
        return False
    return set(map(type, map(itemgetter(0), facts))) == {str}


def _by_shape(facts: Sequence[Any]) -> Groups:
    """The facts by shape; tuples of one shape without a look at each."""
    if _are_alike(facts):
        return {_shape(facts[0]): facts}
    groups: dict[Shape | None, list[Any]] = {}
    for fact in facts:
        groups.setdefault(_shape(fact), []).append(fact)
    return {**groups}


def _rows(facts: Sequence[Any], dictionary: Dictionary) -> Ids | None:
    """The rows of facts of one shape, if all of their values fit."""
    columns = _columns(facts)
    rows = np.empty((len(facts), len(columns)), np.int32)
    for place, column in enumerate(columns):
        ids = _column(column, dictionary)
        if ids is None:
            return None
        rows[:, place] = ids
    return rows


def _columns(facts: Sequence[Any]) -> list[Sequence[Any]]:
    """What stands at each place, the names first."""
    if type(facts[0]) is tuple:
        return list(zip(*facts, strict=True))
    names, arguments = zip(*facts, strict=True)
    return [names, *zip(*arguments, strict=True)]


def _column(column: Sequence[Any], dictionary: Dictionary) -> Ids | int | None:
    kinds = list(dict.fromkeys(map(type, column)))
    if len(kinds) == 1:
        return _of_kind(kinds[0], column, dictionary)
    if not KINDS.issuperset(kinds):
        return None
    ids = np.empty(len(column), np.int32)
    number_of = {kind: number for number, kind in enumerate(kinds)}
    numbers = np.fromiter(map(number_of.__getitem__, map(type, column)), np.int8, len(column))
    for kind, number in number_of.items():
        places = np.flatnonzero(numbers == number)
        found = _of_kind(kind, [column[place] for place in places.tolist()], dictionary)
        if found is None:
            return None
        ids[places] = found
    return ids


def _of_kind(kind: type, column: Sequence[Any], dictionary: Dictionary) -> Ids | int | None:
    if kind is str:
        return _words(column, dictionary)
    if kind is Symbol:
        return _words([symbol.name for symbol in column], dictionary)
    if kind in (NamedNode, Literal):
        return dictionary.encode(column)
    return _numbers(column) if kind is int else None


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
