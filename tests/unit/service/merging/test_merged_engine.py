"""Things that are the same, merged: what is kept, what is answered, and what is not merged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

import livefacts as lf

pytestmark = pytest.mark.slow  # the rules of OWL, and what they mean checked after every change

EX = "http://example.org/"
PREFIXES = f"""
    @prefix ex: <{EX}> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
SAME = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
CHAIN = "ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:c . ex:c owl:sameAs ex:d ."
FACTS = "ex:a ex:p ex:x . ex:d ex:q ex:d ."


class Pair:
    """A reasoner that merges, and one that follows the rules; both are told the same."""

    def __init__(self, rules: object = "owl-rl") -> None:
        self.merging = lf.Reasoner(rules=rules, same_as="merge")
        self.ruled = lf.Reasoner(rules=rules)

    def do(self, change: Callable[[lf.Reasoner], lf.Delta]) -> lf.Delta:
        """Make a change in both, and compare what they say and know."""
        merged, ruled = change(self.merging), change(self.ruled)
        assert sorted(map(str, merged.added)) == sorted(map(str, ruled.added))
        assert sorted(map(str, merged.removed)) == sorted(map(str, ruled.removed))
        assert sorted(map(str, merged.derived)) == sorted(map(str, ruled.derived))
        assert merged.counts == ruled.counts
        assert merged.hints == ruled.hints
        assert set(merged.to_patch().splitlines()) == set(ruled.to_patch().splitlines())
        assert sorted(map(str, self.merging)) == sorted(map(str, self.ruled))
        assert len(self.merging) == len(self.ruled)
        assert set(map(str, self.merging.violations())) == set(map(str, self.ruled.violations()))
        assert self.merging.verify()
        return merged

    def add(self, text: str) -> lf.Delta:
        return self.do(lambda r: r.add(PREFIXES + text))

    def remove(self, text: str) -> lf.Delta:
        return self.do(lambda r: r.remove(PREFIXES + text))

    def push(self, text: str, at: int, stream: str | None = None) -> lf.Delta:
        return self.do(lambda r: r.push(PREFIXES + text, at=at, stream=stream))

    def advance(self, to: int) -> lf.Delta:
        return self.do(lambda r: r.advance(to))

    @property
    def groups(self) -> tuple[int, int]:
        stats = self.merging.stats()
        return stats["merged_groups"], stats["merged_terms"]


@pytest.fixture
def pair() -> Pair:
    """Two reasoners that know of four things that are the same."""
    pair = Pair()
    pair.add(CHAIN + FACTS)
    return pair


def test_of_a_group_two_are_kept_and_all_are_answered_for(pair: Pair) -> None:
    assert pair.groups == (1, 4)
    kept = sum(len(ids) for ids in pair.merging._state.engine.facts().values())
    ruled = sum(len(ids) for ids in pair.ruled._state.engine.facts().values())
    assert kept < ruled
    assert (NamedNode(EX + "c"), SAME, NamedNode(EX + "a")) in pair.merging
    assert (NamedNode(EX + "c"), SAME, NamedNode(EX + "c")) not in pair.merging
    assert (NamedNode(EX + "b"), NamedNode(EX + "q"), NamedNode(EX + "c")) in pair.merging


def test_a_watched_query_answers_for_all_of_a_group(pair: Pair) -> None:
    query = f"SELECT ?s WHERE {{ ?s <{EX}p> <{EX}x> }}"
    merging, ruled = pair.merging.watch(query), pair.ruled.watch(query)
    assert [row["s"].value[-1] for row in merging.answers()] == list("abcd")
    pair.remove("ex:b owl:sameAs ex:c .")
    assert list(map(str, merging.changes())) == list(map(str, ruled.changes()))
    assert [row["s"].value[-1] for row in merging.answers()] == list("ab")


def test_what_holds_of_a_member_is_explained_down_to_what_was_told(pair: Pair) -> None:
    text = str(pair.merging.explain("ex:c ex:p ex:x"))
    assert "ex:a ex:p ex:x   asserted" in text
    assert "by eq-rep-s" in text
    assert "ex:b owl:sameAs ex:c   asserted" in text
    assert "ex:d" not in text


def test_what_does_not_hold_of_a_member_is_explained_by_what_is_missing(pair: Pair) -> None:
    explanation = pair.merging.explain("ex:c ex:p ex:y")
    assert not explanation
    assert [str(fact) for fact in explanation.nearby] == [f"<{EX}c> <{EX}p> <{EX}x>"]


