"""Makes docs/architecture.md and its picture out of the package: its docstrings, imports and walks.

    python tools/architecture.py        # or: make architecture

The docstring of a package is its map: a heading, what comes in and goes out, a line for each
module in the order of the data, papers and design notes.  The walks are in tools/walks.toml.
A test fails when the page is not what this script makes.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.picture import Box, layers, picture

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "livefacts"
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
WALKS = ROOT / "tools" / "walks.toml"

EVERYWHERE = {"", "errors", "__main__"}
"""Not in the picture: what everybody imports, and what only opens the door."""


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a file, made once."""
    return ast.parse(path.read_text(encoding="utf-8"))


# rooms


@dataclass(frozen=True)
class Room:
    """A package, or a module at the top: its name below `livefacts`, and what its docstring says."""

    name: str
    path: Path
    heading: str
    about: tuple[str, ...]
    """Its other paragraphs."""
    facts: tuple[tuple[str, str], ...]
    """What comes in, what goes out, which papers: each name with what is said of it."""
    contents: tuple[tuple[str, str], ...]
    """The modules and rooms inside, each with a line about it."""
    notes: tuple[str, ...]
    """The design notes that explain its hard choices, as file names."""


def read_room(path: Path) -> Room:
    """The room whose map, or whose own text, is in this file."""
    doc = ast.get_docstring(parsed(path)) or ""
    heading, *blocks = re.split(r"\n\n+|\n(?=In:|Out:|Papers?:|Design:)", doc)
    parts = [" ".join(block.split()) for block in blocks]
    facts = [part.split(": ", 1) for part in parts if re.match("(In|Out|Papers?): ", part)]
    plain = [part for part in parts if not re.match("(- |>>>|In:|Out:|Papers?:|Design:)", part)]
    return Room(
        _dotted(path),
        path,
        " ".join(heading.split()),
        tuple(plain),
        tuple((name, says) for name, says in facts),
        tuple(re.findall(r"^- `(\w+)`: (.+)$", doc, re.MULTILINE)),
        tuple(re.findall(r"docs/design/(\d{4}[\w-]*\.md)", doc)),
    )


@cache
def rooms() -> tuple[Room, ...]:
    """All packages, in the order of their names; the whole package is the first."""
    found = sorted(PACKAGE.rglob("__init__.py"), key=lambda path: path.parent.parts)
    return tuple(read_room(path) for path in found)


# imports


def box_of(name: str) -> str:
    """The box of the picture that a module is in: its room at the top, or below `engine`."""
    parts = name.split(".")
    return ".".join(parts[:2] if parts[0] == "engine" else parts[:1])


@cache
def imports() -> dict[tuple[str, str], int]:
    """How often a module of one box imports from another one, wherever in its file."""
    counted: dict[tuple[str, str], int] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        user = box_of(_dotted(path))
        for node in ast.walk(parsed(path)):
            for name in _imported(node):
                used = box_of(name.removeprefix("livefacts").lstrip("."))
                if user != used and not {user, used} & EVERYWHERE:
                    counted[user, used] = counted.get((user, used), 0) + 1
    return counted


