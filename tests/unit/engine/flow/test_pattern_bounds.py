"""Regular expressions that would take long are errors, in queries and watches alike."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Triple

import livefacts as lf
from livefacts.engine.flow.pattern_bounds import weight
from livefacts.errors import LimitError

NESTED = "(" * 5_000 + "a" + ")" * 5_000
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
P = NamedNode("x:p")


def holding(*texts: str) -> lf.Reasoner:
    made = lf.Reasoner()
    made.add([Triple(NamedNode(f"x:s{at}"), P, Literal(text)) for at, text in enumerate(texts)])
    return made


def both(reasoner: lf.Reasoner, text: str) -> list[str]:
    """What a query and a watch answer, which is the same."""
    asked = sorted(map(str, reasoner.query(text)))  # type: ignore[arg-type]
    with reasoner.watch(text) as watch:
        assert sorted(map(str, watch.answers())) == asked
    return asked


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab{10}", 11),
        ("((ab){10}c){3}", 63),
        ("(a{1000}){1000}", 1_000_000),
        ("a{1,1000}{1,1000}", 1_000_000),
        ("a{,7}", 7),
        (r"\[(a){3}\]", 5),
        ("[]x{9}]{10}", 20),
        (r"\p{Greek}{5}", 100),
        ("(?x)(ab) # {1}\n{100}", 1_400),
        (UUID, 196),
        ("a" * 1_000_000, 1_000_000),
    ],
)
def test_a_pattern_weighs_what_its_counts_write_out(pattern: str, expected: int) -> None:
    assert weight(pattern) == expected


HEAVY = [NESTED, NESTED[:10_000] + "{9}", "(a{1000}){1000}", "a{1,1000}{1,1000}", "a" * 100_000]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", HEAVY)
@pytest.mark.parametrize("given", ['"{}"', 'CONCAT("{}", STR(?none))', 'CONCAT("{}", "")'])
def test_a_heavy_pattern_is_an_error_where_it_stands(pattern: str, given: str) -> None:
    few = holding("aaaa", "b")
    form = given.replace("{}", pattern)
    values = f'COALESCE(REGEX(?t, {form}), "error") COALESCE(REPLACE(?t, {form}, "x"), "error")'
    one, other = values.split(" COALESCE(REPLACE")
    asked = f"SELECT ?t ({one} AS ?a) (COALESCE(REPLACE{other} AS ?b) {{ ?s <x:p> ?t }}"
    assert all(row.count('"error"') + row.count("value=error") == 2 for row in both(few, asked))
    assert not both(few, f"SELECT ?t {{ ?s <x:p> ?t FILTER(REGEX(?t, {form})) }}")
    few.update(f"DELETE {{ ?s <x:p> ?t }} WHERE {{ ?s <x:p> ?t FILTER(REGEX(?t, {form})) }}")
    assert len(few) == 2


def test_a_pattern_of_the_facts_is_weighed_row_by_row() -> None:
    patterns = holding("^a+$", "(a{1000}){1000}", UUID, NESTED, "a{2}")
    found = both(patterns, 'SELECT ?p { ?s <x:p> ?p FILTER(REGEX("aaaa", ?p)) }')
    assert len(found) == 2


def test_flags_of_which_nothing_is_known_let_a_count_multiply_everything() -> None:
    few = holding("aa")
    spaced = "(a{90})#\\n{200}"
    for flags in ('"x"', "CONCAT(?none)", 'CONCAT("x", "")'):
        assert not both(few, f'SELECT ?t {{ ?s <x:p> ?t FILTER(REGEX(?t, "{spaced}", {flags})) }}')
    assert both(few, 'SELECT ?t { ?s <x:p> ?t FILTER(REGEX(?t, "A a # {9}", "ix")) }')


def test_a_long_text_takes_a_light_pattern() -> None:
    long = holding("ab" * 100_000, "b")
    light = both(long, 'SELECT (REGEX(?t, "(a*)*c") AS ?r) { ?s <x:p> ?t }')
    assert all("false" in row for row in light)
    heavy = '"(?:a|b)*a(?:a|b){500}c"'
    found = both(long, f"SELECT (BOUND(?r) AS ?b) {{ ?s <x:p> ?t BIND(REGEX(?t, {heavy}) AS ?r) }}")
    assert sum("false" in row for row in found) == 1


def test_a_replacement_that_looks_ahead_from_every_match_is_an_error() -> None:
    long = holding("A" * 200_000)
    replaced = "SELECT (STRLEN(REPLACE(?t, '{}', 'x')) AS ?n) {{ ?s <x:p> ?t }}"
    assert all("None" in row for row in both(long, replaced.format(".*[^A-Z]|[A-Z]")))
    assert all("200000" in row for row in both(long, replaced.format("[A-Z]")))
    assert all("value=1 " in row for row in both(long, replaced.format("[A-Z]+")))


def test_the_text_of_an_outer_replacement_is_measured_where_it_could_be_long() -> None:
    chain = "?t"
    for one, other in ["ab", "bc", "cd", "de", "ef", "fg", "gh"]:
        chain = f'REPLACE({chain}, "{one}", "{other}")'
    few = holding("a" * 50)
    row = next(iter(few.query(f"SELECT ({chain} AS ?r) {{ ?s <x:p> ?t }}")))  # type: ignore[call-overload]
    assert row["r"] == Literal("h" * 50)


def test_a_query_with_many_costly_patterns_is_given_up_in_time() -> None:
    costly = holding(*(rf"\pL{{90}}{number}" for number in range(1_500)))
    with pytest.raises(LimitError, match=r"longer than 0\.2 s"):
        costly.query('SELECT * { ?s <x:p> ?p FILTER(REGEX("aaa", ?p)) }', timeout=0.2)
