"""Store paths: a folder or a file in a store, and what can be done with it.

A path is an address and the store that it is in, which knows how to get there.  It can be sent to
tasks; as a text it is its address, and what it takes to be let in is never shown.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import pyarrow as pa

from livefacts.errors import InputError
from livefacts.kb.stores.address import address_of, root_of
from livefacts.syntax.input.files import DistantFile, File, expand

NANOSECONDS_A_MILLISECOND = 1_000_000
NO_OPTIONS: Mapping[str, str] = {}
ANY_DEPTH = "**"


class FileState(NamedTuple):
    """What shows whether a file is the one that it was: size, and when it was written, in ns.

    A store that gives files a tag with each writing says that, too.
    """

    size: int
    written: int
    tag: str = ""

    @property
    def written_ms(self) -> int:
        """The same in milliseconds."""
        return self.written // NANOSECONDS_A_MILLISECOND


class Store(Protocol):
    """Where files are: everything that is done with them."""

    is_local: bool

    @property
    def options(self) -> Mapping[str, str]: ...
    def stream(self, address: str) -> IO[bytes]: ...
    def parquet(self, address: str) -> Any: ...
    def read_table(self, address: str, schema: pa.Schema) -> pa.Table: ...
    def write_table(
        self, address: str, table: pa.Table, options: Mapping[str, Any]
    ) -> FileState: ...
    def read(self, address: str) -> bytes: ...
    def write(self, address: str, data: bytes) -> None: ...
    def put_if_absent(self, address: str, data: bytes) -> bool: ...
    def read_put(self, address: str) -> bytes: ...
    def replace_put(self, address: str, data: bytes) -> None: ...
    def can_put_files(self, folder: str) -> bool: ...
    def list(self, address: str) -> dict[str, FileState | None]: ...
    def stat(self, address: str) -> FileState | None: ...
    def exists(self, address: str) -> bool: ...
    def make_folder(self, address: str) -> None: ...
    def delete(self, address: str) -> None: ...
    def delete_folder(self, address: str) -> None: ...


@dataclass(frozen=True, slots=True, order=True)
class StorePath:
    """A folder or a file in a store."""

    address: str
    store: Store = field(compare=False, repr=False)

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(f"{self.address}/{name}", self.store)

    def __str__(self) -> str:
        return self.address

    def __fspath__(self) -> str:
        return self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """What is behind the last dot of the name, with the dot."""
        return Path(self.name).suffix

    @property
    def parent(self) -> StorePath:
        """The folder that this is in."""
        return StorePath(self.address.rpartition("/")[0], self.store)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return self.store.is_local

    @property
    def options(self) -> dict[str, str]:
        """What the package of the tables is told of the store: keys, and where it is."""
        return dict(self.store.options)

    @property
    def folder(self) -> Path:
        """The same as a folder of this machine, for what is possible there alone."""
        if not self.is_local:
            raise InputError(
                f"{self.address} is on a remote store, and this needs a folder of this machine",
                hint="Reasoner.open(address, read_only=True) reads it, Pipeline(session, address) "
                "changes it, and reasoner.checkpoint(address) makes one",
            )
        return Path(self.address)

    # files

    def parquet(self) -> Any:
        """This Parquet file, of which parts can be read."""
        return self.store.parquet(self.address)

    def read_table(self, schema: pa.Schema) -> pa.Table:
        """All rows of this Parquet file."""
        return self.store.read_table(self.address, schema)

    def write_table(self, table: pa.Table, **options: Any) -> FileState:
        """Write rows as a Parquet file; nobody else may have its name."""
        return self.store.write_table(self.address, table, options)

    def read(self) -> bytes:
        """All bytes of this file."""
        return self.store.read(self.address)

    def write(self, data: bytes) -> None:
        """Write this file as a whole; whoever reads finds the old one or the new one."""
        self.store.write(self.address, data)

    def stream(self) -> IO[bytes]:
        """The bytes of this file, from the beginning."""
        return self.store.stream(self.address)

    def source(self) -> File:
        """The same for who reads texts."""
        if self.is_local:
            return self.address
        found = self.stat()
        return DistantFile(self.address, self.stream, None if found is None else found.size)

    def stat(self) -> FileState | None:
        """The state of this file; None if there is no such file."""
        return self.store.stat(self.address)

    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.store.exists(self.address)

    def delete(self) -> None:
        """Remove this file, if it is there."""
        self.store.delete(self.address)

    # folders

    def list(self) -> dict[str, FileState | None]:
        """The names in this folder, none if it is not there; files have a state, folders have none."""
        return self.store.list(self.address)

    def files(self, suffix: str) -> dict[str, FileState]:
        """The files of this folder whose names end so."""
        return {n: s for n, s in self.list().items() if s is not None and n.endswith(suffix)}

    def make_folder(self) -> None:
        """Have this folder, where a store has folders without files."""
        self.store.make_folder(self.address)

    def delete_folder(self) -> None:
        """Remove this folder and everything in it."""
        self.store.delete_folder(self.address)


def store_path(named: str | os.PathLike[str], options: Mapping[str, str] = NO_OPTIONS) -> StorePath:
    """The path that a text names; `options` are for its store, if it is a remote one."""
    if isinstance(named, StorePath):
        return named
    address = address_of(named)
    root = root_of(address)
    if not root:
        from livefacts.kb.stores.machine_files import LocalStore

        return StorePath(address, LocalStore())
    from livefacts.kb.stores.remote_objects import remote_store

    return StorePath(address, remote_store(root, options))


def expand_paths(
    named: str | os.PathLike[str], options: Mapping[str, str] = NO_OPTIONS
) -> list[StorePath]:
    """The files that a path or a glob stands for, in order; at least one."""
    # A glob may have parts that are no names of folders.
    path = store_path(named, options)
    if path.is_local:
        local = Path(path.address) if os.fspath(named).startswith("file:") else named
        return [store_path(found) for found in expand(local)]
    if not glob.has_magic(path.address):
        return [path]
    root = root_of(path.address)
    parts = path.address.removeprefix(root).strip("/").split("/")
    found = sorted(_matching(StorePath(root, path.store), parts))
    if not found:
        raise InputError(f"no file matches {path}", hint="check the path and the pattern")
    return found


def _matching(folder: StorePath, parts: list[str]) -> Iterator[StorePath]:
    """The files below a folder whose names fit a pattern, part by part."""
    first, *rest = parts
    if not glob.has_magic(first) and rest:
        yield from _matching(folder / first, rest)
        return
    if first == ANY_DEPTH:
        yield from _matching(folder, rest or ["*"])
    for name, state in folder.list().items():
        is_fitting = fnmatch.fnmatchcase(name, first) and not name.startswith(".")
        if state is None and first == ANY_DEPTH:
            yield from _matching(folder / name, parts)
        elif state is None and rest and is_fitting:
            yield from _matching(folder / name, rest)
        elif state is not None and not rest and is_fitting and first != ANY_DEPTH:
            yield folder / name
