"""Imports point down: a layer knows the layers below it and none of those above."""

from __future__ import annotations

import pytest
from tests.shape.code import Module, modules

# a layer, and the layers it may import besides itself
BELOW = {
    "errors": "",
    "model": "errors",
    "language": "errors model",
    "store": "errors model",
    "generate": "errors",
    "syntax": "errors model language store",
    "plan": "errors model language",
    "engine.contract": "errors model language plan",
    "engine.embedded": "errors model language plan store engine.contract",
    "engine.patterns": "errors model language plan store engine.contract",
    "engine.flow": "errors model language plan store engine.contract engine.patterns",
    "engine.messages": (
        "errors model language plan store syntax engine.contract engine.patterns engine.flow"
    ),
    # A saved folder: both engines live on it, and none of it needs Spark.
    "kb": "errors model language plan store syntax engine.contract engine.embedded",
    "engine.spark": "errors model language plan store syntax engine.contract kb",
    "service": (
        "errors model language plan store syntax engine.contract engine.embedded engine.flow "
        "engine.patterns engine.messages kb engine.spark"
    ),
    "spark": "errors engine.spark service",
    "doctor": "errors generate store service kb engine.spark",
    "": "errors model language service",
    "commands": "errors model language syntax store generate doctor service kb engine.spark",
    "cli": "errors commands",
    "__main__": "cli",
}
FREE = {"engine", "rulesets"}
EXCEPTIONS = {
    # General rules that fit into the driver's memory are followed there by the embedded engine.
    "engine.spark.local.engine_over_tables": {"engine.embedded"},
    # Queries that are no stars are followed by one keeper, in one place of the cluster.
    "engine.spark.watch.keeper": {"engine.messages", "engine.patterns"},
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
    assert all(name.startswith("engine.spark") for name in users), users
