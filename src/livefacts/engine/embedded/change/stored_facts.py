"""Stored facts by how they stand: what holds, what was asserted, and how two stores differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import TRIPLES, Change, Facts, Flags, IdDelta, Ids, joined
from livefacts.store.facts import bits
from livefacts.store.facts.row_store import RowStore
from livefacts.store.facts.selection import KnownNames


@dataclass(frozen=True, slots=True)
class FactPieces:
    """The facts of a store, to be looked at piece by piece while changes go on between.

    A fact stays in its row as long as it is stored, so that what no change touches is met once.
    Another store, as a change that computes everything anew makes it, has other rows.
    """

    _store: RowStore

    def shapes(self) -> tuple[int, ...]:
        """The shapes of which there may be facts."""
        return tuple(self._store.relations)

    def piece(self, shape: int, first: int, end: int) -> tuple[Ids, Ids] | None:
        """The facts in the rows from one number to another, and how they stand; None: no more."""
        return self._store.piece(self._store.relation(shape), first, end)

    def counts(self) -> dict[int, int]:
        """How many facts there are, by shape."""
        return {shape: self._store.live(each) for shape, each in self._store.relations.items()}


def rows_of(
    store: RowStore, shape: int, derived: bool | None = None, names: KnownNames | None = None
) -> Ids:
    """The facts of a shape; only conclusions, or only what was asserted; only these predicates."""
    relation = store.relations.get(shape)
    if relation is None:
        return np.zeros((0, 3 if shape == TRIPLES else shape), np.int32)
    mask = bits.LIVE if derived is None else bits.LIVE | bits.ASSERTED
    flags = bits.LIVE | bits.ASSERTED if derived is False else bits.LIVE
    if names is not None and shape != TRIPLES:
        return names.select(store, relation, mask, flags)
    return store.columns(relation, np.flatnonzero(store.flags(relation) & mask == flags))


def asserted_after(store: RowStore, change: Change) -> Change:
    """Everything that is asserted once a change of facts is made."""
    default, others = {}, {}
    for shape, relation in store.relations.items():
        retracted, unmarked = change.retracted.get(shape), change.unmarked.get(shape)
        default[shape] = _asserted_but(store, relation, bits.IN_DEFAULT, [retracted, unmarked])
        unnamed = change.unnamed.get(shape)
        others[shape] = joined(_asserted_but(store, relation, 0, [unnamed]), unmarked)
    return Change(_all(default, change.facts), _all(others, change.others))


def _asserted_but(store: RowStore, relation: int, graph: int, gone: Sequence[Ids | None]) -> Ids:
    """What is asserted in the default graph, or only elsewhere, but for facts that go."""
    asserted = store.flags(relation) & (bits.LIVE | bits.ASSERTED | bits.IN_DEFAULT)
    is_asserted: Flags = asserted == bits.LIVE | bits.ASSERTED | graph
    for facts in gone:
        if facts is not None:
            is_asserted[store.find(relation, facts)] = False
    return store.columns(relation, np.flatnonzero(is_asserted))


def _all(first: Facts, second: Facts) -> Facts:
    both = {shape: joined(first.get(shape), second.get(shape)) for shape in first | second}
    return {shape: ids for shape, ids in both.items() if len(ids)}


def difference(old: RowStore, new: RowStore) -> IdDelta:
    """What holds in one store and not in another."""
    added: Facts = {}
    removed: Facts = {}
    derived: dict[int, Flags] = {}
    for shape in old.relations | new.relations:
        was, now = rows_of(old, shape), rows_of(new, shape)
        if len(now):
            added[shape] = now[_is_missing(old, shape, now)]
            flags = new.find_flags(new.relation(shape), added[shape])
            derived[shape] = flags & bits.ASSERTED == 0
        if len(was):
            removed[shape] = was[_is_missing(new, shape, was)]
    return IdDelta(added, removed, derived)


def _is_missing(store: RowStore, shape: int, facts: Ids) -> Flags:
    if shape not in store.relations:
        return np.ones(len(facts), np.bool_)
    missing: Flags = store.find(store.relation(shape), facts) == 0
    return missing
