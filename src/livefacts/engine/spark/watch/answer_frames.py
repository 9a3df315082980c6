"""Answer frames: the changes of a continuous query's answers, as a DataFrame.

A star is followed where its centres are.  Every other query is followed by one keeper, in one
process.  On a stream, each micro-batch gives what it has changed, and Spark keeps the state
between them; a table is one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from livefacts.engine.spark.watch.keeper import Keeper, KeptQuery, LoggedKeeper
from livefacts.engine.spark.watch.message_tables import schema_of, signed
from livefacts.engine.spark.watch.star_states import by_centre, is_one_star
from livefacts.errors import LivefactsError
from livefacts.language.graph_pattern import BasicQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Messages: TypeAlias = DataFrame
    Changes: TypeAlias = DataFrame

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def changes_of(messages: Messages, asked: KeptQuery, basic: BasicQuery | None) -> Changes:
    """The changes of a query's answers; `basic` are its patterns, if it has nothing else."""
    schema, told = schema_of(asked.names), signed(messages)
    if basic is not None and is_one_star(basic):
        return by_centre(_without_graphs(told), basic)
    return _by_keeper(told, asked, schema)


def _by_keeper(told: DataFrame, asked: KeptQuery, schema: str) -> DataFrame:
    """All messages go to one place."""
    from pyspark.sql import functions as F  # noqa: N812

    line = F.concat_ws(" ", "s", "p", "o", "g").alias("line")
    grouped = told.select(F.lit(0).alias("keeper"), "t", "sign", line).groupBy("keeper")
    if not told.isStreaming:
        return grouped.applyInPandas(lambda table: Keeper(asked).take([table]), schema)
    _require_rocksdb(told)
    return grouped.transformWithStateInPandas(
        LoggedKeeper(asked),  # type: ignore[arg-type]
        schema,
        "update",
        "none",
    )


def _without_graphs(told: DataFrame) -> DataFrame:
    """The messages; one about a named graph is an error, as it is for a query on its own."""
    from pyspark.sql import functions as F  # noqa: N812

    known = F.lit("a triple of a graph of which the query does not speak: ")
    subject = F.when(F.col("g").isNull(), F.col("s")).otherwise(
        F.raise_error(F.concat(known, F.col("g"))).cast("string")
    )
    return told.withColumn("s", subject)


def _require_rocksdb(told: DataFrame) -> None:
    if told.sparkSession.conf.get(PROVIDER) != ROCKSDB:
        raise LivefactsError(
            "the state of this query needs RocksDB, which this Spark session does not use",
            hint=f'livefacts.spark.session() does; or: spark.conf.set("{PROVIDER}", "{ROCKSDB}")',
        )
