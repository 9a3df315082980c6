"""What a constraint finds in several orders is one violation: random constraints and changes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle import matches_in, model, violations

import livefacts as lf
from livefacts.syntax.rule_sets import open_rules

EX = "http://example.org/"
PREFIX = f"@prefix ex: <{EX}> .\n"
TURN = "@id turn [?y, ex:q, ?x] :- [?x, ex:q, ?y] ."
THINGS = [NamedNode(EX + name) for name in "abc"]
NAN = Literal("NaN", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#double"))
VALUES = [Literal(1), Literal(2), Literal("x"), NAN]
LINKS = ("[?{0}, ex:p, ?{1}]", "[?{0}, ex:q, ?{1}]", "[?{0}, ex:v, ?{0}v]", "[?{0}, ex:v, ?w]")
CYCLES = ({"x": "y", "y": "x", "z": "z"}, {"x": "y", "y": "z", "z": "x"})


def draw_constraint(pick: random.Random) -> str:
    """A constraint that often reads the same with variables exchanged."""
    turn = pick.choice(CYCLES)
    parts: dict[str, None] = {}
    for _ in range(pick.choice((1, 2, 2))):
        shape, x, y = pick.choice(LINKS), pick.choice("xyz"), pick.choice("xyz")
        for _ in range(pick.choice((1, 2, 3, 3))):
            parts.setdefault(shape.format(x, y))
            x, y = turn[x], turn[y]
    names = sorted({slot.strip("[] ?") for part in parts for slot in part.split(",")[::2]})
    if len(names) > 1 and pick.random() < 0.7:
        first, second = pick.sample(names, 2)
        parts.setdefault(f"?{first} != ?{second}")
        if pick.random() < 0.4:
            parts.setdefault(f"?{first} = ?{first}")
    return f"@id wrong false :- {', '.join(parts)} ."


def draw_facts(pick: random.Random) -> list[Triple]:
    """A few facts about a few things."""
    found = []
    for _ in range(6):
        name = pick.choice("pqv")
        value = pick.choice(VALUES if name == "v" else THINGS)
        found.append(Triple(pick.choice(THINGS), NamedNode(EX + name), value))
    return found


def seen(found: Any) -> set[Any]:
    """Violations as a set, of which each was listed once."""
    listed = [(each.constraint, frozenset(each.bindings.items())) for each in found]
    assert len(listed) == len(set(listed))
    return set(listed)


def follow(seed: int) -> int:
    """Change facts and rules at random; how many violations were left out."""
    pick = random.Random(f"mirrors {seed}")
    constraint, rules = PREFIX + draw_constraint(pick), PREFIX + TURN
    reasoner, asserted = lf.Reasoner(rules=constraint), set[Triple]()
    program, turned, mirrored = open_rules(constraint), False, 0
    before: set[Any] = set()
    for _ in range(6):
        added, removed = (
            draw_facts(pick),
            pick.sample(sorted(asserted, key=str), len(asserted) // 3),
        )
        if pick.random() < 0.3:
            turned = not turned
            change = {"add_rules": rules} if turned else {"remove_rules": "turn"}
            program = open_rules([constraint, rules] if turned else constraint)
        else:
            change = {}
        asserted = (asserted - set(removed)) | set(added)
        after = violations(program, asserted)
        for apply in (reasoner.preview, reasoner.apply):
            delta = apply(add=added, remove=removed, **change)
            assert seen(delta.violations) == after - before
            assert seen(delta.resolved) == before - after
        assert seen(reasoner.violations()) == after
        before = after
        mirrored += len(matches_in(model(program, asserted), program)) - len(after)
    return mirrored


def test_what_is_wrong_in_several_orders_is_listed_once() -> None:
    assert sum(map(follow, range(40))) > 100


@pytest.mark.thorough
def test_what_is_wrong_in_several_orders_is_listed_once_in_many_worlds() -> None:
    assert sum(map(follow, range(100, 1100))) > 1000


def test_a_contradiction_of_different_values_is_one() -> None:
    reasoner = lf.Reasoner(rules="false :- age(?x, ?y), age(?x, ?z), ?y != ?z .")
    (violation,) = reasoner.add("age(ann, 7) . age(ann, 8) .").violations
    assert [str(term) for term in violation.bindings.values()][1:] == [
        str(Literal(7)),
        str(Literal(8)),
    ]
