"""The command that runs rules over timed facts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from livefacts.cli import app

RULES = """
@tick 1 s .
at ?t isSteam :- at ?t temp(?v) in [2 s], ?v >= 100 .
alarm  :- always isSteam in [1 s] .
seen   :- sometime temp(?v) in [3 s] .
"""
EVENTS = [(0, 120), (1, 130), (2, 20)]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rules, facts = tmp_path / "cooling.rules", tmp_path / "temps.jsonl"
    rules.write_text(RULES)
    lines = [json.dumps({"at": at, "facts": f"temp({v}) ."}) for at, v in EVENTS]
    facts.write_text("\n".join(lines) + "\n")
    return str(rules), str(facts)


def lines_of(*arguments: str, **more: str) -> list[str]:
    done = CliRunner().invoke(app, ["run", *arguments], **more)  # type: ignore[arg-type]
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_a_line_is_a_time_point_a_sign_and_a_conclusion(files: tuple[str, str]) -> None:
    rules, facts = files
    assert lines_of(rules, "--facts", facts, "--until", "9") == [
        "0 + alarm",
        "0 + isSteam",
        "0 + seen",
        "2 - alarm",
        "2 - isSteam",
        "6 - seen",
    ]


def test_all_answers_are_printed_when_something_changes(files: tuple[str, str]) -> None:
    rules, facts = files
    found = lines_of(rules, "--facts", facts, "--show", "answers", "--format", "jsonl")
    assert json.loads(found[-1]) == {"at": 2, "facts": ["seen"]}


def test_facts_come_from_standard_input_and_are_shown_if_asked(files: tuple[str, str]) -> None:
    rules, facts = files
    found = lines_of(rules, "--facts", "-", "--all", input=Path(facts).read_text())
    assert "2 + temp(20)" in found
    assert "2 - temp(130)" in found


def test_what_begins_to_hold_is_explained_with_its_time_points(files: tuple[str, str]) -> None:
    rules, facts = files
    text = "\n".join(lines_of(rules, "--facts", facts, "--explain", "alarm"))
    assert "by r2: alarm :- always isSteam in [1 s] ." in text
    assert "temp(120) at 0   told" in text
    assert "It holds since 0, until 1 unless renewed." in text


def test_a_line_that_is_no_fact_is_rejected_with_its_place(files: tuple[str, str]) -> None:
    rules, facts = files
    Path(facts).write_text("junk\n" + Path(facts).read_text())
    done = CliRunner().invoke(app, ["run", rules, "--facts", facts])
    assert done.exit_code == 3
    assert "temps.jsonl:1" in done.output
    assert "2 - alarm" in done.output


ROOT = Path(__file__).parents[2]
SHOWN = {
    "cooling.rules": ["0 + normal", "5 - normal", "8 + alarm", "10 - alarm"],
    "traffic.rules": ["10 + jam(mill)", "10 + warned(market)", "46 - jam(mill)", "76 - emergency"],
}


def test_the_commands_of_the_examples_show_what_they_are_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(ROOT)
    commands = [line.split() for line in text.splitlines() if line.startswith("livefacts run")]
    assert len(commands) == 3
    for _, _, rules, *options in commands:
        shown = lines_of(rules, *options)
        assert [line for line in SHOWN[Path(rules).name] if line not in shown] == []
        assert ("It holds since 8, until 9 unless renewed." in shown) == ("--explain" in options)
