"""Second opinions: clingo on plain programs, owlrl on RDF Schema.

The oracle and the engines could share a misunderstanding; these two were written by others.
"""

from __future__ import annotations

import clingo
import pytest
from tests.conformance.answer_sets import UntranslatableError, clingo_model
from tests.oracle import model
from tests.properties.cases import Case
from tests.properties.programs import draw_case

SEEDS = range(150)


def _translated(case: Case) -> set[clingo.Symbol] | None:
    try:
        return clingo_model(case.program(), case.facts)
    except UntranslatableError:
        return None


@pytest.mark.parametrize("chunk", range(5))
def test_clingo_and_the_oracle_find_the_same_model(chunk: int) -> None:
    compared = 0
    for seed in SEEDS[chunk::5]:
        case = draw_case(seed, plain=True)
        found = _translated(case)
        if found is not None:
            compared += 1
            assert found == model(case.program(), case.facts), str(case)
    assert compared >= 20
