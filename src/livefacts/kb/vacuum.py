"""The vacuum: data files that no kept version needs are removed.

A file is needed if one of the kept versions of its table has it.  When each file came and
went is read from the table's log; what came in a version that no commit names, or is in no log
at all, was left by a change that was cut off.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from livefacts.kb.delta_log import FOLDER, Log, files_at
from livefacts.kb.marker import EXCHANGE
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import COMMITS, SCHEMAS, Commit, KnowledgeBase

TEMPORARY = ".tmp"
SAFE_AGE = 24 * 3600
"""Seconds after which nobody still means to commit a file."""


@dataclass(frozen=True, slots=True)
class Removed:
    """How many files were removed, and how many bytes they had."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.files + other.files, self.bytes + other.bytes)


def vacuum(
    table: StorePath, versions: Sequence[int], dropped: Sequence[int] = (), now: float | None = None
) -> Removed:
    """Remove the data files of a table that none of these versions has.

    Where others may be writing, which is on a remote store, a file has to be of a version that was
    `dropped`, or old: what is young may be what someone is about to commit.
    """
    log = Log(table)
    needed = needed_files(table, log, sorted(versions))
    found = {table / name: state for name, state in table.files(".parquet").items()}
    found = {path: state for path, state in found.items() if path.name not in needed}
    parts = table / FOLDER
    found |= {parts / name: state for name, state in parts.files(TEMPORARY).items()}
    if not table.is_local:
        known = needed_files(table, log, sorted(dropped)) if dropped else set()
        before = (time.time() if now is None else now) - SAFE_AGE
        found = {p: s for p, s in found.items() if p.name in known or s.written < before * 1e9}
    for path in found:
        path.delete()
    return Removed(len(found), sum(state.size for state in found.values()))


def vacuum_rounds(base: StorePath, now: float | None = None) -> Removed:
    """Remove the rows of rounds that a change which was cut off has left on a remote store."""
    before = (time.time() if now is None else now) - SAFE_AGE
    removed = Removed()
    for name in (base / EXCHANGE).list():
        folder = base / EXCHANGE / name
        files = folder.files("")
        if all(state.written < before * 1e9 for state in files.values()):
            folder.delete_folder()
            removed += Removed(len(files), sum(state.size for state in files.values()))
    return removed


def vacuum_versions(base: KnowledgeBase, kept: Sequence[Commit]) -> Removed:
    """Remove the data files of all tables that none of these commits needs."""
    removed = vacuum(base.path / COMMITS, [base.version(COMMITS)]) + vacuum_rounds(base.path)
    seqs = {commit.seq for commit in kept}
    others = [commit for commit in base.commits() if commit.seq not in seqs]
    for table in SCHEMAS.keys() - {COMMITS}:
        versions, dropped = (
            sorted({each.versions[table] for each in commits if table in each.versions})
            for commits in (kept, others)
        )
        removed += vacuum(base.path / table, versions, dropped)
        base.reached(f"{table} vacuumed")
    return removed


def needed_files(table: StorePath, log: Log, versions: Sequence[int]) -> set[str]:
    """The files that some of these versions, in order, have."""
    numbers = log.numbers()
    if numbers[:1] != [0]:
        # The beginning of the log is gone: ask for each version on its own.
        return {path.name for version in versions for path in files_at(table, version)}
    needed, since = set(), dict[str, int]()
    for number in numbers:
        for action in log.actions(number):
            if "remove" in action:
                name = unquote(action["remove"]["path"])
                if _has_any(versions, since.pop(name, number), number):
                    needed.add(name)
            elif "add" in action:
                since[unquote(action["add"]["path"])] = number
    last = numbers[-1] + 1
    return needed | {name for name, first in since.items() if _has_any(versions, first, last)}


def _has_any(versions: Sequence[int], first: int, end: int) -> bool:
    """Whether one of the versions is from `first` on and before `end`.

    >>> _has_any([1, 5], 2, 5), _has_any([1, 5], 2, 6)
    (False, True)
    """
    at = bisect_left(versions, first)
    return at < len(versions) and versions[at] < end
