"""The knowledge base as tables: open files, and one table that says which of them count.

Every table is a Delta table.  Delta commits one table at a time; the `commits` table,
written last, names the version of every other one, the batch id and the sequence number.
Whoever reads begins there: what it does not name does not exist.  A change that was cut
off leaves versions that nobody names, and the next one starts from those that are named.

Data files are written by tasks, under names of their own, and become part of a table when
the driver commits them.

    livefacts.json   what this folder is, and the version of its layout
    commits          seq, batch, kind, versions, notes
    terms            id, text
    exceptions       text, id: terms whose hash another one has
    facts_3          s, p, o, support, told: the state at the last compaction
    facts_n          pred, arguments, support, told: predicate facts
    changes          seq, s, p, o, support, told, sign: what has changed since
    rejects          seq, file, line, column, reason, text
    rules            seq, text
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from livefacts.engine.spark.deltalog import APPLICATION, Log, TakenError, can_append
from livefacts.engine.spark.deltalog import DataFile as DataFile
from livefacts.errors import InputError, LivefactsError

FORMAT = 1
MARKER = "livefacts.json"
LOCK = ".lock"
EXCHANGE = ".exchange"
COMMITS = "commits"
TRIPLES_TABLE, CHANGES, TERMS, EXCEPTIONS, REJECTS, RULES = (
    "facts_3",
    "changes",
    "terms",
    "exceptions",
    "rejects",
    "rules",
)
LONG, INT, TEXT = pa.int64(), pa.int32(), pa.string()
FACT = [("s", LONG), ("p", LONG), ("o", LONG), ("support", LONG), ("told", INT)]
SCHEMAS = {
    COMMITS: pa.schema(
        [("seq", LONG), ("batch", TEXT), ("kind", TEXT), ("versions", TEXT), ("notes", TEXT)]
    ),
    TERMS: pa.schema([("id", LONG), ("text", TEXT)]),
    EXCEPTIONS: pa.schema([("text", TEXT), ("id", LONG)]),
    TRIPLES_TABLE: pa.schema(FACT),
    CHANGES: pa.schema([("seq", LONG), *FACT, ("sign", INT)]),
    REJECTS: pa.schema(
        [
            ("seq", LONG),
            ("file", TEXT),
            ("line", LONG),
            ("column", LONG),
            ("reason", TEXT),
            ("text", TEXT),
        ]
    ),
    RULES: pa.schema([("seq", LONG), ("text", TEXT)]),
}
PREDICATES_TABLE = "facts_n"
SCHEMAS[PREDICATES_TABLE] = pa.schema(
    [("pred", LONG), ("arguments", pa.list_(LONG)), ("support", LONG), ("told", INT)]
)
APPEND, OVERWRITE = "append", "overwrite"
ROWS_PER_GROUP = 1 << 17
TIDY_EVERY = 200
"""Commits after which logs are summed up, so that they stay quick to read.

