"""The command that runs rules over timed facts."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from tests.system.running import livefacts, started
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


def test_facts_beyond_the_last_time_that_was_asked_for_are_read_too(files: tuple[str, str]) -> None:
    rules, facts = files
    every = ["0 + alarm", "0 + isSteam", "0 + seen", "2 - alarm", "2 - isSteam"]
    assert lines_of(rules, "--facts", facts, "--until", "1") == every


def test_all_answers_are_printed_when_something_changes(files: tuple[str, str]) -> None:
    rules, facts = files
    found = lines_of(rules, "--facts", facts, "--show", "answers", "--format", "jsonl")
    assert json.loads(found[-1]) == {"at": 2, "facts": ["seen"]}


def test_what_held_before_the_first_time_point_begins_there_or_is_not_seen(tmp_path: Path) -> None:
    rules, facts = tmp_path / "calm.rules", tmp_path / "temps.jsonl"
    rules.write_text(
        "room(kitchen) . place(?x) :- room(?x) . hot :- temp(?v), ?v > 90 . calm :- not hot ."
    )
    lines = [json.dumps({"at": at, "facts": f"temp({v}) ."}) for at, v in ((3, 95), (5, 20))]
    facts.write_text("\n".join(lines))
    assert lines_of(str(rules), "--facts", str(facts)) == [
        "3 + hot",
        "3 + place(kitchen)",
        "4 + calm",
        "4 - hot",
    ]


def test_a_first_time_point_that_changes_nothing_has_what_held_before(tmp_path: Path) -> None:
    rules, facts = tmp_path / "calm.rules", tmp_path / "temps.jsonl"
    rules.write_text("hot :- sometime temp(?v) in [2], ?v > 90 . calm :- not hot .")
    facts.write_text(json.dumps({"at": 3, "facts": "temp(20) ."}))
    assert lines_of(str(rules), "--facts", str(facts)) == ["3 + calm"]
    assert lines_of(str(rules), "--facts", str(facts), "--all") == ["3 + calm", "3 + temp(20)"]
    assert lines_of(str(rules), "--facts", str(facts), "--show", "answers") == ["3: calm"]


def test_facts_come_from_standard_input_and_are_shown_if_asked(files: tuple[str, str]) -> None:
    rules, facts = files
    found = lines_of(rules, "--facts", "-", "--all", input=Path(facts).read_text())
    assert "2 + temp(20)" in found
    assert "2 - temp(130)" in found


def test_what_begins_to_hold_is_explained_with_its_time_points(files: tuple[str, str]) -> None:
    rules, facts = files
    text = "\n".join(lines_of(rules, "--facts", facts, "--explain", "alarm"))
    assert "by r2: alarm :- always isSteam in [1 s] ." in text
    assert "temp(120) at 0   asserted" in text
    assert "It holds since 0, until 1 unless renewed." in text


def test_a_gap_in_a_file_may_be_as_long_as_is_said(tmp_path: Path) -> None:
    rules, facts = tmp_path / "seen.rules", tmp_path / "days.jsonl"
    rules.write_text("@tick 1 d . seen(?x) :- sometime p(?x) in [1 d] .")
    facts.write_text("\n".join(f'{{"at": {at}, "facts": "p({at}) ."}}' for at in (0, 5000)))
    assert lines_of(str(rules), "--facts", str(facts), "--until", "3", "--max-ahead", "none") == [
        "0 + seen(0)",
        "2 - seen(0)",
        "5000 + seen(5000)",
    ]
    done = livefacts("run", str(rules), "--facts", str(facts), "--max-ahead", "9 d")
    assert done.code == 3
    assert "too far ahead" in done.err


QUIET = """
@tick 100 ms .
sensor(s1) . sensor(s2) .
seen(?s)   :- sometime reading(?s, ?v) in [300 ms] .
quiet(?s)  :- sensor(?s), not seen(?s) .
"""


@contextmanager
def listening(rules: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command at the end of a pipe that stays open; it is ended if it never answers."""
    with started("run", str(rules), "--facts", "-", "--arrival-time") as running:
        guard = threading.Timer(120, running.kill)
        guard.start()
        try:
            yield running
        finally:
            guard.cancel()


def said(running: subprocess.Popen[bytes], what: str) -> datetime:
    """When it is so, by the next line that says so."""
    assert running.stdout is not None
    for line in iter(running.stdout.readline, b""):
        time, _, told = line.decode().rstrip("\n").partition(" ")
        if told == what:
            return datetime.fromisoformat(time)
    raise AssertionError(f"the command ended and has not said: {what}")


def test_a_sensor_that_goes_quiet_is_named_while_the_pipe_is_open(tmp_path: Path) -> None:
    rules = tmp_path / "quiet.rules"
    rules.write_text(QUIET)
    with listening(rules) as running:
        assert running.stdin is not None
        begun = said(running, "+ quiet(s2)")
        running.stdin.write(b'{"facts": "reading(s2, 7) ."}\n')
        running.stdin.flush()
        ended = said(running, "- quiet(s2)")
        again = said(running, "+ quiet(s2)")
        assert begun < ended < again
        running.stdin.close()
        assert running.wait(60) == 0


def test_facts_of_a_file_may_happen_when_they_are_read(files: tuple[str, str]) -> None:
    rules, facts = files
    found = lines_of(rules, "--facts", facts, "--arrival-time")
    assert found[0][:2] == "20"
    assert {line.partition(" ")[2] for line in found} >= {"+ seen", "+ isSteam"}


DATED = """
{"at": "2026-01-01T12:00:00Z", "facts": "temp(120) ."}
{"at": "2026-01-01T12:00:02Z", "facts": "temp(20) ."}
"""


def test_facts_with_dates_have_lines_with_dates(files: tuple[str, str]) -> None:
    rules, facts = files
    Path(facts).write_text(DATED)
    until = "2026-01-01T12:00:09Z"
    found = lines_of(rules, "--facts", facts, "--until", until, "--explain", "seen")
    assert found[0] == "2026-01-01T12:00:00Z + alarm"
    assert found[-1] == "2026-01-01T12:00:06Z - seen"
    until = "until 2026-01-01T12:00:05Z unless renewed."
    assert f"It holds since 2026-01-01T12:00:00Z, {until}" in found
    (line,) = lines_of(rules, "--facts", facts, "--format", "jsonl")[-1:]
    assert json.loads(line)["at"] == "2026-01-01T12:00:01Z"


def test_a_table_has_columns_under_a_head(files: tuple[str, str]) -> None:
    rules, facts = files
    changes = lines_of(rules, "--facts", facts, "--format", "table")
    assert changes[0].split() == ["at", "conclusion"]
    assert changes[1] == "0         + alarm"
    answers = lines_of(rules, "--facts", facts, "--format", "table", "--show", "answers")
    assert answers[0].split() == ["at", "conclusions"]
    assert answers[-1] == "2         seen"


@pytest.mark.parametrize(
    ("option", "said"),
    [(("--until", "soon"), "is not a time point"), (("--explain", "alarm("), "is not a fact")],
)
def test_a_mistake_on_the_command_line_is_refused_before_anything_runs(
    option: tuple[str, str], said: str, files: tuple[str, str]
) -> None:
    rules, facts = files
    done = livefacts("run", rules, "--facts", facts, *option)
    assert done.code == 1
    assert said in done.err
    assert not done.out


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
