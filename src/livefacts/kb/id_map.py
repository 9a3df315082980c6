"""The id map: terms in the driver's memory under a dictionary's number and a hash id of the tables.

What was read from the tables is in sorted arrays; what came later, which is little, beside
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.kb.bucket_stages import TERM_COLUMNS
from livefacts.kb.term_encoding import Encoding, encode_numbers, keep_apart
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.hash_ids import HashIds

UNKNOWN = -1


class IdMap:
    """The numbers and ids of terms, and how ids are made."""

    def __init__(self, dictionary: Dictionary, terms: pa.Table, encoding: Encoding) -> None:
        """The terms of tables, in the order of their ids."""
        self.dictionary = dictionary
        self.encoding = encoding
        self._ids: HashIds = terms["id"].to_numpy()
        self._numbers = number_terms(dictionary, terms)
        order = np.argsort(self._numbers)
        self._in_order = self._numbers[order], self._ids[order]
        self._late_numbers: dict[int, int] = {}
        self._late_ids: dict[int, int] = {}

    def numbers_of(self, ids: HashIds) -> Ids:
        """The numbers of ids; `UNKNOWN` for those of no known term."""
        found = _looked_up(self._ids, self._numbers, ids, self._late_numbers, UNKNOWN)
        return found.astype(np.int32)

    def ids_of(self, numbers: Ids) -> HashIds:
        """The ids of numbers that are known."""
        return _looked_up(*self._in_order, numbers, self._late_ids, None).astype(np.int64)

    def rows(self, facts: HashIds) -> Ids:
        """Facts in numbers, without those that speak of unknown terms."""
        found = self.numbers_of(facts.ravel()).reshape(facts.shape)
        known: Ids = found[(found != UNKNOWN).all(axis=1)]
        return known

    def texts(self, ids: HashIds) -> dict[int, str]:
        """The texts of those of these ids that are known."""
        numbers = self.numbers_of(ids)
        is_known = numbers != UNKNOWN
        texts = encode_numbers(numbers[is_known], self.dictionary, Encoding()).texts.to_pylist()
        return dict(zip(ids[is_known].tolist(), texts, strict=True))

    def learn(self, terms: Mapping[int, str], encoding: Encoding) -> None:
        """Terms that come with a change, and how ids are made from now on."""
        self.encoding = encoding
        columns = [list(terms), list(terms.values())]
        numbers = number_terms(self.dictionary, pa.table(columns, TERM_COLUMNS))
        self._add(numbers.tolist(), list(terms))

    def settle(self, used: Ids) -> dict[int, str]:
        """Give ids to numbers that have none yet, each another one; the new terms."""
        known = _looked_up(*self._in_order, used, self._late_ids, UNKNOWN)
        fresh = np.unique(used[known == UNKNOWN])
        encode = partial(encode_numbers, fresh, self.dictionary)
        apart = keep_apart(encode, self.encoding, self.texts)
        self.encoding = apart.encoding
        self._add(fresh.tolist(), apart.terms.ids.tolist())
        return apart.new

    def _add(self, numbers: Sequence[int], ids: Sequence[int]) -> None:
        self._late_numbers.update(zip(ids, numbers, strict=True))
        self._late_ids.update(zip(numbers, ids, strict=True))


def _looked_up(
    names: NDArray[np.int64] | Ids,
    others: NDArray[np.int64] | Ids,
    wanted: NDArray[np.int64] | Ids,
    late: Mapping[int, int],
    default: int | None,
) -> NDArray[np.int64]:
    """The other names of terms: of sorted names, or of those that came later."""
    found = np.full(len(wanted), UNKNOWN, np.int64)
    is_known = np.zeros(len(wanted), np.bool_)
    if len(names):
        places = np.minimum(np.searchsorted(names, wanted), len(names) - 1)
        is_known = names[places] == wanted
        found[is_known] = others[places[is_known]]
    for place in np.flatnonzero(~is_known).tolist():
        name = int(wanted[place])
        found[place] = late[name] if default is None else late.get(name, default)
    return found


def number_terms(dictionary: Dictionary, terms: pa.Table) -> Ids:
    """The numbers that a dictionary gives to the texts of terms."""
    texts = terms["text"].cast(pa.large_string()).combine_chunks()
    if not len(texts):
        return np.zeros(0, np.int32)
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[: len(texts) + 1].copy()
    data = np.frombuffer(bytearray(texts.buffers()[2]), np.uint8)
    return dictionary.encode_spans(data, offsets[:-1].copy(), offsets[1:].copy(), b"")
