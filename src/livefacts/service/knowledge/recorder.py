"""The recorder: what a reasoner in a folder writes into its journal, and when that is synced.

A change of facts or rules is written and synced before it is final: if that fails, the change is
undone.  What time brings is written as it comes and synced at the end of the call.  Where
several threads wait for their turn, the sync of one waits for the changes of the others, so that
they share it; nobody is told of a change before it is on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypedDict, TypeVar

from livefacts.engine.contract import TRIPLES, Facts, IdDelta, Ids
from livefacts.errors import OptionError
from livefacts.journal import fact_texts
from livefacts.journal.change_log import Journal, JournalRow, ReadOnlyJournal
from livefacts.journal.fact_texts import QUADS, Parts
from livefacts.language.program import NO_PROGRAM, Program, Rule
from livefacts.language.rule_text import write_program
from livefacts.service.change.assertions import AskedChange, Assertions, QuadChange
from livefacts.service.change.delta import Delta, Violation
from livefacts.service.change.fact_reader import FactReader
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.input.files import utf8

Result = TypeVar("Result")
CHANGE, PUSH, RETRACT, TICK, PREFIXES = "change", "push", "retract", "tick", "prefixes"
REGISTER, CORRECT, FINISH = "register", "correct", "finish"
EVENT_TIME, ASIDE, ELAPSE, EVENT = "event time", "aside", "elapse", "event"
ASSERTED, RETRACTED, ADDED, DERIVED, REMOVED = (
    "asserted",
    "retracted",
    "added",
    "derived",
    "removed",
)
RUN = "run"
RULES, DROPPED, CAME, WENT = "rules", "dropped", "violations", "resolved"
SOURCE, KEY, AUTHOR, NOTE, KEYS = "source", "key", "author", "note", "keys"
KEYS_KEPT = 10_000
"""So many keys of changes are known: the last ones."""
DROPPED_RULES, ADDED_RULES, LOADED = "dropped rules", "added rules", "loaded"
NOW, TO = "now", "to"
Pair = tuple[Sequence[Violation], Sequence[Violation]]
"""The violations that came, and those that went."""


@dataclass(frozen=True, slots=True)
class Origin:
    """How far a source was read: up to a position, all of it.

    Of the `event` behind it, a message that makes several changes, so many are `done`.
    """

    source: str
    position: str | None
    event: str = ""
    done: int = 0

    def plain(self) -> list[Any]:
        """As the journal has it."""
        return [self.source, self.position, self.event, self.done]


ORIGIN: ContextVar[Origin | None] = ContextVar("origin", default=None)
"""Where the changes of this thread come from, now."""


class SignedBy(TypedDict, total=False):
    """Who makes a change and why, and the key by which it is made only once."""

    key: str | None
    author: str | None
    note: str | None


@dataclass(slots=True)
class Signature:
    """The same, of a change that is made."""

    key: str | None = None
    author: str | None = None
    note: str | None = None
    seq: int | None = None
    """The change that has the key."""

    def __post_init__(self) -> None:
        for name, value in self.plain().items():
            if not isinstance(value, str) or not 0 < len(value) <= MOST_SIGNED:
                raise OptionError(
                    f"{name}={value!r:.60} is no text of up to {MOST_SIGNED:,} characters",
                    hint="leave it out, or give a str",
                )
            utf8(value)

    def plain(self) -> dict[str, str]:
        """As the journal has it, all of it."""
        given = {KEY: self.key, AUTHOR: self.author, NOTE: self.note}
        return {name: value for name, value in given.items() if value is not None}


MOST_SIGNED = 10_000
SIGNATURE: ContextVar[Signature | None] = ContextVar("signature", default=None)
"""Who makes the changes of this thread, now."""


class KnownKeyError(Exception):
    """A change with this key was made before: it is the one with this number."""

    def __init__(self, key: str, seq: int) -> None:
        self.key, self.seq = key, seq


SYNCS_LATER: ContextVar[bool] = ContextVar("syncs later", default=False)
"""Whether this thread has what it writes synced by itself, some calls at once.

