"""The oracle itself, on cases small enough to work out by hand."""

from __future__ import annotations

import pytest
from tests.oracle import closure, model, violations
from tests.oracle.naive import levels

from livefacts.model.facts import Fact
from livefacts.syntax.rulelang.rule_parser import parse

CASES = {
    "a closure follows all paths": (
        """reach(?x, ?y) :- step(?x, ?y) .
           reach(?x, ?z) :- reach(?x, ?y), step(?y, ?z) .
           step(a, b) . step(b, c) . step(c, a) .""",
        "reach",
        {f"reach({x}, {y})" for x in "abc" for y in "abc"},
    ),
    "negation sees the finished closure": (
        """reach(?y) :- step(a, ?y) .
           reach(?z) :- reach(?y), step(?y, ?z) .
           far(?x) :- node(?x), not reach(?x) .
           step(a, b) . step(b, c) . node(a) . node(c) . node(d) .""",
        "far",
        {"far(a)", "far(d)"},
    ),
    "terms join, values compare": (
        """same(?x, ?y) :- v(?x, ?n), w(?y, ?n) .
           equal(?x, ?y) :- v(?x, ?n), w(?y, ?m), ?n = ?m .
           v(a, 1) . w(b, "01"^^xsd:integer) . w(c, 1.0) . w(d, 1) .""",
        "same equal",
        {"same(a, d)", "equal(a, b)", "equal(a, c)", "equal(a, d)"},
    ),
    "an aggregate ranges over distinct tuples of the listed variables": (
        """once(?d, ?n) :- ?n = sum { ?v : pay(?p, ?d, ?v) } .
           each(?d, ?n) :- ?n = sum { ?v, ?p : pay(?p, ?d, ?v) } .
           pay(ann, it, 5) . pay(bob, it, 5) . pay(cat, hr, 7) .""",
        "once each",
        {"once(it, 5)", "once(hr, 7)", "each(it, 10)", "each(hr, 7)"},
    ),
    "an empty group has no row, and a word among numbers leaves its group without one": (
        """n(?d, ?n) :- dept(?d), ?n = count { ?p : pay(?p, ?d, ?v) } .
           s(?d, ?n) :- dept(?d), ?n = sum { ?v : pay(?p, ?d, ?v) } .
           dept(it) . dept(hr) . dept(pr) . pay(ann, it, "x") . pay(bob, it, 1) . pay(cat, hr, 1) .""",
        "n s",
        {"n(it, 2)", "n(hr, 1)", "s(hr, 1)"},
    ),
    "arithmetic is exact and never wraps": (
        """q(?y) :- p(?x), ?y = ?x * ?x .
           half(?y) :- p(?x), ?y = ?x / 2 .
           p(9223372036854775807) . p(3) .""",
        "q half",
        {
            "q(85070591730234615847396907784232501249)",
            "q(9)",
            "half(4611686018427387903.5)",
            "half(1.5)",
        },
    ),
    "the order of a body does not matter to what it binds": (
        "r(?z) :- ?z = ?y + 1, ?y = ?x + 1, p(?x) . p(1) .",
        "r",
        {"r(3)"},
    ),
    "an error is false": (
        """less(?x, ?y) :- p(?x), p(?y), ?x < ?y .
           other(?x, ?y) :- p(?x), p(?y), ?x != ?y .
           p(1) . p("x") . p(sym) .""",
        "less other",
        {
            *("other(1, sym)", "other(sym, 1)", 'other("x", sym)', 'other(sym, "x")'),
            *('other(1, "x")', 'other("x", 1)'),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_oracle_knows_that(name: str) -> None:
    text, predicates, expected = CASES[name]
    asserted = (fact for fact in closure(parse(text), ()) if isinstance(fact, Fact))
    found = {fact for fact in asserted if fact.name in predicates.split()}
    facts = parse("\n".join(f"{fact} ." for fact in expected)).facts
    assert found == set(facts)


def test_violations_carry_the_values_of_all_variables_outside_braces() -> None:
    program = parse("@id full false :- room(?r), ?n = count { ?p : inside(?p, ?r) }, ?n > 1 .")
    facts = parse(
        "room(hall) . room(roof) . inside(ann, hall) . inside(bob, hall) . inside(ann, roof) ."
    ).facts
    found = [(id, {name for name, _ in bindings}) for id, bindings in violations(program, facts)]
    assert found == [("full", {"r", "n"})]


def test_generalized_triples_take_part_but_are_not_shown() -> None:
    program = parse(
        """@prefix ex: <http://example.org/> .
           [?v, ex:of, ?x] :- [?x, ex:age, ?v] .
           old(?x) :- [?v, ex:of, ?x], ?v > 90 .
           [ex:ann, ex:age, 99] ."""
    )
    assert {str(fact) for fact in closure(program, ())} == {
        "old(<http://example.org/ann>)",
        str(program.facts[0]),
    }
    assert len(model(program, ())) == 3


def test_a_program_that_negates_itself_has_no_levels() -> None:
    program = parse("p(?x) :- n(?x), q(?x) . q(?x) :- n(?x), r(?x) . ")
    unstratified = parse("r(?x) :- n(?x), not p(?x) .")
    assert len(levels([*program.rules])) == 1
    with pytest.raises(ValueError, match="cycle"):
        levels([*program.rules, *unstratified.rules])


def test_a_variable_that_is_bound_to_nan_is_bound() -> None:
    program = parse("q(?y) :- p(?x), ?y = ?x + 1 . r(?x) :- p(?x), ?y = ?x, ?x = ?y .")
    facts = parse('p("NaN"^^xsd:double) .').facts
    names = {fact.name for fact in closure(program, facts) if isinstance(fact, Fact)}
    assert names == {"p", "q"}
