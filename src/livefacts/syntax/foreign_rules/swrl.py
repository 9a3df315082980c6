"""SWRL: the rules that stand in an OWL ontology, in any RDF format.

Atoms of named classes, properties, sameAs and differentFrom are read, and the builtins that compare
and compute.  The axioms of the ontology are read by "dlp:", beside this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from livefacts.errors import Place
from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    Slot,
    TripleAtom,
    Variable,
)
from livefacts.model.facts import Symbol, Term
from livefacts.model.namespaces import OWL, RDF, RDF_TYPE
from livefacts.syntax.foreign_rules.formula_maker import ForeignProgram, RuleParts, ordered
from livefacts.syntax.foreign_rules.statements import ForeignText, UnsayableError
from livefacts.syntax.rdf.documents import read_quads

SWRL = "http://www.w3.org/2003/11/swrl#"
SWRLB = "http://www.w3.org/2003/11/swrlb#"
COMPARED = {
    "equal": "=",
    "notEqual": "!=",
    "lessThan": "<",
    "lessThanOrEqual": "<=",
    "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}
COMPUTED = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
PROPERTY_ATOMS = ("IndividualPropertyAtom", "DatavaluedPropertyAtom")
EQUALITY = {"SameIndividualAtom": "sameAs", "DifferentIndividualsAtom": "differentFrom"}


def read(path: str | os.PathLike[str]) -> ForeignProgram:
    """The rules in the file of an ontology."""
    graph: dict[Term, dict[str, list[Term]]] = {}
    for quad in read_quads(path):
        _note(graph, quad)
    name = os.fspath(path)
    source = ForeignText("", Path(name).name, "swrl")
    parts = RuleParts(source)
    imps = [
        node
        for node, said in graph.items()
        if NamedNode(SWRL + "Imp") in said.get(RDF_TYPE.value, [])
    ]
    for imp in imps:
        label = next(iter(graph[imp].get("http://www.w3.org/2000/01/rdf-schema#label", [])), None)
        shown = label.value if isinstance(label, Literal) else str(imp)
        parts.begin()
        place = Place(source.file, 0, 0)
        try:
            _rule(parts, _Graph(graph), imp, place, shown)
        except UnsayableError as error:
            source.refuse(place, f"{shown}: {error}")
    return parts.result()


def _note(graph: dict[Term, dict[str, list[Term]]], quad: Quad) -> None:
    graph.setdefault(quad.subject, {}).setdefault(quad.predicate.value, []).append(quad.object)


class _Graph:
    """The triples of the file, by subject and property."""

    def __init__(self, said: Mapping[Term, Mapping[str, list[Term]]]) -> None:
        self._said = said

    def one(self, node: Term, name: str) -> Term:
        """The only value of a property."""
        values = self._said.get(node, {}).get(name, [])
        if len(values) != 1:
            raise UnsayableError(f"an atom has {len(values)} values for {name.rpartition('#')[2]}")
        return values[0]

    def values(self, node: Term, name: str) -> list[Term]:
        return list(self._said.get(node, {}).get(name, []))

    def items(self, node: Term) -> Iterator[Term]:
        """The members of a list."""
        seen = set()
        while node != NamedNode(RDF + "nil"):
            if node in seen:
                raise UnsayableError("a list that never ends")
            seen.add(node)
            yield self.one(node, RDF + "first")
            node = self.one(node, RDF + "rest")

    def slot(self, term: Term) -> Slot:
        """A variable, an individual or a value."""
        if NamedNode(SWRL + "Variable") in self.values(term, RDF_TYPE.value):
            text = term.value if isinstance(term, NamedNode | BlankNode) else ""
            local = text.replace("/", "#").replace(":", "#").rpartition("#")[2]
            return Variable("".join(c if c.isalnum() else "_" for c in local))
        if isinstance(term, BlankNode):
            raise UnsayableError("an individual without a name")
        return term


def _rule(parts: RuleParts, graph: _Graph, imp: Term, place: Place, name: str) -> None:
    body = [_formula(graph, atom) for atom in graph.items(graph.one(imp, SWRL + "body"))]
    heads: list[Atom] = []
    for node in graph.items(graph.one(imp, SWRL + "head")):
        head = _formula(graph, node)
        if not isinstance(head, TripleAtom):
            raise UnsayableError("a builtin in the head")
        heads.append(head)
    if not heads:
        parts.add_constraint(ordered(body), place)
        return
    parts.add_rule(heads, ordered(body), place, name)


def _formula(graph: _Graph, atom: Term) -> Formula:
    kinds = [
        kind.value.removeprefix(SWRL)
        for kind in graph.values(atom, RDF_TYPE.value)
        if isinstance(kind, NamedNode) and kind.value.startswith(SWRL)
    ]
    kind = kinds[0] if kinds else "nothing of SWRL"
    if kind == "ClassAtom":
        name = graph.one(atom, SWRL + "classPredicate")
        if not isinstance(name, NamedNode):
            raise UnsayableError("a class that is described and not named")
        return TripleAtom(graph.slot(graph.one(atom, SWRL + "argument1")), RDF_TYPE, name)
    if kind in PROPERTY_ATOMS or kind in EQUALITY:
        first, second = (graph.slot(graph.one(atom, SWRL + f"argument{n}")) for n in (1, 2))
        if kind in EQUALITY:
            return TripleAtom(first, NamedNode(OWL + EQUALITY[kind]), second)
        return TripleAtom(first, graph.one(atom, SWRL + "propertyPredicate"), second)
    if kind == "BuiltinAtom":
        return _builtin(graph, atom)
    raise UnsayableError(f"an atom that is {kind}")


def _builtin(graph: _Graph, atom: Term) -> Formula:
    builtin = graph.one(atom, SWRL + "builtin")
    name = builtin.value.removeprefix(SWRLB) if isinstance(builtin, NamedNode) else ""
    values = [_value(graph.slot(each)) for each in graph.items(graph.one(atom, SWRL + "arguments"))]
    if name in COMPARED and len(values) == 2:
        return Comparison(values[0], COMPARED[name], values[1])
    if name in COMPUTED and len(values) >= 3:
        total = values[1]
        for each in values[2:]:
            total = Arithmetic(COMPUTED[name], total, each)
        return Comparison(values[0], "=", total)
    raise UnsayableError(f"there is no builtin {name or builtin} with {len(values)} arguments")


def _value(slot: Slot) -> Expression:
    assert not isinstance(slot, Symbol), "RDF has no symbols"
    return slot
