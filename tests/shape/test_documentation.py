"""What users and readers meet first is explained where it stands."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

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


def test_every_pinned_package_is_listed_with_its_licence() -> None:
    pins = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    names = {line.partition("==")[0] for line in pins.splitlines() if re.match(r"[a-z].*==", line)}
    listed = set(re.findall(r"[a-z][a-z0-9-]+", (ROOT / "docs" / "licences.md").read_text("utf-8")))
    assert names
    assert names - listed == set()


def test_pinned_requirements_have_hashes_and_name_no_index() -> None:
    pins = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[a-z])", pins.partition("\n")[2])
    assert all("--hash=sha256:" in block for block in blocks if "==" in block)
    assert not re.search(r"://|--index|--find-links|--extra-index", pins)


PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_links_only_to_what_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_papers_page_names_only_files_that_exist() -> None:
    named = re.findall(r"`((?:src|tests)/[^`]+)`", (ROOT / "docs/papers.md").read_text("utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
