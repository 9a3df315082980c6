"""Many tuples at once mean what they mean one by one."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

import livefacts as lf
from livefacts.errors import InputError
from livefacts.model.facts import Symbol
from livefacts.service.change.columns import encoded
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
    rows = encoded([("reading", f"s{n}", n) for n in range(MANY)], dictionary)
    assert rows is not None
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


def test_tuples_of_several_shapes_and_other_facts_are_left_to_others() -> None:
    facts = [("hot", f"s{n}") for n in range(MANY)]
    assert encoded([*facts, ("cold", "a", "b")], Dictionary()) is None
    assert encoded([*facts, lf.Fact("cold", ("a",))], Dictionary()) is None
    assert encoded(facts[:2], Dictionary()) is None
    assert encoded(iter(facts), Dictionary()) is None
