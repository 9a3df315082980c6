"""Expected support: what the support counts and flags of every fact should be.

Rule instances are counted once, by joining whole bodies over all that is true.  Where the
engine follows single triples, the consequences of each kind of triple are computed from
the definition: the schema is closed by the plain rules, then every kind is followed under
it, all kinds at once.  Which kinds belong to the schema is the engine's choice, and is
taken from it; any choice that contains the rules' own vocabulary is sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.recheck.batch_closure import (
    BatchRule,
    add_new,
    batch_rule,
    close,
    close_together,
    instances,
)
from livefacts.engine.embedded.recheck.column_joins import BatchAtom, BatchBody, Model, pattern_of
from livefacts.engine.embedded.recheck.id_tables import Columns, IdTable, Numbers
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.operators import Plan
from livefacts.plan.rules.schema_split import is_schema
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_store import TRIPLES

Kind = tuple[int, int | None]
SUBJECT, OBJECT = -1, -2
"""Stand for the subject and the object of the triple that is followed."""
STARTS, FOLLOWS = -1, -2
"""Shapes of kinds of triples: number of the kind, and a triple; given, and concluded from it."""
KIND_NUMBER = Variable(":kind")


@dataclass(slots=True)
class Supports:
    """For the facts of one shape, by row: counted instances, and who asserts them."""

    asserted: Flags
    in_default: Flags
    plain: Numbers
    recursive: Numbers
    single: Numbers
    closed: Flags

    @property
    def counted(self) -> Flags:
        derived: Flags = (self.plain > 0) | (self.recursive > 0)
        return derived

    @property
    def edge(self) -> Flags:
        """Whether a fact holds for a reason other than a transitive rule."""
        return self.asserted | self.counted | (self.single > 0)

    @property
    def root(self) -> Flags:
        """Whether a fact holds for a reason other than following from a single triple."""
        return self.asserted | self.counted | self.closed


def no_supports(count: int) -> Supports:
    """No reason for any of so many facts."""
    nothing, zeros = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    return Supports(nothing, nothing.copy(), zeros, zeros.copy(), zeros.copy(), nothing.copy())


@dataclass(frozen=True, slots=True)
class CountingScheme:
    """How an engine counts each rule, and what it keeps apart as schema."""

    counters: Mapping[Rule, int]
    single: tuple[Rule, ...] = ()
    schema_kinds: frozenset[Kind] = field(default_factory=frozenset)
    by_object: frozenset[int] = field(default_factory=frozenset)


def counters_of(plan: Plan, *, single: bool) -> dict[Rule, int]:
    """The counter, or the flag, that instances of each rule go to."""
    counters = {}
    for level in plan.levels:
        for each in level.plans if single else level.plans + level.single_plans:
            recursive = layout.RECURSIVE if each.recursive else layout.PLAIN
            counters[each.rule] = bits.CLOSED if each.transitive else recursive
        if single:
            counters |= dict.fromkeys(level.single, layout.SINGLE)
    return counters


def count_supports(
    model: Model, rules: Iterable[Rule], counting: CountingScheme, supports: Mapping[int, Supports]
) -> int:
    """Enter the instances of all rules; how many there are, those of single triples aside."""
    total = 0
    for rule in rules:
        counter = counting.counters.get(rule, layout.PLAIN)
        if counter == layout.SINGLE:
            continue
        batch = batch_rule(rule, model.dictionary)
        for rows in instances(model, batch):
            if not len(rows):
                continue
            mine = supports[batch.head.shape]
            total += len(rows)
            if counter == bits.CLOSED:
                mine.closed[rows] = True
            else:
                np.add.at(mine.plain if counter == layout.PLAIN else mine.recursive, rows, 1)
    if counting.single and TRIPLES in supports:
        _SingleCount(model, counting, supports[TRIPLES]).enter()
    return total


class _SingleCount:
    """The consequences of single triples, counted from their definition."""

    def __init__(self, model: Model, counting: CountingScheme, supports: Supports) -> None:
        self._model = model
        self._counting = counting
        self._supports = supports
        triples = model.table(TRIPLES)
        roots = np.flatnonzero(supports.root)
        cells = [triples.column(number)[roots] for number in range(3)]
        of_schema = self._is_schema(cells)
        self._schema_roots = [column[of_schema] for column in cells]
        self._followed = [column[~of_schema] for column in cells]

    def enter(self) -> None:
        """Add to the counts what follows from the schema and from each other triple."""
        kinds, starts = self._kinds()
        asserted: Columns = [column[:0] for column in self._schema_roots]
        while True:
            schema = self._closed_schema(asserted)
            follows = self._follow_kinds(schema, starts)
            now = self._asserted_by_kinds(follows)
            if len(now[0]) == len(asserted[0]):
                break
            asserted = now
        self._count(asserted)
        self._count(self._derived_in(schema))
        self._count_follows(kinds, follows, starts)

    def _is_schema(self, triples: Columns) -> Flags:
        mine = np.zeros(len(triples[0]), np.bool_)
        for predicate, obj in self._counting.schema_kinds:
            fits = triples[1] == predicate
            mine |= fits if obj is None else fits & (triples[2] == obj)
        return mine

    def _kinds(self) -> tuple[Ids, Columns]:
        """The number of the kind of each followed triple, and the kinds as triples."""
        _, predicates, objects = self._followed
        names_object = np.isin(predicates, list(self._counting.by_object))
        objects = np.where(names_object, objects, OBJECT).astype(np.int32)
        keys = (predicates.astype(np.int64) << 32) | (objects.astype(np.int64) & 0xFFFFFFFF)
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
        starts = [
            np.arange(len(first), dtype=np.int32),
            np.full(len(first), SUBJECT, np.int32),
            predicates[first],
            objects[first],
        ]
        return numbers.astype(np.int32), starts

    def _closed_schema(self, asserted: Columns) -> Model:
        schema = Model(self._model.dictionary)
        for triples in (self._schema_roots, asserted):
            add_new(schema, [(TRIPLES, triples)])
        close(schema, self._counting.single)
        return schema

    def _follow_kinds(self, schema: Model, starts: Columns) -> IdTable:
        """Everything that follows from a triple of each kind under a closed schema."""
        chase = Model(self._model.dictionary)
        closed = schema.table(TRIPLES)
        cells = [closed.column(number) for number in range(3)]
        of_schema = self._is_schema(cells)
        chase.table(TRIPLES).append([column[of_schema] for column in cells])
        chase.tables |= {STARTS: IdTable(4), FOLLOWS: IdTable(4)}
        chase.table(STARTS).append(starts)
        close_together(
            chase,
            [
                rule
                for single in self._counting.single
                for shape in (STARTS, FOLLOWS)
                for rule in self._following(single, shape)
            ],
        )
        return chase.table(FOLLOWS)

    def _following(self, rule: Rule, shape: int) -> Sequence[BatchRule]:
        """A rule as one on kinds of triples, with its instance premise of this shape."""
        dictionary = self._model.dictionary
        atoms = [atom for atom in rule.body if isinstance(atom, TripleAtom)]
        instance = [atom for atom in atoms if not is_schema(atom)]
        if not instance or rule.head is None:
            return ()
        (premise,) = instance
        patterns = tuple(
            BatchAtom(shape, (KIND_NUMBER, *pattern_of(atom, dictionary).slots))
            if atom is premise
            else pattern_of(atom, dictionary)
            for atom in atoms
        )
        head = BatchAtom(FOLLOWS, (KIND_NUMBER, *pattern_of(rule.head, dictionary).slots))
        return (BatchRule(head, BatchBody(patterns, ())),)

    def _asserted_by_kinds(self, follows: IdTable) -> Columns:
        """Schema triples that follow from a kind whatever the subject and the object are."""
        triples = [follows.column(number) for number in (1, 2, 3)]
        ground = (triples[0] >= 0) & (triples[2] >= 0) & self._is_schema(triples)
        model = Model(self._model.dictionary)
        add_new(model, [(TRIPLES, [column[ground] for column in triples])])
        return [model.table(TRIPLES).column(number) for number in range(3)]

    def _derived_in(self, schema: Model) -> Columns:
        """What some rule derives within the schema."""
        table = schema.table(TRIPLES)
        derived = np.zeros(table.count, np.bool_)
        for rule in self._counting.single:
            for rows in instances(schema, batch_rule(rule, self._model.dictionary)):
                derived[rows] = True
        return [table.column(number)[derived] for number in range(3)]

    def _count_follows(self, kinds: Ids, follows: IdTable, starts: Columns) -> None:
        """Count what follows from each triple, but not itself."""
        subjects, _, objects = self._followed
        for left, rows in follows.joined((0,), [kinds], len(kinds)):
            kind, s, p, o = (follows.column(number)[rows] for number in range(4))
            another = (s != SUBJECT) | (p != starts[2][kind]) | (o != starts[3][kind])
            left, s, p, o = left[another], s[another], p[another], o[another]
            self._count(
                [_put(s, subjects[left], objects[left]), p, _put(o, subjects[left], objects[left])]
            )

    def _count(self, triples: Columns) -> None:
        rows = self._model.table(TRIPLES).find(triples)
        np.add.at(self._supports.single, rows[rows >= 0], 1)


def _put(column: Ids, subjects: Ids, objects: Ids) -> Ids:
    """A column of what follows, with the triple's own subject and object in their places."""
    put: Ids = np.where(column == SUBJECT, subjects, np.where(column == OBJECT, objects, column))
    return put
