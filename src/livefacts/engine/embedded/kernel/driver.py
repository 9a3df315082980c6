"""The driver of the fixpoint kernel: gives it room and answers, commits or rolls back a change.

A change is: support facts, run levels, then `commit` or `roll_back`.  Rows from before
the change are copied into a log when they are first touched, so undoing costs what the
change cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import TRIPLES, Flags, IdDelta, Ids
from livefacts.engine.embedded.kernel import change_marks, support_counts
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.bound_plans import Binder
from livefacts.engine.embedded.kernel.fixpoint import run, ticks
from livefacts.engine.embedded.kernel.foundation import NO_WAYS, Ways
from livefacts.engine.embedded.kernel.level_stages import follow
from livefacts.engine.embedded.kernel.value_memory import ValueMemo
from livefacts.model.work_bounds import look
from livefacts.plan.rules.operators import RulePlan
from livefacts.store.critical_sections import uninterrupted
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import BLOCK
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary

BUDGET = 200_000
"""Steps between two looks at interrupts, bounds and progress: some 20 ms."""
FEWEST_STEPS = 1_000
"""Steps between two looks, at least, however small a limit is."""
AT_ONCE = 1 << 17
"""Asserted facts that one call of a kernel stores: some 20 ms."""
FEWEST = 2 * layout.OUT_ROWS
FEWEST_EDGES = 4 * code.MOST_EDGE_PLANS
ROW_BITS = 0xFFFFFFFF
LARGE = 1 << 16
"""Queues longer than this are given back after a change."""

NO_CONSEQUENCES = code.Consequences(
    np.zeros((0, code.KEY_FIELDS), np.int64), np.zeros((0, 3), np.int32)
)
NOTHING = np.zeros(0, np.int64)
NO_TALLY = np.zeros((64, code.TALLY_FIELDS), np.int64)


class Path(Protocol):
    """Whoever knows what follows from single triples."""

    def consequences(self) -> code.Consequences: ...

    def answer(self, status: int, first: int, second: int, third: int) -> None: ...


class Interpreter:
    """One store under change."""

    budget = BUDGET

    def __init__(
        self, store: RowStore, dictionary: Dictionary, earlier: Interpreter | None = None
    ) -> None:
        """`earlier` is one whose tallies this one goes on with."""
        self.store = store
        self.answers = ValueMemo(dictionary)
        self.on_pause: Callable[[int], None] = lambda made: None
        self.limit: int | None = None
        """How many facts the change under way may derive, if that is limited."""
        self.reports_reasons = False
        """Whether deltas say which facts rules have begun or ceased to derive."""
        self._machine = _new_machine((earlier.tally if earlier else NO_TALLY).copy())
        self._machine.state[code.EPOCH] = 1
        self._state = self._machine.state.data
        self._rule_lines: dict[str, int] = dict(earlier._rule_lines) if earlier else {}
        self._begun = (perf_counter(), int(ticks()))
        self._fitted: layout.StoredRows | None = None
        self._binder = Binder(store, dictionary, self.line_of)
        self._desk = np.zeros(code.DESK.length, np.int64)
        self._rows: layout.StoredRows | None = None
        self._memo: code.Memo | None = None
        self._consequences: code.Consequences | None = None
        code.DESK.put(self._desk, self._machine)

    # the desk

    def _ready_desk(self) -> NDArray[np.int64]:
        """Everything by address, for the next call of a kernel."""
        if self._rows is not self.store.rows:
            code.DESK.put(self._desk, self.store.rows)
            self._rows = self.store.rows
        answers = self.answers
        if self._memo is not answers.tables or answers.epoch != answers.dictionary.epoch:
            self._memo = answers.memo
            code.DESK.put(self._desk, self._memo)
        return self._desk

    def _follow_single(self, consequences: code.Consequences) -> None:
        if self._consequences is not consequences:
            code.DESK.put(self._desk, consequences)
            self._consequences = consequences

    # working memory

    def bind(self, plans: Sequence[RulePlan]) -> code.BoundPlans:
        """These plans, for this store, and the working memory that they need."""
        bound = self._binder.bind(plans)
        widest = self._fit_buffer()
        binder = self._binder
        slots = max(16, binder.most_slots + 1, binder.most_steps + 2, widest)
        if len(self._machine.env) < slots:
            self._replace(
                env=np.zeros(slots, np.int32),
                cursor=np.zeros(slots, np.int64),
                key=np.zeros(slots, np.int32),
            )
        return bound

    def _fit_buffer(self) -> int:
        """Let the buffer hold facts of every relation there is; the widest of them."""
        widest = max(self.store.width(number) for number in range(self.store.count))
        if len(self._machine.out) < layout.OUT_ROWS * (widest + 2):
            assert self._state[code.OUT_COUNT] == 0, "an empty buffer can be replaced"
            self._replace(out=np.zeros(layout.OUT_ROWS * (widest + 2), np.int32))
        self._fitted = self.store.rows
        return widest

    @uninterrupted
    def _replace(self, **arrays: Any) -> None:
        self._machine = self._machine._replace(**arrays)
        code.DESK.put(self._desk, self._machine)

    @uninterrupted
    def _make_room(self) -> None:
        for relation in range(self.store.count):
            self.store.make_room(relation, layout.OUT_ROWS)
        machine, state = self._machine, self._state
        gains = state[code.GAINS_END] + max(layout.OUT_ROWS, state[code.LOSSES_END])
        for queue, end in (
            (machine.gains, gains),
            (machine.losses, state[code.LOSSES_END] + layout.OUT_ROWS),
        ):
            if end > len(queue):
                queue.resize(max(end, len(queue) + len(queue) // 2), refcheck=False)
        if state[code.LOG_COUNT] + layout.OUT_ROWS > len(machine.log):
            machine.log.resize((len(machine.log) * 2, code.LOG_FIELDS), refcheck=False)
        if state[code.EDGES_COUNT] + code.MOST_EDGE_PLANS > len(machine.edges):
            machine.edges.resize((len(machine.edges) * 2, 2), refcheck=False)
        code.DESK.put(self._desk, machine)

    def line_of(self, rule: str) -> int:
        """The line of the tally for a rule."""
        line = self._rule_lines.setdefault(rule, code.FIRST_RULE + len(self._rule_lines))
        if line >= len(self._machine.tally):
            grown = np.zeros((2 * line, code.TALLY_FIELDS), np.int64)
            grown[: len(self._machine.tally)] = self._machine.tally
            self._replace(tally=grown)
        return line

    @property
    def tally(self) -> NDArray[np.int64]:
        return self._machine.tally

    def seconds_per_tick(self) -> float:
        """How long a tick of the processor's clock takes, seen since the interpreter was made."""
        begun, first = self._begun
        return (perf_counter() - begun) / max(1, int(ticks()) - first)

    def tallies(self) -> dict[str, NDArray[np.int64]]:
        """By rule, what its instances were and cost; "" for those of single triples."""
        found = {rule: self._machine.tally[line] for rule, line in self._rule_lines.items()}
        found[""] = self._machine.tally[code.SINGLE_RULES]
        return {rule: line.copy() for rule, line in found.items()}

    # one change

    @property
    def made(self) -> int:
        """Rows that the change under way has made so far."""
        return self._state[code.MADE]

    @property
    def asserted(self) -> int:
        """Those of them that were asserted."""
        return self._state[code.ASSERTED_COUNT]

    @property
    def epoch(self) -> int:
        """The number of the change under way."""
        return self._state[code.EPOCH]

    @property
    def derivations(self) -> int:
        """Rule instances found since the interpreter was made."""
        return self._state[code.DERIVED]

    def doom(self, *, singles: bool, everything: bool) -> None:
        """Which losses doom a fact besides those of its last plain reason."""
        self._state[code.DOOMS_SINGLE] = singles
        self._state[code.DOOMS_ALL] = everything

    @property
    def dooms_singles(self) -> bool:
        """Whether consequences of single triples may depend on themselves."""
        return bool(self._state[code.DOOMS_SINGLE])

    def know_ways(self, ways: Ways) -> None:
        """The ways back from consequences to asserted triples, from now on."""
        self._replace(**ways._asdict())

    def give(self, relation: int, facts: Ids, support: int) -> None:
        """Give each of these facts one more reason to hold."""
        self.change(code.GAIN, relation, facts, support)

    def take(self, relation: int, facts: Ids, support: int) -> None:
        """Take support from each of these facts; all have it, but perhaps that of an assertion."""
        self.change(code.LOSE, relation, facts, support)

    def change(self, mode: int, relation: int, facts: Ids, support: int) -> None:
        """Give facts a reason to hold, or take one, as the mode says."""
        count = len(facts)
        if not count:
            return
        if self._fitted is not self.store.rows:
            self._fit_buffer()
        if not facts.flags.c_contiguous:
            facts = facts.copy()
        if mode == code.GAIN and count > layout.OUT_ROWS:
            self._expect(relation, count)
        done = 0
        while done < count:
            some, desk = facts[done : done + AT_ONCE], self._ready_desk()
            stored = support_counts.change_facts(desk, mode, relation, some, support, 0)
            done += stored
            if stored < len(some):
                self._make_room()
            if count > AT_ONCE:
                look()

    @uninterrupted
    def _expect(self, relation: int, more: int) -> None:
        """Make room for many facts at once, and for some that they derive."""
        room = more + more // 4 + layout.OUT_ROWS
        self.store.expect(relation, room)
        wanted = self._state[code.GAINS_END] + room
        if wanted > len(self._machine.gains):
            self._machine.gains.resize(wanted, refcheck=False)
            code.DESK.put(self._desk, self._machine)

    def follow(
        self,
        losing: code.BoundPlans,
        plans: code.BoundPlans,
        path: Path | None,
        first: int,
        last: int,
    ) -> int:
        """Take a level through some of its stages; DONE, or LOST_ASIDE before it has lost all."""
        while True:
            consequences = NO_CONSEQUENCES if path is None else path.consequences()
            if consequences is not self._consequences:
                self._follow_single(consequences)
            steps = self.budget if self.limit is None else self._steps()
            desk = self._ready_desk()
            status: int = follow(desk, losing.vector, plans.vector, first, last, steps)
            if status in (code.DONE, code.LOST_ASIDE):
                return status
            first = self._state[code.STAGE]
            self._answer(status, path)

    def run_negative(self, plans: code.BoundPlans, mode: int) -> None:
        """Follow what comes and goes under negated atoms."""
        if len(plans):
            self._state[code.NEGATIVES_AT] = 0
            self._run(plans, mode, code.LOSE if mode == code.GAIN else code.GAIN)

    def run_instances(self, plans: code.BoundPlans, mode: int, given: NDArray[np.int64]) -> None:
        """Give or take every instance of rules whose first atoms these facts fit."""
        self._state[code.NEGATIVES_AT] = 0
        self._state[code.GIVEN_END] = len(given)
        self._run(plans, mode, code.GIVEN, given=given)

    def _run(
        self,
        plans: code.BoundPlans,
        mode: int,
        source: int,
        given: NDArray[np.int64] = NOTHING,
    ) -> None:
        self._follow_single(NO_CONSEQUENCES)
        while True:
            status = run(self._ready_desk(), plans.vector, mode, source, given, self._steps())
            if status == code.DONE:
                return
            self._answer(status, None)

    def _steps(self) -> int:
        """How many steps a kernel may take before it pauses."""
        return self.budget if self.limit is None else min(self.budget, self.limit + FEWEST_STEPS)

    def _pause(self) -> None:
        """Let everyone have a look; where there is a limit, rows that wait are stored, and count."""
        look()
        state = self._state
        state[code.WORK] = 0
        if self.limit is not None and state[code.MODE] == code.GAIN and state[code.OUT_COUNT]:
            while not support_counts.store_waiting(self._ready_desk()):
                self._make_room()
        self.on_pause(self.made)

    def _answer(self, status: int, path: Path | None) -> None:
        asked = self._state[code.ASKED : code.ASKED + 3].tolist()
        if status == code.NEED_ROOM:
            look()
            self._make_room()
        elif status == code.PAUSED:
            self._pause()
        elif status == code.ASK_NUMBER:
            self.answers.answer_number(asked[1])
        elif status == code.ASK_PAIR:
            self.answers.answer_pair(*asked)
        else:
            assert path is not None, "only single triples are asked about"
            path.answer(status, *asked)

    @property
    def has_lost(self) -> bool:
        """Whether the change has taken anything from any fact."""
        return bool(self._state[code.LOSSES_END])

    def has_emptied_kinds(self) -> bool:
        """Whether some kind of triple may have lost its last one since last asked."""
        emptied = bool(self._state[code.EMPTIED])
        self._state[code.EMPTIED] = 0
        return emptied

    def lost_edges(self) -> NDArray[np.int64]:
        """Edges of transitive rules that were lost since last asked: entry, plan."""
        count = self._state[code.EDGES_COUNT]
        self._state[code.EDGES_COUNT] = 0
        return self._machine.edges[:count].copy()

    def see_all(self) -> None:
        """From now on negations see the facts as they are."""
        change_marks.see_all(self._ready_desk())

    def close_pass(self) -> None:
        """Between two passes over the levels."""
        change_marks.close_pass(self._ready_desk())

    def entries(self, gained: bool) -> NDArray[np.int64]:
        """The facts that have come, or gone, so far: relation << 32 | row, repeats included."""
        if gained:
            return self._machine.gains[: self._state[code.GAINS_END]]
        return self._machine.losses[: self._state[code.LOSSES_END]]

    def waiting_gains(self) -> NDArray[np.int64]:
        """Those of the facts that have come which have not been followed yet."""
        return self._machine.gains[self._state[code.GAINS_AT] : self._state[code.GAINS_END]]

    def touched(self, relation: int) -> NDArray[np.int64]:
        """The rows of a relation from before the change that it has touched, counters too."""
        log = self._machine.log[: int(self._state[code.LOG_COUNT])]
        rows: NDArray[np.int64] = log[log[:, code.LOG_RELATION] == relation, code.LOG_ROW]
        return rows

    def delta(self) -> IdDelta:
        """What the change under way has made and ended so far, net."""
        while not change_marks.collect(desk := self._ready_desk()):
            self._replace(
                came=np.empty(self._state[code.MADE], np.int64),
                went=np.empty(self._state[code.LOSSES_END], np.int64),
            )
        added: dict[int, Ids] = {}
        derived: dict[int, Flags] = {}
        removed: dict[int, Ids] = {}
        for facts, flags, entries, field in (
            (added, derived, self._machine.came, code.CAME_LISTED),
            (removed, {}, self._machine.went, code.WENT_LISTED),
        ):
            for shape, relation, mine in (
                self._by_shape(entries, field) if self._state[field] else ()
            ):
                facts[shape] = np.empty((len(mine), 3 if shape == TRIPLES else shape), np.int32)
                flags[shape] = np.empty(len(mine), np.bool_)
                change_marks.read_facts(desk, relation, mine, facts[shape], flags[shape])
        if self.reports_reasons:
            return IdDelta(added, removed, derived, *self._reasons())
        return IdDelta(added, removed, derived)

    def _by_shape(
        self, entries: NDArray[np.int64], field: int
    ) -> Iterable[tuple[int, int, NDArray[np.int64]]]:
        """Entries by shape and relation; one pass over them per relation that has any.

        The field of the state says how many there are, and the next one their relation, if
        they have only one.
        """
        count, only = self._state[field], self._state[field + 1]
        if only >= 0:
            return ((self.store.shape(only), only, entries[:count]),)
        found, relations = [], entries[:count] >> 32
        for shape, relation in self.store.relations.items():
            mine = entries[:count][relations == relation]
            if len(mine):
                found.append((shape, relation, mine))
        return found

    def _reasons(self) -> tuple[dict[int, Ids], dict[int, Ids]]:
        """The facts, by shape, that rules derive now and did not, and the other way round."""
        newly: dict[int, Ids] = {}
        no_longer: dict[int, Ids] = {}
        for shape, relation, entries in self._by_shape(self._machine.came, code.CAME_LISTED):
            rows = entries & ROW_BITS
            _append(
                newly, shape, self.store.columns(relation, rows[self._is_derived(relation, rows)])
            )
        log = self._machine.log[: self._state[code.LOG_COUNT]]
        for shape, relation in self.store.relations.items():
            lines = log[log[:, code.LOG_RELATION] == relation]
            rows, was_closed = lines[:, code.LOG_ROW], lines[:, code.LOG_FLAGS] & bits.CLOSED != 0
            before = (lines[:, code.LOG_PLAIN :] > 0).any(axis=1) | was_closed
            now = self._is_derived(relation, rows)
            _append(newly, shape, self.store.columns(relation, rows[now & ~before]))
            _append(no_longer, shape, self.store.columns(relation, rows[before & ~now]))
        return newly, no_longer

    def _is_derived(self, relation: int, rows: NDArray[np.int64]) -> Flags:
        """Whether some rule derives each of these rows."""
        cells = self.store.cells(relation)
        counted = (cells[rows, layout.PLAIN : layout.SINGLE + 1] > 0).any(axis=1)
        derived: Flags = counted | (cells[rows, layout.FLAGS] & bits.CLOSED != 0)
        return derived

    def nbytes(self) -> int:
        """The memory of the facts and of the change under way."""
        return self.store.nbytes() + sum(array.nbytes for array in self._machine)

    def commit(self) -> None:
        """End the change; what it has made is there to stay."""
        change_marks.settle(self._ready_desk())
        machine = self._machine
        if len(machine.gains) > LARGE or len(machine.losses) > LARGE or len(machine.log) > LARGE:
            self._give_back()

    def roll_back(self) -> None:
        """Undo the change: remove what it made, restore what it touched."""
        change_marks.undo(self._ready_desk())
        self._give_back()

    def _give_back(self) -> None:
        """Keep no more working memory than small changes need."""
        self._replace(
            gains=np.zeros(FEWEST, np.int64),
            losses=np.zeros(FEWEST, np.int64),
            log=np.zeros((FEWEST, code.LOG_FIELDS), np.int64),
            came=np.zeros(FEWEST, np.int64),
            went=np.zeros(FEWEST, np.int64),
        )


