"""The interpreter: pausing and going on, undoing, limits, and questions about values."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pyoxigraph import Literal, NamedNode

import livefacts as lf
from livefacts.engine.embedded.kernel import id_arithmetic
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.kernel.value_memory import ARITHMETIC, COMPARISONS, ValueMemo
from livefacts.model import values
from livefacts.store.terms.dictionary import Dictionary

XSD = "http://www.w3.org/2001/XMLSchema#"
RULES = """
path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
both(?x, ?y) :- path(?x, ?y), path(?y, ?x), ?x != ?y .
far(?x, ?n) :- ?n = count { ?y : path(?x, ?y) }, not both(?x, ?x) .
[?x, a, ?d] :- [?x, a, ?c], [?c, rdfs:subClassOf, ?d] .
[?c, rdfs:subClassOf, ?e] :- [?c, rdfs:subClassOf, ?d], [?d, rdfs:subClassOf, ?e] .
"""
POSITIVE = "\n".join(line for line in RULES.splitlines() if "not" not in line)


class StopError(Exception):
    """Raised where a test wants a change to fail."""


def edges(seed: int, count: int = 14) -> list[tuple[Any, ...]]:
    pick = random.Random(seed)
    return [("path", pick.randrange(9), pick.randrange(9)) for _ in range(count)]


def snapshot(reasoner: lf.Reasoner) -> dict[int, list[Any]]:
    """Every stored row: flags, counters and terms."""
    store = reasoner._state.engine.store
    found = {}
    for shape, relation in store.relations.items():
        rows = store.with_flags(relation)
        texts = map(reasoner._state.dictionary.texts, store.columns(relation, rows))
        cells = store.cells(relation)[rows, :4].tolist()
        found[shape] = sorted(zip(cells, texts, strict=True))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_kernel_that_pauses_after_every_step_finds_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = lf.Reasoner(rules=RULES)
    whole.add(edges(seed))
    monkeypatch.setattr(Interpreter, "budget", 1)
    stepwise = lf.Reasoner(rules=RULES)
    stepwise.add(edges(seed))
    assert set(stepwise.facts()) == set(whole.facts())


@pytest.mark.parametrize("rules", [RULES, POSITIVE], ids=["recomputed", "followed"])
@pytest.mark.parametrize("seed", range(6))
def test_a_change_that_fails_anywhere_leaves_everything_as_it_was(
    rules: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasoner = lf.Reasoner(rules=rules)
    reasoner.add(edges(seed))
    reasoner.add(
        "@prefix x: <x:> . x:a a x:A . x:A <http://www.w3.org/2000/01/rdf-schema#subClassOf> x:B ."
    )
    before, length = snapshot(reasoner), len(reasoner)
    monkeypatch.setattr(Interpreter, "budget", 1)
    pick = random.Random(seed)
    for _ in range(10):
        _fail_after(reasoner, pick.randrange(60))
        with pytest.raises(StopError):
            reasoner.add(edges(seed + 100, 40))
        assert snapshot(reasoner) == before
        assert len(reasoner) == length
    reasoner._state.engine.on_progress = lambda made: None
    reasoner.add(edges(seed + 100, 40))
    fresh = lf.Reasoner(rules=rules)
    fresh.add(edges(seed) + edges(seed + 100, 40))
    fresh.add(
        "@prefix x: <x:> . x:a a x:A . x:A <http://www.w3.org/2000/01/rdf-schema#subClassOf> x:B ."
    )
    assert set(reasoner.facts()) == set(fresh.facts())


def _fail_after(reasoner: lf.Reasoner, pauses: int) -> None:
    left = [pauses]

    def stop(made: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StopError

    reasoner._state.engine.on_progress = stop


def test_a_failed_schema_change_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = "<x:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:B> ."
    reasoner = lf.Reasoner(rules="rdfs")
    reasoner.add("<x:a> a <x:A> . <x:a> <x:p> <x:b> .")
    before = snapshot(reasoner)
    _fail_after(reasoner, 0)
    with pytest.raises(StopError):
        reasoner.add(schema + " <x:c> a <x:A> .")
    assert snapshot(reasoner) == before
    reasoner._state.engine.on_progress = lambda made: None
    reasoner.add("<x:d> a <x:A> .")
    fresh = lf.Reasoner(rules="rdfs")
    fresh.add("<x:a> a <x:A> . <x:a> <x:p> <x:b> .")
    fresh.add("<x:d> a <x:A> .")
    assert snapshot(reasoner) == snapshot(fresh)
    reasoner.add(schema)
    fresh.add(schema)
    assert set(reasoner.facts()) == set(fresh.facts())


def test_passing_the_limit_undoes_the_change_and_says_so() -> None:
    reasoner = lf.Reasoner(rules="@limit 50 . n(?m) :- n(?k), ?m = ?k + 1 .")
    with pytest.raises(lf.LimitError, match="more than 50 facts"):
        reasoner.add([("n", 0)])
    assert len(reasoner) == 0


def test_a_change_within_the_limit_is_made_whole() -> None:
    reasoner = lf.Reasoner(rules="@limit 50 . n(?m) :- n(?k), ?m = ?k + 1, ?k < 40 .")
    reasoner.add([("n", 0)])
    assert len(reasoner) == 41


NUMBERS = [
    *(
        Literal(str(n), datatype=NamedNode(XSD + "integer"))
        for n in (-(2**29), -1, 0, 7, 2**29 - 1)
    ),
    *(Literal(n, datatype=NamedNode(XSD + "integer")) for n in ("01", "536870912", "9" * 30)),
    *(
        Literal(n, datatype=NamedNode(XSD + "decimal"))
        for n in ("0.1", "1.0", "7", "0.30000000000000001")
    ),
    *(
        Literal(n, datatype=NamedNode(XSD + "double"))
        for n in ("0.1", "1.0E0", "NaN", "INF", "3.0E-1")
    ),
    *(Literal(n, datatype=NamedNode(XSD + "float")) for n in ("0.1", "1.5")),
    Literal("b"),
    Literal("a", language="en"),
    Literal("true", datatype=NamedNode(XSD + "boolean")),
    NamedNode("x:y"),
]


def settled(kernel: Any, operator: int, left: int, right: int, answers: ValueMemo) -> int:
    """What the kernel says once its questions have been answered."""
    state, answer = np.zeros(code.STATE_FIELDS, np.int64), np.zeros(2, np.int64)
    while True:
        status = kernel(answers.memo, state, operator, left, right, answer)
        if status == code.DONE:
            return int(answer[0])
        if status == code.ASK_NUMBER:
            answers.answer_number(int(state[code.ASKED + 1]))
        else:
            answers.answer_pair(operator, left, right)


def test_the_kernel_compares_as_values_do() -> None:
    dictionary = Dictionary()
    answers = ValueMemo(dictionary)
    for left in NUMBERS:
        for right in NUMBERS:
            ids = dictionary.encode_one(left), dictionary.encode_one(right)
            for operator, sign in COMPARISONS.items():
                found = settled(id_arithmetic.compare, operator, *ids, answers)
                assert bool(found) == values.compare(sign, left, right), (left, sign, right)


def test_the_kernel_computes_as_values_do() -> None:
    dictionary = Dictionary()
    answers = ValueMemo(dictionary)
    for left in NUMBERS:
        for right in NUMBERS:
            ids = dictionary.encode_one(left), dictionary.encode_one(right)
            for operator, sign in ARITHMETIC.items():
                found = settled(id_arithmetic.compute, operator, *ids, answers)
                expected = values.arithmetic(sign, left, right)
                assert (None if found < 0 else dictionary.decode_one(found)) == expected


def test_answers_are_kept_however_many_there_are() -> None:
    dictionary = Dictionary()
    answers = ValueMemo(dictionary)
    terms = [Literal(str(n / 4), datatype=NamedNode(XSD + "decimal")) for n in range(400)]
    ids = [dictionary.encode_one(term) for term in terms]
    for left, right in pairwise(ids):
        assert settled(id_arithmetic.compare, code.LESS, left, right, answers) == 1
        assert settled(id_arithmetic.compute, code.ADD, left, right, answers) >= 0
    for left, right in pairwise(ids):
        assert settled(id_arithmetic.compare, code.MORE, left, right, answers) == 0


def test_a_table_finds_what_was_put_into_it() -> None:
    pick = random.Random(5)
    table = np.zeros((64, 3), np.int64)
    expected = {(pick.randrange(1, 2**40), pick.randrange(2**31)): n for n in range(30)}
    for (first, second), value in expected.items():
        table[code.place_entry(table, first, second)] = first, second, value
    for (first, second), value in expected.items():
        assert table[code.lookup_entry(table, first, second), 2] == value
    assert code.lookup_entry(table, 2**41, 0) == -1


def test_a_row_that_joins_with_itself_is_one_instance() -> None:
    reasoner = lf.Reasoner(rules="twice(?x, ?y) :- e(?x, ?y), e(?y, ?x) .")
    reasoner.add([("e", 1, 1)])
    assert reasoner._state.engine.derivations == 1


@pytest.mark.parametrize("first", [[], [("path", 1, 2)], [("path", 1, 2), ("path", 2, 1)]])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_undone_leaves_no_trace_whether_all_of_it_was_new_or_not(
    first: list[tuple[Any, ...]], seed: int
) -> None:
    """Rows of a shape go at once where the change has made all of them."""
    reasoner, never = lf.Reasoner(rules=RULES), lf.Reasoner(rules=RULES)
    for each in (reasoner, never):
        each.add(first)
        each.remove(first[1:])
    before = snapshot(reasoner)
    reasoner.preview(add=[*edges(seed), ("other", 1), ("other", 2)], remove=first)
    assert snapshot(reasoner) == before
    for each in (reasoner, never):
        each.add(edges(seed))
    assert reasoner.verify()
    assert set(reasoner.facts()) == set(never.facts())
