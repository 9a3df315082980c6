"""Rules over time that are hardly meant as they are written: a warning, with place and hint."""

from __future__ import annotations

import warnings

import pytest

import livefacts as lf


def warnings_of(rules: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lf.Reasoner(rules=rules)
    return [str(each.message) for each in caught if each.category is lf.LivefactsWarning]


def test_always_over_a_conclusion_for_now_shows_the_rule_with_at() -> None:
    (warning,) = warnings_of(
        "warm(?x) :- sometime hot(?x) in [5] .\nalarm :- always warm(?x) in [2] ."
    )
    assert "what rule r1 concludes" in warning
    assert ":2:10" in warning
    assert "only at the first time point" in warning
    assert "at ?t warm(?x) :- at ?t hot(?x) in [5] ." in warning


def test_sometime_over_a_conclusion_for_now_does_not_look_back() -> None:
    (warning,) = warnings_of("warm(?t) :- hot(?t) .\nseen(?x) :- sometime warm(?x) in [3] .")
    assert "only now" in warning
    assert "at ?u warm(?t) :- at ?u hot(?t) in [3] ." in warning


def test_always_over_a_head_with_a_shorter_window_names_the_rule() -> None:
    (warning,) = warnings_of(
        "at ?t b(?x) :- at ?t a(?x) in [1] .\ny(?x) :- always b(?x) in [2] .\nx(?x) :- always b(?x) in [1] ."
    )
    assert "near the first time point only" in warning
    assert "give rule r1 the window" in warning
    assert ":2:10" in warning


def test_at_over_background_finds_it_at_every_time_point() -> None:
    (warning,) = warnings_of("road(r, z) .\nz(?t) :- at ?t road(r, z) in [1] .")
    assert "at every time point of its window" in warning


@pytest.mark.parametrize(
    "rules",
    [
        "at ?t warm(?x) :- at ?t hot(?x) in [5] .\nalarm :- always warm(?x) in [5] .",
        "warm(?x) :- sometime hot(?x) in [5] .\nalarm :- always warm(?x) in [0] .",
        "road(r, z) .\nnear(?x) :- sometime at_(?x, ?r) in [2], road(?r, ?y) .",
        "warm(?x) :- hot(?x) .",
    ],
)
def test_rules_that_are_meant_as_they_are_written_have_none(rules: str) -> None:
    assert warnings_of(rules) == []


def test_a_doubt_is_told_once() -> None:
    with pytest.warns(lf.LivefactsWarning):
        reasoner = lf.Reasoner(rules="b :- a .\nc :- sometime b in [2] .")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reasoner.add_rules("d :- sometime a in [4] .")
