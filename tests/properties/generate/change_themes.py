"""Themes of change: rules that only a change can put to the test, with facts that come and go.

A circle of facts that runs through the schema and out again, a rule that negates one fact
twice, a negation of a value that is computed, a conclusion in several ways: added to random histories, because chance
would hardly ever draw them together with the changes that matter.
"""

from __future__ import annotations

import random

from pyoxigraph import Triple
from tests.properties.generate.rule_themes import SCHEMA_RULES, Theme, predicate, triple
from tests.properties.generate.vocabulary import NODE_PROPERTIES, SUBPROPERTY, Vocabulary, integer

from livefacts.language.formula import Arithmetic, Comparison, Negation, Variable
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


TURNING_POINTS = (circle_through_the_schema, denied_twice, gaps, several_ways)
