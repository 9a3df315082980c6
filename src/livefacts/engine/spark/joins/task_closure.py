"""Task closure: a closure that fits into one task, drawn there in one job instead of many rounds.

A round of joins costs what planning and a job cost, however few facts it finds, and a program
of a hundred rules makes queries of hundreds of joins.  So facts that one process can hold are
sent to one task, where the embedded engine draws all conclusions, with the same counters.  When
there are more of them than the task may hold, it stops, and the rounds of joins begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from livefacts.engine.spark.joins.fact_frame import COUNTERS, Form
from livefacts.engine.spark.joins.kept_rows import KeptRows
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.engine.spark.joins.rule_queries import TERMS, constants_of, looks_at_values
from livefacts.engine.spark.joins.task_engine import (
    NUMBERS,
    PASSED,
    STANDS,
    STOPPED,
    TERM,
    ClosingTask,
)
from livefacts.errors import LimitError
from livefacts.model.facts import Symbol
from livefacts.plan.rules.normal_form import TRUE
from livefacts.plan.rules.operators import Plan

TASK, TOO_LARGE = "closed in a task", "too large for a task"
HOLDS = f"kind = {STANDS} AND (told > 0 OR plain + recursive > 0)"
CHANGED = f"kind = {STANDS} AND (" + " OR ".join(f"{name} <> 0" for name in NUMBERS[3:]) + ")"
FIGURES = {
    "size": HOLDS,
    "more": f"kind = {STANDS} AND sign > 0 AND told = 0",
    "terms": f"kind = {TERM}",
    "stopped": f"kind = {STOPPED}",
    "passed": f"kind = {PASSED}",
}
"""What is counted of the rows of the task."""


@dataclass(frozen=True, slots=True)
class TaskClosure:
    """All facts with their counters, the differences to what there was, and how many facts."""

    rows: DataFrame
    counts: DataFrame
    size: int


def closed_in_task(
    setting: Setting,
    plan: Plan,
    form: Form,
    facts: Mapping[int, DataFrame],
    size: int,
    limit: int | None = None,
) -> TaskClosure | None:
    """The closure of facts that stand, come and go, or none if one task cannot hold it.

    Of the conclusions that there are before, which are no more than `size`, no limit speaks.
    """
    if size > setting.most:
        return None
    most, passing = setting.most, None if limit is None else limit + size
    constants = frozenset({*constants_of(plan), Symbol(TRUE.name)})
    task = ClosingTask(plan, form, constants, setting.terms.id_of, most, passing)
    selects = [_given(form, kind) for kind in facts]
    if looks_at_values(plan):
        selects.append(_terms(form))
    frames = {f"rows{kind}": rows for kind, rows in facts.items()}
    given = setting.query(" UNION ALL ".join(selects), **frames).coalesce(1)
    kept = setting.keep(
        given.mapInArrow(task, task.schema), is_small=True, by=list(FIGURES.values())
    )
    found, figures = kept.frame, _figures(kept)
    if figures["passed"] or (limit is not None and figures["more"] > limit):
        raise LimitError(
            f"more than {limit:,} facts would be derived",
            hint="raise @limit, or look for arithmetic that goes on forever",
        )
    if figures["stopped"]:
        setting.tell(TOO_LARGE, size)
        return None
    if figures["terms"]:
        setting.terms.remember(found.where(f"kind = {TERM}").selectExpr("c0 AS id", "text"))
    setting.tell(TASK, figures["size"])
    rows = found.where(HOLDS).select(*form.keys, *COUNTERS)
    differences = [f"{name}_by AS {name}" for name in COUNTERS]
    counts = found.where(CHANGED).selectExpr(*form.keys, *differences, "CAST(sign AS INT) AS sign")
    return TaskClosure(rows, counts, figures["size"])


def _given(form: Form, kind: int) -> str:
    """Facts as the task takes them; only those that stand have counters."""
    keys = [f"CAST({key} AS BIGINT) AS {key}" for key in form.keys]
    counters = [name if kind == STANDS else f"0L AS {name}" for name in COUNTERS]
    columns = [f"{kind}L AS kind", *keys, *counters, "CAST(NULL AS STRING) AS text"]
    return f"SELECT {', '.join(columns)} FROM {{rows{kind}}}"


def _terms(form: Form) -> str:
    zeros = ["id" if name == "c0" else "0L" for name in (*form.keys, *COUNTERS)]
    return f"SELECT {TERM}L, {', '.join(zeros)}, text FROM {TERMS}"


def _figures(found: KeptRows) -> dict[str, int]:
    """What the task says in figures."""
    return {
        name: sum(count for group, count in found.counts.items() if group[place])
        for place, name in enumerate(FIGURES)
    }
