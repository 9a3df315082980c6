"""General rules in the driver where they fit, with the same conclusions as by joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.engine.spark.jobs.frames import counted_predicates
from livefacts.engine.spark.local.handover import bytes_of, room_for
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RULES = f"""
@prefix e: <{PREFIX}> .
[?x, e:ancestor, ?y] :- [?x, e:parent, ?y] .
[?x, e:ancestor, ?z] :- [?x, e:parent, ?y], [?y, e:ancestor, ?z] .
parents(?x, ?n)      :- ?n = count {{ ?y : [?x, e:parent, ?y] }} .
root(?y)             :- [?x, e:parent, ?y], not has_parent(?y) .
has_parent(?x)       :- [?x, e:parent, ?y] .
older(?x, ?m)        :- age(?x, ?n), ?m = ?n + 1 .
age(<{PREFIX}b>, 41) .
"""
PAIRS = "pair(?x, ?y) :- number(?x), number(?y) ."


def facts_of(pipeline: Pipeline) -> set[tuple[Any, ...]]:
    triples = pipeline.facts(decoded=True).collect()
    others = pipeline.predicate_facts(decoded=True).collect()
    return {(r.s, r.p, r.o, r.told) for r in triples} | {
        (r.name, *r.arguments, r.told) for r in others
    }


@pytest.fixture
def told(tmp_path: Path) -> list[Path]:
    family = [("a", "b"), ("b", "c"), ("b", "d")]
    lines = [f"<{PREFIX}{x}> <{PREFIX}parent> <{PREFIX}{y}> .\n" for x, y in family]
    (tmp_path / "family.nt").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "ages.rules").write_text(f"age(<{PREFIX}a>, 7).\n", encoding="utf-8")
    (tmp_path / "graph.nq").write_text(
        f"<{PREFIX}d> <{PREFIX}parent> <{PREFIX}e> <{PREFIX}g> .\n", encoding="utf-8"
    )
    return [tmp_path / name for name in ("family.nt", "ages.rules", "graph.nq")]


@pytest.mark.thorough
def test_rules_that_fit_into_memory_have_the_conclusions_that_joins_find(
    spark: Any, tmp_path: Path, told: list[Path]
) -> None:
    handed = Pipeline(spark, tmp_path / "handed", buckets=2, memory="1g")
    joined = Pipeline(spark, tmp_path / "joined", buckets=2, memory=None)
    for pipeline in (handed, joined):
        pipeline.ingest(told)
    report = handed.materialize(RULES)
    other = joined.materialize(RULES)
    assert "handed to the embedded engine" in report.hints[0]
    assert "close in the driver" in [stage.name for stage in report.stages]
    assert "close by joins" in [stage.name for stage in other.stages]
    assert facts_of(handed) == facts_of(joined)
    assert ("older", f"<{PREFIX}b>", '"42"^^<http://www.w3.org/2001/XMLSchema#integer>', False) in (
        facts_of(handed)
    )


def delta_of(pipeline: Pipeline, seq: int) -> set[tuple[Any, ...]]:
    return {
        (row.sign, row.s, row.p, row.o, row.name, *(row.arguments or ()))
        for row in pipeline.delta(seq, decoded=True).collect()
    }


def expected_delta(delta: lf.Delta) -> set[tuple[Any, ...]]:
    found = set()
    for sign, facts in ((1, delta.added), (-1, delta.removed)):
        for fact in facts:
            if isinstance(fact, lf.Fact):
                found.add((sign, None, None, None, fact.name, *map(str, fact.arguments)))
            else:
                triple = map(str, (fact.subject, fact.predicate, fact.object))
                found.add((sign, *triple, None))
    return found


def test_changes_of_what_was_handed_over_are_exact(
    spark: Any, tmp_path: Path, told: list[Path]
) -> None:
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, memory="1g")
    pipeline.ingest(told)
    pipeline.materialize(RULES)
    reasoner = lf.Reasoner(rules=RULES)
    reasoner.load(told)
    line = f"<{PREFIX}{{}}> <{PREFIX}{{}}> <{PREFIX}{{}}> ."
    told_now = line.format("a", "ancestor", "c")
    changes = [
        (line.format("d", "parent", "e"), line.format("b", "parent", "c")),
        (told_now, ""),
        (line.format("b", "parent", "c"), told_now),
        (f"age(<{PREFIX}c>, 9).", f"age(<{PREFIX}a>, 7)."),
        ("", line.format("d", "parent", "e")),
    ]
    for add, remove in changes:
        report = pipeline.update(add=add or (), remove=remove or ())
        delta = reasoner.apply(add=add or (), remove=remove or ())
        assert "reason in the driver" in [stage.name for stage in report.stages]
        assert delta_of(pipeline, report.seq) == expected_delta(delta)
    report = pipeline.change_rules(add="young(?x) :- age(?x, ?n), ?n < 18 .")
    delta = reasoner.add_rules("young(?x) :- age(?x, ?n), ?n < 18 .")
    assert delta_of(pipeline, report.seq) == expected_delta(delta)
    visible = {fact[:-1] for fact in facts_of(pipeline)}
    assert visible == {
        (fact.name, *map(str, fact.arguments))
        if isinstance(fact, lf.Fact)
        else tuple(map(str, (fact.subject, fact.predicate, fact.object)))
        for fact in reasoner
    }


def test_the_plan_says_whether_general_rules_are_handed_over(
    spark: Any, tmp_path: Path, told: list[Path]
) -> None:
    Pipeline(spark, tmp_path / "kb", buckets=2).ingest(told)
    plans = [Pipeline(spark, tmp_path / "kb", memory=m).plan(RULES) for m in ("1g", "1k", None)]
    assert "handed to the embedded engine in the driver" in plans[0]
    assert "rounds of DataFrame joins (too much for the driver" in plans[1]
    assert "general: rounds of DataFrame joins\n" in plans[2]


def test_the_plan_says_how_rules_beside_general_ones_are_followed(
    spark: Any, tmp_path: Path, told: list[Path]
) -> None:
    Pipeline(spark, tmp_path / "kb", buckets=2).ingest(told)
    mixed = "[?x, a, ?d] :- [?x, a, ?c], [?c, rdfs:subClassOf, ?d] .\n" + RULES
    plan = Pipeline(spark, tmp_path / "kb", memory=None).plan(mixed)
    assert "single triples: in the same way" in plan
    assert "inside tasks" not in plan


def test_changes_go_on_from_what_is_in_memory_or_from_the_tables(
    spark: Any, tmp_path: Path, told: list[Path]
) -> None:
    first = Pipeline(spark, tmp_path / "kb", buckets=2, memory="1g")
    first.ingest(told)
    first.materialize(RULES)
    line = f"<{PREFIX}{{}}> <{PREFIX}parent> <{PREFIX}{{}}> ."
    first.update(add=line.format("c", "x"))
    second = Pipeline(spark, tmp_path / "kb", memory="1g")
    second.update(remove=line.format("b", "c"), add="age(<x:new>, 1000000000000).")
    report = first.update(add=line.format("x", "y"))
    assert "; 1 asserted, 0 retracted, 6 added, 1 removed\n" in str(report)
    names = [fact[1:3] for fact in facts_of(first) if fact[0] == "older"]
    assert ("<x:new>", '"1000000000001"^^<http://www.w3.org/2001/XMLSchema#integer>') in names


def test_more_conclusions_than_fit_are_found_by_joins_after_all(spark: Any, tmp_path: Path) -> None:
    numbers = "".join(f"number({n}).\n" for n in range(60))
    (tmp_path / "numbers.rules").write_text(numbers, encoding="utf-8")
    first = Pipeline(spark, tmp_path / "kb", buckets=2)
    first.ingest(tmp_path / "numbers.rules")
    needed = room_for(first.base, first.base.last(), 0).needed
    pipeline = Pipeline(spark, tmp_path / "kb", memory=3 * needed)
    assert room_for(first.base, first.base.last(), 3 * needed).conclusions < 3600
    report = pipeline.materialize(PAIRS)
    assert "close by joins" in [stage.name for stage in report.stages]
    assert pipeline.predicate_facts().count() == 3660
    assert "rounds of DataFrame joins" in Pipeline(spark, tmp_path / "kb", memory="1g").plan()


def test_conclusions_do_not_count_as_told_when_a_change_looks_for_room(
    spark: Any, tmp_path: Path
) -> None:
    lines = [f"<x:{n}> <{PREFIX}parent> <x:{n + 1}> .\n" for n in range(40)]
    (tmp_path / "chain.nt").write_text("".join(lines), encoding="utf-8")
    first = Pipeline(spark, tmp_path / "kb", buckets=2)
    first.ingest(tmp_path / "chain.nt")
    memory = 4 * room_for(first.base, first.base.last(), 0).needed + 110 * 2000
    pipeline = Pipeline(spark, tmp_path / "kb", memory=memory)
    pipeline.materialize(RULES)
    for n in (41, 42):
        report = pipeline.update(add=f"<x:{n - 1}> <{PREFIX}parent> <x:{n}> .")
        assert "reason in the driver" in [stage.name for stage in report.stages]


def test_hidden_conclusions_of_a_checkpoint_are_in_the_tables(spark: Any, tmp_path: Path) -> None:
    rules = "known(?c, ?n) :- ?n = count { ?x : [?x, a, ?c] } ."
    reasoner = lf.Reasoner(rules)
    reasoner.add("<x:a> a <x:C> . <x:b> a <x:C> .")
    reasoner.checkpoint(tmp_path / "kb")
    pipeline = Pipeline(spark, tmp_path / "kb", memory="1g")
    pipeline.update(remove="<x:a> a <x:C> .")
    supports = counted_predicates(spark, pipeline.base, pipeline.base.last())
    assert all(row.support >= 0 for row in supports.collect())
    assert [fact for fact in facts_of(pipeline) if fact[0] == "known"] == [
        ("known", "<x:C>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', False)
    ]


@pytest.mark.parametrize("rules", ["rho-df", "[?x, <x:y>, ?y] :- [?x, a, ?c], [?y, a, ?c] ."])
def test_a_limit_holds_for_changes_on_every_road(spark: Any, tmp_path: Path, rules: str) -> None:
    limited = [rules, "@limit 3 ."]
    schema = "".join(
        f"<x:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:D{n}> .\n" for n in range(5)
    )
    (tmp_path / "schema.nt").write_text(schema, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, memory="1g")
    pipeline.ingest(tmp_path / "schema.nt")
    pipeline.materialize(limited)
    with pytest.raises(lf.LimitError):
        pipeline.update(add="<x:i> a <x:C> . <x:j> a <x:C> .")
    assert pipeline.seq == 2
    assert pipeline.update(add="<x:k> <x:p> <x:q> .").figures["added"] == 1


def test_a_limit_of_the_rules_is_kept_in_the_driver_too(spark: Any, tmp_path: Path) -> None:
    numbers = "".join(f"number({n}).\n" for n in range(60))
    (tmp_path / "numbers.rules").write_text(numbers, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, memory="1g")
    pipeline.ingest(tmp_path / "numbers.rules")
    with pytest.raises(lf.LimitError):
        pipeline.materialize("@limit 1000 .\n" + PAIRS)
    assert pipeline.seq == 1


def test_a_memory_that_is_no_size_is_refused() -> None:
    with pytest.raises(lf.InputError, match="is not a size"):
        bytes_of("lots")
