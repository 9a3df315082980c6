"""Differences: everything derived again from what is asserted, compared with what the engine keeps.

The plain rules are evaluated set at a time into tables of their own: no counters, no
transitive module, no single triples, no kernel.  Then rule instances are counted once,
and facts, flags and support counts are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.recheck.batch_closure import add_new, close
from livefacts.engine.embedded.recheck.column_joins import Model
from livefacts.engine.embedded.recheck.expected_support import (
    CountingScheme,
    Supports,
    count_supports,
    counters_of,
    no_supports,
)
from livefacts.engine.embedded.recheck.id_tables import Numbers
from livefacts.language.formula import Aggregate
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.plan.rules.normal_form import TRUE, normalize
from livefacts.store.facts import bits, layout
from livefacts.store.facts.integrity import broken
from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.facts.row_store import TRIPLES

MISSING, UNFOUNDED, TWICE = "missing", "unfounded", "twice"
RULES, INDEX, BOOKS = "rules", "index", "books"
LASTING = (
    bits.LIVE
    | bits.ASSERTED
    | bits.VISIBLE
    | bits.EDGE
    | bits.ROOT
    | bits.CLOSED
    | bits.KNOWN_SCHEMA
    | bits.IN_DEFAULT
)
KEPT = 100
"""Of each kind of difference, at most so many are listed."""


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One fact, or one part of the store, that is not as it should be."""

    kind: str
    shape: int
    fact: tuple[int, ...]
    expected: int = 0
    found: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, and what differs: the first of each kind, and how many there are."""

    facts: int
    instances: int
    differences: tuple[RowDifference, ...]
    counts: dict[str, int]


def verify_engine(
    engine: EmbeddedEngine,
    rules: Sequence[Rule],
    others: Mapping[int, Ids],
    followed: Sequence[Rule] | None = None,
) -> Verified:
    """Compare an engine with what follows from its assertions.

    `others` are facts that named graphs and streams assert; `followed` are the rules as they
    are followed, if those differ.
    """
    return _Verification(engine, rules, others, followed).verified()


class _Verification:
    def __init__(
        self,
        engine: EmbeddedEngine,
        rules: Sequence[Rule],
        others: Mapping[int, Ids],
        followed: Sequence[Rule] | None,
    ) -> None:
        self._engine, self._store = engine, engine.store
        self._rules = normalize(rules)
        # What is true follows from the rules as they are written; reasons are counted for the
        # rules as they are followed.
        self._followed = self._rules if followed is None else followed
        self._others = {shape: np.ascontiguousarray(ids) for shape, ids in others.items()}
        self._model = Model(engine.dictionary)
        self._counting = _counting_of(engine)
        # Before the first change, the fact that is always true waits to be part of it.
        self._unsettled = bits.FRESH | bits.CAME if engine.interpreter.made else 0
        self._found: list[RowDifference] = []
        self._counts: dict[str, int] = {}

    def verified(self) -> Verified:
        self._take_asserted()
        close(self._model, self._rules)
        supports = {shape: no_supports(n) for shape, n in self._model.counts().items()}
        self._mark_asserted(supports)
        instances = count_supports(self._model, self._followed, self._counting, supports)
        self._compare_rules()
        for shape in {**self._store.relations, **supports}:
            self._compare(shape, supports.get(shape) or no_supports(0))
        for each in broken(self._store):
            kind = INDEX if "index" in each.problem else BOOKS
            self._note(kind, each.shape, self._fact(each.shape, each.row), note=each.problem)
        facts = sum(self._model.counts().values())
        return Verified(facts, instances, tuple(self._found), self._counts)

    # what was asserted

    def _in_default(self) -> Iterator[tuple[int, Ids]]:
        for shape, relation in self._store.relations.items():
            rows = self._store.with_flags(relation, bits.LIVE | bits.IN_DEFAULT)
            yield (
                shape,
                self._store.cells(relation)[rows][:, layout.COLUMN : layout.COLUMN + _width(shape)],
            )

    def _always(self) -> tuple[int, Ids]:
        true = self._engine.dictionary.encode_one(Symbol(TRUE.name))
        return len(TRUE.slots), np.array([[true]], np.int32)

    def _take_asserted(self) -> None:
        for shape, facts in (*self._in_default(), *self._others.items(), self._always()):
            if len(facts):
                add_new(self._model, [(shape, list(facts.T))])

    def _mark_asserted(self, supports: dict[int, Supports]) -> None:
        for shape, facts in self._in_default():
            if len(facts):
                supports[shape].in_default[self._model.table(shape).find(list(facts.T))] = True
        for support in supports.values():
            support.asserted |= support.in_default
        for shape, facts in (*self._others.items(), self._always()):
            if len(facts):
                supports[shape].asserted[self._model.table(shape).find(list(facts.T))] = True

    # comparing

    def _compare_rules(self) -> None:
        known = set(self._counting.counters)
        rules = {rule for rule in self._followed if not _is_aggregate(rule)}
        for rule in rules - known:
            self._note(RULES, 0, (), 1, 0, f"rule {rule.id} is not followed")
        for rule in known - rules:
            self._note(RULES, 0, (), 0, 1, f"rule {rule.id} is followed and was removed")

    def _compare(self, shape: int, supports: Supports) -> None:
        table = self._model.table(shape)
        rows, at = self._stored(shape)
        self._note_rows(UNFOUNDED, shape, rows[at < 0])
        rows, at = rows[at >= 0], at[at >= 0]
        if len(distinct_ids(at)) < len(at):
            order = np.argsort(at, kind="stable")
            self._note_rows(TWICE, shape, rows[order[1:]][at[order[1:]] == at[order[:-1]]])
        lacking = np.ones(table.count, np.bool_)
        lacking[at] = False
        for number in self._first(MISSING, lacking):
            fact = tuple(int(table.column(column)[number]) for column in range(table.width))
            self._found.append(RowDifference(MISSING, shape, fact, 1, 0))
        if len(rows):
            self._compare_cells(shape, rows, at, supports)

    def _stored(self, shape: int) -> tuple[Numbers, Numbers]:
        """The live rows of a shape, and where their facts are among those that follow."""
        if shape not in self._store.relations:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        relation = self._store.relation(shape)
        rows = self._store.with_flags(relation)
        facts = self._store.cells(relation)[rows][:, layout.COLUMN : layout.COLUMN + _width(shape)]
        return rows, self._model.table(shape).find(list(facts.T))

    def _compare_cells(self, shape: int, rows: Numbers, at: Numbers, supports: Supports) -> None:
        cells = self._store.cells(self._store.relation(shape))[rows]
        flags = cells[:, layout.FLAGS]
        expected_flags = {
            "asserted": (bits.ASSERTED, supports.asserted[at]),
            "in the default graph": (bits.IN_DEFAULT, supports.in_default[at]),
            "closed by a transitive rule": (bits.CLOSED, supports.closed[at]),
            "edge": (bits.EDGE, supports.edge[at]),
            "root": (bits.ROOT, supports.root[at]),
            "visible": (bits.VISIBLE, flags & self._unsettled == 0),
        }
        for kind, (bit, is_set) in expected_flags.items():
            self._note_cells(kind, shape, rows, is_set.astype(np.int64), flags & bit != 0)
        left_over = flags & ~(LASTING | self._unsettled)
        self._note_cells("flags of a change", shape, rows, np.zeros_like(left_over), left_over)
        for kind, cell, wanted in (
            ("plain count", layout.PLAIN, supports.plain),
            ("recursive count", layout.RECURSIVE, supports.recursive),
            ("single count", layout.SINGLE, supports.single),
        ):
            self._note_cells(kind, shape, rows, wanted[at], cells[:, cell])

    # noting

    def _note_cells(
        self, kind: str, shape: int, rows: Numbers, expected: Numbers | Ids, found: Ids | Flags
    ) -> None:
        for at in self._first(kind, expected != found):
            fact = self._fact(shape, int(rows[at]))
            self._note(kind, shape, fact, int(expected[at]), int(found[at]), counted=True)

    def _note_rows(self, kind: str, shape: int, rows: Numbers) -> None:
        for at in self._first(kind, np.ones(len(rows), np.bool_)):
            self._note(kind, shape, self._fact(shape, int(rows[at])), 0, 1, counted=True)

    def _first(self, kind: str, differs: Flags) -> Numbers:
        """Count the places that differ; the first of them."""
        places = np.flatnonzero(differs)
        if len(places):
            self._counts[kind] = self._counts.get(kind, 0) + len(places)
        return places[:KEPT]

    def _note(
        self,
        kind: str,
        shape: int,
        fact: tuple[int, ...],
        expected: int = 0,
        found: int = 0,
        note: str = "",
        *,
        counted: bool = False,
    ) -> None:
        if not counted:
            self._counts[kind] = self._counts.get(kind, 0) + 1
        self._found.append(RowDifference(kind, shape, fact, expected, found, note))

    def _fact(self, shape: int, row: int) -> tuple[int, ...]:
        if not row:
            return ()
        cells = self._store.cells(self._store.relation(shape))[row]
        return tuple(cells[layout.COLUMN : layout.COLUMN + _width(shape)].tolist())


def _width(shape: int) -> int:
    return 3 if shape == TRIPLES else shape


def _is_aggregate(rule: Rule) -> bool:
    return isinstance(rule.body[0], Aggregate)


def _counting_of(engine: EmbeddedEngine) -> CountingScheme:
    path = engine.followed
    counters = counters_of(engine.plan, single=path is not None)
    if path is None:
        return CountingScheme(counters)
    single = tuple(rule for level in engine.plan.levels for rule in level.single)
    return CountingScheme(counters, single, *path.kinds_apart)
