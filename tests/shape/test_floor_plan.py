"""The floor plan: rooms that show ideas, a graph of rooms without cycles, names that occur once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.shape.code import PACKAGE, ROOT, Module, modules
from tools.architecture import parsed

MOST_MODULES = 22
"""So many modules lie side by side in one room, and no more."""

# The command that shows a thing, and the thing.
SHARED_BASENAMES = {"doctor", "dump", "spark", "watch"}
# What an engine is asked to change; and, for users, an answer that comes or goes.
SHARED_CLASSES = {"Change"}
NOUNS = {"encoding", "feed", "lowering", "nesting", "unfolding", "wording"}
"""Names of things that look like participles; lowering and unfolding are steps of compilers."""

WINDOW_NAMES = {
    "session": r"\bSession(Window|Extent)\b|\bby_session\b|\bSESSION\b",
    "past": r"\bPastWindow\b|\bby_past\b|\bUNTIL _duration\b",
}
"""What kinds of window are called that came when there was one window operator."""
MOST_WINDOW_FILES = 5


def test_the_graph_of_rooms_has_no_cycle() -> None:
    knots = [knot for knot in components(room_graph()) if len(knot) > 1]
    assert not knots, "these rooms import each other:\n" + "\n".join(
        line for knot in knots for line in edges_inside(knot)
    )


def test_a_basename_occurs_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        if module.path.name != "__init__.py":
            homes[module.path.stem].append(module.name)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if name not in SHARED_BASENAMES} == {}


def test_the_name_of_a_public_class_occurs_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module.name)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if name not in SHARED_CLASSES} == {}


def test_a_kind_of_window_is_known_to_few_files() -> None:
    """Two grammars with their readers, and the language: whatever moves windows knows no kinds."""
    files = [path for kind in ("*.py", "*.lark") for path in PACKAGE.rglob(kind)]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    for kind, names in WINDOW_NAMES.items():
        knowing = [name for name, text in texts.items() if re.search(names, text)]
        assert 3 < len(knowing) <= MOST_WINDOW_FILES, f"{kind}: {knowing}"


def test_a_room_holds_as_many_modules_as_one_can_see() -> None:
    counted: dict[str, int] = defaultdict(int)
    for module in modules():
        if module.path.name != "__init__.py":
            counted[room_of(module)] += 1
    assert {room: count for room, count in counted.items() if count > MOST_MODULES} == {}


def test_unit_tests_lie_in_the_rooms_of_what_they_test() -> None:
    unit = ROOT / "tests" / "unit"
    homes = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")}
    assert [str(home) for home in homes if not (PACKAGE / home / "__init__.py").exists()] == []


def test_a_name_does_not_repeat_its_room() -> None:
    repeated = [
        module.name
        for module in modules()
        if "." in module.name
        and module.path.name != "__init__.py"
        and words_of(module.path.stem) & words_of(module.path.parent.name)
    ]
    assert repeated == []


def test_a_name_ends_in_a_noun() -> None:
    """No participle or gerund; what the field itself calls so, and other nouns, are listed."""
    acting = [
        module.name
        for module in modules()
        if re.search("(ing|ed)$", module.path.stem.rpartition("_")[2])
        and module.path.stem.rpartition("_")[2] not in NOUNS
    ]
    assert acting == []


def words_of(name: str) -> set[str]:
    """The words of a name, in the singular."""
    return {re.sub("(?<!s)s$", "", word) for word in name.split("_")}


def test_every_room_opens_with_its_map() -> None:
    """The docstring of a package names each of its modules and rooms."""
    missing = [
        f"{room.relative_to(PACKAGE.parent)}: {name}"
        for room in sorted({module.path.parent for module in modules()})
        if room != PACKAGE
        for name in _inside(room)
        if f"`{name}`" not in (ast.get_docstring(parsed(room / "__init__.py")) or "")
    ]
    assert not missing, "the map of a room does not say what is in it:\n" + "\n".join(missing)


def _inside(room: Path) -> Iterator[str]:
    for path in sorted(room.iterdir()):
        if path.is_dir() and (path / "__init__.py").exists():
            yield path.name
        elif path.suffix == ".py" and path.name != "__init__.py":
            yield path.stem


def room_of(module: Module) -> str:
    """The package that a module is in; modules at the top are rooms of their own."""
    if module.path.name == "__init__.py" or "." not in module.name:
        return module.name
    return module.name.rpartition(".")[0]


def room_graph() -> dict[str, set[str]]:
    """Which rooms import which others, wherever in their files."""
    graph: dict[str, set[str]] = defaultdict(set)
    for importer, imported in imported_pairs():
        if room_of(importer) != room_of(imported) and importer.name and imported.name:
            graph[room_of(importer)].add(room_of(imported))
    return graph


def imported_pairs() -> Iterator[tuple[Module, Module]]:
    """Each module with each module that it imports."""
    known = {module.name: module for module in modules()}
    for module in modules():
        for name in _imported_names(module):
            below = name.removeprefix("livefacts").removeprefix(".")
            found = known.get(below) or known.get(below.rpartition(".")[0])
            if name.startswith("livefacts") and found and found != module:
                yield module, found


def _imported_names(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def edges_inside(knot: Iterable[str]) -> Iterator[str]:
    """The imports between the rooms of a knot, as lines."""
    rooms = set(knot)
    for importer, imported in imported_pairs():
        if {room_of(importer), room_of(imported)} <= rooms and room_of(importer) != room_of(
            imported
        ):
            yield f"  {importer.name} imports {imported.name}"


def components(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Strongly connected components, by who reaches whom."""
    reached = {room: _reachable(room, graph) for room in graph}
    return [
        {other for other in reached[room] if room in reached.get(other, set())} | {room}
        for room in graph
    ]


def _reachable(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for room in graph.get(waiting.pop(), set()) - found:
            found.add(room)
            waiting.append(room)
    return found
