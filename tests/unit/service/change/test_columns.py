"""Many tuples at once mean what they mean one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

import livefacts as lf
from livefacts.errors import InputError
from livefacts.model.facts import Symbol
from livefacts.service.change.columns import encode_columns
from livefacts.store.terms.dictionary import Dictionary

MANY = 12


def asserted(facts: list[Any]) -> set[Any]:
    reasoner = lf.Reasoner()
    reasoner.add(facts)
    return set(reasoner)


def one_by_one(facts: list[Any]) -> set[Any]:
    reasoner = lf.Reasoner()
    for fact in facts:
        reasoner.add([fact])
    return set(reasoner)


@pytest.mark.parametrize(
    "fact",
    [
        lambda n: ("open",),
        lambda n: ("hot", "kitchen"),
        lambda n: ("reading", f"s{n}", n - 5),
        lambda n: ("größe", f"wärme{n}", "x"),
        lambda n: ("size", f"s{n}", "²" if n else "x"),
        lambda n: ("flag", n % 2 == 0),
        lambda n: ("far", n * 2**60),
        lambda n: ("mixed", n if n % 2 else "word"),
        lambda n: ("p", "a", "b", "c", n),
        lambda n: lf.Fact("reading", (Symbol(f"s{n}"), Literal(n))),
        lambda n: lf.Fact("seen", (NamedNode(f"http://e/{n}"), "here", n)),
        lambda n: lf.Fact("open", ()),
        lambda n: lf.Fact("mixed", (Literal(n) if n % 2 else Symbol("word"),)),
    ],
)
def test_many_tuples_are_what_they_are_one_by_one(fact: Any) -> None:
    facts = [fact(n) for n in range(MANY)]
    assert asserted(facts) == one_by_one(facts)


def test_tuples_of_one_shape_are_encoded_at_once() -> None:
    dictionary = Dictionary()
    (rows,), left = encode_columns([("reading", f"s{n}", n) for n in range(MANY)], dictionary)
    assert left == []
    assert rows[:, 2].tolist() == dictionary.encode(_numbers(MANY)).tolist()


def _numbers(count: int) -> list[Any]:
    facts = list(asserted([("n", n) for n in range(count)]))
    return sorted((fact.arguments[0] for fact in facts), key=lambda term: int(term.value))


@pytest.mark.parametrize(
    "wrong",
    [
        ("hot", "two words"),
        ("hot", ""),
        ("hot", "not"),
        ("hot", "it's"),
        ("9x", "a"),
        ("hot", None),
    ],
)
def test_a_mistake_among_many_is_named(wrong: tuple[Any, ...]) -> None:
    facts = [("hot", f"s{n}") for n in range(MANY)]
    with pytest.raises(InputError) as many:
        lf.Reasoner().add([*facts, wrong])
    with pytest.raises(InputError) as alone:
        lf.Reasoner().add([wrong])
    assert str(many.value) == str(alone.value)


def test_of_several_mistakes_the_first_is_named() -> None:
    facts: list[Any] = [("hot", f"s{n}") for n in range(MANY)]
    pairs = [("near", f"s{n}", n) for n in range(MANY)]
    with pytest.raises(InputError, match="two words"):
        lf.Reasoner().add([*facts, *pairs, ("near", "two words", 1), ("hot", None), ("9x",)])


def test_facts_of_several_shapes_are_encoded_shape_by_shape() -> None:
    facts: list[Any] = [("hot", f"s{n}") for n in range(MANY)]
    pairs = [lf.Fact("near", (f"s{n}", n if n % 2 else "x")) for n in range(MANY)]
    others = [("open",), (NamedNode("x:a"), NamedNode("x:b"), NamedNode("x:c"))]
    arrays, left = encode_columns([*facts, others[0], *pairs, others[1]], Dictionary())
    assert sorted(rows.shape for rows in arrays) == [(MANY, 2), (MANY, 3)]
    assert left == others


def test_what_does_not_fit_into_columns_is_left_to_others() -> None:
    facts = [("hot", f"s{n}") for n in range(MANY)]
    tuples = [(NamedNode("x:a"), NamedNode("x:b"), NamedNode(f"x:{n}")) for n in range(MANY)]
    floats = [("size", n / 2) for n in range(MANY)]
    for others in (facts[:2], iter(facts), tuples, floats, [()] * MANY, ("p", *facts)):
        arrays, left = encode_columns(others, Dictionary())
        assert not arrays
        assert left is others


def test_random_lists_mean_what_they_mean_one_by_one() -> None:
    for seed in range(40):
        pick = random.Random(f"columns {seed}")
        facts = [_drawn(pick) for _ in range(pick.choice((9, 20, 60)))]
        assert asserted(facts) == one_by_one(facts), facts


def _drawn(pick: random.Random) -> Any:
    """A fact of one of a few shapes, written in one of a few ways, mostly in the same."""
    name, width = pick.choice((("hot", 1), ("near", 2), ("near", 2), ("far", 2), ("open", 0)))
    values = [pick.choice(("a", "b", 3, 3, 2**60, True, Symbol("c"), Literal("x"), 0.5))] * width
    if pick.random() < 0.1:
        return tuple(NamedNode(f"x:{pick.choice('ab')}") for _ in "spo")
    return lf.Fact(name, tuple(values)) if pick.random() < 0.2 else (name, *values)


def test_facts_of_several_shapes_arrive_in_their_order() -> None:
    rules = "last(?x) :- sometime hot(?x) in [2 facts] . last(?x) :- sometime near(?x, ?y) in [2 facts] ."
    facts: list[Any] = [("hot", f"s{n}") if n % 3 else ("near", f"s{n}", n) for n in range(29)]
    reasoner = lf.Reasoner(rules)
    reasoner.push(facts, at=1)
    reasoner.advance(1)
    derived = sorted(str(fact) for fact in reasoner.facts(derived=True))
    assert derived == ["last(s27)", "last(s28)"]
