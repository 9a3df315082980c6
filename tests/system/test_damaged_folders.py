"""A flipped bit, a cut file, a missing file: found and named, or without any effect."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.journal import fact_texts

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
    """A folder with two versions of its tables, a large change, and a journal after them."""
    path = tmp_path_factory.mktemp("damage") / "kb"
    many, fact_texts.MANY = fact_texts.MANY, 30
    try:
        with lf.Reasoner.open(path, RULES, durability="none") as reasoner:
            reasoner.add("".join(f"<x:a{n}> <x:road> <x:a{n + 1}> .\n" for n in range(40)))
            reasoner.checkpoint()
            reasoner.add("parent(ann, ben) .")
            reasoner.update("INSERT DATA { GRAPH <x:g> { <x:s> <x:p> 5, 'five' } }")
            reasoner.push("parent(ben, tom) .", at=1)
            reasoner.advance(1)
            reasoner.checkpoint()
            for number in range(5):
                reasoner.add(f"parent(ben, child{number}) .")
            reasoner.add("".join(f"<x:b{n}> <x:road> <x:b{n + 1}> .\n" for n in range(40)))
    finally:
        fact_texts.MANY = many
    return path


def state(path: Path) -> tuple[int, list[str], list[str]]:
    with lf.Reasoner.open(path, RULES, durability="none") as reasoner:
        return reasoner.seq, sorted(map(str, reasoner)), [rule.id for rule in reasoner.rules]


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
