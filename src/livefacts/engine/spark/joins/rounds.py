"""Rounds of a fixpoint on Spark: what each of them needs, and how it ends.

A round is one query over all rules whose pivot can match what is new.  Its rows are kept, in
files, because a plan that grew with every round would cost more each time; and who writes them
says which predicates have new facts, so that the next round leaves out all other rules, and
ends when there are none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.engine.spark.joins.kept_rows import KeptRows, keep_rows
from livefacts.engine.spark.joins.rule_queries import (
    TERMS,
    Dialect,
    Views,
    instances_sql,
    literal,
    named_objects,
    quoted,
    shape_of,
)
from livefacts.engine.spark.joins.term_frames import TermFrames, ValueFunctions, text_of
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.language.formula import Atom, Slot, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD
from livefacts.model.running_totals import IN_RULES
from livefacts.plan.rules.operators import AggregatePlan, Plan, RulePlan, Scan
from livefacts.store.facts.row_store import TRIPLES

PREDICATE = f"IF(f = {TRIPLES}, c1, c0)"
SMALL = 200_000
"""So many facts are followed in one task: more tasks would cost more than they do."""
FEW = 1_000_000
"""A table of so many rows is sent to all tasks, instead of sorting what it is joined with."""
IN_TASK = 1_000_000
"""So many conclusions one task holds: with their terms and indices, about a hundred megabytes."""
INTEGER = XSD + "integer"

ANY = None
Kind = tuple[int, int | None, int | None]
"""Facts of one shape; of one predicate, or of any; of one object, or of any."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where rules are followed: a session, its terms, a folder for the rows of rounds."""

    session: SparkSession
    terms: TermFrames
    folder: StorePath
    functions: ValueFunctions
    worlds: bool = False
    small: int = SMALL
    most: int = IN_TASK
    on_round: Callable[[str, int], None] | None = None

    @classmethod
    def of(
        cls,
        session: SparkSession,
        terms: TermFrames,
        folder: str | os.PathLike[str],
        *,
        worlds: bool = False,
        small: int = SMALL,
        most: int | None = None,
        on_round: Callable[[str, int], None] | None = None,
    ) -> Setting:
        """Up to `most` facts are closed in one task; of more, rounds of up to `small` facts are
        followed in one.  `on_round` hears what rounds find."""
        functions = ValueFunctions(session, terms.id_of)
        most = IN_TASK if most is None else most
        return cls(session, terms, store_path(folder), functions, worlds, small, most, on_round)

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

    def keep(self, rows: DataFrame, *, is_small: bool, by: Sequence[str] = ()) -> KeptRows:
        """Compute rows once; few of them by one task."""
        return keep_rows(self.folder, rows.coalesce(1) if is_small else rows, by)

    def tell(self, what: str, count: int) -> None:
        if self.on_round is not None:
            self.on_round(what, count)


@dataclass(frozen=True, slots=True)
class FactKinds:
    """How facts are told apart: by shape, by predicate, and by an object that rules name."""

    objects: frozenset[int]

    @classmethod
    def of(cls, setting: Setting, *plans: Plan) -> FactKinds:
        named = {term for plan in plans for term in named_objects(plan)}
        return cls(frozenset(map(setting.id_of, named)))

    @property
    def columns(self) -> list[str]:
        """The kind of a row, as columns: its shape, its predicate, and its object if that is named."""
        named = ", ".join(map(literal, sorted(self.objects))) or "NULL"
        return ["f", PREDICATE, f"IF(f = {TRIPLES} AND c2 IN ({named}), c2, 0L)"]

    def found_in(self, rows: DataFrame) -> set[Kind]:
        """The kinds of some rows, and those that hold more facts."""
        columns = [f"{text} AS {name}" for text, name in zip(self.columns, "fpo", strict=True)]
        found = rows.selectExpr(*columns).distinct().collect()
        return widened_kinds((row.f, row.p, row.o) for row in found)


def widened_kinds(kinds: Iterable[Kind]) -> set[Kind]:
    """These kinds, and those that hold more facts: of any object, and of any predicate."""
    return {wide for f, p, o in kinds for wide in ((f, p, o), (f, p, ANY), (f, ANY, ANY))}


def can_match(
    plan: RulePlan, new: AbstractSet[Kind], there: AbstractSet[Kind], setting: Setting
) -> bool:
    """Whether a new fact may be the pivot of a plan, and there are facts for its other atoms."""
    if kind_of(plan.pivot, setting) not in new:
        return False
    scans = (step.atom for step in plan.steps if isinstance(step, Scan))
    return all(kind_of(atom, setting) in there for atom in scans)


def kind_of(atom: Atom, setting: Setting) -> Kind:
    """The kind of the facts that may fit an atom."""
    if isinstance(atom, TripleAtom):
        predicate, obj = _id_in(atom.predicate, setting), _id_in(atom.object, setting)
        return shape_of(atom), predicate, ANY if predicate is ANY else obj
    return shape_of(atom), _id_in(atom.slots[0], setting), ANY


def _id_in(slot: Slot, setting: Setting) -> int | None:
    return ANY if isinstance(slot, Variable) else setting.id_of(slot)


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
        parameter = "CAST(NULL AS STRING)" if plan.parameter is None else quoted(plan.parameter)
        source, other = f"{view} x JOIN {TERMS} t ON t.id = x.{first}", "t"
        if IN_RULES[plan.function].values > 1:
            source, other = f"{source} JOIN {TERMS} o ON o.id = x.c{plan.groups + 2}", "o"
        looked_at = f"'{plan.function}', {parameter}, t.text, {other}.text"
        text = f"{setting.functions.aggregate}({looked_at})"
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
