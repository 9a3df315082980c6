"""The stored closure: facts with their support counts out of the tables, and back into them.

`support` counts the instances of rules that derive a fact.  Those of recursive rules, which
deletions have to know apart, are counted in its upper half: so sums and differences of
supports are those of both counters, for everyone who adds up facts and changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.jobs.frames import counted_predicates, facts_frame
from livefacts.engine.spark.jobs.shuffle import PARCELS, received
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.joins.closure_change import ChangedClosure
from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.engine.spark.joins.materialization import Closure
from livefacts.engine.spark.joins.rounds import Setting, kept
from livefacts.engine.spark.joins.rule_queries import widest
from livefacts.kb.bucket_stages import FOLLOWED, Bucket, collect_bucket
from livefacts.kb.buckets import posted
from livefacts.kb.consequences import FACTS
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    SCHEMAS,
    TRIPLES_TABLE,
    DataFile,
    Write,
    write_file,
)
from livefacts.plan.rules.operators import Plan
from livefacts.store.facts.row_store import TRIPLES

LOWER = (1 << 32) - 1
MOST_COUNTED = 1 << 31
"""A counter that may be larger than this is not kept: it would run into the other half."""
PLAIN, RECURSIVE = f"support & {LOWER}L AS plain", "SHIFTRIGHT(support, 32) AS recursive"
SUPPORT = "plain + recursive * 4294967296L AS support"
TOLD, SIGN = "CAST(told AS INT) AS told", "CAST(sign AS INT) AS sign"
COUNTED = "CAST(told AS BIGINT) AS told", PLAIN, RECURSIVE
DATA_FILE = "name string, size long, rows long, written long"


# out of the tables


def stored_closure(work: Work, setting: Setting, plan: Plan) -> Closure:
    """What holds at the commit that a change starts from, with its counters."""
    triples = facts_frame(work.session, work.base, work.start)
    others = counted_predicates(work.session, work.base, work.start)
    longest = others.agg(F.max(F.size("arguments"))).collect()[0][0] or 0
    form = Form(max(widest(plan), 1 + longest))
    rows = _packed(form, triples, f"{TRIPLES} AS f", ["s", "p", "o"])
    arguments = [f"COALESCE(GET(arguments, {n}), 0L)" for n in range(form.width - 1)]
    shape = "CAST(SIZE(arguments) + 1 AS INT) AS f"
    rows = rows.unionAll(_packed(form, others, shape, ["pred", *arguments]))
    rows = rows.localCheckpoint(eager=False)
    size = rows.count()
    return Closure(setting, plan, form, kept(rows, size <= setting.small), size)


def _packed(form: Form, rows: DataFrame, shape: str, cells: list[str]) -> DataFrame:
    cells = cells + ["0L"] * (form.width - len(cells))
    named = [f"{cell} AS {name}" for cell, name in zip(cells, form.cells, strict=True)]
    return rows.selectExpr(shape, *named, *COUNTED)


# the whole closure into the tables


def whole_writes(work: Work, closure: Closure, buckets: list[Bucket]) -> dict[str, Write]:
    """All facts of a closure in place of those that were there."""
    found = {
        TRIPLES_TABLE: _triple_files(work, closure, buckets),
        PREDICATES_TABLE: _written(
            work, PREDICATES_TABLE, _predicates(closure.form, closure.rows, [SUPPORT, TOLD])
        ),
    }
    writes = {table: Write(tuple(files), OVERWRITE) for table, files in found.items()}
    return writes | _emptied(work, CHANGES, PREDICATE_CHANGES)


def _emptied(work: Work, *tables: str) -> dict[str, Write]:
    return {table: Write((), OVERWRITE) for table in tables if table in work.start.versions}


def largest_counter(rows: DataFrame) -> int:
    """The largest of all counters."""
    return int(rows.agg(F.max(F.greatest(F.abs("plain"), F.abs("recursive")))).collect()[0][0] or 0)


def _triple_files(work: Work, closure: Closure, buckets: list[Bucket]) -> list[DataFile]:
    triples = _triples(closure.rows, [SUPPORT, TOLD])
    sent = triples.mapInArrow(partial(_sent, work.buckets), PARCELS)
    return received(work.session, sent, partial(collect_bucket, work.base.path), buckets).outputs


def _sent(buckets: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if listed:
        rows = pa.Table.from_batches(listed).cast(FACTS)
        yield posted(FOLLOWED, rows, rows["s"].to_numpy(), buckets)


def _triples(rows: DataFrame, others: list[str]) -> DataFrame:
    return rows.where(f"f = {TRIPLES}").selectExpr("c0 AS s", "c1 AS p", "c2 AS o", *others)


def _predicates(form: Form, rows: DataFrame, others: list[str]) -> DataFrame:
    arguments = f"SLICE(ARRAY({', '.join(form.cells[1:])}), 1, f - 1) AS arguments"
    return rows.where(f"f <> {TRIPLES}").selectExpr("c0 AS pred", arguments, *others)


# what has changed into the tables


@dataclass(frozen=True, slots=True)
class CountedChange:
    """What a change does to the tables, and how large a difference of counters there is."""

    writes: dict[str, Write]
    rows: int
    largest: int


def changed_writes(work: Work, changed: ChangedClosure) -> CountedChange:
    """The differences of counters as signed rows."""
    form, counts = changed.closure.form, changed.counts
    columns = [SUPPORT, TOLD, SIGN]
    found = {
        CHANGES: _triples(counts, columns),
        PREDICATE_CHANGES: _predicates(form, counts, columns),
    }
    seq = F.lit(work.start.seq + 1).cast("bigint")
    files = {
        table: _written(work, table, rows.select(seq.alias("seq"), "*"))
        for table, rows in found.items()
    }
    writes = {table: Write(tuple(listed)) for table, listed in files.items() if listed}
    rows = sum(file.rows for listed in files.values() for file in listed)
    return CountedChange(writes, rows, largest_counter(counts) if rows else 0)


def _written(work: Work, table: str, rows: DataFrame) -> list[DataFile]:
    """Rows as data files of a table, written by tasks."""
    found = rows.mapInArrow(partial(_write_rows, work.base.path, table), DATA_FILE).collect()
    return [DataFile(row.name, row.size, row.rows, row.written) for row in found]


def _write_rows(
    path: StorePath, table: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if listed:
        rows = pa.Table.from_batches(listed).cast(SCHEMAS[table])
        file = write_file(path / table, rows)
        yield pa.RecordBatch.from_pydict(
            {
                "name": [file.name],
                "size": [file.size],
                "rows": [file.rows],
                "written": [file.written],
            }
        )
