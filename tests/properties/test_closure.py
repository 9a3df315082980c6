"""Random programs: after every step the reasoner shows what the oracle computes from scratch."""

from __future__ import annotations

import pytest
from tests.properties.compare.cases import differences, report
from tests.properties.generate.programs import draw_case
from tests.properties.generate.seeds import chunks

CASES, CHUNKS = 800, 40


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 8))
def test_the_reasoner_agrees_with_the_oracle(chunk: int) -> None:
    for seed in range(chunk, CASES, CHUNKS):
        case = draw_case(seed)
        found = differences(case)
        if found:
            pytest.fail(report(case, found), pytrace=False)
