"""The change log: the log files of a folder, written and read as one log of changes.

A row is one call of a user, or one tick of its clock: it names the first and the last number
of the changes that it made.  With every checkpoint a new file begins; old ones stay as long as
someone may ask what has happened.

When the disk fails, nothing more is written, for good: what was not synced was not
acknowledged, and what is on the disk is known when the folder is opened again.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livefacts.errors import DamageError, LivefactsError, StoppedError
from livefacts.journal import fact_texts, log_file
from livefacts.journal.log_file import BEFORE, START, LogHeader, LogReader, LogWriter

FOLDER = "journal"
SYNC, GROUP, NONE = "sync", "group", "none"
DURABILITIES = (SYNC, GROUP, NONE)
AT_RISK = 0.05
"""Seconds that pass at most before what was acknowledged is synced, with `durability="group"`."""
DIGITS = 20


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One call: the numbers of the changes that it made, its kind, and what is needed to repeat it.

    A call that made no change, such as one that sets prefixes, has the numbers `last + 1` and
    `last`.  The time is for people, and for how long rows are kept.
    """

    first: int
    last: int
    kind: str
    content: Mapping[str, Any]
    time: float = field(default_factory=time.time)

    def text(self) -> bytes:
        """The row as it stands in the file."""
        head = {"seq": [self.first, self.last], "kind": self.kind, "time": round(self.time, 3)}
        return json.dumps({**head, **self.content}, ensure_ascii=False).encode()


def read_row(text: bytes) -> JournalRow:
    """A row of a file."""
    content = json.loads(text.decode())
    (first, last), kind, at = (content.pop(name) for name in ("seq", "kind", "time"))
    return JournalRow(first, last, kind, content, at)


def log_path(folder: Path, number: int) -> Path:
    """The log file with a number."""
    return folder / FOLDER / f"{number:0{DIGITS}d}.log"


def log_numbers(folder: Path) -> list[int]:
    """The numbers of the log files of a folder that have begun, oldest first."""
    try:
        numbers = sorted(int(path.stem) for path in (folder / FOLDER).glob("*.log"))
    except (OSError, ValueError) as error:
        raise DamageError(f"{folder / FOLDER} cannot be read: {error}", hint=BEFORE) from error
    if numbers and not log_file.has_begun(log_path(folder, numbers[-1])):
        numbers.pop()
    return numbers


def remove_logs(folder: Path, number: int, seq: int) -> None:
    """Remove the log files before this one, and the files beside them of changes up to `seq`."""
    for before in log_numbers(folder):
        if before < number:
            log_path(folder, before).unlink()
    for path in (folder / FOLDER).glob("*.parquet"):
        if int(path.stem) <= seq:
            path.unlink()


def has_begun(folder: Path) -> bool:
    """Whether a journal has anything in it.

    It has not where the process ended while the journal was made: then there is one log file
    without a row at the most.
    """
    first = log_path(folder, 1)
    part = f".{first.name}."
    try:
        names = {name for name in os.listdir(folder / FOLDER) if not name.startswith(part)}
        return not names <= {first.name} or (bool(names) and any(LogReader(first).rows()))
    except FileNotFoundError:
        return False
    except (OSError, DamageError):
        return True


