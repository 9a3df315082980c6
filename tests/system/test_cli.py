"""The command line as a whole: help, exit codes, streams, and what goes wrong."""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import environment, livefacts, livefacts_process, started

JOBS = (
    "demo",
    "load",
    "add",
    "remove",
    "apply",
    "query",
    "watch",
    "run",
    "register",
    "rules",
    "explain",
    "verify",
    "dump",
    "log",
    "undo",
    "backup",
    "restore",
    "serve",
    "token",
    "spark",
    "generate",
    "bench",
    "doctor",
)


def test_help_lists_the_jobs_in_the_order_in_which_they_are_needed() -> None:
    shown = livefacts("--help").out
    lines = [line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line]
    assert tuple(lines) == JOBS


@pytest.mark.parametrize(
    "job",
    [
        *JOBS,
        "rules check",
        "rules maintenance",
        "rules from-owl",
        "rules profile",
        "generate university",
        "generate ontology",
        "generate positions",
        "generate diamond",
        "generate cooling",
        "spark ingest",
        "spark materialize",
        "spark update",
        "spark facts",
        "spark plan",
        "spark stream",
        "spark register",
        "spark run",
    ],
)
def test_the_help_of_every_job_has_an_example(job: str) -> None:
    ended = livefacts(*job.split(), "--help")
    assert ended.code == 0
    assert f"livefacts {job}" in ended.out.replace("Usage: livefacts", "") or job in (
        "rules",
        "spark",
        "generate",
    )


@pytest.mark.parametrize("statement", ["import livefacts", "import livefacts.cli"])
def test_nothing_heavy_is_imported_before_it_is_needed(statement: str) -> None:
    heavy = "{'numba', 'llvmlite', 'numpy', 'lark', 'rich', 'pyoxigraph', 'zstandard'}"
    script = f"import sys; {statement}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(), check=True
    )
    assert done.stdout.decode().strip() == "[]"


def test_an_unknown_job_is_wrong_usage_and_the_nearest_one_is_named() -> None:
    ended = livefacts("qery")
    assert ended.code == 2
    assert "query" in ended.err
    assert ended.out == ""


def test_an_unknown_option_is_wrong_usage() -> None:
    assert livefacts("generate", "chain", "3", "--sed", "4").code == 2


def test_the_version_is_printed() -> None:
    ended = livefacts("--version")
    assert ended.code == 0
    assert ended.out.startswith("livefacts")


def test_generated_data_goes_to_standard_output_and_nothing_else_does() -> None:
    ended = livefacts("generate", "chain", "2")
    assert (ended.code, ended.out.count("\n"), ended.err) == (0, 2, "")


@pytest.mark.parametrize("name", ["uni.nt", "uni.nt.gz", "uni.nt.zst"])
def test_generated_data_is_compressed_as_the_file_is_named(tmp_path: Path, name: str) -> None:
    ended = livefacts("generate", "tree", "3", "2", "-o", str(tmp_path / name))
    assert ended.code == 0
    assert ended.out == ""
    assert f"{name}: 14 triples" in ended.err
    assert content(tmp_path / name).count(b"\n") == 14


def test_an_ontology_is_written_as_facts_and_as_rules_that_load_together(tmp_path: Path) -> None:
    facts, rules = str(tmp_path / "dl.nt"), str(tmp_path / "dl.rules")
    made = livefacts(
        "generate", "ontology", "--kind", "dl", "--depth", "2", "--rules", rules, "-o", facts
    )
    assert (made.code, made.out) == (0, "")
    assert "dl.nt: 400 triples" in made.err
    assert "dl.rules: 200 rules" in made.err
    assert livefacts("load", facts, "--rules", rules).code == 0


