"""Numbers of any length: queries and watches compute and compare them as Python does."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import livefacts as lf
from livefacts.model.namespaces import XSD
from livefacts.service.queries.results import Rows

NUMBERS = [0, 1, -7, 2**31, -(2**62), 2**63 - 1, -(2**63), 2**63, 10**20, -(10**30)]
SUBJECT, VALUES = NamedNode("x:s"), [NamedNode("x:a"), NamedNode("x:b")]
CALCULATIONS, COMPARISONS = ["+", "-", "*"], ["<", "<=", ">", ">=", "=", "!="]


def written(rng: random.Random, depth: int) -> str:
    if not depth or rng.random() < 0.2:
        return rng.choice(["?a", "?b", "3", "9223372036854775808"])
    left, right = written(rng, depth - 1), written(rng, depth - 1)
    return f"({left} {rng.choice(CALCULATIONS)} {right})"


def computed(text: str, a: int, b: int) -> int:
    python = text.replace("?a", f"({a})").replace("?b", f"({b})")
    return int(eval(python.replace(" = ", " == ")))


@pytest.mark.parametrize("seed", range(12))
def test_calculations_and_comparisons_are_exact_whatever_the_length(seed: int) -> None:
    rng = random.Random(seed)
    a, b = rng.choice(NUMBERS), rng.choice(NUMBERS)
    r = lf.Reasoner()
    r.add(
        [
            Triple(SUBJECT, p, Literal(str(n), datatype=NamedNode(XSD + "integer")))
            for p, n in zip(VALUES, (a, b), strict=True)
        ]
    )
    value = written(rng, 3)
    truth = f"{written(rng, 2)} {rng.choice(COMPARISONS)} {written(rng, 2)}"
    text = f"""SELECT (COALESCE({value}, "error") AS ?value) (IF({truth}, 1, 0) AS ?truth)
        (STRLEN(STR({value})) AS ?length)
        {{ ?s <x:a> ?a ; <x:b> ?b FILTER(isNUMERIC({value}) && {value} IN (0.5, {value})) }}"""
    expected = computed(value, a, b)
    for result in (r.query(text), r.watch(text).answers()):
        assert isinstance(result, Rows)
        assert [int(term.value) for term in result[0]] == [  # type: ignore[union-attr]
            expected,
            computed(truth, a, b),
            len(str(expected)),
        ]


LARGE = {
    "?n + 0.5e0": "100000000000000000000000000000",
    "?n * 2.0": "200000000000000000000000000002",
    "1.0e29 / ?n": "1",
    "?n > 1.0e20": "true",
    "?n < 1.0e40": "true",
    "?n = 1.0e29": "true",
    "?n IN (2, 1.0e29)": "true",
    "ABS(-?n)": "100000000000000000000000000001",
    "CEIL(?n)": "100000000000000000000000000001",
    "FLOOR(-?n - 0.5)": "-100000000000000000000000000002",
    "ROUND(?n + 0.5)": "100000000000000000000000000002",
    "ABS(?n) + 1.0e0 > ?n / 2": "true",
    "xsd:decimal(?n) + 0.25": "100000000000000000000000000001.25",
    "xsd:double(?n) / 1.0e29": "1",
    "xsd:float(?n)": "100000000000000000000000000000",
    "xsd:integer(?n + 0.5)": "100000000000000000000000000001",
    "isNUMERIC(ABS(?n))": "true",
    "COALESCE(ABS(STR(?n)), 'no number')": "no number",
}


@pytest.mark.parametrize("expression", LARGE)
def test_large_numbers_go_with_doubles_and_functions(expression: str) -> None:
    r = lf.Reasoner()
    r.add(f"<x:s> <x:n> {10**29 + 1} .")
    text = f"SELECT ({expression} AS ?value) {{ ?s <x:n> ?n }}"
    for result in (r.query(text), r.watch(text).answers()):
        assert [term.value for (term,) in result] == [LARGE[expression]]


@pytest.mark.parametrize("way", ["ASC", "DESC"])
def test_large_numbers_have_their_place_in_an_order(way: str) -> None:
    numbers = [-(10**30) - 1, -(10**30), -2.5, 7, 10**30, 10**30 + 1, 10**31]
    r = lf.Reasoner()
    r.add(" ".join(f"<x:{at}> <x:n> {number} ." for at, number in enumerate(numbers)))
    text = f"SELECT ?s {{ ?s <x:n> ?n }} ORDER BY {way}(?n)"
    places = [f"x:{at}" for at in range(len(numbers))][:: 1 if way == "ASC" else -1]
    for result in (r.query(text), r.watch(text).answers()):
        assert [thing.value for (thing,) in result] == places
