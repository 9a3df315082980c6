"""A change of a closure: facts and rules come and go, and the exact delta comes out.

Facts that are added and removed together take one pass over the levels.  A change of rules
takes two: what goes, under the old levels; then what comes, under the new ones.  The delta is
exact and net: what is true now and was not, and what is no longer; beside it, by how much
every support count has changed, which is all that has to be written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.joins.fact_frame import (
    COUNTERS,
    Form,
    gathered,
    packed,
    unpacked,
    widened,
    width_of,
)
from livefacts.engine.spark.joins.level_pass import HOLDS, Pass, Way
from livefacts.engine.spark.joins.materialization import ALL, Closure, close, first_plans
from livefacts.engine.spark.joins.rounds import FactKinds, heads_sql
from livefacts.engine.spark.joins.rule_queries import constants_of, widest
from livefacts.engine.spark.joins.task_closure import closed_in_task
from livefacts.engine.spark.joins.task_engine import COMES, GOES, STANDS
from livefacts.plan.rules.operators import Plan, RulePlan
from livefacts.plan.rules.plan_difference import rule_change

Facts = Mapping[int, DataFrame]
NO_FACTS: Facts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ChangedClosure:
    """A closure after a change, and by how much the counters of facts have changed.

    `counts` has a row for every fact with a counter that is not what it was, and in `sign`
    whether the fact came (1), went (-1) or stayed (0).
    """

    closure: Closure
    counts: DataFrame

    @property
    def delta(self) -> DataFrame:
        """The facts that came (sign 1) and went (sign -1)."""
        return self.counts.where("sign <> 0").select(*self.closure.form.keys, "sign")

    def came(self, shape: int) -> DataFrame:
        """The facts of one shape that are true now and were not before."""
        return unpacked(self.closure.form, self.delta.where("sign > 0"), shape)

    def went(self, shape: int) -> DataFrame:
        """The facts of one shape that are no longer true."""
        return unpacked(self.closure.form, self.delta.where("sign < 0"), shape)


def change(
    closure: Closure,
    added: Facts = NO_FACTS,
    removed: Facts = NO_FACTS,
    *,
    plan: Plan | None = None,
    way: Way = Way.COUNTING_DRED,
    limit: int | None = None,
) -> ChangedClosure:
    """The closure with facts asserted and retracted, and under another plan if one is given.

    What is both added and removed is there afterwards.
    """
    closure = _made_wide(closure, plan or closure.plan, (*added, *removed))
    if way is not Way.DRED:
        changed = _in_one_task(closure, added, removed, plan or closure.plan, limit)
        if changed is not None:
            return changed
    closure = closure.settled()
    session, form = closure.setting.session, closure.form
    coming, going = packed(session, form, added), packed(session, form, removed)
    if way is Way.RECOMPUTE:
        return _recomputed(closure, coming, going, plan or closure.plan, limit)
    if plan is None or plan == closure.plan:
        return _one_pass(closure, coming, going, way, limit)
    return _two_passes(closure, coming, going, plan, way, limit)


def _in_one_task(
    closure: Closure, added: Facts, removed: Facts, plan: Plan, limit: int | None
) -> ChangedClosure | None:
    """The change by one task, if it can hold the facts; it counts anew, whatever counters were."""
    kinds = {
        STANDS: closure.rows,
        COMES: gathered(closure.form, added),
        GOES: gathered(closure.form, removed),
    }
    facts = {kind: rows for kind, rows in kinds.items() if rows is not None}
    found = closed_in_task(closure.setting, plan, closure.form, facts, closure.size, limit)
    if found is None:
        return None
    changed = replace(closure, plan=plan, rows=found.rows, size=found.size, is_kept=True)
    return ChangedClosure(changed, found.counts)


def _made_wide(closure: Closure, plan: Plan, shapes: tuple[int, ...]) -> Closure:
    """The closure in a table that is wide enough, and its terms with those of the plan."""
    closure.setting.terms.put(constants_of(plan))
    width = max([closure.form.width, widest(plan), *map(width_of, shapes)])
    form = Form(width, closure.form.worlds)
    return replace(closure, form=form, rows=widened(closure.rows, closure.form, form))


def _recomputed(
    closure: Closure, added: DataFrame, removed: DataFrame, plan: Plan, limit: int | None
) -> ChangedClosure:
    keys = list(closure.form.keys)
    told = closure.rows.where("told > 0").select(*keys).join(removed, keys, "left_anti")
    told = told.unionAll(added).distinct()
    fresh = close(closure.setting, plan, closure.form, told, limit)
    return ChangedClosure(fresh, _net(closure, [_signed(fresh.rows, 1), _signed(closure.rows, -1)]))


def _signed(rows: DataFrame, sign: int) -> DataFrame:
    """Counted facts that come, or go, with all their counts."""
    counters = [f"{sign} * {name} AS {name}" for name in COUNTERS]
    keys = [name for name in rows.columns if name not in COUNTERS]
    return rows.selectExpr(*keys, *counters, f"{sign} AS sign")


def _net(closure: Closure, signed: Sequence[DataFrame]) -> DataFrame:
    """Signed rows added up, without those that come to nothing."""
    names = (*COUNTERS, "sign")
    rows = reduce(DataFrame.unionByName, signed)
    sums = [F.sum(name).cast("bigint").alias(name) for name in names]
    found = rows.groupBy(*closure.form.keys).agg(*sums)
    found = found.where(" OR ".join(f"{name} <> 0" for name in names))
    found = found.withColumn("sign", F.col("sign").cast("int"))
    return closure.setting.keep(found, is_small=closure.is_small).frame


def _one_pass(
    closure: Closure, added: DataFrame, removed: DataFrame, way: Way, limit: int | None
) -> ChangedClosure:
    work = _begun(closure, added, removed, way, limit, closure.plan)
    for level in closure.plan.levels:
        work.follow(level, level)
    return _ended(closure, work)


def _two_passes(
    closure: Closure,
    added: DataFrame,
    removed: DataFrame,
    plan: Plan,
    way: Way,
    limit: int | None,
) -> ChangedClosure:
    change = rule_change(closure.plan, plan)
    nothing = added.limit(0)
    # What is added as well is not removed: it would only fall and come back.
    removed = removed.join(added, list(closure.form.keys), "left_anti")
    work = _begun(closure, nothing, removed, way, limit, closure.plan)
    for level, dropped in zip(change.kept, change.dropped, strict=True):
        work.follow(level, level, dropped=dropped)
    first = _ended(closure, work)
    middle, moved = _moved(replace(first.closure, plan=change.plan), change.recursive, 1)
    middle = middle.settled()
    work = _begun(middle, added, nothing, way, limit, change.plan)
    for level, losing, gained in zip(change.new_levels, change.losing, change.levels, strict=True):
        work.follow(level, losing, gained=gained)
    second = _ended(middle, work)
    last, back = _moved(replace(second.closure, plan=plan), _no_longer(change.plan, plan), -1)
    return ChangedClosure(last, _net(closure, [first.counts, *moved, second.counts, *back]))


def _no_longer(counted: Plan, plan: Plan) -> tuple[RulePlan, ...]:
    """Rules that were counted as recursive, and in a plan that begins anew are not."""
    still = {each.rule for level in plan.levels for each in level.plans if each.recursive}
    plans = first_plans([each for level in counted.levels for each in level.plans])
    return tuple(each for each in plans if each.recursive and each.rule not in still)


def _moved(
    closure: Closure, plans: tuple[RulePlan, ...], sign: int
) -> tuple[Closure, list[DataFrame]]:
    """The instances of rules that have become recursive in the other counter, or back again."""
    if not plans:
        return closure, []
    setting, form = closure.setting, closure.form
    text = heads_sql(setting, form, [(plan, ALL) for plan in plans], [])
    found = setting.query(text, facts=closure.rows.select(*form.keys))
    counters = ["0L AS told", f"{-sign} * recursive AS plain", f"{sign} * recursive AS recursive"]
    moved = setting.keep(found.selectExpr(*form.keys, *counters), is_small=closure.is_small).frame
    rows = closure.rows.select(*form.keys, *COUNTERS).unionByName(moved)
    sums = rows.groupBy(*form.keys).agg(*(F.sum(name).alias(name) for name in COUNTERS))
    after = replace(closure, rows=sums, is_kept=False)
    return after, [moved.withColumn("sign", F.lit(0))]


def _begun(
    closure: Closure,
    added: DataFrame,
    removed: DataFrame,
    way: Way,
    limit: int | None,
    plan: Plan,
) -> Pass:
    """A pass that begins with facts asserted and retracted, under the rules of a plan."""
    form, setting = closure.form, closure.setting
    assert closure.is_kept, "a pass looks at its facts in every round"
    text = _telling(form, closure.is_small)
    frames = {"base": closure.rows, "added": added, "removed": removed}
    touched = setting.query(text, **frames)
    base = None if closure.is_small else closure.rows
    return Pass(setting, form, base, touched, way, limit, FactKinds.of(setting, closure.plan, plan))


def _telling(form: Form, is_small: bool) -> str:
    """The facts that a change touches at first; all facts, where they are few."""
    keys, zeros = form.listed(), "0L AS told, 0L AS plain, 0L AS recursive"
    changed = f"(SELECT {keys} FROM {{added}} UNION ALL SELECT {keys} FROM {{removed}})"
    among = "" if is_small else f"LEFT SEMI JOIN {changed} x ON {form.same('b', 'x')}"
    rows = (
        f"SELECT {form.listed('b')}, b.told, b.plain, b.recursive, 1 AS was, 0 AS adds, "
        f"0 AS removes FROM {{base}} b {among} "
        f"UNION ALL SELECT {keys}, {zeros}, 0, 1, 0 FROM {{added}} "
        f"UNION ALL SELECT {keys}, {zeros}, 0, 0, 1 FROM {{removed}}"
    )
    merged = (
        f"SELECT {keys}, SUM(told) AS before, IF(MAX(adds) = 1, 1L, IF(MAX(removes) = 1, 0L, "
        "SUM(told))) AS told, SUM(plain) AS plain, SUM(recursive) AS recursive, MAX(was) AS was "
        f"FROM ({rows}) GROUP BY {keys}"
    )
    return (
        f"SELECT {keys}, was, told, plain, recursive, IF(before > told, 1, 0) AS lost, "
        f"was AS held, 0 AS down, 0 AS up FROM ({merged}) WHERE was = 1 OR told = 1"
    )


def _ended(closure: Closure, work: Pass) -> ChangedClosure:
    form, touched = closure.form, work.touched
    columns = [*form.keys, *COUNTERS]
    after, before = touched.where(HOLDS).select(*columns), closure.rows.select(*columns)
    rows = after
    if not closure.is_small:
        rows = before.join(touched, list(form.keys), "left_anti").unionAll(after)
        before = before.join(touched, list(form.keys), "left_semi")
    counts = _net(closure, [_signed(after, 1), _signed(before, -1)])
    size = closure.size + _growth(counts)
    return ChangedClosure(replace(closure, rows=rows, size=size, is_kept=False), counts)


def _growth(counts: DataFrame) -> int:
    return int(counts.agg(F.sum("sign")).collect()[0][0] or 0)