All of them at once: of a hundred changes, at most one pays for it.
"""


@dataclass(frozen=True, slots=True)
class Write:
    """What a change does to one table: files that are added, or take the place of all."""

    files: tuple[DataFile, ...]
    mode: str = APPEND


@dataclass(frozen=True, slots=True)
class Commit:
    """One line of the commits table: a state of the whole knowledge base."""

    seq: int = 0
    batch: str = ""
    kind: str = "new"
    versions: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


class ConflictError(LivefactsError):
    """Someone else is writing, or has written, to the same knowledge base."""


class KnowledgeBase:
    """The tables in one folder.

    `reached` is told each step of a commit as it is reached.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.reached: Callable[[str], None] = lambda step: None
        self.settings = self._open()
        self._open_tables: dict[str, Any] = {}
        self._logs: dict[str, Log] = {}
        self._known: tuple[int, list[Commit]] = (-1, [])

    def _open(self) -> dict[str, Any]:
        marker = self.path / MARKER
        if marker.is_file():
            return _read_marker(marker)
        if self.path.exists() and not self.path.is_dir():
            raise InputError(
                f"{self.path} is a file, and a knowledge base is a folder",
                hint="name a folder that is empty or not there yet",
            )
        if self.path.is_dir() and any(name.name != LOCK for name in self.path.iterdir()):
            raise InputError(
                f"{self.path} is not empty, and no knowledge base",
                hint="name a folder that is empty or not there yet",
            )
        return {}

    def create(self, settings: Mapping[str, Any]) -> None:
        """Make this folder a knowledge base, unless it is one."""
        if self.settings:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self.settings = {"format": FORMAT, **settings}
        part = self.path / f".{MARKER}.{os.getpid()}"
        part.write_text(json.dumps(self.settings, indent=2) + "\n", encoding="utf-8")
        part.replace(self.path / MARKER)

    # reading

    def commits(self) -> list[Commit]:
        """All commits, oldest first."""
        version = self._log(COMMITS).version()
        if version >= 0 and self._known[0] != version:
            table = self._delta(COMMITS)
            table.update_incremental()
            rows = table.to_pyarrow_table().sort_by("seq").to_pylist()
            self._known = table.version(), [_commit(row) for row in rows]
        return self._known[1]

    def last(self) -> Commit:
        """The present state."""
        commits = self.commits()
        return commits[-1] if commits else Commit()

    def commit(self, seq: int) -> Commit:
        """The state after a change."""
        for commit in self.commits():
            if commit.seq == seq:
                return commit
        raise LivefactsError(
            f"there is no version {seq} of {self.path}", hint=f"the last one is {self.last().seq}"
        )

    def files(self, table: str, commit: Commit) -> list[str]:
        """The data files of a table at a commit."""
        version = commit.versions.get(table)
        if version is None:
            return []
        from deltalake import DeltaTable

        names = DeltaTable(self.path / table, version=version).file_uris()
        return sorted(name.removeprefix("file://") for name in names)

    def read(self, table: str, commit: Commit) -> pa.Table:
        """A small table as a whole."""
        files = self.files(table, commit)
        schema = SCHEMAS[table]
        parts = [pq.read_table(name, schema=schema, partitioning=None) for name in files]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    # writing

    @contextmanager
    def writing(self) -> Iterator[Commit]:
        """Be the only writer; the state that the change starts from."""
        import fcntl

        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ConflictError(
                    f"someone else is writing to {self.path}",
                    hint="wait until that is done, then try again",
                ) from error
            yield self.last()

    @contextmanager
    def exchange(self) -> Iterator[Path]:
        """A folder for files between stages, for a while."""
        import shutil

        folder = self.path / EXCHANGE / uuid.uuid4().hex
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(
        self,
        start: Commit,
        kind: str,
        writes: Mapping[str, Write],
        *,
        batch: str = "",
        notes: Mapping[str, Any],
    ) -> Commit:
        """Commit every table, and then all of them together."""
        self.reached("data written")
        versions = dict(start.versions)
        for table, write in writes.items():
            versions[table] = self._commit_table(table, write, start.versions.get(table))
            self.reached(f"{table} committed")
        made = Commit(start.seq + 1, batch, kind, versions, {**start.notes, **notes})
        self._commit_all(made)
        self.reached("committed")
        if made.seq % TIDY_EVERY == 0:
            self._tidy()
        return made

    def _commit_table(self, name: str, write: Write, version: int | None) -> int:
        table = self._delta(name)
        if table is None:
            self._create_table(name, write.files)
            return 0
        log = self._log(name)
        if write.mode == APPEND and log.version() == version and self._has_links:
            return self._appended(log, write.files)
        table.update_incremental()
        mode = write.mode
        if version is None:
            # The table was made by a change that was cut off: none of it counts.
            mode = OVERWRITE
        elif table.version() != version:
            table.restore(version)
            table.update_incremental()
        actions = [_add_action(file) for file in write.files]
        table.create_write_transaction(actions, mode, delta_schema(SCHEMAS[name]))
        table.update_incremental()
        return int(table.version())

    def _create_table(self, name: str, files: Sequence[DataFile]) -> None:
        from deltalake.transaction import create_table_with_add_actions

        schema, actions = delta_schema(SCHEMAS[name]), [_add_action(file) for file in files]
        create_table_with_add_actions(
            str(self.path / name), schema, actions, mode="error", name=name
        )

    def _appended(self, log: Log, files: Sequence[DataFile], change: int | None = None) -> int:
        try:
            return log.append(files, change=change)
        except TakenError as error:
            raise ConflictError(
                f"someone else has written to {self.path} meanwhile", hint="try again"
            ) from error

    def _commit_all(self, commit: Commit) -> None:
        known = self.last().seq
        if known != commit.seq - 1:
            raise ConflictError(
                f"someone else has written version {known} of {self.path} meanwhile",
                hint="nothing was changed: try again",
            )
        rows = pa.Table.from_pylist([_row(commit)], schema=SCHEMAS[COMMITS])
        before, commits = self._known
        if before >= 0 and self._has_links:
            file = write_file(self.path / COMMITS, rows)
            version = self._appended(self._log(COMMITS), [file], commit.seq)
        else:
            version = self._write_commit(commit, rows)
        if version == before + 1:
            # Known without being read.
            self._known = version, [*commits, commit]

    def _write_commit(self, commit: Commit, rows: pa.Table) -> int:
        from deltalake import CommitProperties, Transaction, write_deltalake
        from deltalake.exceptions import CommitFailedError

        properties = CommitProperties(
            max_commit_retries=0, app_transactions=[Transaction(APPLICATION, commit.seq)]
        )
        try:
            write_deltalake(self.path / COMMITS, rows, mode="append", commit_properties=properties)
        except CommitFailedError as error:
            raise ConflictError(
                f"someone else has written to {self.path} meanwhile", hint="try again"
            ) from error
        return self._log(COMMITS).version()

    def _tidy(self) -> None:
        """Put commits into one file, and sum up the logs that have grown."""
        commits = self.commits()
        table = self._delta(COMMITS)
        table.update_incremental()
        table.optimize.compact()
        self._known = self._log(COMMITS).version(), commits
        for name in (COMMITS, *self.last().versions):
            if self._log(name).since_checkpoint() >= TIDY_EVERY // 2:
                table = self._delta(name)
                table.update_incremental()
                table.create_checkpoint()

    @cached_property
    def _has_links(self) -> bool:
        return can_append(self.path)

    def _log(self, name: str) -> Log:
        return self._logs.setdefault(name, Log(self.path / name))

    def _delta(self, name: str) -> Any:
        """An open table, or None if it was never made."""
        from deltalake import DeltaTable

        if name not in self._open_tables:
            if not (self.path / name / "_delta_log").is_dir():
                return None
            self._open_tables[name] = DeltaTable(self.path / name)
        return self._open_tables[name]


