"""Message tables: update messages in the order of their times, and changes of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from livefacts.errors import InputError, QueryError

if TYPE_CHECKING:
    from pandas import DataFrame as Table
    from pyspark.sql import DataFrame

COLUMNS = ("t", "op", "s", "p", "o")
COMES, GOES = ("ins", "+", "A", "add"), ("del", "-", "D", "remove")
RESERVED = {"op", "count"}


def signed(messages: DataFrame) -> DataFrame:
    """Messages with 1 for what comes and -1 for what goes; a graph that none names is null."""
    from pyspark.sql import functions as F  # noqa: N812

    missing = [column for column in COLUMNS if column not in messages.columns]
    if missing:
        raise InputError(
            f"the messages have no column {', '.join(missing)}",
            hint="a message has t, op, s, p and o; rename columns with withColumnRenamed",
        )
    op = F.col("op")
    wrong = F.raise_error(F.concat(F.lit("not an operation: "), op, F.lit("; use ins or del")))
    sign = F.when(op.isin(*COMES), 1).when(op.isin(*GOES), -1).otherwise(wrong.cast("int"))
    graph = F.col("g") if "g" in messages.columns else F.lit(None).cast("string").alias("g")
    return messages.select("t", sign.alias("sign"), "s", "p", "o", graph)


def schema_of(names: Sequence[str]) -> str:
    """The columns of changes: op, one for each variable, and count."""
    taken = RESERVED & set(names)
    if taken:
        raise QueryError(
            f"?{min(taken)} would be a second column {min(taken)}", hint="rename the variable"
        )
    return ", ".join(["op string", *(f"`{name}` string" for name in names), "count long"])


def in_order(told: Iterable[Table], what: str) -> list[tuple[Any, int, Any]]:
    """The messages of all pieces by their time."""
    rows = [
        row
        for piece in told
        for row in zip(
            piece["t"].tolist(), piece["sign"].tolist(), piece[what].tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row[0])


def change_table(
    names: Sequence[str], counts: Sequence[int], rows: Sequence[Sequence[str | None]]
) -> Table:
    """Rows that come and go, as a table; None is unbound."""
    from pandas import DataFrame as Table

    columns: dict[str, Any] = {"op": _texts("+" if count > 0 else "-" for count in counts)}
    columns |= {name: _texts(row[at] for row in rows) for at, name in enumerate(names)}
    columns["count"] = np.abs(np.array(counts, np.int64))
    return Table(columns)


def _texts(texts: Iterable[str | None]) -> Any:
    # As objects: the strings of newer pandas come in pieces, which Spark does not take.
    return np.array(list(texts), object)
