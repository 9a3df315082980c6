"""Rules of other systems, where rules are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import livefacts as lf
from livefacts.syntax.foreign_rules.dialects import dialect_of
from livefacts.syntax.rule_sets import open_rules, ready_names

GOLDEN = Path(__file__).parents[2] / "golden" / "foreign"
N3 = "@prefix : <http://example.org/> .\n{ ?x :in ?y } => { ?y :has ?x } .\n"
FACT = "<http://example.org/cup> <http://example.org/in> <http://example.org/sink> ."
HAS = "<http://example.org/sink> <http://example.org/has> <http://example.org/cup>"


@pytest.mark.parametrize("name", ready_names())
def test_no_ready_rule_set_is_taken_for_another_language(name: str) -> None:
    path = Path(lf.__file__).parent / "rulesets" / f"{name}.rules"
    assert dialect_of(path.read_text(encoding="utf-8")) is None


@pytest.mark.parametrize(
    "text",
    [
        'p(?x) :- q(?x, "{ ?x } => { ?y } ->") .',
        "p(?x) :- q(?x) . # { ?x <x:p> ?y } => { ?y <x:p> ?x }",
        "n(?d, ?n) :- ?n = count { ?e : [?e, <x:RULE>, ?d] } .",
        "data(1) .\nrule(2) :- data(1) .\nif(?x) :- rule(?x), ?x <-1 .",
        "p(?x) :- sometime q(?x) in[3] .",
    ],
)
def test_what_only_looks_like_another_language_is_ours(text: str) -> None:
    assert dialect_of(text) is None


def test_a_text_a_file_and_a_list_of_them_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "home.n3"
    path.write_text(N3, encoding="utf-8")
    for rules in (N3, path, str(path), [N3, "p(?x) :- q(?x) ."]):
        r = lf.Reasoner(rules=rules)
        r.add(FACT)
        assert HAS in r
    r.remove_rules(N3)
    assert HAS not in r


def test_an_ending_says_more_than_the_text(tmp_path: Path) -> None:
    path = tmp_path / "home.srl"
    path.write_text("# nothing yet\n", encoding="utf-8")
    assert len(open_rules(path)) == 0
    path.write_text("p(?x) :- q(?x) .", encoding="utf-8")
    with pytest.raises(lf.RuleSyntaxError, match=r"nothing of these SHACL 1\.2 Rules"):
        open_rules(path)


def test_a_file_of_rules_can_be_loaded_with_its_facts() -> None:
    r = lf.Reasoner()
    with pytest.warns(lf.LivefactsWarning, match="store.dlog:12: SKOLEM makes new things"):
        r.load(GOLDEN / "store.dlog")
    assert "<http://example.org/peter> a <http://example.org/Adult>" in r
    assert "<http://example.org/peter> <http://example.org/next> 42" in r


def test_what_cannot_be_said_is_listed_with_its_lines() -> None:
    with pytest.warns(lf.LivefactsWarning) as caught:
        open_rules(GOLDEN / "family.srl")
    lines = str(caught[0].message).splitlines()
    assert lines[0] == "of these SHACL 1.2 Rules, 7 could not be read:"
    assert [line.split(":")[1] for line in lines[1:]] == [*map(str, range(15, 22))]


def test_the_swrl_rules_of_an_ontology_follow() -> None:
    with pytest.warns(lf.LivefactsWarning, match="long names"):
        r = lf.Reasoner(rules=GOLDEN / "uncle.ttl")
    r.add("""@prefix : <http://example.org/> .
        :ann :parent :ben . :ben :brother :carl . :ann a :Person ; :age 17 . :ben a :Person ; :age 40 .""")
    adults = {str(row["x"]) for row in r.query("SELECT ?x { ?x a <http://example.org/Adult> }")}
    assert adults == {"<http://example.org/ben>"}
    assert "<http://example.org/ann> <http://example.org/uncle> <http://example.org/carl>" in r
    assert "<http://example.org/ben> <http://example.org/next> 41" in r


def test_an_ontology_without_swrl_says_what_is_meant_perhaps(tmp_path: Path) -> None:
    path = tmp_path / "plain.ttl"
    path.write_text("<x:a> a <x:B> .", encoding="utf-8")
    with pytest.raises(lf.RuleError, match="there are no SWRL rules"):
        lf.Reasoner(rules=path)


def test_an_explanation_shows_the_line_of_the_other_language() -> None:
    r = lf.Reasoner(rules=N3)
    r.add(FACT)
    assert "[?y, :has, ?x] :- [?x, :in, ?y]" in str(r.explain(HAS))
    assert r.rules[0].place.line == 2


@pytest.mark.parametrize(
    "deep",
    [
        "FILTER(" + "(" * 3000 + "?y" + ")" * 3000 + " > 3)",
        "FILTER(" + "!" * 3000 + "(?y > 3))",
        "?y :q " + "[ :q " * 3000 + "?y" + "]" * 3000,
        "SET(?z := 1" + "+1" * 3000 + ")",
        "NOT { ?x :r ?y " * 3000 + "}" * 3000,
    ],
    ids=["brackets", "denials", "blank nodes", "sums", "negations"],
)
def test_a_statement_that_is_nested_too_deeply_is_left_out_alone(deep: str) -> None:
    rule = "RULE {{ ?x :p ?x }} WHERE {{ ?x :q ?y . {} }}\n"
    text = (
        "PREFIX : <http://example.org/>\n" + rule.format(deep) + rule.format("FILTER(((?y)) > 3)")
    )
    with pytest.warns(lf.LivefactsWarning, match=":2: it is nested too deeply"):
        assert len(lf.Reasoner(rules=text).rules) == 1