def _new_machine(tally: NDArray[np.int64]) -> code.Machine:
    return code.Machine(
        state=np.zeros(code.STATE_FIELDS, np.int64),
        gains=np.zeros(FEWEST, np.int64),
        losses=np.zeros(FEWEST, np.int64),
        edges=np.zeros((FEWEST_EDGES, 2), np.int64),
        out=np.zeros(layout.OUT_ROWS * 6, np.int32),
        log=np.zeros((FEWEST, code.LOG_FIELDS), np.int64),
        env=np.zeros(16, np.int32),
        cursor=np.zeros(16, np.int64),
        key=np.zeros(16, np.int32),
        made=np.zeros(layout.OUT_ROWS, np.int64),
        made_relation=np.zeros(layout.OUT_ROWS, np.int64),
        of_relation=np.zeros(layout.OUT_ROWS, np.int64),
        tags=np.zeros(BLOCK, np.int64),
        answer=np.zeros(2, np.int64),
        tally=tally,
        rule_of=np.zeros(layout.OUT_ROWS, np.int64),
        came=np.zeros(FEWEST, np.int64),
        went=np.zeros(FEWEST, np.int64),
        **NO_WAYS._asdict(),
        probe=np.zeros(4, np.int32),
    )


def _append(by_shape: dict[int, Ids], shape: int, facts: Ids) -> None:
    if len(facts):
        known = by_shape.get(shape)
        by_shape[shape] = facts if known is None else np.concatenate([known, facts])
