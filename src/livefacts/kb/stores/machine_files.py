"""The local store: files of this machine, or of a file system that it has mounted."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from livefacts.journal import file_operations
from livefacts.kb.stores.file_path import FileState


@dataclass(frozen=True, slots=True)
class LocalStore:
    """Files of this machine."""

    is_local = True

    @property
    def options(self) -> Mapping[str, str]:
        """There are none."""
        return MappingProxyType({})

    def stream(self, address: str) -> IO[bytes]:
        """The bytes of a file, from the beginning, with a look ahead; any place can be sought."""
        return open(address, "rb")

    def parquet(self, address: str) -> Any:
        """A Parquet file, of which parts can be read."""
        return pq.ParquetFile(address)

    def read_table(self, address: str, schema: pa.Schema) -> pa.Table:
        """All rows of a Parquet file."""
        return pq.read_table(address, schema=schema, partitioning=None)

    def write_table(self, address: str, table: pa.Table, options: Mapping[str, Any]) -> FileState:
        """Write rows as a Parquet file; its folder is made."""
        os.makedirs(os.path.dirname(address), exist_ok=True)
        pq.write_table(table, address, **options)
        return _state(os.stat(address))

    def read(self, address: str) -> bytes:
        """All bytes of a file."""
        with open(address, "rb") as file:
            return file.read()

    def write(self, address: str, data: bytes) -> None:
        """Write a file as a whole; whoever reads finds the old one or the new one."""
        path = Path(address)
        path.parent.mkdir(parents=True, exist_ok=True)
        file_operations.replace_file(path, data)

    def put_if_absent(self, address: str, data: bytes) -> bool:
        """Make a file with this content, unless there is one; whether it was made."""
        part = f"{os.path.dirname(address)}/_commit_{uuid.uuid4().hex}.json.tmp"
        with open(part, "wb") as file:
            file.write(data)
        try:
            os.link(part, address)
        except FileExistsError:
            return False
        finally:
            os.unlink(part)
        return True

    def read_put(self, address: str) -> bytes:
        """What was put there."""
        return self.read(address)

    def replace_put(self, address: str, data: bytes) -> None:
        """Write something else in place of what was put there."""
        self.write(address, data)

    def can_put_files(self, folder: str) -> bool:
        """Whether a file can be put where there is none, under its very name: by links."""
        first, second = (os.path.join(folder, f".{uuid.uuid4().hex}") for _ in range(2))
        with open(first, "wb"):
            pass
        try:
            os.link(first, second)
        except OSError:
            return False
        else:
            os.unlink(second)
            return True
        finally:
            os.unlink(first)

    def list(self, address: str) -> dict[str, FileState | None]:
        """The names in a folder, none if it is not there; files have a state, folders have none."""
        try:
            with os.scandir(address) as entries:
                return {e.name: None if e.is_dir() else _state(e.stat()) for e in entries}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def stat(self, address: str) -> FileState | None:
        """The state of a file; None if there is no such file."""
        try:
            found = os.stat(address)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return None if stat.S_ISDIR(found.st_mode) else _state(found)

    def exists(self, address: str) -> bool:
        """Whether there is a file."""
        return os.path.isfile(address)

    def make_folder(self, address: str) -> None:
        """Have a folder there."""
        os.makedirs(address, exist_ok=True)

    def delete(self, address: str) -> None:
        """Remove a file, if it is there."""
        Path(address).unlink(missing_ok=True)

    def delete_folder(self, address: str) -> None:
        """Remove a folder and everything in it."""
        shutil.rmtree(address, ignore_errors=True)


def _state(found: os.stat_result) -> FileState:
    return FileState(found.st_size, found.st_mtime_ns)
