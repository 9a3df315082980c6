"""Bound plans: plans over terms become tables of ids over one store.

Each plan numbers its variables, those of the pivot first.  An atom is looked up through
the index on exactly the columns that are bound when it is reached; the index is made if
it is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.kernel import registers as code
from livefacts.errors import RuleError
from livefacts.language.formula import Atom, Slot, TripleAtom, Variable
from livefacts.plan.rules.join_order import COPY, SAME
from livefacts.plan.rules.operators import AntiJoin, Bind, RulePlan, Scan, Step, Test
from livefacts.store.facts import bits
from livefacts.store.facts.row_store import TRIPLES, RowStore
from livefacts.store.machine_code import kernel
from livefacts.store.terms.dictionary import Dictionary

MOST_COLUMNS = 60
MOST_RECENT = 8
"""How many sets of plans are kept at hand."""
MOST_BOUND = 1 << 17
"""Beyond so many plans, most of which are gone, binding starts anew."""
OPERATORS = {
    "=": code.EQUAL,
    "!=": code.UNEQUAL,
    "<": code.LESS,
    "<=": code.AT_MOST,
    ">": code.MORE,
    ">=": code.AT_LEAST,
    "+": code.ADD,
    "-": code.SUBTRACT,
    "*": code.MULTIPLY,
    "/": code.DIVIDE,
    COPY: code.COPY,
    SAME: code.SAME,
    "is not": code.DIFFERENT,
    "datatype": code.DATATYPE,
    "value": code.VALUE,
    "kind": code.NARROWEST,
}


def relation_of(store: RowStore, atom: Atom) -> int:
    """The relation whose facts can fit an atom."""
    if isinstance(atom, TripleAtom):
        return store.relation(TRIPLES)
    if len(atom.slots) > MOST_COLUMNS:
        raise RuleError(f"{atom.name} has more than {MOST_COLUMNS - 1} arguments", place=atom.place)
    return store.relation(1 + len(atom.arguments))


class Binder:
    """Binds each plan once, and makes of any of them the tables that the kernel reads.

    Sets of plans share the tables of all plans bound so far; they differ in which of them a
    fact finds.  `line_of` gives the line in which the instances of a rule are counted.
    """

    def __init__(
        self, store: RowStore, dictionary: Dictionary, line_of: Callable[[str], int]
    ) -> None:
        self._store = store
        self._dictionary = dictionary
        self._line_of = line_of
        self._ids: dict[Slot, int] = {}
        self.most_slots = 0
        self.most_steps = 0
        self._recent: list[tuple[tuple[RulePlan, ...], code.BoundPlans]] = []
        self._start()

    def _start(self) -> None:
        self._numbers: dict[int, int] = {}
        self._bound: list[RulePlan] = []
        """Kept alive: plans are known by their address."""
        self._keys: dict[int, tuple[int, int]] = {}
        self._plans = Growing(np.zeros((64, code.PLAN_FIELDS), np.int64))
        self._steps = Growing(np.zeros((64, code.STEP_FIELDS), np.int64))
        self._patterns = Growing(np.zeros(256, np.int32))

    def bind(self, plans: Sequence[RulePlan]) -> code.BoundPlans:
        """The tables for these plans."""
        wanted = tuple(plans)
        for known, bound in self._recent:
            if known == wanted:
                return bound
        if len(self._bound) > MOST_BOUND:
            self._start()
        numbers = [self._number(plan) for plan in wanted]
        bound = code.BoundPlans(
            code.Plans(
                self._plans.cells,
                self._steps.cells,
                self._patterns.cells,
                *bucketed(numbers, [self._keys[number] for number in numbers]),
            )
        )
        self._recent = [(wanted, bound), *self._recent[: MOST_RECENT - 1]]
        return bound

    def _number(self, plan: RulePlan) -> int:
        number = self._numbers.get(id(plan))
        if number is None:
            number = self._numbers[id(plan)] = self._add(plan)
        return number

    def _add(self, plan: RulePlan) -> int:
        variables: dict[Variable, int] = {}
        relation = relation_of(self._store, plan.pivot)
        pivot = self._pattern(plan.pivot.slots, variables)
        steps = [self._bound_step(step, variables) for step in plan.steps]
        head = relation_of(self._store, plan.head)
        self.most_slots = max(self.most_slots, len(variables))
        self.most_steps = max(self.most_steps, len(plan.steps))
        line = [
            self._steps.append(steps),
            len(steps),
            pivot,
            bits.EDGE if plan.pivot_is_edge else 0,
            head,
            self._pattern(plan.head.slots, variables),
            _support(plan),
            self._line_of(plan.rule.id),
        ]
        number = self._plans.append([line])
        self._keys[number] = self._bucket(relation, pivot)
        self._bound.append(plan)
        return number

    def _bucket(self, relation: int, pattern: int) -> tuple[int, int]:
        """Under which key of predicate and object a fact finds this plan."""
        if relation != TRIPLES:
            return (relation << 32) | (int(self._patterns.cells[pattern]) + 1), 0
        predicate, obj = self._patterns.cells[pattern + 1 : pattern + 3].tolist()
        if predicate < 0:
            return (relation + 1) << code.ANY_FACT, 0
        return (relation << 32) | (predicate + 1), obj + 1 if obj >= 0 else 0

    def _slot(self, slot: Slot, variables: dict[Variable, int]) -> int:
        """An id for a term, or a negative number for a variable."""
        if isinstance(slot, Variable):
            return -1 - variables.setdefault(slot, len(variables))
        known = self._ids.get(slot)
        if known is None:
            known = self._ids[slot] = int(self._dictionary.encode_one(slot))
        return known

    def _pattern(self, slots: Sequence[Slot], variables: dict[Variable, int]) -> int:
        return self._patterns.append([self._slot(slot, variables) for slot in slots])

    def _bound_step(self, step: Step, variables: dict[Variable, int]) -> list[int]:
        match step:
            case Scan():
                return self._match(step, variables)
            case AntiJoin(atom, before):
                relation = relation_of(self._store, atom)
                index = self._store.index(relation, range(len(atom.slots)))
                pattern = self._pattern(atom.slots, variables)
                return [code.ABSENT, relation, index, pattern, 0, 0, 0, int(before)]
            case Test(operator, left, right):
                operands = self._slot(left, variables), self._slot(right, variables)
                return [code.COMPARE, OPERATORS[operator], *operands, 0, 0, 0, 0]
            case Bind(target, operator, left, right):
                operands = self._slot(left, variables), self._slot(right, variables)
                into = self._slot(target, variables)
                return [code.COMPUTE, OPERATORS[operator], *operands, into, 0, 0, 0]

    def _match(self, step: Scan, variables: dict[Variable, int]) -> list[int]:
        relation = relation_of(self._store, step.atom)
        known = set(variables)
        bound = [
            column
            for column, slot in enumerate(step.atom.slots)
            if not isinstance(slot, Variable) or slot in known
        ]
        needs = bits.EDGE if step.edges_only else 0
        index, covered = self._lookup(relation, bound, needs)
        binds = checks = 0
        for column, slot in enumerate(step.atom.slots):
            if isinstance(slot, Variable) and slot not in known:
                known.add(slot)
                binds |= 1 << column
            elif column not in covered:
                checks |= 1 << column
        pattern = self._pattern(step.atom.slots, variables)
        return [code.MATCH, relation, index, pattern, binds, checks, needs, int(step.before)]

    def _lookup(self, relation: int, bound: Sequence[int], needs: int) -> tuple[int, set[int]]:
        """The index to use for these bound columns, and the columns it covers."""
        columns = list(bound)
        if len(columns) == self._store.width(relation):
            return self._store.index(relation, columns), set(columns)
        while columns and not self._store.has_index_room(relation, columns, needs):
            columns.pop()
        if not columns:
            return code.SCAN, set()
        return self._store.index(relation, columns, needs), set(columns)


class Growing:
    """A table to which lines are appended; whoever holds an old one keeps what was in it."""

    def __init__(self, cells: NDArray[Any]) -> None:
        self.cells = cells
        self._used = 0

    def append(self, lines: Sequence[Any]) -> int:
        """Append lines; returns where the first of them is."""
        at, end = self._used, self._used + len(lines)
        if end > len(self.cells):
            grown = np.zeros((2 * end, *self.cells.shape[1:]), self.cells.dtype)
            grown[:at] = self.cells[:at]
            self.cells = grown
        if lines:
            self.cells[at:end] = lines
        self._used = end
        return at


def bucketed(
    numbers: Sequence[int], keys: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Plans by their keys: a table of buckets, and the numbers that lie in them."""
    first, second = np.array(keys, np.int64).reshape(-1, 2).T.copy()
    order = np.lexsort((second, first))
    buckets = np.zeros((_table_size(len(numbers)), 4), np.int64)
    fill_buckets(buckets, first[order], second[order])
    return buckets, np.array(numbers, np.int64)[order]


@kernel
def fill_buckets(buckets: Any, first: Any, second: Any) -> Any:
    """One bucket for each run of equal keys: where it begins, and how long it is."""
    begin = 0
    for i in range(1, first.shape[0] + 1):
        is_last = i == first.shape[0]
        if is_last or first[i] != first[begin] or second[i] != second[begin]:
            at = code.place_entry(buckets, first[begin], second[begin])
            buckets[at, 0] = first[begin]
            buckets[at, 1] = second[begin]
            buckets[at, 2] = begin
            buckets[at, 3] = i - begin
            begin = i


def _support(plan: RulePlan) -> int:
    """What an instance of the rule does to its head."""
    if plan.transitive:
        return bits.ROOT | bits.CLOSED
    return bits.EDGE | bits.ROOT | (code.COUNT_RECURSIVE if plan.recursive else code.COUNT_PLAIN)


def _table_size(entries: int) -> int:
    size = 8
    while size < 2 * entries + 2:
        size *= 2
    return size
