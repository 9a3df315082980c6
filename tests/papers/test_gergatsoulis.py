"""Gergatsoulis and Damigos, continuous basic graph patterns: decompositions, algorithms, errata."""

from __future__ import annotations

from livefacts.plan.continuous.decomposition import Part, Shape, is_loosely_connected
from livefacts.service.continuous.message_query import ContinuousQuery

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>"


def asked(group: str, form: str = "SELECT *") -> ContinuousQuery:
    return ContinuousQuery(f"{PREFIX} {form} {{ {group} }}")


def triples(text: str) -> str:
    """Triples from words, three each."""
    words = [f"<{EX}{word}>" for word in text.split()]
    return "\n".join(f"{' '.join(words[at : at + 3])} ." for at in range(0, len(words), 3))


def asserted(query: ContinuousQuery, add: str = "", remove: str = "") -> list[str]:
    changes = query.feed(add=triples(add), remove=triples(remove))
    return [
        f"{change.op} " + " ".join(term.value[len(EX) :] for term in change.row)  # type: ignore[union-attr]
        for change in changes
    ]


def partition(query: ContinuousQuery) -> set[frozenset[str]]:
    return {frozenset(v.name for v in part.variables) for part in query.plan.parts}


def part_of(query: ContinuousQuery, variable: str) -> Part:
    (part,) = (p for p in query.plan.parts if variable in {v.name for v in p.variables})
    return part


FIGURE_1 = "?X :p ?Y . ?Y :q ?Z . ?Z :r :a . :a :s ?W . ?W :t :b . :a :u :b"
FIGURE_2 = "?X :p :a . :b :q ?X . ?Y :r :a . ?Z :s :b . ?Z :t :c . :a :u :c"


def test_example_1_ties_x_y_and_z_and_leaves_w_a_star() -> None:
    query = asked(FIGURE_1)
    assert partition(query) == {frozenset("XYZ"), frozenset("W"), frozenset()}
    assert part_of(query, "X").shape is Shape.CONNECTED
    assert len(part_of(query, "X").patterns) == 3
    assert part_of(query, "W").shape is Shape.STAR
    assert query.plan.parts[-1].shape is Shape.GROUND


def test_example_1_is_answered_by_the_product_of_its_parts() -> None:
    query = asked(FIGURE_1)
    asserted(query, "x p y y q z z r a x2 p y a s w w t b")
    assert asserted(query, "a u b") == ["+ x y z w", "+ x2 y z w"]
    assert asserted(query, "a s w2 w2 t b") == ["+ x y z w2", "+ x2 y z w2"]
    assert asserted(query, remove="x p y") == ["- x y z w", "- x y z w2"]
    assert asserted(query, remove="a u b") == ["- x2 y z w", "- x2 y z w2"]


def test_example_2_is_loosely_connected_three_stars_and_a_ground_part() -> None:
    query = asked(FIGURE_2)
    assert partition(query) == {frozenset("X"), frozenset("Y"), frozenset("Z"), frozenset()}
    assert is_loosely_connected(query.plan.parts)
    assert "loosely connected" in str(query.plan)


def test_example_2_needs_an_answer_of_every_part() -> None:
    query = asked(FIGURE_2)
    assert asserted(query, "x p a b q x y r a z s b z t c") == []
    assert asserted(query, "a u c") == ["+ x y z"]
    assert asserted(query, "y2 r a") == ["+ x y2 z"]
    assert asserted(query, remove="b q x") == ["- x y z", "- x y2 z"]
    assert asserted(query, "x3 p a b q x3") == ["+ x3 y z", "+ x3 y2 z"]


def test_definition_6_a_star_that_is_not_simple_is_connected() -> None:
    (part,) = asked("?c :p ?x . ?c :q :a").plan.parts
    assert part.shape is Shape.CONNECTED


def test_algorithm_1_keeps_one_bit_for_each_ground_triple() -> None:
    query = asked(":a :p :b . :b :p :c", form="ASK")
    assert asserted(query, "a p b") == []
    assert asserted(query, "b p c") == ["+ "]
    assert asserted(query, remove="a p b") == ["- "]
    assert asserted(query, remove="b p c") == []
    assert query.cached.entries == 0
    assert query.cached.parts[0].bytes == 8 * (4 + 1), "eight slots of a centre and a byte of bits"


def test_algorithm_2_forgets_a_centre_with_its_last_triple() -> None:
    query = asked("?x :p :a . ?x :q :b")
    asserted(query, "n p a")
    assert query.cached.entries == 1
    asserted(query, "n q b", "n p a")
    assert query.cached.entries == 1
    asserted(query, remove="n q b")
    assert query.cached.entries == 0


def test_erratum_a_bit_is_cleared_before_the_negative_answer_is_told() -> None:
    query = asked("?x :p :a . ?x :q :b")
    asserted(query, "n p a n q b")
    assert asserted(query, remove="n p a") == ["- n"]
    assert asserted(query, remove="n q b") == [], "the answer has gone already"
    assert asserted(query, "n q b") == []
    assert asserted(query, "n p a") == ["+ n"]


def test_erratum_an_edge_sets_the_bits_of_all_patterns_that_it_fits() -> None:
    query = asked("?x :p :a . :a :p ?x")
    assert asserted(query, "a p a") == ["+ a"]
    assert asserted(query, remove="a p a") == ["- a"]
    assert query.cached.entries == 0


def test_erratum_an_edge_may_name_two_centres() -> None:
    query = asked("?x :p :a . :b :p ?x")
    assert asserted(query, "b p a") == []
    assert query.cached.entries == 2, "b as a subject and a as an object"
    assert asserted(query, "b p b a p a") == ["+ a", "+ b"]


def test_erratum_repeated_and_empty_messages_change_nothing() -> None:
    query = asked("?x :p :a . ?x :q ?y")
    assert asserted(query, remove="n p a") == []
    asserted(query, "n p a n p a n q m")
    assert asserted(query, "n p a n q m") == []
    assert asserted(query, remove="n q m") == ["- n m"]
    assert asserted(query, remove="n q m") == []


def test_lemma_3_an_answer_of_the_whole_is_an_answer_of_every_part() -> None:
    query = asked("?x :p :a . ?y :p :b . ?y :q ?z")
    asserted(query, "n p a m p a k p b k q i k q j")
    answers = query.answers()
    assert len(answers) == 2 * 2  # type: ignore[arg-type]
    assert len({row["x"] for row in answers}) == 2  # type: ignore[union-attr]
