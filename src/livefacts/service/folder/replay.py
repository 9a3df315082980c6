"""The replay: rows of a journal into a state, which is then as it was when they were written.

Each row is made again as the change or call that it was.  Changes of facts alone that follow each
other are made as one, since only what they come to counts.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import Facts, IdDelta, Ids
from livefacts.errors import DamageError, LivefactsError
from livefacts.journal import fact_texts
from livefacts.journal.change_log import FOLDER, JournalRow
from livefacts.journal.fact_texts import unpack_net
from livefacts.journal.log_file import BEFORE
from livefacts.service.change.assertions import NO_QUADS, Assertions
from livefacts.service.change.delta import Delta, Violation
from livefacts.service.knowledge.draft import NO_LIMIT, Draft
from livefacts.service.knowledge.recorder import (
    ADDED,
    ASIDE,
    ASSERTED,
    CAME,
    CHANGE,
    CORRECT,
    DERIVED,
    DROPPED,
    ELAPSE,
    EVENT,
    EVENT_TIME,
    FINISH,
    KEY,
    KEYS,
    PREFIXES,
    PUSH,
    REGISTER,
    REMOVED,
    RETRACT,
    RETRACTED,
    RULES,
    SOURCE,
    TICK,
    WENT,
    Origin,
    runs_of,
    without_quads,
)
from livefacts.service.knowledge.state import READ, UNREGISTER, WATCH, State
from livefacts.service.streams.event_time import repeated_events
from livefacts.service.streams.timeline import NO_STREAM
from livefacts.syntax.rulelang.rule_parser import parse

AT_ONCE = 10_000
"""So many changes of facts alone are made as one at the most."""
NOT_PLAIN = frozenset((RULES, DROPPED, fact_texts.FILE))
"""What is in rows that are made alone."""


@contextmanager
def made_again(state: State) -> Iterator[None]:
    """What was acknowledged is made again, whatever limits say now; nobody writes it again."""
    limit, state.limit = state.limit, NO_LIMIT
    recorder, state.recorder = state.recorder, None
    try:
        with state.accepting_violations(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        state.limit, state.recorder = limit, recorder


@contextmanager
def _without_collections() -> Iterator[None]:
    """Rows are many objects that all go by themselves: looking for cycles takes half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Replay:
    """Brings a state up to date with the journal of its folder.

    What the writer has read is passed over, unless this `follows` it for readers of its own.
    """

    def __init__(self, state: State, folder: Path, *, follows: bool = False) -> None:
        self._follows = follows
        self._state = state
        self._folder = folder / FOLDER
        self._plain: list[JournalRow] = []

    def follow(self, rows: Iterable[JournalRow]) -> int:
        """Make what the rows say; how many they were."""
        done = 0
        with made_again(self._state), _without_collections():
            for row in rows:
                self._take(row)
                done += 1
                if done % AT_ONCE == 0:
                    gc.collect(0)
            self._make_plain()
        self._state.scopes = (f"{self._state.seq}r{number}" for number in count(1))
        return done

    def _take(self, row: JournalRow) -> None:
        if row.kind == CHANGE and not NOT_PLAIN & row.content.keys():
            self._plain.append(row)
            if self._state.streams.has_begun or len(self._plain) >= AT_ONCE:
                self._make_plain()
            return
        self._make_plain()
        self._make(row)

    def _make_plain(self) -> None:
        """Make the changes of facts that wait, as one."""
        rows, self._plain = self._plain, []
        if not rows:
            return
        draft = Draft(self._state)
        contents, dictionary = [row.content for row in rows], self._state.dictionary
        with dictionary.passing_but_labels:
            self._fill(draft, unpack_net(contents, ASSERTED, RETRACTED, dictionary))
        self._state.seq = rows[-1].first - 1
        draft.apply()
        for row in rows:
            self._set_notes(row)
        self._check(rows[-1])

    def _fill(self, draft: Draft, parts: Mapping[str, Mapping[int, Ids]]) -> None:
        draft.intake.take_rows(*without_quads(parts.get(ASSERTED, {}), NO_QUADS))
        if parts.get(RETRACTED):
            draft.retraction.take_rows(*without_quads(parts[RETRACTED], NO_QUADS))

    def _make(self, row: JournalRow) -> None:
        state, given = self._state, row.content
        if row.kind == CHANGE:
            self._change(row)
        elif row.kind in (PUSH, RETRACT):
            self._arrive(row)
        elif row.kind == TICK:
            self._tolerantly(lambda: [*state.streams.ticks(int(given["to"]))], row)
        elif row.kind in (REGISTER, UNREGISTER, CORRECT, FINISH):
            self._tolerantly(lambda: self._query(row), row)
        elif row.kind == WATCH:
            state.watched.set(given["name"], given["text"], given["upto"])
        elif row.kind == READ:
            self._pass_over(row)
        elif row.kind in (EVENT_TIME, ASIDE, ELAPSE):
            self._event(row)
        elif row.kind not in (PREFIXES, KEYS):
            raise DamageError(
                f"{self._folder} has a row of a kind that is not known here: {row.kind}",
                hint="pip install --upgrade livefacts",
            )
        self._set_notes(row)
        self._check(row)

    def _change(self, row: JournalRow) -> None:
        draft = Draft(self._state)
        if RULES in row.content:
            draft.intake.take_program(parse(row.content[RULES]))
        draft.remove_rules(row.content.get(DROPPED, ()))
        self._fill(draft, self._parts(row))
        draft.apply()

    def _arrive(self, row: JournalRow) -> None:
        state, given = self._state, row.content
        streams = state.streams
        stream = NO_STREAM if given["stream"] is None else NamedNode(given["stream"])
        name = int(state.dictionary.encode_one(stream))
        streams.terms.sweep()
        runs = runs_of(self._parts(row))
        move, time = streams.push if row.kind == PUSH else streams.retract, int(given["at"])
        is_late = streams.now is not None and time <= streams.now
        self._tolerantly(lambda: move(runs, time, name), row)
        if EVENT in given and streams.events is not None:
            streams.events.take_again(time, given["stream"], is_late)

    def _query(self, row: JournalRow) -> None:
        queries, given = self._state.queries(), row.content
        if row.kind == REGISTER:
            queries.register(given["text"], given["known"], full=given["full"])
        elif row.kind == UNREGISTER:
            queries.end(queries.by_name()[given["name"]])
        elif row.kind == CORRECT:
            queries.correct(given["stream"], given["lateness"])
        else:
            self._state.streams.listener.finished()

    def _pass_over(self, row: JournalRow) -> None:
        given = row.content
        if "watch" in given:
            self._state.watched.passed(given["watch"], given["upto"])
        elif not self._follows:
            self._state.queries().pass_over(given["query"], given["upto"])

    def _event(self, row: JournalRow) -> None:
        streams, given = self._state.streams, row.content
        if row.kind == EVENT_TIME:
            streams.events = repeated_events(given, self._state.present_tick, streams)
            return
        assert streams.events is not None, "there was event time before"
        if row.kind == ASIDE:
            streams.events.put_aside_again(given["reason"], given["stream"])
        else:
            streams.events.elapse(int(given["at"]))

    def _tolerantly(self, call: Callable[[], object], row: JournalRow) -> None:
        """A call that failed after its change was made does so again."""
        try:
            call()
        except LivefactsError:
            if self._state.seq != row.last:
                raise
        finally:
            self._state.interrupts.release()

    def _parts(self, row: JournalRow) -> dict[str, dict[int, Ids]]:
        return parts_of(row, self._state, self._folder)

    def _set_notes(self, row: JournalRow) -> None:
        if PREFIXES in row.content:
            self._state.prefixes = dict(row.content[PREFIXES])
        if SOURCE in row.content:
            origin = Origin(*row.content[SOURCE])
            self._state.offsets[origin.source] = origin
        if KEY in row.content:
            self._state.keys[row.content[KEY]] = row.last
        self._state.keys.update(row.content.get(KEYS, {}))

    def _check(self, row: JournalRow) -> None:
        if self._state.seq != row.last:
            raise DamageError(
                f"change {row.last} of {self._folder} cannot be made again: "
                f"it came out as number {self._state.seq}",
                hint=BEFORE,
            )


