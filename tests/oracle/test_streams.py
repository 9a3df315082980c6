"""The oracle of streams, on the worked examples of the definition."""

from __future__ import annotations

import pytest
from tests.oracle.examples import DECLARED, EXAMPLES, Example
from tests.oracle.streams import visible


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_conclusions_are_those_of_the_table(example: Example) -> None:
    program = example.program()
    for now, expected in example.table().items():
        output = example.timeline(now).model(program, now).output
        assert visible(output) == expected, f"at {now}"


@pytest.mark.parametrize("example", DECLARED, ids=lambda example: example.name)
def test_what_holds_is_what_the_table_says(example: Example) -> None:
    program = example.program()
    for now, expected in example.table().items():
        assert example.timeline(now).model(program, now).facts == expected, f"at {now}"
