"""Rounds of a fixpoint on Spark: what each of them needs, and how it ends.

A round is one query over all rules whose pivot can match what is new, and one job: its
result is kept in memory with its lineage cut, because a plan that grew with every round
would cost more each time; and the same job says which predicates have new facts, so that
the next round leaves out all other rules, and ends when there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession

from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.engine.spark.joins.rule_queries import (
    TERMS,
    Dialect,
    Views,
    instances_sql,
    literal,
    pivot_key,
    shape_of,
)
from livefacts.engine.spark.joins.term_frames import TermFrames, ValueFunctions, text_of
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.plan.rules.operators import AggregatePlan, RulePlan
from livefacts.store.facts.row_store import TRIPLES

PREDICATE = f"IF(f = {TRIPLES}, c1, c0)"
SMALL = 200_000
"""So many facts are followed in one task: more tasks would cost more than they do."""
INTEGER = XSD + "integer"
NEVER = 2**31 - 1
LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""What Spark says if rows were lost with an executor, and their lineage is cut."""
ATTEMPTS = 4

Made = TypeVar("Made")
Predicates = Mapping[tuple[int, int], int]
"""How many facts of each shape and predicate there are."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where rules are followed: a session, its terms, and whether in many worlds at once."""

    session: SparkSession
    terms: TermFrames
    functions: ValueFunctions
    worlds: bool = False
    small: int = SMALL
    on_round: Callable[[str, int], None] | None = None

    @classmethod
    def of(
        cls,
        session: SparkSession,
        terms: TermFrames,
        *,
        worlds: bool = False,
        small: int = SMALL,
        on_round: Callable[[str, int], None] | None = None,
    ) -> Setting:
        """Up to `small` facts are followed in one task; `on_round` hears what rounds find."""
        functions = ValueFunctions(session, terms.id_of)
        return cls(session, terms, functions, worlds, small, on_round)

    def id_of(self, term: Term) -> int:
        return self.terms.id_of(text_of(term))

    def dialect(self, form: Form) -> Dialect:
        functions = self.functions
        return Dialect(form, self.id_of, text_of, functions.compare, functions.compute)

    def query(self, text: str, **frames: DataFrame) -> DataFrame:
        """The query over these tables; those that it does not name are left out."""
        named: dict[str, Any] = {
            name: frame for name, frame in frames.items() if f"{{{name}}}" in text
        }
        if TERMS in text:
            named["terms"] = self.terms.table()
        return self.session.sql(text, **named)

    def tell(self, what: str, count: int) -> None:
        if self.on_round is not None:
            self.on_round(what, count)


def repeated(make: Callable[[], Made]) -> Made:
    """What is made from the tables alone, made again if an executor was lost in the middle of it.

    Rows of rounds are kept by executors, with their lineage cut: nothing but the tables is left.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return make()
        except Exception as error:
            if LOST not in str(error):
                raise
    return make()


def kept(rows: DataFrame, is_small: bool) -> DataFrame:
    """The rows, computed once, by the job that first needs them; their lineage is cut.

    Spark would keep its estimate of their size, which is a product over joins of estimates of
    earlier rounds: a number whose digits double with each round.  A limit that is never
    reached bounds the estimate; where rows are many and a limit would bring them into one task,
    the estimate is dropped.
    """
    if is_small:
        return rows.coalesce(1).limit(NEVER).localCheckpoint(eager=False)
    return _without_estimate(rows.localCheckpoint(eager=False))


def _without_estimate(rows: DataFrame) -> DataFrame:
    inner: Any = rows
    session: Any = rows.sparkSession
    if not hasattr(session, "_jsparkSession"):
        return rows
    plan, java = inner._jdf.queryExecution(), session._jsparkSession
    fresh = java.internalCreateDataFrame(plan.toRdd(), inner._jdf.schema(), False)
    made: DataFrame = type(inner)(fresh, session)
    return made


def predicates_in(rows: DataFrame, condition: str = "TRUE") -> dict[tuple[int, int], int]:
    """How many rows there are of each shape and predicate."""
    counted = rows.where(condition).selectExpr("f", f"{PREDICATE} AS p").groupBy("f", "p").count()
    return {(row.f, row.p): row["count"] for row in counted.collect()}


def can_match(plan: RulePlan, new: Collection[tuple[int, int]], setting: Setting) -> bool:
    """Whether a fact of one of these predicates may be the pivot of a plan."""
    shape, predicate = pivot_key(plan.pivot)
    if isinstance(predicate, Variable):
        return any(shape == other for other, _ in new)
    return (shape, setting.id_of(predicate)) in new


def heads_sql(
    setting: Setting, form: Form, plans: Iterable[tuple[RulePlan, Views]], others: Sequence[str]
) -> str:
    """Everything that plans and aggregates conclude, each fact once with its instances."""
    dialect = setting.dialect(form)
    selects = [instances_sql(plan, views, dialect) for plan, views in plans]
    return (
        f"SELECT {form.listed()}, SUM(plain) AS plain, SUM(recursive) AS recursive, "
        f"ANY_VALUE(made, TRUE) AS made FROM ({' UNION ALL '.join([*selects, *others])}) "
        f"GROUP BY {form.listed()}"
    )


def remember_made(setting: Setting, text: str, heads: DataFrame) -> None:
    """Let the dictionary know the terms that a round has computed, if it has rules that do."""
    if "map(" in text:
        made = heads.where("made IS NOT NULL").selectExpr("explode(made) AS (id, text)")
        setting.terms.remember(made)


def aggregate_sql(
    plan: AggregatePlan, view: str, setting: Setting, form: Form, among: str = ""
) -> str:
    """The value of each group as a conclusion; `among` restricts the groups."""
    world = ["k"] if form.worlds else []
    groups = [f"c{number}" for number in range(1, plan.groups + 1)]
    first = f"c{plan.groups + 1}"
    by = ", ".join(f"x.{column}" for column in (*world, "f", "c0", *groups))
    if plan.function == "count":
        text, source = f"""CONCAT('"', COUNT(*), '"^^<{INTEGER}>')""", f"{view} x"
    else:
        text = f"{setting.functions.aggregate}('{plan.function}', t.text)"
        source = f"{view} x JOIN {TERMS} t ON t.id = x.{first}"
    where = (
        f"x.f = {shape_of(plan.source)} AND x.c0 = {literal(setting.id_of(plan.source.slots[0]))}"  # type: ignore[arg-type]
    )
    values = f"SELECT {by}, {text} AS text FROM {source} {among} WHERE {where} GROUP BY {by}"
    named = (
        f"SELECT *, {setting.functions.named}(text) AS id FROM ({values}) WHERE text IS NOT NULL"
    )
    cells = [literal(setting.id_of(plan.target.slots[0])), *groups, "id"]  # type: ignore[arg-type]
    cells += ["0L"] * (form.width - len(cells))
    columns = [*world, f"{shape_of(plan.target)} AS f"]
    columns += [f"{cell} AS {name}" for cell, name in zip(cells, form.cells, strict=True)]
    return (
        f"SELECT {', '.join(columns)}, 1L AS plain, 0L AS recursive, map(id, text) AS made "
        f"FROM ({named})"
    )