def parts_of(row: JournalRow, state: State, folder: Path) -> dict[str, dict[int, Ids]]:
    """The facts of a row, in ids."""
    with state.dictionary.passing_but_labels:
        if fact_texts.FILE in row.content:
            return fact_texts.read_many(folder, row.content, state.dictionary)
        return fact_texts.unpack(row.content, state.dictionary)


def recorded_delta(row: JournalRow, state: State, folder: Path) -> Delta:
    """What a row changed, as its caller was told."""
    parts = parts_of(row, state, folder)
    plain, derived = parts.get(ADDED, {}), parts.get(DERIVED, {})
    added: Facts = {}
    flags = {}
    for shape in plain.keys() | derived.keys():
        both = [each[shape] for each in (plain, derived) if shape in each]
        added[shape] = np.concatenate(both)
        known = len(plain[shape]) if shape in plain else 0
        flags[shape] = np.arange(len(added[shape])) >= known
    asserted, came = without_quads(parts.get(ASSERTED, {}), NO_QUADS)
    retracted, went = without_quads(parts.get(RETRACTED, {}), NO_QUADS)
    ids = IdDelta(added, parts.get(REMOVED, {}), flags)
    return Delta(
        row.last,
        ids,
        state.reader,
        Assertions.recorded(ids, asserted, retracted, came, went),
        violations=_violations(row.content.get(CAME, ()), state),
        resolved=_violations(row.content.get(WENT, ()), state),
    )


def _violations(plain: Iterable[list[object]], state: State) -> list[Violation]:
    found = []
    for constraint, bindings in plain:
        assert isinstance(bindings, dict), "the values of variables by name"
        with state.dictionary.passing:
            numbers = fact_texts.number_texts(list(bindings.values()), state.dictionary)
        terms = state.dictionary.decode(numbers)
        found.append(Violation(str(constraint), dict(zip(bindings, terms, strict=True))))
    return found
