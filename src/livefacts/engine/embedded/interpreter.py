"""The interpreter: drives the fixpoint kernel, gives it room and answers, ends or undoes a change.

A change is: support facts, run levels, then `commit` or `roll_back`.  Rows from before
the change are copied into a log when they are first touched, so undoing costs what the
change cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.engine.embedded import machine as code
from livefacts.engine.embedded import storing
from livefacts.engine.embedded.binding import Binder
from livefacts.engine.embedded.interpret import run
from livefacts.engine.embedded.memory import Answers
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import (
    ASSERTED,
    CLOSED,
    FLAGS,
    OUT_ROWS,
    PLAIN,
    RECURSIVE,
    TOUCHED,
)
from livefacts.store.rowkernels import BLOCK
from livefacts.store.rows import RowStore

BUDGET = 300_000
"""Work between two looks at interrupts, limits and progress: some 50 ms."""
FEWEST = 2 * OUT_ROWS

NO_CONSEQUENCES = code.Consequences(np.zeros((2, 5), np.int64), np.zeros((1, 3), np.int32), False)

Asked = Callable[[int, int, int], None]


class Interpreter:
    """One store under change."""

    budget = BUDGET

    def __init__(self, store: RowStore, dictionary: Dictionary) -> None:
        self.store = store
        self.answers = Answers(dictionary)
        self.on_pause: Callable[[int], None] = lambda made: None
        self._machine = code.Machine(
            state=np.zeros(code.STATE_FIELDS, np.int64),
            queue=np.zeros(FEWEST, np.int64),
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
        widest = max(self.store.width(number) for number in range(self.store.count))
        if len(self._machine.out) < OUT_ROWS * (widest + 2):
            assert self._machine.state[code.OUT_COUNT] == 0, "plans are bound between changes"
            self._replace(out=np.zeros(OUT_ROWS * (widest + 2), np.int32))
        slots = max(16, binder.most_slots + 1, binder.most_steps + 2, widest)
        if len(self._machine.env) < slots:
            self._replace(
                env=np.zeros(slots, np.int32),
                cursor=np.zeros(slots, np.int64),
                key=np.zeros(slots, np.int32),
            )

    def _replace(self, **arrays: Any) -> None:
        self._machine = self._machine._replace(**arrays)

    def _make_room(self) -> None:
        for relation in range(self.store.count):
            self.store.make_room(relation, OUT_ROWS)
        state, queue, log = self._machine.state, self._machine.queue, self._machine.log
        if state[code.QUEUE_END] + OUT_ROWS > len(queue):
            queue.resize(len(queue) + max(len(queue) // 2, OUT_ROWS), refcheck=False)
        if state[code.LOG_COUNT] + OUT_ROWS > len(log):
            log.resize((len(log) * 2, code.LOG_FIELDS), refcheck=False)

    # one change

    @property
    def made(self) -> int:
        """Rows that the change under way has made so far."""
        return int(self._machine.state[code.MADE])

    @property
    def derivations(self) -> int:
        """Rule instances found since the interpreter was made."""
        return int(self._machine.state[code.DERIVED])

    def support(self, relation: int, facts: Ids, support: int) -> None:
        """Give each of these facts one more reason to hold; new ones wait to be pivots."""
        self._store_waiting()
        facts = np.ascontiguousarray(facts, np.int32)
        done = 0
        while done < len(facts):
            done = storing.support_facts(
                self.store.rows, self._machine, relation, facts, support, done
            )
            if done < len(facts):
                self._make_room()

    def _store_waiting(self) -> None:
        width = len(self._machine.out) // OUT_ROWS
        while not storing.store_out(self.store.rows, self._machine, width):
            self._make_room()

    def run(
        self,
        plans: code.Plans,
        consequences: Callable[[], code.Consequences] = lambda: NO_CONSEQUENCES,
        on_key: Asked | None = None,
        on_schema: Asked | None = None,
    ) -> None:
        """Run plans to their fixpoint; `on_key` and `on_schema` answer the kernel's questions."""
        state = self._machine.state
        while True:
            status = run(
                self.store.rows,
                plans,
                consequences(),
                self.answers.memo,
                self._machine,
                self.budget,
            )
            asked = (int(state[code.ASKED]), int(state[code.ASKED + 1]), int(state[code.ASKED + 2]))
            if status == code.DONE:
                return
            if status == code.NEED_ROOM:
                self._make_room()
            elif status == code.PAUSED:
                self.on_pause(self.made)
            elif status == code.ASK_NUMBER:
                self.answers.answer_number(asked[1])
            elif status == code.ASK_PAIR:
                self.answers.answer_pair(*asked)
            elif status == code.ASK_KEY:
                assert on_key is not None
                on_key(*asked)
            else:
                assert on_schema is not None
                on_schema(*asked)

    def start_level(self) -> None:
        """Make every fact of the change a pivot again, for the rules of the next level."""
        storing.hide_queue(self.store.rows, self._machine)
        self._machine.state[code.QUEUE_AT] = 0

    def commit(self) -> IdDelta:
        """End the change; the facts it has made are there to stay."""
        delta = IdDelta()
        for shape, relation in self.store.shapes().items():
            made = np.empty(self.made, np.int64)
            count = storing.settle(self.store.rows, self._machine, relation, made)
            if count:
                rows = made[:count]
                delta.added[shape] = self.store.columns(relation, rows)
                delta.derived[shape] = self.store.flags(relation)[rows] & ASSERTED == 0
                by_rules = self._is_derived(relation, rows)
                if by_rules.any():
                    delta.newly_derived[shape] = delta.added[shape][by_rules]
        self._settle_log(delta)
        self._forget()
        return delta

    def _settle_log(self, delta: IdDelta) -> None:
        log = self._log()
        for shape, relation in self.store.shapes().items():
            lines = log[log[:, 0] == relation]
            if not len(lines):
                continue
            rows = lines[:, 1]
            self.store.cells(relation)[rows, FLAGS] &= ~TOUCHED
            before = (lines[:, 3] > 0) | (lines[:, 4] > 0) | (lines[:, 2] & CLOSED != 0)
            gained = rows[self._is_derived(relation, rows) & ~before]
            if len(gained):
                new = self.store.columns(relation, gained)
                old = delta.newly_derived.get(shape)
                delta.newly_derived[shape] = new if old is None else np.concatenate([old, new])

    def _is_derived(self, relation: int, rows: NDArray[np.int64]) -> Flags:
        """Whether some rule derives each of these rows."""
        cells = self.store.cells(relation)
        counted = (cells[rows, PLAIN] > 0) | (cells[rows, RECURSIVE] > 0)
        derived: Flags = counted | (cells[rows, FLAGS] & CLOSED != 0)
        return derived

    def roll_back(self) -> None:
        """Undo the change: remove what it made, restore what it touched."""
        storing.undo(self.store.rows, self._machine)
        self._forget()

    def _log(self) -> NDArray[np.int64]:
        return self._machine.log[: int(self._machine.state[code.LOG_COUNT])]

    def _forget(self) -> None:
        derivations = self.derivations
        self._machine.state[:] = 0
        self._machine.state[code.DERIVED] = derivations
        if len(self._machine.queue) > 1 << 16:
            self._replace(queue=np.zeros(FEWEST, np.int64))
        if len(self._machine.log) > 1 << 16:
            self._replace(log=np.zeros((FEWEST, code.LOG_FIELDS), np.int64))
