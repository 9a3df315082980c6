"""A folder is copied while someone writes to it: the copy has all that was acknowledged before."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.system.running import livefacts

import livefacts as lf
from livefacts.journal import fact_texts
from livefacts.journal.log_file import LogReader
from livefacts.service.folder import duplicate

RULES = "[?y, <x:known>, ?x] :- [?x, <x:knows>, ?y] . warm(?s) :- sometime felt(?s) in [5 s] ."


class Writer:
    """Someone who makes changes of all kinds; each version removes what is before it."""

    def __init__(self, folder: Path) -> None:
        self.reasoner = lf.Reasoner.open(folder, rules=RULES, keep=0)
        self.made = 0

    def change(self) -> None:
        self.made += 1
        name = f"x:{self.made}"
        self.reasoner.add(f"<{name}> <x:knows> <x:a> . <{name}> <x:in> <x:b> .")
        self.reasoner.push(f"felt(s{self.made}) .", at=self.made, stream="x:s")
        self.reasoner.advance(self.made)
        if self.made > 2:
            self.reasoner.remove(f"<x:{self.made - 2}> <x:knows> <x:a> .")

    def write_version(self) -> None:
        self.change()
        self.reasoner.checkpoint()
        self.change()


def check(copy: Path, least: int, expected: set[str]) -> None:
    """The copy is whole, has so many changes, and can be changed."""
    with lf.Reasoner.open(copy) as found:
        assert found.seq >= least
        if found.seq == least:
            assert {str(fact) for fact in found.facts()} == expected
        assert found.verify()
        found.add("<x:new> <x:knows> <x:a> .")
        found.checkpoint()
        assert found.verify()


def test_a_backup_beside_a_writer_has_what_was_acknowledged(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "kb")
    writer.write_version()
    done = livefacts("backup", str(tmp_path / "kb"), str(tmp_path / "copy"))
    assert done.code == 0, done.err
    with writer.reasoner as reasoner:
        expected = {str(fact) for fact in reasoner.facts()}
        check(tmp_path / "copy", reasoner.seq, expected)


def interrupted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, at: int, call: Any) -> None:
    """Before the call with this number of a function, something else happens, once."""
    real, calls = getattr(owner, name), iter(range(1000))

    def slower(*arguments: Any, **options: Any) -> Any:
        if next(calls) == at:
            call()
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, slower)


@pytest.mark.parametrize("at", range(0, 40, 3))
@pytest.mark.parametrize("is_version", [False, True])
def test_changes_and_versions_come_at_any_moment_of_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, is_version: bool
) -> None:
    writer = Writer(tmp_path / "kb")
    for _ in range(2):
        writer.write_version()
    seq, expected = writer.reasoner.seq, {str(fact) for fact in writer.reasoner.facts()}
    call: Callable[[], None] = writer.write_version if is_version else writer.change
    interrupted(monkeypatch, shutil, "copy2", at, call)
    duplicate.copy_folder(tmp_path / "kb", tmp_path / "copy")
    check(tmp_path / "copy", seq, expected)
    writer.reasoner.close()


def test_rows_that_come_after_a_look_at_the_journal_leave_no_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_texts, "MANY", 1)
    writer = Writer(tmp_path / "kb")
    writer.change()
    seq, expected = writer.reasoner.seq, {str(fact) for fact in writer.reasoner.facts()}
    real = LogReader.rows

    def rows(reader: LogReader, **options: bool) -> Any:
        yield from real(reader, **options)
        writer.change()

    monkeypatch.setattr(LogReader, "rows", rows)
    duplicate._copy(tmp_path / "kb", tmp_path / "copy")
    monkeypatch.undo()
    assert list((tmp_path / "copy" / "journal").glob("*.parquet"))
    check(tmp_path / "copy", seq, expected)
    writer.reasoner.close()


def test_copies_are_made_beside_a_thread_that_does_not_stop(tmp_path: Path) -> None:
    writer, is_enough = Writer(tmp_path / "kb"), threading.Event()
    writer.write_version()

    def write() -> None:
        while not is_enough.is_set():
            writer.change()
            if writer.made % 40 == 0:
                writer.reasoner.checkpoint()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(3):
            seq, copy = writer.reasoner.seq, tmp_path / f"copy{number}"
            duplicate.copy_folder(tmp_path / "kb", copy)
            check(copy, seq - 1, set())
    finally:
        is_enough.set()
        thread.join()
        writer.reasoner.close()


def test_a_copy_of_what_is_damaged_is_refused(tmp_path: Path) -> None:
    with lf.Reasoner.open(tmp_path / "kb", rules=RULES) as reasoner:
        reasoner.add("<x:a> <x:knows> <x:b> .")
        reasoner.checkpoint()
    next((tmp_path / "kb").rglob("*.parquet")).unlink()
    with pytest.raises(lf.DamageError):
        duplicate.copy_folder(tmp_path / "kb", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
