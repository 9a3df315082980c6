"""The remote store: files on S3, HDFS, Azure or Google, through the package that commits there.

One package reads, writes and commits, so that one set of keys is enough.  An object is there as a
whole or not at all.  None of these stores lets a file be made under any name only where there is
none; but a table of Delta can be made only once, and so a first entry of its log is what is put.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from livefacts.kb.stores.file_path import FileState
from livefacts.kb.stores.remote_failures import said_plainly

if TYPE_CHECKING:
    from deltalake._internal import DeltaFileSystemHandler

READ_AHEAD = 8 << 20
"""Every look at a remote file costs a request: so much is read with each, of texts."""
FIRST_ENTRY = "_delta_log/00000000000000000000.json"
MOST_CONNECTIONS = 16
WITH_FOLDERS = "hdfs:"
"""Elsewhere folders go with their last file."""
DEFAULTS = {
    # A commit is an object that is made where there is none.
    "AWS_CONDITIONAL_PUT": "etag",
    # A store that is away is said to be so after seconds, not minutes.
    "max_retries": "6",
    "retry_timeout": "30s",
}


@dataclass(frozen=True, slots=True)
class RemoteStore:
    """A bucket, container or file system, and what it takes to be let in."""

    root: str
    given: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    is_local = False

    @property
    def options(self) -> Mapping[str, str]:
        """What the package is told: what is given, and some settings that are not in the environment."""
        known = {name.upper() for name, _ in self.given} | os.environ.keys()
        return {n: v for n, v in DEFAULTS.items() if n.upper() not in known} | dict(self.given)

    @contextmanager
    def _asked(self, address: str) -> Iterator[tuple[DeltaFileSystemHandler, str]]:
        """The connection, and the path of an address there."""
        with said_plainly(address, self.options):
            yield _connection(self.root, self.given), address.removeprefix(self.root).strip("/")

    def open(self, address: str) -> Any:
        """A file, of which any part can be read."""
        with self._asked(address) as (connection, path):
            return pa.PythonFile(connection.open_input_file(path), mode="r")

    def stream(self, address: str) -> IO[bytes]:
        """The bytes of a file, from the beginning, with a look ahead; any place can be sought."""
        opened = _Opened(self.open(address), self, address)
        return cast(IO[bytes], io.BufferedReader(opened, READ_AHEAD))

    def parquet(self, address: str) -> Any:
        """A Parquet file, of which parts can be read."""
        with self._asked(address):
            return pq.ParquetFile(self.open(address))

    def read_table(self, address: str, schema: pa.Schema) -> pa.Table:
        """All rows of a Parquet file."""
        with self._asked(address):
            return pq.read_table(self.open(address), schema=schema, partitioning=None)

    def write_table(self, address: str, table: pa.Table, options: Mapping[str, Any]) -> FileState:
        """Write rows as a Parquet file."""
        made = pa.BufferOutputStream()
        pq.write_table(table, made, **options)
        data = made.getvalue()
        self.write(address, data.to_pybytes())
        return FileState(data.size, time.time_ns())

    def read(self, address: str) -> bytes:
        """All bytes of a file."""
        with self._asked(address), self.open(address) as file:
            return cast(bytes, file.read())

    def write(self, address: str, data: bytes) -> None:
        """Write a file as a whole; whoever reads finds the old one or the new one."""
        with self._asked(address) as (connection, path):
            out: Any = connection.open_output_stream(path)
            out.write(data)
            out.close()

    def put_if_absent(self, address: str, data: bytes) -> bool:
        """Put this content under a name, unless someone has put something; whether it was put."""
        from deltalake import CommitProperties, Schema
        from deltalake.exceptions import CommitFailedError, DeltaError
        from deltalake.transaction import create_table_with_add_actions

        with said_plainly(address, self.options):
            try:
                create_table_with_add_actions(
                    address,
                    Schema.from_arrow(pa.schema([("content", pa.string())])),
                    [],
                    description=data.decode(),
                    storage_options=dict(self.options),
                    # Someone who was quicker is no reason to try again behind them.
                    commit_properties=CommitProperties(max_commit_retries=0),
                )
            except CommitFailedError:
                return False
            except DeltaError as error:
                if "already exists" in str(error):
                    return False
                raise
        return True

    def read_put(self, address: str) -> bytes:
        """What was put under a name."""
        for line in self.read(f"{address}/{FIRST_ENTRY}").splitlines():
            action = json.loads(line)
            if "metaData" in action:
                return str(action["metaData"]["description"]).encode()
        raise ValueError(f"nothing was put at {address}")

    def replace_put(self, address: str, data: bytes) -> None:
        """Write something else in place of what was put under a name."""
        said = {"metaData": {"description": data.decode()}}
        self.write(f"{address}/{FIRST_ENTRY}", json.dumps(said).encode())

    def can_put_files(self, folder: str) -> bool:
        """Whether a file can be put where there is none, under its very name."""
        return False

    def list(self, address: str) -> dict[str, FileState | None]:
        """The names in a folder, none if it is not there; files have a state, folders have none."""
        with self._asked(address) as (connection, path):
            found = connection.get_file_info_selector(path, allow_not_found=True)
        return {info.base_name: _state(info) for info in found}

    def stat(self, address: str) -> FileState | None:
        """The state of a file; None if there is no such file."""
        with self._asked(address) as (connection, path):
            return _state(*connection.get_file_info([path]))

    def exists(self, address: str) -> bool:
        """Whether there is a file."""
        try:
            with self._asked(address) as (connection, path):
                connection.open_input_file(path)
        except FileNotFoundError:
            return False
        return True

    def make_folder(self, address: str) -> None:
        """Folders come with their first file."""

    def delete(self, address: str) -> None:
        """Remove a file, if it is there."""
        with self._asked(address) as (connection, path):
            try:
                connection.delete_file(path)
            except FileNotFoundError:
                return

    def delete_folder(self, address: str) -> None:
        """Remove a folder and everything in it."""
        with self._asked(address) as (connection, path):
            connection.delete_dir(path)
        if self.root.startswith(WITH_FOLDERS):
            for name in self.list(address):
                self.delete_folder(f"{address}/{name}")
            self.delete(address)


class _Opened(io.RawIOBase):
    """A remote file as a stream; what goes wrong on the way is said plainly."""

    def __init__(self, file: Any, store: RemoteStore, address: str) -> None:
        self._file = file
        self._store = store
        self._address = address

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any, /) -> int:
        with said_plainly(self._address, self._store.options):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def remote_store(root: str, options: Mapping[str, str]) -> RemoteStore:
    """The store at a root, with these options."""
    return RemoteStore(root, tuple(sorted((str(n), str(v)) for n, v in options.items())))


@lru_cache(maxsize=MOST_CONNECTIONS)
def _connection(root: str, given: tuple[tuple[str, str], ...]) -> DeltaFileSystemHandler:
    """The connection of this process to a store."""
    # What deltalake.fs makes of it hands over memory, where bytes are written, that this refuses.
    from deltalake._internal import DeltaFileSystemHandler

    return DeltaFileSystemHandler(root, dict(RemoteStore(root, given).options))


def _state(info: Any) -> FileState | None:
    if info.type != pafs.FileType.File:
        return None
    return FileState(info.size, info.mtime_ns or 0)
