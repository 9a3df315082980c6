"""Folders that may not be written to, or not be read, are read where that can be, and said otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.errors import StoppedError

ROOT = Path(__file__).parents[2]
CALLS = """
import sys
import livefacts as lf

def read(path):
    with lf.Reasoner.open(path, read_only=True) as reasoner:
        return sorted(map(str, reasoner)) == sys.argv[2:] and bool(reasoner.verify())

def write(path):
    with lf.Reasoner.open(path) as reasoner:
        reasoner.add("b(3) .")
        return reasoner.checkpoint()

for call in (read, write):
    try:
        print(call(sys.argv[1]))
    except lf.LivefactsError as error:
        print(str(error).replace("\\n", " "))
"""


def made(path: Path) -> list[str]:
    """A folder with tables and a journal; its facts."""
    with lf.Reasoner.open(path, "a(?x) :- b(?x) .") as reasoner:
        reasoner.add("b(1) .")
        reasoner.checkpoint()
        reasoner.add("b(2) .")
        return sorted(map(str, reasoner))


def powerless() -> list[str]:
    """How a process begins for which permissions count: root is above them."""
    if os.getuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("permissions do not count for root, and there is no setpriv")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


def said(path: Path, facts: list[str]) -> list[str]:
    """What a process says that reads a folder and then writes to it."""
    command = [*powerless(), sys.executable, "-c", CALLS, str(path), *facts]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_folder_without_permission_to_write_is_read(tmp_path: Path) -> None:
    facts = made(tmp_path / "kb")
    for path in [tmp_path / "kb", *(tmp_path / "kb").rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    found, refused = said(tmp_path / "kb", facts)
    assert found == "True"
    assert "cannot be written to: Permission denied" in refused
    assert "read_only=True" in refused
    for path in [tmp_path / "kb", *(tmp_path / "kb").rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["journal/*.log", "livefacts.json", ".", "facts_3"])
def test_what_may_not_be_read_is_named(tmp_path: Path, place: str) -> None:
    facts = made(tmp_path / "kb")
    paths = sorted((tmp_path / "kb").glob(place)) if place != "." else [tmp_path / "kb"]
    for path in paths:
        path.chmod(0)
    for line in said(tmp_path / "kb", facts):
        assert str(tmp_path / "kb") in line
        assert "hint:" in line
    for path in paths:
        path.chmod(0o700)


def test_a_journal_that_may_not_be_written_to_is_named(tmp_path: Path) -> None:
    facts = made(tmp_path / "kb")
    for path in (tmp_path / "kb" / "journal").glob("*.log"):
        path.chmod(0o400)
    found, refused = said(tmp_path / "kb", facts)
    assert found == "True"
    assert str(tmp_path / "kb" / "journal") in refused
    assert "Permission denied" in refused


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system that is read only."""
    made(tmp_path / "kb")
    place = tmp_path / "mounted"
    place.mkdir()
    commands = [
        ["mount", "--bind", str(tmp_path / "kb"), str(place)],
        ["mount", "-o", "remount,ro,bind", str(place)],
    ]
    try:
        for command in commands:
            if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
                pytest.skip("nothing can be mounted here")
        yield place
    finally:
        subprocess.run(["umount", str(place)], capture_output=True)


def test_a_folder_on_a_disk_that_is_read_only_is_read(mounted: Path) -> None:
    with lf.Reasoner.open(mounted, read_only=True) as reasoner:
        assert len(reasoner) == 4
        assert reasoner.at(1).facts()
    with pytest.raises(lf.LivefactsError, match="Read-only file system") as error:
        lf.Reasoner.open(mounted)
    assert "read_only=True" in str(error.value)


def test_a_folder_that_is_removed_takes_no_more_changes(tmp_path: Path) -> None:
    with lf.Reasoner.open(tmp_path / "kb") as reasoner:
        reasoner.add("b(1) .")
        shutil.rmtree(tmp_path / "kb")
        with pytest.raises(StoppedError, match="removed"):
            reasoner.add("b(2) .")


def test_a_folder_that_is_moved_has_what_is_acknowledged_afterwards(tmp_path: Path) -> None:
    with lf.Reasoner.open(tmp_path / "kb") as reasoner:
        reasoner.add("b(1) .")
        shutil.move(tmp_path / "kb", tmp_path / "moved")
        reasoner.add("b(2) .")
        with pytest.raises(lf.LivefactsError, match="nothing was changed"):
            reasoner.checkpoint()
        with pytest.raises(lf.DamageError, match="moved"):
            list(reasoner.changes_since(0))
    with lf.Reasoner.open(tmp_path / "moved") as again:
        assert len(again) == 2
