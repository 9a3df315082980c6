"""Materialization: everything that follows, stratum by stratum, in rounds of joins.

Each level begins with all of its rules over all facts; then every round joins what is new
with everything, until a round of all rules finds nothing.  A fact counts the instances of
rules that derive it, those of recursive rules apart: changes need the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.joins.fact_frame import COUNTERS, Form, packed, unpacked, width_of
from livefacts.engine.spark.joins.kept_rows import KeptRows, together
from livefacts.engine.spark.joins.rounds import (
    FEW,
    FactKinds,
    Kind,
    Setting,
    aggregate_sql,
    can_match,
    heads_sql,
    remember_made,
    widened_kinds,
)
from livefacts.engine.spark.joins.rule_queries import Views, as_joins, constants_of, widest
from livefacts.engine.spark.joins.task_closure import closed_in_task
from livefacts.engine.spark.joins.task_engine import COMES
from livefacts.errors import LimitError
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.plan import compile_rules
from livefacts.plan.rules.normal_form import TRUE
from livefacts.plan.rules.operators import Level, Plan, RulePlan

ALL = Views("{facts}", "{facts}", "{facts}", "{facts}")
NEW = Views("{new}", "{old}", "{facts}", "{facts}")


@dataclass(frozen=True, slots=True)
class Closure:
    """What is true under a program: all facts, which are asserted, how often they follow."""

    setting: Setting
    plan: Plan
    form: Form
    rows: DataFrame
    size: int
    """How many facts there are; how many at most, as long as the rows are not kept."""
    is_kept: bool = True

    def settled(self) -> Closure:
        """The same with rows that are computed once, and counted."""
        if self.is_kept:
            return self
        rows = self.setting.keep(self.rows, is_small=self.is_small)
        return replace(self, rows=rows.frame, size=rows.count, is_kept=True)

    @property
    def is_small(self) -> bool:
        return self.size <= self.setting.small

    def facts(self, shape: int) -> DataFrame:
        """The facts of one shape, hidden ones too, with `told`, `plain` and `recursive`."""
        return unpacked(self.form, self.rows, shape, *COUNTERS)


def joined_plan(rules: Iterable[Rule]) -> Plan:
    """The plan of a program, every rule as joins."""
    return as_joins(compile_rules(rules))


def materialize(
    setting: Setting,
    plan: Plan,
    told: Mapping[int, DataFrame],
    *,
    limit: int | None = None,
) -> Closure:
    """The closure of asserted facts (by shape) under a plan of `joined_plan`."""
    form = Form(max([widest(plan), *map(width_of, told)]), setting.worlds)
    setting.terms.put({*constants_of(plan), Symbol(TRUE.name)})
    rows = packed(setting.session, form, told).unionAll(_always(setting, form, told))
    return close(setting, plan, form, rows, limit)


def close(
    setting: Setting, plan: Plan, form: Form, told: DataFrame, limit: int | None = None
) -> Closure:
    """The closure of asserted facts in one table."""
    kinds = FactKinds.of(setting, plan)
    zeros = {name: F.lit(0).cast("bigint") for name in ("plain", "recursive")}
    counted = told.withColumn("told", F.lit(1).cast("bigint")).withColumns(zeros)
    rows = setting.keep(counted.withColumn("is_new", F.lit(True)), is_small=False, by=kinds.columns)
    found = closed_in_task(setting, plan, form, {COMES: rows.frame}, rows.count, limit)
    if found is not None:
        return Closure(setting, plan, form, found.rows, found.size)
    there = widened_kinds(rows.counts)
    work = _Work(setting, form, rows.count <= setting.small, limit, kinds, there)
    work.begin(rows)
    for number, level in enumerate(plan.levels, 1):
        work.follow(level, f"level {number}")
    return Closure(setting, plan, form, work.counted_rows(), work.size)


def _always(setting: Setting, form: Form, told: Mapping[int, DataFrame]) -> DataFrame:
    """The fact that is always true, in each world."""
    true = setting.id_of(Symbol(TRUE.name))
    cells = [F.lit(true if n == 0 else 0).cast("bigint").alias(c) for n, c in enumerate(form.cells)]
    row = [F.lit(1).cast("int").alias("f"), *cells]
    if not form.worlds:
        return setting.session.range(1).select(*row)
    worlds = [rows.select(F.col("k").cast("int").alias("k")) for rows in told.values()]
    if not worlds:
        return setting.session.createDataFrame([], form.schema)
    return reduce(DataFrame.unionAll, worlds).distinct().select("k", *row)


@dataclass(slots=True)
class _Work:
    """The facts found so far, in parts that came one after the other.

    A part has what its rounds have concluded, and in `is_new` which of it was no fact before.
    """

    setting: Setting
    form: Form
    is_small: bool
    limit: int | None
    kinds: FactKinds
    there: set[Kind]
    """The kinds of all facts so far: rules with an atom that none of them fits are left out."""
    parts: list[KeptRows] = field(default_factory=list)
    size: int = 0
    told: int = 0

    def begin(self, told: KeptRows) -> None:
        self.parts.append(told)
        self.told = self.size = told.count

    def follow(self, level: Level, name: str) -> None:
        """All rules of a level over everything, then over what is new, until nothing is."""
        facts = self._facts()
        firsts = [(plan, ALL) for plan in self._matching(first_plans(level.plans), self.there)]
        others = [
            aggregate_sql(plan, "{facts}", self.setting, self.form) for plan in level.aggregates
        ]
        new = self._round(firsts, others, {"facts": facts}, name)
        while new is not None:
            rows, kinds = new
            old, facts = facts, self._facts()
            plans = self._matching(level.plans, kinds)
            frames = {"old": old, "new": rows, "facts": facts}
            new = self._round([(plan, NEW) for plan in plans], [], frames, name)

    def _round(
        self,
        plans: list[tuple[RulePlan, Views]],
        others: list[str],
        frames: dict[str, DataFrame],
        name: str,
    ) -> tuple[DataFrame, set[Kind]] | None:
        if not plans and not others:
            return None
        text = heads_sql(self.setting, self.form, plans, others)
        heads = self.setting.keep(self.setting.query(text, **frames), is_small=self.is_small)
        if not heads.count:
            return None
        remember_made(self.setting, text, heads.frame)
        found = self._compared(heads, frames["facts"])
        self._add(found)
        counts = {tuple(kind): n for (is_new, *kind), n in found.counts.items() if is_new}
        count = sum(counts.values())
        self.setting.tell(name, count)
        if not count:
            return None
        self.size += count
        self._check_limit()
        kinds = widened_kinds(counts)
        self.there |= kinds
        return found.frame.where("is_new").select(*self.form.keys), kinds

    def _compared(self, heads: KeptRows, facts: DataFrame) -> KeptRows:
        """What was concluded, and whether it is new; all facts stay where they are, if it is little."""
        form = self.form
        hint = "/*+ BROADCAST(h) */" if not self.is_small and heads.count < FEW else ""
        known = (
            f"SELECT {hint} {form.listed('b')}, TRUE AS known FROM {{facts}} b "
            f"LEFT SEMI JOIN {{heads}} h ON {form.same('b', 'h')}"
        )
        text = (
            f"SELECT {form.listed('h')}, 0L AS told, h.plain, h.recursive, k.known IS NULL AS is_new "
            f"FROM {{heads}} h LEFT JOIN ({known}) k ON {form.same('h', 'k')}"
        )
        rows = self.setting.query(text, heads=heads.frame, facts=facts)
        return self.setting.keep(rows, is_small=self.is_small, by=["is_new", *self.kinds.columns])

    def _matching(self, plans: Iterable[RulePlan], new: set[Kind]) -> list[RulePlan]:
        return [plan for plan in plans if can_match(plan, new, self.there, self.setting)]

    def _check_limit(self) -> None:
        if self.limit is not None and self.size - self.told > self.limit:
            raise LimitError(
                f"more than {self.limit:,} facts were derived",
                hint="raise @limit, or look for arithmetic that goes on forever",
            )

    def _add(self, rows: KeptRows) -> None:
        """One part more; parts are joined when the later are no longer much smaller."""
        self.parts.append(rows)
        while len(self.parts) > 1 and self.parts[-2].count < 4 * self.parts[-1].count:
            later, earlier = self.parts.pop(), self.parts.pop()
            self.parts.append(together(self.setting.folder, earlier, later))

    def _facts(self) -> DataFrame:
        rows = reduce(DataFrame.unionAll, [self._columns(part) for part in self.parts])
        rows = rows.where("is_new").select(*self.form.keys)
        return rows.coalesce(1) if self.is_small and len(self.parts) > 1 else rows

    def _columns(self, part: KeptRows) -> DataFrame:
        return part.frame.select(*self.form.keys, *COUNTERS, "is_new")

    def counted_rows(self) -> DataFrame:
        """All facts with the sums of their counts."""
        rows = reduce(DataFrame.unionAll, map(self._columns, self.parts))
        sums = rows.groupBy(*self.form.keys).agg(*(F.sum(name).alias(name) for name in COUNTERS))
        return self.setting.keep(sums, is_small=self.is_small).frame


def first_plans(plans: Iterable[RulePlan]) -> list[RulePlan]:
    """One plan for each rule: the one at its first atom, which has no atom before it."""
    firsts: dict[Rule, RulePlan] = {}
    for plan in plans:
        firsts.setdefault(plan.rule, plan)
    return list(firsts.values())
