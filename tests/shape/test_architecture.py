"""The page on the architecture is made from the code, and what it says is called is called."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.shape.code import ROOT, expect_none
from tests.shape.test_sizes import is_compiled
from tools.architecture import PACKAGE, Room, Step, Walk, made, module_of, parsed, rooms, walks

import livefacts

DESIGN = ROOT / "docs" / "design"


@pytest.mark.slow
def test_the_page_is_what_the_script_makes_of_the_code() -> None:
    expect_none(
        (
            f"{path.relative_to(ROOT)}:{first_difference(path, text)}"
            for path, text in made().items()
            if not path.exists() or path.read_text(encoding="utf-8") != text
        ),
        "the page is made from the code: run `make architecture`",
    )


def first_difference(path: Path, text: str) -> int:
    """The number of the first line in which a file is not as it should be."""
    found = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = enumerate(zip(found, text.splitlines(), strict=False), 1)
    return next((number for number, (old, new) in pairs if old != new), len(found) + 1)


# walks


def test_every_step_of_a_walk_is_a_function() -> None:
    expect_none(
        (
            f"tools/walks.toml: {walk.name}: {step.function}"
            for walk in walks()
            for step in walk.steps
            if definition(step) is None
        ),
        "a step of a walk names a function that is not there",
    )


def definition(step: Step) -> ast.FunctionDef | None:
    """Where the function of a step is defined."""
    path, names = module_of(step.function)
    body: list[ast.stmt] = parsed(path).body
    for name in names[:-1]:
        classes = [n for n in body if isinstance(n, ast.ClassDef) and n.name == name]
        body = classes[0].body if classes else []
    found = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == names[-1]]
    return found[0] if found else None


@pytest.mark.parametrize("walk", [w for w in walks() if w.script], ids=lambda walk: walk.name)
def test_a_walk_calls_its_steps_in_their_order(walk: Walk) -> None:
    names: dict[str, Any] = {"lf": livefacts}
    # Kernels are compiled on the first way: under the eyes of a profiler that takes minutes.
    exec(walk.before + "\n" + walk.script, names)
    exec(walk.before, names)
    called, at, before = calls_of(walk.script, names), 0, "the start"
    for step in walk.steps:
        if step.function in called[at:]:
            at, before = called.index(step.function, at) + 1, step.function
        else:
            assert is_kernel(step), f"{step.function} is not called after {before}"


def is_kernel(step: Step) -> bool:
    """Whether a step is machine code, whose calls a profiler need not see."""
    found = definition(step)
    return found is not None and is_compiled(found)


def calls_of(script: str, names: dict[str, Any]) -> list[str]:
    """The functions of livefacts that a script calls, in their order."""
    installed = Path(livefacts.__file__).parent
    called: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(installed):
            module = path.relative_to(installed).with_suffix("").parts
            parts = [*(part for part in module if part != "__init__"), frame.f_code.co_qualname]
            called.append(".".join(parts))

    sys.setprofile(note)
    try:
        exec(script, names)
    finally:
        sys.setprofile(None)
    return called


# the glossary


def test_the_glossary_says_where_a_notion_is() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:5] for line in text.splitlines() if line.startswith("| ")]
    places = [(term, place) for term, _, where, _ in rows for place in paths_in(where)]
    assert places
    expect_none(
        (f"docs/glossary.md:{term}: {place}" for term, place in places if not place.exists()),
        "the glossary names a file that is not there",
    )


def paths_in(text: str) -> Iterator[Path]:
    """The modules and rooms that a cell names."""
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py)?)`", text):
        yield PACKAGE / name


# maps


def test_a_map_has_what_comes_in_and_what_goes_out() -> None:
    expect_none(
        (
            f"{room.path.relative_to(ROOT)}:1 {room.name}"
            for room in rooms()
            if room.name and not {"In", "Out"} <= {name for name, _ in room.facts}
        ),
        "the docstring of a package has a line `In:` and a line `Out:`",
    )


def test_a_room_and_its_design_notes_lead_to_each_other() -> None:
    from_rooms = {(folder(room), note) for room in rooms() for note in room.notes}
    from_notes = {(room, note.name) for note in DESIGN.glob("*.md") for room in rooms_of(note)}
    expect_none(
        (
            *(
                f"docs/design/{note} does not lead to {room}"
                for room, note in from_rooms - from_notes
            ),
            *(f"{room} does not lead to {note}" for room, note in from_notes - from_rooms),
        ),
        "a map names its design notes (Design:), and a note its rooms (**Where.**)",
    )


def test_every_design_note_has_a_room() -> None:
    expect_none(
        (f"docs/design/{note.name}" for note in DESIGN.glob("*.md") if not list(rooms_of(note))),
        "a design note has a line that begins with **Where.** and links to the rooms it is about",
    )


def folder(room: Room) -> str:
    return room.path.parent.relative_to(ROOT).as_posix()


def rooms_of(note: Path) -> Iterator[str]:
    """The folders that a design note says it is about."""
    found = re.search(r"^\*\*Where\.\*\*((?:.+\n)+)", note.read_text("utf-8"), re.MULTILINE)
    yield from re.findall(r"\]\(\.\./\.\./([^)]+)/__init__\.py\)", found[1] if found else "")
