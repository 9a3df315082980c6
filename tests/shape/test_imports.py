"""Imports point down: a layer knows the layers below it and none of those above."""

from __future__ import annotations

from collections.abc import Iterator

from tests.shape.code import Module, expect_none, modules

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


def test_a_module_imports_only_from_its_own_layer_and_from_those_below() -> None:
    expect_none(
        (line for module in modules() if module.name not in FREE for line in forbidden(module)),
        "a layer imports only the layers that BELOW names; move what both need further down",
    )


def forbidden(module: Module) -> Iterator[str]:
    """The imports of a module that its layer does not have."""
    layer = layer_of(module.name)
    allowed = {layer, *BELOW[layer].split()} | EXCEPTIONS.get(module.name, set())
    for statement, name in module.placed_imports():
        if name.split(".")[0] == "livefacts":
            used = layer_of(name.removeprefix("livefacts").removeprefix("."))
            if used not in allowed:
                yield f"{module.place(statement)} imports {name}: {layer} may not import {used}"


def test_every_module_has_a_layer() -> None:
    expect_none(
        (
            module.place()
            for module in modules()
            if module.name and not layer_of(module.name) and module.name.split(".")[0] not in FREE
        ),
        "give the module a layer in BELOW",
    )


def test_pyspark_is_imported_by_the_spark_engine_alone() -> None:
    expect_none(
        (
            f"{module.place(statement)} imports {name}"
            for module in modules()
            for statement, name in module.placed_imports()
            if name.split(".")[0] == "pyspark" and not module.name.startswith("engine.spark")
        ),
        "only engine.spark imports pyspark",
    )
