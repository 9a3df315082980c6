"""Files as streams of bytes: plain, gzip or zstd, standard input, or bytes in memory.

Whatever goes wrong while a file is opened or unpacked is an `InputError` that names the
file and says what to do.  Unpacking keeps a bounded piece in memory, however large the
text is.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from livefacts.errors import InputError

Source: TypeAlias = str | os.PathLike[str] | bytes
"""A path, "-" for standard input, or the text itself as bytes."""
Progress: TypeAlias = Callable[[int, int | None], None]
"""Is called with how many bytes of the file have been read, and how many there are if known."""

STANDARD_INPUT = "-"
MARKS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
"""Packings by extension, and the bytes that such files begin with."""
ZSTD_PIECE = 2048
"""Compressed bytes unpacked at a time: at most 64 MB, since zstd repeats up to 2**15 times."""


class SourceStream(io.RawIOBase):
    """The unpacked bytes of a source; errors on the way name the file."""

    def __init__(
        self, name: str, raw: IO[bytes], unpacked: io.BufferedIOBase | IO[bytes], size: int | None
    ) -> None:
        self.name = name
        self.size = size
        self._raw = raw
        self._unpacked = unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        with self._named_errors():
            return self._unpacked.readinto(buffer)  # type: ignore[union-attr]

    def readline(self, size: int | None = -1, /) -> bytes:
        with self._named_errors():
            return self._unpacked.readline(-1 if size is None else size)

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
    return "<stdin>" if source == STANDARD_INPUT else os.fspath(source)


def open_source(source: Source) -> SourceStream:
    """The bytes of a source, unpacked if its name ends in .gz or .zst.

    Standard input has no name: its first bytes decide.
    """
    name = name_of(source)
    if isinstance(source, bytes):
        text = io.BytesIO(source)
        return SourceStream(name, text, text, len(source))
    if source == STANDARD_INPUT:
        given = sys.stdin.buffer
        return SourceStream(name, given, _unpacked(given, Path(name + _packing_of(given))), None)
    raw = _open_file(Path(source))
    _check_packing(raw, Path(source))
    size = os.fstat(raw.fileno()).st_size if Path(source).is_file() else None
    return SourceStream(name, raw, _unpacked(raw, Path(source)), size)


def without_compression(path: Path) -> Path:
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


def _open_file(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
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
        raise InputError(f"cannot open {path}: {error.strerror}") from error


def _packing_of(raw: IO[bytes]) -> str:
    """The extension that fits what is to be read, if it is packed."""
    peek = getattr(raw, "peek", None)
    first = b"" if peek is None else peek(max(map(len, MARKS.values())))
    return next((suffix for suffix, mark in MARKS.items() if first.startswith(mark)), "")


def _check_packing(raw: io.BufferedReader, path: Path) -> None:
    """A packed file under a plain name would be rejected line by line: say so at once."""
    for suffix, mark in MARKS.items():
        if path.suffix.lower() != suffix and raw.peek(len(mark)).startswith(mark):
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
