"""Moves modules to other rooms, and mends every place that names them.

    python tools/move.py plan.order plan.rules.join_order
    python tools/move.py --table moves.txt        # one "old new" a line

Names are below `livefacts`.  Imports, strings with dotted names, the files that lie beside a
module (its grammar), its line in the map of its room, walks, and the paths in the documentation
follow.  What a mutant replaces is text of the sources, not a path, so it goes along by itself.
The tests say what was missed; `make architecture` makes the page anew.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "livefacts"
WALKS = ROOT / "tools" / "walks.toml"
CODE = ("src", "tests", "benchmarks", "examples", "tools")

DONE = "."
"""Stands for a dot until all names are mended, so that none is mended twice."""

Moves = Mapping[str, str]


def main() -> None:
    """Read the moves, make them, and bring imports into order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("names", nargs="*", help="old and new name, in turn")
    parser.add_argument("--table", type=Path, help="a file with an old and a new name a line")
    given = parser.parse_args()
    moves = dict(_pairs(given.names)) | (dict(_lines(given.table)) if given.table else {})
    missing = [name for name in moves if not _file(name).exists()]
    if missing or not moves:
        parser.error(f"no such module: {', '.join(missing)}" if missing else "nothing to move")
    for path in list(_python_files()):
        _rewrite(path, mended(path.read_text(encoding="utf-8"), moves))
    for path in list(_pages()):
        _rewrite(path, mended_page(path.read_text(encoding="utf-8"), moves))
    _rewrite(WALKS, mended_walks(WALKS.read_text(encoding="utf-8"), moves))
    _move_files(moves)
    for old, new in moves.items():
        _move_line(old, new)
    subprocess.run(["ruff", "check", "--quiet", "--fix", "--select", "I", *CODE], cwd=ROOT)
    subprocess.run(["ruff", "format", "--quiet", *CODE], cwd=ROOT)


class _Plain(argparse.RawDescriptionHelpFormatter):
    pass


def _pairs(names: list[str]) -> Iterator[tuple[str, str]]:
    return zip(names[::2], names[1::2], strict=True)


def _lines(table: Path) -> Iterator[tuple[str, str]]:
    for line in table.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] != words[1]:
            yield words[0], words[1]


def _file(name: str) -> Path:
    return PACKAGE / f"{name.replace('.', '/')}.py"


def _python_files() -> Iterator[Path]:
    return (path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py")))


def _pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    yield from (ROOT / "docs").rglob("*.md")
    yield from (ROOT / "tests").rglob("*.md")


def _rewrite(path: Path, text: str) -> None:
    if path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def mended(text: str, moves: Moves) -> str:
    """A module's text after the moves."""
    text, renamed = _with_modules_imported(text, moves)
    return _dotted(_with_names(text, renamed), moves).replace(DONE, ".")


def _with_modules_imported(text: str, moves: Moves) -> tuple[str, dict[str, str]]:
    """`from livefacts.room import module` rewritten, and the names that change with it."""
    renamed: dict[str, str] = {}
    lines, tree = text.split("\n"), ast.parse(text)
    taken = _bound(tree)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in sorted(nodes, key=lambda node: -node.lineno):
        if not (node.module or "").startswith("livefacts"):
            continue
        room = (node.module or "").removeprefix("livefacts").lstrip(".")
        moved = [(each, moves.get(f"{room}.{each.name}".lstrip("."))) for each in node.names]
        if any(new for _, new in moved):
            made = [_import(node.module or "", *each, taken, renamed) for each in moved]
            lines[node.lineno - 1 : node.end_lineno] = [" " * node.col_offset + m for m in made]
    return "\n".join(lines), renamed


def _bound(tree: ast.Module) -> set[str]:
    """Names that something else than an import binds."""
    stored = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.ctx.__class__ != ast.Load
    }
    arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return stored | arguments | defined


