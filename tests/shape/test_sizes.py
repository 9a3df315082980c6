"""Modules and functions stay small, and their names say what they are about."""

from __future__ import annotations

import ast

import pytest
from tests.shape.code import Function, Module, modules

MODULE_LINES = 600
BODY_LINES = 30
COMPILED = {"kernel", "inlined", "intrinsic"}
EMPTY_NAMES = {"utils", "util", "helpers", "common", "misc", "base", "manager"}

every_module = pytest.mark.parametrize(
    "module", modules(), ids=lambda module: module.name or "livefacts"
)


@every_module
def test_a_module_is_short_enough_to_have_one_idea(module: Module) -> None:
    assert module.lines <= MODULE_LINES


@every_module
def test_a_function_fits_on_a_screen_unless_it_is_compiled(module: Module) -> None:
    long = {
        f"{module.path.name}:{function.lineno} {function.name}": body_lines(function)
        for function in module.functions()
        if body_lines(function) > BODY_LINES and not is_compiled(function)
    }
    assert long == {}


@every_module
def test_a_module_is_named_after_its_idea(module: Module) -> None:
    assert not EMPTY_NAMES & set(module.name.split("."))


def body_lines(function: Function) -> int:
    """The lines of a function without its signature and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def is_compiled(function: Function) -> bool:
    """Whether one of the decorators makes machine code of the function."""
    named = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any(ast.unparse(name).split(".")[-1] in COMPILED for name in named)
