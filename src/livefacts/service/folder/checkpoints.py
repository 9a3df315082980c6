"""Checkpoints: versions of a folder's tables, one after the other, beside the running writer.

What is to be written is captured while nobody changes anything, which takes some milliseconds;
it is written while changes go on.  It begins by itself when the journal has grown larger than
the tables.  With each version, history goes that is older than what is to be kept.
"""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from livefacts.errors import LivefactsError, LivefactsWarning, StoppedError
from livefacts.journal.change_log import Journal, remove_logs
from livefacts.kb.failures import say_plainly
from livefacts.kb.tables import JOURNAL, OLDEST, TIME, Commit, KnowledgeBase
from livefacts.kb.vacuum import vacuum_versions
from livefacts.model.durations import read_duration
from livefacts.service.folder.saved_state import (
    Captured,
    capture,
    log_after,
    seq_of,
    surveyed,
)
from livefacts.service.knowledge.state import OpenFolder, State

FOLD_AFTER = 8_000_000
"""A journal of fewer bytes is not folded by itself."""
KEPT = (10_000, "7 days")
BYTES_OF_KEY = 30
"""What a key takes in a journal beside its letters."""


@dataclass(frozen=True, slots=True)
class Kept:
    """How far history reaches back: so many changes and so many seconds, whichever is longer.

    None of both keeps everything.
    """

    changes: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, keep: int | str | tuple[int, str] | None) -> Kept:
        """What a user says: a number of changes, a duration, or both."""
        given = keep if isinstance(keep, tuple) else (keep,)
        numbers = [each for each in given if isinstance(each, int)]
        lengths = [read_duration(each) for each in given if isinstance(each, str)]
        if any(number < 0 for number in numbers) or not all(each.is_by_clock for each in lengths):
            raise LivefactsError(
                f"keep={keep!r} is neither a number of changes nor a length of time",
                hint='such as keep=10_000, keep="7 days", or both of them: (10_000, "7 days")',
            )
        return cls(
            max(numbers, default=None),
            max((each.amount / 1e9 for each in lengths), default=None),
        )

    def oldest(
        self, commits: list[Commit], seq: int, now: datetime, needed: int | None = None
    ) -> Commit | None:
        """The last version that nothing which is kept goes back behind; None if there is none.

        All changes after the one that is `needed` are kept.
        """
        behind = list[Commit | None]()
        limits = [] if self.changes is None else [seq - self.changes]
        limits += [] if needed is None or self == Kept() else [needed]
        for last in limits:
            behind.append(next((c for c in reversed(commits) if seq_of(c) <= last), None))
        if self.seconds is not None:
            then = now - timedelta(seconds=self.seconds)
            behind.append(next((c for c in reversed(commits) if c.time <= then), None))
        found = [commit for commit in behind if commit is not None]
        return min(found, key=seq_of) if found and len(found) == len(behind) else None


class Checkpoints:
    """Writes the versions of one folder; by itself, when the journal has grown by `after` bytes."""

    def __init__(self, state: State, journal: Journal, kept: Kept, after: int | None) -> None:
        self._state = state
        self._journal = journal
        self._kept = kept
        self._after = after
        self.needed: int | None = None
        """All changes after this one are kept, however far history reaches back else."""
        self.writing = threading.Lock()
        """Held by whoever writes a version."""
        self._thread: threading.Thread | None = None
        self._folded = 0
        """How many bytes the journal had when it was last folded."""
        self._due = after or 0
        """How many more it may have before it is folded again."""

    def write(self, *, only_if_due: bool = False) -> int:
        """Write the next version; its number."""
        state = self._state
        assert state.folder is not None, "the folder is held"
        assert state.unsaved is not None, "changes are noted"
        base = state.folder.base
        with self.writing, say_plainly(base.path):
            self._journal.check()
            if only_if_due and not self._is_due(base):
                return state.folder.seq
            try:
                captured, size = self._captured(state, state.folder)
                before, oldest = self._oldest(base, captured)
                state.folder = captured.write({OLDEST: oldest})
            except BaseException:
                # What was captured is in the journal alone: the next version is a whole one.
                state.unsaved.lose()
                raise
            self._folded = size
            if oldest > before:
                forget_history(base, oldest)
            return state.folder.seq

    def _captured(self, state: State, folder: OpenFolder) -> tuple[Captured, int]:
        """What there is at one moment, and how many bytes the journal has then."""
        survey = surveyed(state, folder)
        # Keys are in the new file, too: it has room for them.
        self._journal.prepare_next(sum(BYTES_OF_KEY + len(key) for key in [*state.keys]))
        with state.changing:
            self._journal.check()
            size = self._journal.bytes
            captured = capture(state, folder, self._journal, survey)
            if state.recorder is not None:
                state.recorder.note_keys(state.seq)
        # The file before, which has the keys as well, may go with this version.
        self._journal.sync_begun()
        return captured, size

    def _oldest(self, base: KnowledgeBase, new: Captured) -> tuple[int, int]:
        """The oldest version that was kept until now, and the one that is once there is a new one."""
        before = int(base.last().notes.get(OLDEST, 0))
        # How long history is kept is a matter of the clock on the wall.
        now = datetime.fromtimestamp(time.time(), UTC)
        commits = [commit for commit in base.commits() if JOURNAL in commit.notes]
        commits.append(Commit(new.folder.seq + 1, notes=new.saved.notes, time=now))
        found = self._kept.oldest(commits, new.seq, now, self.needed)
        return before, before if found is None else max(before, found.seq)

    # by itself

    def look(self) -> None:
        """Begin to write a version, if the journal has grown."""
        if self._after is None or self._journal.bytes - self._folded < self._due:
            return
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self.write_quietly, daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait until a version that is being written is there."""
        if self._thread is not None:
            self._thread.join()

    def _is_due(self, base: KnowledgeBase) -> bool:
        self._due = max(self._after or 0, base.size())
        return self._journal.bytes - self._folded >= self._due

    def write_quietly(self) -> None:
        """Write the next version if it is due; if that fails, the journal has everything."""
        try:
            self.write(only_if_due=True)
        except StoppedError:
            pass
        except (LivefactsError, OSError) as error:
            self._folded = self._journal.bytes
            warnings.warn(f"the journal was not folded: {error}", LivefactsWarning, stacklevel=1)


def forget_history(base: KnowledgeBase, oldest: int) -> None:
    """Remove what only versions before this one need."""
    kept = [commit for commit in base.commits() if commit.seq >= oldest]
    remove_logs(base.path.folder, log_after(kept[0]), seq_of(kept[0]))
    times = base.path / TIME
    for name in times.files(".json"):
        if int(name.removesuffix(".json")) < oldest:
            (times / name).delete()
    vacuum_versions(base, kept)