def delta_schema(schema: pa.Schema) -> Any:
    """The schema of a Delta table with these columns."""
    from deltalake import Schema

    return Schema.from_arrow(schema)


def write_file(folder: str | Path, table: pa.Table, bucket: int | None = None) -> DataFile:
    """Write rows as a data file; the bucket, if there is one, begins its name."""
    place = "" if bucket is None else f"b{bucket:05d}-"
    name = f"{place}{uuid.uuid4().hex}.parquet"
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / name
    pq.write_table(
        table,
        path,
        compression="zstd",
        row_group_size=ROWS_PER_GROUP,
        use_dictionary=[name for name in ("p", "support", "told") if name in table.column_names],
    )
    found = path.stat()
    return DataFile(name, found.st_size, len(table), found.st_mtime_ns // 1_000_000)


def bucket_of_file(name: str) -> int:
    """The bucket that a data file belongs to.

    >>> bucket_of_file("/kb/facts_3/b00012-0a.parquet")
    12
    """
    return int(Path(name).name[1:6])


def by_bucket(files: Sequence[str], buckets: int) -> list[list[str]]:
    """Data files by their bucket."""
    found: list[list[str]] = [[] for _ in range(buckets)]
    for name in files:
        found[bucket_of_file(name)].append(name)
    return found


def _add_action(file: DataFile) -> Any:
    from deltalake.transaction import AddAction

    stats = json.dumps({"numRecords": file.rows})
    return AddAction(file.name, file.size, {}, file.written, True, stats)


def _read_marker(marker: Path) -> dict[str, Any]:
    try:
        settings = json.loads(marker.read_text(encoding="utf-8"))
        layout = int(settings["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{marker} cannot be read", hint="restore it, or name another folder"
        ) from error
    if layout > FORMAT:
        raise InputError(
            f"{marker.parent} was written by a newer livefacts (layout {layout}, "
            f"this one knows {FORMAT})",
            hint="pip install --upgrade livefacts",
        )
    return dict(settings)


def _row(commit: Commit) -> dict[str, Any]:
    return {
        "seq": commit.seq,
        "batch": commit.batch,
        "kind": commit.kind,
        "versions": json.dumps(dict(commit.versions)),
        "notes": json.dumps(dict(commit.notes)),
    }


def _commit(row: Mapping[str, Any]) -> Commit:
    versions, notes = json.loads(row["versions"]), json.loads(row["notes"])
    return Commit(row["seq"], row["batch"], row["kind"], versions, notes)
