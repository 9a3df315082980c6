"""Every example runs and says what it promises, and so do the pages."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.system.running import environment, livefacts
from tools.outputs import with_outputs

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
PROMISED = {
    "01_first_rules.py": [
        "ancestor(ann, dan)",
        "children(ben, ",
        "+ ancestor(ann, eve)",
        "- childless(dan)",
    ],
    "02_rdf_and_queries.py": ["<http://example.org/virginia> made <http://example.org/orlando>"],
    "03_constraints.py": ["cat_or_dog", "too_warm", "tom", "180"],
    "04_universities.py": ["facts are true", "Person", "Chair"],
    "05_changes.py": [
        "+ cut_off(castle)",
        "- route(harbour, castle)",
        "- cut_off(castle)",
        "everything is as it should be",
    ],
    "06_patches.py": [
        "A visited(<http://example.org/shire>) .",
        "D visited(<http://example.org/town>) .",
        "note: to remove: 1 not asserted but derived",
        "ends inside a transaction",
    ],
    "07_explain.py": [
        "by reach: route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .",
        "is 2, over 2 rows",
        "no fact matches route(harbour, island)",
        "violation of loop: ?x = abbey",
        "false:   not route(harbour, castle)   there is such a fact",
        "True 2 ['reach', 'start']",
    ],
    "08_maintenance_program.py": [
        "@id R2.D1 sub_del(?a, ?c) :- sub_del(?b, ?c), sub(?a, ?b) .",
        "  del: ac ag bc bg ec eg fc fg",
        "  red: ec eg fc fg",
        "minus: ac ag bc bg",
        "as the reasoner: True",
    ],
    "09_spark.py": [
        "version 2: materialize",
        "single triples: inside tasks",
        "+ <http://example.org/ada> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        "facts in one process",
        "version 6 without",
    ],
    "12_patterns.py": [
        "2 parts, loosely connected; answers are their product",
        "+ ?who=<http://example.org/ann>",
        "# message 6\n+ ?who=<http://example.org/bob>\n# message 7\n# message 8\n- ?who=",
        "['http://example.org/bob']",
        "+ ?a=<http://example.org/cal>, ?c=<http://example.org/bob>",
        "digraph pattern {",
    ],
    "13_watch.py": [
        '+ ?topic=<http://library.example/nature>, ?readers="2"',
        '- ?topic=<http://library.example/nature>, ?readers="3"',
        "8 changes in all",
        "every step is followed change by change",
    ],
    "10_time.py": [
        "2: ",
        "3: +freeze +isSteam",
        "5: +alarm -freeze",
        "late: ['isSteam', 'peak(115)', 'temp(115)']",
        "everything is as it should be",
    ],
    "11_streams.py": [
        "answers: followed change by change",
        "at 6, 3..6: ann, bob (corrected)",
        "got out by 10: bob",
        "late: 1, set aside: 0",
    ],
    "14_ontology.py": [
        "@id subclass-Wine-madeBy [?y, a, ex:Winery] :- [?x, a, ex:Wine], [?x, ex:madeBy, ?y] .",
        "# not in rules: a rule names no new individuals, and this says that there is one",
        "not, or not fully, in rules: 1 axiom",
        "  - <slope> <partOf> <province>",
        "  + <estate> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <Employer>",
        "contradiction: disjoint-Drink-Winery",
        "everything is as it should be",
    ],
    "15_snapshots.py": [
        "audit of version 1: 4 facts, 0 violations",
        "then: berth(anna, north) capacity(anna, 1) cargo(anna, tea) full(anna)",
        "concluded then: full(anna)",
        "now, version 4: berth(anna, south) berth(anna, west)",
        "violated now: twice: ?ship = anna, ?x = south, ?y = west",
    ],
    "16_durable.py": [
        "3 ancestor(ann, cleo) ancestor(ben, cleo) parent(ben, cleo)",
        "after the first change: ancestor(ann, ben) parent(ann, ben)\n",
        "undoing 2 would take away: ancestor(ann, tom) ancestor(ben, tom) parent(ben, tom)",
        "everything is as it should be",
    ],
    "17_windows.py": [
        "5: +steady\n7: -together(ann) -together(ben)\n8: -steady\n11: +came_before(ann)",
        "22: +came_before(cleo) -came_before(ann)",
    ],
    "19_rdflib.py": [
        "a lion moves in\n  + zoo:leo rdf:type ",
        "  + zoo:leo rdf:type zoo:Carnivore\n",
        "asked by SPARQL:\n   zoo:leo\n",
        "  - zoo:leo rdf:type zoo:Carnivore\n",
    ],
    "20_windows_on_spark.py": [
        "by key, which all premises of each rule",
        "5 - <http://example.org/ann> <http://example.org/seenIn>",
        '2  "2"^^',
    ],
    "18_sources.py": ['at 1 hot(kitchen, 1)\nat 4 hot("sensor-1", 1) hot(kitchen, 2)'],
}


STARTED = ("01_first_rules.py", "09_spark.py", "20_windows_on_spark.py")
"""Each start of Python takes seconds: these are started, the others run in this process."""


def test_every_example_has_a_promise() -> None:
    assert {path.name for path in EXAMPLES} == set(PROMISED)


@pytest.mark.parametrize("name", [each for each in PROMISED if each not in STARTED])
def test_an_example_says_what_it_promises(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert [words for words in PROMISED[name] if words not in printed] == []


@pytest.mark.parametrize("name", STARTED)
def test_an_example_that_is_started_as_a_script_says_what_it_promises(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [words for words in PROMISED[name] if words not in done.stdout] == []


@pytest.mark.parametrize(
    "page",
    [
        *("changes.md", "explain.md", "maintenance-programs.md", "ontologies-tutorial.md"),
        *("owl.md", "saving.md", "sources.md", "rdflib.md", "other-rules.md", "shapes.md"),
    ],
)
def test_a_page_prints_what_its_remarks_say(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    world: dict[str, object] = {}
    promised = []
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, world)
        promised += re.findall(r"print\(.*\)\s+# (.*)", block)
    assert capsys.readouterr().out.splitlines() == promised


def test_the_page_on_dataframes_prints_what_its_remarks_say(
    spark: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    test_a_page_prints_what_its_remarks_say("dataframes.md", tmp_path, monkeypatch, capsys)


def test_the_page_on_queries_runs_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    world: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block in blocks:
        if "livefacts.spark" not in block:
            exec(block, world)
    printed = capsys.readouterr().out
    promised = re.findall(r"# (?:.*: )?((?:[+-]|<http|in Rome) .*)$", "\n".join(blocks), re.M)
    assert len(promised) > 3
    assert [remark for remark in promised if remark not in printed] == []


def test_the_page_on_streams_runs_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "streams.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    world: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, world)
    assert "12 3..12 (" in capsys.readouterr().out
    (query,) = re.findall(r"```sparql\n(.*?)```", text, re.DOTALL)
    (tmp_path / "commuters.csparql").write_text(query, encoding="utf-8")
    *_, last = [
        livefacts(*shlex.split(line)) for line in re.findall(r"^livefacts (.*)$", text, re.M)
    ]
    assert (last.code, last.err) == (0, "")
    assert last.out.startswith("Commuters at 5:\n?house ")


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_what_the_programs_of_a_page_print_stands_below_them(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert livefacts("generate", "university", "1", "-o", "uni.nt.gz").code == 0
    assert with_outputs(text) == text, f"python tools/outputs.py {page}"


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_the_commands_of_a_page_end_well(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alarms.rules").write_text("hot(?z) :- reading(?s, ?v), ?v > 90 .\n")
    lines = re.findall(r"^\$ livefacts (.*?)(?:\s+#.*)?$", text, re.MULTILINE)
    codes = {line: livefacts(*shlex.split(line)).code for line in lines}
    assert len(codes) >= 4
    assert {line for line, code in codes.items() if code} <= {"rules check alarms.rules"}


def test_the_mistake_in_the_tour_is_shown_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alarms.rules").write_text("hot(?z) :- reading(?s, ?v), ?v > 90 .\n")
    assert livefacts("rules", "check", "alarms.rules").err in text
