"""Things that follow to be the same, merged: until what that rests on goes."""

from __future__ import annotations

import numpy as np
import pytest
from pyoxigraph import NamedNode
from tests.unit.service.merging.test_merged_engine import PREFIXES, Pair

import livefacts as lf
from livefacts.service.merging import derived_equalities
from livefacts.service.merging.groups import Groups

pytestmark = pytest.mark.slow  # the rules of OWL, and what they mean checked after every change

PREFIX = "http://example.org/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
COUNT = 14
FUNCTIONAL = "ex:has a owl:FunctionalProperty ."
VALUES = "".join(f"ex:it ex:has ex:y{n} . ex:y{n} ex:q ex:z{n} ." for n in range(COUNT))


def proven(pair: Pair) -> int:
    count: int = pair.merging.stats()["equalities_merged_by_proof"]
    return count


@pytest.fixture
def pair() -> Pair:
    """Two reasoners that know of many values of a functional property."""
    pair = Pair()
    pair.add(FUNCTIONAL + VALUES)
    return pair


def test_many_values_of_a_functional_property_are_merged(pair: Pair) -> None:
    assert pair.groups == (1, COUNT)
    assert proven(pair) == COUNT - 1
    kept = sum(len(ids) for ids in pair.merging._state.engine.facts().values())
    assert kept < len(pair.merging) / 2


def test_few_are_left_to_the_rules() -> None:
    pair = Pair()
    pair.add(FUNCTIONAL + "ex:it ex:has ex:a , ex:b , ex:c , ex:d .")
    assert pair.groups == (0, 0)


