"""Updates change exactly what a reasoner that begins anew would find changed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import livefacts as lf
from livefacts.engine.spark.read.asked_facts import read_asked
from livefacts.engine.spark.single.driver_change import Updater
from livefacts.kb.bucket_stages import Bucket
from livefacts.kb.live_buckets import Live
from livefacts.kb.term_encoding import Encoding
from livefacts.spark import Pipeline
from livefacts.syntax import rule_sets

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
PREFIX = "http://example.org/"
SCHEMA = [RDFS + name for name in ("subClassOf", "subPropertyOf", "domain", "range")]
CONSTANTS = [*SCHEMA, RDF + "type", RDF + "Property", RDFS + "Resource", RDFS + "Class"]
NAMES = [PREFIX + name for name in "abcdefg"]


def random_triple(chance: random.Random) -> Triple:
    """A triple over few names, so that classes, properties and things are the same ones."""
    predicate = chance.choice([*SCHEMA, RDF + "type", RDF + "type", *NAMES[:3]])
    if predicate in SCHEMA and chance.random() < 0.05:
        predicate, subject, obj = RDFS + "subPropertyOf", NAMES[0], chance.choice(SCHEMA)
        return Triple(NamedNode(subject), NamedNode(predicate), NamedNode(obj))
    subject, obj = chance.choice(NAMES), chance.choice(NAMES)
    if predicate in NAMES and chance.random() < 0.2:
        return Triple(NamedNode(subject), NamedNode(predicate), Literal("x"))
    return Triple(NamedNode(subject), NamedNode(predicate), NamedNode(obj))


class Watched:
    """An updater beside a reasoner; what is true is kept by adding up the updater's deltas."""

    def __init__(self, rules: str, bits: int) -> None:
        program = rule_sets.open_rules(rules)
        self.live = Live([Bucket(0, 2, ()), Bucket(1, 2, ())])
        self.updater = Updater(program.rules, self.live, Encoding(bits))
        self.reasoner = lf.Reasoner(rules=rules)
        encoding = Encoding(bits)
        self.texts = {encoding.id_of(f"<{term}>"): f"<{term}>" for term in CONSTANTS}
        assert len(self.texts) == len(CONSTANTS), "constants that clash: choose other bits"
        self.live.take_terms(self.texts)
        self.true: set[tuple[int, int, int]] = set()

    def change(self, add: list[Triple], remove: list[Triple]) -> None:
        change = self.updater.change(read_asked(add, remove))
        self.updater.keep(change)
        self.texts |= change.terms
        for row, sign in zip(change.rows.to_pylist(), change.signs.tolist(), strict=True):
            triple = (row["s"], row["p"], row["o"])
            assert sign >= 0 or triple in self.true
            assert sign <= 0 or triple not in self.true
            (self.true.add if sign > 0 else self.true.discard if sign < 0 else id)(triple)
        self.reasoner.apply(add=add, remove=remove)

    def shown(self) -> set[tuple[str, ...]]:
        found = {tuple(self.texts[each] for each in triple) for triple in self.true}
        return {triple for triple in found if not triple[0].startswith('"')}

    def expected(self) -> set[tuple[str, ...]]:
        return {(str(t.subject), str(t.predicate), str(t.object)) for t in self.reasoner}


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["rho-df", "rdfs"])
@pytest.mark.parametrize("seed", range(12))
def test_random_changes_add_up_to_what_a_reasoner_has(rules: str, seed: int) -> None:
    chance = random.Random(seed)
    watched = Watched(rules, bits=61)
    told: list[Triple] = []
    for _ in range(8):
        add = [random_triple(chance) for _ in range(chance.randrange(6))]
        remove = chance.sample(told, min(len(told), chance.randrange(5)))
        watched.change(add, remove)
        told = list(dict.fromkeys([*(t for t in told if t not in remove), *add]))
        assert watched.shown() == watched.expected()


BITS = 6
"""So few that terms clash; the constants of the rules do not."""


def test_terms_that_collide_in_an_update_are_kept_apart() -> None:
    watched = Watched("rho-df", bits=BITS)
    chance = random.Random(3)
    for _ in range(4):
        watched.change([random_triple(chance) for _ in range(6)], [])
    assert watched.updater.encoding.exceptions
    assert watched.shown() == watched.expected()


def shown(frame: Any) -> set[tuple[str, str, str]]:
    return {(row.s, row.p, row.o) for row in frame.collect()}


def nt(*lines: str) -> str:
    return "".join(f"{line} .\n" for line in lines)


ORLANDO = f"<{PREFIX}virginia> <{PREFIX}wrote> <{PREFIX}orlando>"
WAVES = f"<{PREFIX}virginia> <{PREFIX}wrote> <{PREFIX}waves>"
DOMAIN = f"<{PREFIX}wrote> <{RDFS}domain> <{PREFIX}Writer>"
WRITER = (f"<{PREFIX}virginia>", f"<{RDF}type>", f"<{PREFIX}Writer>")


@pytest.fixture
def closed(spark: Any, tmp_path: Path) -> Pipeline:
    (tmp_path / "told.nt").write_text(nt(ORLANDO, DOMAIN), encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize("rho-df")
    return pipeline


def test_a_conclusion_ends_with_the_last_triple_that_yields_it(closed: Pipeline) -> None:
    first = closed.update(add=nt(WAVES), remove=nt(ORLANDO))
    assert "; 1 asserted, 1 retracted, 1 added, 1 removed\n" in str(first)
    assert WRITER in shown(closed.facts(decoded=True))
    second = closed.update(remove=nt(WAVES))
    gone = {
        (row.s, row.p, row.o, row.sign) for row in closed.delta(second.seq, decoded=True).collect()
    }
    assert gone == {(*WAVES.split(), -1), (*WRITER, -1)}
    assert shown(closed.facts(decoded=True)) == {tuple(DOMAIN.split())}


def test_a_pipeline_that_is_opened_anew_goes_on_from_the_changes(
    spark: Any, closed: Pipeline
) -> None:
    closed.update(add=nt(WAVES))
    again = Pipeline(spark, closed.base.path)
    report = again.update(remove=nt(DOMAIN))
    assert report.figures["removed"] == 2
    assert WRITER not in shown(again.facts(decoded=True))
    assert WRITER in shown(again.facts(decoded=True, version=3))


def test_compacting_changes_nothing_that_is_true(closed: Pipeline) -> None:
    closed.update(add=nt(WAVES), remove=nt(ORLANDO))
    before = shown(closed.facts(decoded=True))
    report = closed.optimize()
    assert report.figures["facts"] == 3
    assert shown(closed.facts(decoded=True)) == before
    closed.update(remove=nt(WAVES))
    assert closed.facts().count() == 1


def test_an_update_wants_conclusions_to_be_drawn_first(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "told.nt").write_text(nt(ORLANDO), encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    with pytest.raises(lf.LivefactsError, match="ingest files first"):
        pipeline.update(add=nt(WAVES))
    pipeline.ingest(tmp_path / "told.nt")
    with pytest.raises(lf.LivefactsError, match=r"materialize\(\) first"):
        pipeline.update(add=nt(WAVES))


def test_an_update_with_a_batch_id_is_made_once(closed: Pipeline) -> None:
    closed.update(add=nt(WAVES), batch="b1")
    again = closed.update(remove=nt(WAVES), batch="b1")
    assert again.is_replay
    assert tuple(WAVES.split()) in shown(closed.facts(decoded=True))
