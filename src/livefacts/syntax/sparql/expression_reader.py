"""The expression reader: terms, paths and expressions of SPARQL, from rdflib's tree to ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyoxigraph import Literal, NamedNode

from livefacts.errors import NotIncrementalError
from livefacts.language.algebra import (
    BLANK,
    Alternative,
    InversePath,
    NoneOf,
    Path,
    PathAtom,
    Pattern,
    PredicatePath,
    Repeated,
    Sequence,
)
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import RDF
from livefacts.syntax.sparql.rdflib_tree import TAKEN_OUT

NIL = RDF + "nil"
"""What rdflib's grammar makes of an empty list of arguments."""
ARGUMENTS = ("arg", "arg1", "arg2", "arg3", "text", "start", "length")
"""Where rdflib keeps the arguments of a function, in their order; then those of patterns."""
VARIADIC = ("CONCAT", "COALESCE")
PATTERN_ARGUMENTS = ("pattern", "replacement", "flags")
FUNCTION_NAMES = {
    "SAMETERM": "sameTerm",
    "ISIRI": "isIRI",
    "ISURI": "isURI",
    "ISBLANK": "isBLANK",
    "ISLITERAL": "isLITERAL",
    "ISNUMERIC": "isNUMERIC",
}


def term_of(node: Any) -> Term:
    """A constant."""
    from rdflib.term import Literal as RdflibLiteral
    from rdflib.term import URIRef

    if isinstance(node, URIRef):
        return NamedNode(str(node))
    if not isinstance(node, RdflibLiteral):
        raise NotIncrementalError(f"{node} is not a term that can be followed")
    if node.language:
        return Literal(str(node), language=node.language)
    if node.datatype is None:
        return Literal(str(node))
    return Literal(str(node), datatype=NamedNode(str(node.datatype)))


def slot_of(node: Any) -> Slot:
    """A variable, a blank node as a variable, or a constant."""
    from rdflib.term import BNode
    from rdflib.term import Variable as RdflibVariable

    if isinstance(node, RdflibVariable):
        return Variable(str(node))
    if isinstance(node, BNode):
        return Variable(BLANK + str(node))
    return term_of(node)


def atom_of(triple: Any) -> TripleAtom | PathAtom:
    """A triple pattern, or a path between two ends."""
    from rdflib.paths import Path as RdflibPath

    subject, predicate, value = triple
    if isinstance(predicate, RdflibPath):
        return PathAtom(slot_of(subject), path_of(predicate), slot_of(value))
    return TripleAtom(slot_of(subject), slot_of(predicate), slot_of(value))


def path_of(node: Any) -> Path:
    """A property path."""
    from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath

    match node:
        case InvPath():
            return InversePath(path_of(node.arg))
        case SequencePath():
            return Sequence(tuple(path_of(each) for each in node.args))
        case AlternativePath():
            return Alternative(tuple(path_of(each) for each in node.args))
        case MulPath():
            return Repeated(path_of(node.path), str(node.mod))
        case NegatedPath():
            return NoneOf(tuple(term_of(each) for each in node.args))
        case _:
            return PredicatePath(term_of(node))


def expression_of(node: Any, group: Callable[[int], Pattern]) -> QueryExpression:
    """An expression; `group` knows the patterns of EXISTS by their numbers."""
    from rdflib.plugins.sparql.parserutils import CompValue

    def read(part: Any) -> QueryExpression:
        if not isinstance(part, CompValue):
            slot = slot_of(part)
            return slot if isinstance(slot, Variable) else Constant(slot)
        if part.name == TAKEN_OUT:
            return Exists(group(part.number), part.negated)
        return _call(part, read)

    return read(node)


Read = Callable[[Any], QueryExpression]


def _call(node: Any, read: Read) -> QueryExpression:
    match node.name:
        case "ConditionalOrExpression":
            return _chained("||", node, read)
        case "ConditionalAndExpression":
            return _chained("&&", node, read)
        case "RelationalExpression":
            return _relational(node, read)
        case "AdditiveExpression" | "MultiplicativeExpression":
            return _arithmetic(node, read)
        case "UnaryNot":
            return Call("!", (read(node.expr),))
        case "UnaryMinus":
            return Call("u-", (read(node.expr),))
        case "UnaryPlus":
            return Call("u+", (read(node.expr),))
        case "Function":
            return Call(f"<{node.iri}>", tuple(map(read, _as_list(node.expr))))
        case _:
            return _function(node, read)


def _chained(name: str, node: Any, read: Read) -> QueryExpression:
    return Call(name, (read(node.expr), *map(read, _as_list(node.other))))


def _relational(node: Any, read: Read) -> QueryExpression:
    if node.op in ("IN", "NOT IN"):
        return Call(str(node.op), (read(node.expr), *map(read, _as_list(node.other))))
    return Call(str(node.op), (read(node.expr), read(node.other)))


def _arithmetic(node: Any, read: Read) -> QueryExpression:
    found = read(node.expr)
    for operator, other in zip(_as_list(node.op), _as_list(node.other), strict=True):
        found = Call(str(operator), (found, read(other)))
    return found


def _function(node: Any, read: Read) -> QueryExpression:
    name = node.name.removeprefix("Builtin_").upper()
    if not node.name.startswith("Builtin_"):
        raise NotIncrementalError(f"{node.name} is not followed change by change")
    arguments: list[QueryExpression] = []
    for place in (*ARGUMENTS, *PATTERN_ARGUMENTS):
        given = dict.get(node, place)
        if given is not None:
            arguments.extend(map(read, _as_list(given) if name in VARIADIC else [given]))
    return Call(FUNCTION_NAMES.get(name, name), tuple(arguments))


def _as_list(given: Any) -> list[Any]:
    if given is None or str(given) == NIL:
        return []
    is_several = type(given).__name__ in ("list", "plist", "ParseResults")
    return list(given) if is_several else [given]
