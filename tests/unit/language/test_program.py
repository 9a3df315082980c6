"""Programs: rules, their ids and keys, and programs joined into one."""

from __future__ import annotations

import pickle

import pytest

from livefacts.errors import RuleError
from livefacts.language.formula import Aggregate, Variable
from livefacts.language.program import Program
from livefacts.syntax.rulelang.rule_parser import parse


def ids(program: Program) -> list[str]:
    return [rule.id for rule in program]


def test_spacing_and_names_of_variables_do_not_matter() -> None:
    program = parse("p(?x) :- q(?x, ?y), ?y > 1 .")
    assert program.plus(parse("p(?b):-q(?b,?a),?a>1.").rules) == program


@pytest.mark.parametrize(
    "other", ["p(?x) :- q(?y, ?x) .", "p(?x) :- q(?x, ?x) .", "p(?x) :- q(?x, y) ."]
)
def test_what_variables_have_in_common_matters(other: str) -> None:
    assert len(parse("p(?x) :- q(?x, ?y) .").plus(parse(other).rules)) == 2


def test_numbers_are_given_by_the_program_that_takes_the_rule() -> None:
    program = parse("a :- b . b :- c .").plus(parse("c :- d . a :- b . d :- e .").rules)
    assert ids(program) == ["r1", "r2", "r3", "r4"]


def test_a_number_is_never_used_again() -> None:
    program = parse("a :- b . b :- c .")
    program = program.minus(parse("b :- c .").rules).plus(parse("c :- d .").rules)
    assert ids(program) == ["r1", "r3"]


def test_a_name_means_one_rule() -> None:
    program = parse("@id heat a :- b .")
    assert program.plus(parse("@id heat a :- b .").rules) == program
    with pytest.raises(RuleError, match="two different rules are called heat"):
        program.plus(parse("@id heat b :- c .").rules)


def test_a_rule_is_found_by_its_id() -> None:
    program = parse("a :- b . @id heat b :- c .")
    assert program.rule("heat") is program.rules[1]
    with pytest.raises(RuleError, match="no rule r7"):
        program.rule("r7")


def test_joined_programs_keep_facts_once_and_the_smaller_limit() -> None:
    one = parse("@prefix a: <urn:a:> . @limit 9 . p(x) . p(y) . a :- b .")
    other = parse("@prefix b: <urn:b:> . @limit 5 . p(y) . p(z) . b :- c .")
    both = one.joined(other)
    assert [str(fact.arguments[0]) for fact in both.facts] == ["x", "y", "z"]  # type: ignore[union-attr]
    assert (both.limit, ids(both)) == (5, ["r1", "r2"])
    assert {"a", "b"} <= dict(both.prefixes).keys()


def test_prefixes_alone_are_joined_too() -> None:
    assert (
        dict(parse("a :- b .").joined(Program(prefixes=(("ex", "urn:"),))).prefixes)["ex"] == "urn:"
    )


def test_an_empty_program_changes_nothing_when_joined() -> None:
    program = parse("@limit 9 . p(x) . a :- b .")
    assert Program().joined(program) == program.joined(Program()) == program


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("staff(?d, ?n) :- ?n = count { ?e : works(?e, ?d) } .", "d"),
        ("total(?n) :- ?n = count { ?e : works(?e, ?d) } .", ""),
        ("p(?n) :- q(?d, ?e), ?n = count { ?e : works(?e, ?d) } .", "ed"),
        ("p(?n) :- ?n = count { ?e : works(?e, ?d), not away(?f) }, q(?f) .", "f"),
        ("p(?n) :- ?n = count { ?e : works(?e, ?d) }, ?m = count { ?x : at_(?x, ?d) } .", "d"),
        ("false :- ?n = count { ?e : works(?e, ?d) }, ?d != ?n .", "d"),
    ],
)
def test_an_aggregate_groups_by_its_variables_that_occur_elsewhere(text: str, groups: str) -> None:
    rule = parse(text).rules[0]
    aggregate = next(formula for formula in rule.body if isinstance(formula, Aggregate))
    assert rule.groups_of(aggregate) == tuple(Variable(name) for name in groups)


def test_a_rule_that_was_looked_up_travels_without_its_hash() -> None:
    rule = parse("p(?x) :- q(?x) .").rules[0]
    assert {rule: "known"}[rule] == "known"
    again = pickle.loads(pickle.dumps(rule))
    assert (again, again.place) == (rule, rule.place)
    assert again._hash == 0


def test_an_unknown_name_gets_the_names_there_are() -> None:
    program = parse("@id near p(?x) :- q(?x) . @id far p(?x) :- r(?x) .")
    with pytest.raises(RuleError) as few:
        program.rule("r1")
    assert few.value.hint == "rules are called near, far"
    many = parse(" ".join(f"@id step{n} p(?x) :- q{n}(?x) ." for n in range(20)))
    with pytest.raises(RuleError) as misspelt:
        many.rule("stepp7")
    assert "did you mean step7?" in misspelt.value.hint
    with pytest.raises(RuleError) as strange:
        many.rule("zzz")
    assert strange.value.hint.startswith("rules are called step0, step1, ")
    with pytest.raises(RuleError, match="there is no rule r1"):
        parse("").rule("r1")
