"""Loading, asking and writing from the command line, and what bad input does to them."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import signal
from pathlib import Path

import pytest
from tests.system.running import livefacts, started

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
PEOPLE = f"<urn:ada> {TYPE} <urn:Writer> .\n<urn:Writer> {SUBCLASS} <urn:Person> .\n"
CONCLUSION = f"<urn:ada> {TYPE} <urn:Person> ."
ADA = "SELECT ?x WHERE { ?x a <urn:Person> }"


@pytest.fixture
def people(tmp_path: Path) -> str:
    """A file that tells of one writer."""
    path = tmp_path / "people.nt"
    path.write_text(PEOPLE)
    return str(path)


class TestLoad:
    """`livefacts load`."""

    def test_what_was_told_and_concluded_is_counted_on_standard_error(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rho-df")
        assert (ended.code, ended.out) == (0, "")
        assert "2 facts asserted, 1 derived, 3 facts true" in ended.err

    def test_a_dump_has_what_was_told_and_what_was_concluded(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rho-df", "--dump", "-")
        assert sorted(ended.out.splitlines()) == sorted([*PEOPLE.splitlines(), CONCLUSION])

    def test_a_dump_of_conclusions_has_nothing_else(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rho-df", "--dump", "-", "--derived")
        assert ended.out == CONCLUSION + "\n"

    def test_a_dump_of_what_was_told_has_no_conclusion(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rho-df", "--dump", "-", "--asserted")
        assert sorted(ended.out.splitlines()) == sorted(PEOPLE.splitlines())

    def test_a_dump_is_compressed_as_its_name_says(self, people: str, tmp_path: Path) -> None:
        path = tmp_path / "closure.nt.gz"
        livefacts("load", people, "--rules", "rho-df", "--dump", str(path))
        assert CONCLUSION.encode() in gzip.decompress(path.read_bytes())

    def test_figures_are_data(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rho-df", "--stats", "--format", "json")
        assert json.loads(ended.out)["asserted"] == 2

    def test_globs_and_several_rules_are_taken_together(self, people: str, tmp_path: Path) -> None:
        (tmp_path / "more.nt").write_text(f"<urn:bob> {TYPE} <urn:Writer> .\n")
        (tmp_path / "mine.rules").write_text("known(?x) :- [?x, a, <urn:Person>] .\n")
        ended = livefacts(
            *("load", str(tmp_path / "*.nt"), "--rules", "rho-df"),
            *("--rules", str(tmp_path / "mine.rules"), "--dump", "-", "--derived", "--stats"),
        )
        assert ended.code == 0
        assert "3 facts asserted, 4 derived" in ended.err

    def test_violations_are_counted_and_written(self, people: str, tmp_path: Path) -> None:
        (tmp_path / "never.rules").write_text("@id nobody false :- [?x, a, <urn:Person>] .\n")
        found = tmp_path / "violations.jsonl"
        ended = livefacts(
            *("load", people, str(tmp_path / "never.rules"), "--rules", "rho-df"),
            *("--violations", str(found)),
        )
        assert ended.code == 0
        assert "1 violation of constraints: nobody 1\n" in ended.err
        assert "--violations FILE" not in ended.err
        assert json.loads(found.read_text()) == {
            "constraint": "nobody",
            "bindings": {"x": "<urn:ada>"},
            "facts": [f"<urn:ada> {TYPE} <urn:Person>"],
        }

    def test_standard_input_is_a_file_too(self) -> None:
        ended = livefacts("load", "-", "--rules", "rho-df", stdin=PEOPLE)
        assert "2 facts asserted, 1 derived" in ended.err

    def test_the_format_of_standard_input_can_be_said(self) -> None:
        turtle = "@prefix ex: <http://example.org/> . ex:tom a ex:Cat, ex:Pet ."
        ended = livefacts("load", "-", "--input-format", "ttl", stdin=turtle)
        assert "2 facts asserted" in ended.err


class TestQuery:
    """`livefacts query`."""

    def test_conclusions_are_among_the_answers(self, people: str) -> None:
        ended = livefacts("query", ADA, "--data", people, "--rules", "rho-df", "--format", "csv")
        assert (ended.code, ended.out.splitlines()) == (0, ["x", "urn:ada"])

    def test_answers_are_a_table_unless_asked_for_otherwise(self, people: str) -> None:
        ended = livefacts("query", ADA, "--data", people, "--rules", "rho-df")
        assert "?x" in ended.out
        assert "<urn:ada>" in ended.out

    def test_answers_as_json_follow_the_standard(self, people: str) -> None:
        ended = livefacts("query", ADA, "-d", people, "-r", "rho-df", "--format", "json")
        answers = json.loads(ended.out)
        assert answers["results"]["bindings"] == [{"x": {"type": "uri", "value": "urn:ada"}}]

    def test_a_query_can_stand_in_a_file(self, people: str, tmp_path: Path) -> None:
        (tmp_path / "ada.rq").write_text(ADA)
        ended = livefacts("query", str(tmp_path / "ada.rq"), "-d", people, "-r", "rho-df")
        assert "<urn:ada>" in ended.out

    def test_yes_and_no_are_answers(self, people: str) -> None:
        ended = livefacts("query", "ASK { <urn:ada> a <urn:Cat> }", "-d", people, "--format", "tsv")
        assert (ended.code, ended.out) == (0, "false\n")

    def test_a_graph_is_written_as_triples(self, people: str) -> None:
        wanted = "CONSTRUCT { ?x <urn:is> ?c } WHERE { ?x a ?c }"
        assert livefacts("query", wanted, "-d", people).out == "<urn:ada> <urn:is> <urn:Writer> .\n"

    def test_a_plan_is_printed_instead_of_answers(self, people: str) -> None:
        ended = livefacts("query", ADA, "-d", people, "-r", "rho-df", "--plan")
        head, first, *_ = ended.out.splitlines()
        assert (ended.code, head.split()[-2:]) == (0, ["rows", "time"])
        assert re.fullmatch(r"SELECT \?x +1 +[0-9.]+ ms", first)

    def test_a_plan_has_the_forms_of_an_explanation(self, people: str) -> None:
        asked = "query", ADA, "-d", people, "--explain-only", "--format"
        assert livefacts(*asked, "dot").out.startswith("digraph plan {")
        data = json.loads(livefacts(*asked, "json").out)
        assert data["operator"] == "SELECT ?x"
        assert "rows" not in data

    def test_only_a_plan_is_a_picture_and_it_is_no_table(self, people: str) -> None:
        picture = livefacts("query", ADA, "-d", people, "--format", "dot")
        assert (picture.code, "--plan" in picture.err) == (1, True)
        table = livefacts("query", ADA, "-d", people, "--plan", "--format", "csv")
        assert (table.code, "text, dot or json" in table.err) == (1, True)

    def test_rows_cannot_be_written_as_triples(self, people: str) -> None:
        ended = livefacts("query", ADA, "-d", people, "--format", "nt")
        assert ended.code == 1
        assert "CONSTRUCT" in ended.err

    def test_a_query_with_a_mistake_is_an_error_with_its_place(self, people: str) -> None:
        ended = livefacts("query", "SELECT ?x WHERE { ?x a }", "-d", people)
        assert (ended.code, ended.out) == (1, "")
        assert "error:" in ended.err

    def test_a_query_may_not_reach_out(self, people: str) -> None:
        remote = "SELECT * { SERVICE <http://localhost:9/> { ?s ?p ?o } }"
        ended = livefacts("query", remote, "-d", people)
        assert ended.code == 1
        assert "SERVICE" in ended.err

    def test_a_missing_query_file_is_an_error(self, people: str) -> None:
        ended = livefacts("query", "gone.rq", "-d", people)
        assert ended.code == 1
        assert "gone.rq" in ended.err


class TestDump:
    """`livefacts dump`."""

    def test_everything_true_goes_to_standard_output(self, people: str) -> None:
        ended = livefacts("dump", people, "--rules", "rho-df")
        assert ended.code == 0
        assert sorted(ended.out.splitlines()) == sorted([*PEOPLE.splitlines(), CONCLUSION])

    def test_a_dump_can_be_loaded_again(self, people: str, tmp_path: Path) -> None:
        path = tmp_path / "closure.ttl"
        livefacts("dump", people, "--rules", "rho-df", "-o", str(path))
        assert "3 facts asserted, 0 derived" in livefacts("load", str(path), "-r", "rho-df").err

    def test_an_unknown_format_is_an_error_that_leaves_the_old_file_alone(
        self, people: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "old.nt"
        path.write_text("old\n")
        ended = livefacts("dump", people, "-o", str(path), "--format", "docx")
        assert ended.code == 1
        assert "docx" in ended.err
        assert path.read_text() == "old\n"
        assert list(tmp_path.glob("*.part")) == []

    def test_facts_that_a_format_cannot_hold_draw_a_warning(self, tmp_path: Path) -> None:
        (tmp_path / "my.rules").write_text("p(?x) :- q(?x) .\nq(a) .\n")
        ended = livefacts("dump", str(tmp_path / "my.rules"))
        assert (ended.code, ended.out) == (0, "")
        assert "warning: 2 predicate facts" in ended.err

    def test_predicate_facts_are_written_as_rules(self, tmp_path: Path) -> None:
        (tmp_path / "my.rules").write_text("p(?x) :- q(?x) .\nq(a) .\n")
        ended = livefacts("dump", str(tmp_path / "my.rules"), "--format", "rules")
        assert sorted(ended.out.splitlines()) == ["p(a) .", "q(a) ."]

    def test_a_device_is_written_to_and_not_replaced(self, people: str) -> None:
        assert livefacts("dump", people, "-o", os.devnull).code == 0
        assert not Path(os.devnull).is_file()


class TestBadInput:
    """A clear message, the right exit code, and nothing half done that looks whole."""

    def test_a_bad_line_is_rejected_and_costs_no_other(self, people: str, tmp_path: Path) -> None:
        Path(people).write_text(PEOPLE + "<urn:broken> <relative> .\n" + CONCLUSION + "\n")
        rejects = tmp_path / "bad.csv"
        ended = livefacts("load", people, "--rejects", str(rejects))
        assert ended.code == 3
        assert "3 facts asserted" in ended.err
        assert "people.nt:3:" in ended.err
        (reject,) = csv.DictReader(rejects.read_text().splitlines())
        assert (reject["file"], reject["line"]) == (people, "3")

    def test_a_query_over_partly_rejected_data_answers_and_says_so(self, people: str) -> None:
        Path(people).write_text(PEOPLE + "nonsense\n")
        ended = livefacts("query", ADA, "-d", people, "-r", "rho-df", "--format", "csv")
        assert (ended.code, ended.out.splitlines()) == (3, ["x", "urn:ada"])

    def test_an_empty_file_is_no_facts(self, tmp_path: Path) -> None:
        (tmp_path / "empty.nt").touch()
        ended = livefacts("load", str(tmp_path / "empty.nt"), "--rules", "rho-df")
        assert ended.code == 0
        assert "0 facts asserted" in ended.err

    def test_a_binary_file_is_rejected(self, tmp_path: Path) -> None:
        (tmp_path / "binary.nt").write_bytes(bytes(range(256)) * 20)
        ended = livefacts("load", str(tmp_path / "binary.nt"))
        assert ended.code == 1
        assert "binary.nt could be read" in ended.err

    def test_invalid_utf_8_is_rejected_where_it_stands(self, people: str) -> None:
        Path(people).write_bytes(PEOPLE.encode() + b'<urn:x> <urn:p> "\xff" .\n')
        ended = livefacts("load", people)
        assert ended.code == 3
        assert "people.nt:3:" in ended.err

    def test_a_truncated_file_is_an_error_and_leaves_no_dump(self, tmp_path: Path) -> None:
        whole = gzip.compress(PEOPLE.encode() * 1000)
        (tmp_path / "half.nt.gz").write_bytes(whole[: len(whole) // 2])
        dump = tmp_path / "closure.nt"
        ended = livefacts("load", str(tmp_path / "half.nt.gz"), "--dump", str(dump))
        assert ended.code == 1
        assert "half.nt.gz" in ended.err
        assert not dump.exists()

    def test_a_missing_file_is_an_error(self) -> None:
        ended = livefacts("load", "gone.nt")
        assert ended.code == 1
        assert "gone.nt" in ended.err

    def test_a_glob_that_fits_nothing_is_an_error(self, tmp_path: Path) -> None:
        ended = livefacts("load", str(tmp_path / "*.nt"))
        assert ended.code == 1
        assert "*.nt" in ended.err

    def test_a_folder_of_files_is_not_a_file(self, people: str) -> None:
        folder = Path(people).parent
        ended = livefacts("load", str(folder))
        assert ended.code == 1
        assert folder.name in ended.err
        assert [path.name for path in folder.iterdir()] == ["people.nt"]

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_a_file_without_permission_is_an_error(self, people: str) -> None:
        Path(people).chmod(0)
        ended = livefacts("load", people)
        assert ended.code == 1
        assert "people.nt" in ended.err

    def test_an_unknown_extension_lists_the_known_ones(self, tmp_path: Path) -> None:
        (tmp_path / "data.foo").write_text(PEOPLE)
        ended = livefacts("load", str(tmp_path / "data.foo"))
        assert ended.code == 1
        assert ".ttl" in ended.err

    def test_an_unknown_rule_set_suggests_the_nearest(self, people: str) -> None:
        ended = livefacts("load", people, "--rules", "rdsf")
        assert ended.code == 1
        assert "did you mean rdfs?" in ended.err

    def test_rules_that_do_not_parse_are_shown_where_they_fail(
        self, people: str, tmp_path: Path
    ) -> None:
        (tmp_path / "bad.rules").write_text("p(?x) :- q(?x) .\np(?x :- q(?x) .\n")
        ended = livefacts("load", people, "--rules", str(tmp_path / "bad.rules"))
        assert ended.code == 1
        assert "bad.rules:2:" in ended.err

    def test_an_unwritable_rejects_file_is_an_error(self, people: str) -> None:
        ended = livefacts("load", people, "--rejects", "no/such/folder/bad.csv")
        assert ended.code == 1
        assert "no/such/folder" in ended.err

    def test_ctrl_c_ends_a_load_with_a_line_and_no_dump(self, tmp_path: Path) -> None:
        dump = tmp_path / "closure.nt"
        with started("load", "-", "--rules", "rdfs", "--dump", str(dump)) as loading:
            assert loading.stdin is not None
            # More than a pipe and two buffers hold: when it is written, the load is under way.
            loading.stdin.write(PEOPLE.encode() * 100_000)
            loading.stdin.flush()
            loading.send_signal(signal.SIGINT)
            _, messages = loading.communicate(timeout=120)
        assert loading.returncode == 130
        assert messages.decode().splitlines()[-1] == "interrupted"
        assert not dump.exists()


@pytest.mark.slow
def test_the_demo_shows_what_changes_and_why() -> None:
    ended = livefacts("demo")
    assert ended.code == 0
    shown = [
        "- route(harbour, castle)",
        "+ cut_off(castle)",
        "└─ road(abbey, castle)   asserted",
        "second 4: 97 degrees\n    + alarm(boiler)\n    second 5: 85 degrees\n    - alarm(boiler)",
        "110,360 facts asserted, 48,247 derived\n",
        "FullProfessor0>  573\n    + <",
        "course_or_person: ?x = ",
        "livefacts --help",
    ]
    assert [each for each in shown if each not in ended.out] == []
    assert "\x1b" not in ended.out
