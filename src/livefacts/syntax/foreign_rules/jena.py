"""Jena's rule files: `[name: (?a ex:p ?b) (?b ex:p ?c) -> (?a ex:p ?c)]`.

Rules forward and backward are read alike, as what follows is the same.  Read are the builtins that
compare, compute, ask for a kind of term, and `noValue`; `@include <RDFS>` is the ready rule set.
"""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode

from livefacts.errors import Place
from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import XSD
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
from livefacts.syntax.rulelang.rule_parser import ready_rules

COMPARED = {
    "equal": "=",
    "notEqual": "!=",
    "lessThan": "<",
    "greaterThan": ">",
    "le": "<=",
    "ge": ">=",
}
COMPUTED = {"sum": "+", "difference": "-", "product": "*", "quotient": "/"}
INCLUDED = {"RDFS": "rdfs", "OWL": "owl-rl", "OWLMini": "owl-rl", "OWLMicro": "owl-rl"}


def read(source: ForeignText) -> ForeignProgram:
    """The rules of a text."""
    return read_statements(source, _take)


def _take(parts: RuleParts, tree: Node, place: Place) -> None:
    match kind_of(tree):
        case "prefix" | "base":
            parts.declare(tree)
        case "include":
            name = str(parts_of(tree)[1])[1:-1]
            if name not in INCLUDED:
                raise UnsayableError(f"nothing is fetched: give {name} beside these rules")
            parts.included = parts.included.joined(ready_rules(INCLUDED[name]))
        case "implication" | "backward":
            names = [part for part in parts_of(tree) if kind_of(part) == "PREFIXED"]
            left, right = (part for part in parts_of(tree) if kind_of(part) == "clauses")
            body, head = (left, right) if kind_of(tree) == "implication" else (right, left)
            name = str(names[0]).rstrip(":") if names else ""
            heads = [_atom(parts, clause) for clause in parts_of(head)]
            if not heads:
                raise UnsayableError("the rule concludes nothing")
            formulas = _body(parts, parts_of(body))
            parts.add_rule(heads, formulas, place, name)


def _atom(parts: RuleParts, clause: Node) -> Atom:
    if kind_of(clause) == "builtin":
        raise UnsayableError(f"{parts_of(clause)[0]} is an action, and rules only conclude")
    slots = [parts.slot(slot) for slot in parts_of(parts_of(clause)[0])]
    if len(slots) != 3:
        raise UnsayableError(f"a triple has three terms, and this one {len(slots)}")
    subject, predicate, object_ = slots
    return TripleAtom(subject, predicate, object_)


def _body(parts: RuleParts, clauses: list[Node]) -> list[Formula]:
    found: list[Formula] = []
    missing: list[Atom] = []
    for clause in clauses:
        if kind_of(clause) == "builtin" and str(parts_of(clause)[0]) == "noValue":
            missing.append(_missing(parts, clause))
        else:
            found.append(_formula(parts, clause))
    known = bound_in(found)
    for atom in missing:
        found += parts.without([atom], known)
    return ordered(found)


def _missing(parts: RuleParts, clause: Node) -> Atom:
    """The triple that noValue asks for."""
    arguments = [parts.slot(slot) for slot in parts_of(parts_of(clause)[1])]
    if len(arguments) == 2:
        arguments.append(parts.fresh())
    if len(arguments) != 3:
        raise UnsayableError(f"noValue has {len(arguments)} arguments")
    subject, predicate, object_ = arguments
    return TripleAtom(subject, predicate, object_)


def _formula(parts: RuleParts, clause: Node) -> Formula:
    if kind_of(clause) != "builtin":
        return _atom(parts, clause)
    name = str(parts_of(clause)[0])
    arguments = [parts.slot(slot) for slot in parts_of(parts_of(clause)[1])]
    match name, arguments:
        case _, [left, right] if name in COMPARED:
            return Comparison(_value(left), COMPARED[name], _value(right))
        case _, [left, right, result] if name in COMPUTED:
            total = Arithmetic(COMPUTED[name], _value(left), _value(right))
            return Comparison(_value(result), "=", total)
        case "addOne", [left, result]:
            return Comparison(_value(result), "=", Arithmetic("+", _value(left), _one()))
        case "isDType" | "notDType", [left, right]:
            sign = "is" if name == "isDType" else "is not"
            return Comparison(FunctionCall("datatype", _value(left)), sign, _value(right))
        case "isLiteral", [value]:
            # Only literals have a datatype.
            datatype = FunctionCall("datatype", _value(value))
            return Comparison(datatype, "is", datatype)
        case "bound", [Variable()]:
            return Comparison(_value(arguments[0]), "is", _value(arguments[0]))
    raise UnsayableError(f"there is no builtin {name} with {len(arguments)} arguments in rules")


def _one() -> Expression:
    return Literal("1", datatype=NamedNode(XSD + "integer"))


def _value(slot: Slot) -> Expression:
    assert not isinstance(slot, Symbol), "Jena has no symbols"
    return slot
