"""The solution frame: a bag of rows as a DataFrame, a column of ids for each variable.

Null is unbound.  Where a query has computed values of a variable, a second column has their
texts, null for those that stand in the tables.  Rows that are ordered have columns to sort by.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PLAIN = re.compile(r"[a-z0-9_]+")
"""Names that Spark, to which case does not matter, can tell apart."""
OTHER = "other_"


def id_column(name: str) -> str:
    """The column with the ids of a variable.

    >>> id_column("x"), id_column("X")
    ('id_x', 'idx_58')
    """
    return f"id_{name}" if PLAIN.fullmatch(name) else f"idx_{name.encode().hex()}"


def text_column(name: str) -> str:
    """The column with the texts of those values of a variable that a query has computed."""
    return f"text_{id_column(name)}"


@dataclass(frozen=True, slots=True)
class OrderColumn:
    """A column that rows are ordered by; it depends on the values of some variables."""

    column: str
    descending: bool
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class SolutionFrame:
    """Rows; a variable that is not among the names is unbound in all of them."""

    rows: DataFrame
    certain: frozenset[str]
    """The variables that have a value in every row."""
    possible: frozenset[str] = frozenset()
    """Those that may be unbound."""
    computed: frozenset[str] = frozenset()
    """Those with a column of texts."""
    order: tuple[OrderColumn, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All variables."""
        return self.certain | self.possible

    def columns(self, names: Iterable[str]) -> list[str]:
        """The columns of some variables."""
        found = []
        for name in sorted(names):
            found.append(id_column(name))
            if name in self.computed:
                found.append(text_column(name))
        return found

    def only(self, names: Collection[str]) -> SolutionFrame:
        """The same rows with some of their variables, in the same order."""
        kept = self.names & frozenset(names)
        columns = [*self.columns(kept), *(each.column for each in self.order)]
        return replace(
            self,
            rows=self.rows.select(*columns),
            certain=self.certain & kept,
            possible=self.possible & kept,
            computed=self.computed & kept,
        )

    def unordered(self) -> SolutionFrame:
        """The same rows without what they are ordered by."""
        return replace(self, order=()).only(self.names) if self.order else self

    def with_text(self, name: str, ids: Column, texts: Column) -> SolutionFrame:
        """The same rows with a value for one more variable, which may be unbound."""
        rows = self.rows.withColumn(text_column(name), texts).withColumn(id_column(name), ids)
        return replace(
            self,
            rows=rows,
            certain=self.certain - {name},
            possible=self.possible | {name},
            computed=self.computed | {name},
        )

    def sorted_by(self) -> list[Column]:
        """What Spark sorts rows by to have them in their order."""
        from pyspark.sql import functions as F  # noqa: N812

        columns = ((F.col(each.column), each.descending) for each in self.order)
        return [
            column.desc_nulls_last() if descending else column.asc_nulls_first()
            for column, descending in columns
        ]


def joined(left: SolutionFrame, right: SolutionFrame) -> SolutionFrame:
    """The rows of both that agree."""
    return _together(left, right, "inner")


def left_joined(left: SolutionFrame, right: SolutionFrame) -> SolutionFrame:
    """The rows of both that agree, and the rows of the left side that agree with none."""
    return _together(left, right, "left")


def _together(left: SolutionFrame, right: SolutionFrame, how: str) -> SolutionFrame:
    from pyspark.sql import functions as F  # noqa: N812

    left, right = left.unordered(), right.unordered()
    shared = left.names & right.names
    other = _renamed(right, shared)
    condition = _agreement(left, right, shared)
    if condition is None and how == "inner":
        rows = left.rows.crossJoin(other)
    else:
        rows = left.rows.join(other, F.lit(True) if condition is None else condition, how)
    columns: list[Column] = [F.col(each) for each in left.columns(left.names - shared)]
    columns += [F.col(each) for each in right.columns(right.names - shared)]
    computed = left.computed | right.computed
    for name in sorted(shared):
        columns.append(_either(id_column(name), name in left.certain))
        if name in computed:
            sides = [
                F.col(prefix + text_column(name))
                for prefix, side in (("", left), (OTHER, right))
                if name in side.computed
            ]
            columns.append(F.coalesce(*sides).alias(text_column(name)))
    certain = left.certain | right.certain if how == "inner" else left.certain
    names = left.names | right.names
    return SolutionFrame(rows.select(*columns), certain, names - certain, computed)


def _either(column: str, is_certain: bool) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    found = F.col(column)
    return found if is_certain else F.coalesce(found, F.col(OTHER + column)).alias(column)


def _renamed(frame: SolutionFrame, names: Collection[str]) -> DataFrame:
    """The rows of a frame; columns of these variables have other names."""
    from pyspark.sql import functions as F  # noqa: N812

    other = frame.columns(names)
    rest = frame.columns(frame.names - frozenset(names))
    return frame.rows.select(*(F.col(c).alias(OTHER + c) for c in other), *rest)


