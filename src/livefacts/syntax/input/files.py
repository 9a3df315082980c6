"""Files as streams of bytes: plain, gzip or zstd, standard input, or bytes in memory.

Whatever goes wrong while a file is opened or unpacked is an `InputError` that names the
file and says what to do.  Unpacking keeps a bounded piece in memory, however large the
text is.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import IO, TypeAlias

from livefacts.errors import InputError


@dataclass(frozen=True, slots=True)
class DistantFile:
    """A file that is no file of this machine: its address, how it is opened, and its size."""

    name: str
    open: Callable[[], IO[bytes]] = field(repr=False)
    size: int | None = None


File: TypeAlias = str | os.PathLike[str] | DistantFile
Source: TypeAlias = File | bytes
"""A path, "-" for standard input, the text itself as bytes, or a file that someone else opens."""
Progress: TypeAlias = Callable[[int, int | None], None]
"""Is called with how many bytes of the file have been read, and how many there are if known."""

STANDARD_INPUT = "-"
MARKS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
"""Packings by extension, and the bytes that such files begin with."""
MARK = codecs.BOM_UTF8
FREELY = 16 << 20
MOST_TIMES = 100
"""A packed file may become 16 MB and a hundred times as large; texts of RDF become 10 to 50 times."""
ZSTD_PIECE = 2048
"""Compressed bytes unpacked at a time: at most 64 MB, since zstd repeats up to 2**15 times."""


class SourceStream(io.RawIOBase):
    """The unpacked bytes of a source; errors on the way name the file.

    A packed file may become at most `MOST_TIMES` as large, unless a number of bytes is given.
    """

    def __init__(
        self,
        name: str,
        raw: IO[bytes],
        unpacked: io.BufferedIOBase | IO[bytes],
        size: int | None,
        most: int | None = None,
    ) -> None:
        self.name = name
        self.size = size
        self._raw = raw
        self._unpacked = unpacked
        self._is_packed = unpacked is not raw
        self._most = most
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        with self._named_errors():
            count: int = self._unpacked.readinto(buffer)  # type: ignore[union-attr]
        self._count(count or 0)
        return count

    def readline(self, size: int | None = -1, /) -> bytes:
        with self._named_errors():
            line = self._unpacked.readline(-1 if size is None else size)
        self._count(len(line))
        return line

    def peek(self, size: int) -> bytes:
        """The bytes that come next, which stay there; perhaps fewer."""
        peek = getattr(self._unpacked, "peek", None)
        with self._named_errors():
            return b"" if peek is None else bytes(peek(size)[:size])

    def behind_mark(self) -> SourceStream:
        """Leave out the mark at the beginning that some programs write before UTF-8."""
        try:
            if self.peek(len(MARK)) == MARK:
                self.read(len(MARK))
        except BaseException:
            self.close()
            raise
        return self

    def _count(self, more: int) -> None:
        """A small file that unpacks to a huge one (a decompression bomb) is refused."""
        self._given += more
        if not self._is_packed or self._given <= FREELY:
            return
        packed = self._raw.tell() if self.size is None else self.size
        most = FREELY + MOST_TIMES * packed if self._most is None else self._most
        if self._given > most:
            raise InputError(
                f"{self.name} unpacks to more than {most:,} bytes",
                hint=f"it has {packed:,}; if that is meant, unpack it first, or allow more: unpacked=…",
            )

    def bytes_read(self) -> int:
        """How far the file itself, packed or not, has been read."""
        if self._raw.closed or self.size is None:
            return self.size or 0
        return self._raw.tell()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except EOFError as error:
            raise InputError(
                f"{self.name} ends in the middle of the compressed data",
                hint="the file is truncated: fetch it again",
            ) from error
        except (zlib.error, OSError, ValueError) as error:
            raise InputError(
                f"cannot read {self.name}: {error}",
                hint="the file is damaged or not what its name says; fetch or pack it again",
            ) from error

    def close(self) -> None:
        if self._raw is not sys.stdin.buffer:
            self._raw.close()
        super().close()


def name_of(source: Source) -> str:
    """What messages call a source."""
    if isinstance(source, bytes):
        return "<text>"
    if isinstance(source, DistantFile):
        return source.name
    return "<stdin>" if source == STANDARD_INPUT else os.fspath(source)


def open_source(source: Source, most: int | None = None) -> SourceStream:
    """The bytes of a source, unpacked if its name ends in .gz or .zst: to so many at `most`.

    Standard input has no name: its first bytes decide.
    """
    name = name_of(source)
    if isinstance(source, bytes):
        text = io.BytesIO(source.removeprefix(MARK))
        return SourceStream(name, text, text, len(source))
    if source == STANDARD_INPUT:
        given = sys.stdin.buffer
        unpacked = _unpacked(given, Path(name + _packing_of(given)))
        return SourceStream(name, given, unpacked, None, most).behind_mark()
    raw, size = _opened(source)
    _check_packing(raw, Path(name))
    return SourceStream(name, raw, _unpacked(raw, Path(name)), size, most).behind_mark()


def _opened(source: File) -> tuple[IO[bytes], int | None]:
    """The bytes of a file, and how many there are, if that is known."""
    if isinstance(source, DistantFile):
        return _open_distant(source), source.size
    raw = _open_file(Path(source))
    return raw, os.fstat(raw.fileno()).st_size if Path(source).is_file() else None


def _open_distant(source: DistantFile) -> IO[bytes]:
    try:
        return source.open()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {source.name}", hint="check the address") from error


def without_compression(path: PurePath) -> PurePath:
    """The name of a file without .gz or .zst at its end."""
    return path.with_suffix("") if path.suffix.lower() in MARKS else path


def expand(pattern: str | os.PathLike[str]) -> list[Path]:
    """The files that a path or a glob stands for, sorted; at least one."""
    text = os.fspath(pattern)
    if not glob.has_magic(text) or os.path.exists(text):
        return [Path(text)]
    found = sorted(glob.glob(text, recursive=True))
    if not found:
        raise InputError(f"no file matches {text}", hint="check the path and the pattern")
    return [Path(path) for path in found]


def is_rereadable(source: Source) -> bool:
    """Whether the same bytes come when a source is opened again: not of a pipe."""
    return isinstance(source, bytes | DistantFile) or (
        source != STANDARD_INPUT and Path(source).is_file()
    )


def utf8(text: str) -> bytes:
    """A text as bytes; one that no file could have is refused."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text has half of a character (a lone surrogate) at {error.start}",
            hint="read it with the encoding that it was written in",
        ) from None


