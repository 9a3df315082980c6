"""Rules that join, negate and compute have their conclusions in the tables as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import livefacts as lf
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RULES = f"""
@prefix e: <{PREFIX}> .
[?x, e:ancestor, ?y] :- [?x, e:parent, ?y] .
[?x, e:ancestor, ?z] :- [?x, e:parent, ?y], [?y, e:ancestor, ?z] .
parents(?x, ?n)      :- ?n = count {{ ?y : [?x, e:parent, ?y] }} .
root(?y)             :- [?x, e:parent, ?y], not has_parent(?y) .
has_parent(?x)       :- [?x, e:parent, ?y] .
near(?x, ?y)         :- [?x, e:parent, ?y], liked(?y) .
liked(<{PREFIX}b>) .
"""


def line(child: str, parent: str) -> str:
    return f"<{PREFIX}{child}> <{PREFIX}parent> <{PREFIX}{parent}> .\n"


def triples(pipeline: Pipeline) -> set[str]:
    return {f"{r.s} {r.p} {r.o} ." for r in pipeline.facts(decoded=True).collect()}


def predicates(pipeline: Pipeline) -> set[str]:
    found = pipeline.predicate_facts(decoded=True).collect()
    return {str((row.name, *row.arguments)) for row in found}


def expected(reasoner: lf.Reasoner) -> tuple[set[str], set[str]]:
    facts = [fact for fact in reasoner if isinstance(fact, lf.Fact)]
    others = {f"{fact} ." for fact in reasoner if not isinstance(fact, lf.Fact)}
    return others, {str((fact.name, *map(str, fact.arguments))) for fact in facts}


def test_any_program_has_the_conclusions_of_the_embedded_engine_also_after_an_update(
    spark: Any, tmp_path: Path
) -> None:
    told = line("a", "b") + line("b", "c") + line("c", "d")
    (tmp_path / "told.nt").write_text(told, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, memory=None)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize(RULES)
    reasoner = lf.Reasoner(rules=RULES)
    reasoner.add(told)
    assert (triples(pipeline), predicates(pipeline)) == expected(reasoner)

    report = pipeline.update(add=line("d", "e"), remove=line("b", "c"))
    delta = reasoner.apply(add=line("d", "e"), remove=line("b", "c"))
    assert (triples(pipeline), predicates(pipeline)) == expected(reasoner)
    signed = {
        (row.sign, f"{row.s} {row.p} {row.o}")
        for row in pipeline.delta(report.seq, decoded=True).collect()
    }
    came = {(1, str(fact)) for fact in delta.added if not isinstance(fact, lf.Fact)}
    gone = {(-1, str(fact)) for fact in delta.removed if not isinstance(fact, lf.Fact)}
    assert signed == came | gone


def test_the_plan_names_the_rules_that_join(spark: Any, tmp_path: Path) -> None:
    plan = Pipeline(spark, tmp_path / "kb").plan(RULES)
    assert "ancestor" in plan.partition("general")[2]
