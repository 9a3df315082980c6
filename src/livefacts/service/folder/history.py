"""The history of a folder: what has happened, and how things were, out of its journal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from livefacts.engine.contract import IdDelta
from livefacts.errors import DamageError, ForgottenError, LivefactsError
from livefacts.journal.change_log import FOLDER, JournalReader, JournalRow, log_numbers
from livefacts.service.change.assertions import NO_ASSERTIONS, NO_QUADS
from livefacts.service.change.delta import Delta
from livefacts.service.folder.replay import Replay, parts_of, recorded_delta
from livefacts.service.folder.saved_state import SavedFolder
from livefacts.service.knowledge.draft import Draft
from livefacts.service.knowledge.recorder import (
    ASSERTED,
    CHANGE,
    DROPPED_RULES,
    KEY,
    NOW,
    RETRACTED,
    RULES,
    TO,
    without_quads,
)
from livefacts.service.knowledge.state import State
from livefacts.syntax.rulelang.rule_parser import parse

ASK = "`livefacts log` lists the changes that are kept"


def check_number(seq: int) -> None:
    """Refuse a number that no change has."""
    if seq < 0:
        raise LivefactsError(
            f"there is no change {seq}",
            hint="changes are numbered from 1, and 0 stands for what was before the first",
        )


def no_change(state: State, *hints: str, seq: int | None = None) -> Delta:
    """What is given where no change was made, or none is known: its number is that of another."""
    number = state.seq if seq is None else seq
    return Delta(number, IdDelta({}, {}, {}), state.reader, NO_ASSERTIONS, hints=hints)


class History:
    """The journal of a folder, to be read."""

    def __init__(self, folder: Path, saved: SavedFolder) -> None:
        self._folder = folder
        self._saved = saved

    def changes(self, state: State, seq: int) -> Iterator[Delta]:
        """What each change after this one did, oldest first."""
        return (delta for _, delta in self.timed_changes(state, seq))

    def timed_changes(self, state: State, seq: int) -> Iterator[tuple[int | None, Delta]]:
        """The same, each with the time point at which it was made; None before time began."""
        for row in self.tail(state, seq).rows():
            # The terms of the row get ids in the dictionary that changes write to.
            with state.changing:
                delta = recorded_delta(row, state, self._folder / FOLDER)
            yield row.content.get(TO, row.content.get(NOW)), delta

    def tail(self, state: State, seq: int) -> JournalTail:
        """The changes after this one, and those that will come."""
        check_number(seq)
        if seq > state.seq:
            raise LivefactsError(
                f"there is no change {seq} yet", hint=f"the last one is {state.seq}"
            )
        return JournalTail(self._folder, self._reader(seq), seq)

    def all_rows(self) -> Iterator[JournalRow]:
        """All rows that are kept."""
        numbers = log_numbers(self._folder)
        return (
            JournalReader(self._folder, numbers[0]).rows(is_growing=True) if numbers else iter(())
        )

    def rows(self, seq: int) -> Iterator[JournalRow]:
        """The rows of the changes after this one."""
        for row in self._reader(seq).rows(is_growing=True):
            if row.last > seq or (row.last == seq and row.first > seq):
                yield row

    def row(self, seq: int) -> JournalRow:
        """The row of one change."""
        for row in self.rows(max(seq - 1, 0)):
            if row.first <= seq <= row.last:
                return row
        raise LivefactsError(f"there is no change {seq} of {self._folder}", hint=ASK)

    def signed(self, state: State, key: str, seq: int) -> Delta:
        """What the change with a key did, as its caller was told; its number, if no more is kept."""
        try:
            rows = takewhile(lambda row: row.last <= seq, self.rows(seq - 1))
            row = next((row for row in rows if row.content.get(KEY) == key), None)
        except ForgottenError:
            row = None
        if row is None:
            return no_change(state, seq=seq)
        with state.changing:
            return recorded_delta(row, state, self._folder / FOLDER)

    def make_until(self, state: State, number: int, seq: int) -> None:
        """Repeat the changes from a log file on, up to this one."""
        rows = JournalReader(self._folder, number).rows(is_growing=True)
        Replay(state, self._folder).follow(takewhile(lambda row: row.last <= seq, rows))
        if state.seq != seq:
            raise LivefactsError(f"there is no change {seq} of {self._folder}", hint=ASK)

    def inverse(self, state: State, seq: int) -> Draft:
        """The change that takes back what this one asserted, and asserts what it retracted."""
        row = self.row(seq)
        if row.kind != CHANGE:
            raise LivefactsError(
                f"change {seq} of {self._folder} is a {row.kind}, and cannot be undone",
                hint="a pushed fact is taken back by retract; time does not go back",
            )
        draft = Draft(state)
        parts = parts_of(row, state, self._folder / FOLDER)
        draft.intake.take_rows(*without_quads(parts.get(RETRACTED, {}), NO_QUADS))
        draft.retraction.take_rows(*without_quads(parts.get(ASSERTED, {}), NO_QUADS))
        if RULES in row.content:
            there = {rule.key() for rule in state.program}
            added = parse(row.content[RULES]).rules
            draft.remove_rules([rule for rule in added if rule.key() in there])
        if DROPPED_RULES in row.content:
            draft.add_rules(parse(row.content[DROPPED_RULES]))
        return draft

    def _reader(self, seq: int) -> JournalReader:
        """The journal, from the last file that begins no later."""
        numbers = log_numbers(self._folder)
        if not numbers:
            raise DamageError(
                f"{self._folder / FOLDER} is not there",
                hint="where the folder was moved, open it again at its new place",
            )
        for number in reversed(numbers):
            reader = JournalReader(self._folder, number)
            if reader.log.header.seq <= seq:
                return reader
        raise ForgottenError(
            f"what happened just after change {seq} of {self._folder} is no longer kept",
            hint="ask for later changes; keep= says for how long they are kept",
        )


class JournalTail:
    """The end of a journal that grows: each look gives the changes that are new."""

    def __init__(self, folder: Path, reader: JournalReader, seq: int) -> None:
        self._folder = folder
        self._reader = reader
        self.seq = seq
        """The number of the last change that was given."""

    def rows(self) -> Iterator[JournalRow]:
        """The rows of changes that have not been given yet, oldest first."""
        for row in self._reader.rows(is_growing=True):
            if row.first <= row.last and row.last > self.seq:
                if row.first > self.seq + 1:
                    raise self._missing()
                self.seq = row.last
                yield row

    def _missing(self) -> LivefactsError:
        return LivefactsError(
            f"the changes after {self.seq} of {self._folder} were made by Spark",
            hint="Pipeline.delta(version) has what each of its versions changed",
        )
