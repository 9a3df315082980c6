"""Patches through the reasoner: what is true, what was told, and the road to another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode, Quad, Triple

import livefacts as lf

S, P, X, G = (NamedNode(f"x:{name}") for name in "spog")
RULES = "q(?x) :- p(?x) .\nq(?x) :- r(?x) .\n"


def lines(patch: str) -> list[str]:
    return [line for line in patch.splitlines() if line[0] in "AD"]


def asserted(reasoner: lf.Reasoner) -> list[str]:
    return sorted(map(str, reasoner.facts(derived=False)))


class TestWriting:
    def test_a_patch_has_what_became_true_and_what_ended(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        reasoner.add("p(a) .")
        delta = reasoner.apply(add="r(b) .", remove="p(a) .")
        assert sorted(lines(delta.to_patch())) == ["A q(b) .", "A r(b) .", "D p(a) .", "D q(a) ."]
        assert delta.to_patch().startswith('H id "2" .\nTX .\nD ')
        assert delta.to_patch().endswith("TC .\n")

    def test_asserted_it_has_what_was_told_and_untold(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        assert lines(reasoner.add("p(a) .").to_patch(asserted=True)) == ["A p(a) ."]
        assert lines(reasoner.remove("p(a) .").to_patch(asserted=True)) == ["D p(a) ."]

    def test_telling_a_conclusion_and_taking_that_back_is_in_the_asserted_patch(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        reasoner.add("p(a) .")
        delta = reasoner.add("q(a) . q(a) .")
        assert not delta
        assert lines(delta.to_patch(asserted=True)) == ["A q(a) ."]
        assert delta.counts["asserted"] == 1
        delta = reasoner.remove("q(a) .")
        assert not delta
        assert lines(delta.to_patch(asserted=True)) == ["D q(a) ."]
        assert delta.counts["retracted"] == 1

    def test_what_is_untold_and_told_in_one_change_is_in_no_patch(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        reasoner.add("p(a) .")
        delta = reasoner.apply(add="p(a) .", remove="p(a) .")
        assert lines(delta.to_patch(asserted=True)) == []
        assert delta.counts["asserted"] == delta.counts["retracted"] == 0

    def test_hidden_predicates_are_in_the_asserted_patch_only(self) -> None:
        delta = lf.Reasoner(rules="q(?x) :- _p(?x) .").add("_p(a) .")
        assert lines(delta.to_patch()) == ["A q(a) ."]
        assert lines(delta.to_patch(asserted=True)) == ["A _p(a) ."]

    def test_named_graphs_are_in_the_asserted_patch(self) -> None:
        reasoner = lf.Reasoner()
        delta = reasoner.add([Quad(S, P, X, G), Triple(S, P, X)])
        assert sorted(lines(delta.to_patch(asserted=True))) == [
            "A <x:s> <x:p> <x:o> .",
            "A <x:s> <x:p> <x:o> <x:g> .",
        ]
        delta = reasoner.remove(Quad(S, P, X, G))
        assert lines(delta.to_patch(asserted=True)) == ["D <x:s> <x:p> <x:o> <x:g> ."]
        assert lines(delta.to_patch()) == []

    def test_counts_tell_derived_facts_from_asserted_ones(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        assert reasoner.add("p(a) . r(b) .").counts == {
            "added": 4,
            "removed": 0,
            "derived": 2,
            "derived_removed": 0,
            "asserted": 2,
            "retracted": 0,
            "told": 2,
            "untold": 0,
            "rejected": 0,
        }
        gone = reasoner.apply(remove="p(a) . r(b) .", add="q(b) .").counts
        assert (gone["removed"], gone["derived_removed"]) == (3, 1)
        assert (gone["asserted"], gone["retracted"]) == (1, 2)


class TestApplying:
    def test_the_last_row_of_a_fact_counts(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("p(a) . p(b) .")
        delta = reasoner.apply(patch="D p(a) .\nA p(a) .\nA p(b) .\nD p(b) .\nA p(c) .\nD p(c) .")
        assert lines(delta.to_patch()) == ["D p(b) ."]

    def test_several_patches_are_one_change_in_their_order(self, tmp_path: Path) -> None:
        (tmp_path / "second.rdfp").write_text("D p(a) .\n")
        reasoner = lf.Reasoner()
        delta = reasoner.apply(patch=["A p(a) .\nA p(b) .", tmp_path / "second.rdfp"])
        assert (delta.seq, lines(delta.to_patch())) == (1, ["A p(b) ."])

    @pytest.mark.parametrize(
        "bad",
        ["A p(c) .\nTX .\nD p(a) .", "D p(a) .\nA p(c) . p(d) .", "D p(a) .\nD _:x <x:p> 1 ."],
    )
    def test_a_bad_patch_changes_nothing(self, bad: str) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        reasoner.add("p(a) .")
        with pytest.raises(lf.InputError):
            reasoner.apply(patch=bad)
        assert asserted(reasoner) == ["p(a)"]
        assert reasoner.add("p(b) .").seq == 2

    def test_aborted_rows_are_left_out_and_that_is_said(self) -> None:
        delta = lf.Reasoner().apply(patch="TX .\nA p(a) .\nTA .")
        assert not delta
        assert delta.hints == ("1 row of aborted transactions: left out",)

    def test_a_patch_is_not_loaded_but_applied(self, tmp_path: Path) -> None:
        (tmp_path / "a.rdfp").write_text("A p(a) .\n")
        for wrong in (lf.Reasoner().load, lf.Reasoner().add, lf.Reasoner().remove):
            with pytest.raises(lf.InputError, match="is a patch") as caught:
                wrong(tmp_path / "a.rdfp")
            assert "apply(patch=" in caught.value.hint

    def test_prefixes_of_a_patch_are_known_to_queries(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.apply(patch="PA ex: <x:> .\nA ex:s ex:p ex:o .")
        assert reasoner.query("ASK { ex:s ex:p ex:o }")


class TestHints:
    def test_what_had_no_effect_is_told(self) -> None:
        reasoner = lf.Reasoner(rules=RULES)
        reasoner.add("p(a) .")
        assert reasoner.add("p(a) . p(b) .").hints == ("to add: 1 asserted already",)
        hints = reasoner.remove("q(a) . q(zoo) . p(c) .").hints
        assert hints == (
            "to remove: 2 never asserted",
            "to remove: 1 not asserted but derived, and still true; remove the reasons",
        )

    def test_a_triple_that_only_a_graph_tells_asks_for_the_graph(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add(Quad(S, P, X, G))
        (hint,) = reasoner.remove(Triple(S, P, X)).hints
        assert "name the graph" in hint
        assert reasoner.remove(Quad(S, P, X, NamedNode("x:other"))).hints == (
            "to remove: 1 never asserted",
        )


class TestBlankNodes:
    def test_nodes_are_removed_by_the_labels_that_are_handed_out(self) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("_:x <x:p> [] . _:x <x:p> <x:o> . _:x <x:q> 1 .")
        first, second, third = sorted(reasoner.facts(), key=str)
        assert len(reasoner.remove(first).removed) == 1
        assert len(reasoner.remove(f"{second} .").removed) == 1
        assert len(reasoner.apply(patch=f"D {third} .").removed) == 1
        assert len(reasoner) == 0

    def test_nodes_of_fact_texts_and_files_too(self, tmp_path: Path) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("near(_:x, b) . near(_:y, b) .")
        first, second = sorted(map(str, reasoner.facts()))
        assert len(reasoner.remove(f"{first} .").removed) == 1
        (tmp_path / "gone.rules").write_text(f"{second} .\n")
        assert len(reasoner.remove(tmp_path / "gone.rules").removed) == 1

    @pytest.mark.parametrize(
        "unknown",
        [
            "_:x <x:p> <x:o> .",
            "[] <x:p> <x:o> .",
            "near(_:x, b) .",
            Triple(BlankNode("x"), P, X),
            Quad(S, P, X, BlankNode("x")),
            lf.Fact("near", (BlankNode("x"),)),
        ],
    )
    def test_an_unknown_label_is_refused_each_time_it_is_tried(self, unknown: object) -> None:
        reasoner = lf.Reasoner()
        reasoner.add("_:x <x:p> <x:o> .")
        for _ in range(2):
            with pytest.raises(lf.InputError, match="there is no blank node _:") as caught:
                reasoner.remove(unknown)
            assert "a label is local to its file" in caught.value.hint
        assert len(reasoner) == 1

    def test_an_unknown_label_in_a_patch_is_refused_with_its_row(self) -> None:
        with pytest.raises(lf.InputError, match="there is no blank node _:x") as caught:
            lf.Reasoner().apply(patch="TX .\nD <_:x> <x:p> <x:o> .\nTC .")
        assert caught.value.place is not None
        assert caught.value.place.line == 2

    def test_a_node_may_come_and_go_within_a_patch(self) -> None:
        reasoner = lf.Reasoner()
        text = "A _:x <x:p> <x:o> .\nA _:x <x:p> <x:s> .\nD _:x <x:p> <x:o> .\n"
        assert lines(reasoner.apply(patch=text).to_patch()) == ["A _:x <x:p> <x:s> ."]

    def test_a_patch_makes_the_nodes_that_it_names(self) -> None:
        first, second = lf.Reasoner(), lf.Reasoner()
        for delta in (first.add("_:x <x:p> _:y ."), first.add("_:x <x:p> _:y .")):
            second.apply(patch=delta.to_patch(asserted=True))
        assert set(first.facts()) == set(second.facts())


def test_what_is_removed_leaves_no_terms_behind() -> None:
    reasoner = lf.Reasoner()
    reasoner.add("p(a) .")
    before = reasoner.stats()["terms"]
    reasoner.remove("<x:s> <x:p> <x:o> . <x:s> <x:p> 1 .")
    reasoner.remove([("never", "heard")])
    assert reasoner.stats()["terms"] == before


def test_a_second_reasoner_can_be_made_with_the_rules_of_the_first() -> None:
    first = lf.Reasoner(rules=RULES + "@id named r(?x) :- s(?x) .")
    second = lf.Reasoner(rules=first.rules)
    assert second.rules == first.rules