def _import(
    room: str, alias: ast.alias, new: str | None, taken: set[str], renamed: dict[str, str]
) -> str:
    if new is None:
        return f"from {room} import {ast.unparse(alias)}"
    home, _, name = new.rpartition(".")
    known = alias.asname or alias.name
    if not alias.asname and not {name, known} & taken:
        renamed[known] = known = name
    source = "livefacts" + (DONE + home.replace(".", DONE) if home else "")
    return f"from {source} import {name}" + (f" as {known}" if known != name else "")


def _with_names(text: str, renamed: Mapping[str, str]) -> str:
    """The text with modules called by their new names."""
    lines = text.split("\n")
    places = [
        (node.lineno, node.col_offset, node.id)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id in renamed
    ]
    for line, column, name in sorted(places, reverse=True):
        row = lines[line - 1].encode()
        after = row[column + len(name) :].decode()
        lines[line - 1] = row[:column].decode() + renamed[name] + after
    return "\n".join(lines)


def _dotted(text: str, moves: Moves) -> str:
    names = sorted(moves, key=len, reverse=True)
    pattern = r"\blivefacts\.(" + "|".join(map(re.escape, names)) + r")(?!\w)"
    return re.sub(pattern, lambda found: f"livefacts.{moves[found[1]]}", text)


def mended_page(text: str, moves: Moves) -> str:
    """A page of the documentation after the moves: paths and dotted names."""
    by_path = {old.replace(".", "/"): new.replace(".", "/") for old, new in moves.items()}
    names = sorted(by_path, key=len, reverse=True)
    pattern = r"(?<![\w])((?:src/)?(?:livefacts/)?)(" + "|".join(map(re.escape, names)) + r")\.py\b"
    text = re.sub(pattern, lambda found: f"{found[1]}{by_path[found[2]]}.py", text)
    return _dotted(text, moves)


def mended_walks(text: str, moves: Moves) -> str:
    """The walks after the moves: each step begins with the dotted name of its module."""
    names = sorted(moves, key=len, reverse=True)
    pattern = r"^(" + "|".join(map(re.escape, names)) + r")(?=\.)"
    return re.sub(pattern, lambda found: moves[found[1]], text, flags=re.MULTILINE)


def _move_line(old: str, new: str) -> None:
    """The line of a module goes into the map of its room, where the old one stood or last."""
    (source, name), (target, now) = (each.rpartition(".")[::2] for each in (old, new))
    place = re.compile(rf"^- `{name}`(:.*(?:\n  .*)*)\n", re.MULTILINE)
    text = _map(source).read_text(encoding="utf-8")
    if not (found := place.search(text)):
        return
    line = f"- `{now}`{found[1]}\n"
    _rewrite(_map(source), place.sub(lambda _: line if source == target else "", text, count=1))
    if source != target:
        text = _map(target).read_text(encoding="utf-8")
        lines = [each.end() for each in re.finditer(r"^- `.*(?:\n  .*)*\n", text, re.MULTILINE)]
        at = lines[-1] if lines else text.rindex('"""')
        _rewrite(_map(target), text[:at] + line + text[at:])


def _map(room: str) -> Path:
    return PACKAGE / room.replace(".", "/") / "__init__.py"


def _move_files(moves: Moves) -> None:
    """All out of the way first: a module may make room for a package of its name."""
    waiting = []
    for old, new in moves.items():
        for path in sorted(_file(old).parent.glob(f"{_file(old).stem}.*")):
            aside = path.with_name(f"{path.name}.moved")
            _git("mv", path, aside)
            waiting.append((aside, _file(new).with_suffix(path.suffix)))
    for aside, target in waiting:
        target.parent.mkdir(parents=True, exist_ok=True)
        _open_rooms(target.parent)
        _git("mv", aside, target)


def _open_rooms(folder: Path) -> None:
    while folder != PACKAGE:
        if not (folder / "__init__.py").exists():
            (folder / "__init__.py").write_text('"""\n"""\n', encoding="utf-8")
            _git("add", folder / "__init__.py")
        folder = folder.parent


def _git(job: str, *paths: Path) -> None:
    subprocess.run(["git", job, *map(str, paths)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
