"""Set-at-a-time operators beside the plainest Python."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode

from livefacts.engine.embedded.recheck import id_tables
from livefacts.engine.embedded.recheck.column_values import NONE, Calculator
from livefacts.engine.embedded.recheck.id_tables import IdTable, distinct
from livefacts.model import values
from livefacts.model.facts import Symbol
from livefacts.store.terms.dictionary import Dictionary

Fact = tuple[int, ...]
XSD = "http://www.w3.org/2001/XMLSchema#"


def columns(facts: Sequence[Fact], width: int) -> list[NDArray[np.int32]]:
    return list(np.array(facts, np.int32).reshape(-1, width).T)


def draw_facts(seed: int, width: int, count: int = 300) -> list[Fact]:
    pick = random.Random(f"{seed} {width}")
    values = (0, 1, 2, 7, 2**30, 2**31 - 1, -1, -2)
    return [tuple(pick.choice(values) for _ in range(width)) for _ in range(count)]


@pytest.fixture(params=["mixed well", "mixed badly"])
def factors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys as they are, and keys that many different rows share."""
    if request.param == "mixed badly":
        monkeypatch.setattr(id_tables, "FACTORS", np.ones(64, np.uint64))


@pytest.mark.usefixtures("factors")
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_distinct_keeps_each_row_once(width: int) -> None:
    facts = draw_facts(1, width)
    found = list(zip(*(c.tolist() for c in distinct(columns(facts, width))), strict=True))
    assert sorted(found) == sorted(set(facts))


@pytest.mark.usefixtures("factors")
@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_a_join_finds_every_pair_once(
    width: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_tables, "MOST_AT_ONCE", at_once)
    facts, others = sorted(set(draw_facts(2, width))), draw_facts(3, width, 40)
    table = _filled(facts, width, pieces=5)
    for keys in ((), (0,), tuple(range(width)), tuple(range(1, width))):
        wanted = [columns(others, width)[key] for key in keys]
        found = [
            pair
            for left, rows in table.joined(keys, wanted, len(others), 10, 150)
            for pair in zip(left.tolist(), rows.tolist(), strict=True)
        ]
        expected = [
            (n, row)
            for n, other in enumerate(others)
            for row, fact in enumerate(facts)
            if 10 <= row < 150 and all(fact[key] == other[key] for key in keys)
        ]
        assert sorted(found) == sorted(expected)


@pytest.mark.usefixtures("factors")
def test_a_table_that_grew_in_pieces_finds_all_its_rows() -> None:
    facts = sorted(set(draw_facts(4, 3, 2_000)))
    table = _filled(facts, 3, pieces=17)
    assert table.find(columns(facts, 3)).tolist() == list(range(len(facts)))
    assert table.find(columns([(5, 5, 5)], 3)).tolist() == [-1]


def test_a_search_in_order_finds_the_same_as_one_out_of_order() -> None:
    keys = np.arange(0, 3 * id_tables.FEW, 3, dtype=np.uint64)
    wanted = (
        np.random.default_rng(1).integers(0, 3 * id_tables.FEW, 2 * id_tables.FEW).astype(np.uint64)
    )
    expected = np.searchsorted(keys, wanted)
    assert (id_tables._search(keys, wanted) == expected).all()


def _filled(facts: Sequence[Fact], width: int, pieces: int) -> IdTable:
    """A table that is looked into after each of some pieces has come."""
    table = IdTable(width)
    for part in np.array_split(np.array(facts, np.int32).reshape(-1, width), pieces):
        if len(part):
            table.append(list(part.T))
        table.find(columns(facts[:3], width))
    return table


TERMS = [
    *(
        Literal(str(n), datatype=NamedNode(XSD + "integer"))
        for n in (-(2**29), -3, 0, 2, 2**29 - 1)
    ),
    *(Literal(n, datatype=NamedNode(XSD + "integer")) for n in ("02", "536870912", "9" * 30)),
    *(Literal(n, datatype=NamedNode(XSD + "decimal")) for n in ("0.1", "2.0", "0")),
    *(Literal(n, datatype=NamedNode(XSD + "double")) for n in ("2.0E0", "NaN")),
    Literal("b"),
    Literal("a", language="en"),
    NamedNode("x:y"),
    Symbol("cup"),
]


def all_pairs(dictionary: Dictionary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    ids = np.array([dictionary.encode_one(term) for term in TERMS], np.int32)
    return np.repeat(ids, len(ids)), np.tile(ids, len(ids))


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">=", "is", "is not"])
def test_columns_compare_as_values_do(operator: str) -> None:
    dictionary = Dictionary()
    left, right = all_pairs(dictionary)
    found = Calculator(dictionary).compare(operator, left, right).tolist()
    assert found == [values.compare(operator, a, b) for a in TERMS for b in TERMS]


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_columns_compute_as_values_do(operator: str) -> None:
    dictionary = Dictionary()
    left, right = all_pairs(dictionary)
    found = Calculator(dictionary).compute(operator, left, right).tolist()
    terms = [None if each == NONE else dictionary.decode_one(each) for each in found]
    assert terms == [values.arithmetic(operator, a, b) for a in TERMS for b in TERMS]


def test_nothing_comes_of_a_missing_value() -> None:
    dictionary = Dictionary()
    calculator = Calculator(dictionary)
    one = np.array([dictionary.encode_one(Literal(1))], np.int32)
    none = np.array([NONE], np.int32)
    assert not calculator.compare("!=", one, none)[0]
    assert not calculator.compare("is not", one, none)[0]
    assert calculator.compute("+", none, one)[0] == NONE
    assert calculator.call("datatype", none)[0] == NONE
