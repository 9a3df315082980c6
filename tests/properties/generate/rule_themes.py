"""Themes: the shapes of rules that random drawing would hardly ever hit.

A theme is a few rules that belong together, with facts that make them fire: closures,
mutual recursion, bounded counting, the rules of RDF Schema over a schema with cycles.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pyoxigraph import NamedNode, Triple
from tests.properties.generate.vocabulary import (
    CLASSES,
    DOMAIN,
    NODE_PROPERTIES,
    RANGE,
    SUBCLASS,
    SUBPROPERTY,
    TYPE,
    VALUE_PROPERTIES,
    Vocabulary,
    integer,
)

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Negation,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Term

Theme = tuple[list[Rule], list[Triple | Fact]]
X, Y, Z, P, Q, C, D, N, M = map(Variable, "xyzpqcdnm")


def predicate(name: str, *arguments: Slot) -> PredicateAtom:
    return PredicateAtom(name, arguments)


def triple(subject: Slot, property: Slot, object: Slot) -> TripleAtom:
    return TripleAtom(subject, property, object)


def _binary(pick: random.Random) -> Callable[[Slot, Slot], Atom]:
    """A relation between nodes: a predicate or a property."""
    if pick.random() < 0.5:
        name = pick.choice(("near", "linked", "_pair"))
        return lambda a, b: PredicateAtom(name, (a, b))
    chosen = pick.choice(NODE_PROPERTIES)
    return lambda a, b: TripleAtom(a, chosen, b)


def ground(atom: Atom) -> Triple | Fact:
    """The fact that an atom without variables is."""
    if isinstance(atom, TripleAtom):
        return Triple(*atom.slots)  # type: ignore[arg-type]
    return Fact(atom.name, atom.arguments)  # type: ignore[arg-type]


def _edges(
    pick: random.Random, words: Vocabulary, relation: Callable[[Slot, Slot], Atom]
) -> list[Triple | Fact]:
    """A few edges between subjects; loops and cycles are likely."""
    nodes = words.subjects
    pairs = [(pick.choice(nodes), pick.choice(nodes)) for _ in range(pick.choice((3, 5, 7)))]
    return [ground(relation(a, b)) for a, b in pairs]


def transitive(pick: random.Random, words: Vocabulary) -> Theme:
    """p composed with p, over its own facts."""
    relation = _binary(pick)
    rule = Rule(relation(X, Z), (relation(X, Y), relation(Y, Z)))
    return [rule], _edges(pick, words, relation)


def reachable(pick: random.Random, words: Vocabulary) -> Theme:
    """The closure of one relation in another, linear on the left or on the right."""
    step, path = _binary(pick), _binary(pick)
    body = (step(X, Y), path(Y, Z)) if pick.random() < 0.5 else (path(X, Y), step(Y, Z))
    rules = [Rule(path(X, Y), (step(X, Y),)), Rule(path(X, Z), body)]
    return rules, _edges(pick, words, step)


def unreachable(pick: random.Random, words: Vocabulary) -> Theme:
    """Negation over a closure, and an aggregate over the negation."""
    rules, facts = reachable(pick, words)
    reach = rules[0].head
    assert reach is not None
    rules += [
        Rule(predicate("_node", X), (rules[0].body[0],)),
        Rule(
            predicate("apart", X, Y),
            (predicate("_node", X), predicate("_node", Y), Negation(reach)),
        ),
        Rule(
            predicate("lonely", X, N), (Aggregate(N, "count", (Y,), (predicate("apart", X, Y),)),)
        ),
        Rule(
            predicate("loneliest", M), (Aggregate(M, "max", (N, X), (predicate("lonely", X, N),)),)
        ),
    ]
    return rules, facts


def mutual(pick: random.Random, words: Vocabulary) -> Theme:
    """Even and odd numbers of steps."""
    step = _binary(pick)
    start = predicate("even", pick.choice(words.iris))
    rules = [
        Rule(predicate("odd", Y), (predicate("even", X), step(X, Y))),
        Rule(predicate("even", Y), (predicate("odd", X), step(X, Y))),
        Rule(predicate("both", X), (predicate("odd", X), predicate("even", X))),
    ]
    return rules, [*_edges(pick, words, step), ground(start)]


def same_generation(pick: random.Random, words: Vocabulary) -> Theme:
    """A rule with the recursive atom in the middle."""
    step = _binary(pick)
    rules = [
        Rule(predicate("same", X, X), (step(X, Y),)),
        Rule(
            predicate("same", X, Y),
            (step(X, P), predicate("same", P, Q), step(Y, Q)),
        ),
    ]
    return rules, _edges(pick, words, step)


def self_joins(pick: random.Random, words: Vocabulary) -> Theme:
    """Rows that join with themselves: the same relation two and three times in a body."""
    step = _binary(pick)
    rules = [
        Rule(predicate("two", X, Z), (step(X, Y), step(Y, Z))),
        Rule(predicate("three", X), (step(X, Y), step(Y, Z), step(Z, X))),
        Rule(predicate("loop", X), (step(X, X), step(X, X))),
        Rule(step(Y, X), (step(X, Y), step(Y, Z), Comparison(X, "!=", Z))),
    ]
    return pick.sample(rules, pick.choice((2, 3, 4))), _edges(pick, words, step)


def counting(pick: random.Random, words: Vocabulary) -> Theme:
    """Steps counted up to a bound, or down to one."""
    up = pick.random() < 0.5
    step = integer(pick.choice((1, 2)))
    bound = Comparison(M, "<=" if up else ">=", integer(7 if up else -7))
    moved = Comparison(M, "=", Arithmetic("+" if up else "-", N, step))
    if pick.random() < 0.5:
        rules = [Rule(predicate("count", M), (predicate("count", N), moved, bound))]
        return rules, [Fact("count", (integer(pick.choice((0, 1, 2))),))]
    relation = _binary(pick)
    rules = [
        Rule(predicate("depth", X, integer(0)), (relation(X, Y),)),
        Rule(predicate("depth", Y, M), (predicate("depth", X, N), relation(X, Y), moved, bound)),
        Rule(predicate("deepest", X, M), (Aggregate(M, "max", (N,), (predicate("depth", X, N),)),)),
    ]
    return rules, _edges(pick, words, relation)


SCHEMA_RULES = (
    Rule(triple(X, TYPE, C), (triple(P, DOMAIN, C), triple(X, P, Y))),
    Rule(triple(Y, TYPE, C), (triple(P, RANGE, C), triple(X, P, Y))),
    Rule(triple(P, SUBPROPERTY, Q), (triple(P, SUBPROPERTY, Z), triple(Z, SUBPROPERTY, Q))),
    Rule(triple(X, Q, Y), (triple(P, SUBPROPERTY, Q), triple(X, P, Y))),
    Rule(triple(X, TYPE, D), (triple(C, SUBCLASS, D), triple(X, TYPE, C))),
    Rule(triple(C, SUBCLASS, D), (triple(C, SUBCLASS, Z), triple(Z, SUBCLASS, D))),
)


def schema(pick: random.Random, words: Vocabulary) -> Theme:
    """Rules of RDF Schema over a small schema that may have cycles and bend itself."""
    rules = list(SCHEMA_RULES)
    if pick.random() < 0.3:
        rules = pick.sample(rules, pick.choice((3, 4, 5)))
    return rules, [*_schema_facts(pick), *_instances(pick, words)]


def _schema_facts(pick: random.Random) -> list[Triple | Fact]:
    own = (*NODE_PROPERTIES, *VALUE_PROPERTIES)
    bent = (TYPE, SUBCLASS, SUBPROPERTY, DOMAIN) if pick.random() < 0.3 else ()
    facts: list[Triple | Fact] = []
    for _ in range(pick.choice((2, 4, 6))):
        kind = pick.choice((SUBCLASS, SUBPROPERTY, DOMAIN, RANGE))
        if kind == SUBCLASS:
            facts.append(Triple(pick.choice(CLASSES), kind, pick.choice(CLASSES)))
        elif kind == SUBPROPERTY:
            left, right = pick.choice((*own, *bent)), pick.choice((*own, *bent))
            facts.append(Triple(left, kind, right))
        else:
            facts.append(Triple(pick.choice((*own, *bent)), kind, pick.choice(CLASSES)))
    return facts


def _instances(pick: random.Random, words: Vocabulary) -> list[Triple | Fact]:
    facts: list[Triple | Fact] = []
    for _ in range(pick.choice((3, 5, 8))):
        subject = pick.choice(words.subjects)
        property = pick.choice((TYPE, *NODE_PROPERTIES, *VALUE_PROPERTIES))
        object = object_for(property, pick, words)
        facts.append(ground(TripleAtom(subject, property, object)))
    return facts


def object_for(property: NamedNode, pick: random.Random, words: Vocabulary) -> Term:
    """A term of the kind that a property usually points at."""
    if property == TYPE:
        return pick.choice(CLASSES)
    if property in VALUE_PROPERTIES:
        return pick.choice(words.values)
    return pick.choice(words.subjects)


def generalized(pick: random.Random, words: Vocabulary) -> Theme:
    """Literals that become subjects, and nodes of any kind that become predicates."""
    value = pick.choice(VALUE_PROPERTIES)
    node = pick.choice(NODE_PROPERTIES)
    rules = [
        Rule(triple(Y, node, X), (triple(X, value, Y),)),
        Rule(triple(X, Y, X), (triple(X, node, Y),)),
        Rule(predicate("back", X), (triple(X, node, Y), triple(Y, value, X))),
        Rule(predicate("used", P), (triple(X, P, X),)),
    ]
    return rules, _instances(pick, words)


def subproperties_of_our_own(pick: random.Random, words: Vocabulary) -> Theme:
    """The predicate of a conclusion comes out of a fact; the relation is not RDF Schema's."""
    below = pick.choice(NODE_PROPERTIES)
    rules = [
        Rule(triple(X, Q, Y), (triple(X, P, Y), triple(P, below, Q))),
        Rule(predicate("told", P, N), (Aggregate(N, "count", (X, Y), (triple(X, P, Y),)),)),
    ]
    pairs = [pick.sample(NODE_PROPERTIES, 2) for _ in range(2)]
    return rules, [*(Triple(a, below, b) for a, b in pairs), *_instances(pick, words)]


