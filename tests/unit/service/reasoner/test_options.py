"""Options that cannot have a value say so, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

import livefacts as lf


@pytest.mark.parametrize(
    "options",
    [
        {"limit": "x"},
        {"limit": -1},
        {"timeout": "5"},
        {"timeout": 0},
        {"memory": "1G"},
        {"memory": 0},
        {"maintenance": "foo"},
        {"on_violation": "foo"},
        {"same_as": "maybe"},
    ],
)
def test_an_option_that_is_none_is_refused_when_the_reasoner_is_made(
    options: dict[str, Any],
) -> None:
    [name] = options
    with pytest.raises(lf.OptionError, match=name):
        lf.Reasoner(**options)


@pytest.mark.parametrize("options", [{"timeout": "1"}, {"memory": "1G"}])
def test_a_bound_of_one_change_is_checked_before_it_is_made(options: dict[str, Any]) -> None:
    r = lf.Reasoner()
    with pytest.raises(lf.OptionError):
        r.apply(add="p(a) .", **options)
    assert len(r) == 0


def test_facts_of_a_predicate_are_not_what_derived_means() -> None:
    r = lf.Reasoner("q(?x) :- p(?x) .")
    r.add("p(a) .")
    with pytest.raises(lf.OptionError, match="derived='q'"):
        r.facts(derived="q")  # type: ignore[arg-type]
    with r.snapshot() as s, pytest.raises(lf.OptionError, match="derived='q'"):
        s.facts(derived="q")  # type: ignore[arg-type]


def test_an_error_of_a_callback_says_that_the_change_was_made() -> None:
    r = lf.Reasoner()
    r.watch("SELECT * { ?x ?p ?y }").on_change(lambda changes: 1 / 0)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError) as caught:
        r.add("<x:a> <x:b> <x:c> .")
    assert "has been made" in caught.value.__notes__[0]
    assert len(r) == 1
