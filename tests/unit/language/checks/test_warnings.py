import warnings

import pytest

import livefacts as lf
from livefacts.errors import LivefactsWarning
from livefacts.language.checks.warnings import of_program
from livefacts.syntax.rulelang.rule_parser import parse


def test_a_rule_of_capital_letters_has_no_variables():
    [doubt] = of_program(parse("a(X, Y) :- b(X, Y), not c(Y) ."))
    assert str(doubt) == (
        "this rule has no variables: X and Y are symbols, and it speaks of nothing else\n"
        "<text>:1:1\n"
        "    a(X, Y) :- b(X, Y), not c(Y) .\n"
        "    ^\n"
        "hint: variables are written ?X: a(?X, ?Y) :- b(?X, ?Y), not c(?Y) ."
    )


@pytest.mark.parametrize(
    "rule",
    [
        "hot(Kitchen) :- reading(Kitchen, ?v), ?v > 90 .",
        "alarm :- door(open) .",
        "hot(Kitchen) .",
        "a(?X) :- b(?X) .",
        '[?x, rdfs:label, "2026-13-45"] :- [?x, a, rdfs:Class] .',
    ],
)
def test_capital_letters_beside_variables_and_in_facts_are_in_order(rule: str):
    assert list(of_program(parse(rule))) == []


@pytest.mark.parametrize(
    "text", ['a("2026-13-45"^^xsd:date) .', 'a(?x) :- b(?x, "x"^^xsd:integer) .']
)
def test_a_literal_without_a_value_is_doubtful(text: str):
    [doubt] = of_program(parse(text))
    assert doubt.message.startswith('"')
    assert "is not a value of xsd:" in doubt.message


def test_a_reasoner_warns_of_rules_when_they_come_and_not_again():
    with pytest.warns(LivefactsWarning, match=r"variables are written \?X: a\(\?X\) :- b\(\?X\)"):
        reasoner = lf.Reasoner(rules="a(X) :- b(X) .")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reasoner.add_rules("c(?x) :- a(?x) .")
        reasoner.add("b(X) .")
    assert lf.Fact("c", ("X",)) in reasoner
