"""The files of a knowledge base are opened, written and listed in one room, whatever store they are on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.shape.code import Module, expect_none, modules

ROOMS = ("kb", "engine.spark")
STORES = "kb.stores."
OPENERS = {
    "open",
    "mmap",
    "memory_map",
    "OSFile",
    "flock",
    "read_table",
    "write_table",
    "ParquetFile",
}
LIBRARIES = {"os", "shutil", "glob", "mmap", "fcntl", "tempfile"}
WORDS_OF_OS = {"PathLike", "fspath"}
"""What is said of names, and touches no file."""
OTHER_FILES = {
    "engine.spark.java",
    "engine.spark.session",
    "engine.spark.archive",
    "engine.spark.formats.patch_sink",
    "engine.spark.formats.mqtt_source",
}
"""Java, Python's packages, and what streams write for others: no files of a knowledge base."""


def test_files_of_a_knowledge_base_are_touched_by_its_stores_alone() -> None:
    expect_none(
        (line for module in modules() if is_inside(module) for line in touching(module)),
        "what is done with a file is an operation of StorePath (livefacts.kb.stores)",
    )


def is_inside(module: Module) -> bool:
    is_other = module.name.startswith(STORES) or module.name in OTHER_FILES
    return module.name.startswith(tuple(f"{room}." for room in ROOMS)) and not is_other


def touching(module: Module) -> Iterator[str]:
    """Every place where a module deals with files itself."""
    for node in module.nodes:
        if imports_path(node):
            yield f"{module.place(node)} imports pathlib.Path"
        if isinstance(node, ast.Call) and opener(node) in OPENERS:
            yield f"{module.place(node)} calls {ast.unparse(node.func)}"
        if isinstance(node, ast.Attribute) and is_of_library(node):
            yield f"{module.place(node)} uses {ast.unparse(node)}"


def is_of_library(node: ast.Attribute) -> bool:
    named = node.value.id if isinstance(node.value, ast.Name) else ""
    return named in LIBRARIES and node.attr not in WORDS_OF_OS


def imports_path(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == "pathlib"
        and any(each.name == "Path" for each in node.names)
    )


def opener(call: ast.Call) -> str:
    """The function that is called, unless a StorePath is asked for it."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
        return call.func.attr if call.func.value.id in ("pq", "pa") else ""
    return ""
