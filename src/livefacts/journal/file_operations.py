"""File operations: whatever has to be on the disk before anyone is told so, in one place.

A file is written whole under another name, synced, renamed, and its folder is synced: after a
power cut there is the old one or the new one.  `on_step` hears of every step before and after it
is made; tests let the process end there, or the disk fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MOST_ZEROS = 1 << 20


def _go_on(step: str, path: Path) -> None:
    """Nothing happens between the steps."""


on_step: Callable[[str, Path], None] = _go_on
"""Hears of each step, such as "before write", and of the file; may raise an error."""


@contextmanager
def _step(name: str, path: Path) -> Iterator[None]:
    on_step(f"before {name}", path)
    yield
    on_step(f"after {name}", path)


def write_at(descriptor: int, data: bytes, offset: int, path: Path) -> None:
    """Write all of the data at a place of an open file."""
    with _step("write", path):
        done = 0
        while done < len(data):
            done += os.pwrite(descriptor, data[done:], offset + done)


def reserve(descriptor: int, start: int, end: int, path: Path) -> None:
    """Make an open file larger, in zeros that are on the disk: a row that is written over them
    is there once it is synced itself, and waits for no other file.
    """
    with _step("reserve", path):
        while start < end:
            start += os.pwrite(descriptor, bytes(min(end - start, MOST_ZEROS)), start)
    sync(descriptor, path)


def sync(descriptor: int, path: Path) -> None:
    """Have what was written to an open file on the disk."""
    with _step("sync", path):
        if hasattr(os, "fdatasync"):
            os.fdatasync(descriptor)
        else:
            _sync_fully(descriptor)


def _sync_fully(descriptor: int) -> None:
    """On a Mac, fsync alone leaves data in the cache of the disk."""
    import fcntl

    fcntl.fcntl(descriptor, getattr(fcntl, "F_FULLFSYNC", 51))


def sync_file(path: Path) -> None:
    """Have a file that someone else wrote on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with _step("sync of folder", path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file as a whole, in place of the one that has its name."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    write_synced(part, data)
    rename(part, path)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file as a whole, and have it on the disk; its name may be lost."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        write_at(descriptor, data, 0, path)
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def rename(part: Path, path: Path) -> None:
    """Give a file that is synced its name."""
    give_name(part, path)
    sync_folder(path.parent)


def give_name(part: Path, path: Path) -> None:
    """Give a file its name; that is on the disk when the folder is synced."""
    with _step("rename", path):
        part.replace(path)
