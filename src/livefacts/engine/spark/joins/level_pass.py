"""A pass over the levels (strata): losses, then gains, with two support counts for every fact.

The facts that a change touches are one small table beside all others.  Its columns say
whether a fact `was` true before, whether it is asserted now and how many instances of rules
derive it (`told`, `plain`, `recursive`), whether it has `lost` support, whether it `held` when
the level began, and where it stands in this level: `down` if it is deleted, for good or for a
try, and `up` if it has come or come back.  Of both, 2 means that this is still to be followed.

A fact that loses support is overdeleted if what is left may depend on itself: if it is not
asserted and no rule counts for it that is not recursive.  When all losses are followed, what is
down and still has support is rederived, without a search.  Each instance of a rule is lost and
gained exactly once: the rules of a level see the facts below as they were before the change,
and what has come and gone there is taken in a fixed order, negated atoms first.

Paper: DynamiTE, section 4, with counters; Volz et al., section 4, for changed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.engine.spark.joins.rounds import (
    ANY,
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
from livefacts.engine.spark.joins.rule_queries import Views, literal, shape_of
from livefacts.errors import LimitError
from livefacts.plan.rules.operators import AggregatePlan, Level, RulePlan
from livefacts.plan.rules.plan_difference import LevelChange

HOLDS = "(told > 0 OR plain + recursive > 0)"
STAYS = "(was = 1 AND down = 0)"
NO_CHANGE = LevelChange()


class Way(Enum):
    """How deletions are followed: see `docs/changes.md`."""

    COUNTING_DRED = "counting-dred"
    DRED = "dred"
    RECOMPUTE = "recompute"


@dataclass(frozen=True, slots=True)
class Status:
    """The kinds of touched facts, by what is to be done with them."""

    doomed: set[Kind] = field(default_factory=set)
    came: set[Kind] = field(default_factory=set)
    lost: set[Kind] = field(default_factory=set)
    back: set[Kind] = field(default_factory=set)
    going: set[Kind] = field(default_factory=set)
    coming: set[Kind] = field(default_factory=set)
    touched: int = 0
    more: int = 0


class Pass:
    """One way through all levels, for facts and rules that come and go together."""

    def __init__(
        self,
        setting: Setting,
        form: Form,
        base: DataFrame | None,
        touched: DataFrame,
        way: Way,
        limit: int | None,
        kinds: FactKinds,
    ) -> None:
        self._setting = setting
        self._form = form
        self._base = base
        self._way = way
        self._limit = limit
        self._kinds = kinds
        self._there = set() if base is None else kinds.found_in(base)
        self._touched = touched
        self._status = Status()
        self._keep(touched)
        self._below = self._status

    @property
    def touched(self) -> DataFrame:
        return self._touched

    def follow(
        self,
        level: Level,
        kept: Level,
        dropped: LevelChange = NO_CHANGE,
        gained: LevelChange = NO_CHANGE,
    ) -> None:
        """One level, with its rules that were there before, and those that go or come."""
        if not self._concerns(level, kept, dropped, gained):
            return
        self._open()
        self._lose(kept, dropped)
        self._rise()
        self._gain(level.plans, kept, gained)

    def _concerns(
        self, level: Level, kept: Level, dropped: LevelChange, gained: LevelChange
    ) -> bool:
        """Whether a rule of a level comes or goes, or looks at what has changed below or in it."""
        if dropped != NO_CHANGE or gained != NO_CHANGE:
            return True
        now = self._status
        changed = now.came | now.lost
        moved = changed | now.doomed | now.back
        return bool(
            self._matching(kept.negative, changed)
            or self._unsettled(kept.aggregates, changed)
            or self._matching(kept.plans, moved)
            or self._matching(level.plans, moved)
        )

    # losses

    def _open(self) -> None:
        doomed = f"IF({self._is_doomed()}, 2, 0)"
        self._project(held=f"IF({HOLDS}, 1, 0)", down=doomed, up="0")
        self._below = self._status

    def _is_doomed(self) -> str:
        return "was = 1 AND lost = 1 AND told = 0" + (
            "" if self._way is Way.DRED else " AND plain = 0"
        )

    def _lose(self, level: Level, dropped: LevelChange) -> None:
        old, mid = self._view("was = 1"), self._view("was = 1 OR held = 1")
        came = _changed("was = 0 AND held = 1", self._form)
        plans = [
            (plan, Views(came, old, old, old, mid, self._is_few))
            for plan in self._matching(level.negative, self._below.came)
        ]
        plans += [
            (plan, Views(old, old, old, old)) for plan in self._matching(dropped.plans, self._there)
        ]
        values = [self._old_values(plan, old, everywhere=True) for plan in dropped.aggregates]
        unsettled = self._unsettled(level.aggregates, self._below.came | self._below.lost)
        values += [self._old_values(plan, old) for plan in unsettled]
        next_down = f"IF(down > 0, down, IF({self._is_doomed()}, 2, 0))"
        going = self._status.doomed
        if plans or values:
            self._round(plans, values, -1, down=next_down)
            going = self._status.going
        following = Views(
            _changed("down = 2", self._form),
            self._view(STAYS),
            self._view("was = 1 AND down <> 1"),
            mid,
            few=self._is_few,
        )
        next_down = f"IF(down > 0, 1, IF({self._is_doomed()}, 2, 0))"
        while chosen := self._matching(level.plans, going):
            self._round([(plan, following) for plan in chosen], [], -1, down=next_down)
            going = self._status.going

    # gains

    def _rise(self) -> None:
        self._project(up=f"IF({HOLDS} AND NOT {STAYS}, 2, 0)")

    def _gain(self, rules: Sequence[RulePlan], kept: Level, gained: LevelChange) -> None:
        stays, held = self._view(STAYS), self._view("held = 1")
        gone = _changed("was = 1 AND held = 0", self._form)
        mid = self._view("was = 1 OR held = 1")
        views = Views(gone, stays, stays, held, mid, self._is_few)
        plans = [(plan, views) for plan in self._matching(kept.negative, self._below.lost)]
        plans += [
            (plan, Views(stays, stays, stays, held))
            for plan in self._matching(gained.plans, self._there)
        ]
        values = [self._new_values(plan, held, everywhere=True) for plan in gained.aggregates]
        unsettled = self._unsettled(kept.aggregates, self._below.came | self._below.lost)
        values += [self._new_values(plan, held) for plan in unsettled]
        coming = self._status.came | self._status.back
        next_up = f"IF(up > 0, up, IF({HOLDS} AND NOT {STAYS}, 2, 0))"
        if plans or values:
            self._round(plans, values, 1, up=next_up)
            coming = self._status.coming
        following = Views(
            _changed("up = 2", self._form),
            self._view(f"{STAYS} OR up = 1"),
            self._view(f"{STAYS} OR up > 0"),
            held,
            few=self._is_few,
        )
        next_up = f"IF(up > 0, 1, IF({HOLDS} AND NOT {STAYS}, 2, 0))"
        while chosen := self._matching(rules, coming):
            self._round([(plan, following) for plan in chosen], [], 1, up=next_up)
            coming = self._status.coming

    # aggregates

    def _unsettled(self, plans: Iterable[AggregatePlan], changed: set[Kind]) -> list[AggregatePlan]:
        """The aggregates over a predicate of which facts have come or gone."""
        return [plan for plan in plans if (shape_of(plan.source), self._name(plan), ANY) in changed]

    def _name(self, plan: AggregatePlan) -> int:
        return self._setting.id_of(plan.source.slots[0])  # type: ignore[arg-type]

    def _groups(self, plan: AggregatePlan, alias: str) -> str:
        """Restricts rows to the groups of which members have come or gone."""
        source = f"f = {shape_of(plan.source)} AND c0 = {literal(self._name(plan))}"
        changed = _changed(f"was <> held AND {source}", self._form)
        columns = [
            *(["k"] if self._form.worlds else []),
            *(f"c{n + 1}" for n in range(plan.groups)),
        ]
        same = " AND ".join(f"{alias}.{column} = g.{column}" for column in columns) or "TRUE"
        return f"LEFT SEMI JOIN {changed} g ON {same}"

    def _old_values(self, plan: AggregatePlan, view: str, everywhere: bool = False) -> str:
        among = "" if everywhere else self._groups(plan, "x")
        name = literal(self._setting.id_of(plan.target.slots[0]))  # type: ignore[arg-type]
        return (
            f"SELECT {self._form.listed('x')}, 1L AS plain, 0L AS recursive, "
            f"CAST(NULL AS MAP<BIGINT, STRING>) AS made FROM {view} x {among} "
            f"WHERE x.f = {shape_of(plan.target)} AND x.c0 = {name}"
        )

    def _new_values(self, plan: AggregatePlan, view: str, everywhere: bool = False) -> str:
        among = "" if everywhere else self._groups(plan, "x")
        return aggregate_sql(plan, view, self._setting, self._form, among)

    # rounds

    def _matching(self, plans: Iterable[RulePlan], new: set[Kind]) -> list[RulePlan]:
        there, setting = self._there, self._setting
        return [plan for plan in plans if can_match(plan, new, there, setting)] if new else []

    @property
    def _is_few(self) -> bool:
        return self._base is not None and self._status.touched < FEW

    def _view(self, condition: str) -> str:
        """All facts: those that nothing touches, and of the others those that fit."""
        touched = _changed(condition, self._form)
        if self._base is None:
            return touched
        keys, hint = self._form.listed("b"), "/*+ BROADCAST(t) */" if self._is_few else ""
        return (
            f"(SELECT {hint} {keys} FROM {{base}} b LEFT ANTI JOIN {{touched}} t "
            f"ON {self._form.same('b', 't')} UNION ALL SELECT * FROM {touched})"
        )

    def _project(self, **columns: str) -> None:
        """Set columns; kept at once, or conditions on them would grow into each other."""
        self._keep(
            self._touched.withColumns({name: F.expr(text) for name, text in columns.items()})
        )

    def _round(
        self,
        plans: Sequence[tuple[RulePlan, Views]],
        others: Sequence[str],
        sign: int,
        **columns: str,
    ) -> None:
        """Count what the plans find, for or against their heads, and see what follows."""
        text = heads_sql(self._setting, self._form, plans, others)
        frames = {"touched": self._touched}
        if self._base is not None:
            frames["base"] = self._base
        query, is_small = self._setting.query(text, **frames), self._base is None
        heads = self._setting.keep(query, is_small=is_small).frame
        remember_made(self._setting, text, heads)
        self._touched = self._setting.query(self._merging(sign), heads=heads, **frames)
        self._project(**columns)
        self._check_limit()

    def _merging(self, sign: int) -> str:
        keys, form = self._form.listed(), self._form
        lost = 1 if sign < 0 else 0
        parts = [
            f"SELECT {keys}, was, told, plain, recursive, lost, held, down, up FROM {{touched}}",
            f"SELECT {keys}, 0, 0L, {sign} * plain, {sign} * recursive, {lost}, 0, 0, 0 FROM {{heads}}",
        ]
        if self._base is not None:
            hint = "/*+ BROADCAST(h), BROADCAST(t) */" if self._is_few else ""
            parts.append(
                f"SELECT {hint} {form.listed('b')}, 1, b.told, b.plain, b.recursive, 0, 1, 0, 0 "
                f"FROM {{base}} b LEFT SEMI JOIN {{heads}} h ON {form.same('b', 'h')} "
                f"LEFT ANTI JOIN {{touched}} t ON {form.same('b', 't')}"
            )
        return (
            f"SELECT {keys}, MAX(was) AS was, SUM(told) AS told, SUM(plain) AS plain, "
            "SUM(recursive) AS recursive, MAX(lost) AS lost, MAX(held) AS held, "
            f"MAX(down) AS down, MAX(up) AS up FROM ({' UNION ALL '.join(parts)}) GROUP BY {keys}"
        )

    def _keep(self, touched: DataFrame) -> None:
        """Go on from these rows, and look what is to be done with them; this runs the round."""
        conditions = {
            "doomed": self._is_doomed(),
            "came": f"was = 0 AND {HOLDS}",
            "lost": f"was = 1 AND NOT {HOLDS}",
            "back": f"was = 1 AND down > 0 AND {HOLDS}",
            "going": "down = 2",
            "coming": "up = 2",
        }
        by = [*self._kinds.columns, *conditions.values()]
        rows = self._setting.keep(touched, is_small=self._base is None, by=by)
        self._touched = rows.frame
        self._there |= widened_kinds(group[:3] for group in rows.counts)
        found = {
            name: widened_kinds(group[:3] for group in rows.counts if group[place])
            for place, name in enumerate(conditions, 3)
        }
        more = sum(count for group, count in rows.counts.items() if group[4])
        self._status = Status(**found, touched=rows.count, more=more)
        self._setting.tell("touched", rows.count)

    def _check_limit(self) -> None:
        if self._limit is not None and self._status.more > self._limit:
            raise LimitError(
                f"the change would derive more than {self._limit:,} facts",
                hint="raise @limit, or look for arithmetic that goes on forever",
            )


def _changed(condition: str, form: Form) -> str:
    """The touched facts that fit."""
    return f"(SELECT {form.listed()} FROM {{touched}} WHERE {condition})"
