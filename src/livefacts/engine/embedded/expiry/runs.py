"""Runs of the lifetime kernels: the driver that gives them room and answers.

A kernel stops when its work budget is used up, when it needs room, or when it needs the
value of a literal; it goes on from there.  Nothing is kept that one change leaves behind,
except the heap of expiration times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.expiry import lifetime_kernels as kernels
from livefacts.engine.embedded.expiry import timed_layout as timed
from livefacts.engine.embedded.expiry import timed_rows
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.bound_plans import Binder
from livefacts.engine.embedded.kernel.value_memory import ValueMemo
from livefacts.model.work_bounds import look
from livefacts.plan.rules.operators import RulePlan
from livefacts.store.facts import layout
from livefacts.store.facts.row_kernels import BLOCK
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary

Ids = NDArray[np.int32]
Longs = NDArray[np.int64]
BUDGET = 300_000
"""Steps between two looks at interrupts, bounds and progress: some 30 ms."""
FEWEST_STEPS = 1_000
"""Steps between two looks, at least, however small a limit is."""
FEWEST = 2 * kernels.MOST_OUT
LARGE = 1 << 16
"""Working memory longer than this is given back after a change."""
NOTHING: Longs = np.zeros(0, np.int64)
Tables: TypeAlias = layout.StoredRows | code.Memo | timed.Times


class Runs:
    """The kernels on one store of expiring rows."""

    budget = BUDGET

    def __init__(self, dictionary: Dictionary) -> None:
        self.store = RowStore(timed.SPARE_CELLS)
        self.on_pause: Callable[[int], None] = lambda made: None
        self.limit: int | None = None
        """How many facts the change under way may derive, if that is limited."""
        self._dictionary = dictionary
        self._binder = Binder(self.store, dictionary, lambda rule: 0)
        self._times = _new_times()
        self._state = self._times.state
        self.now = int(timed.NEVER)
        self._desk = np.zeros(timed.DESK.length, np.int64)
        self._on_desk: list[Tables | None] = [None, None, None]
        self._is_used = False
        """Whether a kernel may have been called since the last change."""

    @cached_property
    def _answers(self) -> ValueMemo:
        return ValueMemo(self._dictionary)

    def bind(self, plans: Sequence[RulePlan]) -> code.BoundPlans:
        """These plans, for this store."""
        bound = self._binder.bind(plans)
        binder = self._binder
        depth = max(16, binder.most_slots + 1, binder.most_steps + 3)
        if len(self._times.env) < depth:
            self._replace(
                env=np.zeros(depth, np.int32),
                cursor=np.zeros(depth, np.int64),
                least=np.zeros(depth, np.int64),
            )
        return bound

    # the desk

    def desk(self) -> Longs:
        """Everything by address, for the next call of a kernel."""
        rows, before = self.store.rows, self._on_desk
        if before[0] is not rows:
            self._fit_buffer()
        tables: tuple[Tables, ...] = rows, self._answers.memo, self._times
        for place, table in enumerate(tables):
            if before[place] is not table:
                timed.DESK.put(self._desk, table)
                before[place] = table
        self._is_used = True
        return self._desk

    def _fit_buffer(self) -> None:
        widest = 1 + max(self.store.width(number) for number in range(self.store.count))
        if len(self._times.out) < kernels.MOST_OUT * widest:
            assert self._state[code.OUT_COUNT] == 0, "an empty buffer can be replaced"
            self._replace(
                out=np.zeros(kernels.MOST_OUT * widest, np.int32),
                key=np.zeros(widest, np.int32),
            )

    def _replace(self, **arrays: Any) -> None:
        self._times = self._times._replace(**arrays)

    # room

    def _make_room(self) -> None:
        for relation in range(self.store.count):
            self.store.make_room(relation, kernels.MOST_OUT)
        self._fit("log", int(self._state[code.LOG_COUNT]))
        self._fit("waiting", int(self._state[timed.HEAPED]))
        self._fit("fallen", int(self._state[timed.FALLEN_END]))

    def _fit(self, name: str, used: int, more: int = kernels.MOST_OUT) -> None:
        """Let one of the tables take so many lines more."""
        old = getattr(self._times, name)
        if used + more > len(old):
            grown = np.zeros((max(used + more, 2 * len(old)), *old.shape[1:]), np.int64)
            grown[:used] = old[:used]
            self._replace(**{name: grown})

    def expect(self, relation: int, more: int) -> None:
        """Make room for many facts at once."""
        if more > kernels.MOST_OUT:
            self.store.expect(relation, more + kernels.MOST_OUT)

    # one change

    @property
    def now(self) -> int:
        """Nothing holds only until then, or less."""
        return int(self._state[timed.NOW])

    @now.setter
    def now(self, time: int) -> None:
        self._state[timed.NOW] = time

    @property
    def made(self) -> int:
        """Rows that the change under way has made so far."""
        return int(self._state[code.MADE])

    @property
    def derivations(self) -> int:
        """Instances of rules that were found, ever."""
        return int(self._state[code.DERIVED])

    def tell(self, relation: int, facts: Ids, until: Longs) -> None:
        """These facts hold at least until then."""
        self.expect(relation, len(facts))
        self._in_parts(kernels.tell, relation, facts, until)

    def conclude(self, relation: int, facts: Ids) -> None:
        """These facts, which are new, follow for ever; no rule has to find them."""
        self.expect(relation, len(facts))
        self.store.insert(relation, facts)
        cells, rows = self.store.cells(relation), self.store.find(relation, facts)
        behind = layout.COLUMN + self.store.width(relation)
        for cell, time in (
            (timed.UNTIL, timed.FOREVER),
            (behind + timed.ASSERTED_BEHIND, timed.NEVER),
            (behind + timed.LISTED_BEHIND, timed.NEVER),
        ):
            cells[rows, cell : cell + 2] = np.array([time], "<i8").view("<i4")

    def retract(self, relation: int, facts: Ids, until: Longs) -> None:
        """These facts are asserted to hold no longer than until then."""
        self._in_parts(kernels.retract, relation, facts, until)

    def _in_parts(self, kernel: Any, relation: int, facts: Ids, until: Longs) -> None:
        values, done = np.ascontiguousarray(facts, np.int32).reshape(-1), 0
        while done < len(until):
            done = kernel(self.desk(), relation, values, until, done)
            if done < len(until):
                self._make_room()

    def run(self, plans: code.BoundPlans, mode: int, given: Longs = NOTHING) -> None:
        """Take all rows that a mode is about."""
        self._state[timed.GIVEN_AT] = 0
        limit = self.budget if self.limit is None else self.limit + FEWEST_STEPS
        while True:
            steps = min(self.budget, limit)
            status = kernels.run(self.desk(), plans.vector, mode, given, steps)
            if status == code.DONE:
                return
            first, second, third = self._state[code.ASKED : code.ASKED + 3].tolist()
            if status == code.NEED_ROOM:
                self._make_room()
            elif status == code.PAUSED:
                look()
                self._state[code.WORK] = 0
                self.on_pause(self.made)
            elif status == code.ASK_NUMBER:
                self._answers.answer_number(second)
            else:
                assert status == code.ASK_PAIR, "nothing else is asked"
                self._answers.answer_pair(first, second, third)

    @property
    def has_risen(self) -> bool:
        """Whether some rows hold for longer now, which rules have still to follow."""
        return bool(self._state[timed.HEAPED])

    @property
    def has_fallen(self) -> bool:
        return bool(self._state[timed.FALLEN_END])

    def fall(self) -> None:
        """What was overdeleted lasts as long as it was asserted to, if that is after now."""
        while not kernels.fall(self.desk()):
            self._fit("waiting", int(self._state[timed.HEAPED]), int(self._state[timed.FALLEN_END]))

    def log(self) -> Longs:
        """What the change has touched: entry, `until` and `asserted` as they were."""
        return self._times.log[: int(self._state[code.LOG_COUNT])]

    def times(self, relation: int, rows: Longs) -> tuple[Longs, Longs]:
        """`until` and `asserted` of rows."""
        until, asserted = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        timed_rows.read_times(self.desk(), relation, rows, until, asserted)
        return until, asserted

    def rows(
        self, relation: int, where: Mapping[int, int], after: int, upto: int
    ) -> tuple[Ids, Longs]:
        """The facts with these values in these columns that end within a span, and when."""
        width, live = self.store.width(relation), self.store.live(relation)
        columns = self.store.widest_index(relation, list(where))
        index = self.store.index(relation, columns) if columns else code.SCAN
        wanted = [where.get(column, -1) for column in range(width)]
        pattern = np.array(wanted + [where[column] for column in columns], np.int32)
        span = np.array([after, upto], np.int64)
        facts, until = np.empty((live, width), np.int32), np.empty(live, np.int64)
        count = timed_rows.read_rows(self.desk(), relation, index, pattern, span, facts, until)
        if count < live // 2:
            return facts[:count].copy(), until[:count].copy()
        return facts[:count], until[:count]

    def expect_endings(self) -> None:
        """Make the room that settling needs."""
        more = int(self._state[code.LOG_COUNT])
        self._fit("endings", int(self._state[timed.LISTED]), more)

    def settle(self) -> None:
        """The change is made."""
        if self._is_used:
            timed_rows.settle(self.desk())
            self._give_back()
            self._is_used = False

    def undo(self) -> None:
        """Everything is as it was before the change."""
        timed_rows.undo(self.desk())
        self._give_back()

    def _give_back(self) -> None:
        """Keep no more working memory than small changes need."""
        for name in ("log", "waiting", "fallen"):
            old = getattr(self._times, name)
            if len(old) > LARGE:
                self._replace(**{name: np.zeros((FEWEST, *old.shape[1:]), np.int64)})

    # endings

    def take_ended(self, now: int) -> Longs:
        """The rows that last no longer than `now`; they are listed no more."""
        ended, count = np.empty(FEWEST, np.int64), 0
        while True:
            count = timed_rows.take_ended(self.desk(), now, ended, count)
            if count < len(ended):
                return ended[:count]
            ended = np.concatenate([ended, np.empty_like(ended)])

    def remove(self, relation: int, rows: Longs) -> None:
        timed_rows.remove_rows(self.desk(), relation, rows)

    @property
    def listed(self) -> int:
        """How many rows are known to end."""
        return int(self._state[timed.LISTED])


def _new_times() -> timed.Times:
    most = kernels.MOST_OUT
    return timed.Times(
        state=np.zeros(timed.STATE_FIELDS, np.int64),
        waiting=np.zeros((FEWEST, 2), np.int64),
        endings=np.zeros((FEWEST, 2), np.int64),
        log=np.zeros((FEWEST, timed.LOG_FIELDS), np.int64),
        fallen=np.zeros(FEWEST, np.int64),
        out=np.zeros(most * 4, np.int32),
        out_until=np.zeros(most, np.int64),
        env=np.zeros(16, np.int32),
        cursor=np.zeros(16, np.int64),
        least=np.zeros(16, np.int64),
        key=np.zeros(4, np.int32),
        made=np.zeros(most, np.int64),
        made_relation=np.zeros(most, np.int64),
        of_relation=np.zeros(most, np.int64),
        tags=np.zeros(BLOCK, np.int64),
        answer=np.zeros(2, np.int64),
    )
