"""Binding: plans in terms become tables of ids over one store.

Each plan numbers its variables, those of the pivot first.  An atom is looked up through
the index on exactly the columns that are bound when it is reached; the index is made if
it is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from livefacts.engine.embedded import machine as code
from livefacts.errors import RuleError
from livefacts.plan.operators import Absent, Compute, Match, RulePlan, Step, Test
from livefacts.plan.order import COPY, SAME
from livefacts.rules.formula import Atom, Slot, TripleAtom, Variable
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import CLOSED, EDGE, ROOT
from livefacts.store.rows import TRIPLES, RowStore

MOST_COLUMNS = 60
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
    "datatype": code.DATATYPE,
}


def relation_of(store: RowStore, atom: Atom) -> int:
    """The relation whose facts can fit an atom."""
    if isinstance(atom, TripleAtom):
        return store.relation(TRIPLES)
    if len(atom.slots) > MOST_COLUMNS:
        raise RuleError(f"{atom.name} has more than {MOST_COLUMNS - 1} arguments", place=atom.place)
    return store.relation(1 + len(atom.arguments))


class Binder:
    """Collects bound plans; `finish` gives the tables the kernel reads."""

    def __init__(
        self, store: RowStore, dictionary: Dictionary, line_of: Callable[[str], int]
    ) -> None:
        self._store = store
        self._line_of = line_of
        self._dictionary = dictionary
        self._plans: list[list[int]] = []
        self._steps: list[list[int]] = []
        self._patterns: list[int] = []
        self._by_key: dict[tuple[int, int], list[int]] = {}
        self._ids: dict[Slot, int] = {}
        self.most_slots = 0
        self.most_steps = 0

    def add(self, plan: RulePlan) -> None:
        variables: dict[Variable, int] = {}
        relation = relation_of(self._store, plan.pivot)
        pivot = self._pattern(plan.pivot.slots, variables)
        first = len(self._steps)
        for step in plan.steps:
            self._steps.append(self._bound_step(step, variables))
        head = relation_of(self._store, plan.head)
        self._by_key.setdefault(self._bucket(relation, pivot), []).append(len(self._plans))
        self._plans.append(
            [
                first,
                len(plan.steps),
                pivot,
                EDGE if plan.pivot_is_edge else 0,
                head,
                self._pattern(plan.head.slots, variables),
                _support(plan),
                self._line_of(plan.rule.id),
            ]
        )
        self.most_slots = max(self.most_slots, len(variables))
        self.most_steps = max(self.most_steps, len(plan.steps))

    def finish(self) -> code.BoundPlans:
        listed: list[int] = []
        buckets = np.zeros((_table_size(len(self._by_key)), 4), np.int64)
        for (first, second), plans in self._by_key.items():
            at = code.place_entry(buckets, first, second)
            buckets[at] = first, second, len(listed), len(plans)
            listed.extend(plans)
        tables = code.Plans(
            np.array(self._plans, np.int64).reshape(-1, code.PLAN_FIELDS),
            np.array(self._steps, np.int64).reshape(-1, code.STEP_FIELDS),
            np.array(self._patterns, np.int32),
            buckets,
            np.array(listed, np.int64),
        )
        return code.BoundPlans(tables)

    def _bucket(self, relation: int, pattern: int) -> tuple[int, int]:
        """Under which key of predicate and object a fact finds this plan."""
        if relation != TRIPLES:
            return (relation << 32) | (self._patterns[pattern] + 1), 0
        predicate, obj = self._patterns[pattern + 1], self._patterns[pattern + 2]
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
        at = len(self._patterns)
        self._patterns.extend(self._slot(slot, variables) for slot in slots)
        return at

    def _bound_step(self, step: Step, variables: dict[Variable, int]) -> list[int]:
        match step:
            case Match():
                return self._match(step, variables)
            case Absent(atom, before):
                relation = relation_of(self._store, atom)
                index = self._store.index(relation, range(len(atom.slots)))
                pattern = self._pattern(atom.slots, variables)
                return [code.ABSENT, relation, index, pattern, 0, 0, 0, int(before)]
            case Test(operator, left, right):
                operands = self._slot(left, variables), self._slot(right, variables)
                return [code.COMPARE, OPERATORS[operator], *operands, 0, 0, 0, 0]
            case Compute(target, operator, left, right):
                operands = self._slot(left, variables), self._slot(right, variables)
                into = self._slot(target, variables)
                return [code.COMPUTE, OPERATORS[operator], *operands, into, 0, 0, 0]

    def _match(self, step: Match, variables: dict[Variable, int]) -> list[int]:
        relation = relation_of(self._store, step.atom)
        known = set(variables)
        bound = [
            column
            for column, slot in enumerate(step.atom.slots)
            if not isinstance(slot, Variable) or slot in known
        ]
        needs = EDGE if step.edges_only else 0
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


def bind(
    plans: Iterable[RulePlan],
    store: RowStore,
    dictionary: Dictionary,
    line_of: Callable[[str], int],
) -> tuple[code.BoundPlans, Binder]:
    """The tables of these plans; the binder knows how much working memory they need.

    `line_of` gives the line in which the instances of a rule are counted.
    """
    binder = Binder(store, dictionary, line_of)
    for plan in plans:
        binder.add(plan)
    return binder.finish(), binder


def _support(plan: RulePlan) -> int:
    """What an instance of the rule does to its head."""
    if plan.transitive:
        return ROOT | CLOSED
    return EDGE | ROOT | (code.COUNT_RECURSIVE if plan.recursive else code.COUNT_PLAIN)


def _table_size(entries: int) -> int:
    size = 8
    while size < 2 * entries + 2:
        size *= 2
    return size
