"""Urbani et al.: DynamiTE, its worked example of removal and where counting goes wrong.

Fig. 4: T0 to T3 are told; T4 follows from T2 and from T3, T5 from T0 with T1 and from T4, and
T6 from T0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest
from tests.oracle import model
from tests.properties.compare.histories import stored

import livefacts as lf
from livefacts.store.facts.bits import ASSERTED

FIGURE_4 = """
    @id R1  t5 :- t0, t1 .
    @id R2  t4 :- t2 .
    @id R3  t4 :- t3 .
    @id R2b t5 :- t4 .
    @id R4  t6 :- t0 .
"""
FACTS = "t0 . t1 . t2 . t3 ."
WAYS = ("counting-dred", "dred", "counting", "recompute")
SAME_CLASS = """
    @prefix ex: <http://example.org/> .
    [?x, a, ?d] :- [?c, rdfs:subClassOf, ?d], [?x, a, ?c] .
"""
PREFIXES = """
    @prefix ex: <http://example.org/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
CIRCLE = PREFIXES + "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A ."
REFLEXIVE = PREFIXES + "ex:A rdfs:subClassOf ex:A ."


def counts(reasoner: lf.Reasoner) -> dict[str, int]:
    """The count of the paper: direct derivations, and one more for what is told."""
    found = {}
    for (_, (name, *_)), (flags, derivations, _) in stored(reasoner).items():
        if not name.startswith("_"):
            found[name] = derivations + bool(flags & ASSERTED)
    return found


def names(facts: Iterable[object]) -> set[str]:
    return {str(fact) for fact in facts}


class TestFigure4:
    """Section 5.2: counts before and after T0 is removed."""

    def test_counts_are_those_of_the_figure(self) -> None:
        reasoner = lf.Reasoner(FIGURE_4)
        reasoner.add(FACTS)
        expected = {"t0": 1, "t1": 1, "t2": 1, "t3": 1, "t4": 2, "t5": 2, "t6": 1}
        assert counts(reasoner) == expected

    def test_without_t0_the_count_of_t5_is_one_and_t6_is_gone(self) -> None:
        reasoner = lf.Reasoner(FIGURE_4)
        reasoner.add(FACTS)
        reasoner.remove("t0 .")
        assert counts(reasoner) == {"t1": 1, "t2": 1, "t3": 1, "t4": 2, "t5": 1}

    @pytest.mark.parametrize("maintenance", WAYS)
    def test_every_way_of_maintenance_removes_t0_and_t6_only(self, maintenance: str) -> None:
        reasoner = lf.Reasoner(FIGURE_4, maintenance=maintenance)
        reasoner.add(FACTS)
        delta = reasoner.remove("t0 .")
        assert names(delta.removed) == {"t0", "t6"}
        assert names(delta.added) == set()

    def test_a_fact_that_is_derived_twice_counts_once_for_what_follows_from_it(self) -> None:
        reasoner = lf.Reasoner(FIGURE_4)
        reasoner.add(FACTS)
        reasoner.remove("t2 .")
        assert (counts(reasoner)["t4"], counts(reasoner)["t5"]) == (1, 2)
        assert names(reasoner.remove("t3 .").removed) == {"t3", "t4"}
        assert counts(reasoner)["t5"] == 1


def test_delete_and_rederive_deletes_more_than_it_has_to_and_rederives_the_rest() -> None:
    """Section 5.1, in the terms of 5.2: T-delta is deleted, A-delta comes back, D-delta goes."""
    reasoner = lf.Reasoner(FIGURE_4)
    reasoner.add(FACTS)
    made = lf.maintenance_program(FIGURE_4)
    inputs = made.inputs(reasoner, reasoner.facts(derived=False), remove="t0 .")
    found = {name for name, _ in model(made.program, inputs)}
    assert {name for name in found if name.endswith("_del")} == {"t0_del", "t5_del", "t6_del"}
    assert {name for name in found if name.endswith("_red")} == {"t5_red"}
    assert {name for name in found if name.endswith("_minus")} == {"t0_minus", "t6_minus"}


def by_counting(
    asserted: set[str], reasons: Mapping[str, list[set[str]]], gone: str
) -> dict[str, int]:
    """The counts that are left by the algorithm as it is described, without any search for circles."""
    left = {fact: len(why) + (fact in asserted) for fact, why in reasons.items()}
    left[gone] -= 1
    waiting = [gone] if left[gone] == 0 else []
    for fact in waiting:
        for other, why in reasons.items():
            lost = sum(fact in premises for premises in why)
            left[other] -= lost
            if lost and left[other] == 0:
                waiting.append(other)
    return {fact: count for fact, count in left.items() if count}


class TestCountingOnCircles:
    """What the paper does not say: counting is wrong where facts hold up each other."""

    def test_counting_is_right_on_the_figure(self) -> None:
        reasons = {
            **{asserted: [] for asserted in ("t0", "t1", "t2", "t3")},
            "t4": [{"t2"}, {"t3"}],
            "t5": [{"t0", "t1"}, {"t4"}],
            "t6": [{"t0"}],
        }
        left = by_counting({"t0", "t1", "t2", "t3"}, reasons, "t0")
        assert left == {"t1": 1, "t2": 1, "t3": 1, "t4": 2, "t5": 1}

    def test_two_classes_below_each_other_keep_a_member_that_nobody_told(self) -> None:
        reasons = {"x:A": [{"x:B"}], "x:B": [{"x:A"}]}
        assert by_counting({"x:A"}, reasons, "x:A") == {"x:A": 1, "x:B": 1}

    def test_a_class_below_itself_does_so_too(self) -> None:
        assert by_counting({"x:A"}, {"x:A": [{"x:A"}]}, "x:A") == {"x:A": 1}

    @pytest.mark.parametrize("schema", [CIRCLE, REFLEXIVE])
    @pytest.mark.parametrize("rules", [SAME_CLASS, "rho-df", "rdfs"])
    @pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
    def test_the_reasoner_lets_go_of_both(self, maintenance: str, rules: str, schema: str) -> None:
        reasoner = lf.Reasoner(rules, maintenance=maintenance)
        reasoner.add(schema)
        before = set(reasoner)
        member = PREFIXES + "ex:x a ex:A ."
        assert reasoner.add(member).added
        reasoner.remove(member)
        assert set(reasoner) == before

    def test_counting_alone_is_refused_for_such_programs(self) -> None:
        with pytest.raises(lf.RuleError, match="recursive"):
            lf.Reasoner(SAME_CLASS, maintenance="counting")


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "recompute"])
def test_a_subproperty_can_be_removed_and_added_as_in_update_4(maintenance: str) -> None:
    """Section 6: one schema triple less takes every triple that needed it, and no other."""
    reasoner = lf.Reasoner("rho-df", maintenance=maintenance)
    text = """
        ex:headOf rdfs:subPropertyOf ex:worksFor . ex:worksFor rdfs:subPropertyOf ex:memberOf .
        ex:ann ex:headOf ex:dept . ex:ben ex:worksFor ex:dept . ex:cleo ex:headOf ex:lab .
        ex:cleo ex:memberOf ex:lab .
    """
    reasoner.add(PREFIXES + text)
    before = set(reasoner)
    one = PREFIXES + "ex:headOf rdfs:subPropertyOf ex:worksFor ."
    removed = reasoner.remove(one).removed
    ended = {" ".join(re.findall(r"(\w+)>", str(fact))[:2]) for fact in removed}
    assert ended == {
        "headOf subPropertyOf",
        "ann worksFor",
        "ann memberOf",
        "cleo worksFor",
    }
    reasoner.add(one)
    assert set(reasoner) == before
