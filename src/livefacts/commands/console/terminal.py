"""The terminal: messages on standard error, data on standard output, exit codes.

Data goes to standard output or to a file, everything else to standard error, so that
`livefacts query ... | sort` never sorts a message.
"""

from __future__ import annotations

import gzip
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from livefacts.service.reasoner.facade import Reasoner


class ExitCode(IntEnum):
    """How a command ends."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    SOME_REJECTED = 3
    VIOLATED = 4
    INTERRUPTED = 130


def say(message: str) -> None:
    """A line for people."""
    print(message, file=sys.stderr, flush=True)


def is_watched() -> bool:
    """Whether someone sits at the terminal and would see progress."""
    return sys.stderr.isatty()


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "fact"), counted(1200, "fact"), counted(2, "query", "queries")
    ('1 fact', '1,200 facts', '2 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Ctrl-C ends the process on the spot: for work that has nothing to clean up.

    A compiler that runs Python code from machine code can lose a KeyboardInterrupt.
    """

    def end(number: int, frame: FrameType | None) -> None:
        say("interrupted")
        os._exit(ExitCode.INTERRUPTED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def output(path: str) -> Iterator[BinaryIO]:
    """A stream of bytes to a file, compressed as its name says, or to standard output.

    The file appears, or takes the place of the old one, when all of it is written: half a
    file never looks whole.
    """
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif os.path.exists(path) and not os.path.isfile(path):
        with _opened(path, path) as stream:
            yield stream
    else:
        yield from _replaced(os.path.realpath(path))


def _replaced(path: str) -> Iterator[BinaryIO]:
    part = f"{path}.part"
    try:
        with _opened(part, path) as stream:
            yield stream
        os.replace(part, path)
    except OSError as error:
        error.filename = path
        raise
    finally:
        if os.path.exists(part):
            os.remove(part)


@contextmanager
def _opened(path: str, named: str) -> Iterator[BinaryIO]:
    """A file under one path, compressed as another one says."""
    with open(path, "wb") as file:
        if named.endswith(".gz"):
            # Neither name nor time in the header: the same data is the same file.  Level 4
            # is near level 6 in size and near level 1 in time for lines of triples.
            with gzip.GzipFile("", "wb", compresslevel=4, fileobj=file, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif named.endswith(".zst"):
            import zstandard

            with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as stream:
                yield stream
        else:
            yield file


def dump(reasoner: Reasoner, path: str, derived: bool | None, form: str | None = None) -> None:
    """Write what is true, or only what was derived or asserted, in the format of the name."""
    with output(path) as stream:
        reasoner.dump(stream, derived=derived, format=form or format_of(path))


def check_format(path: str, form: str | None = None) -> None:
    """Refuse a format that nothing can be written in, before anything is done."""
    from livefacts.service.change import dump as writing

    writing.check_format(form or format_of(path))


def format_of(path: str) -> str:
    """The format that the name of a file stands for, without what it is compressed with.

    >>> format_of("closure.ttl.gz"), format_of("-")
    ('ttl', 'nt')
    """
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".zst")
    return name.rpartition(".")[2] if "." in name else "nt"
