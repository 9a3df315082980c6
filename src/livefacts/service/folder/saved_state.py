"""Saved states: a reasoner's state read from it, and written to it as the next version."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from livefacts.engine.contract import IN_DEFAULT, TRIPLES, Facts
from livefacts.errors import DamageError, LivefactsError
from livefacts.journal.change_log import Journal, journal_damages
from livefacts.kb.failures import read_whole
from livefacts.kb.file_digests import file_digest, read_noted, write_noted
from livefacts.kb.stores.file_path import NO_OPTIONS
from livefacts.kb.tables import JOURNAL, OLDEST, TIME, Commit
from livefacts.kb.unsaved_changes import WholeFacts, own
from livefacts.service.change.assertions import distinct
from livefacts.service.knowledge.draft import Draft
from livefacts.service.knowledge.recorder import Origin
from livefacts.service.knowledge.state import OpenFolder, State
from livefacts.service.merging.equality import RULES, with_equality
from livefacts.service.streams import saved_time
from livefacts.service.streams.event_time import restored_events
from livefacts.service.streams.saved_time import SavedTime
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import TermReader

if TYPE_CHECKING:
    from livefacts.kb.checkpoint import SavedState
    from livefacts.service.folder.survey import FactSurvey

SAME_AS = "same as"
"""What a commit notes of how equality is treated."""
PREFIXES, WATCHED, OFFSETS = "prefixes", "watches", "offsets"
NO_NOTES: Mapping[str, Any] = {}


class SavedFolder:
    """A knowledge base in a folder, to be read; the last version that has no change after `upto`."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        upto: int | None = None,
        options: Mapping[str, str] = NO_OPTIONS,
    ) -> None:
        from livefacts.kb.tables import KnowledgeBase

        self._base = KnowledgeBase(path, options)
        self.path = self._base.path
        self.settings = self._base.settings
        self._commit = self._base.last()
        if upto is not None:
            self._commit = self._last_until(upto)
        self.same_as: str = self._commit.notes.get(SAME_AS, RULES)
        """How equality was treated by the reasoner that wrote it."""

    def _last_until(self, seq: int) -> Commit:
        oldest = int(self._commit.notes.get(OLDEST, 0))
        fitting = [c for c in self._base.commits() if seq_of(c) <= seq and c.seq >= oldest]
        if not fitting and oldest:
            raise LivefactsError(
                f"how things were after change {seq} of {self.path} is no longer kept",
                hint="ask for later changes; keep= says for how long they are kept",
            )
        return fitting[-1] if fitting else Commit()

    @property
    def is_there(self) -> bool:
        """Whether the folder is a knowledge base."""
        return bool(self.settings)

    @property
    def has_tables(self) -> bool:
        """Whether a version was ever written."""
        return bool(self._commit.seq)

    @property
    def has_journal(self) -> bool:
        """Whether changes since that version are in a journal."""
        return bool(self.settings.get(JOURNAL))

    @property
    def log_number(self) -> int:
        """The log file in which the journal goes on after the last version."""
        return log_after(self._commit)

    def begin_journal(self, settings: Mapping[str, Any]) -> None:
        """From now on the folder has a journal."""
        from livefacts.kb.marker import write_settings

        known = self.settings or {"buckets": 2 * (os.cpu_count() or 1)}
        self.settings = write_settings(self.path, {**known, JOURNAL: 1, **settings})

    def hold(self, state: State) -> None:
        """Someone has the lock for longer: checkpoints of the state go here."""
        self._base.is_held = True
        state.folder = OpenFolder(self._base, self._commit.seq)

    def read_into(self, state: State) -> None:
        """Give a new state the rules, the asserted facts and the time of the last version."""
        from livefacts.kb.checkpoint import read_base

        draft = Draft(state)
        with state.dictionary.passing_but_labels:
            stored = read_base(self._base, state.dictionary, self._commit)
        draft.restore(with_equality(stored.program, state.same_as))
        draft.intake.take_rows(stored.facts, stored.quads)
        draft.apply()
        if TIME in self._commit.notes:
            self._resume(state)
        state.prefixes = dict(stored.commit.notes.get(PREFIXES, stored.program.prefixes))
        for name, (text, seq) in stored.commit.notes.get(WATCHED, {}).items():
            state.watched.set(name, text, seq)
        noted = stored.commit.notes.get(OFFSETS, ())
        state.offsets = {origin.source: origin for origin in (Origin(*each) for each in noted)}
        state.seq = seq_of(stored.commit)
        # Labels of blank nodes that come later must not be those that are there already.
        state.scopes = (f"{state.seq}r{number}" for number in count(1))
        state.folder = OpenFolder(self._base, stored.commit.seq)

    def damages(self) -> list[DamageError]:
        """What of all versions and changes that are kept is not as it was written."""
        while True:
            last = self._base.last()
            found = {each.message: each for each in self._damages(last)}
            # Who writes the next version may remove what was kept until then.
            if not found or self._base.last().seq == last.seq:
                return list(found.values())

    def _damages(self, last: Commit) -> Iterator[DamageError]:
        oldest = int(last.notes.get(OLDEST, 0))
        kept = [commit for commit in self._base.commits() if oldest <= commit.seq <= last.seq]
        digest = cache(file_digest)
        for commit in kept:
            try:
                with read_whole(self.path):
                    yield from self._base.damages(commit, commit.versions, digest)
                    if TIME in commit.notes:
                        read_noted(self.path, commit.notes[TIME])
            except DamageError as error:
                yield error
        if self.has_journal:
            first = log_after(kept[0]) if oldest else 1
            yield from journal_damages(self.path.folder, first, log_after(last))

    def _resume(self, state: State) -> None:
        """Go on from the moment at which the version was written."""
        found = read_noted(self.path, self._commit.notes[TIME])
        moment = saved_time.unpacked(found, state.dictionary)
        go_on_at(state, moment)
        if moment.queries is not None:
            state.queries().resume(moment.queries)
        if moment.events is not None:
            state.streams.events = restored_events(moment.events, state.streams)


