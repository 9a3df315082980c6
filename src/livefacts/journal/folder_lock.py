"""The lock of a folder: one writer at a time, for as long as its process lives.

The system gives the lock back when the process ends, however it ends.  The file says who has
it, for the message that others get.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from livefacts.errors import ConflictError, LivefactsError

LOCK = ".lock"


class FolderLock:
    """A folder that this process alone writes to, until `release`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = _opened(folder)
        try:
            self._take()
        except BaseException:
            self.release()
            raise

    def _take(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConflictError(
                f"someone else is writing to {self._folder}{_holder(self._descriptor)}",
                hint="wait until that is done, then try again; "
                "Reasoner.open(folder, read_only=True) reads meanwhile",
            ) from error
        # The time is for people: nothing is ever derived from it.
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())
        text = json.dumps({"process": os.getpid(), "since": since}).encode()
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text, 0)

    def release(self) -> None:
        """Let others in."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _opened(folder: Path) -> int:
    try:
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LivefactsError(
            f"{folder} cannot be written to: {error.strerror}",
            hint="Reasoner.open(folder, read_only=True) reads it",
        ) from error


def _holder(descriptor: int) -> str:
    """Who has the lock, as far as the file tells."""
    try:
        found = json.loads(os.pread(descriptor, 1000, 0))
        return f": process {found['process']}, since {found['since']}"
    except (ValueError, KeyError, TypeError, OSError):
        return ""
