"""The tables of a knowledge base: Delta tables, and `commits`, which says which versions count.

Every table is a Delta table.  Delta commits one table at a time; the `commits` table,
written last, names the version of every other one, the batch id and the sequence number.
Whoever reads begins there: what it does not name does not exist.  A change that was cut
off leaves versions that no commit names, and the next one starts from those that are named.

Data files are written by tasks, under names of their own, and become part of a table when
the driver commits them.  A fact is asserted where its `told` adds up to more than 0.

    livefacts.json   what this folder is, and the version of its layout
    commits          seq, time, batch, kind, rows, versions, notes
    terms            id, text
    exceptions       text, id: terms whose hash another one has
    facts_3          s, p, o, support, told: the state at the last compaction
    facts_n          pred, arguments, support, told: predicate facts
    changes          seq, s, p, o, support, told, sign: what has changed since
    changes_n        seq, pred, arguments, support, told, sign: of predicate facts
    graphs           seq, s, p, o, g, sign: which named graph asserts which triple
    rejects          seq, file, line, column, reason, text
    rejected_messages  seq, stream, topic, partition, offset, time, key, reason, text
    rules            seq, text
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from livefacts.errors import ConflictError, DamageError, LivefactsError
from livefacts.journal.change_log import JournalReader
from livefacts.journal.folder_lock import FolderLock
from livefacts.kb.buckets import bucket_of
from livefacts.kb.commits import Commit as Commit
from livefacts.kb.commits import CommitList, commit_of, row_of_commit
from livefacts.kb.delta_log import (
    APPLICATION,
    Log,
    TakenError,
    files_at,
    open_table,
    rows_at,
    size_of,
)
from livefacts.kb.delta_log import DataFile as DataFile
from livefacts.kb.failures import say_plainly
from livefacts.kb.file_digests import (
    digests_of,
    file_damages,
    file_digest,
    sync_tables,
)
from livefacts.kb.marker import COMMITS as COMMITS
from livefacts.kb.marker import read_settings, remove_leftovers, write_settings
from livefacts.kb.stores.file_path import NO_OPTIONS, StorePath, store_path
from livefacts.kb.stores.write_lease import WriteLease

TRIPLES_TABLE, CHANGES, GRAPHS, TERMS, EXCEPTIONS, REJECTS, RULES = (
    "facts_3",
    "changes",
    "graphs",
    "terms",
    "exceptions",
    "rejects",
    "rules",
)
LONG, INT, TEXT = pa.int64(), pa.int32(), pa.string()
FACT = [("s", LONG), ("p", LONG), ("o", LONG), ("support", LONG), ("told", INT)]
SCHEMAS = {
    COMMITS: pa.schema(
        [
            ("seq", LONG),
            ("time", pa.timestamp("us", "UTC")),
            ("batch", TEXT),
            ("kind", TEXT),
            ("rows", TEXT),
            ("versions", TEXT),
            ("notes", TEXT),
        ]
    ),
    TERMS: pa.schema([("id", LONG), ("text", TEXT)]),
    EXCEPTIONS: pa.schema([("text", TEXT), ("id", LONG)]),
    TRIPLES_TABLE: pa.schema(FACT),
    CHANGES: pa.schema([("seq", LONG), *FACT, ("sign", INT)]),
    GRAPHS: pa.schema(
        [("seq", LONG), ("s", LONG), ("p", LONG), ("o", LONG), ("g", LONG), ("sign", INT)]
    ),
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
REJECTED_MESSAGES = "rejected_messages"
SCHEMAS[REJECTED_MESSAGES] = pa.schema(
    [
        ("seq", LONG),
        ("stream", TEXT),
        ("topic", TEXT),
        ("partition", INT),
        ("offset", LONG),
        ("time", pa.timestamp("us", "UTC")),
        ("key", TEXT),
        ("reason", TEXT),
        ("text", TEXT),
    ]
)
PREDICATES_TABLE, PREDICATE_CHANGES = "facts_n", "changes_n"
PREDICATE = [("pred", LONG), ("arguments", pa.list_(LONG)), ("support", LONG), ("told", INT)]
SCHEMAS[PREDICATES_TABLE] = pa.schema(PREDICATE)
SCHEMAS[PREDICATE_CHANGES] = pa.schema([("seq", LONG), *PREDICATE, ("sign", INT)])
APPEND, OVERWRITE, COMPACT = "append", "overwrite", "compact"
ROWS_WORTH_A_FILE = 1_000
"""Of so many rows a bucket, or more, each bucket gets a file of its own: others need not read it."""
ROWS_PER_GROUP, TERMS_PER_GROUP = 1 << 17, 1 << 13
TIDY_EVERY = 200
"""Commits after which logs are summed up, so that they stay quick to read.

