"""A reasoner that merges what is the same knows and says what one that follows the rules does."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

import pytest
from pyoxigraph import Triple
from tests.golden.test_owl import expected, violated
from tests.oracle.naive import Known
from tests.properties.compare.proofs import faults_of_proof, row_of
from tests.properties.generate.equalities import draw_equals, draw_following
from tests.properties.generate.ontologies import EX, Step
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.service.merging import derived_equalities, merged_engine
from livefacts.store.facts.row_store import TRIPLES
from livefacts.syntax.rule_sets import open_rules

CHUNKS = 4
EXPLAINED = 2
EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
RULES = open_rules("owl-rl")
OWN = """
    @prefix ex: <http://example.org/> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    [?x, ex:r, ?y] :- [?x, ex:q, ?z], [?y, ex:q, ?z], ?x != ?y .
    likes(?x, ?y) :- [?x, ex:p, ?y] .
    likes(?x, ?z) :- likes(?x, ?y), [?y, ex:q, ?z] .
    equal(?x, ?y) :- [?x, owl:sameAs, ?y] .
    alone(?x, ?x) :- [?x, a, ex:A] .
    [?x, owl:sameAs, ?y] :- likes(?x, ?y), likes(?y, ?x), ?x != ?y .
    @id both  false :- [?x, ex:p, ?y], [?x, ex:r, ?y], likes(?y, ?z), ?x != ?z .
    @id twice  false :- [?x, ?p, ?y], [?x, ?q, ?y], [?p, owl:propertyDisjointWith, ?q], ?p != ?q .
