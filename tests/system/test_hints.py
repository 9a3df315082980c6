"""What the command says to those who stumble."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.system.running import Ended, livefacts

BOTH = "@id cat_or_dog false :- [?x, a, <x:Cat>], [?x, a, <x:Dog>] ."
ONTOLOGY = """
@prefix : <http://family.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Person a owl:Class ; rdfs:subClassOf
  [ a owl:Restriction ; owl:onProperty :hasParent ; owl:someValuesFrom :Person ] .
:hasParent a owl:ObjectProperty .
"""


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    file = tmp_path / "pets.ttl"
    file.write_text("<x:tom> a <x:Cat>, <x:Dog> . <x:kit> a <x:Cat>, <x:Dog> .")
    return file


@pytest.fixture
def rules(tmp_path: Path) -> str:
    file = tmp_path / "pets.rules"
    file.write_text(BOTH)
    return str(file)


class TestFiles:
    @pytest.mark.parametrize("job", ["query", "watch"])
    def test_files_in_a_row_are_all_loaded(self, job: str, pets: Path) -> None:
        ended = livefacts(job, "ASK {}", "--data", str(pets), "b.ttl")
        assert ended.code == 1
        assert "there is no file b.ttl" in ended.err

    def test_a_misspelt_file_is_recognised(self, pets: Path) -> None:
        ended = livefacts("load", str(pets.with_name("petts.ttl")))
        assert ended.code == 1
        assert f"hint: did you mean {pets}?" in ended.err

    def test_a_misspelt_file_of_a_query_is_recognised(self, tmp_path: Path) -> None:
        (tmp_path / "heads.rq").write_text("ASK {}")
        ended = livefacts("query", str(tmp_path / "head.rq"))
        assert f"hint: did you mean {tmp_path / 'heads.rq'}?" in ended.err

    def test_a_question_without_data_is_noticed(self) -> None:
        assert "nothing was loaded: give files with --data" in livefacts("query", "ASK {}").err

    def test_a_line_that_ends_too_early_does_not_end_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "bad.nt").write_text('<x:a> <x:b> "c .\n<x:a> <x:b> "c" .\n')
        assert (
            "bad.nt:1:13: the line ends too early"
            in livefacts("load", str(tmp_path / "bad.nt")).err
        )


class TestQueries:
    def test_a_name_that_nothing_speaks_of_is_told(self, tmp_path: Path) -> None:
        file = tmp_path / "f.ttl"
        file.write_text("@prefix f: <http://f.example/> . f:ann f:hasFather f:ben .")
        ended = livefacts("query", "SELECT ?x { ?x f:hasFathr f:ben }", "--data", str(file))
        assert ended.code == 0
        assert ended.err == "nothing speaks of f:hasFathr; did you mean f:hasFather?\n"
        ended = livefacts("query", "SELECT ?x { ?x f:hasFather f:ann }", "--data", str(file))
        assert ended.err == ""

    def test_a_yes_is_a_row_without_a_head(self, pets: Path) -> None:
        ended = livefacts("watch", "ASK { <x:tom> a <x:Cat> }", "--data", str(pets))
        assert ended.out == "+    true\n"

    def test_a_bound_is_raised_by_the_option_of_its_name(self, pets: Path) -> None:
        many = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
        for option, value in (("--memory", "10"), ("--timeout", "0.000001")):
            ended = livefacts("query", many, "--data", str(pets), option, value)
            assert ended.code == 1
            assert f"({option})" in ended.err

    def test_a_variable_is_given_a_value_as_turtle_writes_it(self, pets: Path) -> None:
        def asked(*bound: str) -> Ended:
            given = [word for each in bound for word in ("--bind", each)]
            text = "SELECT DISTINCT ?x ?n { ?x a ?c BIND(?n AS ?m) }"
            return livefacts("query", text, "--data", str(pets), "--format", "csv", *given)

        assert asked("x=<x:tom>", "n=5").out.splitlines() == ["x,n", "x:tom,5"]
        assert asked("?c=<x:nobody>").out.splitlines() == ["x,n"]
        assert asked('n="a,b"@en', "c=rdf:List").code == 0
        for wrong in ("x", "x=", "x=1, 2", "x=nobody:a", "x=<x:a> . <x:b> <x:c> <x:d>"):
            assert asked(wrong).code == 1
            assert "gives no variable a term" in asked(wrong).err
        assert "?x two values" in asked("x=1", "?x=2").err
        assert "no variable ?y" in asked("y=1").err

    def test_rows_that_are_left_out_are_told(self, pets: Path) -> None:
        ended = livefacts("query", "SELECT * { ?a ?b ?c }", "--data", str(pets), "--limit-rows=1")
        assert ended.err == "there are more rows than 1\n"

    def test_answers_are_written_as_xml(self, pets: Path) -> None:
        xml = ("--data", str(pets), "--format", "xml")
        assert "<boolean>true</boolean>" in livefacts("query", "ASK { ?x a ?c }", *xml).out
        assert "<uri>x:kit</uri>" in livefacts("query", "SELECT ?x { ?x a ?c }", *xml).out
        refused = livefacts("query", "CONSTRUCT WHERE { ?x a ?c }", *xml)
        assert (refused.code, "only the answer of SELECT or ASK" in refused.err) == (1, True)

    def test_everything_is_emptied_by_one_operation(self, pets: Path) -> None:
        ended = livefacts("apply", str(pets), "--update", "CLEAR ALL")
        assert ended.code == 0
        assert "0 asserted" in ended.err


class TestFormats:
    @pytest.mark.parametrize(
        "words", [("load", "none.nt", "--dump", "x.foo"), ("dump", "none.nt", "--format", "foo")]
    )
    def test_an_unknown_format_is_refused_before_anything_is_loaded(
        self, words: tuple[str, ...]
    ) -> None:
        ended = livefacts(*words)
        assert ended.code == 1
        assert "error: unknown format foo\nhint: known: nt, nq, " in ended.err
        assert ended.err.endswith(", rules\n")

    def test_a_file_whose_name_says_nothing_is_named_a_format(self, tmp_path: Path) -> None:
        file = tmp_path / "weird.xyz"
        file.touch()
        assert "format= (--input-format) names another" in livefacts("load", str(file)).err


class TestTicks:
    def test_what_is_no_whole_number_of_ticks_names_both_ways_to_shorten_them(self) -> None:
        query = "SELECT ?x FROM STREAM <http://e/s> [RANGE 1s STEP 500ms] { ?x ?p ?y }"
        ended = livefacts("register", query, "--stream", "-")
        assert "@tick 500 ms . in the rules, or tick= (--tick '500 ms')" in ended.err


class TestViolations:
    def test_the_constraints_are_named_and_the_way_on(self, pets: Path, rules: str) -> None:
        ended = livefacts("load", str(pets), "--rules", rules)
        assert ended.code == 0
        assert "2 violations of constraints: cat_or_dog 2" in ended.err
        explain = f"livefacts explain cat_or_dog --data {pets} --rules {rules} says why"
        assert f"--violations FILE writes them; {explain}" in ended.err

    def test_where_they_were_written_is_said(self, pets: Path, rules: str, tmp_path: Path) -> None:
        table = str(tmp_path / "v.csv")
        ended = livefacts("load", str(pets), "--rules", rules, "--violations", table)
        assert f"hint: all of them are in {table}" in ended.err

    def test_they_can_fail_the_command(self, pets: Path, rules: str) -> None:
        arguments = ("load", str(pets), "--fail-on-violation")
        assert livefacts(*arguments, "--rules", rules).code == 4
        assert livefacts(*arguments).code == 0

    def test_each_of_them_can_be_explained(self, pets: Path, rules: str) -> None:
        arguments = ("explain", "cat_or_dog", "--data", str(pets), "--rules", rules)
        first, second = (livefacts(*arguments, "--which", which) for which in "12")
        assert first.err == "violation 1 of 2 of cat_or_dog; --which N explains another\n"
        assert {"tom" in first.out, "tom" in second.out} == {True, False}
        assert "hint: there are 2" in livefacts(*arguments, "--which", "3").err
        pets.write_text("<x:tom> a <x:Cat>, <x:Dog> .")
        assert livefacts(*arguments, "--which", "3").err.endswith("hint: there is one\n")


class TestRules:
    def test_axioms_that_are_not_in_rules_are_told_with_the_load(self, tmp_path: Path) -> None:
        file = tmp_path / "family.ttl"
        file.write_text(ONTOLOGY)
        ended = livefacts("load", str(file), "--rules", f"dlp:{file}")
        assert "1 axiom is not, or not fully, in rules" in ended.err
        assert f"hint: livefacts rules from-owl {file} says which" in ended.err

    def test_rules_without_variables_are_doubted_and_in_order(self, tmp_path: Path) -> None:
        file = tmp_path / "a.rules"
        file.write_text("a(X) :- b(X) .")
        ended = livefacts("rules", "check", str(file))
        assert ended.code == 0
        assert "hint: variables are written ?X: a(?X) :- b(?X) ." in ended.err
        assert "warning: this rule has no variables" in livefacts("load", str(file)).err

    def test_the_list_of_rule_sets_is_aligned_and_knows_ontologies(self) -> None:
        lines = livefacts("rules", "list").out.splitlines()
        assert len({line.index(" rules  ") for line in lines[:-1]}) == 1
        assert lines[-1].startswith("dlp:FILE")


class TestStreams:
    @pytest.fixture
    def program(self, tmp_path: Path) -> str:
        file = tmp_path / "ill.rules"
        file.write_text("ill(?p) :- sometime temp(?p, ?v) in [1], ?v > 38 .")
        return str(file)

    @pytest.fixture
    def readings(self, tmp_path: Path) -> str:
        file = tmp_path / "temps.jsonl"
        file.write_text(
            '{"at": 1, "facts": "temp(ann, 39) ."}\n'
            '{"at": 2, "facts": ["temp(bob) .", "temp(cleo, 40) ."]}\n'
            '{"at": 3, "facts": "temp(dan) . temp(dan, 36) ."}\n'
            '{"at": 9, "facts": "temp(ann, 36) ."}\n'
        )
        return str(file)

    def test_facts_that_do_not_fit_the_rules_are_rejected(
        self, program: str, readings: str
    ) -> None:
        ended = livefacts("run", program, "--facts", readings)
        assert ended.code == 3
        assert "1 + ill(ann)" in ended.out
        assert "2 + ill(cleo)" in ended.out
        assert "temp has 1 argument in temp(bob) and 2 arguments at" in ended.err
        assert "temp has 2 arguments here and 1 argument at" in ended.err

    def test_each_fact_of_a_predicate_is_explained(self, program: str, readings: str) -> None:
        out = livefacts("run", program, "--facts", readings, "--explain", "ill").out
        assert out.count("by r1: ill(?p) :- ") == 2

    def test_what_never_began_to_hold_is_told(self, program: str, readings: str) -> None:
        ended = livefacts("run", program, "--facts", readings, "--explain", "ill(dan)")
        assert "ill(dan) never began to hold" in ended.err

    def test_answers_are_shown_when_they_change(self, tmp_path: Path) -> None:
        (tmp_path / "p.rules").write_text("seen(?p) :- sometime temp(?p, ?v) in [9] .")
        (tmp_path / "f.jsonl").write_text(
            "".join(f'{{"at": {at}, "facts": "temp(ann, {at}) ."}}\n' for at in (1, 2, 3))
        )
        arguments = (str(tmp_path / "p.rules"), "--facts", str(tmp_path / "f.jsonl"))
        assert livefacts("run", *arguments, "--show", "answers").out == "1: seen(ann)\n"

    def test_a_time_in_quotes_is_no_time(self, program: str, tmp_path: Path) -> None:
        (tmp_path / "f.nq").write_text('<x:a> <x:b> <x:c> "14" .\n')
        ended = livefacts("run", program, "--facts", str(tmp_path / "f.nq"))
        assert '"14" is not a time point: write 14 without quotes, or an xsd:dateTime' in ended.err

    def test_streams_that_queries_do_read_are_named(self, tmp_path: Path) -> None:
        query = (
            "REGISTER QUERY q AS SELECT ?x FROM STREAM <x:gates> [RANGE 5s STEP 5s] { ?x a <x:C> }"
        )
        (tmp_path / "q.rq").write_text(query)
        (tmp_path / "f.nq").write_text("<x:a> <x:b> <x:c> <x:doors> 14 .\n")
        stream = str(tmp_path / "f.nq")
        ended = livefacts("register", str(tmp_path / "q.rq"), "--stream", stream)
        assert "no query reads what came on <x:doors>: 1 fact" in ended.err
        assert "hint: queries read <x:gates>" in ended.err
