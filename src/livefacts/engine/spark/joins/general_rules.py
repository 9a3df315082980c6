"""General rules in the pipeline: asserted facts from the tables, conclusions back into them.

Rules that join several facts, negate, aggregate or compute run as rounds of DataFrame
joins.  Their conclusions are written into the same tables as those of single triples;
predicate facts have tables of their own.  A change of facts or of rules, or of both, is
followed from the support counts in the tables, and what it changes is one signed row a fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.jobs.frames import counted_predicates, facts_frame, rows_frame
from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.tasks import context_of, fit_partitions
from livefacts.engine.spark.jobs.work import Work, passing_folder
from livefacts.engine.spark.joins.closure_change import ChangedClosure, change
from livefacts.engine.spark.joins.fact_frame import columns_of
from livefacts.engine.spark.joins.level_pass import Way
from livefacts.engine.spark.joins.materialization import Closure, joined_plan, materialize
from livefacts.engine.spark.joins.rounds import PREDICATE, Setting
from livefacts.engine.spark.joins.rule_queries import constants_of
from livefacts.engine.spark.joins.stored_closure import (
    MOST_COUNTED,
    WIDTH,
    changed_writes,
    stored_closure,
    whole_writes,
)
from livefacts.engine.spark.read.asked_facts import AskedFacts, read_asked
from livefacts.engine.spark.read.graph_change import noted_graphs, told_in
from livefacts.engine.spark.read.table_terms import TableTerms, table_terms
from livefacts.errors import LivefactsError
from livefacts.kb.compaction import merge_small_files
from livefacts.kb.rule_table import rule_notes, rules_write
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import COUNTED, GENERAL, HANDED_OVER, LARGEST, RULES, Commit, Write
from livefacts.kb.term_rows import term_writes
from livefacts.language.program import Program
from livefacts.model.facts import Symbol
from livefacts.plan.rules.normal_form import TRUE
from livefacts.plan.rules.operators import Plan
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds

HIDDEN = "_"
TRUTH = Symbol(TRUE.name)
LARGEST_COUNTER = "MAX(GREATEST(ABS(plain), ABS(recursive)))"
Told = Mapping[int, DataFrame]


def _require_context(work: Work) -> None:
    """Joins keep rows between rounds as only a session with a context of its own lets them."""
    if context_of(work.session) is None:
        raise LivefactsError(
            "these rules need joins, which a session of Spark Connect cannot follow",
            hint='where they fit, Pipeline(..., memory="4g") hands them to the embedded engine',
        )


def close_general(work: Work, program: Program, *, batch: str = "") -> JobReport:
    """All conclusions of any program, from what is asserted; one commit."""
    _require_context(work)
    with passing_folder(work.base.path) as folder:
        return _closed(work, program, batch, folder)


def _closed(work: Work, program: Program, batch: str, folder: StorePath) -> JobReport:
    fit_partitions(work.session, work.base.size())
    terms = table_terms(work)
    with work.stages.stage("asserted facts"):
        plan = joined_plan(program.rules)
        asked = read_asked(add=program.facts, others={*constants_of(plan), TRUTH})
        told = _merged(told_frames(work), _frames(work, terms.settle(asked).added))
    with work.stages.stage("close by joins") as stage:
        setting = Setting.of(work.session, terms, folder)
        closure = materialize(setting, plan, told, limit=program.limit)
        stage.rows = closure.size
    with work.stages.stage("publish") as stage:
        writes = whole_writes(work, closure, terms.buckets)
        largest = _largest(closure.rows)
        stage.rows = _rows_in(writes)
        stage.bytes = sum(f.size for write in writes.values() for f in write.files)
    with work.stages.stage("commit"):
        writes[RULES] = rules_write(work.base, work.start.seq + 1, program)
        writes |= term_writes(work.base, terms.new, terms.encoding)
        notes = {"closed": True, "path": GENERAL, "changed": 0, **_counting(largest, closure)}
        commit = work.base.publish(
            work.start, "materialize", writes, batch=batch, notes=notes | rule_notes(program)
        )
    return JobReport(commit.seq, "materialize", {"facts": closure.size}, tuple(work.stages.done))


def _largest(rows: DataFrame) -> int:
    """The largest of all counters."""
    return int(rows.agg(F.expr(LARGEST_COUNTER)).collect()[0][0] or 0)


def _counting(largest: int, closure: Closure) -> dict[str, Any]:
    notes = {COUNTED: largest < MOST_COUNTED, LARGEST: largest, HANDED_OVER: False}
    return {**notes, WIDTH: closure.form.width}


@dataclass(frozen=True, slots=True)
class GeneralChange:
    """A change of facts and rules: what is asked, the rules before and after, and the way."""

    asked: AskedFacts
    before: Program
    after: Program
    way: Way = Way.COUNTING_DRED


def change_general(work: Work, asked: GeneralChange, kind: str, batch: str = "") -> JobReport:
    """Follow a change by joins; one commit, and in it what has changed."""
    _require_context(work)
    with passing_folder(work.base.path) as folder:
        return _changed(work, asked, kind, batch, folder)


def _changed(
    work: Work, asked: GeneralChange, kind: str, batch: str, folder: StorePath
) -> JobReport:
    fit_partitions(work.session, work.base.size())
    terms = table_terms(work)
    with work.stages.stage("open") as stage:
        noted, is_told = noted_graphs(work.base, work.start), told_in(terms.buckets)
        before = joined_plan(asked.before.rules)
        is_same = asked.after.rules == asked.before.rules
        after = before if is_same else joined_plan(asked.after.rules)
        constants = {*constants_of(before), *constants_of(after), TRUTH}
        found, graphs = noted.change(terms.settle(asked.asked.beside(constants)), is_told)
        setting = Setting.of(work.session, terms, folder)
        closure = stored_closure(work, setting, before)
        stage.rows = closure.size
    with work.stages.stage("follow by joins") as stage:
        changed = change(
            closure,
            _frames(work, _with_truth(found.added, setting)),
            _frames(work, found.removed),
            plan=after,
            # Counters that are not those of the rules are made right by counting anew.
            way=asked.way if _is_counted(work.start) else Way.RECOMPUTE,
            limit=asked.after.limit,
        )
        figures = _figures(changed, setting, (before, after))
        stage.rows = figures.shown["added"] + figures.shown["removed"]
    others = graphs.writes(work.base, work.start.seq + 1)
    return _committed(work, asked, changed, terms, others, kind, batch, figures)


def _frames(work: Work, facts: Mapping[int, HashIds]) -> dict[int, DataFrame]:
    return {shape: ids_frame(work, shape, ids) for shape, ids in facts.items()}


def _with_truth(facts: Mapping[int, HashIds], setting: Setting) -> dict[int, HashIds]:
    """With the fact that is always true: tables that other roads have made lack it."""
    truth = np.array([[setting.id_of(TRUTH)]], np.int64)
    return {**facts, 1: np.concatenate([facts[1], truth]) if 1 in facts else truth}


def _rows_in(writes: Mapping[str, Write]) -> int:
    return sum(file.rows for write in writes.values() for file in write.files)


def _is_counted(commit: Commit) -> bool:
    return commit.notes.get("path") == GENERAL and bool(commit.notes.get(COUNTED))


def _committed(
    work: Work,
    asked: GeneralChange,
    changed: ChangedClosure,
    terms: TableTerms,
    others: dict[str, Write],
    kind: str,
    batch: str,
    figures: _Figures,
) -> JobReport:
    with work.stages.stage("commit"):
        counted = changed_writes(work, changed)
        writes = counted | others
        writes |= term_writes(work.base, terms.new, terms.encoding)
        notes = {
            "path": GENERAL,
            "facts": changed.closure.size,
            "changed": work.start.notes.get("changed", 0) + _rows_in(counted),
            "delta": work.start.seq + 1,
            **_counting(work.start.notes.get(LARGEST, 0) + figures.largest, changed.closure),
        }
        if asked.after != asked.before or RULES not in work.start.versions:
            writes[RULES] = rules_write(work.base, work.start.seq + 1, asked.after)
            notes |= rule_notes(asked.after)
        writes, notes = work.with_beside(writes, notes)
        writes = merge_small_files(work.base, work.start, writes)
        commit = work.base.publish(work.start, kind, writes, batch=batch, notes=notes)
    return JobReport(commit.seq, kind, figures.shown, tuple(work.stages.done))


@dataclass(frozen=True, slots=True)
class _Figures:
    """How many facts came and went, without those of hidden predicates; the largest counter."""

    shown: dict[str, int]
    largest: int


def _figures(changed: ChangedClosure, setting: Setting, plans: tuple[Plan, Plan]) -> _Figures:
    terms = {TRUTH, *(term for plan in plans for term in constants_of(plan))}
    hidden = {
        setting.id_of(term)
        for term in terms
        if isinstance(term, Symbol) and term.name.startswith(HIDDEN)
    }
    conditions = {"asserted": "told > 0", "retracted": "told < 0", "added": "sign > 0"}
    conditions["removed"] = "sign < 0"
    counts = [F.count_if(F.expr(text)).alias(name) for name, text in conditions.items()]
    grouped = changed.counts.groupBy("f", F.expr(PREDICATE).alias("p"))
    rows = grouped.agg(*counts, F.expr(LARGEST_COUNTER).alias("largest")).collect()
    shown = [row for row in rows if row.f == TRIPLES or row.p not in hidden]
    figures = {name: sum(row[name] for row in shown) for name in conditions}
    return _Figures(figures, max((row.largest for row in rows), default=0))


# what is asserted


def told_frames(work: Work) -> dict[int, DataFrame]:
    """The asserted facts in the tables, by shape."""
    triples = facts_frame(work.session, work.base, work.start).where("told > 0")
    found = {TRIPLES: triples.select("s", "p", "o")}
    others = counted_predicates(work.session, work.base, work.start).where("told > 0")
    for row in others.select(F.size("arguments").alias("n")).distinct().collect():
        arguments = [F.col("arguments")[i].alias(f"a{i + 1}") for i in range(row.n)]
        chosen = others.where(F.size("arguments") == row.n)
        found[row.n + 1] = chosen.select("pred", *arguments)
    return found


def ids_frame(work: Work, shape: int, ids: Any) -> DataFrame:
    """Facts of one shape, in ids, as a DataFrame."""
    names = columns_of(shape)
    columns = {name: np.ascontiguousarray(ids[:, at]) for at, name in enumerate(names)}
    schema = pa.schema([(name, pa.int64()) for name in columns])
    return rows_frame(work.session, pa.table(columns, schema=schema))


def _merged(told: Told, added: Told) -> dict[int, DataFrame]:
    found = dict(told)
    for shape, rows in added.items():
        found[shape] = found[shape].unionByName(rows).distinct() if shape in found else rows
    return found