Watches then hear of a change before it is on the disk, and must not tell it on.
"""


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change that is about to be made: what it asks for, and the rules that come and go."""

    asked: AskedChange
    named: QuadChange
    program: Program
    added: Sequence[Rule]
    """The rules that come, with the ids that they get."""
    dropped: Sequence[Rule]
    prefixes: Mapping[str, str]
    violated: Callable[[IdDelta], Pair]
    files: Sequence[str]
    """The files that are loaded."""


@dataclass(frozen=True, slots=True)
class TimeCall:
    """A call that speaks of time: its kind, what it was given, and the facts of it."""

    kind: str
    given: Mapping[str, Any] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)


class Recorder:
    """Writes the rows of one reasoner."""

    def __init__(
        self, journal: Journal | ReadOnlyJournal, dictionary: Dictionary, reader: FactReader
    ) -> None:
        self.journal = journal
        self._dictionary = dictionary
        self._reader = reader
        self.prefixes: dict[str, str] = {}
        """Prefixes as the journal has them."""
        self.offsets: dict[str, Origin] = {}
        """How far each source was read, as the journal has it."""
        self.keys: dict[str, int] = {}
        """The changes that were made with a key, as the journal has it; the last is the newest."""
        self._planned: PlannedChange | None = None
        self._call: TimeCall | None = None
        self._counting = threading.Lock()
        self._waiting = 0
        self._depth = 0
        self._held = 0
        self.when_written: Callable[[], None] = lambda: None
        """Called when a call has written something, and others may make theirs."""
        self.readers: list[Callable[[JournalRow], object]] = []
        """Called with each row as it is written: it is on the disk with the next sync."""

    # whose turn it is

    def in_turn(self, changing: threading.RLock, call: Callable[[], Result]) -> Result:
        """Make a call when no other thread makes one; what it did is on the disk afterwards."""
        with self._counting:
            self._waiting += 1
        before = written = self.journal.written
        try:
            with changing:
                with self._counting:
                    self._waiting -= 1
                before = self.journal.written
                self._depth += 1
                try:
                    return call()
                finally:
                    self._depth -= 1
                    written = before if self._depth else self.journal.written
        finally:
            if written > before:
                if not SYNCS_LATER.get():
                    self.journal.sync(written)
                self.when_written()

    def settle(self, *, is_due: bool = False) -> None:
        """What was written goes to the disk; now if that `is_due`, or if no others can share the way."""
        self._planned = None
        can_wait = self._depth == 1 and self._waiting and not is_due
        if not can_wait and not self._held and not SYNCS_LATER.get():
            self.journal.sync(self.journal.written)

    @contextmanager
    def synced_together(self) -> Iterator[None]:
        """What is written in the `with` block is on the disk at its end."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self.settle()

    # changes

    def expect(self, planned: PlannedChange) -> None:
        """A change is about to be made."""
        self._check()
        self._planned = planned

    def row_of(self, ids: IdDelta, seq: int, now: int | None) -> JournalRow | None:
        """The row of the change that was expected, which is made, and may still be given up."""
        planned = self._planned
        if planned is None:
            return None
        net = Assertions(planned.asked, ids, planned.named)
        parts = {
            ASSERTED: with_quads(net.asserted, net.came),
            RETRACTED: with_quads(net.retracted, net.went),
            **self._shown(ids),
        }
        rules: dict[str, Any] = {} if now is None else {NOW: now}
        if planned.program is not NO_PROGRAM:
            rules[RULES] = write_program(planned.program)
        if planned.added:
            rules[ADDED_RULES] = [rule.id for rule in planned.added]
        if planned.files:
            rules[LOADED] = list(planned.files)
        if planned.dropped:
            rules[DROPPED] = [rule.id for rule in planned.dropped]
            rules[DROPPED_RULES] = write_program(Program(tuple(planned.dropped)))
        return self._row(CHANGE, seq, rules, parts, planned.violated(ids), planned.prefixes)

    def decide(self, row: JournalRow) -> None:
        """The change of this row is decided: it is there from now on, or fails as a whole."""
        planned, self._planned = self._planned, None
        assert planned is not None, "it was expected"
        self._append(row)
        self.prefixes = dict(planned.prefixes)
        self.settle()

    def _shown(self, ids: IdDelta) -> dict[str, Facts]:
        """What became true and what ended, as far as users see it."""
        derived = {shape: rows[ids.derived[shape]] for shape, rows in ids.added.items()}
        others = {shape: rows[~ids.derived[shape]] for shape, rows in ids.added.items()}
        found = {ADDED: others, DERIVED: derived, REMOVED: ids.removed}
        return {name: self._reader.shown(facts) for name, facts in found.items()}

    # time

    def arrive(
        self, kind: str, runs: Sequence[Facts], time: int, stream: str | None, *, event: bool
    ) -> None:
        """Facts of a stream are about to come, or to go; perhaps by event time."""
        self._check()
        parts = {f"{RUN}{number}": run for number, run in enumerate(runs)}
        given = {"at": time, "stream": stream, **({EVENT: True} if event else {})}
        self._call = TimeCall(kind, given, parts)

    def tick(self) -> None:
        """Time is about to move."""
        self._check()
        self._call = TimeCall(TICK)

    def moved(self, delta: Delta, now: int | None, prefixes: Mapping[str, str]) -> None:
        """Time has brought a change."""
        call = self._call
        if call is None:
            return
        given = {TO: now} if call.kind == TICK else {NOW: now, **call.given}
        parts = {**call.parts, **self._shown(delta.ids)}
        violated = delta.violations, delta.resolved
        self._append(self._row(call.kind, delta.seq, given, parts, violated, prefixes))
        self.prefixes = dict(prefixes)

    def note(self, kind: str, seq: int, given: Mapping[str, Any], *, synced: bool = True) -> None:
        """Something that makes no change of facts; who only reads may do it, too."""
        if isinstance(self.journal, ReadOnlyJournal):
            return
        self._append(JournalRow(seq + 1, seq, kind, dict(given)))
        if synced:
            self.settle()

    def note_prefixes(self, prefixes: Mapping[str, str], seq: int) -> None:
        """Prefixes that were set since the last row."""
        if dict(prefixes) != self.prefixes:
            self.note(PREFIXES, seq, {PREFIXES: dict(prefixes)})
            self.prefixes = dict(prefixes)

    # who, why, and once

    def signed(
        self,
        signature: Signature,
        changing: threading.RLock,
        call: Callable[[], Result],
        seq: Callable[[], int],
    ) -> Result:
        """Make a call, of which the journal says who made it and why.

        A `KnownKeyError` is raised where its change was made before; that is on the disk then.
        """
        token = SIGNATURE.set(signature)
        try:
            self._check()
            found = call()
            if signature.key is not None and signature.seq is None:
                # Moving time is no one change: it has the key when all of it is made.
                self.in_turn(changing, lambda: self._take_key(signature, seq()))
            return found
        except KnownKeyError:
            self.journal.sync(self.journal.written)
            raise
        finally:
            SIGNATURE.reset(token)

    @contextmanager
    def noted(self, note: str) -> Iterator[None]:
        """What is written in the `with` block has this note, unless its caller gave another one."""
        signature = SIGNATURE.get()
        if signature is None:
            token = SIGNATURE.set(Signature(note=note))
            try:
                yield
            finally:
                SIGNATURE.reset(token)
        else:
            signature.note = signature.note or note
            yield

    def unsigned(self, call: Callable[[], None]) -> None:
        """Make a call whose own changes have no signature: those of a watch that hears of a signed one."""
        token = SIGNATURE.set(None)
        try:
            call()
        finally:
            SIGNATURE.reset(token)

    def _take_key(self, signature: Signature, seq: int) -> None:
        assert signature.key is not None, "there is a key"
        self.note(KEYS, seq, {KEYS: {signature.key: seq}})
        self.know({signature.key: seq})

    def _check(self) -> None:
        """Refuse a change that cannot be written, or was made before."""
        self.journal.check()
        signature = SIGNATURE.get()
        if signature is None or signature.key is None:
            return
        if signature.seq is not None:
            raise OptionError(
                f"change {signature.seq} has the key {signature.key!r}, and this is another one",
                hint="a key is for one change: give each its own",
            )
        if signature.key in self.keys:
            raise KnownKeyError(signature.key, self.keys[signature.key])

    def know(self, keys: Mapping[str, int]) -> None:
        """Changes were made with these keys."""
        self.keys |= keys
        for old in list(islice(self.keys, max(len(self.keys) - KEYS_KEPT, 0))):
            del self.keys[old]

    def note_keys(self, seq: int) -> None:
        """The keys that are known, for a log file that begins."""
        if self.keys:
            self.note(KEYS, seq, {KEYS: dict(self.keys)}, synced=False)

    # rows

    def _row(
        self,
        kind: str,
        seq: int,
        given: Mapping[str, Any],
        parts: Parts,
        violated: Pair,
        prefixes: Mapping[str, str],
    ) -> JournalRow:
        content: dict[str, Any] = dict(given)
        if dict(prefixes) != self.prefixes:
            content[PREFIXES] = dict(prefixes)
        for name, violations in zip((CAME, WENT), violated, strict=True):
            if violations:
                content[name] = [_plain(violation, self._dictionary) for violation in violations]
        return JournalRow(seq, seq, kind, {**content, **self._packed(seq, parts)})

    def _append(self, row: JournalRow) -> None:
        """Write a row; where it comes from is in the same row, or none of it is there."""
        origin, signature = ORIGIN.get(), SIGNATURE.get()
        more: dict[str, Any] = {} if origin is None else {SOURCE: origin.plain()}
        if signature is not None:
            more |= signature.plain()
            if row.kind not in (CHANGE, PUSH, RETRACT):
                more.pop(KEY, None)
        whole = replace(row, content={**row.content, **more}) if more else row
        self.journal.append(whole)
        for read in self.readers:
            read(whole)
        if origin is not None:
            self.offsets[origin.source] = origin
        if signature is not None and KEY in more:
            signature.seq = row.last
            self.know({more[KEY]: row.last})

    def _packed(self, seq: int, parts: Parts) -> dict[str, Any]:
        if fact_texts.count(parts) <= fact_texts.MANY:
            return fact_texts.pack(parts, self._dictionary)
        assert isinstance(self.journal, Journal), "only a journal that is written to gets here"
        path = self.journal.path.with_name(f"{seq:020d}.parquet")
        packed = fact_texts.write_many(path, parts, self._dictionary)
        self.journal.bytes += path.stat().st_size
        return packed


def with_quads(facts: Facts, quads: Ids) -> Facts:
    """Facts of the default graph, and quads of others."""
    return {**facts, QUADS: quads} if len(quads) else facts


def without_quads(facts: Mapping[int, Ids], none: Ids) -> tuple[Facts, Ids]:
    """The same, apart again."""
    return {s: ids for s, ids in facts.items() if s != QUADS}, facts.get(QUADS, none)


def runs_of(parts: Mapping[str, Mapping[int, Ids]]) -> list[Facts]:
    """The facts of a stream, in the order in which they came."""
    names = sorted((n for n in parts if n.startswith(RUN)), key=lambda n: int(n[len(RUN) :]))
    return [dict(parts[name]) for name in names]


def _plain(violation: Violation, dictionary: Dictionary) -> list[Any]:
    with dictionary.passing:
        texts = fact_texts.texts_of(dictionary.encode(violation.bindings.values()), dictionary)
    return [violation.constraint, dict(zip(violation.bindings, texts, strict=True))]


assert TRIPLES == fact_texts.TRIPLES, "a journal means the shape of triples that engines mean"