All of them at once: of a hundred changes, at most one pays for it.
"""
# Every version stays readable until `optimize` lets it go: Delta would forget after 30 days.
PROPERTIES = {"delta.enableExpiredLogCleanup": "false"}
JOURNAL = "journal"
"""What the marker says of a folder that has one, and a commit of where it goes on."""
STREAMS = "streams"
"""The note of how far streams have come, by name."""
TIME = "time"
"""The note of a commit that has time with it: the file that says what streams had brought."""
FILES = "files"
"""The note in which a checkpoint says which data files it has, by table, and their digests."""
OLDEST = "oldest"
"""What a commit notes of the oldest version that is kept; without it, all is, also before the first."""
"""The note in which a commit says which version is the oldest that is kept."""


# What a commit notes of how its conclusions were drawn.
CHECKPOINT = "checkpoint"
"""The kind of a commit that a reasoner writes."""
SINGLE, GENERAL = "single triples", "joins"
"""The paths: rules that follow single triples, or any rules."""
HANDED_OVER = "handed over"
"""Whether conclusions of any rules were drawn in the driver, without counters."""
COUNTED, LARGEST = "counted", "largest"
"""Whether the counters in the tables are those of the rules, and how large they may be."""
PLAIN = "plain"
"""Whether each fact is in the tables as asserted or derived, once, so that changes can be added."""
DERIVED = "derived"
"""How many of the facts are conclusions."""


@dataclass(frozen=True, slots=True)
class Write:
    """What a change does to one table: files that are added, or take the place of all.

    To compact a table is to put its rows into fewer files, whichever these are.  Files that are
    appended may hold the rows of some that they `replace`.
    """

    files: tuple[DataFile, ...] = ()
    mode: str = APPEND
    replaced: tuple[str, ...] = ()


class KnowledgeBase:
    """The tables in one folder, on this machine or on a remote store, which knows `options`.

    `reached` is called with each step of a commit as it is reached.
    """

    def __init__(
        self, path: str | os.PathLike[str], options: Mapping[str, str] = NO_OPTIONS
    ) -> None:
        self.path = store_path(path, options)
        self.options = options
        self.reached: Callable[[str], None] = lambda step: None
        self._turn = threading.RLock()
        self.is_held = False
        """Whether someone holds the lock for longer than one change."""
        self._lease: WriteLease | None = None
        self.settings = read_settings(self.path)
        self._open_tables: dict[str, Any] = {}
        self._logs: dict[str, Log] = {}
        self._known = CommitList()
        self._counts: dict[str, tuple[int, int]] = {}
        self._files: dict[str, tuple[int | None, list[StorePath]]] = {}
        """The data files of the version of each table that was asked for last."""

    def create(self, settings: Mapping[str, Any]) -> None:
        """Make this folder a knowledge base, unless it is one."""
        # Someone else may have made it one since this one was opened.
        self.settings = read_settings(self.path) or write_settings(self.path, settings)

    # reading

    def commits(self) -> list[Commit]:
        """All commits, oldest first."""
        version = self._log(COMMITS).version()
        if version >= 0 and self._known.version != version:
            table = self._delta(COMMITS)
            table.update_incremental()
            self._known = CommitList(table.version(), map(commit_of, _rows_of(table)))
        return self._known.listed

    def last(self) -> Commit:
        """The present state."""
        commits = self.commits()
        return commits[-1] if commits else Commit()

    def commit(self, seq: int) -> Commit:
        """The state after a change."""
        last = self.last()
        oldest = last.notes.get(OLDEST, 1)
        if 0 < seq < oldest:
            raise LivefactsError(
                f"version {seq} of {self.path} is no longer kept",
                hint=f"the oldest one is {oldest}; optimize(keep=...) let the others go",
            )
        found = self._known.numbered(seq)
        if found is None:
            raise LivefactsError(
                f"there is no version {seq} of {self.path}", hint=f"the last one is {last.seq}"
            )
        return found

    def of_batch(self, batch: str) -> Commit | None:
        """The commit of a batch, if it was made."""
        self.commits()
        return self._known.of_batch(batch)

    def files(self, table: str, commit: Commit) -> list[StorePath]:
        """The data files of a table at a commit."""
        version, found = self._files.get(table, (None, []))
        is_known = version == commit.versions.get(table)
        return found if is_known else self._listed(table, commit)

    def _listed(self, table: str, commit: Commit) -> list[StorePath]:
        """The same, out of the log of the table as it is on the disk now."""
        version = commit.versions.get(table)
        found = [] if version is None else files_at(self.path / table, version)
        self._files[table] = version, found
        return found

    def read(self, table: str, commit: Commit) -> pa.Table:
        """A small table as a whole."""
        schema = SCHEMAS[table]
        parts = [file.read_table(schema) for file in self.files(table, commit)]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def check(self, commit: Commit) -> None:
        """Compare data files with what a checkpoint said of them."""
        for damage in self.damages(commit, commit.notes.get(FILES, {}), file_digest):
            raise damage

    def damages(
        self, commit: Commit, tables: Iterable[str], digest: Callable[[StorePath], str]
    ) -> Iterator[DamageError]:
        """What of the data files of these tables is not as it was written."""
        files = {name: self._listed(name, commit) for name in tables}
        is_all = commit.kind == CHECKPOINT
        return file_damages(files, commit.notes.get(FILES, {}), is_all=is_all, digest=digest)

    def count(self, table: str, commit: Commit) -> int:
        """How many rows a table has at a commit, as its log says."""
        version = commit.versions.get(table)
        if version is None:
            return 0
        known = self._counts.get(table)
        if known is None or known[0] != version:
            known = self._counts[table] = version, rows_at(self.path / table, version)
        return known[1]

    def size(self) -> int:
        """How many bytes the data files of the present state have."""
        last = self.last()
        return sum(size_of(self.files(table, last)) for table in last.versions)

    def version(self, table: str) -> int:
        """The version that a table is at, whether it counts or not."""
        return self._log(table).version()

    # writing

    @contextmanager
    def writing(self, *, new: bool = False) -> Iterator[Commit]:
        """Be the only writer; the state that the change starts from.

        A folder that is no knowledge base yet is for those who make a `new` one.
        """
        self.settings = self.settings or read_settings(self.path)
        if not self.settings and not new:
            raise LivefactsError(f"there is nothing in {self.path} yet", hint="ingest files first")
        with self._turn, say_plainly(self.path):
            lock = None if self.is_held else self._locked()
            try:
                remove_leftovers(self.path)
                start = self.last()
                if lock is not None:
                    self._check_journal(start)
                    self._check_time(start)
                yield start
            finally:
                self._lease = None
                if lock is not None:
                    lock.release()

    def _locked(self) -> FolderLock | WriteLease:
        """Let nobody else write."""
        if not self.path.is_local:
            self._lease = WriteLease(self.path)
            return self._lease
        self.path.make_folder()
        return FolderLock(self.path.folder)

    def _check_lease(self) -> None:
        """Refuse to commit what someone else may have changed meanwhile."""
        if self._lease is not None:
            self._lease.check()

    def _check_journal(self, start: Commit) -> None:
        """Refuse to write beside a journal that has changes which the tables do not have."""
        # Someone may have begun a journal since this one was opened.
        if self.path.is_local and read_settings(self.path).get(JOURNAL):
            number = int(start.notes.get(JOURNAL, {}).get("log", 1))
            if any(JournalReader(self.path.folder, number).rows()):
                raise LivefactsError(
                    f"the journal of {self.path} has changes that its tables do not have yet",
                    hint="Reasoner.open(folder).checkpoint() writes them into the tables",
                )

    def _check_time(self, start: Commit) -> None:
        """Refuse to change facts beside streams, whose conclusions a reasoner alone can draw."""
        if TIME in start.notes:
            raise LivefactsError(
                f"{self.path} has streams and windows, which Spark does not follow",
                hint="Reasoner.open(folder) goes on with it",
            )

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
        self._check_lease()
        if not start.seq:
            # There from the beginning, for those who read facts and changes together.
            writes = {CHANGES: Write(), **writes}
        versions, rows = dict(start.versions), {}
        for table, write in writes.items():
            versions[table] = self._commit_table(table, write, start.versions.get(table))
            rows[table] = sum(file.rows for file in write.files)
            self.reached(f"{table} committed")
        if kind == CHECKPOINT:
            sync_tables(self.path, {name: [f.name for f in w.files] for name, w in writes.items()})
            files = {name: self.files(name, Commit(versions=versions)) for name in versions}
            notes = {**notes, FILES: digests_of(files, start.notes.get(FILES, {}))}
        found = {**start.notes, **notes}
        # The time is for people: nothing is ever derived from it.
        now = datetime.fromtimestamp(time.time(), UTC)
        made = Commit(start.seq + 1, batch, kind, versions, found, rows, now)
        self._commit_all(made)
        if kind == CHECKPOINT:
            sync_tables(self.path, {COMMITS: list((self.path / COMMITS).files(".parquet"))})
        self.reached("committed")
        if made.seq % TIDY_EVERY == 0:
            self.tidy(TIDY_EVERY // 2)
        return made

    def _commit_table(self, name: str, write: Write, version: int | None) -> int:
        table = self._delta(name)
        if table is None:
            self._create_table(name, write.files)
            return 0
        log = self._log(name)
        if write.mode == APPEND and log.version() == version and self.has_links:
            return self._appended(log, write)
        assert not write.replaced, "files are replaced where entries of the log are made here"
        self._take_back(name, table, version)
        before = int(table.version())
        if write.mode == COMPACT:
            table.optimize.compact()
        else:
            # The table was made by a change that was cut off: none of it counts.
            mode = OVERWRITE if version is None else write.mode
            actions, schema = [_add_action(file) for file in write.files], SCHEMAS[name]
            with self._refusing_others():
                table.create_write_transaction(
                    actions, mode, delta_schema(schema), commit_properties=_at_once()
                )
        if log.version() > before + 1:
            raise self._written_meanwhile()
        return log.version()

    def _create_table(self, name: str, files: Sequence[DataFile]) -> None:
        from deltalake.transaction import create_table_with_add_actions

        schema, actions = delta_schema(SCHEMAS[name]), [_add_action(file) for file in files]
        with self._refusing_others():
            create_table_with_add_actions(
                str(self.path / name),
                schema,
                actions,
                mode="error",
                name=name,
                configuration=PROPERTIES,
                storage_options=self.path.options,
                commit_properties=_at_once(),
            )

    def _take_back(self, name: str, table: Any, version: int | None) -> None:
        """Take a table back to a version, if changes that were cut off have gone beyond it."""
        if table.version() != self._log(name).version():
            table.update_incremental()
        if version is not None and table.version() != version:
            table.restore(version)
            table.update_incremental()

    def _appended(self, log: Log, write: Write, change: int | None = None) -> int:
        try:
            return log.append(write.files, replaced=write.replaced, change=change)
        except TakenError as error:
            raise self._written_meanwhile() from error

    def _commit_all(self, commit: Commit) -> None:
        self._check_lease()
        known = self.last().seq
        if known != commit.seq - 1:
            raise self._written_meanwhile()
        rows = pa.Table.from_pylist([row_of_commit(commit)], schema=SCHEMAS[COMMITS])
        before = self._known.version
        if before >= 0 and self.has_links:
            write = Write((write_file(self.path / COMMITS, rows),))
            version = self._appended(self._log(COMMITS), write, commit.seq)
        else:
            version = self._write_commit(commit, rows)
        if version == before + 1:
            # Known without being read.
            self._known.add(version, commit)

    def _write_commit(self, commit: Commit, rows: pa.Table) -> int:
        from deltalake import Transaction, write_deltalake

        table = self._delta(COMMITS)
        with self._refusing_others():
            # The table as it was looked at just now: whoever was quicker since makes this fail.
            write_deltalake(
                str(self.path / COMMITS) if table is None else table,
                rows,
                mode="error" if table is None else "append",
                configuration=None if table is not None else PROPERTIES,
                storage_options=self.path.options,
                commit_properties=_at_once(Transaction(APPLICATION, commit.seq)),
            )
        return self._log(COMMITS).version()

    @contextmanager
    def _refusing_others(self) -> Iterator[None]:
        """A commit of Delta that fails because someone else was quicker."""
        from deltalake.exceptions import CommitFailedError

        try:
            yield
        except CommitFailedError as error:
            raise self._written_meanwhile() from error

    def _written_meanwhile(self) -> ConflictError:
        return ConflictError(
            f"someone else has written version {self.last().seq} of {self.path} meanwhile",
            hint="nothing was changed: try again",
        )

    def tidy(self, grown: int = 1) -> None:
        """Put commits into one file, and sum up the logs that have grown by so many entries."""
        self._compact_commits()
        for name in (COMMITS, *self.last().versions):
            if self._log(name).since_checkpoint() >= grown:
                self._sum_up(name)

    def _compact_commits(self) -> None:
        self.commits()
        table = self._delta(COMMITS)
        table.update_incremental()
        table.optimize.compact()
        self.reached("commits compacted")
        self._known.version = self._log(COMMITS).version()

    def _sum_up(self, name: str) -> None:
        table = self._delta(name)
        table.update_incremental()
        table.create_checkpoint()

    def is_ahead(self, name: str, commit: Commit) -> bool:
        """Whether a table that a commit names has gone further, by a change that was cut off."""
        return self.version(name) != commit.versions[name]

    @cached_property
    def has_links(self) -> bool:
        """Whether entries of logs can be made here, without reading the logs."""
        return self.path.store.can_put_files(self.path.address)

    def _log(self, name: str) -> Log:
        return self._logs.setdefault(name, Log(self.path / name))

    def _delta(self, name: str) -> Any:
        """An open table, or None if it was never made."""
        from deltalake import DeltaTable

        if name not in self._open_tables:
            # Whoever makes a table makes the folder first, and may get no further.
            if not DeltaTable.is_deltatable(str(self.path / name), self.path.options):
                return None
            self._open_tables[name] = open_table(self.path / name)
        return self._open_tables[name]


def delta_schema(schema: pa.Schema) -> Any:
    """The schema of a Delta table with these columns."""
    from deltalake import Schema

    return Schema.from_arrow(schema)


def write_file(
    folder: str | os.PathLike[str], table: pa.Table, bucket: int | None = None
) -> DataFile:
    """Write rows as a data file; the bucket, if there is one, begins its name.

    Groups of terms are small: they are looked up one by one.
    """
    place = "" if bucket is None else f"b{bucket:05d}-"
    path = store_path(folder)
    name = f"{place}{uuid.uuid4().hex}.parquet"
    found = (path / name).write_table(
        table,
        compression="zstd",
        row_group_size=TERMS_PER_GROUP if path.name == TERMS else ROWS_PER_GROUP,
        use_dictionary=[name for name in ("p", "support", "told") if name in table.column_names],
    )
    return DataFile(name, found.size, len(table), found.written_ms)


def write_in_buckets(
    folder: str | os.PathLike[str], table: pa.Table, buckets: int
) -> tuple[DataFile, ...]:
    """Write rows as data files of one bucket each, by subject; as one file if they are few."""
    if "s" not in table.column_names or len(table) < max(1, buckets) * ROWS_WORTH_A_FILE:
        return (write_file(folder, table),)
    homes = bucket_of(table["s"].to_numpy(), buckets)
    return tuple(
        write_file(folder, table.filter(pa.array(homes == number)), number)
        for number in np.unique(homes).tolist()
    )


def _add_action(file: DataFile) -> Any:
    from deltalake.transaction import AddAction

    stats = json.dumps({"numRecords": file.rows})
    return AddAction(file.name, file.size, {}, file.written, file.is_new, stats)


def _at_once(*transactions: Any) -> Any:
    """A commit that does not try again on top of someone else's."""
    from deltalake import CommitProperties

    return CommitProperties(max_commit_retries=0, app_transactions=list(transactions))


def _rows_of(table: Any) -> list[dict[str, Any]]:
    """The rows of the commits table; again if its files were just put together."""
    try:
        found = table.to_pyarrow_table()
    except FileNotFoundError:
        table.update_incremental()
        found = table.to_pyarrow_table()
    rows: list[dict[str, Any]] = found.sort_by("seq").to_pylist()
    return rows
