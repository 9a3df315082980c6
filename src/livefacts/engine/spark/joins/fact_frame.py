"""The fact frame: one table for facts of all shapes, with columns of ids and two support counts.

A row is `f`, the shape of the fact, and `c0, c1, ...`, its ids: subject, predicate and object
of a triple; the predicate and its arguments otherwise.  Columns that a shape does not need
are 0.  A change is then one query for facts of every shape.  `told` says whether a fact is
asserted.

Where many small knowledge bases are followed side by side, `k` says to which of them a
fact belongs, and nothing is joined across.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from livefacts.store.facts.row_store import TRIPLES

TRIPLE_COLUMNS = ("s", "p", "o")
COUNTERS = ("told", "plain", "recursive")


@dataclass(frozen=True, slots=True)
class Form:
    """The columns of a table of facts."""

    width: int
    worlds: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(f"c{number}" for number in range(self.width))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a fact."""
        return (*(("k",) if self.worlds else ()), "f", *self.cells)

    def listed(self, alias: str = "") -> str:
        """The keys as part of a SELECT."""
        return ", ".join(f"{alias}.{key}" if alias else key for key in self.keys)

    def same(self, left: str, right: str) -> str:
        """The condition that two rows are about one fact."""
        return " AND ".join(f"{left}.{key} = {right}.{key}" for key in self.keys)

    @property
    def schema(self) -> str:
        kinds = {"f": "int", "k": "int"}
        return ", ".join(f"{key} {kinds.get(key, 'bigint')}" for key in self.keys)


def columns_of(shape: int) -> tuple[str, ...]:
    """The names of the columns of a shape, as users see them."""
    if shape == TRIPLES:
        return TRIPLE_COLUMNS
    return ("pred", *(f"a{number}" for number in range(1, shape)))


def width_of(shape: int) -> int:
    return 3 if shape == TRIPLES else shape


def packed(session: SparkSession, form: Form, facts: Mapping[int, DataFrame]) -> DataFrame:
    """Facts by shape in one table, each once."""
    rows = gathered(form, facts)
    return session.createDataFrame([], form.schema) if rows is None else rows.distinct()


def gathered(form: Form, facts: Mapping[int, DataFrame]) -> DataFrame | None:
    """Facts by shape in one table, as they come."""
    parts = [_packed_shape(form, shape, rows) for shape, rows in facts.items()]
    return reduce(DataFrame.unionAll, parts) if parts else None


def _packed_shape(form: Form, shape: int, rows: DataFrame) -> DataFrame:
    names = columns_of(shape)
    cells = [
        f"CAST({names[number] if number < len(names) else 0} AS BIGINT) AS {cell}"
        for number, cell in enumerate(form.cells)
    ]
    world = ["CAST(k AS INT) AS k"] if form.worlds else []
    return rows.selectExpr(*world, f"{shape} AS f", *cells)


def unpacked(form: Form, rows: DataFrame, shape: int, *others: str) -> DataFrame:
    """The facts of one shape, with other columns of the table as they are."""
    names = columns_of(shape)
    world = ["k"] if form.worlds else []
    cells = [F.col(cell).alias(name) for cell, name in zip(form.cells, names, strict=False)]
    return rows.where(F.col("f") == shape).select(*world, *cells, *others)


def widened(rows: DataFrame, old: Form, new: Form) -> DataFrame:
    """The same rows in a wider table."""
    missing = [cell for cell in new.cells if cell not in old.cells]
    return rows.withColumns({cell: F.lit(0).cast("bigint") for cell in missing})


def shapes_in(form: Form) -> Iterator[int]:
    """Every shape that fits into the table."""
    if form.width >= width_of(TRIPLES):
        yield TRIPLES
    yield from range(1, form.width + 1)
