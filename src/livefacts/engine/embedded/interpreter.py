"""The interpreter: drives the fixpoint kernel, gives it room and answers, ends or undoes a change.

A change is: support facts, run levels, then `commit` or `roll_back`.  Rows from before
the change are copied into a log when they are first touched, so undoing costs what the
change cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.engine.embedded import machine as code
from livefacts.engine.embedded import storing
from livefacts.engine.embedded.binding import Binder
from livefacts.engine.embedded.interpret import run, run_instances, run_roots
from livefacts.engine.embedded.memory import Answers
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import (
    ASSERTED,
    CLOSED,
    FLAGS,
    OUT_ROWS,
    PLAIN,
    SINGLE,
    TRANSIENT,
)
from livefacts.store.rowkernels import BLOCK
from livefacts.store.rows import RowStore

BUDGET = 300_000
"""Work between two looks at interrupts, limits and progress: some 50 ms."""
FEWEST = 2 * OUT_ROWS
FEWEST_EDGES = 4 * code.MOST_EDGE_PLANS
ROW_BITS = 0xFFFFFFFF
KEPT_FIELDS = (code.DERIVED, code.DOOMS_SINGLE, code.DOOMS_ALL)

NO_CONSEQUENCES = code.Consequences(np.zeros((2, 5), np.int64), np.zeros((1, 3), np.int32), False)


class Path(Protocol):
    """Whoever knows what follows from single triples."""

    def consequences(self) -> code.Consequences: ...

    def answer(self, status: int, first: int, second: int, third: int) -> None: ...


class Interpreter:
    """One store under change."""

    budget = BUDGET

    def __init__(self, store: RowStore, dictionary: Dictionary) -> None:
        self.store = store
        self.answers = Answers(dictionary)
        self.on_pause: Callable[[int], None] = lambda made: None
        self.reports_reasons = False
        """Whether deltas tell which facts rules have begun or ceased to derive."""
        self._mode = code.GAIN
        self._machine = code.Machine(
            state=np.zeros(code.STATE_FIELDS, np.int64),
            gains=np.zeros(FEWEST, np.int64),
            losses=np.zeros(FEWEST, np.int64),
            edges=np.zeros((FEWEST_EDGES, 2), np.int64),
            out=np.zeros(OUT_ROWS * 6, np.int32),
            log=np.zeros((FEWEST, code.LOG_FIELDS), np.int64),
            env=np.zeros(16, np.int32),
            cursor=np.zeros(16, np.int64),
            key=np.zeros(16, np.int32),
            made=np.zeros(OUT_ROWS, np.int64),
            made_relation=np.zeros(OUT_ROWS, np.int64),
            of_relation=np.zeros(OUT_ROWS, np.int64),
            tags=np.zeros(BLOCK, np.int64),
            answer=np.zeros(2, np.int64),
        )

    # working memory

    def fit(self, binder: Binder) -> None:
        """Let plans of this size run."""
        widest = self._fit_buffer()
        slots = max(16, binder.most_slots + 1, binder.most_steps + 2, widest)
        if len(self._machine.env) < slots:
            self._replace(
                env=np.zeros(slots, np.int32),
                cursor=np.zeros(slots, np.int64),
                key=np.zeros(slots, np.int32),
            )

    def _fit_buffer(self) -> int:
        """Let the buffer hold facts of every relation there is; the widest of them."""
        widest = max(self.store.width(number) for number in range(self.store.count))
        if len(self._machine.out) < OUT_ROWS * (widest + 2):
            assert self._machine.state[code.OUT_COUNT] == 0, "an empty buffer can be replaced"
            self._replace(out=np.zeros(OUT_ROWS * (widest + 2), np.int32))
        return widest

    def _replace(self, **arrays: Any) -> None:
        self._machine = self._machine._replace(**arrays)

    def _make_room(self) -> None:
        for relation in range(self.store.count):
            self.store.make_room(relation, OUT_ROWS)
        machine, state = self._machine, self._machine.state
        for queue, end in ((machine.gains, code.GAINS_END), (machine.losses, code.LOSSES_END)):
            if state[end] + OUT_ROWS > len(queue):
                queue.resize(len(queue) + max(len(queue) // 2, OUT_ROWS), refcheck=False)
        if state[code.LOG_COUNT] + OUT_ROWS > len(machine.log):
            machine.log.resize((len(machine.log) * 2, code.LOG_FIELDS), refcheck=False)
        if state[code.EDGES_COUNT] + code.MOST_EDGE_PLANS > len(machine.edges):
            machine.edges.resize((len(machine.edges) * 2, 2), refcheck=False)

    # one change

    @property
    def made(self) -> int:
        """Rows that the change under way has made so far."""
        return int(self._machine.state[code.MADE])

    @property
    def derivations(self) -> int:
        """Rule instances found since the interpreter was made."""
        return int(self._machine.state[code.DERIVED])

    def doom(self, *, singles: bool, everything: bool) -> None:
        """Which losses doom a fact besides those of its last plain reason."""
        self._machine.state[code.DOOMS_SINGLE] = singles
        self._machine.state[code.DOOMS_ALL] = everything

    def give(self, relation: int, facts: Ids, support: int) -> None:
        """Give each of these facts one more reason to hold."""
        self._change(code.GAIN, relation, facts, support)

    def take(self, relation: int, facts: Ids, support: int) -> None:
        """Take a reason from each of these facts, all of which have it."""
        self._change(code.LOSE, relation, facts, support)

    def _change(self, mode: int, relation: int, facts: Ids, support: int) -> None:
        self._store_waiting()
        self._fit_buffer()
        self._mode = mode
        facts = np.ascontiguousarray(facts, np.int32)
        if mode == code.GAIN and len(facts) > OUT_ROWS:
            self._expect(relation, len(facts))
        done = 0
        while done < len(facts):
            done = storing.change_facts(
                self.store.rows, self._machine, mode, relation, facts, support, done
            )
            if done < len(facts):
                self._make_room()

    def _expect(self, relation: int, more: int) -> None:
        """Make room for many facts at once, and for some that they derive."""
        room = more + more // 4 + OUT_ROWS
        self.store.expect(relation, room)
        wanted = int(self._machine.state[code.GAINS_END]) + room
        if wanted > len(self._machine.gains):
            self._machine.gains.resize(wanted, refcheck=False)

    def _store_waiting(self) -> None:
        width = len(self._machine.out) // OUT_ROWS
        while not storing.store_out(self.store.rows, self._machine, width, self._mode):
            self._make_room()

    def run(self, plans: code.Plans, mode: int, path: Path | None = None) -> None:
        """Follow gains or losses to their end."""
        self._run(plans, mode, mode, path)

    def run_negative(self, plans: code.Plans, mode: int) -> None:
        """Follow what comes and goes under negated atoms."""
        if len(plans.listed):
            self._machine.state[code.NEGATIVES_AT] = 0
            self._run(plans, mode, code.LOSE if mode == code.GAIN else code.GAIN, None)

    def _run(self, plans: code.Plans, mode: int, source: int, path: Path | None) -> None:
        state = self._machine.state
        self._mode = mode
        while True:
            status = self._step(plans, mode, source, path)
            if status == code.DONE:
                return
            asked = (int(state[code.ASKED]), int(state[code.ASKED + 1]), int(state[code.ASKED + 2]))
            self._answer(status, asked, path)
            self._mode = mode

    def _step(self, plans: code.Plans, mode: int, source: int, path: Path | None) -> int:
        rows, machine, memo = self.store.rows, self._machine, self.answers.memo
        if path is None:
            consequences = NO_CONSEQUENCES
        else:
            consequences = path.consequences()
            if not len(plans.listed) and mode == source == code.GAIN:
                return int(run_roots(rows, consequences, machine, self.budget))
        return int(run(rows, plans, consequences, memo, machine, mode, source, self.budget))

    def _answer(self, status: int, asked: tuple[int, int, int], path: Path | None) -> None:
        if status == code.NEED_ROOM:
            self._make_room()
        elif status == code.PAUSED:
            self.on_pause(self.made)
        elif status == code.ASK_NUMBER:
            self.answers.answer_number(asked[1])
        elif status == code.ASK_PAIR:
            self.answers.answer_pair(*asked)
        else:
            assert path is not None, "only single triples are asked about"
            path.answer(status, *asked)

    def run_instances(self, plans: code.Plans, mode: int, entries: NDArray[np.int64]) -> None:
        """Give or take every instance of rules whose first atoms these facts fit."""
        state = self._machine.state
        state[code.NEGATIVES_AT] = 0
        self._mode = mode
        while True:
            rows, memo = self.store.rows, self.answers.memo
            status = run_instances(rows, plans, memo, self._machine, mode, entries, self.budget)
            if status == code.DONE:
                return
            asked = (int(state[code.ASKED]), int(state[code.ASKED + 1]), int(state[code.ASKED + 2]))
            self._answer(status, asked, None)

    @property
    def has_lost(self) -> bool:
        """Whether the change has taken anything from any fact."""
        return bool(self._machine.state[code.LOSSES_END])

    def has_losses(self) -> bool:
        """Whether losses wait to be followed."""
        state = self._machine.state
        return bool(state[code.LOSSES_AT] < state[code.LOSSES_END])

    def has_emptied_kinds(self) -> bool:
        """Whether some kind of triple may have lost its last one since last asked."""
        emptied = bool(self._machine.state[code.EMPTIED])
        self._machine.state[code.EMPTIED] = 0
        return emptied

    def lost_edges(self) -> NDArray[np.int64]:
        """Edges of transitive rules that were lost since last asked: entry, plan."""
        state = self._machine.state
        found = self._machine.edges[: int(state[code.EDGES_COUNT])].copy()
        state[code.EDGES_COUNT] = 0
        return found

    def rederive(self) -> None:
        """Raise doomed facts that have a reason left."""
        if not self.has_lost:
            return
        while not storing.rederive(self.store.rows, self._machine):
            needed = int(self._machine.state[code.GAINS_END] + self._machine.state[code.LOSSES_END])
            self._machine.gains.resize(needed + OUT_ROWS, refcheck=False)

    def open_level(self, *, is_first: bool) -> None:
        """Before a level: its rules see the facts as they were before the change."""
        storing.open_level(self.store.rows, self._machine, is_first)

    def see_all(self) -> None:
        """From now on negations see the facts as they are."""
        storing.see_all(self.store.rows, self._machine)

    def close_pass(self) -> None:
        """Between two passes over the levels."""
        storing.close_pass(self.store.rows, self._machine)

    def close_level(self) -> None:
        """After a level: what is doomed is gone."""
        storing.close_level(self.store.rows, self._machine)

    def entries(self, gained: bool) -> NDArray[np.int64]:
        """The facts that have come, or gone, so far: relation << 32 | row, repeats included."""
        machine = self._machine
        if gained:
            return machine.gains[: int(machine.state[code.GAINS_END])]
        return machine.losses[: int(machine.state[code.LOSSES_END])]

    def commit(self) -> IdDelta:
        """End the change; the facts it has made are there to stay."""
        delta = IdDelta()
        machine, rows = self._machine, self.store.rows
        made = np.empty(self.made, np.int64)
        self._collect_gains(made[: storing.settle_gains(rows, machine, made)], delta)
        if self.has_lost:
            ended = np.empty(int(machine.state[code.LOSSES_END]), np.int64)
            self._collect_losses(ended[: storing.settle_losses(rows, machine, ended)], delta)
        self._settle_log(delta)
        if self.has_lost:
            storing.remove_gone(rows, machine)
        self._forget()
        return delta

    def _collect_gains(self, entries: NDArray[np.int64], delta: IdDelta) -> None:
        for shape, relation, rows in self._by_shape(entries):
            delta.added[shape] = self.store.columns(relation, rows)
            delta.derived[shape] = self.store.flags(relation)[rows] & ASSERTED == 0
            if self.reports_reasons:
                by_rules = self._is_derived(relation, rows)
                _append(delta.newly_derived, shape, delta.added[shape][by_rules])

    def _collect_losses(self, entries: NDArray[np.int64], delta: IdDelta) -> None:
        for shape, relation, rows in self._by_shape(entries):
            delta.removed[shape] = self.store.columns(relation, rows)

    def _by_shape(self, entries: NDArray[np.int64]) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Entries as shape, relation and rows; one pass over them per relation that has any."""
        relations = entries >> 32
        for shape, relation in self.store.shapes().items():
            mine = relations == relation
            if mine.any():
                yield shape, relation, entries[mine] & ROW_BITS

    def _settle_log(self, delta: IdDelta) -> None:
        log = self._machine.log[: int(self._machine.state[code.LOG_COUNT])]
        for shape, relation in self.store.shapes().items() if len(log) else ():
            lines = log[log[:, 0] == relation]
            rows = lines[:, 1]
            self.store.cells(relation)[rows, FLAGS] &= ~TRANSIENT
            if not self.reports_reasons or not len(lines):
                continue
            before = (lines[:, 3:6] > 0).any(axis=1) | (lines[:, 2] & CLOSED != 0)
            now = self._is_derived(relation, rows)
            _append(delta.newly_derived, shape, self.store.columns(relation, rows[now & ~before]))
            _append(delta.newly_underived, shape, self.store.columns(relation, rows[before & ~now]))

    def _is_derived(self, relation: int, rows: NDArray[np.int64]) -> Flags:
        """Whether some rule derives each of these rows."""
        cells = self.store.cells(relation)
        counted = (cells[rows, PLAIN : SINGLE + 1] > 0).any(axis=1)
        derived: Flags = counted | (cells[rows, FLAGS] & CLOSED != 0)
        return derived

    def roll_back(self) -> None:
        """Undo the change: remove what it made, restore what it touched."""
        storing.undo(self.store.rows, self._machine)
        self._forget()

    def _forget(self) -> None:
        state = self._machine.state
        kept = {field: int(state[field]) for field in KEPT_FIELDS}
        state[:] = 0
        for field, value in kept.items():
            state[field] = value
        for name in ("gains", "losses"):
            if len(getattr(self._machine, name)) > 1 << 16:
                self._replace(**{name: np.zeros(FEWEST, np.int64)})
        if len(self._machine.log) > 1 << 16:
            self._replace(log=np.zeros((FEWEST, code.LOG_FIELDS), np.int64))


def _append(by_shape: dict[int, Ids], shape: int, facts: Ids) -> None:
    if len(facts):
        known = by_shape.get(shape)
        by_shape[shape] = facts if known is None else np.concatenate([known, facts])
