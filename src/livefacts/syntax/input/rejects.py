"""Rejects: what could not be read, with its place and the reason.

A rejected line is never silent: it is counted, the first ones are kept, and all of them go
to a rejects file if there is one: JSON lines if its name ends in .jsonl, CSV otherwise.
"""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TextIO

from livefacts.errors import InputError, Place

LONGEST_TEXT = 200
"""Characters of a rejected line that are kept."""
MOST_KEPT = 10_000
JSON_LINES = (".jsonl", ".ndjson")


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

    def __init__(self, path: str | Path | None = None, most: int = MOST_KEPT) -> None:
        self.count = 0
        self._most = most
        self.kept: list[Reject] = []
        self.hints: list[str] = []
        self._file = None if path is None else _open(Path(path))
        self._writes_json = path is not None and Path(path).suffix.lower() in JSON_LINES
        if self._file and not self._writes_json:
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
            csv.writer(self._file).writerow(asdict(reject).values())

    def add_hint(self, hint: str) -> None:
        """Note what may be wrong with a file as a whole."""
        self.hints.append(hint)

    def close(self) -> None:
        """Finish the file."""
        if self._file:
            self._file.close()


def _open(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            f"cannot write the rejects file {path}: {error.strerror}",
            hint="choose a file in a directory that you may write to",
        ) from error