def _dotted(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "livefacts":
        yield from (f"{node.module}.{each.name}" for each in node.names)
    elif isinstance(node, ast.Import):
        yield from (each.name for each in node.names if each.name.split(".")[0] == "livefacts")


def boxes() -> list[Box]:
    """The boxes of the picture: each room at the top and each engine, with the rooms inside."""
    names = sorted({name for pair in imports() for name in pair})
    return [_box(name) for name in names]


def _box(name: str) -> Box:
    folder = PACKAGE / name.replace(".", "/")
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    room = read_room(path)
    inside = tuple(each for each, _ in room.contents if (folder / each / "__init__.py").exists())
    modules = len([p for p in folder.rglob("*.py") if p.name != "__init__.py"]) or 1
    return Box(name, room.heading.rstrip(".").replace("`", ""), inside, modules)


# walks


@dataclass(frozen=True)
class Step:
    """One function of a walk, and half a sentence about it."""

    function: str
    says: str

    @property
    def path(self) -> Path:
        """The file that the function is in."""
        return module_of(self.function)[0]


@dataclass(frozen=True)
class Walk:
    """What is called when something happens; `script` is run after `before`, if there is one."""

    name: str
    title: str
    says: str
    steps: tuple[Step, ...]
    before: str = ""
    script: str = ""


def module_of(function: str) -> tuple[Path, list[str]]:
    """The file of a dotted function, and its name there: a function, or a class and a method."""
    parts = function.split(".")
    for end in range(len(parts) - 1, 0, -1):
        folder = PACKAGE.joinpath(*parts[:end])
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.exists():
                return path, parts[end:]
    raise LookupError(f"no module for {function}: see {WALKS.relative_to(ROOT)}")


def walks() -> list[Walk]:
    """The walks, as they are written in tools/walks.toml."""
    written = tomllib.loads(WALKS.read_text(encoding="utf-8"))["walk"]
    return [Walk(**{**walk, "steps": tuple(_steps(walk["steps"]))}) for walk in written]


def _steps(text: str) -> Iterator[Step]:
    for line in text.strip().splitlines():
        function, _, says = line.partition(": ")
        yield Step(function, says)


# the page

LINE = 120
"""Prose is no wider than this."""

OPENING = """\
# Architecture

*Read this first. The page is made by `make architecture` from the docstrings of the packages, their imports and
`tools/walks.toml`; a test fails when it is not. Words are in the [glossary](glossary.md), reasons in the
[design notes](README.md#design-notes), and why the rooms are as they are in [design 14](design/0014-rooms.md).*

Everything takes one road:

    text ──▶ terms ──▶ ids ──▶ facts ──▶ (rules) ──▶ deltas ──▶ answers

- **Terms never enter a join, and ids never reach a user.** Terms become ids once on the way in, ids become terms once on
  the way out.
- **A delta is what crosses a layer at run time.** Nobody reads another layer's tables to find out what has changed.
- **Time enters through `advance(now)` only.** No module below `service` reads a clock.

![The rooms of livefacts, each above those that it imports](images/architecture.svg)

A room stands above those that it imports. A line leads to a room that is imported and that no other line leads to by a
detour; it is dashed where fewer than five imports go that way. `errors` is imported everywhere and not shown.
"""


def page() -> str:
    """The text of docs/architecture.md."""
    parts = [OPENING, "## Walks", *map(_walk_text, walks()), "## Rooms", _rooms_opening()]
    parts += [_room_text(room) for room in _from_below()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _walk_text(walk: Walk) -> str:
    lines = [f"### {walk.title}", "", " ".join(walk.says.split()), ""]
    if walk.script:
        code = (walk.before.strip() + "\n" + walk.script.strip()).splitlines()
        lines += ["```python", "import livefacts as lf", "", *code, "```", ""]
    for number, step in enumerate(walk.steps, 1):
        lines += [f"{number}. [`{step.function}`]({_link(step.path)})", f"    {step.says}"]
    return "\n".join(lines)


def _rooms_opening() -> str:
    return (
        "From the bottom of the picture to its top; the lines of a table stand in the order in which data pass\n"
        "through. Imports point down, and `tests/shape/test_imports.py` has the table of who may import whom."
    )


def _from_below() -> Iterator[Room]:
    """The rooms in the order of the layers, by their highest part; each before those inside it."""
    by_name = {room.name: room for room in rooms()}
    order = [name.partition(".")[0] for layer in layers(boxes(), imports()) for name in layer]
    for name in sorted(set(order), key=lambda name: len(order) - order[::-1].index(name)):
        yield from _with_inner(name, by_name)


def _with_inner(name: str, by_name: dict[str, Room]) -> Iterator[Room]:
    """A room, and then the rooms inside it, in the order of its map."""
    if name in by_name:
        yield by_name[name]
        for each, _ in by_name[name].contents:
            yield from _with_inner(f"{name}.{each}", by_name)


def _room_text(room: Room) -> str:
    depth = 3 + room.name.count(".")
    lines = [f"{'#' * min(depth, 5)} {room.name}", "", room.heading, ""]
    for paragraph in room.about:
        lines += [*wrap(paragraph, LINE), ""]
    lines += [*_facts(room, "In", "Out"), ""]
    if room.contents:
        lines += ["| inside | what it does |", "|---|---|"]
        lines += [f"| {_entry(room, name)} | {says} |" for name, says in room.contents]
    lines += ["", *_facts(room, "Paper", "Papers")]
    if room.notes:
        links = ", ".join(f"[{int(note[:4])}](design/{note})" for note in room.notes)
        lines.append(f"- **Design**: {links}")
    return "\n".join(lines)


def _facts(room: Room, *names: str) -> Iterator[str]:
    """Lines about what comes in, goes out and was published."""
    for name, says in room.facts:
        if name in names:
            yield from wrap(f"- **{name}**: {says}", LINE, subsequent_indent="  ")


def _entry(room: Room, name: str) -> str:
    folder = room.path.parent
    if (folder / name / "__init__.py").exists():
        return f"[**`{name}`**](#{room.name.replace('.', '')}{name.lower()})"
    return f"[`{name}`]({_link(folder / f'{name}.py')})"


def _link(path: Path) -> str:
    return f"../{path.relative_to(ROOT).as_posix()}"


def made() -> dict[Path, str]:
    """What this script writes: each file with its text."""
    return {PAGE: page(), PICTURE: picture(boxes(), imports())}


def main() -> None:
    """Write the page and the picture."""
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
