"""Which rules two stand-ins are enough for, and what must stay itself under them."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from livefacts.language.checks.exchangeability import Interchange, interchange_of
from livefacts.language.formula import PredicateAtom
from livefacts.plan.rules.normal_form import ROWS, normalize
from livefacts.syntax.rule_sets import open_rules

EX = "http://example.org/"
PREFIX = f"@prefix ex: <{EX}> ."


def interchange(text: str) -> Interchange:
    return interchange_of(normalize(open_rules(f"{PREFIX}\n{text}").rules))


def test_constants_stay_themselves() -> None:
    found = interchange("[?x, ex:likes, ex:tea] :- [?x, ex:drinks, ?y], ?y != ex:coffee .")
    assert found.constants == {
        NamedNode(EX + name) for name in ("likes", "tea", "drinks", "coffee")
    }
    assert not found.telling_apart


def test_a_predicate_of_a_thing_and_itself_tells_things_apart() -> None:
    assert interchange("self(?x, ?x) :- [?x, ex:p, ?y] .").telling_apart == {"self"}


def test_a_predicate_of_two_that_is_denied_tells_things_apart() -> None:
    found = interchange("p(?x) :- [?x, ex:p, ?y], not q(?x, ?y) . q(?x, ?y) :- [?x, ex:q, ?y] .")
    assert found.telling_apart == {"q"}


def test_predicates_that_meet_in_a_triangle_tell_things_apart() -> None:
    found = interchange("""
        near(?x, ?y) :- [?x, ex:in, ?r], [?y, ex:in, ?r], ?x != ?y .
        trio(?x, ?z) :- near(?x, ?y), near(?y, ?z), ?x != ?z .
    """)
    assert found.telling_apart == {"near"}


@pytest.mark.parametrize(
    "rule",
    [
        "[?x, ex:p, ?z] :- [?x, ex:q, ?y], [?y, ex:q, ?z] .",
        "[?x, ex:p, ?y] :- [?x, ex:q, ?z], [?y, ex:q, ?z], ?x != ?y .",
        "[?x, ex:p, ?y] :- [?x, ex:q, ?z], [?y, ex:q, ?z], ?x is not ?y .",
        "p(?x, ?y) :- [?x, ?q, ?y] .",
        "false :- [?x, ?p, ?y], [?x, ?q, ?y], ?p != ?q .",
        "p(?x) :- [?x, ex:age, ?n], ?n > 3, not [?x, ex:q, ?n] .",
        "[?x, ex:twice, ?m] :- [?x, ex:age, ?n], ?m = ?n + ?n .",
    ],
)
def test_rules_that_need_no_more_than_two_are_taken(rule: str) -> None:
    assert not interchange(rule).telling_apart


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("[?x, ex:p, ?z] :- [?x, ?p, ?y], [?y, ?p, ?z], ?x != ?z .", "three"),
        ("p(?x) :- [?x, ex:p, ?y], not [?x, ?q, ?y] .", "not the same"),
        ("[?x, ex:p, ?z] :- [?x, ?p, ?y], [?y, ?p, ?z], ?x is not ?z .", "three"),
        ("p(?x) :- [?x, ex:p, ?y], [?x, ex:q, ?z], ?y = ?z .", "two names"),
        ("p(?x) :- [?x, ex:p, ?y], [?x, ex:q, ?z], ?y is ?z .", "two names"),
    ],
)
def test_rules_that_need_more_are_obstacles(rule: str, reason: str) -> None:
    found = interchange(rule)
    assert found.obstacle is not None
    assert reason in str(found.obstacle)
    assert found.obstacle.rule.place is not None
    assert found.obstacle.rule.place.line == 2


def test_what_is_counted_stays_itself() -> None:
    rules = normalize(open_rules(f"{PREFIX} p(?n) :- ?n = count {{ ?x : [?x, ex:p, ?y] }} .").rules)
    found = interchange_of(rules)
    (rows,) = {name for name in found.telling_apart if name.startswith(ROWS)}
    assert found.obstacle is None
    assert rows in {rule.head.name for rule in rules if isinstance(rule.head, PredicateAtom)}
