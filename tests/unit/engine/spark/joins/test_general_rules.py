"""Rules that join, negate and compute: changes of facts and rules, beside a reasoner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.properties.compare.spark_frames import tiny
from tests.unit.engine.spark.beside import Beside, facts_of, texts_of

import livefacts as lf
from livefacts.engine.spark.jobs.stage_report import Stages
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.joins.general_rules import close_general
from livefacts.kb.tables import KnowledgeBase
from livefacts.language.program import Program
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RULES = f"""
@prefix e: <{PREFIX}> .
[?x, e:ancestor, ?y] :- [?x, e:parent, ?y] .
@id far [?x, e:ancestor, ?z] :- [?x, e:parent, ?y], [?y, e:ancestor, ?z] .
parents(?x, ?n)      :- ?n = count {{ ?y : [?x, e:parent, ?y] }} .
root(?y)             :- [?x, e:parent, ?y], not has_parent(?y) .
has_parent(?x)       :- [?x, e:parent, ?y] .
near(?x, ?y)         :- [?x, e:parent, ?y], liked(?y) .
liked(<{PREFIX}b>) .
"""
SINGLE = f"@id same [?x, <{PREFIX}kin>, ?y] :- [?x, <{PREFIX}parent>, ?y] ."


def line(child: str, parent: str) -> str:
    return f"<{PREFIX}{child}> <{PREFIX}parent> <{PREFIX}{parent}> .\n"


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with tiny(spark) as session:
        yield session


TOLD = line("a", "b") + line("b", "c") + line("c", "d")


WAYS = (
    "dred",
    *(pytest.param(way, marks=pytest.mark.thorough) for way in ("counting-dred", "recompute")),
)


@pytest.mark.parametrize("maintenance", WAYS)
def test_a_change_of_facts_has_the_same_effect_as_in_the_embedded_engine(
    quick: Any, tmp_path: Path, maintenance: str
) -> None:
    both = Beside(quick, tmp_path, TOLD, RULES, maintenance=maintenance)
    both.update(add=line("d", "e"), remove=line("b", "c"))
    both.update(add=f"liked(<{PREFIX}e>) .", remove=f"liked(<{PREFIX}b>) .")


def test_a_change_of_rules_has_the_same_effect_as_in_the_embedded_engine(
    quick: Any, tmp_path: Path
) -> None:
    both = Beside(quick, tmp_path, TOLD + line("d", "b"), RULES)
    both.change_rules(
        add=f"""
            [?x, <{PREFIX}ancestor>, ?x] :- lonely(?x) .
            crowd(?n) :- ?n = count {{ ?x, ?y : [?x, <{PREFIX}ancestor>, ?y] }} .
            lonely(<{PREFIX}h>) .
        """,
        remove=["r2", f"root(?b) :- [?a, <{PREFIX}parent>, ?b], not has_parent(?b) ."],
    )
    both.change_rules(remove="far")
    both.update(add=line("e", "b"), remove=line("d", "b"))


@pytest.mark.thorough
def test_rules_change_between_those_that_follow_single_triples_and_those_that_join(
    quick: Any, tmp_path: Path
) -> None:
    both = Beside(quick, tmp_path, TOLD, SINGLE)
    both.update(add="likes(ann, bob) .")
    both.change_rules(add=f"@id up [?y, <{PREFIX}child>, ?x] :- [?x, <{PREFIX}parent>, ?y] .")
    both.change_rules(add=f"loop(?x) :- [?x, <{PREFIX}kin>, ?x], likes(?a, ?b) .", remove=["same"])
    both.update(add=line("b", "b"), remove="likes(ann, bob) .")
    both.change_rules(remove=["r1"])
    both.update(remove=line("b", "b"))


def test_a_rule_change_that_cannot_be_made_changes_nothing(quick: Any, tmp_path: Path) -> None:
    both = Beside(quick, tmp_path, TOLD, SINGLE)
    before = both.pipeline.seq
    with pytest.raises(lf.RuleError, match="there is no rule nobody"):
        both.pipeline.change_rules(remove="nobody")
    with pytest.raises(lf.RuleError, match=r"\?z is in the head"):
        both.pipeline.change_rules(add="odd(?z) :- odd(?x) .")
    assert both.pipeline.seq == before
    assert facts_of(both.pipeline) == texts_of(both.reasoner)


def test_a_batch_of_rules_is_taken_in_once(quick: Any, tmp_path: Path) -> None:
    both = Beside(quick, tmp_path, TOLD, SINGLE)
    both.pipeline.change_rules(remove="same", batch="b1")
    assert both.pipeline.change_rules(add=SINGLE, batch="b1").is_replay
    assert not both.pipeline.program.rules


def test_the_plan_names_the_rules_that_join(spark: Any, tmp_path: Path) -> None:
    plan = Pipeline(spark, tmp_path / "kb").plan(RULES)
    assert "ancestor" in plan.partition("general")[2]


@pytest.mark.parametrize(
    ("options", "match"),
    [({"road": "sea"}, "no road 'sea'"), ({"maintenance": "hope"}, "no maintenance 'hope'")],
)
def test_an_unknown_road_or_way_is_refused(tmp_path: Path, options: Any, match: str) -> None:
    with pytest.raises(lf.InputError, match=match):
        Pipeline(None, tmp_path / "kb", **options)  # type: ignore[arg-type]


def test_a_road_that_does_not_fit_the_rules_is_refused(quick: Any, tmp_path: Path) -> None:
    both = Beside(quick, tmp_path, TOLD, RULES, road="driver")
    with pytest.raises(lf.LivefactsError, match="join facts"):
        both.pipeline.update(add=line("x", "y"))


def test_a_session_without_a_context_is_refused_by_name(tmp_path: Path) -> None:
    base = KnowledgeBase(tmp_path)
    work = Work(SimpleNamespace(), base, base.last(), 1, Stages())  # type: ignore[arg-type]
    with pytest.raises(lf.LivefactsError, match="Spark Connect") as refused:
        close_general(work, Program(()))
    assert "memory=" in refused.value.hint