def test_an_equality_that_goes_splits_its_group(pair: Pair) -> None:
    pair.remove("ex:b owl:sameAs ex:c .")
    assert pair.groups == (0, 0)
    pair.add("ex:d owl:sameAs ex:a .")
    assert pair.groups == (1, 4)


def test_groups_merge_and_split_in_one_change(pair: Pair) -> None:
    pair.add("ex:f owl:sameAs ex:g . ex:g owl:sameAs ex:h . ex:g ex:p ex:a .")
    assert pair.groups == (2, 7)
    added = f"{PREFIXES} ex:h owl:sameAs ex:b ."
    removed = f"{PREFIXES} ex:c owl:sameAs ex:d ."
    pair.do(lambda r: r.apply(add=added, remove=removed))
    assert pair.groups == (1, 6)


def test_a_member_that_a_literal_is_the_same_as_stays_plain(pair: Pair) -> None:
    pair.add('ex:d owl:sameAs "delta" .')
    assert pair.groups == (1, 4)
    pair.remove('ex:d owl:sameAs "delta" .')


def test_what_is_told_to_be_the_same_as_itself_stays_itself(pair: Pair) -> None:
    pair.add("ex:a owl:sameAs ex:a .")
    assert pair.groups == (1, 3)
    pair.remove("ex:a owl:sameAs ex:a .")


def test_an_equality_of_what_stays_itself_is_told_and_not_concluded() -> None:
    pair = Pair()
    pair.add("ex:a owl:sameAs ex:a .")
    pair.add("ex:f owl:sameAs ex:a . ex:g owl:sameAs ex:a .")
    delta = pair.add('ex:a owl:sameAs "a" . ex:d owl:sameAs ex:a .')
    assert pair.groups == (1, 3)
    assert delta.counts["asserted"] == 2
    assert '"a"' in delta.to_patch(asserted=True)


def test_what_is_told_of_two_members_is_true_until_both_are_silent(pair: Pair) -> None:
    pair.add("ex:b ex:p ex:x . ex:c ex:p ex:x .")
    assert not pair.remove("ex:a ex:p ex:x .")
    assert not pair.remove("ex:b ex:p ex:x .")
    assert pair.remove("ex:c ex:p ex:x .")


def test_what_a_predicate_fact_speaks_of_stays_itself() -> None:
    pair = Pair(["owl-rl", f"@prefix ex: <{EX}> . [?x, ex:p, ?y] :- likes(?x, ?y) ."])
    pair.add(CHAIN)
    pair.do(lambda r: r.add([lf.Fact("likes", (NamedNode(EX + "a"), NamedNode(EX + "x")))]))
    assert pair.groups == (1, 3)


def test_cells_of_lists_stay_themselves() -> None:
    pair = Pair()
    pair.add(CHAIN + "ex:C owl:oneOf ex:a . ex:a rdf:first ex:x ; rdf:rest rdf:nil .")
    assert pair.groups == (0, 0)


def test_a_preview_changes_nothing(pair: Pair) -> None:
    before = set(pair.merging)
    text = f"{PREFIXES} ex:b owl:sameAs ex:c ."
    assert set(pair.merging.preview(remove=text).removed) == set(
        pair.ruled.preview(remove=text).removed
    )
    assert set(pair.merging) == before
    pair.remove("ex:b owl:sameAs ex:c .")


def test_a_change_that_violates_a_constraint_is_undone() -> None:
    reasoner = lf.Reasoner(rules="owl-rl", same_as="merge", on_violation="refuse")
    reasoner.add(PREFIXES + CHAIN)
    before = set(reasoner)
    with pytest.raises(lf.ViolationError, match="eq-diff1"):
        reasoner.add(f"{PREFIXES} ex:b owl:differentFrom ex:d . ex:d owl:sameAs ex:e .")
    assert set(reasoner) == before
    reasoner.remove(f"{PREFIXES} ex:b owl:sameAs ex:c .")
    assert reasoner.verify()


def test_queries_see_all_members_while_groups_change(pair: Pair) -> None:
    query = "SELECT ?x { ?x <http://example.org/p> <http://example.org/x> }"
    assert len(pair.merging.query(query)) == 4
    pair.remove("ex:c owl:sameAs ex:d .")
    assert len(pair.merging.query(query)) == 3


