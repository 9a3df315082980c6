"""The vacuum: data files that no kept version needs are removed.

A file is needed if one of the kept versions of its table has it.  When each file came and
went is read from the table's log; what came in a version that no commit names, or is in no log
at all, was left by a change that was cut off.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from livefacts.kb.tables import COMMITS, SCHEMAS, Commit, KnowledgeBase

LOG = "_delta_log"
ENTRY = re.compile(r"\d{20}\.json")
TEMPORARY = "*.tmp"


@dataclass(frozen=True, slots=True)
class Removed:
    """How many files were removed, and how many bytes they had."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.files + other.files, self.bytes + other.bytes)


def vacuum(table: Path, versions: Sequence[int]) -> Removed:
    """Remove the data files of a table that none of these versions has."""
    if not table.is_dir():
        return Removed()
    needed = needed_files(table, sorted(versions))
    found = [path for path in table.glob("*.parquet") if path.name not in needed]
    found += (table / LOG).glob(TEMPORARY)
    removed = Removed()
    for path in found:
        removed += Removed(1, path.stat().st_size)
        path.unlink()
    return removed


def vacuum_versions(base: KnowledgeBase, kept: Sequence[Commit]) -> Removed:
    """Remove the data files of all tables that none of these commits needs."""
    removed = vacuum(base.path / COMMITS, [base.version(COMMITS)])
    for table in SCHEMAS.keys() - {COMMITS}:
        versions = {each.versions[table] for each in kept if table in each.versions}
        removed += vacuum(base.path / table, sorted(versions))
        base.reached(f"{table} vacuumed")
    return removed


def needed_files(table: Path, versions: Sequence[int]) -> set[str]:
    """The files that some of these versions, in order, have."""
    numbers = sorted(
        int(entry.stem) for entry in (table / LOG).glob("*.json") if ENTRY.match(entry.name)
    )
    if numbers[:1] != [0]:
        # The beginning of the log is gone: ask for each version on its own.
        return {name for version in versions for name in _files_at(table, version)}
    needed, since = set(), dict[str, int]()
    for number in numbers:
        for action in _actions(table / LOG / f"{number:020d}.json"):
            if "remove" in action:
                name = unquote(action["remove"]["path"])
                if _has_any(versions, since.pop(name, number), number):
                    needed.add(name)
            elif "add" in action:
                since[unquote(action["add"]["path"])] = number
    last = numbers[-1] + 1
    return needed | {name for name, first in since.items() if _has_any(versions, first, last)}


def _actions(entry: Path) -> Iterator[dict[str, Any]]:
    """What an entry of the log did, removals first."""
    found = [json.loads(line) for line in entry.read_text("utf-8").splitlines() if line]
    return iter(sorted(found, key=lambda action: "remove" not in action))


def _has_any(versions: Sequence[int], first: int, end: int) -> bool:
    """Whether one of the versions is from `first` on and before `end`.

    >>> _has_any([1, 5], 2, 5), _has_any([1, 5], 2, 6)
    (False, True)
    """
    at = bisect_left(versions, first)
    return at < len(versions) and versions[at] < end


def _files_at(table: Path, version: int) -> list[str]:
    from deltalake import DeltaTable

    return [Path(uri).name for uri in DeltaTable(table, version=version).file_uris()]
