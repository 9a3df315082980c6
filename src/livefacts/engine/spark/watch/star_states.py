"""Star states: messages go to the centres that they name, and each centre keeps one number.

The bits of that number say which of the patterns hold; the centre is an answer while all of
them do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from livefacts.engine.spark.watch.message_tables import change_table, in_order, schema_of
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.graph_pattern import BasicQuery
from livefacts.plan.continuous.decomposition import Shape, decompose
from livefacts.store.terms.id_reader import text_of

if TYPE_CHECKING:
    from pandas import DataFrame as Table
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.state import GroupState

MOST_ARMS = 62
"""Patterns of a star whose bits fit into one number."""
ARMS_STATE = "held long"


def is_one_star(query: BasicQuery) -> bool:
    """Whether all patterns have the same variable, and no other, and it is selected."""
    parts = decompose(query.patterns)
    is_one = len(parts) == 1 and parts[0].shape is Shape.STAR
    return is_one and len(parts[0].patterns) <= MOST_ARMS and len(query.selected) == 1


def by_centre(signed: DataFrame, query: BasicQuery) -> DataFrame:
    """Every message goes to the centres under which it fits a pattern."""
    from pyspark.sql import functions as F  # noqa: N812

    (part,) = decompose(query.patterns)
    fitting = [_hit(pattern, arm) for arm, pattern in enumerate(part.patterns)]
    hits = F.explode(F.filter(F.array(*fitting), lambda hit: hit.isNotNull()))
    told = signed.select("t", "sign", hits.alias("hit"))
    grouped = told.select("t", "sign", "hit.centre", "hit.arm").groupBy("centre")
    full = (1 << len(part.patterns)) - 1
    if not signed.isStreaming:
        return grouped.applyInPandas(
            lambda key, told: _centre_at_once(full, query, key, told), schema_of(_names(query))
        )
    return grouped.applyInPandasWithState(
        lambda key, told, state: _centre_with_state(full, query, key, told, state),
        schema_of(_names(query)),
        ARMS_STATE,
        "update",
        "NoTimeout",
    )


def _hit(pattern: TripleAtom, arm: int) -> Column:
    """The centre and the number of a pattern, where a message fits it."""
    from pyspark.sql import functions as F  # noqa: N812

    slots = dict(zip("spo", pattern.slots, strict=True))
    centres = [F.col(name) for name, slot in slots.items() if isinstance(slot, Variable)]
    fits = [
        F.col(name) == F.lit(text_of(slot))
        for name, slot in slots.items()
        if not isinstance(slot, Variable)
    ]
    fits += [other == centres[0] for other in centres[1:]]
    hit = F.struct(centres[0].alias("centre"), F.lit(arm).alias("arm"))
    return F.when(reduce(and_, fits, F.lit(True)), hit)


def _centre_at_once(full: int, query: BasicQuery, key: tuple[str], told: Table) -> Table:
    held = _held(0, [told])
    return _change_of(key[0], False, held == full, query)


def _centre_with_state(
    full: int, query: BasicQuery, key: tuple[str], told: Iterable[Table], state: GroupState
) -> Iterator[Table]:
    before = state.get[0] if state.exists else 0
    after = _held(before, told)
    if after:
        state.update((after,))
    elif state.exists:
        state.remove()
    if (before == full) is not (after == full):
        yield _change_of(key[0], before == full, after == full, query)


def _held(held: int, told: Iterable[Table]) -> int:
    """The bits of the patterns that hold after these messages."""
    for _, sign, arm in in_order(told, "arm"):
        held = held | 1 << arm if sign > 0 else held & ~(1 << arm)
    return held


def _change_of(centre: str, before: bool, after: bool, query: BasicQuery) -> Table:
    signs = [] if before is after else [1 if after else -1]
    return change_table(_names(query), signs, [[centre]] * len(signs))


def _names(query: BasicQuery) -> tuple[str, ...]:
    return tuple(variable.name for variable in query.selected)