def _agreement(left: SolutionFrame, right: SolutionFrame, shared: Collection[str]) -> Column | None:
    """When two rows agree: each shared variable has one value, or none on one side."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = []
    for name in sorted(shared):
        mine, theirs = F.col(id_column(name)), F.col(OTHER + id_column(name))
        agrees = mine == theirs
        if name not in left.certain:
            agrees = agrees | mine.isNull()
        if name not in right.certain:
            agrees = agrees | theirs.isNull()
        parts.append(agrees)
    return reduce(and_, parts) if parts else None


def without(left: SolutionFrame, right: SolutionFrame, apart: Collection[str]) -> SolutionFrame:
    """The rows of the left side that agree with none of the right which shares a value.

    Values of the variables `apart` must agree, and are not what rows share.
    """
    from pyspark.sql import functions as F  # noqa: N812

    shared = left.names & right.names
    sharing = shared - frozenset(apart)
    if not sharing:
        return left
    condition = _agreement(left, right, shared)
    assert condition is not None, "something is shared"
    if not sharing & left.certain & right.certain:
        both = [
            F.col(id_column(name)).isNotNull() & F.col(OTHER + id_column(name)).isNotNull()
            for name in sorted(sharing)
        ]
        condition = condition & reduce(or_, both)
    other = _renamed(right.only(shared), shared)
    return replace(left, rows=left.rows.join(other, condition, "left_anti"))


def matched(left: SolutionFrame, right: SolutionFrame, *, negated: bool = False) -> SolutionFrame:
    """The rows of the left side that agree with some row of the right, or with none."""
    from pyspark.sql import functions as F  # noqa: N812

    shared = left.names & right.names
    condition = _agreement(left, right, shared)
    other = _renamed(right.unordered().only(shared), shared)
    if condition is None:
        other, condition = other.limit(1), F.lit(True)
    how = "left_anti" if negated else "left_semi"
    return replace(left, rows=left.rows.join(other, condition, how))


def same_rows(left: SolutionFrame, right: SolutionFrame, *, negated: bool) -> SolutionFrame:
    """The rows of the left side that the right side has, too, or that it has not.

    Variables of the left side are looked at alone, and unbound is a value like others.
    """
    from pyspark.sql import functions as F  # noqa: N812

    names = sorted(left.names)
    other = _renamed(right.only(left.names), left.names)
    parts = [F.col(id_column(n)).eqNullSafe(F.col(OTHER + id_column(n))) for n in names]
    condition = reduce(and_, parts) if parts else F.lit(True)
    how = "left_anti" if negated else "left_semi"
    return replace(left, rows=left.rows.join(other, condition, how))


def united(left: SolutionFrame, right: SolutionFrame) -> SolutionFrame:
    """The rows of both sides."""
    left, right = left.unordered(), right.unordered()
    rows = left.rows.unionByName(right.rows, allowMissingColumns=True)
    certain = left.certain & right.certain
    names = left.names | right.names
    return SolutionFrame(rows, certain, names - certain, left.computed | right.computed)


def distinct(frame: SolutionFrame) -> SolutionFrame:
    """Each row once, in the order in which it comes first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    ids = [id_column(name) for name in sorted(frame.names)]
    texts = [text_column(name) for name in sorted(frame.computed)]
    order, rows = frame.order, frame.rows
    if not all(each.names <= frame.names for each in order):
        # What rows are ordered by may differ for equal rows: their places are numbered.
        place = Window.orderBy(*frame.sorted_by())
        rows = rows.withColumn("place", F.row_number().over(place))
        order = (OrderColumn("place", descending=False, names=frozenset()),)
    firsts = [F.first(each).alias(each) for each in texts]
    firsts += [F.min(each.column).alias(each.column) for each in order]
    if not ids:
        rows = rows.limit(1)
    elif firsts:
        rows = rows.groupBy(*ids).agg(*firsts)
    else:
        rows = rows.select(*ids).distinct()
    return replace(frame, rows=rows, order=order)


def computed(rows: DataFrame) -> DataFrame:
    """The rows, computed once, by the job that first needs them; their lineage is cut.

    Spark would keep its estimate of their size, which is a product over joins of estimates of
    earlier steps: a number whose digits double with each.
    """
    return _without_estimate(rows.localCheckpoint(eager=False))


def _without_estimate(rows: DataFrame) -> DataFrame:
    inner: Any = rows
    session: Any = rows.sparkSession
    if not hasattr(session, "_jsparkSession"):
        return rows
    plan, java = inner._jdf.queryExecution(), session._jsparkSession
    fresh = java.internalCreateDataFrame(plan.toRdd(), inner._jdf.schema(), False)
    made: DataFrame = type(inner)(fresh, session)
    return made
