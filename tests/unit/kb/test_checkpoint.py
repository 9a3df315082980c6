"""One knowledge base, on Spark and in one process, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.kb.tables import PREDICATES_TABLE, TERMS, TRIPLES_TABLE, KnowledgeBase
from livefacts.spark import Pipeline

PREFIX = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
WROTE = f"<{PREFIX}virginia> <{PREFIX}wrote> <{PREFIX}orlando> .\n"
AGE = f'<{PREFIX}virginia> <{PREFIX}age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
DOMAIN = f"<{PREFIX}wrote> <{RDFS}domain> <{PREFIX}Writer> .\n"
PERSON = f"<{PREFIX}Writer> <{RDFS}subClassOf> <{PREFIX}Person> .\n"
ROADS = "".join(f"<{PREFIX}p{n}> <{PREFIX}road> <{PREFIX}p{n + 1}> .\n" for n in range(4))
FEW_BITS = 9
EMPTY = "DELETE WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
EVERY_KIND = f"""
    @limit 1000 .
    route(?x, ?y) :- [?x, <{PREFIX}road>, ?y] .
    route(?x, ?z) :- route(?x, ?y), route(?y, ?z) .
    [?y, <{PREFIX}endOf>, ?x] :- [?x, <{PREFIX}road>, ?y], not leaves(?y) .
    leaves(?x) :- [?x, <{PREFIX}road>, ?y] .
    out(?x, ?n) :- ?n = count {{ ?y : [?x, <{PREFIX}road>, ?y] }} .
    step(?y, 1) :- [<{PREFIX}p0>, <{PREFIX}road>, ?y] .
    step(?z, ?m) :- step(?y, ?n), [?y, <{PREFIX}road>, ?z], ?m = ?n + 1 .
    @id loop  false :- [?x, <{PREFIX}road>, ?x] .
    go(?x) :- [?x, <{PREFIX}road>, ?y], open(?y), dry .
    open(<{PREFIX}p1>) . dry .
