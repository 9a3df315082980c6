"""What users and readers meet first is explained where it stands."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

from tests.shape.code import ROOT, expect_none, modules

import livefacts


def test_a_module_opens_with_what_it_is_for() -> None:
    expect_none(
        (m.place() for m in modules() if m.text.strip() and not ast.get_docstring(m.tree)),
        "a module opens with a docstring that says what it is for",
    )


def test_a_public_class_says_what_it_is() -> None:
    expect_none(
        (
            f"{module.place(node)} {node.name}"
            for module in modules()
            for node in module.tree.body
            if isinstance(node, ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ),
        "a public class has a docstring",
    )


def test_a_public_name_and_its_methods_are_documented() -> None:
    expect_none(
        (
            f"livefacts.{name}"
            for top in livefacts.__all__
            for name, thing in [(top, getattr(livefacts, top)), *members_of(top)]
            if not inspect.getdoc(thing)
        ),
        "what users call has a docstring",
    )


def members_of(name: str) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a public name."""
    thing = getattr(livefacts, name)
    for member, value in vars(thing).items():
        is_asserted = inspect.isfunction(value) or isinstance(value, property | classmethod)
        if is_asserted and not member.startswith("_"):
            yield f"{name}.{member}", getattr(thing, member)


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


def test_a_page_links_only_to_what_exists() -> None:
    expect_none(
        (
            f"{page.relative_to(ROOT)}:{line} {link}"
            for page in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
            for line, text in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
            for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
            if not (page.parent / link).exists()
        ),
        "a page links to a file that is not there",
    )


def test_a_page_of_tests_names_only_files_that_exist() -> None:
    expect_none(
        (
            f"docs/{page}:{line} {name}"
            for page in ("papers.md", "testing.md")
            for line, text in enumerate((ROOT / "docs" / page).read_text("utf-8").splitlines(), 1)
            for name in re.findall(r"`((?:src|tests)/[^`*<]+)`", text)
            if not (ROOT / name).exists()
        ),
        "a page names a file that is not there",
    )


def test_the_papers_page_names_sources_and_tests() -> None:
    named = re.findall(r"`(src|tests)/[^`]+`", (ROOT / "docs/papers.md").read_text("utf-8"))
    assert {"src", "tests"} == set(named)


def test_a_package_of_tests_has_a_map_of_its_modules() -> None:
    maps = {path.parent: path.read_text("utf-8") for path in (ROOT / "tests").rglob("__init__.py")}
    expect_none(
        (
            f"{module.relative_to(ROOT)}:1 is not in {(package / '__init__.py').relative_to(ROOT)}"
            for package, text in maps.items()
            for module in package.glob("*.py")
            if module.name != "__init__.py" and f"`{module.stem}`" not in text
        ),
        "the docstring of a package of tests names every module in it",
    )


def test_a_program_of_a_page_can_be_pasted_into_the_prompt() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    expect_none(
        (
            f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, block.end(1)) + line}"
            for page in pages
            for text in [page.read_text(encoding="utf-8")]
            for block in re.finditer(r"(?ms)^(```python\n)(.*?)^```$", text)
            for line in ends_without_blank(block[2])
        ),
        "Python's prompt needs a blank line behind a body",
    )


def ends_without_blank(program: str) -> Iterator[int]:
    """The last lines of bodies that the next statement follows at once."""
    lines, body = program.splitlines(), ast.parse(program).body
    for statement in body[:-1]:
        if hasattr(statement, "body") and lines[statement.end_lineno or 0].strip():
            yield statement.end_lineno or 0