"""


def listed(violations: Iterable[lf.Violation]) -> list[str]:
    return sorted(map(str, violations))


def once(facts: Iterable[object]) -> set[object]:
    """Facts as a set, of which each was there once."""
    found = list(facts)
    assert len(found) == len(set(found))
    return set(found)


def lines(patch: str) -> list[str]:
    """What a patch says, without the names that blank nodes have in it."""
    return sorted(re.sub(r"_:\w+", "_:b", patch).splitlines())


def compare(merging: lf.Reasoner, ruled: lf.Reasoner) -> None:
    """Both know the same."""
    facts = once(merging)
    assert facts == set(ruled)
    assert len(merging) == len(facts)
    assert once(merging.facts(derived=True)) == set(ruled.facts(derived=True))
    assert once(merging.facts(derived=False)) == set(ruled.facts(derived=False))
    assert derived(merging) == derived(ruled)
    assert listed(merging.violations()) == listed(ruled.violations())


def derived(reasoner: lf.Reasoner) -> set[object]:
    """All conclusions, those of hidden predicates, too, which are kept in folders."""
    facts = reasoner._state.truth.derived()
    assert facts[TRIPLES].shape[1] == 3
    return {
        (shape, *reasoner._state.dictionary.decode(row))
        for shape, ids in facts.items()
        for row in ids
    }


def compare_deltas(merged: lf.Delta, ruled: lf.Delta) -> None:
    """Both say that the same has changed."""
    for part in ("added", "removed", "derived"):
        assert once(getattr(merged, part)) == set(getattr(ruled, part)), part
    assert merged.counts == ruled.counts
    assert lines(merged.to_patch(asserted=True)) == lines(ruled.to_patch(asserted=True))
    assert merged.hints == ruled.hints
    assert listed(merged.violations) == listed(ruled.violations)
    assert listed(merged.resolved) == listed(ruled.resolved)


def check_explanations(merging: lf.Reasoner, asserted: set[Triple], pick: random.Random) -> None:
    """Some facts and violations have proofs by the rules, from what was told."""
    rows = {row_of(fact) for fact in asserted} | {row_of(fact) for fact in RULES.facts}
    facts = sorted((fact for fact in merging if EX in str(fact)), key=str)
    wrong = merging.violations()
    asked = pick.sample(facts, min(len(facts), EXPLAINED)) + pick.sample(wrong, min(len(wrong), 1))
    for fact in asked:
        explanation = explained(merging, fact)
        if explanation is None:
            assert not isinstance(fact, Triple)
        else:
            assert list(faults_of_proof(explanation, rows, Known([]), None)) == [], fact


def explained(merging: lf.Reasoner, fact: object) -> lf.Explanation | None:
    """Why a fact holds; None where three of a group are in it, which is refused."""
    try:
        return merging.explain(fact)
    except lf.LivefactsError:
        return None


def assert_same(life: Sequence[Step], own: str = "", figure: str = "merged_groups") -> int:
    """Lead two reasoners through a life and back to nothing; how much was merged."""
    rules = [RULES, own] if own else RULES
    merging, ruled = lf.Reasoner(rules=rules, same_as="merge"), lf.Reasoner(rules=rules)
    asserted: set[Triple] = set()
    count, pick = 0, random.Random(str(life))
    watches = [reasoner.watch(EVERYTHING) for reasoner in (merging, ruled) if own]
    for step in [*life, Step([], sorted({t for s in life for t in s.added}, key=str))]:
        delta = merging.apply(add=step.added, remove=step.removed)
        compare_deltas(delta, ruled.apply(add=step.added, remove=step.removed))
        compare(merging, ruled)
        asserted = (asserted - set(step.removed)) | set(step.added)
        if not own:
            facts, contradictions = expected(list(asserted))
            assert set(merging) == facts
            assert violated(merging) == contradictions
        assert merging.verify()
        answers = [sorted(map(str, watch.answers())) for watch in watches]
        changes = [sorted(map(str, watch.changes())) for watch in watches]
        assert answers[:1] == answers[1:]
        assert changes[:1] == changes[1:]
        check_explanations(merging, asserted, pick)
        count += merging.stats()[figure]
    return count


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 1))
def test_merging_means_what_the_rules_mean(chunk: int) -> None:
    counts = [assert_same(draw_equals(seed)) for seed in range(chunk, 20, CHUNKS)]
    assert any(counts)


@pytest.mark.thorough
def test_merging_means_what_the_rules_mean_beside_rules_of_ones_own() -> None:
    counts = [assert_same(draw_equals(seed), OWN) for seed in range(20, 23)]
    assert any(counts)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever follows to be the same is merged, be it three, and as soon as it is seen."""
    monkeypatch.setattr(derived_equalities, "FEWEST", 3)
    monkeypatch.setattr(merged_engine, "MANY", 1)
    monkeypatch.setattr(Interpreter, "budget", 20)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
@pytest.mark.usefixtures("eager")
def test_what_follows_to_be_the_same_is_merged_until_it_no_longer_follows(chunk: int) -> None:
    proven = [
        assert_same(draw_following(seed), figure="equalities_merged_by_proof")
        for seed in range(chunk, 12, CHUNKS)
    ]
    assert any(proven)


@pytest.mark.parametrize("seed", [24, pytest.param(25, marks=pytest.mark.thorough)])
@pytest.mark.usefixtures("eager")
def test_what_follows_by_rules_of_ones_own_is_merged_too(seed: int) -> None:
    assert assert_same(draw_following(seed), OWN, "equalities_merged_by_proof")


@pytest.mark.thorough
@pytest.mark.parametrize("chunk", range(20))
def test_merging_means_what_the_rules_mean_in_many_worlds(chunk: int) -> None:
    for seed in range(1000 + chunk, 1300, 20):
        assert_same(draw_equals(seed))
        assert_same(draw_equals(seed), OWN)


@pytest.mark.thorough
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("chunk", range(20))
def test_what_follows_is_merged_in_many_worlds(chunk: int) -> None:
    for seed in range(1000 + chunk, 1300, 20):
        assert_same(draw_following(seed))
        assert_same(draw_following(seed), OWN)
        assert_same(draw_equals(seed))
