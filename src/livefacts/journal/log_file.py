"""The log file: rows one after the other, each with a digest that covers the one before it.

A file is made larger, in zeros, before rows are written into it, and the last byte of a row is
never zero.  So the end of a process in the middle of a row leaves the beginning of a row and then
zeros; everything else, such as a flipped bit, a cut file, or a row that is not there any more, is
damage and is said.

    header   what this is, its number, the seq before it, the digest to go on from; a digest
    row      mark, length, digest of this and all rows before; a checksum of these; text; mark
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from livefacts.errors import DamageError
from livefacts.journal import file_operations

MAGIC = b"livefacts journal 1\n"
HEADER = struct.Struct(">20sQQ16s")
HEADER_SIZE = HEADER.size + 16
ROW = struct.Struct(">BI16s")
CHECK = struct.Struct(">I")
ROW_SIZE = ROW.size + CHECK.size
MARK = 0xA5
END = bytes([MARK])
STEP = 1 << 18
"""By so many bytes a file grows at least."""
MOST_STEPS = 4
"""A file that is large grows by so many of them."""
PAGE = 1 << 12
START = bytes(16)
"""The digest before the first row of all."""
BEFORE = "restore the folder from a backup, or have the file again as it was"


@dataclass(frozen=True, slots=True)
class LogHeader:
    """What a file says of itself: which one it is, and what it goes on from."""

    number: int
    seq: int
    digest: bytes

    def packed(self) -> bytes:
        """The header as it stands in the file."""
        packed = HEADER.pack(MAGIC, self.number, self.seq, self.digest)
        return packed + digest_of(packed)


def digest_of(*parts: bytes) -> bytes:
    """A short digest of these bytes together."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found.digest()


