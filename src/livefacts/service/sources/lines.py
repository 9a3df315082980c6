"""Lines as messages: standard input, and files that are followed as they grow.

A file is known by its number on the disk: its position is that number and how many bytes have been
read.  When another file has taken its name (rotation), the old one is read to its end first;
a file that has become shorter is read from its beginning; both are said.  A last line without
its end is waited for.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from livefacts.errors import InputError
from livefacts.service.sources.message_contract import PATIENCE, Message, Say


@dataclass(slots=True)
class StandardInput:
    """The lines of standard input; what was read once does not come again."""

    name: str = "-"
    _run: str = field(default_factory=lambda: uuid4().hex[:12])
    _is_stopped: bool = False

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """Each line that is not empty."""
        for number, line in enumerate(iter(_input().readline, b""), 1):
            if self._is_stopped:
                return
            if line.strip():
                yield Message(line, None, f"{self._run}:{number}", f"<stdin>:{number}")

    def done(self, message: Message) -> None:
        """Standard input does not ask."""

    def stop(self) -> None:
        """End before the next line."""
        self._is_stopped = True


def _input() -> BinaryIO:
    """Standard input, by a reader of our own: a process that ends waits for the lock of the other."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except OSError:
        return sys.stdin.buffer


@dataclass(slots=True)
class FollowedFile:
    """The lines of a file, and those that are written to it later."""

    path: Path
    say: Say
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return f"file://{self.path}"

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """Each line that is not empty."""
        number, start = _parsed(position)
        while not self._stopped.is_set():
            file = self._opened()
            if file is None:
                yield None
                continue
            with file:
                found = os.fstat(file.fileno())
                if number is not None and (found.st_ino != number or found.st_size < start):
                    self.say(f"{self.path} is another file than before: it is read from its start")
                    start = 0
                yield from self._lines(file, start)
            number, start = None, 0

    def _opened(self) -> BinaryIO | None:
        try:
            return self.path.open("rb")
        except FileNotFoundError:
            self._stopped.wait(PATIENCE)
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}") from error

    def _lines(self, file: BinaryIO, start: int) -> Iterator[Message | None]:
        """The lines of one file, until another one has its name or it has become shorter."""
        at, number = start, os.fstat(file.fileno()).st_ino
        file.seek(start)
        while not self._stopped.is_set():
            line = file.readline()
            if line.endswith(b"\n"):
                at += len(line)
                if line.strip():
                    place = f"{number}:{at}"
                    yield Message(line, place, f"{self.path}:{place}", f"{self.path}, byte {at}")
                continue
            file.seek(at)
            if os.fstat(file.fileno()).st_size < at:
                self.say(f"{self.path} was cut: it is read from its start")
                at = 0
                file.seek(0)
            elif self._is_replaced(number) and not file.readline().endswith(b"\n"):
                self.say(f"{self.path} is a new file: it is read from its start")
                return
            else:
                file.seek(at)
                yield None
                self._stopped.wait(PATIENCE)

    def _is_replaced(self, number: int) -> bool:
        try:
            return self.path.stat().st_ino != number
        except FileNotFoundError:
            return False

    def done(self, message: Message) -> None:
        """A file does not ask."""

    def stop(self) -> None:
        """End when the next line would be waited for."""
        self._stopped.set()


def _parsed(position: str | None) -> tuple[int | None, int]:
    if position is None:
        return None, 0
    number, _, at = position.partition(":")
    return int(number), int(at)
