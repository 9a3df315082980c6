"""Which sources the machine code of kernels depends on."""

from __future__ import annotations

import importlib
import sys

import pytest
from numba.core.dispatcher import Dispatcher

from livefacts.store.machine_code import KERNEL_FOLDERS, PACKAGE, kernel_sources

PREFIX = f"{PACKAGE.name}."


@pytest.fixture(autouse=True, scope="module")
def _modules() -> None:
    for folder in KERNEL_FOLDERS:
        for path in (PACKAGE / folder).rglob("[a-z]*.py"):
            if "spark" not in path.parts:
                name = path.relative_to(PACKAGE).with_suffix("")
                importlib.import_module(PREFIX + ".".join(name.parts))


def test_every_module_with_a_kernel_is_a_source() -> None:
    modules = {
        kernel.py_func.__module__
        for name, module in list(sys.modules.items())
        if name.startswith(PREFIX)
        for kernel in list(vars(module).values())
        if isinstance(kernel, Dispatcher)
    }
    assert modules
    assert {name.removeprefix(PREFIX) for name in modules} <= kernel_sources().keys()


def test_what_kernels_use_of_other_modules_is_a_source() -> None:
    sources = kernel_sources()
    for name in sources:
        for value in vars(sys.modules.get(PREFIX + name, sys)).values():
            used = getattr(value, "__name__", "")
            if used.startswith(tuple(f"{PREFIX}{folder}." for folder in KERNEL_FOLDERS)):
                assert used.removeprefix(PREFIX) in sources, f"{name} uses {used}"


def test_modules_that_no_kernel_uses_are_none() -> None:
    sources = kernel_sources()
    assert "store.facts.layout" in sources
    assert "engine.queries.evaluation" not in sources
    assert "engine.flow.dataflow" not in sources
