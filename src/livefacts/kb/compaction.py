"""Compaction: the small files of many changes become one, so that changes do not get slower.

Every change leaves a file or two.  Now and then a change replaces those of its predecessors
by one that has their rows; and when changes have grown to a part of the facts, they are
folded into these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby

import pyarrow as pa

from livefacts.kb.buckets import bucket_if_any
from livefacts.kb.delta_log import size_of
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    GRAPHS,
    PREDICATE_CHANGES,
    SCHEMAS,
    TERMS,
    TIDY_EVERY,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
    write_in_buckets,
)

GROWING = (CHANGES, PREDICATE_CHANGES, TERMS, GRAPHS)
SMALL_FILE = 4 << 20
FOLD_ROWS = 200_000
FOLD_PART = 4
"""Changes are folded into the facts when there are so many rows, and a fourth of the facts."""


def merge_small_files(
    base: KnowledgeBase, start: Commit, writes: Mapping[str, Write], every: int | None = None
) -> dict[str, Write]:
    """The writes of a change, which now and then replace small files of earlier ones."""
    found = dict(writes)
    if (start.seq + 1) % (every or TIDY_EVERY) or not base.has_links:
        return found
    for table in GROWING:
        if table in found and found[table].mode != Write().mode:
            continue
        if table in start.versions and not base.is_ahead(table, start):
            new, old = _merged_files(base, start, table)
            files = (*found.get(table, Write()).files, *new)
            if old:
                found[table] = Write(files, replaced=tuple(old))
    return found


def _merged_files(
    base: KnowledgeBase, start: Commit, table: str
) -> tuple[list[DataFile], list[str]]:
    """The small files of a table merged, those of each bucket apart; and their names."""
    small = [file for file in base.files(table, start) if size_of([file]) < SMALL_FILE]
    made: list[DataFile] = []
    replaced: list[str] = []
    for bucket, group in groupby(sorted(small, key=_bucket), key=_bucket):
        files = list(group)
        if len(files) > 1:
            rows, folder = _rows(table, files), base.path / table
            written = (
                write_in_buckets(folder, rows, int(base.settings.get("buckets", 1)))
                if bucket < 0
                else (write_file(folder, rows, bucket),)
            )
            made += [replace(file, is_new=False) for file in written]
            replaced += [file.name for file in files]
    return made, replaced


def _bucket(file: StorePath) -> int:
    """The bucket that a file belongs to; -1 if it has rows of all of them."""
    bucket = bucket_if_any(file.name)
    return -1 if bucket is None else bucket


def _rows(table: str, files: Iterable[StorePath]) -> pa.Table:
    found = pa.concat_tables([file.read_table(SCHEMAS[table]) for file in files])
    # Terms are looked up by their ids.
    return found.sort_by("id") if table == TERMS else found


def is_to_be_folded(base: KnowledgeBase, commit: Commit) -> bool:
    """Whether so much has changed that reading the facts is slowed down."""
    changed = int(commit.notes.get("changed", 0))
    return changed > FOLD_ROWS and changed * FOLD_PART > base.count(TRIPLES_TABLE, commit)