class JournalReader:
    """The rows from one log file on, as they come."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self.log = LogReader(log_path(folder, number))

    def rows(self, *, is_growing: bool = False) -> Iterator[JournalRow]:
        """The rows that have not been read yet."""
        while True:
            follows = max(log_numbers(self._folder), default=0) > self.log.header.number
            yield from map(read_row, self.log.rows(is_growing=is_growing and not follows))
            if not follows:
                return
            following = LogReader(log_path(self._folder, self.log.header.number + 1))
            if following.header.digest != self.log.digest:
                raise self.log.damaged("its last rows are missing")
            self.log = following


def journal_damages(folder: Path, number: int, last: int) -> Iterator[DamageError]:
    """What is not as it was written in the log files between these and in all later ones.

    Rows are looked at, and the files that they name.
    """
    last = max([last, *log_numbers(folder)])
    while number <= last:
        reader: JournalReader | None = None
        try:
            reader = JournalReader(folder, number)
            for row in reader.rows(is_growing=True):
                yield from _damage_beside(folder, row)
            return
        except DamageError as error:
            yield error
        number = 1 + max(number, 0 if reader is None else reader.log.header.number)


def _damage_beside(folder: Path, row: JournalRow) -> Iterator[DamageError]:
    if fact_texts.FILE in row.content:
        try:
            fact_texts.many_as_written(folder / FOLDER, row.content)
        except DamageError as error:
            yield error


class Journal:
    """The log to which this process writes."""

    def __init__(self, folder: Path, log: LogWriter, number: int, durability: str) -> None:
        self._folder = folder
        self._log = log
        self.number = number
        self.bytes = log.end
        """How much has been written, in files beside the log, too."""
        self._durability = durability
        self._syncing = threading.Lock()
        self._next: LogWriter | None = None
        self._complete: list[LogWriter] = []
        """Files before this one, which are to be synced and closed."""
        self._written = self._synced = 0
        self._stopped: StoppedError | None = None
        self._closed = threading.Event()
        self._syncer: threading.Thread | None = None

    @classmethod
    def create(cls, folder: Path, seq: int, durability: str) -> Journal:
        """The journal of a folder that has none yet."""
        if has_begun(folder):
            raise DamageError(
                f"{folder / FOLDER} has changes of which the folder does not know", hint=BEFORE
            )
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        log = LogWriter.create(log_path(folder, 1), LogHeader(1, seq, START))
        return cls(folder, log, 1, durability)

    @classmethod
    def go_on(cls, folder: Path, read: LogReader, durability: str) -> Journal:
        """The journal whose rows have all been read."""
        log = LogWriter(read.path, read.end, read.digest)
        log.clean()
        return cls(folder, log, read.header.number, durability)

    @property
    def path(self) -> Path:
        """The file that rows are written to."""
        return self._log.path

    @property
    def written(self) -> int:
        """How many rows this process has written."""
        return self._written

    def check(self) -> None:
        """Refuse to go on after the disk has failed, or after `close`."""
        if self._stopped is not None:
            raise StoppedError(self._stopped.message, hint=self._stopped.hint)

    def append(self, row: JournalRow) -> None:
        """Write a row; it counts once it is synced.  If it cannot be written, nothing was."""
        self.check()
        text = row.text()
        try:
            self._log.append(text)
        except OSError as error:
            raise self._refused(error) from error
        self._written += 1
        self.bytes += len(text)

    def _refused(self, error: OSError) -> LivefactsError:
        if error.errno == errno.ENOSPC:
            return LivefactsError(
                f"the disk is full: {self.path} cannot grow; nothing has changed",
                hint="make room, and make the change again",
            )
        return self._stop(error)

    def sync(self, upto: int) -> None:
        """Have so many rows on the disk; those of everyone who waits go together."""
        if self._durability == SYNC:
            self._sync(upto)
        else:
            self.check()
            if self._durability == GROUP and self._syncer is None:
                self._syncer = threading.Thread(target=self._sync_again, daemon=True)
                self._syncer.start()

    def _sync(self, upto: int) -> None:
        if self._synced < upto:
            with self._syncing:
                if self._synced < upto:
                    self._sync_files()

    def _sync_files(self) -> None:
        """Have all rows on the disk that are written by now.

        Others may write meanwhile, and go on in a new file: this one is asked for before those
        that are complete.
        """
        self.check()
        written, log = self._written, self._log
        complete = list(self._complete)
        try:
            for each in [*complete, log]:
                each.sync()
        except OSError as error:
            raise self._stop(error) from error
        self._synced = written
        for each in complete:
            self._complete.remove(each)
            each.close()

    def _stop(self, error: OSError) -> StoppedError:
        self._stopped = StoppedError(
            f"{self.path} could not be written: {error.strerror or error}; "
            "no more changes are made here",
            hint="see to the disk, then open the folder again: it has everything that was "
            "acknowledged, and this change as a whole or not at all",
        )
        return self._stopped

    def _sync_again(self) -> None:
        """Sync every now and then, until the journal is closed."""
        while not self._closed.wait(AT_RISK) and self._stopped is None:
            try:
                self._sync(self._written)
            except StoppedError:
                return

    def prepare_next(self, room: int = 0) -> None:
        """Have a new file ready, with room for so many bytes; nobody has to wait meanwhile."""
        self.check()
        if self._next is None:
            self._next = LogWriter.prepare(log_path(self._folder, self.number + 1), room)

    def begin_next(self, seq: int) -> None:
        """Go on in the new file; the one before is complete, and on the disk with the next sync."""
        self.prepare_next()
        log, self._next = self._next, None
        assert log is not None, "it is prepared"
        try:
            log.begin(LogHeader(self.number + 1, seq, self._log.digest))
        except BaseException:
            log.close()
            raise
        self._complete.append(self._log)
        self._log, self.number = log, self.number + 1

    def sync_begun(self) -> None:
        """Have the file that has begun on the disk, whatever `durability` says."""
        with self._syncing:
            self._sync_files()

    def close(self) -> None:
        """Sync what is written, and let go of the file."""
        self._closed.set()
        if self._stopped is None:
            try:
                self._sync(self._written)
            finally:
                self._stopped = StoppedError(
                    f"{self._folder} was closed", hint="open it again: Reasoner.open(folder)"
                )
        for log in (self._next, *self._complete, self._log):
            if log is not None:
                log.close()


class ReadOnlyJournal:
    """The journal of a folder that this process only reads: changes are refused."""

    written = 0

    def __init__(self, folder: os.PathLike[str]) -> None:
        self._folder = folder

    def check(self) -> None:
        """Refuse a change."""
        raise StoppedError(
            f"{self._folder} was opened to be read only",
            hint="open it without read_only to change it",
        )

    def append(self, row: JournalRow) -> None:
        """Refuse a row."""
        self.check()

    def sync(self, upto: int) -> None:
        """There is nothing to sync."""

    def close(self) -> None:
        """There is nothing to let go of."""
