"""Resumption: a change that was cut off goes on after the last stage that it had finished.

What the tasks of a job have given is noted in a folder beside the tables: the names of the data
files that they wrote, above all.  Whoever makes the same change again, of the same files and
on the same state, finds it there; any other change removes it.  A note whose files are no
longer there does not count.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from livefacts.engine.spark.jobs.stage_report import Stage
from livefacts.engine.spark.read.bucket_intake import Read, SettledBucket
from livefacts.engine.spark.read.splits import Split
from livefacts.kb.bucket_stages import Published
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import Commit, DataFile, KnowledgeBase
from livefacts.syntax.input.rejects import Reject

FOLDER = ".stages"
KIND = "kind"
KINDS = {kind.__name__: kind for kind in (DataFile, Published, Read, Reject, SettledBucket, Split)}
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class KeptStages:
    """The folder of one change: notes of what its stages have given."""

    folder: StorePath

    def results(
        self,
        stage: Stage,
        run: Callable[[], list[Result]],
        files_of: Callable[[Result], Iterable[StorePath]],
    ) -> list[Result]:
        """What a stage gives; found, if it was finished before, and run otherwise."""
        note = self.folder / f"{hashlib.sha256(stage.name.encode()).hexdigest()[:12]}.json"
        found: list[Result] | None = _read(note)
        if found is not None and all(file.exists() for each in found for file in files_of(each)):
            stage.is_kept = True
            return found
        found = run()
        note.write(json.dumps([packed(each) for each in found]).encode())
        return found


def key_of(kind: str, start: Commit, *others: Any) -> str:
    """A name for a change: the same for the same change of the same state."""
    known = [kind, start.seq, sorted(start.versions.items()), *others]
    return hashlib.sha256(json.dumps(packed(known)).encode()).hexdigest()[:32]


def input_of(splits: Sequence[Split]) -> list[Any]:
    """The splits, which say what shows whether their files have changed."""
    return [packed(split) for split in splits]


@contextmanager
def resumable(base: KnowledgeBase, key: str) -> Iterator[KeptStages]:
    """The folder of a change, as it was left; removed when the change is made."""
    forget(base.path, besides=key)
    yield KeptStages(base.path / FOLDER / key)
    forget(base.path)


def forget(path: StorePath, besides: str = "") -> None:
    """Remove what changes that were cut off have left, besides that of one of them."""
    folder = path / FOLDER
    for name in folder.list():
        if name != besides:
            (folder / name).delete_folder()


# results as JSON


def packed(value: Any) -> Any:
    """A result as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: packed(getattr(value, field.name)) for field in fields(value)}
        return {KIND: type(value).__name__, **named}
    if isinstance(value, bytes):
        return {KIND: "bytes", "hex": value.hex()}
    return [packed(each) for each in value] if isinstance(value, tuple | list) else value


def unpacked(value: Any) -> Any:
    """The result that was packed; all sequences are tuples.

    >>> unpacked(packed([Split("a.nt", b"x")]))
    (Split(path='a.nt', scope=b'x', format=None, start=0, end=-1, length=0, version=''),)
    """
    if isinstance(value, list):
        return tuple(map(unpacked, value))
    if not isinstance(value, dict):
        return value
    named = {name: unpacked(each) for name, each in value.items() if name != KIND}
    return bytes.fromhex(named["hex"]) if value[KIND] == "bytes" else KINDS[value[KIND]](**named)


def _read(note: StorePath) -> list[Any] | None:
    try:
        return list(unpacked(json.loads(note.read())))
    except (OSError, ValueError, KeyError, TypeError):
        return None
