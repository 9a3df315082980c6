"""Changes of named graphs by tables: what is told while any graph tells it, and who does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad
from tests.oracle import closure
from tests.properties.compare.spark_tables import stored_delta, stored_facts, stored_graphs
from tests.properties.generate.pipeline_steps import draw_triple
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.language.program import Program
from livefacts.spark import Pipeline
from livefacts.syntax import rule_sets

JOINS = """
[?x, <x:near>, ?z] :- [?x, a, ?c], [?z, a, ?c] .
known(?c, ?n) :- ?n = count { ?x : [?x, a, ?c] } .
"""
GRAPHS = (DefaultGraph(), NamedNode("x:g"), NamedNode("x:h"))


def draw_changes(pick: random.Random, steps: int) -> Iterator[tuple[set[Quad], set[Quad]]]:
    """What comes and goes; some of what goes was never there."""
    told: set[Quad] = set()
    triples = [draw_triple(pick, 1) for _ in range(6)]
    every = [Quad(t.subject, t.predicate, t.object, g) for t in triples for g in GRAPHS]
    for _ in range(steps):
        come = set(pick.sample(every, pick.randrange(5)))
        go = set(pick.sample(every, pick.randrange(7)))
        told = (told - go) | come
        yield come, go


def noted(told: set[Quad]) -> set[Quad]:
    """What is to be noted: all that tell a triple which some named graph tells."""
    named = {quad.triple for quad in told if not isinstance(quad.graph_name, DefaultGraph)}
    return {quad for quad in told if quad.triple in named}


def differences(pipeline: Pipeline, program: Program, pick: random.Random) -> Iterator[str]:
    told: set[Quad] = set()
    before = dict[object, bool]()
    for number, (come, go) in enumerate(draw_changes(pick, 8), 1):
        told = (told - go) | come
        commit = pipeline.base.commit(pipeline.update(add=come, remove=go).seq)
        triples = {quad.triple for quad in told}
        truth = {fact: fact in triples for fact in closure(program, triples)}
        if stored_facts(pipeline.base, commit) != truth:
            yield f"step {number}: the facts are not those of the oracle"
        if stored_graphs(pipeline.base, commit) != noted(told):
            yield f"step {number}: the graphs are wrong"
        signed = dict.fromkeys(truth.keys() - before.keys(), 1)
        signed |= dict.fromkeys(before.keys() - truth.keys(), -1)
        if stored_delta(pipeline.base, commit) != signed:
            yield f"step {number}: the delta is wrong"
        before = dict(truth)


@pytest.mark.parametrize("rules", ["rdfs", JOINS], ids=["rdfs", "joins"])
@pytest.mark.parametrize("seed", chunks(10, 3))
def test_a_random_history_of_graphs_is_what_the_oracle_computes(
    tmp_path: Path, rules: str, seed: int
) -> None:
    program = rule_sets.open_rules(rules)
    lf.Reasoner(rules=program).checkpoint(tmp_path / "kb")
    pipeline = Pipeline(None, tmp_path / "kb", memory="1g")  # type: ignore[arg-type]
    assert next(differences(pipeline, program, random.Random(seed)), None) is None


@pytest.mark.parametrize("road", ["tasks", pytest.param("joins", marks=pytest.mark.thorough)])
def test_graphs_change_by_every_road(spark: object, tmp_path: Path, road: str) -> None:
    (tmp_path / "a.nq").write_text("<x:a> <x:b> <x:c> <x:g> .\n<x:d> <x:b> <x:c> .\n")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2, road=road)  # type: ignore[arg-type]
    pipeline.ingest(tmp_path / "a.nq")
    pipeline.materialize("rho-df")
    (tmp_path / "b.nq").write_text("<x:d> <x:b> <x:c> <x:g> .\n<x:e> <x:b> <x:c> <x:h> .\n")
    report = pipeline.update(add=tmp_path / "b.nq", remove=tmp_path / "a.nq")
    assert (report.figures["added"], report.figures["removed"]) == (1, 1)
    graphs = {(row.s, row.g) for row in pipeline.graphs(decoded=True).collect()}
    assert graphs == {("<x:d>", "<x:g>"), ("<x:e>", "<x:h>")}
