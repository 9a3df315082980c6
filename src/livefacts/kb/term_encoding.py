"""Term encoding: terms become 64-bit hash ids that need no table, wherever it happens.

Texts are read into a dictionary first, as the embedded engine reads, so that each different
term is hashed once; rows then take the hashes in place of its numbers.

No two texts keep the same id.  Where a text gets an id that another text has (a hash clash), it
becomes an exception: it has the id that it gets with a salt, and every task is given it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.errors import LivefactsError
from livefacts.model.facts import Term
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.hash_ids import (
    KIND_BITS,
    HashIds,
    hashes,
    id_of_text,
    kind_of_text,
    term_ids,
)
from livefacts.store.terms.id_reader import TermReader
from livefacts.store.terms.text_table import INLINE_FIRST

ALL_BITS = 64 - KIND_BITS
NO_TRIPLES = np.zeros((0, 3), np.int64)
SALTS = range(1, 64)
"""Salts to try in turn; more than one is needed only where hashes are cut short."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How texts become ids: how many bits of their hashes count, and the exceptions."""

    bits: int = ALL_BITS
    exceptions: Mapping[str, int] = field(default_factory=dict)

    def id_of(self, text: str, salt: int = 0) -> int:
        """The id of one text, or the one that it would have with a salt."""
        known = None if salt else self.exceptions.get(text)
        return id_of_text(text, kind_of_text(text), salt, self.bits) if known is None else known

    def with_salt(self, texts: Iterable[str], salt: int) -> Encoding:
        """The encoding in which these texts have the ids that they get with a salt."""
        salted = {text: self.id_of(text, salt) for text in texts}
        return replace(self, exceptions={**self.exceptions, **salted})


class Texts(NamedTuple):
    """Terms: their ids and their texts, each once."""

    ids: HashIds
    texts: pa.LargeStringArray


def encode_all(
    parts: Sequence[Ids], dictionary: Dictionary, encoding: Encoding
) -> tuple[list[HashIds], Texts]:
    """Several arrays of numbers in hash ids, and all terms of the dictionary."""
    inline = np.unique(np.concatenate([rows[rows >= INLINE_FIRST] for rows in parts]))
    count = len(dictionary)
    numbers = np.concatenate([np.arange(count, dtype=np.int32), inline])
    terms = encode_numbers(numbers, dictionary, encoding)
    if not len(inline):
        return [terms.ids[rows] for rows in parts], terms
    places = [
        np.where(rows < INLINE_FIRST, rows, count + np.searchsorted(inline, rows)) for rows in parts
    ]
    return [terms.ids[each] for each in places], terms


def encode_numbers(numbers: Ids, dictionary: Dictionary | TermReader, encoding: Encoding) -> Texts:
    """The ids and texts of the terms that have these numbers."""
    packed, ends = dictionary.packed_texts(numbers)
    ids = term_ids(hashes(packed, ends), dictionary.kinds(numbers), encoding.bits)
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    texts = pa.LargeStringArray.from_buffers(
        len(numbers), pa.py_buffer(offsets), pa.py_buffer(packed)
    )
    return Texts(_with_exceptions(ids, texts, encoding), texts)


def encode_terms(terms: Sequence[Term], encoding: Encoding) -> Texts:
    """The ids and texts of terms."""
    dictionary = Dictionary()
    return encode_numbers(dictionary.encode(terms), dictionary, encoding)


def _with_exceptions(ids: HashIds, texts: pa.LargeStringArray, encoding: Encoding) -> HashIds:
    if not encoding.exceptions:
        return ids
    plain = Encoding(encoding.bits)
    suspects = np.array([plain.id_of(text) for text in encoding.exceptions], np.int64)
    for place in np.flatnonzero(np.isin(ids, suspects)).tolist():
        ids[place] = encoding.exceptions.get(texts[place].as_py(), ids[place])
    return ids


def clashes(ids: HashIds, texts: pa.LargeStringArray) -> dict[int, list[str]]:
    """Ids, of terms sorted by id, that several texts have: those texts, each once."""
    repeated = np.flatnonzero(ids[1:] == ids[:-1]) + 1
    after, before = texts.take(pa.array(repeated)), texts.take(pa.array(repeated - 1))
    differs = pc.not_equal(after, before).to_numpy(zero_copy_only=False)
    found = {}
    for number in np.unique(ids[repeated[differs]]).tolist():
        first, last = np.searchsorted(ids, number), np.searchsorted(ids, number, "right")
        found[number] = sorted(set(texts[first:last].to_pylist()))
    return found


def new_terms(terms: Texts, known: pa.Table) -> Texts | None:
    """Those of different terms that a table does not have; None if two texts have one id."""
    in_order = np.sort(terms.ids)
    if (in_order[1:] == in_order[:-1]).any():
        return None
    known = known.combine_chunks().sort_by("id")
    ids = known["id"].to_numpy()
    places = np.searchsorted(ids, terms.ids)
    is_known = places < len(ids)
    is_known[is_known] = ids[places[is_known]] == terms.ids[is_known]
    here = terms.texts.take(pa.array(np.flatnonzero(is_known)))
    there = known["text"].cast(pa.large_string()).take(pa.array(places[is_known]))
    if not pc.all(pc.equal(here, there.combine_chunks()), min_count=0).as_py():
        return None
    return Texts(terms.ids[~is_known], terms.texts.take(pa.array(np.flatnonzero(~is_known))))


@dataclass(frozen=True, slots=True)
class Apart:
    """Terms of which each has an id of its own, those that are new, and how ids are made."""

    terms: Texts
    new: dict[int, str]
    encoding: Encoding


def keep_apart(
    encode: Callable[[Encoding], Texts],
    encoding: Encoding,
    known: Callable[[HashIds], Mapping[int, str]],
) -> Apart:
    """Encode terms, each with another id than the others and than those `known` already."""
    for salt in SALTS:
        terms = encode(encoding)
        owners = dict(known(terms.ids))
        before = set(owners)
        pairs = list(zip(terms.ids.tolist(), terms.texts.to_pylist(), strict=True))
        clashing = [text for id, text in pairs if owners.setdefault(id, text) != text]
        if not clashing:
            return Apart(terms, {id: text for id, text in pairs if id not in before}, encoding)
        encoding = encoding.with_salt(clashing, salt)
    raise too_many_alike()


def too_many_alike() -> LivefactsError:
    """What is said when no salt helps."""
    return LivefactsError(
        "too many terms have the same hash", hint="this should not happen: please report it"
    )
