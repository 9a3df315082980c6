"""N3 rules, the subset that many engines share: `{ ?x :p ?y } => { ?y :q ?x } .`

Also `<=`, facts, `=> false` for what must not be, and the builtins of math: and log: that compare
and compute.  Not read: lists and formulas as data, quantifiers, other builtins, and blank nodes in
conclusions.
"""

from __future__ import annotations

from livefacts.errors import Place
from livefacts.language.formula import Arithmetic, Atom, Comparison, Expression, Formula
from livefacts.syntax.foreign_rules.formula_maker import (
    ForeignProgram,
    Node,
    RuleParts,
    kind_of,
    ordered,
    parts_of,
    read_statements,
)
from livefacts.syntax.foreign_rules.statements import ForeignText, UnsayableError

MATH = "http://www.w3.org/2000/10/swap/math#"
LOG = "http://www.w3.org/2000/10/swap/log#"
BUILTINS = ("http://www.w3.org/2000/10/swap/",)
COMPARED = {
    MATH + "greaterThan": ">",
    MATH + "lessThan": "<",
    MATH + "notLessThan": ">=",
    MATH + "notGreaterThan": "<=",
    MATH + "equalTo": "=",
    MATH + "notEqualTo": "!=",
    LOG + "equalTo": "is",
    LOG + "notEqualTo": "is not",
}
COMPUTED = {
    MATH + "sum": "+",
    MATH + "difference": "-",
    MATH + "product": "*",
    MATH + "quotient": "/",
}


def read(source: ForeignText) -> ForeignProgram:
    """The rules and facts of a text."""
    return read_statements(source, _take)


def _take(parts: RuleParts, tree: Node, place: Place) -> None:
    match kind_of(tree):
        case "prefix" | "base":
            parts.declare(tree)
        case "data":
            parts.blank_is_variable = False
            try:
                parts.add_rule(parts.atoms(parts_of(tree)[0]), (), place)
            finally:
                parts.blank_is_variable = True
        case "implication":
            body, _, head = parts_of(tree)
            _rule(parts, body, head, place)
        case "backward":
            head, _, body = parts_of(tree)
            _rule(parts, body, head, place)


def _rule(parts: RuleParts, body: Node, head: Node, place: Place) -> None:
    premise, conclusion = parts_of(body)[0], parts_of(head)[0]
    if kind_of(premise) == "BOOLEAN":
        if str(premise) != "true":
            raise UnsayableError("nothing follows from false")
        formulas: list[Formula] = []
    else:
        formulas = ordered(each for part in parts_of(premise) for each in _said(parts, part))
        if not formulas:
            raise UnsayableError("a rule without a premise is a fact: write it without braces")
    if kind_of(conclusion) == "BOOLEAN":
        if str(conclusion) == "true":
            raise UnsayableError("the rule concludes nothing")
        parts.add_constraint(formulas, place)
        return
    heads: list[Atom] = []
    for part in parts_of(conclusion):
        if kind_of(part) == "triples":
            heads += parts.atoms(part)
        elif kind_of(part) != "nothing":
            raise UnsayableError("only triples stand in a conclusion")
    for atom in heads:
        _check(str(getattr(atom.slots[1], "value", "")))
    parts.add_rule(heads, formulas, place)


def _said(parts: RuleParts, part: Node) -> list[Formula]:
    """The formulas of one subject and its properties, builtins included."""
    if kind_of(part) == "nothing":
        return []
    if kind_of(part) != "triples":
        raise UnsayableError("this is not N3")
    subject, pairs = parts_of(part)
    name = _builtin(parts, pairs)
    if name is None:
        atoms = parts.atoms(part)
        for atom in atoms:
            _check(str(getattr(atom.slots[1], "value", "")))
        return list(atoms)
    object_ = parts_of(parts_of(parts_of(pairs)[0])[1])[0]
    if name in COMPUTED:
        value: Expression = _total(parts, subject, COMPUTED[name])
        return [Comparison(parts.slot(object_), "=", value)]
    if kind_of(subject) == "list":
        pair = parts_of(subject)
        if len(pair) != 2:
            raise UnsayableError("a comparison has two sides")
        subject, object_ = pair
    return [Comparison(parts.slot(subject), COMPARED[name], parts.slot(object_))]


def _builtin(parts: RuleParts, pairs: Node) -> str | None:
    """The builtin that stands alone behind a subject, if one does."""
    pair = parts_of(pairs)
    verb = parts_of(pair[0])[0]
    if kind_of(verb) != "path" or len(parts_of(verb)) != 1:
        return None
    step = parts_of(parts_of(verb)[0])
    if len(step) != 1 or kind_of(step[0]) not in ("IRI", "PREFIXED"):
        return None
    name = parts.iri(step[0]).value
    if name not in COMPARED and name not in COMPUTED:
        return None
    if len(pair) > 1 or len(parts_of(parts_of(pair[0])[1])) > 1:
        raise UnsayableError("a builtin stands alone behind its subject")
    return name


def _total(parts: RuleParts, node: Node, sign: str) -> Expression:
    if kind_of(node) != "list" or len(parts_of(node)) < 2:
        raise UnsayableError("a list of numbers stands before this builtin: (?a ?b)")
    first, *others = parts_of(node)
    if others[1:] and sign in "-/":
        raise UnsayableError("two numbers stand before this builtin: (?a ?b)")
    total: Expression = parts.slot(first)
    for each in others:
        total = Arithmetic(sign, total, parts.slot(each))
    return total


def _check(predicate: str) -> None:
    if predicate.startswith(BUILTINS):
        raise UnsayableError(f"there is no builtin <{predicate}> in rules")
