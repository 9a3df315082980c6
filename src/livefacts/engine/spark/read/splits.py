"""Splits: the pieces of input that one task reads.

A large N-Triples or N-Quads file that is not packed is cut into byte ranges; a task reads
the lines that begin in its range.  Every other file is one split.  Blank node labels are
local to a file, so all splits of a file have the same scope.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import PurePath

from livefacts.errors import InputError
from livefacts.kb.stores.file_path import NO_OPTIONS, StorePath, expand_paths, store_path
from livefacts.syntax.input.files import MARKS, without_compression
from livefacts.syntax.rdf.documents import LINE_FORMATS, format_of, scope_of_name

BYTES_PER_SPLIT = 64 << 20
WHOLE = -1
RULES_SUFFIX = ".rules"
LOOKS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Split:
    """A file, or the lines of it that begin between two places; `end` is WHOLE for a file."""

    path: str
    scope: bytes
    format: str | None = None
    start: int = 0
    end: int = WHOLE
    length: int = 0
    version: str = ""
    """What shows whether the file is the one that it was; none if there is no file."""

    @property
    def is_whole(self) -> bool:
        return self.end == WHOLE

    def size(self) -> int:
        """How many bytes there are to read; 0 if there was no file."""
        return self.length if self.is_whole else self.end - self.start


def is_of_rules(name: str) -> bool:
    """Whether a file of this name is in the rule language."""
    return without_compression(PurePath(name)).suffix == RULES_SUFFIX


def find_files(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    options: Mapping[str, str] = NO_OPTIONS,
) -> list[StorePath]:
    """The files that paths and globs stand for, each once; `options` are those of remote stores."""
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    found = dict.fromkeys(path for source in named for path in expand_paths(source, options))
    if not found:
        raise InputError("no file to read", hint='name files or globs, such as "data/*.nt.gz"')
    return list(found)


def make_splits(
    files: Iterable[str | os.PathLike[str]],
    scope: str,
    *,
    format: str | None = None,
    by_name: bool = False,
    bytes_per_split: int = BYTES_PER_SPLIT,
) -> list[Split]:
    """The splits of files; blank nodes are scoped by `scope` and number, or by file name."""
    paths = [store_path(file) for file in files]
    # Each look at a remote file takes its time.
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
        states = list(pool.map(StorePath.stat, paths))
    return [
        split
        for number, (path, state) in enumerate(zip(paths, states, strict=True))
        for split in _splits_of(
            path,
            Split(
                str(path),
                scope_of_name(path) if by_name else f"{scope}f{number}".encode(),
                format,
                length=0 if state is None else state.size,
                version="" if state is None else state.tag or str(state.written),
            ),
            bytes_per_split,
        )
    ]


def _splits_of(path: StorePath, whole: Split, step: int) -> Iterator[Split]:
    is_packed = path.suffix.lower() in MARKS
    is_rules = whole.format is None and is_of_rules(whole.path)
    size = whole.length
    if is_packed or is_rules or format_of(path, whole.format) not in LINE_FORMATS or size <= step:
        yield whole
        return
    for start in range(0, size, step):
        yield replace(whole, start=start, end=min(start + step, size))


class RangeStream:
    """The lines of a file that begin in a range of bytes, as a stream."""

    def __init__(self, split: Split, path: StorePath) -> None:
        self._file = path.stream()
        if self._file.seek(0, io.SEEK_END) < split.end:
            self._file.close()
            raise InputError("the file has become shorter while it was read")
        self._at = self._line_start(split.start)
        self._end = self._line_start(split.end)
        self._file.seek(self._at)

    def _line_start(self, place: int) -> int:
        """Where the first line begins that does not begin before a place."""
        if place == 0:
            return 0
        self._file.seek(place - 1)
        self._file.readline()
        return self._file.tell()

    def readinto(self, buffer: memoryview, /) -> int:
        size: int = self._file.readinto(buffer[: max(0, self._end - self._at)])  # type: ignore[attr-defined]
        self._at += size
        return size

    def close(self) -> None:
        self._file.close()