def _open_file(path: Path) -> io.BufferedReader:
    """A file, or a pipe that someone else writes; devices without an end are refused."""
    try:
        raw = path.open("rb")
    except FileNotFoundError as error:
        raise no_file(path) from error
    except IsADirectoryError as error:
        raise InputError(
            f"{path} is a directory", hint=f'name its files, for example "{path / "*.nt"}"'
        ) from error
    except PermissionError as error:
        raise InputError(
            f"no permission to read {path}", hint="change its permissions, or copy it"
        ) from error
    except OSError as error:
        raise InputError(f"cannot open {path}: {error.strerror}", hint="check the path") from error
    except ValueError:
        raise no_file(path) from None
    if _is_endless(raw):
        raw.close()
        raise InputError(f"{path} is a device", hint='give a file or a pipe; "-" is standard input')
    return raw


def _is_endless(raw: IO[bytes]) -> bool:
    """Whether what was opened is a device, but for a terminal and the one that is empty."""
    mode = os.fstat(raw.fileno())
    if stat.S_ISBLK(mode.st_mode):
        return True
    return (
        stat.S_ISCHR(mode.st_mode)
        and not raw.isatty()
        and mode.st_rdev != os.stat(os.devnull).st_rdev
    )


def _packing_of(raw: IO[bytes]) -> str:
    """The extension that fits what is to be read, if it is packed."""
    peek = getattr(raw, "peek", None)
    first = b"" if peek is None else peek(max(map(len, MARKS.values())))
    return next((suffix for suffix, mark in MARKS.items() if first.startswith(mark)), "")


def _check_packing(raw: IO[bytes], path: Path) -> None:
    """A packed file under a plain name would be rejected line by line: say so at once."""
    suffix = _packing_of(raw)
    if suffix and path.suffix.lower() != suffix:
        raw.close()
        raise InputError(
            f"{path} is packed, and its name does not say so",
            hint=f"rename it to {path.name}{suffix}",
        )


def _unpacked(raw: IO[bytes], path: Path) -> io.BufferedIOBase | IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)
    return io.BufferedReader(_ZstdReader(raw, str(path))) if suffix == ".zst" else raw


class _ZstdReader(io.RawIOBase):
    """Unpacks zstd frames, one after the other, and notices when the last one is cut."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        import zstandard

        self._raw = raw
        self._name = name
        self._start_frame = zstandard.ZstdDecompressor().decompressobj
        self._broken = zstandard.ZstdError
        self._frame = self._start_frame()
        self._is_inside = False
        self._pending = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        while not self._pending:
            piece = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._is_inside = self._start_frame(), False
            piece = piece or self._raw.read(ZSTD_PIECE)
            if not piece:
                break
            self._unpack(piece)
        else:
            size = min(len(buffer), len(self._pending))
            buffer[:size] = self._pending[:size]
            self._pending = self._pending[size:]
            return size
        if self._is_inside:
            raise EOFError(self._name)
        return 0

    def _unpack(self, piece: bytes) -> None:
        try:
            self._pending = memoryview(self._frame.decompress(piece))
        except self._broken as error:
            raise ValueError(str(error)) from error
        self._is_inside = True


def no_file(path: str | os.PathLike[str]) -> InputError:
    """There is no such file; perhaps one beside it is meant."""
    import difflib  # only here: importing it takes longer than importing this module

    here = Path(path).parent
    names = [each.name for each in here.iterdir()] if here.is_dir() else []
    near = difflib.get_close_matches(Path(path).name, names, n=1, cutoff=0.8)
    hint = f"did you mean {here / near[0]}?" if near else "check the path"
    return InputError(f"there is no file {path}", hint=hint)
