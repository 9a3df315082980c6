"""Checks: which variables are bound, and which programs pass."""

from __future__ import annotations

import pytest

from livefacts.errors import ArityError, RuleError, UnsafeVariableError
from livefacts.language.checks.safety import bound_variables, check
from livefacts.language.formula import NOWHERE, PredicateAtom, Variable
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse, ready_names


@pytest.mark.parametrize("name", ready_names())
def test_ready_rule_sets_pass(name: str) -> None:
    check(open_rules(name))


@pytest.mark.parametrize(
    "text",
    [
        "p(?x) :- q(?x) .",
        "p(?x) :- not r(?x), q(?x) .",
        "p(?m) :- ?m = ?n + 1, q(?n) .",
        "p(?m) :- ?n + 1 = ?m, q(?n) .",
        "p(?m) :- ?m = ?k, ?k = ?n * 2, q(?n) .",
        "p(?m) :- ?m = 5 .",
        "p(?x) :- q(?x), ?x != 5, ?x + 1 < 7 .",
        "p(?d, ?n) :- ?n = count { ?e : w(?e, ?d) } .",
        "p(?n) :- ?n = sum { ?m, ?e : w(?e, ?v), ?m = ?v * 2, not gone(?e) } .",
        "p(?x) :- ?n = count { ?e : w(?e, ?x) }, ?n > 3, not r(?n) .",
        "p :- not q .",
        "false :- q(?x), not r(?x) .",
    ],
)
def test_bound_variables_pass_in_any_order(text: str) -> None:
    check(parse(text))


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("p(?y) :- q(?x) .", "y"),
        ("[?x, rdfs:label, ?y] :- q(?x) .", "y"),
        ("p(?x) :- not q(?x) .", "x"),
        ("p(?x) :- q(?x), not r(?y) .", "y"),
        ("p(?x) :- ?x > 5 .", "x"),
        ("p(?x) :- ?x = ?x .", "x"),
        ("p(?x) :- ?x = ?x + 0 .", "x"),
        ("p(?x) :- q(?y), ?x * 1 = ?y .", "x"),
        ("p(?e) :- ?n = count { ?f : w(?f) } .", "e"),
        ("p(?n) :- ?n = count { ?e : not w(?e) } .", "e"),
        ("p(?n) :- q(?z), ?n = count { ?e : w(?e), not v(?e, ?z) } .", "z"),
        ("p(?n) :- ?n = count { ?e, ?f : w(?e) } .", "f"),
        ("p(?n) :- ?n = count { ?e : w(?e, ?n) } .", "n"),
        ("false :- not q(?x) .", "x"),
    ],
)
def test_an_unbound_variable_is_named(text: str, variable: str) -> None:
    with pytest.raises(UnsafeVariableError, match=rf"\?{variable} "):
        check(parse(text))


def test_an_equation_binds_as_soon_as_its_other_side_is_bound() -> None:
    (rule,) = parse("p :- ?a = ?b, ?b = ?c + 1, q(?c), ?d > ?c .").rules
    assert bound_variables(rule.body) == {Variable(name) for name in "abc"}


def test_arities_are_compared_across_programs_joined_into_one() -> None:
    program = parse("p(?x) :- q(?x) .", "a.rules").joined(parse("r :- s, not q .", "b.rules"))
    with pytest.raises(
        ArityError, match=r"q has no arguments here and 1 argument at a\.rules:1:10"
    ):
        check(program)


def test_arities_are_compared_with_facts() -> None:
    facts = (Fact("q", (Symbol("a"), Symbol("b"))),)
    with pytest.raises(ArityError, match="q has 2 arguments here and 1 argument at <text>:1:10"):
        check(Program(parse("p(?x) :- q(?x) .").rules, facts))


def test_arities_are_compared_inside_braces() -> None:
    with pytest.raises(ArityError):
        parse("p(?n) :- ?n = count { ?x : q(?x), not q(?x, ?x) } .")


def test_rules_made_without_a_text_are_checked_too() -> None:
    rule = Rule(PredicateAtom("p", (Variable("x"),)), (PredicateAtom("q"),), "mine")
    with pytest.raises(RuleError) as caught:
        check(Program((rule,)))
    assert caught.value.place == NOWHERE
