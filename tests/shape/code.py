"""The source of the package as syntax trees, for the tests of its shape."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import pytest
from tools.architecture import parsed

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "livefacts"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Module:
    """One file of the package: its dotted name below `livefacts`, its text and its tree."""

    name: str
    path: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def place(self, node: ast.AST | None = None) -> str:
        """Where something of the module stands, as editors find it."""
        line = getattr(node, "lineno", 1)
        return f"{self.path.relative_to(ROOT)}:{line}"

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in the tree, walked once for all laws."""
        return tuple(ast.walk(self.tree))

    def functions(self) -> Iterator[Function]:
        return (n for n in self.nodes if isinstance(n, Function))

    def imports(self) -> Iterator[str]:
        """The modules of the package that this one imports, wherever in the file."""
        return (name for _, name in self.placed_imports())

    def placed_imports(self) -> Iterator[tuple[ast.stmt, str]]:
        """Each import with the statement that makes it."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node, each.name) for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.place(node)} imports relatively; name the package"
                source = node.module or ""
                names = (f"{source}.{each.name}" for each in node.names)
                yield from ((node, n) for n in (names if source == "livefacts" else (source,)))


def expect_none(broken: Iterable[str], remedy: str) -> None:
    """Fail with every place that breaks a law, and with what to do there."""
    places = sorted(broken)
    if places:
        pytest.fail("\n".join([f"{len(places)} break a law: {remedy}", *places]), pytrace=False)


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package."""
    return tuple(_module(path) for path in sorted(PACKAGE.rglob("*.py")))


def _module(path: Path) -> Module:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    name = ".".join(part for part in parts if part != "__init__")
    text = path.read_text(encoding="utf-8")
    return Module(name, path, text, parsed(path))
