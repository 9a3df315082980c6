"""Imports point down: a layer knows the layers below it and none of those above."""

from __future__ import annotations

from collections.abc import Iterator

from tests.shape.code import Module, expect_none, modules

# a layer, and the layers it may import besides itself
BELOW = {
    "errors": "",
    "model": "errors",
    "language": "errors model",
    "store": "errors model",
    "generate": "errors",
    "syntax": "errors model language store",
    "plan": "errors model language",
    "engine.contract": "errors model language plan store",
    "engine.embedded": "errors model language plan store engine.contract",
    "engine.patterns": "errors model language plan store engine.contract",
    "engine.flow": "errors model language plan store engine.contract engine.patterns",
    "engine.messages": (
        "errors model language plan store syntax engine.contract engine.patterns engine.flow"
    ),
    "engine.queries": "errors model language plan store engine.contract engine.flow",
    "journal": "errors store",
    # A saved folder: both engines live on it, and none of it needs Spark.
    "kb": "errors model language plan store syntax journal engine.contract engine.embedded",
    "engine.spark": "errors model language plan store syntax journal engine.contract kb",
    "service": (
        "errors model language plan store syntax journal engine.contract engine.embedded engine.flow "
        "engine.patterns engine.messages engine.queries kb engine.spark"
    ),
    "spark": "errors engine.spark service",
    "sources": "errors syntax service",
    "doctor": "errors generate store service kb engine.spark",
    "server": "errors model language store syntax journal service",
    "": "errors model language service",
    "commands": (
        "errors model language syntax store journal generate doctor service server kb engine.spark"
    ),
    "cli": "errors commands",
    "__main__": "cli",
}
FREE = {"engine", "rulesets"}
EXCEPTIONS = {
    # General rules that fit into the driver's memory are followed there by the embedded engine.
    "engine.spark.local.engine_over_tables": {"engine.embedded"},
    # What one task can hold is closed there by the embedded engine, instead of by rounds of joins.
    "engine.spark.joins.task_engine": {"engine.embedded"},
    # Queries that are no stars are followed by one keeper, in one place of the cluster.
    "engine.spark.watch.keeper": {"engine.messages", "engine.patterns"},
    "engine.spark.session": {""},
    # One implementation of SPARQL's operators on values, in one process and in tasks.
    **{
        f"engine.spark.sparql.{name}": {"engine.queries"}
        for name in (
            "algebra_frames",
            "group_frames",
            "pattern_frames",
            "query_frame",
            "value_tasks",
        )
    },
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
