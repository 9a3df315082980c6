"""Existence tests: which parts of a body are only asked for, and what that leaves to count."""

from __future__ import annotations

import pytest

import livefacts as lf
from livefacts.language.formula import Aggregate
from livefacts.language.program import Rule
from livefacts.plan import compile_rules
from livefacts.plan.rules.existence_tests import EXISTS
from livefacts.plan.rules.normal_form import normalize, with_whole_bodies
from livefacts.plan.rules.plan_text import written
from livefacts.syntax.rulelang.rule_parser import parse


def normal(text: str) -> list[str]:
    """The rules of a text in normal form, but for those that only total up groups."""
    rules = normalize(parse(text).rules)
    return [_text(rule) for rule in rules if not isinstance(rule.body[0], Aggregate)]


def _text(rule: Rule) -> str:
    assert rule.head is not None
    return f"{written(rule.head)} :- {' & '.join(map(written, rule.body))}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "late(?t) :- train(?t), storm(?s), over(?s, ?r), ?r != hills .",
            [
                "_exists:storm(?0), over(?0, ?1), ?1 != hills"
                " :- storm(?s) & over(?s, ?r) & ?r != hills",
                "late(?t) :- _exists:storm(?0), over(?0, ?1), ?1 != hills & train(?t)",
            ],
        ),
        (
            "late(?t) :- track(?k), not blocked(?k), train(?t) .",
            [
                "_exists:track(?0), not blocked(?0) :- track(?k) & not blocked(?k)",
                "late(?t) :- _exists:track(?0), not blocked(?0) & train(?t)",
            ],
        ),
        (
            "risk :- storm(?s), track(?k), ?n = datatype(?k), ?n is ?n .",
            [
                "_exists:storm(?0) :- storm(?s)",
                "_exists:track(?0), ?1 = datatype(?0), ?1 is ?1"
                " :- track(?k) & ?n = datatype(?k) & ?n is ?n",
                "risk :- _exists:storm(?0) & _exists:track(?0), ?1 = datatype(?0), ?1 is ?1",
            ],
        ),
        (
            "late(?t) :- train(?t), storm(?s), storm(?r), windy .",
            [
                "_exists:storm(?0) :- storm(?r)",
                "late(?t) :- _exists:storm(?0) & train(?t) & windy",
            ],
        ),
    ],
)
def test_a_part_that_no_variable_ties_to_the_head_becomes_a_test(
    text: str, expected: list[str]
) -> None:
    assert normal(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "meet(?t, ?k) :- train(?t), track(?k) .",
        "risk :- storm(?s), over(?s, ?r) .",
        "risk :- storm(?s), windy, not calm .",
        "first(?t) :- train(?t), storm(?s), ?t < ?s .",
        "hot(?t) :- ?t = 3, reading(?v) .",
        "[?x, a, <x:Kept>] :- [?x, <x:in>, ?y], [?c, rdfs:subClassOf, ?d] .",
    ],
    ids=["a product", "one part", "no variables", "tied by a test", "no atom", "single triples"],
)
def test_other_rules_stay_as_they_are(text: str) -> None:
    rules = parse(text).rules
    assert normalize(rules) == rules


def test_a_constraint_lists_the_values_of_all_its_parts() -> None:
    rules = normalize(parse("@id both false :- train(?t), storm(?s) .").rules)
    assert list(map(_text, rules)) == ["_violation:both(?t, ?s) :- train(?t) & storm(?s)"]


def test_parts_in_braces_are_only_asked_for_too() -> None:
    first, rows, *_ = normal("n(?n) :- ?n = max { ?v : reading(?v), storm(?s) } .")
    assert first == "_exists:storm(?0) :- storm(?s)"
    assert rows == "_rows:r1.0(?v) :- _exists:storm(?0) & reading(?v)"


def test_a_group_that_nothing_needs_is_only_asked_for() -> None:
    *_, rule = normal("busy(?t) :- train(?t), ?n = count { ?k : track(?k) }, ?n > 1 .")
    assert rule == "busy(?t) :- _exists:_values:r1.1(?0), ?0 > 1 & train(?t)"


def test_rules_with_tests_are_in_normal_form() -> None:
    rules = normalize(parse("late(?t) :- train(?t), storm(?s), over(?s, ?r) .").rules)
    assert all(a is b for a, b in zip(normalize(rules), rules, strict=True))


def test_proofs_have_whole_bodies() -> None:
    rules = parse("late(?t) :- train(?t), storm(?s) .").rules
    assert with_whole_bodies(rules) == rules


def test_a_part_that_reads_the_head_is_recursive_with_it() -> None:
    rules = parse("late(?t) :- train(?t), late(?u) . late(?t) :- slow(?t) .").rules
    plans = compile_rules(rules).levels[0].plans
    recursive = {(plan.rule.id, written(plan.head)) for plan in plans if plan.recursive}
    assert recursive == {("r1", "_exists:late(?0)"), ("r1", "late(?t)")}


def test_a_test_is_made_before_facts_are_looked_for() -> None:
    rules = parse("late(?t) :- train(?t), line(?t, ?l), storm(?s) .").rules
    (plan,) = (p for p in compile_rules(rules).levels[0].plans if written(p.pivot) == "train(?t)")
    first, _ = plan.steps
    assert written(first.atom).startswith(EXISTS)  # type: ignore[union-attr]


def test_matches_of_a_part_are_counted_once() -> None:
    r = lf.Reasoner(rules="late(?t) :- train(?t), storm(?s), track(?k) .")
    r.add([("train", n) for n in range(10)])
    r.add([(name, n) for name in ("storm", "track") for n in range(20)])
    assert r.verify().instances == 10 + 20 + 20


@pytest.mark.parametrize("maintenance", ["counting-dred", "dred", "counting", "recompute"])
def test_conclusions_end_with_the_last_match_of_a_part(maintenance: str) -> None:
    r = lf.Reasoner(rules="late(?t) :- train(?t), storm(?s) .", maintenance=maintenance)
    r.add([("train", 1), ("storm", 1), ("storm", 2)])
    assert not r.remove([("storm", 1)]).counts["derived_removed"]
    d = r.remove([("storm", 2)])
    assert list(map(str, d.removed)) == ["storm(2)", "late(1)"]
    assert list(map(str, r.add([("storm", 3)]).derived)) == ["late(1)"]
    assert r.verify().ok


def test_an_explanation_shows_the_premises_of_every_part() -> None:
    r = lf.Reasoner(rules="late(?t) :- train(?t), storm(?s) .")
    r.add([("train", 1), ("storm", 7)])
    proof = r.explain("late(1)").proof
    assert proof is not None
    assert [str(premise.fact) for premise in proof.premises] == ["train(1)", "storm(7)"]  # type: ignore[union-attr]
    r.remove([("storm", 7)])
    (attempt,) = r.explain("late(1)").attempts
    assert [str(wanted.state.value) for wanted in attempt.premises] == ["true", "missing"]


def test_a_window_that_no_variable_ties_to_the_head_opens_and_closes_for_all() -> None:
    r = lf.Reasoner(rules="late(?t) :- train(?t), sometime storm(?s) in [3] .")
    r.add([("train", 1), ("train", 2)])
    r.push([("storm", 7)], at=2)
    r.push([("storm", 8)], at=4)
    held = []
    for now in range(9):
        r.advance(now)
        held.append(len([f for f in r.facts() if str(f).startswith("late")]))
    assert held == [0, 0, 2, 2, 2, 2, 2, 2, 0]
    assert r.verify().ok
