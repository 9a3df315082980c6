"""Rejects: what could not be read, with its place and the reason.

A rejected line is never silent: it is counted, the first ones are kept, and all of them go
to a rejects file if there is one: JSON lines if its name ends in .jsonl, CSV otherwise.  The
file of one load takes the place of that of the last; one that grows is appended to, line by line.
"""

from __future__ import annotations

import csv
import errno
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TextIO, cast

from livefacts.errors import InputError, Place
from livefacts.store.terms.ntriples import TIMED

LONGEST_TEXT = 200
"""Characters of a rejected line that are kept."""
MOST_KEPT = 10_000
JSON_LINES = (".jsonl", ".ndjson")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet begins to compute with."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A line, or the rest of a file, that was not read.

    Line and column are counted from 1; 0 stands where the parser does not say.
    """

    file: str
    line: int
    column: int
    reason: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text[:LONGEST_TEXT])

    def __str__(self) -> str:
        if not self.line and not self.file:
            return self.reason
        return f"{self.file}:{self.line}:{self.column}: {self.reason}"

    def as_error(self) -> InputError:
        """The same as an error, for callers who want all or nothing."""
        return InputError(self.reason, place=Place(self.file, self.line, self.column, self.text))


class Rejects:
    """All rejects of a load: counted, the first ones kept, all of them written."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        most: int = MOST_KEPT,
        *,
        grows: bool = False,
    ) -> None:
        self.count = 0
        self._most = most
        self.kept: list[Reject] = []
        self.hints: list[str] = []
        self.unread: Reject | None = None
        self._target = None if path is None else Path(path).absolute().resolve()
        self._stays = self._target is not None and (grows or _is_special(self._target))
        """Whether what is written is where it belongs at once."""
        self._file = None if self._target is None else _open(self._target, grows)
        self._writes_json = path is not None and Path(path).suffix.lower() in JSON_LINES
        if self._file and not self._writes_json and not (grows and self._file.tell()):
            csv.writer(self._file).writerow(field.name for field in fields(Reject))

    def __enter__(self) -> Rejects:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def add(self, reject: Reject) -> None:
        """Count a reject, and write it to the file."""
        self.count += 1
        if self.count <= self._most:
            self.kept.append(reject)
        if self._file and self._writes_json:
            self._file.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")
        elif self._file:
            csv.writer(self._file).writerow(map(_harmless, asdict(reject).values()))

    def note_unread(self, name: str, first: Reject) -> None:
        """Nothing of a file could be read; `first` is what was rejected first."""
        self.hints.append(f"{name}: nothing in it could be read; is it a text in this format?")
        self.unread = self.unread or first

    def refuse_unread(self) -> None:
        """An error if there was a file of which nothing could be read."""
        if self.unread is not None:
            error = self.unread.as_error()
            error.message = f"nothing in {self.unread.file} could be read: {self.unread.reason}"
            error.hint = "is it a text in this format? format= (--input-format) names another"
            if self.unread.reason == TIMED:
                error.hint = "livefacts register and livefacts run read it, as a stream"
            raise error

    def refuse_input(self, path: str | os.PathLike[str]) -> None:
        """Refuse to write rejects over a file that is read."""
        if self._target is not None and Path(path).absolute().resolve() == self._target:
            self._drop()
            raise InputError(
                f"{os.fspath(path)} is to be read, and rejects to be written there",
                hint="give the rejects a file of their own",
            )

    def close(self) -> None:
        """Finish the file: only now does it take the place of one that was there."""
        if self._file is not None and self._target is not None:
            self._file.close()
            if not self._stays:
                os.replace(_unfinished(self._target), self._target)
            self._file = None

    def _drop(self) -> None:
        if self._file is not None and self._target is not None:
            self._file.close()
            if not self._stays:
                _unfinished(self._target).unlink()
            self._file = None


def _harmless(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA_STARTS else cell


def _is_special(path: Path) -> bool:
    """Whether a path is a device or a pipe, which cannot be replaced."""
    return path.exists() and not path.is_file()


def _unfinished(path: Path) -> Path:
    """Where a file is written until it is whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def _open(path: Path, grows: bool) -> TextIO:
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a directory")
        how: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
        if grows:
            return cast(TextIO, path.open("a", buffering=1, **how))
        target = path if _is_special(path) else _unfinished(path)
        return cast(TextIO, target.open("w", **how))
    except OSError as error:
        raise InputError(
            f"cannot write the rejects file {path}: {error.strerror}",
            hint="choose a file in a directory that you may write to",
        ) from error
