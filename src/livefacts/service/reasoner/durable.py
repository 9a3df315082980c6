"""The durable reasoner: one that lives in a folder, and outlives its process.

The folder has tables, the state at some number, and a journal, every change since.  Opening it
reads the tables and repeats the journal; from then on each change is in the journal, synced,
before it is acknowledged.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from livefacts.errors import DamageError, ForgottenError, LivefactsError, OptionError
from livefacts.journal.change_log import (
    DURABILITIES,
    SYNC,
    Journal,
    JournalReader,
    JournalRow,
    ReadOnlyJournal,
)
from livefacts.journal.folder_lock import FolderLock
from livefacts.journal.log_file import LogReader
from livefacts.kb.failures import read_whole, say_plainly
from livefacts.kb.marker import read_settings
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.service.change.delta import Delta
from livefacts.service.folder.checkpoints import FOLD_AFTER, KEPT, Checkpoints, Kept
from livefacts.service.folder.creation import Creation, created
from livefacts.service.folder.history import History, JournalTail, check_number, no_change
from livefacts.service.folder.replay import Replay, made_again
from livefacts.service.folder.saved_state import SavedFolder, write_state
from livefacts.service.knowledge.recorder import KnownKeyError, Origin, Recorder, Signature
from livefacts.service.reasoner.facade import Reasoner
from livefacts.syntax.rule_sets import RuleSource

if TYPE_CHECKING:
    from typing import Unpack

    from livefacts.service.knowledge.recorder import SignedBy
    from livefacts.service.knowledge.state import State
    from livefacts.service.reasoner.verification import VerifyReport

T = TypeVar("T")


class DurableReasoner(Reasoner):
    """A reasoner in a folder, as `Reasoner.open` gives it.

    `durability` says when a change is on the disk: "sync", before it is acknowledged; "group",
    at most 50 ms later; "none", when the system likes.  Whatever it is, the end of the process
    loses nothing.  With `read_only`, someone else may write: changes are refused here, and reads
    see what the writer has written.  `same_as`, `start` and `tick` are those of a new folder.

    `keep` is how far `changes_since` and `at` reach back: a number of changes, a length of time
    such as "7 days", or the longer one of both; None keeps everything.  A journal that has grown
    by `fold_after` bytes, and by as many as the tables have, is folded by itself; None: never.

    The address of a knowledge base on a remote store can be read; the keys are in the environment
    or in `storage_options`, whose names are those of deltalake.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        rules: RuleSource | None = None,
        *,
        durability: str = SYNC,
        read_only: bool = False,
        keep: int | str | tuple[int, str] | None = KEPT,
        fold_after: int | None = FOLD_AFTER,
        same_as: str | None = None,
        start: Any = None,
        tick: str | None = None,
        upgrade: bool = False,
        storage_options: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        if durability not in DURABILITIES:
            raise OptionError(f"durability is one of {', '.join(DURABILITIES)}, not {durability!r}")
        folder = store_path(path, storage_options or {})
        lock = None if read_only else _locked(folder.folder)
        try:
            with read_whole(folder):
                saved = SavedFolder(folder)
            made = created(saved, Creation.of(rules, same_as, start, tick), upgrade, read_only)
            super().__init__(**options, **made.options(same_as))
            with read_whole(folder):
                log = _read(self._state, saved, made, read_only)
            if lock is not None:
                saved.hold(self._state)
            with say_plainly(folder):
                journal = _journal(saved, log, made, durability, self._state.seq, read_only)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        self._place: StorePath = folder
        self._log = log
        self._saved = saved
        self._journal = journal
        self._checkpoints: Checkpoints | None = None
        if isinstance(journal, Journal):
            self._checkpoints = Checkpoints(self._state, journal, Kept.of(keep), fold_after)
        writing = self._begin_recording(journal)
        self._let_go = weakref.finalize(self, _let_go, journal, lock, writing)

    def _begin_recording(self, journal: Journal | ReadOnlyJournal) -> threading.Lock:
        """From now on changes are in the journal; the lock of who writes a version."""
        state, checkpoints = self._state, self._checkpoints
        state.recorder = Recorder(journal, state.dictionary, state.reader)
        state.recorder.prefixes = dict(state.prefixes)
        state.recorder.offsets, state.recorder.keys = state.offsets, state.keys
        if checkpoints is None:
            return threading.Lock()
        state.recorder.when_written = checkpoints.look
        return checkpoints.writing

    # the end

    def close(self) -> None:
        """Let others write to the folder; changes are refused from now on."""
        state = self._state
        with state.changing:
            if self._let_go.alive and state.recorder is not None and not self.is_read_only:
                state.recorder.note_prefixes(state.prefixes, state.seq)
                state.note_reads()
        self._let_go()

    def __enter__(self) -> DurableReasoner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """The folder."""
        return self._place.folder

    @property
    def is_read_only(self) -> bool:
        """Whether changes are refused because someone else may write."""
        return isinstance(self._journal, ReadOnlyJournal)

    @property
    def seq(self) -> int:
        """The number of the last change."""
        return self._state.seq

    @property
    def offsets(self) -> dict[str, Origin]:
        """How far each source was read that has fed it, by the source's name."""
        return dict(self._state.offsets)

    def at_once(self, calls: Callable[[], T]) -> T:
        """Make several calls in one turn: they go to the disk together, and others wait for them."""
        state = self._state
        assert state.recorder is not None, "there is a journal"

        def made() -> T:
            with state.synced_together():
                return calls()

        return state.recorder.in_turn(state.changing, made)

    def sync(self) -> None:
        """Have all that was written on the disk, where a thread has put that off."""
        self._journal.sync(self._journal.written)

    # checkpoints

    def checkpoint(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        storage_options: Mapping[str, str] | None = None,
    ) -> int:
        """Fold the journal into the tables, so that opening is quick; the version's number.

        `path` is another folder, or an address on a remote store, with its options, which becomes a
        copy of what is here now.
        """
        if path is not None:
            return write_state(self._state, path, storage_options or {})
        self._journal.check()
        assert self._checkpoints is not None, "only a journal that is written to passes"
        return self._checkpoints.write()

    def verify(self) -> VerifyReport:
        """Compute everything anew, and compare; so are digests of every row and file that is kept."""
        return super().verify().with_damages(self._saved.damages())

    # what has happened

    def changes_since(self, seq: int) -> Iterator[Delta]:
        """The changes after the one with this number, oldest first."""
        return iter(History(self.path, self._saved).changes(self._state, seq))

    def timed_changes_since(self, seq: int) -> Iterator[tuple[int | None, Delta]]:
        """The same, each with the time point at which it was made; None before time began."""
        return History(self.path, self._saved).timed_changes(self._state, seq)

    def tail(self, seq: int) -> JournalTail:
        """The rows of the journal after the change with this number, also those that will come."""
        return History(self.path, self._saved).tail(self._state, seq)

    def on_row(self, read: Callable[[JournalRow], object]) -> int:
        """Call with each row of the journal from now on, as it is written; the number of the last change.

        The call is made by who makes the change, before it is on the disk.
        """
        state = self._state
        assert state.recorder is not None, "there is a journal"
        with state.changing:
            state.recorder.readers.append(read)
            return state.seq

    def keep_after(self, seq: int) -> None:
        """Keep all changes after this one, whatever `keep` says, until another one is named."""
        assert self._checkpoints is not None, "the folder is written"
        self._checkpoints.needed = seq

    def at(self, seq: int) -> Reasoner:
        """How things were after the change with this number; changes are refused there."""
        check_number(seq)
        saved = SavedFolder(self._place, seq)
        made = created(saved, Creation(), upgrade=False, read_only=True)
        found = Reasoner(**made.options(None))
        state = found._state
        with made_again(state):
            if saved.has_tables:
                saved.read_into(state)
            else:
                made.begin(state)
        if saved.has_journal:
            History(self.path, saved).make_until(state, saved.log_number, seq)
        state.recorder = Recorder(ReadOnlyJournal(self._place), state.dictionary, state.reader)
        return found

    def undo(self, seq: int, *, preview: bool = False) -> Delta:
        """Take one change back, by another: what it asserted and still stands goes, and
        what it retracted comes; `preview` only says what that would do.

        Where nothing of it is left, no change is made, and a hint of the Delta says so.
        """
        state = self._state
        assert state.recorder is not None, "there is a journal"
        return state.recorder.in_turn(state.changing, lambda: self._undone(seq, preview))

    def _undone(self, seq: int, preview: bool) -> Delta:
        state = self._state
        draft = History(self.path, self._saved).inverse(state, seq)
        if draft.is_idle:
            return no_change(state, f"nothing of change {seq} is left to take back")
        if preview:
            with state.accepting_violations():
                return draft.apply(keep=False)
        assert state.recorder is not None, "there is a journal"
        with state.recorder.noted(f"takes back change {seq}"):
            return draft.apply()

    def record(self, change: Callable[[], Delta], **signed: Unpack[SignedBy]) -> Delta:
        """Make a change by a call, such as `lambda: r.add(...)`, with its `author` and a `note`.

        With a `key` it is made once: where one was made with it before, also before a restart, the
        Delta of that one is given, with its number.  The last 10,000 keys are known.
        """
        state = self._state
        assert state.recorder is not None, "there is a journal"
        signature = Signature(**signed)
        try:
            return state.recorder.signed(signature, state.changing, change, lambda: state.seq)
        except KnownKeyError as known:
            return History(self.path, self._saved).signed(state, known.key, known.seq)

    def log(self) -> Iterator[JournalRow]:
        """The rows of the journal that are kept, oldest first."""
        return History(self.path, self._saved).all_rows()

    def refresh(self) -> int:
        """Follow what the writer of the folder has written since; the number of the last change.

        If that is no longer kept, an error says so, and everything stays as it was.
        """
        state = self._state
        if self.is_read_only and self._log is not None:
            try:
                with state.changing, read_whole(self.path):
                    replay = Replay(state, self.path, follows=True)
                    replay.follow(self._log.rows(is_growing=True))
            except DamageError as error:
                if not self._is_forgotten(self._log.log):
                    raise
                raise ForgottenError(
                    f"what happened just after change {state.seq} of {self.path} is no longer kept",
                    hint="open the folder again; keep= of its writer says for how long it is kept",
                ) from error
        return state.seq

    def _is_forgotten(self, log: LogReader) -> bool:
        """Whether a log file is not there, and a later version does not need it."""
        return not log.path.exists() and SavedFolder(self.path).log_number > log.header.number


