"""Doors: engines are asked by their contract, and nobody reaches into what is another's."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tests.shape.code import Module, expect_none, modules

NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
"""What named tuples offer to everyone; the underscore keeps it apart from their fields."""
FOREIGN = {
    # Ends the process at once; the name is that of the system call.
    "commands.console.terminal": {"_exit"},
    # Python has no public door to the Java side of a session.
    "engine.spark.sparql.solution_frame": {"_jsparkSession", "_jdf"},
    # An array that machine code makes is handed over as its value.
    "store.machine_code": {"_getvalue"},
}
"""Private names of other people's libraries, where there is no other way; the list only shrinks."""
INSIDE = {"store", "interpreter"}
"""The parts of an engine that are for its own rooms."""
ENGINES = {"engine", "_engine", "specialised", "merged", "truth", "embedded"}
"""What engines are called."""
STORED = {f"livefacts.store.facts.{name}" for name in ("bits", "layout", "row_store")}
"""How facts are stored: for engines alone."""
# A set of triples of its own, not those of an engine.
OWN_STORES = {"service.change.dump": {"livefacts.store.facts.row_store"}}


def test_the_service_asks_engines_and_does_not_look_into_stores() -> None:
    expect_none(
        (
            f"{module.place(node)} imports {name}"
            for module in service()
            for node, name in module.placed_imports()
            if name in STORED - OWN_STORES.get(module.name, set())
        ),
        "the bits of a fact and the shape of triples are in engine.contract",
    )


def test_the_service_does_not_touch_the_inner_parts_of_an_engine() -> None:
    expect_none(
        (
            f"{module.place(node)} reads {ast.unparse(node)}"
            for module in service()
            for node in attributes(module)
            if node.attr in INSIDE and last_name(node.value) in ENGINES
        ),
        "give the engine a method that answers the question",
    )


def test_nothing_is_rolled_back_by_copying_a_dict_of_attributes() -> None:
    expect_none(
        (
            module.place(n)
            for module in modules()
            for n in attributes(module)
            if n.attr == "__dict__"
        ),
        "what changes together is one object, which is swapped",
    )


def test_what_is_private_is_used_by_its_own_class_alone() -> None:
    expect_none(
        (line for module in modules() for line in intrusions(module)),
        "ask for it by a public name, or let its owner do the work",
    )


def test_what_is_allowed_of_other_libraries_is_still_used() -> None:
    known = {module.name: {node.attr for node in attributes(module)} for module in modules()}
    unused = (
        f"{name}: {attr}"
        for name, attrs in FOREIGN.items()
        for attr in attrs - known.get(name, set())
    )
    expect_none(unused, "take it off the list")


def service() -> Iterator[Module]:
    return (module for module in modules() if module.name.split(".")[0] == "service")


def attributes(module: Module) -> Iterator[ast.Attribute]:
    return (node for node in module.nodes if isinstance(node, ast.Attribute))


def last_name(node: ast.expr) -> str:
    """The name by which a value is reached: `engine` of `self.state.engine`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def intrusions(module: Module) -> Iterator[str]:
    """Private attributes that are used outside of the class that they belong to."""
    classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    known = {node.name for node in classes}
    inside = {node: names for each in classes for node, names in privates_in(each)}
    for node in attributes(module):
        is_private = node.attr.startswith("_") and not node.attr.startswith("__")
        names = inside.get(node, set()) | NAMED_TUPLES | FOREIGN.get(module.name, set())
        if is_private and not is_own(node.value, known) and node.attr not in names:
            yield f"{module.place(node)} uses {ast.unparse(node)}"


def privates_in(made: ast.ClassDef) -> Iterator[tuple[ast.Attribute, set[str]]]:
    """Each attribute in a class, with the private names that objects of the class may see of others."""
    names = set(private_names(made))
    return ((node, names) for node in ast.walk(made) if isinstance(node, ast.Attribute))


def is_own(base: ast.expr, classes: Collection[str] = ()) -> bool:
    """Whether a value is the object itself, or a class of the module."""
    if isinstance(base, ast.Call):
        return isinstance(base.func, ast.Name) and base.func.id == "super"
    return isinstance(base, ast.Name) and (base.id in ("self", "cls") or base.id in classes)


def private_names(made: ast.ClassDef) -> Iterator[str]:
    """The private attributes and methods of a class."""
    for node in ast.walk(made):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and is_own(node.value):
            yield node.attr