class LogWriter:
    """A log file to which rows are appended."""

    def __init__(self, path: Path, end: int, digest: bytes, part: Path | None = None) -> None:
        """The file has another name, `part`, until it begins."""
        self.path = path
        self.end = end
        self.digest = digest
        self._part = part
        self._is_new = False
        self._descriptor = os.open(part or path, os.O_RDWR)
        self._size = os.fstat(self._descriptor).st_size
        self._growing = threading.Lock()
        self._grower: threading.Thread | None = None

    @classmethod
    def create(cls, path: Path, header: LogHeader) -> LogWriter:
        """A new file, which is on the disk with its name."""
        log = cls.prepare(path)
        log.begin(header)
        log.sync()
        return log

    @classmethod
    def prepare(cls, path: Path, room: int = 0) -> LogWriter:
        """A file with room for so many bytes, on the disk; it has its name when it begins."""
        part = path.with_name(f".{path.name}.next")
        file_operations.write_synced(part, bytes((room // STEP + 1) * STEP))
        return cls(path, HEADER_SIZE, START, part)

    def begin(self, header: LogHeader) -> None:
        """The file has a header and its name from now on; both are on the disk after a sync."""
        assert self._part is not None, "it is prepared"
        file_operations.write_at(self._descriptor, header.packed(), 0, self._part)
        file_operations.give_name(self._part, self.path)
        self._part, self._is_new, self.digest = None, True, header.digest

    def append(self, text: bytes) -> None:
        """Write a row; `sync` has it on the disk."""
        digest = digest_of(self.digest, text)
        head = ROW.pack(MARK, len(text), digest)
        row = b"".join((head, CHECK.pack(zlib.crc32(head)), text, END))
        self._make_room(self.end + len(row))
        try:
            file_operations.write_at(self._descriptor, row, self.end, self.path)
        except OSError:
            self._wipe(len(row))
            raise
        self.end, self.digest = self.end + len(row), digest

    def _wipe(self, count: int) -> None:
        """What is half written must not stand before a row that comes later."""
        try:
            self._clear(count)
        except OSError as error:
            raise OSError(errno.EIO, error.strerror) from error

    def _clear(self, count: int) -> None:
        """Zeros after the last row, the last of them first: who reads meanwhile sees the
        beginning of a row and then zeros.
        """
        for first in reversed(range(0, count, PAGE)):
            zeros = bytes(min(PAGE, count - first))
            file_operations.write_at(self._descriptor, zeros, self.end + first, self.path)

    def _make_room(self, end: int) -> None:
        """After the last row there is always a zero: a file that was cut shows.

        When half of the room is used, more of it is made beside the writer.
        """
        if end >= self._size:
            with self._growing:
                if end >= self._size:
                    self._grow(end)
        elif end >= self._size - self._step() // 2 and not self._is_growing():
            self._grower = threading.Thread(target=self._grow_ahead, daemon=True)
            self._grower.start()

    def _is_growing(self) -> bool:
        return self._grower is not None and self._grower.is_alive()

    def _grow_ahead(self) -> None:
        with self._growing, suppress(OSError):
            # What keeps it from growing is met again by whoever needs the room.
            if self._descriptor >= 0:
                self._grow(self._size)

    def _step(self) -> int:
        return max(STEP, min(self._size, MOST_STEPS * STEP))

    def _grow(self, end: int) -> None:
        size = ((end + self._step()) // STEP) * STEP
        file_operations.reserve(self._descriptor, self._size, size, self.path)
        self._size = size

    def clean(self) -> None:
        """Zeros in place of a row that was cut off in the middle."""
        with _opened(self.path) as file:
            last = file.last_nonzero(self.end)
        if last >= 0:
            self._clear(last + 1 - self.end)
            self.sync()

    def sync(self) -> None:
        """Have all rows on the disk, and the name of a file that has just begun."""
        file_operations.sync(self._descriptor, self.path)
        if not os.fstat(self._descriptor).st_nlink:
            raise OSError(errno.ENOENT, "it was removed")
        if self._is_new:
            file_operations.sync_folder(self.path.parent)
            self._is_new = False

    def close(self) -> None:
        """Let go of the file."""
        with self._growing:
            descriptor, self._descriptor = self._descriptor, -1
            if descriptor >= 0:
                os.close(descriptor)
        if self._part is not None:
            self._part.unlink(missing_ok=True)


def has_begun(path: Path) -> bool:
    """Whether a log file has a header or anything else in it.

    A power cut may have left the name of one that had just begun, and of which nobody was told.
    """
    with _opened(path) as file:
        return not file.size or any(file.read(0, HEADER_SIZE)) or file.last_nonzero(0) >= 0


class LogReader:
    """The rows of a log file, as far as they have been read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _opened(path) as file:
            self.header = _header(path, os.pread(file.descriptor, HEADER_SIZE, 0))
        self.end = HEADER_SIZE
        self.digest = self.header.digest

    def rows(self, *, is_growing: bool = False) -> Iterator[bytes]:
        """The texts of the rows that have not been read yet.

        A file that is growing may change while it is read: what looks damaged is looked at again,
        until it is damaged and the same as before.  Rows are only appended, so that two looks that
        are alike saw what was there between them.
        """
        before = b""
        while True:
            try:
                yield from self._whole_rows()
                return
            except DamageError:
                seen = self._rest() if is_growing else before
                if seen == before:
                    raise
                before = seen

    def _whole_rows(self) -> Iterator[bytes]:
        with _opened(self.path) as file:
            while (found := self._next(file)) is not None:
                text, digest = found
                self.end += ROW_SIZE + len(text) + 1
                self.digest = digest
                yield text

    def _rest(self) -> bytes:
        """A digest of all that has not been read yet, and of where it begins and ends."""
        with _opened(self.path) as file:
            found = hashlib.blake2b(b"%d %d" % (self.end, file.size))
            for offset in range(self.end, file.size, STEP):
                found.update(file.read(offset, STEP))
        return found.digest()

    def _next(self, file: _File) -> tuple[bytes, bytes] | None:
        head = file.read(self.end, ROW_SIZE)
        if len(head) < ROW_SIZE or not any(head):
            self._check_end(file, len(head))
            return None
        packed, check = head[: ROW.size], head[ROW.size :]
        mark, length, digest = ROW.unpack(packed)
        if mark != MARK or CHECK.pack(zlib.crc32(packed)) != check:
            self._check_cut(file, self.end + ROW_SIZE)
            return None
        row = file.read(self.end + ROW_SIZE, length + 1)
        text = row[:-1]
        if len(row) <= length or row[-1:] != END or digest_of(self.digest, text) != digest:
            self._check_cut(file, self.end + ROW_SIZE + length + 1)
            return None
        return text, digest

    def _check_end(self, file: _File, left: int) -> None:
        """There is no row here: nothing but zeros may follow, and one zero at the least."""
        if not left:
            raise self.damaged("its end was cut off")
        if file.last_nonzero(self.end) >= 0:
            raise self.damaged("a row is missing, and others follow")

    def _check_cut(self, file: _File, end: int) -> None:
        """A row that is not whole: cut off in the middle of being written, or damaged."""
        if file.size < end + 1:
            raise self.damaged("its end was cut off, or the length of a row changed")
        if file.last_nonzero(self.end) >= end - 1:
            raise self.damaged("a row is not as it was written")

    def damaged(self, how: str) -> DamageError:
        """The error for a file that is not as it was written."""
        return DamageError(f"{self.path} is damaged at byte {self.end:,}: {how}", hint=BEFORE)


class _File:
    """A file that is read at places."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self.descriptor).st_size
        self._first, self._piece = 0, b""
        """A piece of the file that was read, and where it begins."""

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)

    def read(self, offset: int, count: int) -> bytes:
        """What stands there, less at the end of the file."""
        end = min(offset + count, self.size)
        if not self._first <= offset or end > self._first + len(self._piece):
            self._first = offset
            self._piece = os.pread(self.descriptor, max(count, STEP), offset)
        return self._piece[offset - self._first : max(end - self._first, 0)]

    def last_nonzero(self, offset: int) -> int:
        """The place of the last byte from there on that is not zero; -1 if all are."""
        last = -1
        while offset < self.size:
            piece = self.read(offset, STEP)
            # Comparing is many times faster than looking for the last one, and most are zeros.
            kept = 0 if piece == bytes(len(piece)) else len(piece.rstrip(b"\0"))
            last = offset + kept - 1 if kept else last
            offset += len(piece)
        return last


def _opened(path: Path) -> _File:
    try:
        return _File(path)
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=BEFORE) from error


def _header(path: Path, found: bytes) -> LogHeader:
    packed, digest = found[: HEADER.size], found[HEADER.size :]
    if len(found) < HEADER_SIZE or digest_of(packed) != digest or packed[:20] != MAGIC:
        raise DamageError(f"{path} is damaged: it does not begin as a journal does", hint=BEFORE)
    _, number, seq, chain = HEADER.unpack(packed)
    return LogHeader(number, seq, chain)