def open_folder(
    path: str | os.PathLike[str], rules: RuleSource | None, **options: Any
) -> DurableReasoner:
    """The reasoner in a folder."""
    try:
        return DurableReasoner(path, rules, **options)
    except DamageError:
        # The writer may have removed what an older version needed, just now.
        if not options.get("read_only"):
            raise
        return DurableReasoner(path, rules, **options)


def _let_go(
    journal: Journal | ReadOnlyJournal, lock: FolderLock | None, writing: threading.Lock
) -> None:
    """Sync what is left, and let others write, once no version is being written."""
    try:
        with writing:
            journal.close()
    finally:
        if lock is not None:
            lock.release()


def _locked(folder: Path) -> FolderLock:
    with read_whole(folder):
        read_settings(store_path(folder))  # a folder of others is refused, and stays as it is
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LivefactsError(
            f"{folder} cannot be made: {error.strerror}", hint="name another folder"
        ) from error
    return FolderLock(folder)


def _read(
    state: State, saved: SavedFolder, made: Creation, read_only: bool
) -> JournalReader | None:
    """Give a new state what the folder has; the journal, read to its end."""
    with made_again(state) if saved.is_there else nullcontext():
        if saved.has_tables:
            saved.read_into(state)
        else:
            made.begin(state)
    if not read_only:
        state.note_unsaved()
    if not saved.has_journal:
        log = None
    else:
        log = JournalReader(saved.path.folder, saved.log_number)
        replay = Replay(state, saved.path.folder, follows=read_only)
        replay.follow(log.rows(is_growing=read_only))
    state.streams.listener.repeated(forget=read_only)
    return log


def _journal(
    saved: SavedFolder,
    log: JournalReader | None,
    made: Creation,
    durability: str,
    seq: int,
    read_only: bool,
) -> Journal | ReadOnlyJournal:
    if read_only:
        return ReadOnlyJournal(saved.path)
    if log is not None:
        return Journal.go_on(saved.path.folder, log.log, durability)
    journal = Journal.create(saved.path.folder, seq, durability)
    saved.begin_journal(made.settings())
    return journal
