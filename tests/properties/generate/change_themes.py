"""Themes of change: rules that only a change can put to the test, with facts that come and go.

A circle of facts that runs through the schema and out again, a rule that negates one fact
twice, a negation of a value that is computed, a conclusion in several ways, a circle of rules
that runs past a negation and a count: added to random histories, because chance would hardly
ever draw them together with the changes that matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pyoxigraph import NamedNode, Triple
from tests.properties.generate.rule_themes import SCHEMA_RULES, Theme, ground, predicate, triple
from tests.properties.generate.vocabulary import (
    CLASSES,
    NODE_PROPERTIES,
    SUBPROPERTY,
    TYPE,
    Vocabulary,
    integer,
)

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Negation,
    Slot,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact

X, Y, N, M = map(Variable, "xynm")


def circle_through_the_schema(pick: random.Random, words: Vocabulary) -> Theme:
    """A property below another one, which other rules lead back to the first."""
    below, above = pick.sample(NODE_PROPERTIES, 2)
    rules = [
        *SCHEMA_RULES,
        Rule(predicate("near", X, Y), (triple(X, above, Y),)),
        Rule(triple(X, below, Y), (predicate("near", X, Y),)),
    ]
    nodes = words.subjects[:3]
    pairs = [(pick.choice(nodes), pick.choice((below, above)), pick.choice(nodes)) for _ in "12345"]
    edges = [Triple(below, SUBPROPERTY, above), Triple(above, SUBPROPERTY, below)]
    return rules, [*edges, *(Triple(*pair) for pair in pairs)]


def denied_twice(pick: random.Random, words: Vocabulary) -> Theme:
    """Two negated atoms that are one fact when their variables are the same."""
    rules = [
        Rule(
            predicate("free", X, Y),
            (predicate("near", X, Y), Negation(predicate("hot", X)), Negation(predicate("hot", Y))),
        ),
        Rule(
            predicate("lone", X),
            (
                predicate("near", X, Y),
                Negation(predicate("linked", Y, X)),
                Negation(predicate("linked", X, Y)),
            ),
        ),
    ]
    nodes = words.iris[:3]
    pairs = [(a, b) for a in nodes for b in nodes if a == b or pick.random() < 0.4]
    facts = [Fact(name, pair) for pair in pairs for name in ("near", "linked")]
    return rules, [*facts, *(Fact("hot", (node,)) for node in nodes)]


def gaps(pick: random.Random, words: Vocabulary) -> Theme:
    """The next number is missing: a negation of what is computed."""
    rules = [
        Rule(
            predicate("last", X, M),
            (
                predicate("reading", X, N),
                Comparison(M, "=", Arithmetic("+", N, integer(1))),
                Negation(predicate("reading", X, M)),
            ),
        )
    ]
    nodes = words.iris[:2]
    return rules, [Fact("reading", (node, integer(n))) for node in nodes for n in range(4)]


def several_ways(pick: random.Random, words: Vocabulary) -> Theme:
    """A conclusion by several rules, each with a negation, and what follows from it."""
    rules = [
        Rule(predicate("calm", X), (predicate("near", X, Y), Negation(predicate("hot", X)))),
        Rule(predicate("calm", X), (predicate("near", Y, X), Negation(predicate("hot", Y)))),
        Rule(predicate("calm", X), (predicate("near", X, X), Negation(predicate("cold", X)))),
        Rule(predicate("quiet", X), (predicate("calm", X), Negation(predicate("cold", X)))),
        Rule(predicate("quiet", X), (predicate("calm", X), predicate("near", X, Y))),
    ]
    nodes = words.iris[:3]
    pairs = [(a, b) for a in nodes for b in nodes if pick.random() < 0.6]
    marks = [Fact(name, (node,)) for node in nodes for name in ("hot", "cold")]
    return rules, [*marks, *(Fact("near", pair) for pair in pairs)]


def circles_past_a_check(pick: random.Random, words: Vocabulary) -> Theme:
    """Rules that negate or count something, each with another that closes a circle through it.

    When that one comes or goes, the rule with the check becomes recursive or ceases to be.
    """
    rules: list[Rule] = []
    facts: list[Triple | Fact] = []
    for start, end, denied in pick.sample(CIRCLES, 4):
        counted = (predicate("near", X, Y), denied(Y))
        few = Aggregate(N, "count", (Y,), counted), Comparison(N, "<", integer(2))
        check = (Negation(denied(X)),) if pick.random() < 0.7 else few
        way = (predicate("near", X, Y),) if pick.random() < 0.3 else ()
        rules += [Rule(end(X), (start(X), *check)), Rule(start(Y if way else X), (end(X), *way))]
        facts += [ground(atom(node)) for node in words.iris[:2] for atom in (start, denied)]
    pairs = [(a, b) for a in words.iris[:2] for b in words.iris[:3]]
    return rules, [*(Fact("near", pair) for pair in pick.sample(pairs, 3)), *facts]


def _said(name: str) -> Callable[[Slot], Atom]:
    return lambda node: predicate(name, node)


def _alone(name: str) -> Callable[[Slot], Atom]:
    return lambda node: predicate(name)


def _in_class(kind: NamedNode) -> Callable[[Slot], Atom]:
    return lambda node: triple(node, TYPE, kind)


CIRCLES = (
    (_said("free"), _said("calm"), _said("hot")),
    (_said("open"), _said("used"), _said("cold")),
    (_said("awake"), _in_class(CLASSES[0]), _in_class(CLASSES[1])),
    (_in_class(CLASSES[2]), _said("there"), _in_class(CLASSES[1])),
    tuple(map(_alone, ("idle", "alarm", "shut"))),
)
"""What a circle starts from, what it ends in, and what is checked on the way."""


TURNING_POINTS = (
    circle_through_the_schema,
    denied_twice,
    gaps,
    several_ways,
    circles_past_a_check,
    circles_past_a_check,
)
