"""Datalog as RDFox writes it: `:near[?x, ?y] :- [?x, :in, ?z], [?y, :in, ?z], FILTER(?x != ?y) .`

What is written as here is read by the rule language itself.  Read beside it: `:C[?x]`, `:p[?x, ?y]`,
several heads, NOT, NOT EXISTS, FILTER, BIND and AGGREGATE.  Not read: atoms of named graphs and of
data sources, and `SKOLEM`.
"""

from __future__ import annotations

from livefacts.errors import Place
from livefacts.language.formula import (
    AGGREGATES,
    Aggregate,
    Atom,
    Comparison,
    Formula,
    PredicateAtom,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.model.namespaces import RDF_TYPE
from livefacts.syntax.foreign_rules.formula_maker import (
    ForeignProgram,
    Node,
    RuleParts,
    bound_in,
    kind_of,
    ordered,
    parts_of,
    read_statements,
    renamed,
)
from livefacts.syntax.foreign_rules.statements import ForeignText, UnsayableError


def read(source: ForeignText) -> ForeignProgram:
    """The rules and facts of a text."""
    return read_statements(source, _take)


def _take(parts: RuleParts, tree: Node, place: Place) -> None:
    if kind_of(tree) in ("prefix", "base"):
        parts.declare(tree)
        return
    groups = [part for part in parts_of(tree) if kind_of(part) in ("heads", "literals")]
    parts.blank_is_variable = False
    heads = [_atom(parts, head) for head in parts_of(groups[0])]
    body = _body(parts, groups[1]) if groups[1:] else []
    parts.add_rule(heads, body, place)


def _atom(parts: RuleParts, node: Node) -> Atom:
    match kind_of(node):
        case "triple":
            subject, predicate, object_ = map(parts.slot, parts_of(node))
            return TripleAtom(subject, predicate, object_)
        case "property":
            name, *slots = parts_of(node)
            terms: list[Slot] = [parts.slot(slot) for slot in slots]
            if len(terms) == 1:
                return TripleAtom(terms[0], RDF_TYPE, parts.iri(name))
            return TripleAtom(terms[0], parts.iri(name), terms[1])
        case "predicate":
            name, *slots = parts_of(node)
            return PredicateAtom(str(name), tuple(map(parts.slot, slots)))
    raise UnsayableError("an atom is wanted")


def _body(parts: RuleParts, literals: Node) -> list[Formula]:
    found: list[Formula] = []
    negated: list[list[Formula]] = []
    totals: list[Node] = []
    for node in parts_of(literals):
        match kind_of(node):
            case "filter":
                found += parts.conditions(parts_of(node)[1])
            case "binding":
                _, value, _, name = parts_of(node)
                found.append(Comparison(parts.variable(name), "=", parts.expression(value)))
            case "negation":
                negated.append([_atom(parts, parts_of(node)[1])])
            case "exists":
                negated.append(_negated(parts, parts_of(node)))
            case "aggregate":
                totals.append(node)
            case "skolem":
                raise UnsayableError("SKOLEM makes new things")
            case _:
                found.append(_atom(parts, node))
    for node in totals:
        found += _aggregates(parts, node, bound_in(found))
    known = bound_in(found)
    for inner in negated:
        found += parts.without(ordered(inner), known)
    return ordered(found)


def _negated(parts: RuleParts, nodes: list[Node]) -> list[Formula]:
    """The atoms of NOT EXISTS; its own variables are not those of the rule."""
    own = [parts.variable(each) for each in nodes if kind_of(each) == "VARIABLE"]
    last = nodes[-1]
    inner = _body(parts, last) if kind_of(last) == "literals" else [_atom(parts, last)]
    return renamed(inner, {variable: parts.fresh() for variable in own})


def _aggregates(parts: RuleParts, node: Node, outside: list[Variable]) -> list[Formula]:
    """AGGREGATE over all solutions of its atoms, for each value of its ON variables."""
    literals = next(part for part in parts_of(node) if kind_of(part) == "literals")
    totals = next(part for part in parts_of(node) if kind_of(part) == "totals")
    groups = {parts.variable(each) for each in parts_of(node) if kind_of(each) == "VARIABLE"}
    inner = _body(parts, literals)
    names: dict[Variable, Slot] = {v: parts.fresh() for v in bound_in(inner) if v not in groups}
    body = tuple(renamed(inner, names))
    found: list[Formula] = []
    for total in parts_of(totals):
        function, *value, result = (
            each for each in parts_of(total) if kind_of(each) not in ("BIND", "AS", "DISTINCT")
        )
        is_distinct = any(kind_of(each) == "DISTINCT" for each in parts_of(total))
        name = str(function).lower()
        if name not in AGGREGATES:
            raise UnsayableError(f"there is no aggregate {function} in rules")
        found.append(
            Aggregate(
                parts.variable(result),
                name,
                _listed(parts, value[0], names, is_distinct),
                body,
            )
        )
    return found


def _listed(
    parts: RuleParts, value: Node, names: dict[Variable, Slot], is_distinct: bool
) -> tuple[Variable, ...]:
    """The variables whose tuples are counted: all of them, but for DISTINCT."""
    others = [each for each in names.values() if isinstance(each, Variable)]
    if kind_of(value) == "STAR":
        return tuple(others)
    expression = parts.expression(value)
    if not isinstance(expression, Variable) or expression not in names:
        raise UnsayableError("an aggregate is over a variable of its atoms that ON does not name")
    first = names[expression]
    assert isinstance(first, Variable), "variables are renamed to variables"
    return (first,) if is_distinct else (first, *(each for each in others if each != first))
