"""Group frames: GROUP BY with its aggregates.

Where only rows or different values are counted, Spark does it alone.  Other totals are computed
in tasks, each of which has many groups: every different row of keys and values that are looked
at, with how often it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from livefacts.engine.queries.binding_scopes import names_in_condition
from livefacts.engine.spark.sparql.solution_frame import SolutionFrame, id_column, text_column
from livefacts.engine.spark.sparql.term_columns import TermColumns
from livefacts.engine.spark.sparql.value_tasks import (
    COUNT_COLUMN,
    Computing,
    GroupColumns,
    TotalsTask,
    check_expression,
)
from livefacts.language.algebra import Grouped, QueryAggregate
from livefacts.language.formula import Variable
from livefacts.model.namespaces import XSD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ONE, ONE_COLUMN, BUCKET, IS_THERE = 1, "one_", "bucket_", "is_there_"
INTEGER = f'"^^<{XSD}integer>'
Aggregates = Sequence[tuple[str, QueryAggregate]]


@dataclass(frozen=True, slots=True)
class GroupFrames:
    """The groups of one query."""

    session: SparkSession
    terms: TermColumns
    computing: Computing

    def rows(self, rows: SolutionFrame, pattern: Grouped) -> SolutionFrame:
        """A row for each group; without keys there is one group, even of nothing."""
        keys = [variable.name for variable in pattern.keys]
        aggregates = [(variable.name, each) for variable, each in pattern.aggregates]
        if all(_only_counts(each) for _, each in aggregates):
            return self._counted(rows, keys, aggregates)
        return self._totalled(rows, keys, aggregates)

    def _counted(
        self, rows: SolutionFrame, keys: Sequence[str], aggregates: Aggregates
    ) -> SolutionFrame:
        from pyspark.sql import functions as F  # noqa: N812

        known = rows.names & set(keys)
        counts = [_count(rows, each).alias(text_column(name)) for name, each in aggregates]
        texts = [
            F.first(text_column(name)).alias(text_column(name))
            for name in sorted(rows.computed & known)
        ]
        # A key that no row has a value for makes one group, but none where there are no rows.
        ties = [F.col(id_column(name)) for name in sorted(known)]
        ties = ties or [F.lit(ONE).alias(ONE_COLUMN)] * bool(keys)
        # Spark makes no groups of which nothing is asked.
        totals = [*texts, *counts] or [F.first(F.lit(ONE)).alias(ONE_COLUMN)]
        found = rows.rows.groupBy(*ties).agg(*totals).drop(ONE_COLUMN)
        numbers = (F.col(text_column(name)).cast("string") for name, _ in aggregates)
        written = [F.concat(F.lit('"'), number, F.lit(INTEGER)) for number in numbers]
        return self._with_totals(rows.only(known), found, [name for name, _ in aggregates], written)

    def _totalled(
        self, rows: SolutionFrame, keys: Sequence[str], aggregates: Aggregates
    ) -> SolutionFrame:
        known = rows.names & set(keys)
        looked_at = _looked_at(rows, aggregates)
        columns = GroupColumns(
            {name: id_column(name) for name in sorted(known)},
            {name: text_column(name) for name in sorted(known & rows.computed)},
            {name: text_column(name) for name in looked_at},
            {name: text_column(name) for name, _ in aggregates},
        )
        task = TotalsTask(columns, tuple(aggregates), self.computing)
        found = self._in_tasks(self._bag(rows, known, looked_at), task)
        if not keys:
            found = self._or_nothing(found, task)
        from pyspark.sql import functions as F  # noqa: N812

        names = [name for name, _ in aggregates]
        return self._with_totals(
            rows.only(known), found, names, [F.col(text_column(name)) for name in names]
        )

    def _bag(
        self, rows: SolutionFrame, keys: frozenset[str], looked_at: Sequence[str]
    ) -> DataFrame:
        """Each different row of keys and values, how often it is there, and the texts of values."""
        from pyspark.sql import functions as F  # noqa: N812

        names = sorted(keys.union(looked_at))
        texts = [
            F.first(text_column(name)).alias(text_column(name))
            for name in names
            if name in rows.computed
        ]
        grouped = rows.rows.groupBy(*map(id_column, names))
        bag = grouped.agg(F.count(F.lit(ONE)).alias(COUNT_COLUMN), *texts)
        bag = bag.where(F.col(COUNT_COLUMN) > 0)  # without names, there is a row of nothing
        for name in looked_at:
            bag = self.terms.texts_for(bag, id_column(name), text_column(name))
        return bag

    def _in_tasks(self, bag: DataFrame, task: TotalsTask) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812

        columns = task.columns
        keys = list(columns.keys.values())
        bucket = F.lit(0)
        if keys:
            parts = int(str(self.session.conf.get("spark.sql.shuffle.partitions")))
            bucket = F.pmod(F.xxhash64(*keys), F.lit(4 * parts))
        asked = dict.fromkeys([*keys, *columns.key_texts.values(), *columns.values.values()])
        tasks: Any = bag.select(bucket.alias(BUCKET), *asked, COUNT_COLUMN).groupBy(BUCKET)
        texts = [*columns.key_texts.values(), *columns.totals.values()]
        schema = [*(f"`{c}` long" for c in keys), *(f"`{c}` string" for c in texts)]
        found: DataFrame = tasks.applyInArrow(lambda table: task(table), ", ".join(schema))
        return found

    def _or_nothing(self, found: DataFrame, task: TotalsTask) -> DataFrame:
        """The totals of the one group without keys, also where there are no rows."""
        from pyspark.sql import functions as F  # noqa: N812

        one = self.session.range(1).select(F.lit(ONE).alias(ONE_COLUMN))
        both = one.join(found.withColumn(IS_THERE, F.lit(ONE)), F.lit(True), "left")
        pairs = zip(task.columns.totals.values(), task.of_nothing(), strict=True)
        return both.select(
            *(
                F.when(F.col(IS_THERE).isNull(), F.lit(text)).otherwise(F.col(c)).alias(c)
                for c, text in pairs
            )
        )

    def _with_totals(
        self, keys: SolutionFrame, found: DataFrame, names: Sequence[str], texts: Sequence[Column]
    ) -> SolutionFrame:
        """Groups as rows: keys are what they were, and totals may be unbound."""
        frame = SolutionFrame(found, keys.certain, keys.possible, keys.computed)
        for name, text in zip(names, texts, strict=True):
            frame = frame.with_text(name, self.terms.ids_of(text), text)
        return frame


def _only_counts(aggregate: QueryAggregate) -> bool:
    is_plain = aggregate.value is None or isinstance(aggregate.value, Variable)
    return aggregate.function == "COUNT" and is_plain


def _count(rows: SolutionFrame, aggregate: QueryAggregate) -> Column:
    """How many rows, or values, or different ones of them there are."""
    from pyspark.sql import functions as F  # noqa: N812

    if isinstance(aggregate.value, Variable):
        name = aggregate.value.name
        value = F.col(id_column(name)) if name in rows.names else F.lit(None)
    elif aggregate.distinct:
        value = F.struct(F.lit(ONE), *map(id_column, sorted(rows.names)))
    else:
        value = F.lit(ONE)
    return F.countDistinct(value) if aggregate.distinct else F.count(value)


def _looked_at(rows: SolutionFrame, aggregates: Aggregates) -> list[str]:
    """The variables whose values totals need; COUNT(DISTINCT *) needs all of them."""
    names: set[str] = set()
    for _, each in aggregates:
        for value in each.values:
            check_expression(value)
            names |= names_in_condition(value)
        if each.distinct and not each.values:
            names |= rows.names
    return sorted(names & rows.names)
