"""Every command takes a folder where it takes files, and some are for folders alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.system.running import livefacts

from livefacts import Reasoner
from livefacts.journal import fact_texts

NEW, GONE = "<x:a> <x:knows> <x:b> .\n", "<x:b> <x:knows> <x:c> .\n"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "data.nt").write_text(NEW + GONE, encoding="utf-8")
    (tmp_path / "gone.nt").write_text(GONE, encoding="utf-8")
    (tmp_path / "mine.rules").write_text(
        "[?y, <x:known>, ?x] :- [?x, <x:knows>, ?y] .\n", encoding="utf-8"
    )
    name = f"{tmp_path / 'kb'}/"
    rules = str(tmp_path / "mine.rules")
    assert livefacts("load", name, str(tmp_path / "data.nt"), "--rules", rules).code == 0
    assert livefacts("remove", name, "--facts", str(tmp_path / "gone.nt")).code == 0
    return name


def count(folder: str, *options: str) -> str:
    asked = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    done = livefacts("query", asked, "--data", folder, "--format", "csv", *options)
    assert done.code == 0, done.err
    return done.out.split()[-1]


def test_commands_change_a_folder_and_ask_it(folder: str) -> None:
    assert (count(folder), count(folder, "--at", "1"), count(folder, "--at", "0")) == (
        "2",
        "4",
        "0",
    )
    assert livefacts("verify", folder).code == 0
    assert "<x:known>" in livefacts("dump", folder, "-o", "-", "--format", "nt").out
    assert "<x:knows>" in livefacts("explain", "<x:b> <x:known> <x:a> .", "--data", folder).out


def test_what_happened_is_listed_and_undone(folder: str) -> None:
    lines = livefacts("log", folder).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "2"]
    shown = livefacts("undo", folder, "2", "--preview").out
    assert "A <x:c> <x:known> <x:b> ." in shown
    assert count(folder) == "2"
    assert livefacts("undo", folder, "2").out.count("\nA ") == 2
    assert count(folder) == "4"


def test_a_backup_is_a_folder_like_any_other(folder: str, tmp_path: Path) -> None:
    copy, again = str(tmp_path / "copy"), str(tmp_path / "again")
    assert livefacts("backup", folder, copy).code == 0
    assert livefacts("restore", copy, again).code == 0
    assert count(again) == count(folder)
    done = livefacts("backup", folder, copy)
    assert (done.code, "is there already" in done.err) == (1, True)


def test_the_log_says_what_each_change_did(folder: str, tmp_path: Path) -> None:
    with Reasoner.open(folder) as reasoner:
        reasoner.add_rules("@id mine q(?x) :- p(?x) . z(?x) :- p(?x) .")
        reasoner.remove_rules("mine")
        reasoner.push("p(a) .", at=5, stream="x:sensor")
        reasoner.advance(6)
        reasoner.retract("p(a) .", at=5, stream="x:sensor")
        reasoner.prefixes = {"ex": "http://example.org/"}
        reasoner.add(NEW)
    fact_texts.MANY, many = 0, fact_texts.MANY
    try:
        with Reasoner.open(folder) as reasoner:
            reasoner.remove(NEW)
            reasoner.load(tmp_path / "data.nt")
    finally:
        fact_texts.MANY = many
    lines = [line.split("\t") for line in livefacts("log", folder).out.splitlines()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", when) for _, when, *_ in lines)
    assert [(number, kind, did) for number, _, kind, did in lines if kind != "prefixes"] == [
        ("1", "change", f"+2 asserted, +2 derived, from {tmp_path / 'data.nt'}"),
        ("2", "change", "-1 retracted, -1 derived"),
        ("3", "change", "+rules mine r2"),
        ("4", "change", "-rules mine"),
        ("5", "push", "+1 <x:sensor> at 5"),
        ("6", "tick", "to 5, +2 true"),
        ("7", "tick", "to 6, -2 ended"),
        ("8", "retract", "-1 <x:sensor> at 5"),
        ("9", "change", "no effect"),
        ("10", "change", "-1 retracted, -1 derived"),
        ("11", "change", f"+2 asserted, +2 derived, from {tmp_path / 'data.nt'}"),
    ]
    assert next(did for _, _, kind, did in lines if kind == "prefixes") == "ex:"


def test_what_is_no_folder_has_no_log(tmp_path: Path) -> None:
    (tmp_path / "p.ttl").write_text(NEW, encoding="utf-8")
    for words in (["log"], ["undo", "1"]):
        ended = livefacts(words[0], str(tmp_path / "p.ttl"), *words[1:])
        assert (ended.code, "p.ttl is no folder" in ended.err) == (1, True)
        assert "hint: livefacts load kb/ data.nt makes one" in ended.err


def test_what_is_read_and_is_no_knowledge_base_says_how_one_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine", encoding="utf-8")
    for name in ("missing", "empty", "other"):
        folder = f"{tmp_path / name}/"
        for words in (["log", folder], ["verify", folder], ["query", folder, "ASK {}"]):
            ended = livefacts(*words)
            assert ended.code == 1
            assert "livefacts load kb/ data.nt" in ended.err, ended.err


def test_a_change_that_was_taken_back_is_not_taken_back_again(folder: str) -> None:
    assert livefacts("undo", folder, "2").code == 0
    for more in ([], ["--preview"]):
        ended = livefacts("undo", folder, "2", *more)
        assert (ended.code, ended.out) == (0, "")
        assert "note: nothing of change 2 is left to take back" in ended.err
    lines = livefacts("log", folder).out.splitlines()
    assert lines[-1].endswith("'takes back change 2'")
    assert len(lines) == 3


def test_a_folder_without_its_marker_is_left_alone(folder: str, tmp_path: Path) -> None:
    (Path(folder) / "livefacts.json").unlink()
    log = next(Path(folder, "journal").glob("*.log"))
    before = log.read_bytes()
    for words in (["load", folder, str(tmp_path / "data.nt")], ["log", folder]):
        ended = livefacts(*words)
        assert ended.code == 1
        assert "livefacts.json is missing" in ended.err
    assert log.read_bytes() == before


def test_a_folder_without_a_version_says_where_its_changes_are(folder: str) -> None:
    ended = livefacts("spark", "history", "--kb", folder)
    assert (ended.code, ended.out) == (0, "")
    assert f"no versions yet; livefacts log {folder} lists the changes" in ended.err


def test_damage_that_others_follow_is_said_by_all_who_read(folder: str, tmp_path: Path) -> None:
    log = next(Path(folder, "journal").glob("*.log"))
    whole = log.read_bytes()
    log.write_bytes(whole[:150] + bytes([whole[150] ^ 1]) + whole[151:])
    for words in (["query", "ASK {}", folder], ["log", folder], ["verify", folder]):
        ended = livefacts(*words)
        assert ended.code == 1, words
        assert f"{log} is damaged at byte" in ended.err
    log.write_bytes(whole)
    with Reasoner.open(folder) as reasoner:
        reasoner.checkpoint()
    log.write_bytes(whole[:150] + bytes([whole[150] ^ 1]) + whole[151:])
    for words in (["verify", folder], ["backup", folder, str(tmp_path / "copy")]):
        ended = livefacts(*words)
        assert ended.code == 1, words
        assert f"{log} is damaged at byte" in ended.out + ended.err
    assert not (tmp_path / "copy").exists()


def test_a_folder_may_stand_before_what_is_asked(folder: str) -> None:
    asked = "SELECT ?y { ?y <x:known> ?x }"
    assert livefacts("query", folder, asked, "--format", "csv").out == "y\r\nx:b\r\n"
    assert livefacts("query", asked, folder, "--format", "csv").out == "y\r\nx:b\r\n"
    assert "+    <x:b>" in livefacts("watch", folder, asked).out
    assert "asserted" in livefacts("explain", folder, "<x:b> <x:known> <x:a>").out


def test_what_is_asked_must_be_one_thing(folder: str) -> None:
    for job, what, words in (
        ("query", "there is no query", [folder]),
        ("query", "2 of these look like a query", [folder, "ASK {}", "SELECT * {}"]),
        ("watch", "there is no query", [folder, folder]),
        ("explain", "there is no fact", [folder]),
        ("explain", "2 of these look like a fact", [folder, "p(a)", "p(b)"]),
    ):
        ended = livefacts(job, *words)
        assert ended.code == 1
        assert what in ended.err
        assert "hint: files first, then the" in ended.err


def test_only_a_folder_remembers_how_it_was(tmp_path: Path) -> None:
    facts = tmp_path / "facts.ttl"
    facts.write_text("<x:a> <x:b> <x:c> .")
    done = livefacts("query", "ASK { ?s ?p ?o }", "--data", str(facts), "--at", "2")
    assert done.code == 1
    assert "--at needs a folder" in done.err


def test_removing_from_a_folder_that_is_not_there_makes_none(tmp_path: Path) -> None:
    facts = tmp_path / "facts.ttl"
    facts.write_text("<x:a> <x:b> <x:c> .")
    done = livefacts("remove", f"{tmp_path}/nothing/", "--facts", str(facts))
    assert done.code == 1
    assert "is not there" in done.err
    assert not (tmp_path / "nothing").exists()
