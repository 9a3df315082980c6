"""Aggregates on Spark are those of one process: in rules, in one task and in rounds, and in queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.engine.spark.joins import rounds
from livefacts.spark import Pipeline

BODY = "[?e, <x:in>, ?g], [?e, <x:has>, ?v]"
RULES = f"""
spread(?g, ?n) :- ?n = stddev {{ ?v, ?e : {BODY} }} .
high(?g, ?n) :- ?n = percentile(60) {{ ?v, ?e : {BODY} }} .
most(?g, ?n) :- ?n = argmax {{ ?e, ?v : {BODY} }} .
least(?g, ?n) :- ?n = argmin {{ ?e, ?v : {BODY} }} .
names(?g, ?n) :- ?n = group_concat("; ") {{ ?t, ?e : [?e, <x:in>, ?g], [?e, <x:name>, ?t] }} .
"""
QUERY = """PREFIX lf: <urn:livefacts:>
SELECT ?g (lf:stddev(?v) AS ?spread) (lf:percentile(?v, 60) AS ?high) (lf:argmax(?e, ?v) AS ?most)
       (lf:argmin(DISTINCT ?e, ?v) AS ?least) (lf:stddev(DISTINCT ?v) AS ?others)
{ ?e <x:in> ?g ; <x:has> ?v } GROUP BY ?g"""
XSD = "http://www.w3.org/2001/XMLSchema#"
DOUBLE, DECIMAL = f"<{XSD}double>", f"<{XSD}decimal>"


def facts_of(*numbers: int) -> str:
    return "".join(
        f"<x:e{n}> <x:in> <x:g{n % 3}> .\n"
        f'<x:e{n}> <x:has> "{n * n % 17}.5"^^{DECIMAL if n % 2 else DOUBLE} .\n'
        f'<x:e{n}> <x:name> "n{n % 5}" .\n'
        for n in numbers
    )


def rows_of(rows: Any) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row)) for row in rows)


def concluded(pipeline: Pipeline) -> list[tuple[str, ...]]:
    found = pipeline.predicate_facts(decoded=True).collect()
    return sorted((row["name"], *row["arguments"]) for row in found)


@pytest.mark.parametrize("most", [rounds.IN_TASK, 0], ids=["in one task", "in rounds"])
def test_rules_and_queries_have_the_aggregates_of_one_process(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(rounds, "IN_TASK", most)
    file = tmp_path / "facts.nt"
    file.write_text(facts_of(*range(12)))
    here = lf.Reasoner(rules=RULES)
    here.add(file)
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=1)
    pipeline.ingest(str(file))
    pipeline.materialize(RULES)

    def is_same() -> bool:
        facts = (fact for fact in here if isinstance(fact, lf.Fact))
        expected = sorted((fact.name, *map(str, fact.arguments)) for fact in facts)
        assert len(expected) == 15
        return concluded(pipeline) == expected

    assert is_same()
    add, remove = facts_of(40, 41, 42), facts_of(0, 4)
    pipeline.update(add=add, remove=remove)
    here.apply(add=add, remove=remove)
    assert is_same()
    assert rows_of(pipeline.query(QUERY).collect()) == rows_of(here.query(QUERY))
