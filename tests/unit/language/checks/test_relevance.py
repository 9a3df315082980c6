"""Needed rules: those whose conclusions can matter."""

from __future__ import annotations

from pyoxigraph import NamedNode

from livefacts.language.checks.relevance import fed_rules, needed_rules
from livefacts.language.formula import TripleAtom, Variable
from livefacts.syntax.rulelang.rule_parser import parse

EX = "http://example.org/"
RULES = parse(
    f"""@prefix : <{EX}> .
    @id up    [?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .
    @id cat   [?x, a, :Animal] :- [?x, a, :Cat] .
    @id kept  [?x, a, :Cat] :- keeps(?y, ?x) .
    @id keeps keeps(?x, ?y) :- [?x, :has, ?y], not [?y, :in, :zoo] .
    @id any   [?y, ?q, ?x] :- [?x, ?p, ?y], inverse(?p, ?q) .
    @id never false :- [?x, :in, ?x] .
    """
)


def needed(subject: str, predicate: str, value: str) -> str:
    slots = [
        Variable(word[1:]) if word.startswith("?") else NamedNode(word)
        for word in (subject, predicate, value)
    ]
    return " ".join(rule.id for rule in needed_rules(RULES.rules, [TripleAtom(*slots)]))


def without_any() -> tuple[str, ...]:
    rules = [rule for rule in RULES.rules if rule.id != "any"]
    atom = TripleAtom(Variable("x"), NamedNode(EX + "in"), Variable("y"))
    return tuple(rule.id for rule in needed_rules(rules, [atom]))


def test_a_rule_is_needed_if_its_head_can_match_and_so_are_those_it_reads() -> None:
    assert without_any() == ("up",)


def test_a_rule_with_any_predicate_draws_in_all_that_make_triples() -> None:
    assert needed("?x", EX + "in", "?y") == "up cat kept keeps any"


def test_what_negation_looks_at_is_needed_too() -> None:
    rules = [rule for rule in RULES.rules if rule.id not in ("any", "never")]
    type_ = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    atom = TripleAtom(Variable("x"), type_, NamedNode(EX + "Cat"))
    assert [rule.id for rule in needed_rules(rules, [atom])] == ["up", "kept", "keeps"]


def test_constraints_are_never_needed() -> None:
    assert "never" not in needed("?s", "?p", "?o")


def test_a_rule_feeds_those_whose_bodies_its_conclusions_may_match() -> None:
    names = [rule.id for rule in RULES.rules]
    fed = {
        rule: " ".join(names[number] for number in found)
        for rule, found in zip(names, fed_rules(RULES.rules), strict=True)
    }
    assert fed == {
        "up": "up keeps any never",
        "cat": "any",
        "kept": "cat any",
        "keeps": "kept",
        "any": "up cat keeps any never",
        "never": "",
    }
