"""Programs that can be followed for each key by itself, and why others cannot."""

from __future__ import annotations

import pytest

from livefacts.language.checks.key_partitions import partitioning_of
from livefacts.model.namespaces import RDF
from livefacts.syntax.rulelang.rule_parser import parse

PROVEN = {
    "a window": ("hot(?s) :- sometime reading(?s, ?v) in [5] .", {"reading": 0, "hot": 0}),
    "the second argument": (
        "near(?p, ?s) :- sometime seen(?s, ?p) in [5], open(?s) .",
        {"seen": 0, "near": 1, "open": 0},
    ),
    "negation of what has the key": (
        "quiet(?s) :- sensor(?s), not sometime reading(?s, ?v) in [5] .",
        {"quiet": 0, "reading": 0},
    ),
    "totals of each key": (
        "n(?s, ?n) :- ?n = count { ?v : sometime reading(?s, ?v) in [5] } .",
        {"n": 0, "reading": 0},
    ),
    "recursion": (
        "at ?t on(?s) :- at ?t go(?s) in [9] . "
        "at ?u on(?s) :- at ?t on(?s) in [9], ?u = ?t + 1, not at ?u stop(?s) in [9] .",
        {"on": 0, "go": 0, "stop": 0},
    ),
    "triples": ("[?s, <x:was>, ?p] :- sometime [?s, <x:in>, ?p] in [3] .", None),
    "background shared by all": (
        "near(?s, ?r) :- sometime at_place(?s, ?p) in [3], part(?p, ?r) . "
        "part(?p, ?r) :- part(?p, ?q), part(?q, ?r) .",
        {"near": 0, "at_place": 0},
    ),
    "one constant key": ("alarm(s1) :- sometime reading(s1, ?v) in [3] .", {"alarm": 0}),
}
BACKGROUND = ("sensor", "part")
REFUSED = {
    "a window that counts": (
        "last(?s) :- sometime reading(?s, ?v) in [3 facts] .",
        "follows the facts of all keys",
    ),
    "a window that counts one predicate": (
        "last(?s) :- sometime reading(?s, ?v) in [3 facts of reading] .",
        "follows the facts of all keys",
    ),
    "a session": (
        "on(?s) :- sometime reading(?s, ?v) in [session 3] .",
        "follows the facts of all keys: [session 3]",
    ),
    "a total over keys": (
        "n(?n) :- ?n = count { ?s : sometime reading(?s, ?v) in [5] } .",
        "concludes something without the key",
    ),
    "a join of keys": (
        "pair(?s, ?t) :- reading(?s, ?v), reading(?t, ?v), ?s != ?t .",
        "concludes something without the key: ?v",
    ),
    "a conclusion without the key": (
        "any(?v) :- reading(?s, ?v), open(?s) .",
        "concludes something without the key: ?s",
    ),
    "rules that do not agree": (
        "a(?x, ?y) :- e(?x, ?y) . b(?y) :- a(?x, ?y) . c(?x) :- a(?x, ?y) .",
        "no argument is the key in all rules at once",
    ),
    "any predicate": ("[?s, <x:p>, ?o] :- [?s, ?p, ?o] .", "triples of any predicate"),
    "negation across keys": (
        "alone(?s) :- reading(?s, ?v), not reading(?t, ?v), other(?t) .",
        "joins facts of different keys",
    ),
    "a fact without arguments": ("on(?s) :- reading(?s), go .", "different keys"),
    "only the background": ("a(?x) :- part(?x, ?y) .", "no rule looks at what a stream brings"),
    "a limit": ("@limit 5 . hot(?s) :- reading(?s, ?v) .", "@limit"),
    "a constraint": ("false :- reading(?s, ?v), ?v > 9 . a(?s) :- reading(?s, ?v) .", "constraint"),
}


@pytest.mark.parametrize("name", PROVEN)
def test_a_program_is_followed_by_key_where_facts_of_different_keys_never_meet(name: str) -> None:
    text, expected = PROVEN[name]
    found = partitioning_of(parse(text), BACKGROUND)
    assert found.is_proven, str(found)
    if expected is not None:
        assert {family: found.positions[family] for family in expected} == expected
    assert "by key" in str(found)


@pytest.mark.parametrize("name", REFUSED)
def test_what_looks_at_several_keys_decides_against_it(name: str) -> None:
    text, reason = REFUSED[name]
    found = partitioning_of(parse(text), BACKGROUND)
    assert not found.is_proven
    assert reason in str(found)


def test_the_proof_is_said_in_words() -> None:
    program = parse(
        "@prefix : <http://x/> . [?s, a, :Hot] :- sometime [?s, :reads, ?v] in [5], limit(?v) ."
    )
    assert str(partitioning_of(program, ["limit"])).splitlines() == [
        "by key, which all premises of each rule that come from the stream share:",
        f"  {RDF}type: its subject",
        "  http://x/reads: its subject",
        "  the same for all keys, from the background: limit",
    ]
