"""SHACL 1.2 Rules, in the language of the public draft: `RULE { … } WHERE { … }`.

Also `IF { … } THEN { … }` and `DATA { … }`.  Not read: patterns over data alone (`WHERE DATA`),
blank nodes in heads, imports, and functions that rules do not have.

Papers: SHACL 1.2 Rules, W3C Working Draft.
"""

from __future__ import annotations

from livefacts.errors import Place
from livefacts.language.formula import Atom, Comparison, Formula
from livefacts.syntax.foreign_rules.formula_maker import (
    ForeignProgram,
    Node,
    RuleParts,
    bound_in,
    kind_of,
    ordered,
    parts_of,
    read_statements,
)
from livefacts.syntax.foreign_rules.statements import ForeignText, UnsayableError


def read(source: ForeignText) -> ForeignProgram:
    """The rules and facts of a text."""
    return read_statements(source, _take)


def _take(parts: RuleParts, tree: Node, place: Place) -> None:
    match kind_of(tree):
        case "prefix" | "base":
            parts.declare(tree)
        case "version":
            pass
        case "imports":
            raise UnsayableError("nothing is fetched: give the imported rules beside these")
        case "data":
            parts.blank_is_variable = False
            try:
                parts.add_rule(_heads(parts, parts_of(tree)[1]), (), place)
            finally:
                parts.blank_is_variable = True
        case "rule":
            words = [part for part in parts_of(tree) if kind_of(part) != "block"]
            head, body = (part for part in parts_of(tree) if kind_of(part) == "block")
            if any(kind_of(word) == "DATA" for word in words):
                raise UnsayableError("WHERE DATA sees what was asserted alone; rules see all")
            name = next((w for w in words if kind_of(w) in ("IRI", "PREFIXED")), None)
            local = "" if name is None else str(name).strip("<>").rpartition(":")[2]
            parts.add_rule(_heads(parts, head), body_of(parts, body), place, local)
        case "implication":
            _, body, _, head = parts_of(tree)
            parts.add_rule(_heads(parts, head), body_of(parts, body), place)


def _heads(parts: RuleParts, block: Node) -> list[Atom]:
    found: list[Atom] = []
    for part in parts_of(block):
        if kind_of(part) == "triples":
            found += parts.atoms(part)
        elif kind_of(part) != "nothing":
            raise UnsayableError("only triples stand in a head")
    return found


def body_of(parts: RuleParts, block: Node) -> list[Formula]:
    """The formulas of a group."""
    found, negated = _positive(parts, block)
    for group in negated:
        inner, deeper = _positive(parts, group)
        if deeper:
            raise UnsayableError("a negation inside of a negation")
        found += parts.without(ordered(inner), bound_in(found))
    return ordered(found)


def _positive(parts: RuleParts, block: Node) -> tuple[list[Formula], list[Node]]:
    """What a group says, and the groups that it negates."""
    found: list[Formula] = []
    negated: list[Node] = []
    for part in parts_of(block):
        match kind_of(part):
            case "triples":
                found += parts.atoms(part)
            case "filter":
                found += parts.conditions(parts_of(part)[1])
            case "without":
                if any(kind_of(word) == "DATA" for word in parts_of(part)):
                    raise UnsayableError("NOT DATA sees what was asserted alone; rules see all")
                negated.append(parts_of(part)[-1])
            case "assignment":
                _, name, value = parts_of(part)
                found.append(Comparison(parts.variable(name), "=", parts.expression(value)))
            case "binding":
                _, value, _, name = parts_of(part)
                found.append(Comparison(parts.variable(name), "=", parts.expression(value)))
    return found, negated
