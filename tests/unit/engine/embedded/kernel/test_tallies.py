"""Tallies: what rules did is counted where there is room for it."""

from __future__ import annotations

from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary


def test_an_interpreter_has_room_for_the_rules_of_one_that_came_after_it() -> None:
    store, dictionary = RowStore(), Dictionary()
    first = Interpreter(store, dictionary)
    second = Interpreter(store, dictionary, first)
    for number in range(300):
        second.line_of(f"rule{number}")
    assert first.line_of("rule299") < len(first.tally)
    assert second.line_of("rule299") < len(second.tally)


def test_one_that_goes_on_counts_the_same_rules_in_the_same_lines() -> None:
    store, dictionary = RowStore(), Dictionary()
    first = Interpreter(store, dictionary)
    line = first.line_of("known")
    first.tally[line] = 1, 2, 3, 4
    second = Interpreter(store, dictionary, first)
    assert second.tallies()["known"].tolist() == [1, 2, 3, 4]
    second.tally[second.line_of("known")] = 9, 9, 9, 9
    assert first.tallies()["known"].tolist() == [1, 2, 3, 4]
