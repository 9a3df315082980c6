"""Strata of programs that change: right whatever came and went before."""

from __future__ import annotations

import random

import pytest

from livefacts.errors import UnstratifiedError
from livefacts.language.checks import strata_change
from livefacts.language.checks.strata import Strata, body_atoms, pattern_of, stratify
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.program import Rule
from livefacts.syntax.rulelang.rule_parser import parse

PREFIX = "@prefix ex: <http://example/> .\n"
TERMS = ("ex:p", "ex:q", "ex:r", "?y")


@pytest.fixture(autouse=True)
def every_change_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata_change, "FEWEST_RULES", 0)
    monkeypatch.setattr(strata_change, "LARGEST_PART", 0)


def rules_of(text: str) -> tuple[Rule, ...]:
    return parse(PREFIX + text).rules


def some_rules(draw: random.Random, count: int) -> tuple[Rule, ...]:
    """Rules over few predicates and properties, so that they feed each other."""
    lines = []
    for _ in range(count):
        body = [_atom(draw), _atom(draw)]
        if draw.random() < 0.4:
            body.append("not " + _atom(draw, bound=True))
        lines.append(f"{_atom(draw, bound=True)} :- q0(?x, ?y), {', '.join(body)} .")
    return rules_of("\n".join(dict.fromkeys(lines)))


def _atom(draw: random.Random, bound: bool = False) -> str:
    if draw.random() < 0.5:
        return f"q{draw.randrange(1, 6)}(?x, ?y)"
    return f"[?x, {draw.choice(TERMS)}, {draw.choice(('?x', 'ex:a', 'ex:b'))}]"


def feeds(one: Rule, other: Rule) -> list[bool]:
    """For each atom of the other that a conclusion of the one may be: is all of it needed?"""
    assert one.head is not None
    head = pattern_of(one.head)
    return [
        whole
        for atom, whole in body_atoms(other.body)
        if (body := pattern_of(atom)).relation == head.relation
        and all(
            c is None or d is None or c == d
            for c, d in zip(head.constants, body.constants, strict=True)
        )
    ]


def assert_right(strata: Strata, rules: tuple[Rule, ...]) -> None:
    level = {rule: number for number, part in enumerate(strata.levels) for rule in part}
    part = {rule: number for number, rules in enumerate(strata.components) for rule in rules}
    assert set(level) == set(part) == set(rules)
    for one in rules:
        for other in rules:
            for whole in feeds(one, other):
                assert level[other] >= level[one] + whole
    exact = stratify(rules)
    for rule in rules:
        assert set(strata.recursive_atoms(rule)) >= set(exact.recursive_atoms(rule))
    for members in exact.components:
        assert len({part[rule] for rule in members}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(150))
def test_strata_are_right_after_every_change(seed: int) -> None:
    draw = random.Random(seed)
    every = some_rules(draw, 14)
    restratifier, known = Restratifier(), set(every[:4])
    for _ in range(25):
        known ^= set(draw.sample(every, draw.choice((1, 1, 1, 2, 3))))
        rules = tuple(rule for rule in every if rule in known)
        try:
            stratify(rules)
        except UnstratifiedError:
            with pytest.raises(UnstratifiedError):
                restratifier.strata(rules)
            continue
        assert_right(restratifier.strata(rules), rules)


def test_a_rule_that_feeds_nothing_fits_in_without_a_new_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = rules_of("p(?x) :- q(?x) .\nr(?x) :- q(?x), not p(?x) .\n")
    more = rules_of("s(?x) :- q(?x), not r(?x) .")
    restratifier = Restratifier()
    restratifier.strata(first)
    monkeypatch.setattr(strata_change, "stratify", None)
    assert restratifier.strata(first + more).levels == ((first[0],), (first[1],), more)
    assert restratifier.strata(first).levels == ((first[0],), (first[1],))


def test_a_rule_that_closes_a_circle_makes_others_recursive() -> None:
    first = rules_of("p(?x) :- q(?x) .\nr(?x) :- p(?x) .\n")
    circle = rules_of("q(?x) :- r(?x) .")
    restratifier = Restratifier()
    assert not restratifier.strata(first).is_recursive(first[0])
    assert restratifier.strata(first + circle).is_recursive(first[0])


def test_a_program_that_was_refused_leaves_no_trace() -> None:
    first = rules_of("p(?x) :- q(?x) .\nr(?x) :- p(?x) .\n")
    wrong = rules_of("q(?x) :- s(?x), not r(?x) .")
    restratifier = Restratifier()
    restratifier.strata(first)
    with pytest.raises(UnstratifiedError):
        restratifier.strata(first + wrong)
    more = rules_of("q(?x) :- s(?x) .")
    assert_right(restratifier.strata(first + more), first + more)
