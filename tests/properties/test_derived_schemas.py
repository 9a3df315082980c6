"""Random schemas that other rules conclude, too: what holds up only itself goes."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import NamedNode, Triple
from tests.oracle import closure

from livefacts.model.namespaces import OWL, RDF, RDF_TYPE, RDFS
from livefacts.service.reasoner.facade import Reasoner
from livefacts.syntax.rulelang.rule_parser import parse

RULES = (
    "[?a, rdfs:subClassOf, ?c] :- [?a, rdfs:subClassOf, ?b], [?b, rdfs:subClassOf, ?c] .",
    "[?a, rdfs:subPropertyOf, ?c] :- [?a, rdfs:subPropertyOf, ?b], [?b, rdfs:subPropertyOf, ?c] .",
    "[?x, ?q, ?y] :- [?x, ?p, ?y], [?p, rdfs:subPropertyOf, ?q] .",
    "[?x, a, ?b] :- [?x, a, ?a], [?a, rdfs:subClassOf, ?b] .",
    "[?c, rdfs:subClassOf, ?c] :- [?c, a, owl:Class] .",
    "[?p, a, rdf:Property] :- [?x, ?p, ?y] .",
    "[?x, a, ?c] :- [?p, rdfs:domain, ?c], [?x, ?p, ?y] .",
    "[?s, ?p, ?z] :- [?s, ?p, ?o], [?o, owl:sameAs, ?z] .",
    "[?z, ?p, ?o] :- [?s, ?p, ?o], [?s, owl:sameAs, ?z] .",
    "[?s, ?z, ?o] :- [?s, ?p, ?o], [?p, owl:sameAs, ?z] .",
    "[?y, owl:sameAs, ?x] :- [?x, owl:sameAs, ?y] .",
    "[?a, rdfs:subClassOf, ?b] :- [?a, <x:in>, ?b], [?b, <x:in>, ?c] .",
    "[?a, <x:in>, ?c] :- [?a, rdfs:subClassOf, ?b], [?b, <x:r>, ?c] .",
)
THINGS = [NamedNode(f"x:{name}") for name in ("A", "B", "p", "q", "i", "C")]
WORDS = [NamedNode(OWL + "Class"), NamedNode(RDF + "Property"), NamedNode(RDFS + "subClassOf")]
SAME, SUBCLASS = NamedNode(OWL + "sameAs"), NamedNode(RDFS + "subClassOf")
VERBS = [
    *[SUBCLASS] * 4,
    *[SAME] * 2,
    RDF_TYPE,
    NamedNode(RDFS + "domain"),
    NamedNode(RDFS + "subPropertyOf"),
    NamedNode("x:in"),
    NamedNode("x:r"),
    *THINGS[2:4],
]


def some_triple(pick: random.Random) -> Triple:
    things = THINGS + WORDS * (pick.random() < 0.3)
    return Triple(pick.choice(things), pick.choice(VERBS), pick.choice(things))


@pytest.mark.parametrize("chunk", range(4))
def test_after_every_change_there_is_what_the_oracle_computes(chunk: int) -> None:
    for seed in range(chunk, 60, 4):
        pick = random.Random(f"concluded schemas {seed}")
        program = parse("\n".join(pick.sample(RULES, pick.randint(3, 7))))
        reasoner = Reasoner(rules=program)
        asserted: set[Triple] = set()
        for step in range(pick.randint(4, 10)):
            if asserted and pick.random() < 0.45:
                gone = pick.sample(
                    sorted(asserted, key=str), min(len(asserted), pick.choice((1, 1, 2)))
                )
                asserted -= set(gone)
                reasoner.remove(gone)
            else:
                new = {some_triple(pick) for _ in range(pick.choice((1, 2, 4)))}
                asserted |= new
                reasoner.add(new)
            assert set(reasoner.facts()) == closure(program, asserted), f"seed {seed}, step {step}"


def test_what_only_follows_from_itself_goes_with_its_reason() -> None:
    rules = "\n".join([RULES[0], RULES[3], RULES[7]])
    a, b, thing = THINGS[:3]
    reasoner = Reasoner(rules=rules)
    reasoner.add([Triple(a, SUBCLASS, b), Triple(thing, SUBCLASS, a)])
    reasoner.add([Triple(thing, SUBCLASS, thing), Triple(b, SAME, b)])
    assert Triple(thing, SUBCLASS, b) in reasoner
    reasoner.remove([Triple(thing, SUBCLASS, a)])
    assert Triple(thing, SUBCLASS, b) not in reasoner
