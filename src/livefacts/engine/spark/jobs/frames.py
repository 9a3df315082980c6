"""Tables as DataFrames: what holds at a version, in ids or in terms, and what changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from livefacts.engine.spark.jobs.tasks import context_of
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    GRAPHS,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    REJECTED_MESSAGES,
    REJECTS,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    KnowledgeBase,
)
from livefacts.store.terms.hash_ids import KIND_MASK
from livefacts.store.terms.text_table import BLANK, IRI, SYMBOL

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TYPES = {
    pa.int64(): "long",
    pa.int32(): "int",
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.list_(pa.int64()): "array<long>",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.map_(pa.int64(), pa.string()): "map<long, string>",
}
KEYS = ("s", "p", "o")
ROWS_AT_A_TIME, TASKS_PER_CORE = 100_000, 2
MOST_CORES = 64
"""What a cluster is taken to have that does not say it."""
COUNTS = ("support", "told")
GLOB = re.compile(r"([][{}*?\\])")


def frame(session: SparkSession, base: KnowledgeBase, table: str, commit: Commit) -> DataFrame:
    """A table at a commit."""
    return frame_of_files(session, table, base.files(table, commit))


def frame_of_files(session: SparkSession, table: str, files: Sequence[StorePath]) -> DataFrame:
    """The rows of some data files of a table."""
    return files_frame(session, SCHEMAS[table], files)


def files_frame(session: SparkSession, schema: pa.Schema, files: Sequence[StorePath]) -> DataFrame:
    """The rows of some Parquet files with these columns."""
    if not files:
        # Spark sees that an Arrow table has no rows, and leaves out all joins with it.
        return rows_frame(session, schema.empty_table())
    if files[0].is_local:
        reader = session.read.schema(_columns(schema))
        return reader.parquet(*(literally(str(file)) for file in files))
    return _read_in_tasks(session, schema, files)


def literally(path: str) -> str:
    """A path as Spark has to be told of it: some characters are patterns to it.

    >>> literally("/data/kb {old}/facts_3")
    '/data/kb \\\\{old\\\\}/facts_3'
    """
    return GLOB.sub(r"\\\1", path)


def _read_in_tasks(
    session: SparkSession, schema: pa.Schema, files: Sequence[StorePath]
) -> DataFrame:
    """The same of a remote store, which Spark itself may not know, and has no keys of."""
    context = context_of(session)
    cores = MOST_CORES if context is None else context.defaultParallelism
    tasks = min(len(files), TASKS_PER_CORE * cores)
    numbers = session.range(0, len(files), 1, tasks)
    return numbers.mapInArrow(partial(_rows_of_files, schema, files), _columns(schema))


def _rows_of_files(
    schema: pa.Schema, files: Sequence[StorePath], numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in numbers:
        for number in batch["id"].to_pylist():
            yield from files[number].read_table(schema).to_batches(ROWS_AT_A_TIME)


def rows_frame(session: SparkSession, rows: pa.Table) -> DataFrame:
    """Rows of the driver as a DataFrame; Spark Connect has to be told the columns of none."""
    if len(rows):
        # Of a table in pieces, Spark reads no further than to an empty one.
        return session.createDataFrame(rows.combine_chunks())
    return session.createDataFrame(rows, _columns(rows.schema))


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {TYPES[field.type]}" for field in schema)


def facts_frame(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """Everything that holds: s, p, o, support, told."""
    return _holding(session, base, commit, TRIPLES_TABLE, CHANGES)


def counted_predicates(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """All predicate facts, hidden ones too: pred, arguments, support, told."""
    return _holding(session, base, commit, PREDICATES_TABLE, PREDICATE_CHANGES)


def _holding(
    session: SparkSession, base: KnowledgeBase, commit: Commit, table: str, changed: str
) -> DataFrame:
    """What the facts of a table and their signed changes come to."""
    from pyspark.sql import functions as F  # noqa: N812

    facts = frame(session, base, table, commit)
    if not base.files(changed, commit):
        return facts
    changes = frame(session, base, changed, commit).select(*facts.columns)
    summed = (
        facts.unionByName(changes)
        .groupBy(*(name for name in facts.columns if name not in COUNTS))
        .agg(F.sum("support").alias("support"), F.sum("told").cast("int").alias("told"))
    )
    return summed.where((F.col("support") > 0) | (F.col("told") > 0))


def shown(facts: DataFrame) -> DataFrame:
    """The facts that RDF can write: no literal as subject, no blank node as predicate."""
    s, p, o = map(_kind, KEYS)
    return facts.where(s.isin(IRI, BLANK) & (p == IRI) & (o != SYMBOL))


def _kind(column: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.col(column).bitwiseAND(F.lit(KIND_MASK).cast("long"))


def decoded(facts: DataFrame, terms: DataFrame) -> DataFrame:
    """Facts with the texts of their terms in place of ids."""
    for name in KEYS:
        texts = terms.select(terms["id"].alias("_id"), terms["text"].alias("_text"))
        facts = facts.join(texts, facts[name] == texts["_id"]).drop(name, "_id")
        facts = facts.withColumnRenamed("_text", name)
    return facts.select(*KEYS, *(column for column in facts.columns if column not in KEYS))


def delta_frame(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """The triples that a commit added (sign 1) and removed (sign -1): s, p, o, sign."""
    if commit.notes.get("delta") == commit.seq:
        return _signed_rows(session, base, CHANGES, commit).select(*KEYS, "sign")
    before = base.commit(commit.seq - 1) if commit.seq > 1 else Commit()
    new, old = (facts_frame(session, base, each).select(*KEYS) for each in (commit, before))
    return _difference(new, old)


def predicate_delta_frame(
    session: SparkSession, base: KnowledgeBase, commit: Commit, terms: DataFrame
) -> DataFrame:
    """The predicate facts that a commit added and removed: name, arguments, sign."""
    if commit.notes.get("delta") == commit.seq:
        found = _signed_rows(session, base, PREDICATE_CHANGES, commit)
        return _named(found, terms).select("name", "arguments", "sign")
    before = base.commit(commit.seq - 1) if commit.seq > 1 else Commit()
    new, old = (
        counted_predicates(session, base, each).select("pred", "arguments")
        for each in (commit, before)
    )
    return _named(_difference(new, old), terms).select("name", "arguments", "sign")


def whole_delta(triples: DataFrame, others: DataFrame) -> DataFrame:
    """Both in one: s, p, o of triples, name and arguments of other facts, and sign."""
    columns = [*KEYS, "name", "arguments", "sign"]
    return triples.unionByName(others, allowMissingColumns=True).select(*columns)


def _signed_rows(
    session: SparkSession, base: KnowledgeBase, table: str, commit: Commit
) -> DataFrame:
    return frame(session, base, table, commit).where(f"seq = {commit.seq} AND sign <> 0")


def _difference(new: DataFrame, old: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    added = new.exceptAll(old).withColumn("sign", F.lit(1))
    return added.unionByName(old.exceptAll(new).withColumn("sign", F.lit(-1)))


def predicates_frame(
    session: SparkSession, base: KnowledgeBase, commit: Commit, terms: DataFrame
) -> DataFrame:
    """Predicate facts: name, arguments as ids, told; without hidden predicates."""
    from pyspark.sql import functions as F  # noqa: N812

    facts = counted_predicates(session, base, commit)
    return _named(facts, terms).select("name", "arguments", (F.col("told") > 0).alias("told"))


def _named(facts: DataFrame, terms: DataFrame) -> DataFrame:
    """Facts with the names of their predicates, without those that are hidden."""
    from pyspark.sql import functions as F  # noqa: N812

    names = terms.select(terms["id"].alias("pred"), F.substring("text", 2, 1 << 30).alias("name"))
    return facts.join(names, "pred").where(~F.col("name").startswith("_"))


def decoded_arguments(facts: DataFrame, terms: DataFrame) -> DataFrame:
    """Predicate facts with the texts of their arguments in place of ids."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = facts.columns
    each = facts.select(*keys, F.posexplode_outer("arguments").alias("_at", "id"))
    texts = each.join(terms, "id", "left").select(*keys, F.struct("_at", "text").alias("_one"))
    listed = texts.groupBy(*keys).agg(F.array_sort(F.collect_list("_one")).alias("_all"))
    present = F.filter(F.col("_all.text"), lambda text: text.isNotNull())
    others = [name for name in keys if name not in ("name", "arguments")]
    return listed.select("name", present.alias("arguments"), *others)


def graphs_frame(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """The triples that named graphs assert, and all graphs that assert them: s, p, o, g."""
    from pyspark.sql import functions as F  # noqa: N812

    quads = frame(session, base, GRAPHS, commit).groupBy(*KEYS, "g")
    return quads.agg(F.sum("sign").alias("sign")).where("sign > 0").drop("sign")


def decoded_graphs(quads: DataFrame, terms: DataFrame) -> DataFrame:
    """The same with the texts of their terms; null for the default graph."""
    texts = terms.select(terms["id"].alias("_graph"), terms["text"].alias("_text"))
    named = quads.join(texts, quads["g"] == texts["_graph"], "left").drop("g", "_graph")
    return decoded(named.withColumnRenamed("_text", "g"), terms)


def terms_frame(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """All terms: id, text."""
    return frame(session, base, TERMS, commit)


def rejects_frame(session: SparkSession, base: KnowledgeBase, commit: Commit) -> DataFrame:
    """What could not be read: lines of files, and messages of streams."""
    lines = frame(session, base, REJECTS, commit)
    if REJECTED_MESSAGES not in commit.versions:
        return lines
    messages = frame(session, base, REJECTED_MESSAGES, commit)
    return lines.unionByName(messages, allowMissingColumns=True)