def go_on_at(state: State, moment: SavedTime) -> None:
    """A state whose time has not begun goes on at a moment."""
    try:
        state.moved(state.streams.change(saved_time.resume(state.streams, moment)))
    finally:
        state.complete()
    state.streams.beginnings.resume(moment.began)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder of which anything that is kept is not as it was written."""
    with read_whole(Path(path)):
        found = SavedFolder(path).damages()
    if found:
        raise DamageError("\n".join(each.message for each in found), hint=found[0].hint)


def log_after(commit: Commit) -> int:
    """The log file in which the journal goes on after a version."""
    return int(commit.notes.get(JOURNAL, {}).get("log", 1))


def seq_of(commit: Commit) -> int:
    """The number of the last change in a version; each version that Spark wrote is one, too."""
    noted = commit.notes.get(JOURNAL, {"seq": 0, "commit": 0})
    return int(noted["seq"]) + commit.seq - int(noted["commit"])


def write_state(
    state: State, path: str | os.PathLike[str] | None, options: Mapping[str, str] = NO_OPTIONS
) -> int:
    """Write a state as the next version of its folder, or into a new one; the version's number."""
    folder = state.folder if path is None else _new_folder(path, options)
    if folder is None:
        raise LivefactsError(
            "this reasoner was not opened from a folder",
            hint="Reasoner.open(path), or checkpoint(path) to make one",
        )
    with state.changing:
        captured = capture(state, folder)
    written = captured.write()
    if state.recorder is None:
        state.folder = written
    return written.seq


def surveyed(state: State, folder: OpenFolder) -> FactSurvey:
    """What the next version of a folder needs, as far as can be known beside changes."""
    from livefacts.kb.checkpoint import can_be_added_to
    from livefacts.service.folder.survey import FactSurvey

    unsaved, last = state.unsaved, folder.base.last()
    assert unsaved is not None, "changes are noted"
    survey = FactSurvey(state, unsaved)
    survey.look_around(
        lambda: (
            not can_be_added_to(last, is_closed=not survey.has_time)
            or unsaved.is_much(state.shown, int(last.notes["changed"]))
        )
    )
    return survey


