"""Second opinions: clingo on plain programs, owlrl on RDF Schema and OWL 2 RL.

The oracle and the engines could share a misunderstanding; these two were written by others.
Where they mean something else, the cases leave it out:

- clingo orders and sums whatever it finds, and has 32-bit integers: plain cases have nodes
  and small integers, and a case in which a node lands among values is not compared.
- owlrl treats literals of one value as one, so the graphs hold strings only; and it draws
  the conclusions of rdfs4a and rdfs4b once, from what is told, so it is asked again until
  nothing is new.
- owlrl says of OWL that everything is the same as itself, knows more datatypes, writes errors as
  triples, and leaves out that a class or property is below and equivalent to itself unless it is declared.
"""

from __future__ import annotations

import random
import warnings

import pytest
from pyoxigraph import Literal, Triple
from tests.conformance.answer_sets import UntranslatableError, clingo_model
from tests.conformance.entailment import closure_of
from tests.conformance.timed_answer_sets import asserted_and_derived, clingo_moment
from tests.oracle import Row, model, shown
from tests.oracle.owl import NIL, REST
from tests.oracle.timeline import Timeline
from tests.properties.coverage.stream_histories import asserted
from tests.properties.generate.cases import Case
from tests.properties.generate.ontologies import EX, LITERALS, draw_life
from tests.properties.generate.programs import draw_case
from tests.properties.generate.rule_themes import schema
from tests.properties.generate.stream_histories import draw_stream_history
from tests.properties.generate.vocabulary import IRIS, Vocabulary

import livefacts as lf
from livefacts.model.facts import Fact
from livefacts.syntax.rule_sets import open_rules

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import owlrl
    import rdflib

CHUNKS = 4
Lines = set[tuple[str, ...]]


def answer_set(case: Case) -> set[Row] | None:
    """What clingo finds, or None where the two languages mean different things."""
    try:
        return clingo_model(case.program(), case.facts)
    except UntranslatableError:
        return None


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_clingo_and_the_oracle_find_the_same_model(chunk: int) -> None:
    cases = [draw_case(seed, plain=True) for seed in range(chunk, 160, CHUNKS)]
    found = [(case, answer) for case in cases if (answer := answer_set(case)) is not None]
    assert len(found) > len(cases) * 3 / 4
    for case, answer in found:
        assert answer == model(case.program(), case.facts), str(case)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_clingo_and_the_reasoner_find_the_same_model(chunk: int) -> None:
    for seed in range(1000 + chunk, 1060, CHUNKS):
        case = draw_case(seed, plain=True)
        answer = answer_set(case)
        if answer is not None:
            reasoner = lf.Reasoner(rules=case.program())
            reasoner.add(list(case.facts))
            assert set(reasoner.facts()) == {shown(row) for row in answer} - {None}, str(case)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_clingo_and_the_oracle_of_streams_find_the_same_model(chunk: int) -> None:
    compared = 0
    for seed in range(chunk, 160, CHUNKS):
        history, timeline = draw_stream_history(seed), Timeline()
        for act in history.acts:
            asserted(timeline, act)
        end = max(act.at for act in history.acts)
        for now in range(end - 4, end + 1):
            try:
                answer = clingo_moment(history.program, timeline, now)
            except UntranslatableError:
                break
            compared += 1
            expected = asserted_and_derived(history.program, timeline, now)
            assert answer == expected, f"at {now}\n{history}"
    assert compared >= 30


def random_schema(seed: int) -> list[Triple | Fact]:
    pick = random.Random(f"owlrl {seed}")
    words = Vocabulary(tuple(pick.sample(IRIS, 4)), (Literal("a"), Literal("b", language="en")))
    return schema(pick, words)[1]


def owlrl_closure(facts: list[Triple | Fact]) -> Lines:
    graph = rdflib.Graph()
    graph.parse(data="\n".join(f"{fact} ." for fact in facts), format="nt")
    size = -1
    while len(graph) != size:
        size = len(graph)
        owlrl.DeductiveClosure(owlrl.RDFS_Semantics).expand(graph)
    return {tuple(term.n3() for term in triple) for triple in graph}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_owlrl_draws_the_same_conclusions_of_rdf_schema(chunk: int) -> None:
    rules = open_rules("rdfs")
    for seed in range(chunk, 40, CHUNKS):
        facts = random_schema(seed)
        triples = closure_of(rules, facts).triples
        assert {tuple(map(str, triple)) for triple in triples} == owlrl_closure(facts)


ERROR = "<http://www.daml.org/2002/03/agents/agent-ont#error>"
OF_ITSELF = {
    f"<http://www.w3.org/{name}>"
    for name in (
        "2000/01/rdf-schema#subClassOf",
        "2000/01/rdf-schema#subPropertyOf",
        "2002/07/owl#equivalentClass",
        "2002/07/owl#equivalentProperty",
        "2002/07/owl#sameAs",
    )
}


def random_ontology(seed: int) -> list[Triple]:
    """Axioms and facts; lists go one way, and there are no literals of one value."""
    asserted: dict[Triple, None] = {}
    rests: dict[object, object] = {}
    for triple in (triple for step in draw_life(seed, steps=3) for triple in step.added):
        if triple.predicate == REST:
            if triple.subject in rests:
                continue
            if leads_to(triple.subject, triple.object, rests):
                triple = Triple(triple.subject, REST, NIL)
            rests[triple.subject] = triple.object
        if triple.object not in LITERALS:
            asserted[triple] = None
    return list(asserted)


def leads_to(cell: object, start: object, rests: dict[object, object]) -> bool:
    while start in rests and start != cell:
        start = rests[start]
    return start == cell


def about_our_words(lines: Lines) -> Lines:
    """What is said of the words of a random ontology, but not of one and itself."""
    return {
        line
        for line in lines
        if any(EX in term for term in line)
        and line[1] != ERROR
        and not (line[1] in OF_ITSELF and line[0] == line[2])
    }


@pytest.mark.parametrize("chunk", range(2))
def test_owlrl_draws_the_same_conclusions_of_owl(chunk: int) -> None:
    for seed in range(chunk, 8, 2):
        asserted = random_ontology(seed)
        graph = rdflib.Graph()
        graph.parse(data="\n".join(f"{triple} ." for triple in asserted), format="nt")
        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
        theirs = {tuple(term.n3() for term in triple) for triple in graph}
        reasoner = lf.Reasoner(rules="owl-rl")
        reasoner.add(asserted)
        ours = {tuple(map(str, (t.subject, t.predicate, t.object))) for t in reasoner.facts()}  # type: ignore[union-attr]
        assert about_our_words(ours) == about_our_words(theirs), seed
        if any(predicate == ERROR for _, predicate, _ in theirs):
            assert reasoner.violations(), seed
