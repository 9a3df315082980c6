"""Commits: the states of a knowledge base, one after the other, and how one is found.

A commit names the version of every table; whoever reads begins there.  Commits are found by their
number and by the batch that they were made for, without a look at all others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from livefacts.errors import DamageError
from livefacts.kb.file_digests import row_digest
from livefacts.kb.marker import COMMITS

LONG_AGO = datetime.fromtimestamp(0, UTC)
ROW_DIGEST = "digest"
"""The note that is a digest of all the rest of a commit."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One line of the commits table: a state of the whole knowledge base.

    `time` is when it was written, and `rows` how many rows into which table.
    """

    seq: int = 0
    batch: str = ""
    kind: str = "new"
    versions: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    time: datetime = LONG_AGO


class CommitList:
    """The commits at a version of their table, oldest first."""

    def __init__(self, version: int = -1, commits: Iterable[Commit] = ()) -> None:
        self.version = version
        self.listed: list[Commit] = []
        self._places: dict[int, int] = {}
        self._batches: dict[str, int] = {}
        for commit in commits:
            self.add(version, commit)

    def add(self, version: int, commit: Commit) -> None:
        """One commit more, with which the table is at a version."""
        self.version = version
        place = self._places[commit.seq] = len(self.listed)
        if commit.batch:
            self._batches.setdefault(commit.batch, place)
        self.listed.append(commit)

    def numbered(self, seq: int) -> Commit | None:
        """The commit with a number."""
        place = self._places.get(seq)
        return None if place is None else self.listed[place]

    def of_batch(self, batch: str) -> Commit | None:
        """The first commit that was made for a batch."""
        place = self._batches.get(batch)
        return None if place is None else self.listed[place]


def row_of_commit(commit: Commit) -> dict[str, Any]:
    notes = {name: note for name, note in commit.notes.items() if name != ROW_DIGEST}
    row = {
        "seq": commit.seq,
        "time": commit.time,
        "batch": commit.batch,
        "kind": commit.kind,
        "rows": json.dumps(dict(commit.rows)),
        "versions": json.dumps(dict(commit.versions)),
        "notes": json.dumps(notes),
    }
    return row | {"notes": json.dumps({**notes, ROW_DIGEST: row_digest(row)})}


def commit_of(row: Mapping[str, Any]) -> Commit:
    versions, notes, rows = (json.loads(row[name]) for name in ("versions", "notes", "rows"))
    digest = notes.pop(ROW_DIGEST, None)
    if digest not in (None, row_digest({**row, "notes": json.dumps(notes)})):
        raise DamageError(
            f"version {row['seq']} in the table `{COMMITS}` is not as it was written",
            hint="restore the folder from a backup, or have the file again as it was",
        )
    return Commit(row["seq"], row["batch"], row["kind"], versions, notes, rows, row["time"])