def crowds(pick: random.Random, words: Vocabulary) -> Theme:
    """Constraints over the number of neighbours: of each node, and of all together."""
    relation = _binary(pick)
    each = Aggregate(N, "count", (X,), (relation(X, Y),))
    crowded = [Comparison(N, ">", integer(1))] if pick.random() < 0.5 else []
    rules = [
        Rule(None, (each, predicate("small", Y), *crowded)),
        Rule(
            None, (Aggregate(M, "count", (X, Y), (relation(X, Y),)), Comparison(M, ">", integer(3)))
        ),
        Rule(predicate("small", Y), (relation(X, Y), Comparison(X, "!=", Y))),
    ]
    return rules, _edges(pick, words, relation)


def projections(pick: random.Random, words: Vocabulary) -> Theme:
    """Aggregates that leave out a variable, over facts that differ in nothing else."""
    scores = (predicate("score", X, M, Y),)
    rules = [
        Rule(predicate("fans", Y, N), (Aggregate(N, "count", (X,), scores),)),
        Rule(predicate("worth", Y, N), (Aggregate(N, "sum", (M,), scores),)),
        Rule(predicate("mean", N), (Aggregate(N, "avg", (M, X), scores),)),
        Rule(predicate("least", X, N), (Aggregate(N, "min", (M, Y), scores),)),
    ]
    nodes, values = words.subjects[:2], pick.sample(words.values, 2)
    drawn = [(pick.choice(nodes), pick.choice(values), pick.choice(nodes)) for _ in range(6)]
    return pick.sample(rules, 3), [Fact("score", terms) for terms in drawn]


