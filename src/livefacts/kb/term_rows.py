"""Term rows: how texts become ids at a commit, and the files that add new terms to the tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from livefacts.kb.buckets import bucket_of
from livefacts.kb.tables import (
    APPEND,
    EXCEPTIONS,
    OVERWRITE,
    SCHEMAS,
    TERMS,
    Commit,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.kb.term_encoding import Encoding, Texts
from livefacts.store.terms.hash_ids import HashIds


def encoding_of(base: KnowledgeBase, commit: Commit) -> Encoding:
    """How texts become ids in this knowledge base at a commit."""
    rows = base.read(EXCEPTIONS, commit)
    exceptions = dict(zip(rows["text"].to_pylist(), rows["id"].to_pylist(), strict=True))
    bits = base.settings.get("bits")
    return Encoding(exceptions=exceptions) if bits is None else Encoding(bits, exceptions)


def known_terms(base: KnowledgeBase, commit: Commit, ids: HashIds) -> pa.Table:
    """The terms at a commit among which those with these ids are; of the others as few as can be."""
    wanted = np.sort(ids)
    parts = [_groups_with(file.parquet(), wanted) for file in base.files(TERMS, commit)]
    return pa.concat_tables([SCHEMAS[TERMS].empty_table(), *parts])


def _groups_with(file: pq.ParquetFile, wanted: HashIds) -> pa.Table:
    """The groups of rows in a file that may have one of these ids."""
    groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
    spans = [group.column(0).statistics for group in groups]
    ends = np.array([[each.min, each.max] for each in spans if each], np.int64).reshape(-1, 2)
    if len(ends) < len(spans):
        return file.read().cast(SCHEMAS[TERMS])
    first, end = np.searchsorted(wanted, ends[:, 0]), np.searchsorted(wanted, ends[:, 1], "right")
    return file.read_row_groups(np.flatnonzero(first < end).tolist()).cast(SCHEMAS[TERMS])


def term_writes(
    base: KnowledgeBase, terms: Mapping[int, str], encoding: Encoding
) -> dict[str, Write]:
    """What adds new terms and exceptions."""
    texts = pa.array(list(terms.values()), pa.large_string())
    return new_term_writes(base, Texts(np.array(list(terms), np.int64), texts), encoding)


def new_term_writes(
    base: KnowledgeBase, terms: Texts, encoding: Encoding, mode: str = APPEND
) -> dict[str, Write]:
    """The same with terms as columns; they may take the place of all others."""
    order = np.argsort(terms.ids)
    ids, texts = terms.ids[order], terms.texts.take(pa.array(order))
    homes = bucket_of(ids, int(base.settings["buckets"]))
    files = []
    # `np.unique` would hash them all, and hold up every other thread meanwhile.
    for number in range(int(base.settings["buckets"])):
        mine = homes == number
        if not mine.any():
            continue
        rows = pa.table([ids[mine], texts.filter(pa.array(mine)).cast(pa.string())], SCHEMAS[TERMS])
        files.append(write_file(base.path / TERMS, rows, number))
    writes = exception_writes(base, encoding)
    return {TERMS: Write(tuple(files), mode), **writes} if files else writes


def exception_writes(base: KnowledgeBase, encoding: Encoding) -> dict[str, Write]:
    """What keeps the exceptions, where there are any."""
    if not encoding.exceptions:
        return {}
    columns = [list(encoding.exceptions), list(encoding.exceptions.values())]
    rows = pa.table(columns, SCHEMAS[EXCEPTIONS])
    return {EXCEPTIONS: Write((write_file(base.path / EXCEPTIONS, rows),), OVERWRITE)}
