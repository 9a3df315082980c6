"""Continuous patterns on Spark: update messages in, changes of answers out, as DataFrames.

A star is followed where its centres are: messages go to the centres that they name, and each
centre keeps one number, whose bits tell which of the patterns hold.  Every other pattern is
followed by one keeper, the embedded matcher, whose state is the triples that fit.

On a stream, each micro-batch tells what it has changed, and Spark keeps the state between
them; a table is one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from operator import and_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from livefacts.engine.embedded.messagescan import Messages, canonical, scanned
from livefacts.engine.embedded.standing import StandingPattern
from livefacts.engine.embedded.standinggroup import StandingGroup
from livefacts.errors import InputError, QueryError
from livefacts.plan.decompose import Shape, decompose
from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.query import BasicQuery
from livefacts.store.dictionary import text_of
from livefacts.syntax.basicquery import parse_basic_query

if TYPE_CHECKING:
    from pandas import DataFrame as Table
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.state import GroupState

COLUMNS = ("t", "op", "s", "p", "o")
COMES, GOES = ("ins", "+", "A", "add"), ("del", "-", "D", "remove")
MOST_ARMS = 62
"""Patterns of a star whose bits fit into one number."""
NO_PREFIXES: Mapping[str, str] = MappingProxyType({})
RESERVED = {"op", "count"}
ARMS_STATE, KEEPER_STATE = "held long", "kept string"


def watch(messages: DataFrame, query: str, prefixes: Mapping[str, str] = NO_PREFIXES) -> DataFrame:
    """The changes of a query's answers, from a stream or a table of update messages.

    `messages` has the columns t (anything that can be ordered), op ("ins" or "del"), and s,
    p, o: terms as N-Triples writes them.  What comes out has the columns op ("+" or "-"),
    one for each variable, and count.
    """
    asked = _read(query, prefixes)
    missing = [column for column in COLUMNS if column not in messages.columns]
    if missing:
        raise InputError(
            f"the messages have no column {', '.join(missing)}",
            hint="a message has t, op, s, p and o; rename columns with withColumnRenamed",
        )
    signed = _signed(messages)
    return _by_centre(signed, asked) if _is_star(asked) else _by_keeper(signed, asked)


def _read(text: str, prefixes: Mapping[str, str]) -> BasicQuery:
    query = parse_basic_query(text, prefixes)
    if query is None or query.comparisons or query.form == "CONSTRUCT":
        raise QueryError(
            "on Spark only triple patterns are followed",
            hint="SELECT, SELECT DISTINCT or ASK with one group of triple patterns, and a "
            "PREFIX for every prefix",
        )
    taken = RESERVED & {variable.name for variable in query.selected}
    if taken:
        raise QueryError(
            f"?{min(taken)} would be a second column {min(taken)}", hint="rename the variable"
        )
    return query


def _is_star(query: BasicQuery) -> bool:
    parts = decompose(query.patterns)
    is_one = len(parts) == 1 and parts[0].shape is Shape.STAR
    return is_one and len(parts[0].patterns) <= MOST_ARMS and len(query.selected) == 1


def _signed(messages: DataFrame) -> DataFrame:
    """Messages with 1 for what comes and -1 for what goes."""
    from pyspark.sql import functions as F  # noqa: N812

    op = F.col("op")
    wrong = F.raise_error(F.concat(F.lit("not an operation: "), op, F.lit("; use ins or del")))
    sign = F.when(op.isin(*COMES), 1).when(op.isin(*GOES), -1).otherwise(wrong.cast("int"))
    return messages.select("t", sign.alias("sign"), "s", "p", "o")


def _schema(query: BasicQuery) -> str:
    columns = [f"`{variable.name}` string" for variable in query.selected]
    return ", ".join(["op string", *columns, "count long"])


# stars


def _by_centre(signed: DataFrame, query: BasicQuery) -> DataFrame:
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
            lambda key, told: _centre_at_once(full, query, key, told), _schema(query)
        )
    return grouped.applyInPandasWithState(
        lambda key, told, state: _centre_with_state(full, query, key, told, state),
        _schema(query),
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
    for _, sign, arm in _in_order(told, "arm"):
        held = held | 1 << arm if sign > 0 else held & ~(1 << arm)
    return held


def _change_of(centre: str, before: bool, after: bool, query: BasicQuery) -> Table:
    signs = [] if before is after else [1 if after else -1]
    return _table(query, signs, [[centre]] * len(signs))


# one keeper


def _by_keeper(signed: DataFrame, query: BasicQuery) -> DataFrame:
    """All messages go to one place, where the embedded matcher follows them."""
    from pyspark.sql import functions as F  # noqa: N812

    line = F.concat_ws(" ", "s", "p", "o").alias("line")
    grouped = signed.select(F.lit(0).alias("keeper"), "t", "sign", line).groupBy("keeper")
    if not signed.isStreaming:
        return grouped.applyInPandas(lambda told: _Keeper(query, "").take([told]), _schema(query))
    return grouped.applyInPandasWithState(
        lambda _, told, state: _kept_with_state(query, told, state),
        _schema(query),
        KEEPER_STATE,
        "update",
        "NoTimeout",
    )


def _kept_with_state(
    query: BasicQuery, told: Iterable[Table], state: GroupState
) -> Iterator[Table]:
    keeper = _Keeper(query, state.get[0] if state.exists else "")
    change = keeper.take(told)
    state.update((keeper.kept(),))
    yield change


class _Keeper:
    """The embedded matcher, for one micro-batch."""

    def __init__(self, query: BasicQuery, kept: str) -> None:
        self._query = query
        self._group = StandingGroup([partial(StandingPattern, query)])
        if kept:
            lines = kept.split("\n")
            self._group.take(_messages(lines, [1] * len(lines)))

    def take(self, told: Iterable[Table]) -> Table:
        """What these messages change."""
        ordered = _in_order(told, "line")
        signs, lines = [sign for _, sign, _ in ordered], [line for _, _, line in ordered]
        (found,) = self._group.take(_messages(lines, signs))
        rows, counts = found.expanded()
        width = len(self._query.selected)
        texts = self._group.dictionary.texts(rows.reshape(-1))
        cells = [texts[at * width : (at + 1) * width] for at in range(len(counts))]
        return _table(self._query, counts.tolist(), cells)

    def kept(self) -> str:
        """The triples from which all can be made again."""
        (query,) = self._group.queries
        written = self._group.dictionary.write_ntriples(query.kept()).decode()
        return written.replace(" .\n", "\n").rstrip("\n")


def _messages(lines: list[str], signs: list[int]) -> Messages:
    content = "".join(f"{line} .\n" for line in lines)
    plain = scanned(content.encode(), 1)
    told = np.array(signs, np.int32)
    if plain is not None and len(plain.signs) == len(told):
        return plain._replace(signs=told)
    return canonical(_canonical(content), told)


def _canonical(content: str) -> str:
    from pyoxigraph import RdfFormat, parse

    return "".join(f"{quad.triple}\n" for quad in parse(content, RdfFormat.N_TRIPLES))


# tables


def _in_order(told: Iterable[Table], what: str) -> list[tuple[Any, int, Any]]:
    """The messages of all pieces by their time."""
    rows = [
        row
        for piece in told
        for row in zip(
            piece["t"].tolist(), piece["sign"].tolist(), piece[what].tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row[0])


def _table(query: BasicQuery, counts: list[int], rows: list[list[str]]) -> Table:
    from pandas import DataFrame as Table

    names = [variable.name for variable in query.selected]
    columns: dict[str, Any] = {"op": _texts("+" if count > 0 else "-" for count in counts)}
    columns |= {name: _texts(row[at] for row in rows) for at, name in enumerate(names)}
    columns["count"] = np.abs(np.array(counts, np.int64))
    return Table(columns)


def _texts(texts: Iterable[str]) -> Any:
    # As objects: the strings of newer pandas come in pieces, which Spark does not take.
    return np.array(list(texts), object)
