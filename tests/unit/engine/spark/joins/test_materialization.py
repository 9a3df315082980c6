"""General rules on Spark: golden programs, deltas by shape, limits, and ways of maintenance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.golden.test_programs import HERE, expected_of, facts_of, lines_of
from tests.oracle import row_of, shown
from tests.properties.compare.spark_frames import SmallTerms, tiny

from livefacts.engine.spark.joins.closure_change import change
from livefacts.engine.spark.joins.fact_frame import columns_of
from livefacts.engine.spark.joins.materialization import Closure, joined_plan, materialize
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.engine.spark.joins.term_frames import term_of, text_of
from livefacts.errors import LimitError
from livefacts.model.facts import Fact, Symbol
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables
from livefacts.store.facts.row_store import TRIPLES
from livefacts.syntax.rulelang.rule_parser import parse

CASES = [
    "negation-above-recursion",
    "terms-and-values",
    # Beside all others they are followed in the worlds of the golden programs.
    *(pytest.param(case, marks=pytest.mark.thorough) for case in ("aggregates", "constraints")),
]
ROADS = """
    route(?x, ?y) :- road(?x, ?y) .
    route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
    cut_off(?x) :- town(?x), not route(harbour, ?x) .
"""


@pytest.fixture
def setting(spark: Any, tmp_path: Path) -> Iterator[Setting]:
    with tiny(spark) as session:
        yield Setting.of(session, SmallTerms(session), tmp_path)


def frames(setting: Setting, facts: Any) -> dict[int, Any]:
    rows: dict[int, list[list[int]]] = {}
    for fact in facts:
        name, terms = row_of(fact)
        listed = [Symbol(name), *terms] if isinstance(fact, Fact) else list(terms)
        setting.terms.put(set(listed))
        shape = len(listed) if isinstance(fact, Fact) else TRIPLES
        rows.setdefault(shape, []).append([setting.id_of(term) for term in listed])
    return {
        shape: setting.session.createDataFrame(listed, [*columns_of(shape)])
        for shape, listed in rows.items()
    }


def decoded(closure: Closure, rows: Any) -> set[Any]:
    """Rows of a table as the oracle writes them."""
    texts = {row.id: row.text for row in closure.setting.terms.table().collect()}
    found = set()
    for row in rows.collect():
        width = len(columns_of(row.f))
        terms = [term_of(texts[row[f"c{number}"]]) for number in range(width)]
        triple = row.f == TRIPLES
        found.add(("[]", tuple(terms)) if triple else (terms[0].name, tuple(terms[1:])))  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_golden_program_concludes_what_is_expected(setting: Setting, case: str) -> None:
    program, facts = parse((HERE / case / "program.rules").read_text()), facts_of(case)
    told = frames(setting, [*facts, *program.facts])
    closure = materialize(setting, joined_plan(program.rules), told)
    rows = decoded(closure, closure.rows.where("told = 0"))
    violated = [
        (rule.id, list(zip((v.name for v in violation_variables(rule)), terms, strict=True)))
        for rule in program.rules
        for name, terms in rows
        if name == VIOLATION + rule.id
    ]
    conclusions = {fact for row in rows if (fact := shown(row)) is not None}
    assert lines_of(conclusions, violated) == expected_of(case)


@pytest.mark.thorough
@pytest.mark.parametrize("small", [0, 1000])
def test_a_change_says_what_came_and_went(setting: Setting, small: int) -> None:
    """With what it touches kept apart from all other facts, and together with them."""
    setting = replace(setting, small=small)
    plan = joined_plan(parse(ROADS).rules)
    facts = parse("road(harbour, mill) . road(mill, castle) . town(castle) .").facts
    closure = materialize(setting, plan, frames(setting, facts))
    changed = change(
        closure,
        added=frames(setting, parse("road(castle, harbour) .").facts),
        removed=frames(setting, parse("road(mill, castle) .").facts),
    )
    came = decoded(changed.closure, changed.delta.where("sign > 0"))
    assert {name for name, _ in came} == {"road", "route", "cut_off"}
    assert ("route", (Symbol("castle"), Symbol("mill"))) in came
    went = decoded(changed.closure, changed.delta.where("sign < 0"))
    assert ("route", (Symbol("harbour"), Symbol("castle"))) in went
    assert changed.came(2).count() == 1
    assert changed.went(3).count() == len(went)


def test_passing_a_limit_is_an_error_with_a_hint(setting: Setting) -> None:
    rules = parse("@limit 5 . n(?y) :- n(?x), ?y = ?x + 1 .").rules
    with pytest.raises(LimitError, match="more than 5"):
        materialize(setting, joined_plan(rules), frames(setting, parse("n(0) .").facts), limit=5)


def test_the_text_of_a_term_leads_back_to_it() -> None:
    terms = [
        Symbol("a"),
        *(term for fact in facts_of("terms-and-values") for term in row_of(fact)[1]),
    ]
    assert [term_of(text_of(term)) for term in terms] == terms
