"""Existence tests: a part of a body that nothing else needs is only asked whether it holds.

In `late(?x) :- train(?x), storm(?s), over(?s, ?r)` no variable ties the storm to the train:
every train is late, or none is.  Joined, each storm would be one more instance of the rule for
each train.  So such a part becomes a rule of its own, whose head has no arguments:

    _exists:storm(?0), over(?0, ?1) :- storm(?s), over(?s, ?r) .
    late(?x) :- _exists:storm(?0), over(?0, ?1), train(?x) .

Its matches are counted once, and the rule has one instance for each train.  A part that reads
what the rule concludes is recursive together with it, and one that negates stands as high.
Parts with variables of the head are a product that is meant: all parts of a constraint are,
for violations list every variable.

A test is named after what it asks, for rules that are made for axioms share their ids.  A rule
that follows single triples stays as it is: the closed schema asks each part once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from livefacts.language.formula import Formula, PredicateAtom, TripleAtom, Variable, variables_of
from livefacts.language.program import Rule
from livefacts.plan.rules.plan_text import written
from livefacts.plan.rules.schema_split import follows_single_triples

EXISTS = "_exists:"
Part = tuple[Formula, ...]


def tested(rule: Rule) -> Iterator[Rule]:
    """A rule with tests in the place of parts, after the rules of its tests.

    >>> x, y = Variable("x"), Variable("y")
    >>> train, storm = PredicateAtom("train", (x,)), PredicateAtom("storm", (y,))
    >>> for each in tested(Rule(PredicateAtom("late", (x,)), (train, storm))):
    ...     print(written(each.head), "if", *map(written, each.body))
    _exists:storm(?0) if storm(?y)
    late(?x) if _exists:storm(?0) train(?x)
    """
    assert rule.head is not None, "a rule in normal form has a head"
    parts = _tied_parts(rule.body)
    wanted = set(variables_of(rule.head))
    asked = [part for part in parts if wanted.isdisjoint(_variables(part))]
    if len(parts) < 2 or not asked or follows_single_triples(rule):
        yield rule
        return
    tests = {_test_of(part): part for part in asked}
    yield from (replace(rule, head=test, body=part) for test, part in tests.items())
    gone = {id(formula) for part in asked for formula in part}
    rest = (formula for formula in rule.body if id(formula) not in gone)
    yield replace(rule, body=(*tests, *rest))


def _tied_parts(body: Part) -> list[Part]:
    """The parts of a body whose variables are tied together, and that facts have to match."""
    tied: list[set[Variable]] = []
    for formula in body:
        variables = set(variables_of(formula))
        met = [other for other in tied if not other.isdisjoint(variables)]
        if variables:
            tied = [*(each for each in tied if each not in met), variables.union(*met)]
    parts = [tuple(f for f in body if not each.isdisjoint(variables_of(f))) for each in tied]
    return [part for part in parts if any(isinstance(f, TripleAtom | PredicateAtom) for f in part)]


def _variables(part: Part) -> Iterator[Variable]:
    return (variable for formula in part for variable in variables_of(formula))


def _test_of(part: Part) -> PredicateAtom:
    formulas = Rule(None, part).key().body
    return PredicateAtom(EXISTS + ", ".join(map(written, formulas)), (), part[0].place)
