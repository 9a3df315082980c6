"""What users and readers meet first is explained where it stands."""

from __future__ import annotations

import ast
import inspect

import pytest
from tests.shape.code import ROOT, Module, modules

import livefacts

every_module = pytest.mark.parametrize(
    "module", modules(), ids=lambda module: module.name or "livefacts"
)


@every_module
def test_a_module_opens_with_what_it_is_for(module: Module) -> None:
    if module.text.strip():
        assert ast.get_docstring(module.tree)


@every_module
def test_a_public_class_says_what_it_is(module: Module) -> None:
    silent = [
        node.name
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


@pytest.mark.parametrize("name", livefacts.__all__)
def test_a_public_name_and_its_methods_are_documented(name: str) -> None:
    thing = getattr(livefacts, name)
    silent = [
        f"{name}.{member}"
        for member, value in vars(thing).items()
        if not member.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod))
        and not inspect.getdoc(getattr(thing, member))
    ]
    assert inspect.getdoc(thing)
    assert silent == []


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md"]
    lost = [str(page.relative_to(ROOT / "docs")) for page in pages]
    assert [page for page in lost if f"({page})" not in index] == []
