"""Modules and functions stay small, and their names say what they are about."""

from __future__ import annotations

import ast

from tests.shape.code import Function, expect_none, modules

MODULE_LINES = 600
BODY_LINES = 30
COMPILED = {"kernel", "inlined", "intrinsic"}
EMPTY_NAMES = {"utils", "util", "helpers", "common", "misc", "base", "manager"}


def test_a_module_is_short_enough_to_have_one_idea() -> None:
    expect_none(
        (f"{m.place()} has {m.lines} lines" for m in modules() if m.lines > MODULE_LINES),
        f"a module has at most {MODULE_LINES} lines; split it by idea",
    )


def test_a_function_fits_on_a_screen_unless_it_is_compiled() -> None:
    expect_none(
        (
            f"{module.place(function)} {function.name} has {body_lines(function)} lines"
            for module in modules()
            for function in module.functions()
            if body_lines(function) > BODY_LINES and not is_compiled(function)
        ),
        f"a function body has at most {BODY_LINES} lines; give a part of it a name",
    )


def test_a_module_is_named_after_its_idea() -> None:
    expect_none(
        (m.place() for m in modules() if EMPTY_NAMES & set(m.name.split("."))),
        f"a module is named after its idea, and not {', '.join(sorted(EMPTY_NAMES))}",
    )


def body_lines(function: Function) -> int:
    """The lines of a function without its signature and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def is_compiled(function: Function) -> bool:
    """Whether one of the decorators makes machine code of the function."""
    named = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any(ast.unparse(name).split(".")[-1] in COMPILED for name in named)
