"""Aggregates, a set at a time: the values of groups from the rows they range over."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np
from pyoxigraph import Literal, NamedNode

from livefacts.engine.contract import Ids
from livefacts.errors import LivefactsWarning
from livefacts.model import values
from livefacts.model.facts import Symbol
from livefacts.plan.operators import AggregatePlan
from livefacts.store.dictionary import Dictionary, inline_id, inline_value, is_inline
from livefacts.store.layout import COLUMN, FLAGS
from livefacts.store.rows import RowStore

XSD_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")

OF_INTEGERS: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "min": min, "max": max}


def aggregate_rows(plan: AggregatePlan, store: RowStore, dictionary: Dictionary) -> Ids:
    """The facts of the target predicate, from the stored facts of the source."""
    rows = _source_rows(plan, store, dictionary)
    target = dictionary.encode_one(Symbol(plan.target.name))
    if not len(rows):
        return np.zeros((0, plan.groups + 2), np.int32)
    order = np.lexsort(rows[:, : plan.groups].T[::-1]) if plan.groups else np.arange(len(rows))
    rows = rows[order]
    starts = _group_starts(rows[:, : plan.groups])
    found = []
    for first, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        value = _value(plan, rows[first:end, plan.groups], dictionary)
        if value is not None:
            found.append([target, *rows[first, : plan.groups].tolist(), value])
    return np.array(found, np.int32).reshape(-1, plan.groups + 2)


def _source_rows(plan: AggregatePlan, store: RowStore, dictionary: Dictionary) -> Ids:
    relation = store.relation(1 + len(plan.source.arguments))
    cells = store.cells(relation)
    name = dictionary.encode_one(Symbol(plan.source.name))
    mine = np.flatnonzero((cells[:, COLUMN] == name) & (cells[:, FLAGS] != 0))
    return store.columns(relation, mine)[:, 1:]


def _group_starts(groups: Ids) -> list[int]:
    changes = np.any(groups[1:] != groups[:-1], axis=1) if groups.shape[1] else []
    return [0, *(np.flatnonzero(changes) + 1).tolist()]


def _value(plan: AggregatePlan, ids: Ids, dictionary: Dictionary) -> int | None:
    """The id of the aggregate of one group, or None if the group has no row."""
    if plan.function == "count":
        return _integer(len(ids), dictionary)
    if plan.function != "avg" and all(is_inline(id) for id in ids.tolist()):
        numbers = [inline_value(id) for id in ids.tolist()]
        return _integer(OF_INTEGERS[plan.function](numbers), dictionary)
    term = values.aggregate(plan.function, dictionary.decode(ids))
    if term is None:
        warnings.warn(
            f"{plan.function} at {plan.source.place}: a group with something that is not a "
            "number has no row",
            LivefactsWarning,
            stacklevel=2,
        )
        return None
    return int(dictionary.encode_one(term))


def _integer(value: int, dictionary: Dictionary) -> int:
    inline = inline_id(value)
    if inline is not None:
        return inline
    return int(dictionary.encode_one(Literal(str(value), datatype=XSD_INTEGER)))
