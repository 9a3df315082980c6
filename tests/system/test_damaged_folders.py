"""A flipped bit, a cut file, a missing file: found and named, or without any effect."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.journal import fact_texts
from livefacts.kb.tables import KnowledgeBase
from livefacts.service.folder.saved_state import check_folder

RULES = "ancestor(?x, ?y) :- parent(?x, ?y) .\nnear(?x, ?y) :- [?x, <x:road>, ?y] ."
NOT_READ = {".lock"}


def flipped(data: bytes, pick: random.Random) -> bytes:
    place = pick.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << pick.randrange(8)]) + data[place + 1 :]


def cut(data: bytes, pick: random.Random) -> bytes:
    return data[: pick.randrange(len(data))]


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes | None]] = {
    "flipped": flipped,
    "cut": cut,
    "missing": lambda data, pick: None,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("damage") / "kb")


def made(path: Path) -> Path:
    """A folder with versions of its tables, whole and as changes, and a journal after them."""
    many, fact_texts.MANY = fact_texts.MANY, 30
    try:
        with lf.Reasoner.open(path, RULES, durability="none") as reasoner:
            reasoner.add("".join(f"<x:a{n}> <x:road> <x:a{n + 1}> .\n" for n in range(40)))
            reasoner.checkpoint()
            reasoner.add("parent(ann, ben) .")
            reasoner.add("<x:a1> <x:road> <x:a3> .")
            reasoner.checkpoint()
            reasoner.update("INSERT DATA { GRAPH <x:g> { <x:s> <x:p> 5, 'five' } }")
            reasoner.push("parent(ben, tom) .", at=1)
            reasoner.advance(1)
            reasoner.checkpoint()
            reasoner.add("<x:a1> <x:road> <x:a4> .")
            reasoner.update("INSERT DATA { GRAPH <x:g> { <x:s> <x:p> 6 } }")
            reasoner.checkpoint()
            for number in range(5):
                reasoner.add(f"parent(ben, child{number}) .")
            reasoner.add("".join(f"<x:b{n}> <x:road> <x:b{n + 1}> .\n" for n in range(40)))
    finally:
        fact_texts.MANY = many
    return path


def state(path: Path, **options: bool) -> tuple[int, list[str], list[str]]:
    with lf.Reasoner.open(path, RULES, durability="none", **options) as reasoner:
        return reasoner.seq, sorted(map(str, reasoner)), [rule.id for rule in reasoner.rules]


def refusal(path: Path, **options: bool) -> str | None:
    """What is said of a folder that cannot be opened."""
    try:
        state(path, **options)
    except lf.LivefactsError as error:
        return error.message
    return None


def places(folder: Path) -> list[Path]:
    files = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    return sorted(path for path in files if path.name not in NOT_READ)


def check(folder: Path, copy: Path, damage: str, share: float, seed: int) -> tuple[int, int]:
    whole, found, harmless = state(folder), 0, 0
    pick = random.Random(seed)
    for place in places(folder):
        if pick.random() > share:
            continue
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        changed = DAMAGES[damage]((folder / place).read_bytes() or b"\0", pick)
        if changed is None:
            (copy / place).unlink()
        else:
            (copy / place).write_bytes(changed)
        assert refusal(copy, read_only=True) == refusal(copy), f"{place} {damage}: readers differ"
        try:
            assert state(copy) == whole, f"{place} {damage}: something else is there"
            harmless += 1
        except lf.LivefactsError as error:
            found += str(copy) in str(error) or "`" in str(error)
    return found, harmless


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_or_harmless(folder: Path, tmp_path: Path, damage: str) -> None:
    found, _ = check(folder, tmp_path / "copy", damage, 0.15, 1)
    assert found


@pytest.mark.thorough
@pytest.mark.parametrize("damage", ["flipped", "cut"])
@pytest.mark.parametrize("seed", range(5))
def test_damage_anywhere_is_found_or_harmless(
    folder: Path, tmp_path: Path, damage: str, seed: int
) -> None:
    found, _ = check(folder, tmp_path / "copy", damage, 1.0, 10 + seed)
    assert found


def kept_by_history(folder: Path) -> list[Path]:
    """Files that only those need who ask what has happened, and how things were."""
    noted = [commit.notes["files"] for commit in KnowledgeBase(folder).commits()]
    old = [f"{table}/{name}" for table, names in noted[0].items() for name in names]
    now = [f"{table}/{name}" for table, names in noted[-1].items() for name in names]
    tables = [Path(name) for name in old if name not in now and (folder / name).exists()]
    names = [f"{2:020d}.log", f"{1:020d}.parquet"]
    return [*(Path("journal") / name for name in names), *tables]


def test_verify_and_backup_name_all_damage_in_what_is_kept(folder: Path, tmp_path: Path) -> None:
    copy, places = tmp_path / "copy", kept_by_history(folder)
    assert {place.parts[0] for place in places} > {"journal", "facts_3"}
    shutil.copytree(folder, copy)
    check_folder(copy)
    for place in places:
        found = (copy / place).read_bytes()
        middle = 150 if place.suffix == ".log" else len(found) // 2
        flipped = bytes([found[middle] ^ 4])
        (copy / place).write_bytes(found[:middle] + flipped + found[middle + 1 :])
    report = lf.Reasoner.open(copy, read_only=True).verify()
    assert not report
    assert report.counts == {"files": len(places)}
    with pytest.raises(lf.DamageError) as error:
        check_folder(copy)
    for place in places:
        assert str(copy / place) in error.value.message
        assert str(copy / place) in "\n".join(map(str, report.differences))


@pytest.mark.parametrize("name", [f"{1:020d}.log", f"{2:020d}.log", f"{1:020d}.parquet"])
def test_history_that_is_missing_is_said(folder: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "journal" / name).unlink()
    with lf.Reasoner.open(copy) as reasoner:
        assert not reasoner.verify()
        with pytest.raises(lf.LivefactsError, match="kept" if name == f"{1:020d}.log" else name):
            list(reasoner.changes_since(0))
    with pytest.raises(lf.DamageError, match=name):
        check_folder(copy)


def part(path: Path, tables: bool) -> Path:
    """A folder with a change in its journal, and perhaps a version of its tables before that."""
    with lf.Reasoner.open(path, RULES) as reasoner:
        reasoner.add("parent(ann, ben) .")
        if tables:
            reasoner.checkpoint()
            reasoner.add("parent(ben, tom) .")
    return path


def contents(path: Path) -> dict[str, bytes]:
    files = (p for p in path.rglob("*") if p.is_file() and p.name not in NOT_READ)
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("lost", ["livefacts.json", "journal", "last log"])
def test_a_folder_that_has_lost_a_part_is_not_taken_for_a_new_one(
    tmp_path: Path, tables: bool, lost: str
) -> None:
    path = part(tmp_path / "kb", tables)
    name = lost if lost != "last log" else f"journal/{2 if tables else 1:020d}.log"
    if lost == "journal":
        shutil.rmtree(path / name)
    else:
        (path / name).unlink()
    before = contents(path)
    for options in ({}, {"read_only": True}):
        with pytest.raises(lf.DamageError, match="restore") as error:
            lf.Reasoner.open(path, **options)
        assert str(path / name) in error.value.message
    assert contents(path) == before


def test_a_journal_of_which_the_marker_does_not_know_stays_as_it_is(tmp_path: Path) -> None:
    lf.Reasoner(RULES).checkpoint(tmp_path / "kb")
    old = (tmp_path / "kb" / "livefacts.json").read_bytes()
    path = part(tmp_path / "kb", tables=False)
    (path / "livefacts.json").write_bytes(old)
    before = contents(path)
    with pytest.raises(lf.DamageError, match="of which the folder does not know"):
        lf.Reasoner.open(path)
    assert contents(path) == before


def test_every_entry_of_a_log_of_tables_is_missed_or_is_not_needed(
    folder: Path, tmp_path: Path
) -> None:
    copy, whole, harmless = tmp_path / "copy", state(folder), []
    for entry in sorted(folder.glob("*/_delta_log/*.json")):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        (copy / entry.relative_to(folder)).unlink()
        try:
            check_folder(copy)
        except lf.DamageError:
            continue
        assert state(copy) == whole, entry
        harmless.append(entry)
    assert harmless == sorted(folder.glob("commits/_delta_log/*.json"))[-1:]
