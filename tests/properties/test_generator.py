"""The random programs bite: most derive something, and every feature is among them."""

from __future__ import annotations

from tests.properties.coverage import too_low
from tests.properties.coverage.cases import shares
from tests.properties.coverage.histories import shares as shares_of_changes
from tests.properties.generate.cases import shrink
from tests.properties.generate.histories import draw_history, smaller
from tests.properties.generate.programs import draw_case

LEAST = {
    "derives something": 0.7,
    "derives five or more": 0.5,
    "recursion": 0.4,
    "recursion through others": 0.2,
    "negation": 0.25,
    "strata: 3": 0.1,
    "aggregates": 0.25,
    "constants": 0.2,
    "repeated variables": 0.3,
    "variable predicates": 0.2,
    "class constants": 0.3,
    "comparisons": 0.2,
    "constraints": 0.1,
    "violations": 0.05,
    "generalized triples": 0.05,
    "hidden predicates": 0.2,
    "late rules": 0.1,
    "parts that are only asked for": 0.4,
    "steps: several": 0.5,
    **{f"arity {n}": 0.1 for n in range(4)},
    **{f"arithmetic {operator}": 0.02 for operator in "+-*/"},
    **dict.fromkeys(("count", "sum", "min", "max", "avg"), 0.02),
}

LEAST_OF_CHANGES = {
    "removals: reach a conclusion": 0.4,
    "removals: rederive": 0.2,
    "removals: rederive by recursion alone": 0.08,
    "removals: end a circle": 0.08,
    "removals: make something true": 0.07,
    "removals: still told in another graph": 0.05,
    "rule changes: reach a conclusion": 0.4,
    "rule changes: with facts": 0.25,
    "rule changes: make others recursive": 0.04,
    "rule changes: make others recursive whose negations turn": 0.005,
    "rule changes: end the recursion of others": 0.04,
    "rule changes: end the recursion of others whose negations turn": 0.005,
    "rule changes: the last rule of a head goes": 0.2,
    "rule changes": 0.12,
    "a rule changes into itself": 0.02,
    "an addition ends something": 0.015,
    "the last match of a part goes": 0.012,
    "the first match of a part comes": 0.018,
    "violations come": 0.02,
    "violations go": 0.015,
    "a triple leaves a named graph": 0.05,
    "idle facts": 0.05,
    "follow single triples": 0.1,
    "the schema loses an edge": 0.03,
}


def test_enough_random_cases_have_every_feature() -> None:
    found = shares(draw_case(seed) for seed in range(300))
    assert not too_low(found, LEAST)


def test_enough_random_changes_have_every_effect() -> None:
    found = shares_of_changes(draw_history(seed, steps=40, graphs=True) for seed in range(50))
    assert not too_low(found, LEAST_OF_CHANGES)


def test_the_same_seed_gives_the_same_case() -> None:
    assert str(draw_case(7)) == str(draw_case(7))


def test_the_same_seed_gives_the_same_history() -> None:
    assert draw_history(7) == draw_history(7)


def test_shrinking_keeps_only_what_a_failure_needs() -> None:
    case = draw_case(3)
    needed = case.facts[-1]
    small = shrink(case, lambda other: needed in other.facts)
    assert small.facts == (needed,)
    assert small.rules == ()


def test_shrinking_a_history_keeps_only_the_change_that_a_failure_needs() -> None:
    history = draw_history(3, steps=50)
    needed = next(iter(history.changes[0].added))
    small = shrink(history, lambda h: any(needed in c.added for c in h.changes), smaller)
    assert [(change.added, change.removed) for change in small.changes] == [({needed}, set())]
    assert small.start == ()
