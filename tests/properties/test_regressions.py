"""Cases that random programs have found, each as small as it could be made."""

from __future__ import annotations

import pytest
from tests.properties.compare.cases import differences
from tests.properties.compare.histories import differences as differences_of_history
from tests.properties.compare.stream_histories import differences as differences_of_stream
from tests.properties.generate.cases import Case, Step
from tests.properties.generate.histories import Change, History
from tests.properties.generate.stream_histories import ADVANCE, PUSH, TICKS, Act, StreamHistory

from livefacts.syntax.rulelang.rule_parser import parse

EX = "@prefix ex: <http://example.org/> .\n"
FOUND = {
    "a negated fact that is told later ends what its absence allowed": (
        "open(door) :- not locked(door) . free(?x) :- room(?x), not booked(?x) .",
        "room(hall) .",
        "locked(door) . booked(hall) .",
    ),
    "a triple may not show a symbol that a rule puts into it": (
        EX + "[?x, ex:partOf, ?y] :- near(?x, ?y) . has(?y) :- [?x, ex:partOf, ?y] .",
        EX + "near(ex:eve, roof) .",
    ),
    "conclusions of a lower level about single triples go on on the next one": (
        EX + "[?x, ex:likes, ?y] :- [?x, ex:partOf, ?y] ."
        "[?x, ex:partOf, ?x] :- [?x, ex:label, ?m] ."
        "[?x, ex:partOf, ?x] :- [?x, ex:knows, ?x], ?n = count { ?y : _mark(?y) } .",
        EX + "[ex:bob, ex:label, 4] .",
    ),
    "a variable can be bound to a number that does not even equal itself": (
        "next(?y) :- reading(?x), ?y = ?x + 1 .",
        'reading("NaN"^^xsd:double) .',
    ),
    "of two equations the first gives the value, when what the second speaks of comes first": (
        "both(?z) :- one(?x), other(?y), ?z = ?x, ?z = ?y .",
        'other("01"^^xsd:integer) .',
        "one(1) .",
    ),
    "of two equations the first gives the value, when what it speaks of comes first": (
        "both(?z) :- one(?x), other(?y), ?z = ?x, ?z = ?y .",
        "one(1) .",
        'other("01"^^xsd:integer) .',
    ),
}


def case_of(name: str, start: str, *steps: str) -> Case:
    """A case from rule texts: the first makes the reasoner, the others follow."""
    parsed = [parse(text) for text in steps]
    return Case(name, parse(start), tuple(Step(p.facts, p.rules) for p in parsed))


@pytest.mark.parametrize("name", FOUND)
def test_a_found_case_is_mended(name: str) -> None:
    assert differences(case_of(name, *FOUND[name])) == []


CHANGES = {
    "two rows of one group go down to one, and the count is looked at before it is certain": (
        "fans(?y, ?n) :- ?n = count { ?x : score(?x, ?m, ?y) } .",
        "+ score(dan, 1, dan) . score(dan, 4, dan) .",
        "- score(dan, 4, dan) .",
    ),
    "a triple and a part of the schema go at once, above a level of other rules": (
        EX + "[?x, ?q, ?y] :- [?p, rdfs:subPropertyOf, ?q], [?x, ?p, ?y] ."
        "[?x, ex:knows, ?y] :- near(?x, ?y), not far(?x) . far(?x) :- linked(?x, ?y) .",
        EX + "+ [ex:zoe, ex:likes, ex:zoe] . [ex:partOf, rdfs:subPropertyOf, ex:likes] ."
        "[ex:likes, rdfs:subPropertyOf, ex:partOf] .",
        EX + "- [ex:zoe, ex:likes, ex:zoe] . [ex:partOf, rdfs:subPropertyOf, ex:likes] .",
    ),
    "a fact comes that blocks a rule, with a rule that makes that one recursive": (
        "open :- asked, not shut .",
        "+ asked .",
        "+ shut . asked :- open .",
    ),
    "a triple comes that blocks a rule, with one that makes it recursive, and goes with it": (
        EX + "[?x, a, ex:Open] :- [?x, a, ex:Asked], not [?x, a, ex:Shut] .",
        EX + "+ [ex:door, a, ex:Asked] . [ex:gate, a, ex:Asked] .",
        EX + "+ [ex:door, a, ex:Shut] . [?x, a, ex:Asked] :- [?x, a, ex:Open] .",
        EX + "- [ex:door, a, ex:Shut] . [?x, a, ex:Asked] :- [?x, a, ex:Open] .",
    ),
    "a count rises over what a rule allows, with a rule that makes that one recursive": (
        "open(?x) :- asked(?x), ?n = count { ?y : shut(?x, ?y) }, ?n < 2 .",
        "+ asked(door) . shut(door, ann) .",
        "+ shut(door, bob) . asked(?x) :- open(?x) .",
    ),
}


def history_of(name: str, start: str, *steps: str) -> History:
    """A history from rule texts: rules to start with, then what `+` adds and `-` removes."""
    changes = []
    for step in steps:
        is_added = "+ " in step
        program = parse(step.replace("+ " if is_added else "- ", "", 1))
        facts, rules = frozenset(program.facts), program.rules
        changes.append(
            Change(facts, rules_added=rules)
            if is_added
            else Change(removed=facts, rules_removed=rules)
        )
    return History(name, parse(start).rules, tuple(changes))


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_found_history_is_mended(name: str, maintenance: str) -> None:
    assert list(differences_of_history(history_of(name, *CHANGES[name]), maintenance)) == []


STREAMED = {
    "a time that is computed is a decimal, which no time point is, also to what is not denied": (
        "at ?u total(?x, ?t) :- at ?t hot(?x) in [1], ?u = ?t / 1, not at ?u not open in [1] .",
        "hot(bob) . open .",
    ),
    "what is not denied of a window gives a computed variable no other term": (
        "total(?x, ?u) :- at ?t hot(?x) in [1], ?u = ?t / 1, not sometime not reading(?u) in [1] .",
        "hot(bob) . reading(1) .",
    ),
    "what is not denied of a window gives an average no other term": (
        "total(?n) :- ?n = avg { ?v : sometime reading(?v) in [1] },"
        "not sometime not reading(?n) in [1] .",
        "reading(1) .",
    ),
    "what is not denied gives no other term in braces": (
        "total(?n) :- ?n = count { ?u : at ?t hot(?x) in [1], ?u = ?t / 1,"
        "not at ?u not hot(?x) in [1] } .",
        "hot(bob) .",
    ),
    "a constraint shows the terms that it computes, and none beside them": (
        "@id one false :- not at ?u not seen(?x) in [2], at ?t hot(?x) in [1], ?u = ?t / 1 .",
        "hot(bob) . seen(bob) .",
    ),
    "a session of one predicate does not have what arrives of another that is concluded too": (
        "hot(?x) :- seen(?x) . warm(?x) :- sometime hot(?x) in [session 2 of reading] .",
        "reading(1) . hot(bob) . seen(ann) .",
    ),
}


@pytest.mark.parametrize("name", STREAMED)
def test_a_found_stream_history_is_mended(name: str) -> None:
    rules, arriving = STREAMED[name]
    acts = (Act(PUSH, parse(arriving).facts, at=1), Act(ADVANCE, at=1), Act(TICKS, at=4))
    assert list(differences_of_stream(StreamHistory(name, parse(rules), acts))) == []
