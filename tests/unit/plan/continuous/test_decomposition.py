"""Graph patterns cut into parts that share no variable."""

from __future__ import annotations

from livefacts.language.graph_pattern import BasicQuery, basic_query_of
from livefacts.plan.continuous.decomposition import Part, Shape, decompose, is_loosely_connected
from livefacts.syntax.sparql.query_shapes import shape_of

EX = {"": "http://example.org/"}


def parts_of(group: str) -> tuple[Part, ...]:
    query = basic_query_of(shape_of(f"SELECT * {{ {group} }}", EX).bound)
    assert isinstance(query, BasicQuery)
    return decompose(query.patterns)


def shown(part: Part) -> tuple[str, int, list[str]]:
    return part.shape.value, len(part.patterns), sorted(v.name for v in part.variables)


def test_variables_that_meet_in_a_pattern_are_one_part() -> None:
    parts = parts_of("?x :knows ?y . ?y :knows ?z . ?x :lives :Rome")
    assert [shown(part) for part in parts] == [("connected", 3, ["x", "y", "z"])]


def test_a_constant_ties_nothing() -> None:
    parts = parts_of("?x :in :Rome . ?y :in :Rome")
    assert [shown(part) for part in parts] == [("star", 1, ["x"]), ("star", 1, ["y"])]
    assert is_loosely_connected(parts)


def test_patterns_without_variables_are_one_ground_part_behind_all_others() -> None:
    parts = parts_of(":a :p :b . ?x :p :b . :b :p :c")
    assert [shown(part) for part in parts] == [("star", 1, ["x"]), ("ground", 2, [])]


def test_two_parts_become_one_by_a_pattern_that_comes_later() -> None:
    parts = parts_of("?x :in :Rome . ?y :in :Rome . ?x :knows ?y")
    assert [shown(part) for part in parts] == [("connected", 3, ["x", "y"])]


def test_a_variable_in_the_place_of_the_predicate_ties_too() -> None:
    parts = parts_of("?x ?p :b . ?y ?p :c")
    assert [shown(part) for part in parts] == [("connected", 2, ["p", "x", "y"])]
    assert not is_loosely_connected(parts)


def test_a_variable_that_meets_itself_is_the_centre_of_a_star() -> None:
    (part,) = parts_of("?x :likes ?x . ?x :in :Rome")
    assert part.shape is Shape.STAR


def test_a_pattern_that_stands_twice_counts_once() -> None:
    (part,) = parts_of("?x :in :Rome . ?x :in :Rome")
    assert len(part.patterns) == 1