def test_named_graphs_tell_of_members_too(pair: Pair) -> None:
    a, p, x, g = (NamedNode(EX + name) for name in "apxg")
    pair.do(lambda r: r.add([Quad(a, p, x, g), Quad(a, SAME, NamedNode(EX + "e"), g)]))
    assert pair.groups == (1, 5)
    pair.remove("ex:a ex:p ex:x .")
    pair.remove("ex:b owl:sameAs ex:c .")
    pair.do(lambda r: r.remove([Quad(a, SAME, NamedNode(EX + "e"), g), Quad(a, p, x, g)]))


def test_a_file_has_all_members(pair: Pair, tmp_path: Path) -> None:
    for name, reasoner in (("merged", pair.merging), ("ruled", pair.ruled)):
        reasoner.dump(tmp_path / f"{name}.nt")
    lines = [
        (tmp_path / f"{name}.nt").read_text("utf-8").splitlines() for name in ("merged", "ruled")
    ]
    assert sorted(lines[0]) == sorted(lines[1])


def test_a_file_with_graphs_has_what_is_told_of_members_in_its_graph(
    pair: Pair, tmp_path: Path
) -> None:
    a, p, x, g = (NamedNode(EX + name) for name in "apxg")
    pair.do(lambda r: r.apply(remove=[(a, p, x)], add=[Quad(a, p, x, g)]))
    texts = []
    for reasoner in (pair.merging, pair.ruled):
        reasoner.dump(tmp_path / "all.nq")
        texts.append((tmp_path / "all.nq").read_text("utf-8"))
    assert sorted(texts[0].splitlines()) == sorted(texts[1].splitlines())
    assert f"{a} {p} {x} {g} .\n" in texts[0]
    assert f"{a} {p} {x} .\n" not in texts[0]


def test_rules_of_equality_that_go_take_groups_with_them(pair: Pair) -> None:
    pair.do(lambda r: r.remove_rules(["eq-rep-s"]))
    assert pair.groups == (0, 0)


def test_without_rules_of_equality_nothing_is_merged() -> None:
    pair = Pair("rdfs")
    pair.add(CHAIN + FACTS)
    assert pair.groups == (0, 0)


APART = {
    "tells three": "trio(?x, ?y, ?z) :- [?x, ex:p, ?o], [?y, ex:p, ?o], [?z, ex:p, ?o], ?x != ?y, ?y != ?z, ?x != ?z .",
    "what is not the same": "other(?x, ?y) :- [?x, ex:p, ?y], not [?x, owl:sameAs, ?y] .",
}


@pytest.mark.parametrize("reason", APART)
def test_under_rules_that_tell_equal_things_apart_nothing_is_merged(
    reason: str, pair: Pair
) -> None:
    rules = f"{PREFIXES}@id apart {APART[reason]}"
    with pytest.warns(lf.LivefactsWarning, match=f"rule apart .*{reason}.* merges nothing"):
        pair.do(lambda r: r.add_rules(rules))
    assert pair.groups == (0, 0)
    assert reason in pair.merging.stats()["unmerged"]
    pair.add("ex:b ex:p ex:d . ex:d owl:sameAs ex:e .")
    pair.do(lambda r: r.remove_rules("apart"))
    assert pair.groups == (1, 5)
    assert "unmerged" not in pair.merging.stats()


def test_a_warning_that_is_an_error_changes_nothing(pair: Pair) -> None:
    with pytest.raises(lf.LivefactsWarning, match="tells three"):
        pair.merging.add_rules(PREFIXES + APART["tells three"])
    assert pair.groups == (1, 4)
    pair.remove("ex:b owl:sameAs ex:c .")


def test_what_is_counted_stays_itself(pair: Pair) -> None:
    pair.add("ex:k owl:sameAs ex:l , ex:m .")
    pair.do(lambda r: r.add_rules(f"{PREFIXES} n(?n) :- ?n = count {{ ?x : [?x, ex:p, ?y] }} ."))
    assert pair.groups == (1, 3)
    assert lf.Fact("n", (Literal(4),)) in pair.merging


def test_own_rules_may_ask_for_two_that_differ() -> None:
    pair = Pair(
        [
            "owl-rl",
            f"@prefix ex: <{EX}> . [?x, ex:beside, ?y] :- [?x, ex:in, ?r], [?y, ex:in, ?r], ?x != ?y .",
        ]
    )
    pair.add(CHAIN + "ex:a ex:in ex:room . ex:lamp ex:in ex:room .")
    pair.remove("ex:c owl:sameAs ex:d .")