def content(path: Path) -> bytes:
    """What is in a file, decompressed as its name says."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        import zstandard

        with path.open("rb") as file:
            return zstandard.ZstdDecompressor().stream_reader(file).readall()
    return path.read_bytes()


def test_the_same_seed_makes_the_same_compressed_file(tmp_path: Path) -> None:
    for name in ("a.nt.gz", "b.nt.gz"):
        livefacts("generate", "random", "9", "20", "--seed", "4", "-o", str(tmp_path / name))
    assert (tmp_path / "a.nt.gz").read_bytes() == (tmp_path / "b.nt.gz").read_bytes()


def test_what_cannot_be_generated_is_an_error_with_a_hint_and_no_file(tmp_path: Path) -> None:
    ended = livefacts("generate", "random", "3", "7", "-o", str(tmp_path / "g.nt"))
    assert ended.code == 1
    assert "room for 6 edges" in ended.err
    assert "hint: add nodes" in ended.err
    assert not (tmp_path / "g.nt").exists()


def test_a_file_that_cannot_be_written_is_an_error() -> None:
    ended = livefacts("generate", "chain", "3", "-o", "no/such/folder/x.nt")
    assert ended.code == 1
    assert "no/such/folder/x.nt: No such file or directory" in ended.err


def test_a_reader_that_goes_away_is_no_reason_to_complain() -> None:
    with started("generate", "chain", "1000000") as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.readline()
        writer.stdout.close()
        assert writer.stderr.read() == b""


def test_a_process_ends_with_the_code_of_its_command(tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text("<x:a> <x:b> <x:c> .\nnonsense\n")
    assert livefacts_process("load", str(tmp_path / "bad.nt")).code == 3
    assert livefacts_process("load", str(tmp_path / "gone.nt")).code == 1
    assert livefacts_process("--version").code == 0


class TestRules:
    """`livefacts rules`."""

    def test_rules_in_order_are_counted(self, tmp_path: Path) -> None:
        rules = tmp_path / "my.rules"
        rules.write_text("p(?x) :- q(?x) .\nfalse :- p(?x), r(?x) .\nq(a) .\n")
        ended = livefacts("rules", "check", str(rules))
        assert ended.code == 0
        assert ended.out == f"{rules}: 1 rule, 1 constraint, 1 fact: in order\n"

    def test_a_mistake_is_shown_where_it_stands(self, tmp_path: Path) -> None:
        rules = tmp_path / "alarms.rules"
        rules.write_text("hot(?z) :- reading(?s, ?v), ?v > 90 .\n")
        ended = livefacts("rules", "check", str(rules))
        assert ended.code == 1
        assert f"{rules}:1:5" in ended.err
        assert "\n        ^\n" in ended.err
        assert "hint:" in ended.err

    def test_files_are_also_checked_together(self, tmp_path: Path) -> None:
        (tmp_path / "one.rules").write_text("p(?x) :- q(?x) .\n")
        (tmp_path / "two.rules").write_text("p(?x, ?y) :- r(?x, ?y) .\n")
        ended = livefacts(
            "rules", "check", str(tmp_path / "one.rules"), str(tmp_path / "two.rules")
        )
        assert ended.code == 1
        assert ended.out.count("in order") == 2
        assert "p" in ended.err

    def test_an_unknown_rule_set_suggests_the_nearest(self) -> None:
        ended = livefacts("rules", "show", "rdsf")
        assert ended.code == 1
        assert "did you mean rdfs?" in ended.err

    def test_contradictions_are_written_as_a_table(self, tmp_path: Path) -> None:
        owl, ex = "http://www.w3.org/2002/07/owl#", "http://example.org/"
        (tmp_path / "cats.ttl").write_text(
            f"<{ex}Cat> <{owl}disjointWith> <{ex}Dog> . <{ex}tom> a <{ex}Cat>, <{ex}Dog> ."
        )
        table = tmp_path / "violations.csv"
        ended = livefacts(
            "load", str(tmp_path / "cats.ttl"), "--rules", "owl-rl", "--violations", str(table)
        )
        assert ended.code == 0
        (line,) = csv.DictReader(table.read_text().splitlines(keepends=True))
        assert line["constraint"] == "cax-dw"
        assert f"?x = <{ex}tom>" in line["bindings"].splitlines()
        assert len(line["facts"].splitlines()) == 3

    def test_the_ready_sets_are_listed_with_what_they_are_for(self) -> None:
        ended = livefacts("rules", "list")
        assert ended.code == 0
        assert {"rho-df", "rdfs", "rdfs-axioms"} <= {
            line.split()[0] for line in ended.out.splitlines()
        }

    @pytest.mark.parametrize("kind", ["dred", "stream"])
    def test_a_maintenance_program_is_printed_and_in_order(self, tmp_path: Path, kind: str) -> None:
        (tmp_path / "my.rules").write_text("p(?x, ?z) :- p(?x, ?y), q(?y, ?z) .\n")
        ended = livefacts("rules", "maintenance", str(tmp_path / "my.rules"), "--kind", kind)
        assert (ended.code, ended.err) == (0, "")
        (tmp_path / "made.rules").write_text(ended.out)
        assert livefacts("rules", "check", str(tmp_path / "made.rules")).code == 0

    def test_an_ontology_becomes_rules_on_standard_output_and_reasons_on_standard_error(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "pets.ttl").write_text(
            "@prefix ex: <http://example.org/> . "
            "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
            "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
            "ex:Cat rdfs:subClassOf ex:Pet . ex:likes a owl:ReflexiveProperty ."
        )
        ended = livefacts("rules", "from-owl", str(tmp_path / "pets.ttl"))
        assert ended.code == 3
        assert "- ex:likes Reflexive: it speaks of everything" in ended.err
        (tmp_path / "pets.rules").write_text(ended.out)
        assert livefacts("rules", "check", str(tmp_path / "pets.rules")).code == 0
        (tmp_path / "pets.rules").write_text("[<x:tom>, a, <http://example.org/Cat>] .")
        loaded = livefacts(
            *("dump", str(tmp_path / "pets.rules"), "--derived"),
            *("--rules", f"dlp:{tmp_path / 'pets.ttl'}"),
        )
        assert (loaded.code, loaded.out.count("http://example.org/Pet")) == (0, 1)

    def test_a_dump_with_graphs_has_each_triple_in_its_own(self, tmp_path: Path) -> None:
        lines = ["<x:a> <x:p> <x:b> <x:g> .", "<x:a> <x:p> <x:c> ."]
        (tmp_path / "told.nq").write_text("\n".join(lines))
        (tmp_path / "back.rules").write_text("[?y, <x:q>, ?x] :- [?x, <x:p>, ?y] .")
        ended = livefacts(
            *("dump", str(tmp_path / "told.nq"), "--rules", str(tmp_path / "back.rules")),
            *("--format", "nq"),
        )
        derived = ["<x:b> <x:q> <x:a> .", "<x:c> <x:q> <x:a> ."]
        assert sorted(ended.out.splitlines()) == sorted(lines + derived)

    def test_a_maintenance_program_follows_a_change_of_rules(self, tmp_path: Path) -> None:
        (tmp_path / "my.rules").write_text("@id one p(?x) :- q(?x) .\n@id two p(?x) :- r(?x) .\n")
        (tmp_path / "more.rules").write_text("@id three p(?x) :- s(?x) .\n")
        change = ["--add-rules", str(tmp_path / "more.rules"), "--remove-rule", "one"]
        ended = livefacts("rules", "maintenance", str(tmp_path / "my.rules"), *change)
        found = [line.split()[1] for line in ended.out.splitlines() if ".Temp" in line]
        assert found == ["p.ext.Temp", "two.Temp", "three.Temp", "p.Temp.D", "p.Temp.I"]

    def test_a_profile_of_a_rule_change_leaves_other_rules_out(self, tmp_path: Path) -> None:
        (tmp_path / "my.rules").write_text("p(?x) :- q(?x) .\nq(a) . s(a) .\n")
        (tmp_path / "more.rules").write_text("t(?x) :- s(?x) .\n")
        data = "--data", str(tmp_path / "my.rules")
        loaded = livefacts("rules", "profile", str(tmp_path / "my.rules"), *data)
        assert "r1" in loaded.out
        more = "--add-rules", str(tmp_path / "more.rules")
        changed = livefacts("rules", "profile", str(tmp_path / "my.rules"), *data, *more)
        assert "r2" in changed.out
        assert "r1" not in changed.out

    def test_a_rule_that_a_maintenance_program_cannot_have_is_shown(self, tmp_path: Path) -> None:
        (tmp_path / "my.rules").write_text("p(?x) :- q(?x), not r(?x) .\n")
        ended = livefacts("rules", "maintenance", str(tmp_path / "my.rules"), "--kind", "stream")
        assert ended.code == 1
        assert "my.rules:1:17" in ended.err
        assert "hint: the dred maintenance program covers such rules" in ended.err

    def test_shown_rules_can_be_read_back(self, tmp_path: Path) -> None:
        shown = livefacts("rules", "show", "rho-df").out
        (tmp_path / "again.rules").write_text(shown)
        assert "6 rules" in livefacts("rules", "check", str(tmp_path / "again.rules")).out


class TestExplain:
    KB = "<x:tom> a <x:Cat> .\n<x:Cat> rdfs:subClassOf <x:Person> .\n"

    @pytest.fixture
    def kb(self, tmp_path: Path) -> str:
        path = tmp_path / "kb.ttl"
        prefix = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        path.write_text(prefix + self.KB)
        return str(path)

    def test_a_fact_that_holds_is_proved_and_ends_with_0(self, kb: str) -> None:
        ended = livefacts("explain", "<x:tom> a <x:Person>", "--data", kb, "--rules", "rdfs")
        assert ended.code == 0
        assert "<x:tom> a <x:Cat>   asserted" in ended.out
        assert "by rdfs9:" in ended.out

    def test_a_fact_that_does_not_hold_says_what_is_missing_and_ends_with_1(self, kb: str) -> None:
        ended = livefacts("explain", "<x:tom> a <x:Dog>", "--data", kb, "--rules", "rho-df")
        assert ended.code == 1
        assert "missing: <x:Cat> rdfs:subClassOf <x:Dog>" in ended.out

    @pytest.mark.parametrize(
        ("form", "start"), [("json", "{"), ("dot", "digraph"), ("html", "<div")]
    )
    def test_every_format_is_printed(self, kb: str, form: str, start: str) -> None:
        asked = ("explain", "<x:tom> a <x:Person>", "--data", kb, "--rules", "rdfs")
        ended = livefacts(*asked, "--format", form)
        assert ended.code == 0
        assert ended.out.startswith(start)

    def test_what_is_no_fact_is_an_error_with_a_hint(self, kb: str) -> None:
        ended = livefacts("explain", "tom is a cat", "--data", kb)
        assert ended.code == 1
        assert "is not a fact" in ended.err
        assert "hint:" in ended.err
