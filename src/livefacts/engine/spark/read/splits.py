"""Splits: the pieces of input that one task reads.

A large N-Triples or N-Quads file that is not packed is cut into byte ranges; a task reads
the lines that begin in its range.  Every other file is one split.  Blank node labels are
local to a file, so all splits of a file have the same scope.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from livefacts.errors import InputError
from livefacts.syntax.input.files import MARKS, expand, without_compression
from livefacts.syntax.rdf.documents import LINE_FORMATS, format_of, scope_of_name

BYTES_PER_SPLIT = 64 << 20
WHOLE = -1
RULES_SUFFIX = ".rules"
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Split:
    """A file, or the lines of it that begin between two places; `end` is WHOLE for a file."""

    path: str
    scope: bytes
    format: str | None = None
    start: int = 0
    end: int = WHOLE

    @property
    def is_whole(self) -> bool:
        return self.end == WHOLE

    def size(self) -> int:
        """How many bytes there are to read; 0 if the file has gone."""
        if not self.is_whole:
            return self.end - self.start
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0


def find_files(sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that paths and globs stand for, each once."""
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    found = dict.fromkeys(path.absolute() for source in named for path in expand(source))
    if not found:
        raise InputError("no file to read", hint='name files or globs, such as "data/*.nt.gz"')
    return list(found)


def make_splits(
    files: Iterable[Path],
    scope: str,
    *,
    format: str | None = None,
    by_name: bool = False,
    bytes_per_split: int = BYTES_PER_SPLIT,
) -> list[Split]:
    """The splits of files; blank nodes are scoped by `scope` and number, or by file name."""
    return [
        split
        for number, path in enumerate(files)
        for split in _splits_of(
            path,
            scope_of_name(path) if by_name else f"{scope}f{number}".encode(),
            format,
            bytes_per_split,
        )
    ]


def _splits_of(path: Path, scope: bytes, format: str | None, step: int) -> Iterator[Split]:
    is_packed = path.suffix.lower() in MARKS
    is_rules = format is None and without_compression(path).suffix == RULES_SUFFIX
    if is_packed or is_rules or format_of(path, format) not in LINE_FORMATS or not path.is_file():
        yield Split(str(path), scope, format)
        return
    size = path.stat().st_size
    if size <= step:
        yield Split(str(path), scope, format)
        return
    for start in range(0, size, step):
        yield Split(str(path), scope, format, start, min(start + step, size))


class RangeStream:
    """The lines of a file that begin in a range of bytes, as a stream."""

    def __init__(self, split: Split) -> None:
        self._file = open(split.path, "rb")  # noqa: SIM115
        if os.fstat(self._file.fileno()).st_size < split.end:
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
        size = self._file.readinto(buffer[: max(0, self._end - self._at)])
        self._at += size
        return size

    def close(self) -> None:
        self._file.close()