def capture(
    state: State,
    folder: OpenFolder,
    journal: Journal | None = None,
    survey: FactSurvey | None = None,
) -> Captured:
    """What there is now, while nobody changes anything; it can be written beside all changes."""
    from livefacts.kb.checkpoint import SavedState
    from livefacts.kb.schema_closure import constants_of

    constants = state.dictionary.encode(constants_of(state.program.rules))
    has_time = state.streams.has_begun or state.streams.events is not None
    # What follows from time is found anew, and so are conclusions beside it.
    facts = _whole(state, derived=not has_time) if survey is None else survey.end()
    notes: dict[str, Any] = {SAME_AS: state.same_as, PREFIXES: dict(state.prefixes)}
    notes[WATCHED] = {name: list(each) for name, each in state.watched.known.items()}
    if state.offsets:
        notes[OFFSETS] = [origin.plain() for origin in state.offsets.values()]
    if journal is not None:
        journal.begin_next(state.seq)
        noted = {"seq": state.seq, "log": journal.number, "commit": folder.seq + 1}
        notes[JOURNAL] = noted
    time = saved_time.moment_of(state.streams) if has_time else None
    if facts is None:
        facts = _whole(state, derived=not has_time)
    saved = SavedState(state.program, facts, constants, not has_time, notes)
    return Captured(folder, state.seq, saved, state.dictionary.reader(), time)


@dataclass(frozen=True, slots=True)
class Captured:
    """A state as it was at one moment, for the next version of a folder."""

    folder: OpenFolder
    seq: int
    saved: SavedState
    terms: TermReader
    time: SavedTime | None

    def write(self, notes: Mapping[str, Any] = NO_NOTES) -> OpenFolder:
        """Write it, with more notes; the folder with the new version."""
        from livefacts.kb.checkpoint import write_base

        base = self.folder.base
        with base.writing(new=True) as start:
            base.create({"buckets": 2 * (os.cpu_count() or 1)})
            if start.seq != self.folder.seq:
                raise LivefactsError(
                    f"version {start.seq} of {base.path} was written since version "
                    f"{self.folder.seq} was opened",
                    hint="open it again, and make the changes there",
                )
            saved = replace(self.saved, notes={**self.saved.notes, **notes, **self._time(start)})
            commit = write_base(base, start, self.terms, saved)
        return OpenFolder(base, commit.seq)

    def _time(self, start: Commit) -> dict[str, Any]:
        """What the commit notes of the file that has the time."""
        if self.time is None:
            return {}
        name = f"{TIME}/{start.seq + 1:020d}.json"
        return {TIME: write_noted(self.folder.base.path, name, self.time.packed(self.terms))}


def _new_folder(path: str | os.PathLike[str], options: Mapping[str, str]) -> OpenFolder:
    """A folder that is no knowledge base yet."""
    from livefacts.kb.tables import KnowledgeBase

    base = KnowledgeBase(path, options)
    if base.last().seq:
        raise LivefactsError(
            f"{base.path} is a knowledge base already", hint="open it, and make the changes there"
        )
    return OpenFolder(base, 0)


def _whole(state: State, *, derived: bool) -> WholeFacts:
    """What a state asserts for all time, and perhaps what it derives."""
    none = {TRIPLES: np.zeros((0, 3), np.int32)}
    asserted = {**none, **_given(state.streams.background(), state.dictionary)}
    conclusions = {**none, **_given(state.truth.derived() if derived else {}, state.dictionary)}
    quads = state.graphs.quads()
    triples = distinct(quads[:, :3])
    in_default = state.truth.standing(TRIPLES, triples) & IN_DEFAULT != 0
    return WholeFacts(asserted, conclusions, quads, triples[in_default])


def _given(facts: Facts, dictionary: Dictionary) -> Facts:
    """Facts without those of an engine's own predicates, which it will find again."""
    terms = dictionary.reader()
    return {s: rows if s == TRIPLES else rows[~own(rows, terms)] for s, rows in facts.items()}