"""


def on_spark(pipeline: Pipeline, derived: bool | None = None) -> set[str]:
    found = pipeline.facts(decoded=True, derived=derived).collect()
    return {f"{row.s} {row.p} {row.o}" for row in found}


def predicates_on_spark(pipeline: Pipeline) -> set[tuple[str, int, bool]]:
    rows = pipeline.predicate_facts(decoded=True).collect()
    return {(row.name, len(row.arguments), row.told) for row in rows}


def live(reasoner: lf.Reasoner, derived: bool | None = None) -> set[str]:
    facts = reasoner.facts(derived=derived)
    return {str(fact) for fact in facts if not isinstance(fact, lf.Fact)}


def predicates_live(reasoner: lf.Reasoner) -> set[tuple[str, int, bool]]:
    found = set()
    for told in (True, False):
        facts = [f for f in reasoner.facts(derived=not told) if isinstance(f, lf.Fact)]
        found |= {(fact.name, len(fact.arguments), told) for fact in facts}
    return found


def same(pipeline: Pipeline, reasoner: lf.Reasoner) -> None:
    for derived in (True, False):
        assert on_spark(pipeline, derived) == live(reasoner, derived)
    assert predicates_on_spark(pipeline) == predicates_live(reasoner)


def made(spark: Any, folder: Path, told: str, **settings: int) -> Pipeline:
    (folder / "told.nt").write_text(told, encoding="utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    if settings:
        pipeline.base.create({"buckets": 2, **settings})
    pipeline.ingest(folder / "told.nt")
    return pipeline


def test_a_knowledge_base_goes_from_spark_to_one_process_and_back(
    spark: Any, tmp_path: Path
) -> None:
    pipeline = made(spark, tmp_path, WROTE + AGE + DOMAIN)
    pipeline.materialize("rho-df")
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    same(pipeline, reasoner)

    delta = reasoner.apply(add=PERSON, remove=AGE)
    assert (len(delta.added), len(delta.removed)) == (2, 1)
    with pytest.raises(lf.ConflictError, match=r"process \d+, since"):
        pipeline.update(remove=DOMAIN)
    assert reasoner.checkpoint() == pipeline.seq == 3
    same(pipeline, reasoner)
    reasoner.close()

    pipeline.update(remove=DOMAIN)
    with lf.Reasoner.open(tmp_path / "kb") as again:
        same(pipeline, again)
        assert again.seq == reasoner.seq + 1
        again.remove(PERSON)
    with pytest.raises(lf.LivefactsError, match="journal"):
        pipeline.update(remove=WROTE)


def test_rules_of_every_kind_survive_the_journey(spark: Any, tmp_path: Path) -> None:
    pipeline = made(spark, tmp_path, ROADS)
    pipeline.materialize(EVERY_KIND)
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    same(pipeline, reasoner)
    assert {rule.key() for rule in reasoner.rules} == {r.key() for r in pipeline.program.rules}

    cut = f"<{PREFIX}p1> <{PREFIX}road> <{PREFIX}p2> ."
    reasoner.apply(add=f"<{PREFIX}p9> <{PREFIX}road> <{PREFIX}p9> .", remove=cut)
    reasoner.checkpoint()
    same(pipeline, reasoner)
    again = lf.Reasoner.open(tmp_path / "kb", read_only=True)
    assert len(again.violations()) == len(reasoner.violations())
    reasoner.close()

    pipeline.update(add=cut)
    same(pipeline, lf.Reasoner.open(tmp_path / "kb"))


def test_a_reasoner_makes_a_folder_that_spark_goes_on_with(spark: Any, tmp_path: Path) -> None:
    reasoner = lf.Reasoner(rules="rho-df")
    reasoner.add(WROTE + DOMAIN)
    assert reasoner.checkpoint(tmp_path / "kb") == 1
    pipeline = Pipeline(spark, tmp_path / "kb")
    same(pipeline, reasoner)
    pipeline.update(add=PERSON)
    reasoner.add(PERSON)
    same(pipeline, reasoner)
    with pytest.raises(lf.LivefactsError, match="knowledge base already"):
        lf.Reasoner().checkpoint(tmp_path / "kb")


def test_terms_with_the_same_hash_stay_apart(spark: Any, tmp_path: Path) -> None:
    pipeline = made(spark, tmp_path, WROTE + DOMAIN, bits=FEW_BITS)
    pipeline.materialize("rho-df")
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    reasoner.add("".join(WROTE.replace("orlando", f"book{n}") for n in range(60)))
    reasoner.checkpoint()
    assert pipeline.base.count("exceptions", pipeline.base.last()) > 0
    same(pipeline, reasoner)
    reasoner.close()
    pipeline.update(remove=DOMAIN)
    same(pipeline, lf.Reasoner.open(tmp_path / "kb"))


SAME = "<http://www.w3.org/2002/07/owl#sameAs>"
EQUALS = "".join(f"<{PREFIX}orlando> {SAME} <{PREFIX}name{n}> .\n" for n in range(4))


def test_what_is_merged_goes_on_where_it_was(tmp_path: Path) -> None:
    rules = ["owl-same-as", f"wrote(?x, ?y) :- [?x, <{PREFIX}wrote>, ?y] ."]
    merging, ruled = lf.Reasoner(rules=rules, same_as="merge"), lf.Reasoner(rules=rules)
    for reasoner in (merging, ruled):
        reasoner.add(WROTE + EQUALS)
    merging.checkpoint(tmp_path / "merged")
    ruled.checkpoint(tmp_path / "ruled")
    assert tables(tmp_path / "merged") == tables(tmp_path / "ruled")
    again = lf.Reasoner.open(tmp_path / "merged")
    assert again.stats()["merged_groups"] == merging.stats()["merged_groups"] == 1
    assert lf.Reasoner.open(tmp_path / "ruled", same_as="merge").stats()["merged_groups"] == 1
    unmerged = lf.Reasoner.open(tmp_path / "merged", same_as="rules", read_only=True)
    assert "merged_groups" not in unmerged.stats()
    gone = f"<{PREFIX}orlando> {SAME} <{PREFIX}name2> .\n"
    deltas = [reasoner.remove(gone) for reasoner in (merging, ruled, again)]
    assert len({frozenset(map(str, delta.removed)) for delta in deltas}) == 1
    assert live(merging) == live(ruled) == live(again)
    again.checkpoint()
    again.close()
    assert lf.Reasoner.open(tmp_path / "merged").stats()["merged_groups"] == 1


def test_equality_that_is_off_stays_off(tmp_path: Path) -> None:
    lf.Reasoner(rules="rho-df").checkpoint(tmp_path / "kb")
    lf.Reasoner.open(tmp_path / "kb", same_as="off").checkpoint()
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    reasoner.add_rules("owl-same-as")
    reasoner.add(WROTE + EQUALS)
    assert len(reasoner) == len(list(reasoner.facts(derived=False)))


def test_spark_goes_on_with_what_was_merged(spark: Any, tmp_path: Path) -> None:
    reasoner = lf.Reasoner(rules="owl-same-as", same_as="merge")
    reasoner.add(WROTE + EQUALS)
    reasoner.checkpoint(tmp_path / "kb")
    pipeline = Pipeline(spark, tmp_path / "kb")
    same(pipeline, reasoner)
    gone = f"<{PREFIX}orlando> {SAME} <{PREFIX}name2> .\n"
    pipeline.update(remove=gone)
    reasoner.remove(gone)
    same(pipeline, reasoner)
    assert lf.Reasoner.open(tmp_path / "kb").stats()["merged_groups"] == 1


def tables(folder: Path) -> dict[str, list[dict[str, object]]]:
    """What a knowledge base says, whatever the order in which it was written."""
    base = KnowledgeBase(folder)
    commit = base.last()
    names = [name for name in (TRIPLES_TABLE, PREDICATES_TABLE, TERMS) if name in commit.versions]
    return {name: sorted(base.read(name, commit).to_pylist(), key=str) for name in names}


def quad(graph: str) -> str:
    return WROTE.replace(" .\n", f" <{PREFIX}{graph}> .\n")


def test_named_graphs_survive_the_journey(tmp_path: Path) -> None:
    (tmp_path / "told.nq").write_text(quad("one") + quad("two") + WROTE + AGE, encoding="utf-8")
    first = lf.Reasoner(rules="rho-df")
    first.load(tmp_path / "told.nq")
    first.checkpoint(tmp_path / "kb")
    second = lf.Reasoner.open(tmp_path / "kb")
    asked = "SELECT ?g WHERE { GRAPH ?g { ?s ?p ?o } }"
    assert second.query(asked).to_csv() == first.query(asked).to_csv()
    second.remove(WROTE)
    assert len(second) == len(first) == 2
    second.update(EMPTY.format(graph=f"{PREFIX}one"))
    second.checkpoint()
    second.close()
    third = lf.Reasoner.open(tmp_path / "kb")
    third.update(EMPTY.format(graph=f"{PREFIX}two"))
    assert len(third) == 1
    third.checkpoint()
    third.close()
    assert lf.Reasoner.open(tmp_path / "kb").query(asked).to_csv() == "g\r\n"


def test_blank_nodes_of_later_texts_are_others(tmp_path: Path) -> None:
    nobody = f"_:x <{PREFIX}wrote> <{PREFIX}beowulf> .\n"
    reasoner = lf.Reasoner()
    reasoner.add(nobody)
    reasoner.checkpoint(tmp_path / "kb")
    again = lf.Reasoner.open(tmp_path / "kb")
    again.add(nobody)
    assert len(again) == 2
    again.checkpoint()
    again.close()
    assert len(lf.Reasoner.open(tmp_path / "kb")) == 2


def test_told_facts_of_hidden_predicates_are_kept(tmp_path: Path) -> None:
    reasoner = lf.Reasoner(rules="seen(?x) :- _marked(?x) .")
    reasoner.add("_marked(door) .")
    reasoner.checkpoint(tmp_path / "kb")
    again = lf.Reasoner.open(tmp_path / "kb")
    assert lf.Fact("seen", ("door",)) in again
    assert again.remove("_marked(door) .").counts
    assert lf.Fact("seen", ("door",)) not in again


def test_a_reasoner_and_a_pipeline_share_one_lock(spark: Any, tmp_path: Path) -> None:
    pipeline = made(spark, tmp_path, WROTE)
    pipeline.materialize("rho-df")
    with pipeline.base.writing(), pytest.raises(lf.ConflictError, match="someone else is writing"):
        lf.Reasoner.open(tmp_path / "kb")
    reasoner = lf.Reasoner.open(tmp_path / "kb")
    reasoner.add(AGE)
    with pytest.raises(lf.ConflictError):
        pipeline.update(add=DOMAIN)
    assert reasoner.checkpoint() == 3
    same(pipeline, reasoner)
    del reasoner
    pipeline.update(add=DOMAIN)


def test_a_reasoner_that_was_not_opened_has_nowhere_to_write_to() -> None:
    with pytest.raises(lf.LivefactsError, match="not opened"):
        lf.Reasoner().checkpoint()


def test_a_folder_without_a_knowledge_base_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(lf.LivefactsError, match="no knowledge base") as refused:
        lf.Reasoner.open(tmp_path / "kb", read_only=True)
    assert "livefacts load" in refused.value.hint
