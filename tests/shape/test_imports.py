"""Imports point down: a layer knows the layers below it and none of those above."""

from __future__ import annotations

import pytest
from tests.shape.code import Module, modules

# a layer, and the layers it may import besides itself
BELOW = {
    "errors": "",
    "model": "errors",
    "rules": "errors model",
    "store": "errors model",
    "generate": "errors",
    "syntax": "errors model rules store",
    "plan": "errors model rules",
    "engine.contract": "errors model rules plan",
    "engine.embedded": "errors model rules plan store engine.contract",
    "engine.spark": "errors model rules plan store syntax engine.contract",
    # A knowledge base on disk is opened by the reasoner, too.
    "service": "errors model rules plan store syntax engine.contract engine.embedded engine.spark",
    "spark": "errors engine.spark service",
    "doctor": "errors generate store service engine.spark",
    "": "errors model rules service",
    "commands": "errors model rules syntax store generate doctor service engine.spark",
    "cli": "errors commands",
    "__main__": "cli",
}
FREE = {"engine", "rulesets"}
# The schema is closed in one process, by the engine that is made for that.
EXCEPTIONS = {
    "engine.spark.schema": {"engine.embedded"},
    "engine.spark.liveprogram": {"engine.embedded"},
    # Queries that are no stars are followed by one keeper, which runs the embedded engine.
    "engine.spark.keeping": {"engine.embedded"},
    "engine.spark.session": {""},
}


def layer_of(name: str) -> str:
    """The longest layer that this module name is in."""
    fitting = [layer for layer in BELOW if name == layer or name.startswith(f"{layer}.")]
    return max(fitting, key=len, default="")


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "livefacts")
def test_a_module_imports_only_from_its_own_layer_and_from_those_below(module: Module) -> None:
    if module.name in FREE:
        return
    layer = layer_of(module.name)
    allowed = {layer, *BELOW[layer].split()} | EXCEPTIONS.get(module.name, set())
    ours = [name for name in module.imports() if name.split(".")[0] == "livefacts"]
    used = {layer_of(name.removeprefix("livefacts").removeprefix(".")) for name in ours}
    assert used <= allowed, f"{module.name} may not import {sorted(used - allowed)}"


def test_every_module_has_a_layer() -> None:
    strangers = [
        module.name
        for module in modules()
        if module.name and not layer_of(module.name) and module.name.split(".")[0] not in FREE
    ]
    assert strangers == []


def test_pyspark_is_imported_by_the_spark_engine_alone() -> None:
    users = {m.name for m in modules() for name in m.imports() if name.split(".")[0] == "pyspark"}
    assert all(name.startswith("engine.spark") for name in users)
