"""Encoding in tasks: a split of text becomes rows of 64-bit ids and the texts of its terms.

A split is read into a dictionary of its own, as the embedded engine reads, so that each
different term is hashed once; its rows then take the hashes in place of its numbers.
What cannot be read is rejected with file, line and reason.  A file that cannot be read to
its end is left out as a whole, and the others are not lost with it.

Where two texts have the same hash, all but one of them are exceptions: they have an id of
their own, which every task is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat

from livefacts.engine.spark.splits import RangeStream, Split
from livefacts.errors import InputError
from livefacts.model.facts import Term
from livefacts.store.dictionary import Dictionary, Ids
from livefacts.store.ntriples import BadLine, StatementReader
from livefacts.store.termtable import INLINE_FIRST
from livefacts.store.xxhash import KIND_BITS, HashIds, hashes, id_of_text, kind_of_text, term_ids
from livefacts.syntax.rdf import format_of, read_rows
from livefacts.syntax.rejects import Reject, Rejects

ALL_BITS = 64 - KIND_BITS
NO_TRIPLES = np.zeros((0, 3), np.int64)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How texts become ids: how many bits of their hashes count, and the exceptions."""

    bits: int = ALL_BITS
    exceptions: Mapping[str, int] = field(default_factory=dict)

    def id_of(self, text: str, salt: int = 0) -> int:
        """The id of one text, or the one that it would have with a salt."""
        known = None if salt else self.exceptions.get(text)
        return id_of_text(text, kind_of_text(text), salt, self.bits) if known is None else known


class Texts(NamedTuple):
    """Terms: their ids and their texts, each once."""

    ids: HashIds
    texts: pa.LargeStringArray


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a task has read: triples, terms, rejects, and how many lines there were."""

    triples: HashIds
    terms: Texts
    rejects: tuple[Reject, ...] = ()
    lines: int = 0


def encode_split(split: Split, encoding: Encoding) -> Encoded:
    """Read and encode one split."""
    dictionary, rejects = Dictionary(), Rejects()
    try:
        rows, lines = _read(split, dictionary, rejects)
    except (InputError, OSError) as error:
        reason = error.message if isinstance(error, InputError) else str(error.strerror)
        left_out = Reject(split.path, 0, 0, f"{reason}; the file was left out", "")
        return Encoded(NO_TRIPLES, _no_texts(), (left_out,))
    triples, terms = encode_rows(rows, dictionary, encoding)
    return Encoded(triples, terms, tuple(rejects.kept), lines)


def _read(split: Split, dictionary: Dictionary, rejects: Rejects) -> tuple[Ids, int]:
    """The rows of a split in the numbers of a dictionary, and how many lines were read."""
    if split.is_whole:
        batches = read_rows(
            split.path, dictionary, format=split.format, scope=split.scope, rejects=rejects
        )
        return _joined(batch.rows for batch in batches), 0
    stream = RangeStream(split)
    reader = StatementReader(
        dictionary,
        scope=split.scope,
        quads=format_of(split.path, split.format) == RdfFormat.N_QUADS,
        on_bad_line=lambda bad: rejects.add(_rejected(split.path, bad)),
    )
    try:
        return _joined(batch.rows for batch in reader.read(stream)), reader.lines
    finally:
        stream.close()


def _rejected(path: str, bad: BadLine) -> Reject:
    return Reject(path, bad.line, bad.column, bad.reason, bad.text)


def _joined(batches: Iterable[Ids]) -> Ids:
    found = list(batches)
    return np.concatenate(found) if found else np.zeros((0, 3), np.int32)


def encode_rows(rows: Ids, dictionary: Dictionary, encoding: Encoding) -> tuple[HashIds, Texts]:
    """Rows of a dictionary's numbers in hash ids, and all terms of the dictionary."""
    inline = np.unique(rows[rows >= INLINE_FIRST])
    count = len(dictionary)
    numbers = np.concatenate([np.arange(count, dtype=np.int32), inline])
    terms = encode_numbers(numbers, dictionary, encoding)
    if not len(inline):
        return terms.ids[rows], terms
    places = np.where(rows < INLINE_FIRST, rows, count + np.searchsorted(inline, rows))
    return terms.ids[places], terms


def encode_numbers(numbers: Ids, dictionary: Dictionary, encoding: Encoding) -> Texts:
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


def _no_texts() -> Texts:
    return Texts(np.zeros(0, np.int64), pa.array([], pa.large_string()))


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
