"""Two roads to values, the oracle's and the product's, on all terms of random programs."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tests.oracle import values as oracle
from tests.properties.generate.vocabulary import (
    BLANKS,
    INTEGER_EDGES,
    IRIS,
    OTHER_NUMBERS,
    OTHER_VALUES,
    SMALL_INTEGERS,
    SYMBOLS,
)

from livefacts.language.formula import AGGREGATES, ARITHMETIC, COMPARISONS
from livefacts.model import values as ours
from livefacts.model.running_totals import IN_RULES, aggregate

NUMBERS = (*SMALL_INTEGERS, *INTEGER_EDGES, *OTHER_NUMBERS)
TERMS = (*NUMBERS, *OTHER_VALUES, *IRIS[:2], *BLANKS, *SYMBOLS[:2])


@pytest.mark.parametrize("operator", COMPARISONS)
def test_both_roads_compare_alike(operator: str) -> None:
    for left, right in product(TERMS, TERMS):
        found, expected = ours.compare(operator, left, right), oracle.compare(operator, left, right)
        assert found == expected, f"{left} {operator} {right}"


@pytest.mark.parametrize("operator", ARITHMETIC)
def test_both_roads_compute_alike(operator: str) -> None:
    for left, right in product(TERMS, TERMS):
        found = ours.arithmetic(operator, left, right)
        assert found == oracle.arithmetic(operator, left, right), f"{left} {operator} {right}"


@pytest.mark.parametrize("function", AGGREGATES)
def test_both_roads_aggregate_alike(function: str) -> None:
    pick = random.Random(function)
    for size in (1, 2, 2, 3, 3, 4, 5) * 60:
        listed = zip(pick.sample(NUMBERS, size), pick.sample(NUMBERS, size), strict=True)
        tuples = [pair[: IN_RULES[function].values] for pair in listed]
        told = pick.choice(["0", "40", "100"]) if function == "percentile" else None
        given = tuples if len(tuples[0]) > 1 else [term for (term,) in tuples]
        found = aggregate(function, given, told)
        assert found == oracle.aggregate(function, tuples, told), f"{function} of {tuples}"
