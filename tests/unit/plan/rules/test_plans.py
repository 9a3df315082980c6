"""Plans: the order of steps, normal form, transitive rules and the schema split."""

from __future__ import annotations

import pytest

from livefacts.plan import compile_rules
from livefacts.plan.rules.normal_form import normalize
from livefacts.plan.rules.plan_text import explain_plan
from livefacts.plan.rules.schema_split import follows_single_triples
from livefacts.plan.rules.traits import sorted_rules
from livefacts.plan.rules.transitivity import is_transitive
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse


def plan_of(text: str) -> str:
    return explain_plan(compile_rules(parse(text).rules))


def test_a_check_is_made_as_soon_as_its_variables_are_bound() -> None:
    assert plan_of("p(?x) :- q(?x, ?v), r(?x), ?v > 3 .").splitlines() == [
        "level 1",
        "  r1: when q(?x, ?v) is new",
        "      if ?v > 3",
        "      match r(?x)",
        "      conclude p(?x)",
        "  r1: when r(?x) is new",
        "      match q(?x, ?v) seen before",
        "      if ?v > 3",
        "      conclude p(?x)",
    ]


def test_arithmetic_is_cut_into_steps_and_negation_waits_for_its_level() -> None:
    assert plan_of("p(?x, ?f) :- q(?x, ?c), ?f = ?c * 2 + 1, not r(?x) . r(?x) :- s(?x) .") == (
        "level 1\n"
        "  r2: when s(?x) is new\n"
        "      conclude r(?x)\n"
        "level 2\n"
        "  r1: when q(?x, ?c) is new\n"
        "      let ?:0 = *(?c, 2)\n"
        "      let ?f = +(?:0, 1)\n"
        "      unless r(?x)\n"
        "      conclude p(?x, ?f)"
    )


def test_the_atom_with_most_bound_columns_comes_first() -> None:
    text = plan_of("p(?x) :- start(?x), far(?y, ?z), near(?x, ?y) .")
    first = text.split("r1: when far")[0].splitlines()
    assert [line.strip() for line in first[2:4]] == ["match near(?x, ?y)", "match far(?y, ?z)"]


def test_an_atom_that_is_bound_altogether_comes_before_others() -> None:
    text = plan_of("p(?x) :- start(?x, ?y), far(?x, ?y, ?z), open .")
    first = text.split("r1: when far")[0].splitlines()
    assert [line.strip() for line in first[2:4]] == ["match open", "match far(?x, ?y, ?z)"]


def test_an_aggregate_becomes_rows_values_and_a_rule() -> None:
    rules = normalize(parse("n(?d, ?k) :- ?k = max { ?e : worksFor(?e, ?d) } .").rules)
    assert [rule.head.slots[0].name for rule in rules] == ["_rows:r1.0", "_values:r1.0", "n"]  # type: ignore[union-attr]


def test_a_count_has_a_rule_whose_instances_are_what_is_counted() -> None:
    rules = normalize(parse("n(?d, ?k) :- ?k = count { ?e : worksFor(?e, ?d) } .").rules)
    names = [rule.head.slots[0].name for rule in rules]  # type: ignore[union-attr]
    assert names == ["_rows:r1.0", "_groups:r1.0", "_values:r1.0", "n"]


@pytest.mark.parametrize("function", ["count", "max"])
def test_rules_in_normal_form_stay_as_they_are(function: str) -> None:
    rules = normalize(parse(f"false :- ?k = {function} {{ ?e : worksFor(?e, ?d) }} .").rules)
    assert normalize(rules) == rules


def test_a_body_without_a_positive_atom_starts_from_what_is_always_true() -> None:
    assert "when _true: is new" in plan_of("dark :- not light .")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .", True),
        ("p(?x, ?z) :- p(?y, ?z), p(?x, ?y) .", True),
        (
            "[?x, rdfs:subClassOf, ?z] :- [?x, rdfs:subClassOf, ?y], [?y, rdfs:subClassOf, ?z] .",
            True,
        ),
        ("p(?x, ?z) :- p(?x, ?y), q(?y, ?z) .", False),
        ("p(?x, ?x) :- p(?x, ?y), p(?y, ?x) .", False),
        ("p(?x, ?z) :- p(?x, ?y), p(?y, ?z), ?x != ?z .", False),
        ("p(?z, ?x) :- p(?x, ?y), p(?y, ?z) .", False),
        ("[?x, ?p, ?z] :- [?x, ?p, ?y], [?y, ?p, ?z] .", False),
    ],
)
def test_only_a_rule_that_says_nothing_else_is_transitive(text: str, expected: bool) -> None:
    (rule,) = parse(text).rules
    assert is_transitive(rule) is expected


def test_one_premise_of_a_transitive_rule_matches_edges_only() -> None:
    text = plan_of("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .")
    assert "match edges of p(?y, ?z)" in text
    assert "when an edge of p(?y, ?z) is new" in text


@pytest.mark.parametrize("name", ["rho-df", "rdfs"])
def test_the_rdfs_rules_follow_single_triples(name: str) -> None:
    assert all(map(follows_single_triples, open_rules(name).rules))


def test_at_most_one_level_follows_single_triples() -> None:
    text = """
    [?x, a, ?c] :- [?p, rdfs:domain, ?c], [?x, ?p, ?y] .
    [?x, a, ?d] :- [?x, a, ?c], [?c, rdfs:subClassOf, ?d] .
    odd(?x) :- thing(?x), not [?x, a, <x:Even>] .
    lone(?x) :- odd(?x), not [?x, <x:near>, ?x] .
    """
    plan = compile_rules(parse(text).rules)
    assert sum(bool(level.single) for level in plan.levels) == 1


def test_a_join_of_two_instance_triples_is_left_out_of_the_split() -> None:
    mine = parse("[?x, <x:g>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .").rules
    found = sorted_rules((*open_rules("rho-df").rules, *mine))
    assert found.others == mine
    assert len(found.single) == 6


def test_rules_that_stay_keep_their_plans() -> None:
    program = parse("@id up p(?x) :- q(?x) .  @id over r(?x) :- s(?x) .")
    before = compile_rules(program.rules)
    after = compile_rules(program.rules[:1], before=before)
    assert after.levels[0].plans[0] is before.levels[0].plans[0]


def test_a_rule_that_becomes_recursive_gets_another_plan() -> None:
    program = parse("@id up p(?x) :- q(?x) .  @id back q(?x) :- p(?x) .")
    before = compile_rules(program.rules[:1])
    after = compile_rules(program.rules, before=before)
    assert [plan.recursive for plan in before.levels[0].plans] == [False]
    assert [plan.recursive for plan in after.levels[0].plans] == [True, True]


def test_a_transitive_rule_whose_edges_begin_to_depend_on_it_gets_another_plan() -> None:
    program = parse("""
        @id far    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        @id around path(?x, ?y) :- path(?y, ?x) .
    """)
    before = compile_rules(program.rules[:1])
    after = compile_rules(program.rules, before=before)
    assert all(plan.transitive for plan in before.levels[0].plans)
    assert not any(plan.transitive for plan in after.levels[0].plans)