def sums_at_the_edges(pick: random.Random, words: Vocabulary) -> Theme:
    """Numbers whose sums, differences and products land where integers are stored otherwise."""
    edge = pick.choice((1, -1)) * 2 ** pick.choice((29, 30, 31, 53, 63)) + pick.choice((-1, 0, 1))
    part = pick.choice((1, -1, 2, edge // 2))
    operator = pick.choice(("+", "-", "*"))
    rules = [
        Rule(predicate("weight", N), (Aggregate(N, "sum", (M, X), (predicate("part", X, M),)),)),
        Rule(
            predicate("moved", X, Y, P),
            (
                predicate("part", X, N),
                predicate("part", Y, M),
                Comparison(P, "=", Arithmetic(operator, N, M)),
            ),
        ),
        Rule(predicate("heavy", X), (predicate("part", X, N), Comparison(N, ">=", integer(edge)))),
    ]
    first, second, *_ = words.iris
    values = ((first, edge - part), (second, part))
    return rules, [Fact("part", (node, integer(value))) for node, value in values]


def side_by_side(pick: random.Random, words: Vocabulary) -> Theme:
    """Parts that share no variable: asked for by the head or not, recursive, negated, in braces."""
    relation = _binary(pick)
    hot, cold = predicate("hot", X), predicate("cold", X)
    rules = [
        Rule(predicate("lit", X), (hot, relation(Y, Z), Comparison(Y, "!=", Z))),
        Rule(relation(X, X), (hot, relation(Y, Z), Negation(predicate("cold", Z)))),
        Rule(predicate("stormy"), (hot, relation(Y, Z), predicate("cold", P))),
        Rule(predicate("pair", X, Y), (hot, predicate("cold", Y), relation(Z, P), relation(Q, Q))),
        Rule(predicate("crowd", N), (Aggregate(N, "count", (X,), (cold, relation(Y, Z))),)),
        Rule(hot, (cold, predicate("lit", Y))),
    ]
    some = [ground(predicate(name, pick.choice(words.iris))) for name in ("hot", "cold", "cold")]
    return pick.sample(rules, 4), [*_edges(pick, words, relation)[: pick.choice((1, 3))], *some]


THEMES = (
    transitive,
    reachable,
    unreachable,
    mutual,
    same_generation,
    self_joins,
    counting,
    schema,
    schema,
    generalized,
    subproperties_of_our_own,
    sums_at_the_edges,
    crowds,
    projections,
    side_by_side,
)
