"""The stored closure: facts with their support counts out of the tables, and back into them.

`support` counts the instances of rules that derive a fact.  Those of recursive rules, which
deletions have to know apart, are counted in its upper half: so sums and differences of
supports are those of both counters, for everyone who adds up facts and changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.jobs.frames import counted_predicates, facts_frame
from livefacts.engine.spark.jobs.shuffle import PARCELS, received
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.joins.closure_change import ChangedClosure
from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.engine.spark.joins.materialization import Closure
from livefacts.engine.spark.joins.rounds import Setting
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
FACT_TABLES = TRIPLES_TABLE, PREDICATES_TABLE, CHANGES, PREDICATE_CHANGES
WIDTH = "width"
"""What a commit of joins notes: how many columns its facts have at most."""
CHANGED_TABLES = CHANGES, PREDICATE_CHANGES
DATA_FILE = "table string, name string, size long, rows long, written long"


# out of the tables


def stored_closure(work: Work, setting: Setting, plan: Plan) -> Closure:
    """What holds at the commit that a change starts from, with its counters."""
    triples = facts_frame(work.session, work.base, work.start)
    others = counted_predicates(work.session, work.base, work.start)
    form = Form(max(widest(plan), _stored_width(work, others)))
    rows = _packed(form, triples, f"{TRIPLES} AS f", ["s", "p", "o"])
    arguments = [f"COALESCE(GET(arguments, {n}), 0L)" for n in range(form.width - 1)]
    shape = "CAST(SIZE(arguments) + 1 AS INT) AS f"
    rows = rows.unionAll(_packed(form, others, shape, ["pred", *arguments]))
    size = sum(work.base.count(table, work.start) for table in FACT_TABLES)
    is_kept = not any(work.base.files(table, work.start) for table in CHANGED_TABLES)
    return Closure(setting, plan, form, rows, size, is_kept=is_kept)


def _stored_width(work: Work, others: DataFrame) -> int:
    """How many columns predicate facts have; joins have noted it with their last commit."""
    noted = work.start.notes.get(WIDTH)
    if noted is None:
        return 1 + (others.agg(F.max(F.size("arguments"))).collect()[0][0] or 0)
    return int(noted)


def _packed(form: Form, rows: DataFrame, shape: str, cells: list[str]) -> DataFrame:
    cells = cells + ["0L"] * (form.width - len(cells))
    named = [f"{cell} AS {name}" for cell, name in zip(cells, form.cells, strict=True)]
    return rows.selectExpr(shape, *named, *COUNTED)


# the whole closure into the tables


def whole_writes(work: Work, closure: Closure, buckets: list[Bucket]) -> dict[str, Write]:
    """All facts of a closure in place of those that were there."""
    others = closure.rows.where(f"f <> {TRIPLES}")
    tables = TRIPLES_TABLE, PREDICATES_TABLE
    found = _written(work, closure.form, others, [SUPPORT, TOLD], tables)
    found[TRIPLES_TABLE] = Write(tuple(_triple_files(work, closure, buckets)))
    writes = {table: replace(write, mode=OVERWRITE) for table, write in found.items()}
    return writes | _emptied(work, CHANGES, PREDICATE_CHANGES)


def _emptied(work: Work, *tables: str) -> dict[str, Write]:
    return {table: Write((), OVERWRITE) for table in tables if table in work.start.versions}


def _triple_files(work: Work, closure: Closure, buckets: list[Bucket]) -> list[DataFile]:
    triples = closure.rows.where(f"f = {TRIPLES}")
    triples = triples.selectExpr("c0 AS s", "c1 AS p", "c2 AS o", SUPPORT, TOLD)
    sent = triples.mapInArrow(partial(_sent, work.buckets), PARCELS)
    return received(work.session, sent, partial(collect_bucket, work.base.path), buckets).outputs


def _sent(buckets: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if listed:
        rows = pa.Table.from_batches(listed).cast(FACTS)
        yield posted(FOLLOWED, rows, rows["s"].to_numpy(), buckets)


# what has changed into the tables


def changed_writes(work: Work, changed: ChangedClosure) -> dict[str, Write]:
    """The differences of counters as signed rows."""
    columns = [SUPPORT, TOLD, SIGN, f"CAST({work.start.seq + 1} AS BIGINT) AS seq"]
    writes = _written(work, changed.closure.form, changed.counts, columns, CHANGED_TABLES)
    return {table: write for table, write in writes.items() if write.files}


def _written(
    work: Work, form: Form, rows: DataFrame, others: list[str], tables: tuple[str, str]
) -> dict[str, Write]:
    """Rows as data files of two tables, of triples and of other facts, written by tasks."""
    arguments = f"SLICE(ARRAY({', '.join(form.cells[1:])}), 1, GREATEST(f - 1, 0)) AS arguments"
    named = rows.selectExpr("f", "c0 AS s", "c1 AS p", "c2 AS o", "c0 AS pred", arguments, *others)
    writer = partial(_write_rows, work.base.path, tables)
    files: dict[str, list[DataFile]] = {table: [] for table in tables}
    for row in named.mapInArrow(writer, DATA_FILE).collect():
        files[row.table].append(DataFile(row.name, row.size, row.rows, row.written))
    return {table: Write(tuple(listed)) for table, listed in files.items()}


def _write_rows(
    path: StorePath, tables: tuple[str, str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if not listed:
        return
    rows = pa.Table.from_batches(listed)
    is_triple = pc.equal(rows["f"], TRIPLES)
    for table, chosen in zip(tables, (is_triple, pc.invert(is_triple)), strict=True):
        found = rows.filter(chosen).select(SCHEMAS[table].names).cast(SCHEMAS[table])
        if len(found):
            file = write_file(path / table, found)
            values = {
                "table": table,
                "name": file.name,
                "size": file.size,
                "rows": file.rows,
                "written": file.written,
            }
            yield pa.RecordBatch.from_pylist([values])