@pytest.mark.parametrize("number", [0, 1, COUNT // 2, COUNT - 1])
def test_a_value_that_goes_leaves_the_group(pair: Pair, number: int) -> None:
    pair.remove(f"ex:it ex:has ex:y{number} .")
    assert proven(pair) <= COUNT - 2
    pair.add(f"ex:it ex:has ex:y{number} .")
    pair.add(f"ex:it ex:has ex:y{number} , ex:more .")


def test_without_the_axiom_nothing_is_the_same(pair: Pair) -> None:
    pair.remove(FUNCTIONAL)
    assert pair.groups == (0, 0)
    assert proven(pair) == 0
    pair.add(FUNCTIONAL)
    assert pair.groups == (1, COUNT)


def test_what_follows_for_another_reason_too_stays(pair: Pair) -> None:
    pair.add(
        "ex:gets a owl:FunctionalProperty ." + "".join(f"ex:it ex:gets ex:y{n} ." for n in range(5))
    )
    pair.remove(FUNCTIONAL)
    pair.remove("ex:it ex:gets ex:y3 .")


def test_equalities_that_rest_on_equalities_go_with_them() -> None:
    pair = Pair()
    pair.add(FUNCTIONAL + VALUES + "ex:gets a owl:FunctionalProperty .")
    pair.add("".join(f"ex:y{n} ex:gets ex:w{n} . ex:w{n} ex:r ex:v ." for n in range(COUNT)))
    assert pair.groups == (2, 2 * COUNT)
    before = proven(pair)
    pair.remove("ex:it ex:has ex:y3 .")
    assert proven(pair) < before - 2
    pair.remove(FUNCTIONAL)
    assert pair.groups == (0, 0)


def test_a_told_equality_and_one_that_follows_make_one_group(pair: Pair) -> None:
    pair.add("ex:y2 owl:sameAs ex:a . ex:a owl:sameAs ex:b .")
    assert pair.groups == (1, COUNT + 2)
    pair.remove("ex:it ex:has ex:y2 .")
    pair.remove("ex:y2 owl:sameAs ex:a .")


def test_what_is_told_in_a_named_graph_supports_too(pair: Pair) -> None:
    for reasoner in (pair.merging, pair.ruled):
        reasoner.update(
            "PREFIX ex: <http://example.org/> "
            "INSERT DATA { GRAPH ex:g { ex:it ex:has ex:y3 , ex:named } }"
        )
    pair.remove("ex:it ex:has ex:y3 .")
    assert pair.groups == (1, COUNT)
    for reasoner in (pair.merging, pair.ruled):
        reasoner.update("PREFIX ex: <http://example.org/> DELETE WHERE { GRAPH ex:g { ?s ?p ?o } }")
    pair.add("ex:a ex:q ex:b .")
    assert proven(pair) <= COUNT - 2


def test_a_preview_leaves_no_trace(pair: Pair) -> None:
    change = PREFIXES + "ex:it ex:has ex:y1 ."
    more = PREFIXES + "".join(f"ex:it ex:has ex:x{n} ." for n in range(COUNT))
    before = pair.merging.stats()
    for way in ("add", "remove"):
        text = more if way == "add" else change
        merged, ruled = (r.preview(**{way: text}) for r in (pair.merging, pair.ruled))
        assert sorted(map(str, merged.added)) == sorted(map(str, ruled.added))
        assert sorted(map(str, merged.removed)) == sorted(map(str, ruled.removed))
    assert pair.merging.stats()["equalities_merged_by_proof"] == proven(pair) == COUNT - 1
    assert pair.merging.stats()["facts"] == before["facts"]
    pair.remove("ex:it ex:has ex:y1 .")


def test_a_rule_that_goes_takes_its_equalities_along() -> None:
    rule = """
        @prefix ex: <http://example.org/> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @id one-colour  [?x, owl:sameAs, ?y] :- [?x, ex:colour, ?c], [?y, ex:colour, ?c], ?x != ?y .
    """
    pair = Pair(["owl-rl", rule])
    pair.add("".join(f"ex:x{n} ex:colour ex:red ." for n in range(COUNT)))
    assert pair.groups == (1, COUNT)
    pair.do(lambda r: r.remove_rules("one-colour"))
    assert pair.groups == (0, 0)
    pair.do(lambda r: r.add_rules(rule))
    assert pair.groups == (1, COUNT)


def test_what_follows_from_something_not_being_so_is_left_to_the_rules() -> None:
    rule = """
        @prefix ex: <http://example.org/> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        [?x, owl:sameAs, ?y] :- [?x, ex:in, ?c], [?y, ex:in, ?c], not open(?c), ?x != ?y .
    """
    pair = Pair(["owl-rl", rule])
    pair.add("".join(f"ex:x{n} ex:in ex:box ." for n in range(COUNT)))
    assert pair.groups == (0, 0)
    pair.do(lambda r: r.add([("open", NamedNode("http://example.org/box"))]))
    pair.do(lambda r: r.remove([("open", NamedNode("http://example.org/box"))]))


def test_an_equality_that_follows_is_explained_down_to_what_was_told(pair: Pair) -> None:
    proof = pair.merging.explain("ex:y1 owl:sameAs ex:y9").proof
    assert proof is not None
    assert proof.rule is not None
    assert proof.rule.id == "prp-fp"
    asserted = {str(step.fact) for step in proof.facts()}
    assert f"<{PREFIX}has> <{TYPE}> <http://www.w3.org/2002/07/owl#FunctionalProperty>" in asserted
    assert len(asserted) == 3


def test_a_refused_change_leaves_no_trace() -> None:
    constraint = "@prefix ex: <http://example.org/> .\n@id no-bad  false :- [?x, ex:bad, ?y] ."
    reasoner = lf.Reasoner(rules=["owl-rl", constraint], same_as="merge", on_violation="refuse")
    reasoner.add(PREFIXES + FUNCTIONAL + VALUES)
    before = set(map(str, reasoner))
    with pytest.raises(lf.ViolationError):
        reasoner.apply(
            remove=PREFIXES + "ex:it ex:has ex:y0 .", add=PREFIXES + "ex:a ex:bad ex:b ."
        )
    assert set(map(str, reasoner)) == before
    assert reasoner.verify()
    reasoner.remove(PREFIXES + "ex:it ex:has ex:y0 .")
    assert reasoner.stats()["merged_terms"] == COUNT - 1


def test_a_group_is_connected_by_a_chain() -> None:
    terms = range(5, 15)
    pairs = np.array([(x, y) for x in terms for y in terms if x != y], np.int32)
    found = {(min(pair), max(pair)) for pair in derived_equalities.spanning(pairs, Groups())}
    assert found == {(x, x + 1) for x in range(5, 14)}