STREAM = "http://example.org/stream"


def test_facts_of_streams_hold_of_all_of_a_group_while_they_hold(pair: Pair) -> None:
    pair.push("ex:b ex:seen ex:here . ex:d owl:sameAs ex:e .", 1)
    came = pair.advance(1)
    assert f"<{EX}e> <{EX}seen> <{EX}here>" in map(str, came.added)
    assert pair.groups == (1, 5)
    pair.do(lambda r: r.retract(f"{PREFIXES} ex:b ex:seen ex:here .", at=1))
    pair.advance(2)
    assert pair.groups == (1, 4)


@pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")
def test_rules_about_time_know_what_was_said_of_whom(pair: Pair) -> None:
    met = f"{PREFIXES} [?x, ex:met, ?y] :- sometime [?x, ex:meets, ?y] in [2] ."
    pair.do(lambda r: r.add_rules(met))
    for time in range(3):
        pair.push("ex:b ex:meets ex:k .", time)
        pair.advance(time)
    assert pair.groups == (1, 3)
    assert (NamedNode(EX + "d"), NamedNode(EX + "met"), NamedNode(EX + "k")) in pair.merging
    steady = f"{PREFIXES} steady(?x) :- always [?x, ex:meets, ?y] in [1] ."
    pair.do(lambda r: r.add_rules(steady))
    assert lf.Fact("steady", (NamedNode(EX + "b"),)) in pair.merging
    pair.advance(9)


def test_how_long_a_fact_of_a_group_lasts_is_what_the_rules_say(pair: Pair) -> None:
    pair.do(lambda r: r.add_rules(f"@stream <{STREAM}> in [range 3 step 1] ."))
    pair.push("ex:b ex:seen ex:here .", 1, STREAM)
    pair.advance(2)
    for reasoner in (pair.merging, pair.ruled):
        explanation = reasoner.explain("ex:d ex:seen ex:here")
        assert str(explanation.lasting) == "since 1, until 3 unless renewed"


def test_a_registered_query_sees_all_of_a_group(pair: Pair) -> None:
    text = (
        f"REGISTER QUERY seen AS SELECT ?x ?y FROM STREAM <{STREAM}> [RANGE 5 STEP 1] "
        f"WHERE {{ ?x <{EX}near> ?z . ?z <{EX}p> ?y }}"
    )
    queries = [reasoner.register(text) for reasoner in (pair.merging, pair.ruled)]
    answered = 0
    for time in range(4):
        pair.push("ex:c ex:near ex:d .", time, STREAM)
        pair.advance(time)
        merging, ruled = ([sorted(map(str, r.rows)) for r in q.results()] for q in queries)
        assert merging == ruled
        answered += sum(map(len, merging))
        pair.remove("ex:c owl:sameAs ex:d .") if time % 2 else pair.add("ex:e owl:sameAs ex:d .")
    assert answered > 16


def test_terms_of_streams_are_kept_while_groups_speak_of_them(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livefacts.service.streams.reclamation.Reclaimer.is_due", lambda self: True)
    for time in range(12):
        pair.push(f"ex:s{time} owl:sameAs ex:b . ex:s{time} ex:seen ex:t{time} .", time)
        if time % 3 == 0:
            pair.add(f"ex:k{time} owl:sameAs ex:d .")
        pair.advance(time)
    assert pair.merging.stats()["terms_reclaimed"] > 0


def test_what_is_counted_is_explained_beside_a_merged_group(pair: Pair) -> None:
    rule = """
        @prefix ex: <http://example.org/> .
        many(?c, ?n) :- ?n = count { ?x : [?x, ex:in, ?c] } .
    """
    pair.do(lambda r: r.add_rules(rule))
    pair.add("ex:b ex:r ex:box . ex:x ex:in ex:box . ex:z owl:sameAs ex:x . ex:z owl:sameAs ex:w .")
    assert pair.groups == (1, 4)
    proof = pair.merging.explain("many(ex:box, 3)").proof
    assert proof is not None
    asserted = {str(step.fact) for step in proof.facts()}
    assert asserted == {f"<{EX}{name}> <{EX}in> <{EX}box>" for name in "xzw"}
