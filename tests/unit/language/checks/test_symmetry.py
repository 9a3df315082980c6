"""Constraints that read the same when some of their variables change places."""

from __future__ import annotations

import pytest
from tests.oracle.mirrors import exchanges

from livefacts.language.checks.symmetry import mirrors_of, symmetric_predicates
from livefacts.plan.rules.normal_form import violation_variables
from livefacts.syntax.rule_sets import open_rules

SYMMETRIC = "[?y, ex:near, ?x] :- [?x, ex:near, ?y] .\n"


def orders(text: str) -> set[str]:
    """The other orders in which a constraint of x, y, z, … finds the same."""
    program = open_rules("@prefix ex: <http://example.org/> .\n" + text)
    (rule,) = [rule for rule in program if rule.is_constraint]
    variables = violation_variables(rule)
    symmetric = symmetric_predicates(program)
    found = {
        "".join(variables[at].name for at in order)
        for order in mirrors_of(rule, variables, symmetric).orders
    }
    itself = "".join(variable.name for variable in variables)
    assert found | {itself} == {
        "".join(each[v.name] for v in variables) for each in exchanges(rule, symmetric)
    }
    return found


@pytest.mark.parametrize(
    ("constraint", "others"),
    [
        ("false :- p(?x, ?y), p(?y, ?x) .", {"yx"}),
        ("false :- p(?x, ?y), q(?y, ?x) .", set()),
        ("false :- p(?x), p(?y), ?x != ?y .", {"yx"}),
        ("false :- p(?x), p(?y), ?x is not ?y .", {"yx"}),
        ("false :- p(?x), p(?y), value(?x) is not value(?y) .", {"yx"}),
        ("false :- p(?x), p(?y), ?x < ?y .", set()),
        ("false :- p(?x), p(?y), q(?z), ?x < ?z, ?z > ?y .", {"yxz"}),
        ("false :- p(?x), p(?y), p(?z), ?x != ?y, ?y != ?z, ?x != ?z .", {"yxz", "zyx", "xzy", "yzx", "zxy"}),
        ("false :- p(?x, ?y), not p(?y, ?x) .", set()),
        ("false :- p(?x), p(?y), not near(?x, ?y), not near(?y, ?x) .", {"yx"}),
        ("false :- [?x, ex:p, ?z], [?y, ex:p, ?z], ?x != ?y .", {"yzx"}),
        ("false :- p(?x), p(?y), [?x, ex:near, ?y] .", set()),
        (SYMMETRIC + "false :- p(?x), p(?y), [?x, ex:near, ?y] .", {"yx"}),
        (SYMMETRIC + "false :- p(?x), p(?y), [?x, ex:far, ?y] .", set()),
        ("false :- p(?x), p(?y), ?x != ?y, ?x = ?x .", {"yx"}),
        ("false :- p(?x), p(?y), ?z = ?x + ?y, ?z > 3 .", set()),
        ("false :- ?n = count { ?x : p(?x) }, ?m = count { ?y : p(?y) }, ?n != ?m .", set()),
    ],
)  # fmt: skip
def test_a_mirror_exchanges_variables_that_play_the_same_part(
    constraint: str, others: set[str]
) -> None:
    if "count" in constraint:
        program = open_rules(constraint)
        (rule,) = program.rules
        assert not mirrors_of(rule, violation_variables(rule), frozenset()).orders
    else:
        assert orders(constraint) == others


def test_rules_with_too_many_ways_to_exchange_variables_are_left_as_they_are() -> None:
    atoms = ", ".join(f"p(?x{number})" for number in range(9))
    (rule,) = open_rules(f"false :- {atoms} .").rules
    assert not mirrors_of(rule, violation_variables(rule), frozenset()).orders
