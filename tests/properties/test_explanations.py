"""Explanations of random programs: every conclusion, and facts that do not hold."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from pyoxigraph import Triple
from tests.oracle import model
from tests.oracle.naive import Known
from tests.properties.compare.proofs import faults_of_attempt, faults_of_proof, heights, row_of
from tests.properties.generate.cases import Case
from tests.properties.generate.programs import draw_case
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.engine.embedded.proofs import backward_search
from livefacts.language.program import Program
from livefacts.model.facts import Fact

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

CASES, CHUNKS = 240, 12
HURRIED = 40
MOST_ROWS = 150
MOST_ABSENT = 8


def made(case: Case) -> lf.Reasoner:
    reasoner = lf.Reasoner(rules=case.start, single_path=case.single_path)
    for step in case.steps:
        reasoner.apply(add=list(step.facts), add_rules=Program(step.rules))
    return reasoner


def faults(case: Case) -> Iterator[str]:
    reasoner = made(case)
    asserted = {row_of(fact) for fact in case.facts}
    known = Known(model(case.program(), case.facts))
    if len(known.rows) > MOST_ROWS:
        return
    lowest = heights(case.rules, asserted, known)
    for fact in reasoner.facts():
        explanation = reasoner.explain(fact)
        height = lowest[row_of(fact)]
        yield from (f"{fact}: {f}" for f in faults_of_proof(explanation, asserted, known, height))
        check_forms(explanation)
    for violation in reasoner.violations():
        explanation = reasoner.explain(violation)
        yield from (
            f"{violation}: {f}" for f in faults_of_proof(explanation, asserted, known, None)
        )
    for absent in absent_facts(reasoner, random.Random(case.name)):
        explanation = reasoner.explain(absent)
        if explanation.holds:
            yield f"{absent} does not hold"
        for attempt in explanation.attempts:
            yield from (f"{absent}: {fault}" for fault in faults_of_attempt(attempt, absent, known))
        check_forms(explanation)


def check_forms(explanation: lf.Explanation) -> None:
    """Every form says whether the fact holds."""
    assert ("does not hold" in str(explanation)) == (not explanation.holds)
    assert explanation.to_dict()["holds"] == explanation.holds
    assert explanation.to_dot().endswith("}\n")


def absent_facts(reasoner: lf.Reasoner, pick: random.Random) -> Iterator[Triple | Fact]:
    """Facts with the predicates of true ones and the terms of others."""
    facts = list(reasoner.facts())
    for _ in range(MOST_ABSENT if facts else 0):
        one, other = pick.choice(facts), pick.choice(facts)
        if isinstance(one, Triple) and isinstance(other, Triple):
            mixed: Triple | Fact = Triple(one.subject, one.predicate, other.object)
        elif isinstance(one, Fact) and isinstance(other, Fact) and one.arguments:
            terms = [*one.arguments[1:], *other.arguments, one.arguments[0]]
            mixed = Fact(one.name, tuple(terms[: len(one.arguments)]))
        else:
            continue
        if mixed not in reasoner:
            yield mixed


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 4))
def test_every_fact_has_a_lowest_proof_and_what_is_missing_is_missing(chunk: int) -> None:
    for seed in range(chunk, CASES, CHUNKS):
        case = draw_case(seed)
        found = list(faults(case))
        if found:
            pytest.fail("\n".join([str(case), *found[:5]]), pytrace=False)


def test_a_search_that_ends_early_still_finds_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward_search, "BUDGET", 0)
    monkeypatch.setattr(backward_search, "WIDTH", 1)
    monkeypatch.setattr(backward_search, "HURRY", 2)
    for seed in range(5_000, 5_000 + HURRIED):
        case = draw_case(seed)
        found = list(faults(case))
        if found:
            pytest.fail("\n".join([str(case), *found[:5]]), pytrace=False)


def test_the_cases_have_proofs_and_near_misses_worth_checking() -> None:
    high = attempts = 0
    for seed in range(60):
        case = draw_case(seed)
        reasoner = made(case)
        found = [reasoner.explain(fact).proof for fact in reasoner.facts()]
        high += any(proof is not None and proof.height > 1 for proof in found)
        absent = absent_facts(reasoner, random.Random(case.name))
        attempts += any(reasoner.explain(fact).attempts for fact in absent)
    assert high >= 20
    assert attempts >= 25
