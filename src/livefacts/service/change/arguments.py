"""Arguments: the many ways to write a fact, as one kind of statement.

A triple is a pyoxigraph `Triple` or `Quad`, or a tuple of three RDF terms (pyoxigraph or
rdflib), or of four, the last of which is its graph.  A predicate fact is a `Fact`, or a tuple
whose first item is exactly a `str`; in it a `str` is a symbol, a number, boolean, date or time of
Python or NumPy is the xsd literal, and a UUID its IRI.  A `str` is a text of facts, in Turtle, N-Triples or the rule
language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from livefacts.errors import InputError
from livefacts.language.formula import RESERVED
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import digits_of

Statement = Triple | Quad | Fact
WORD = re.compile(r"[^\W\d]\w*")
RDF_TERMS = (NamedNode, BlankNode, Literal, Triple)


VALUES = "arguments are texts, numbers, booleans, dates, times, Decimals, UUIDs and RDF terms"


def graph_name(graph: Any) -> NamedNode:
    """The IRI of a graph.

    >>> graph_name("http://example.org/people")
    <NamedNode value=http://example.org/people>
    """
    if isinstance(graph, NamedNode):
        return graph
    try:
        return NamedNode(graph)
    except (TypeError, ValueError):
        raise InputError(
            f"{graph!r} is not the name of a graph",
            hint="a graph is called by an absolute IRI, such as http://example.org/people",
        ) from None


def stream_name(stream: Any) -> NamedNode:
    """The IRI of a stream.

    >>> stream_name("http://example.org/gates")
    <NamedNode value=http://example.org/gates>
    """
    if isinstance(stream, NamedNode):
        return stream
    try:
        return NamedNode(stream)
    except (TypeError, ValueError):
        raise InputError(
            f"{stream!r} is not the name of a stream",
            hint="a stream is called by an absolute IRI, such as http://example.org/gates",
        ) from None


def as_statements(facts: Any) -> Iterable[Statement]:
    """The facts that an argument other than text or a path stands for."""
    if _is_one_fact(facts):
        facts = [facts]
    try:
        items = iter(facts)
    except TypeError:
        raise _refusal(facts) from None
    return map(as_statement, items)


def _is_one_fact(facts: Any) -> bool:
    if isinstance(facts, Triple | Quad | Fact):
        return True
    if not isinstance(facts, tuple) or not facts:
        return False
    if isinstance(facts[0], Triple):
        return False
    return type(facts[0]) is str or _is_rdf_term(facts[0])


def as_statement(fact: Any) -> Statement:
    """One fact.

    >>> as_statement(("isIn", "kitchen", 3))
    isIn(kitchen, 3)
    """
    if isinstance(fact, Fact):
        return Fact(_symbol(fact.name).name, tuple(as_argument(a) for a in fact.arguments))
    if isinstance(fact, Triple | Quad):
        return fact
    if isinstance(fact, tuple) and fact and type(fact[0]) is str:
        return Fact(_symbol(fact[0]).name, tuple(as_argument(a) for a in fact[1:]))
    if isinstance(fact, tuple) and len(fact) in (3, 4) and all(map(_is_rdf_term, fact)):
        terms = map(as_rdf_term, fact)
        try:
            return Triple(*terms) if len(fact) == 3 else Quad(*terms)
        except TypeError as error:
            raise InputError(f"{fact!r} is not a triple: {error}") from None
    raise _refusal(fact)


def as_argument(value: Any) -> Term:
    """A term from what a predicate fact may hold."""
    if isinstance(value, Symbol):
        return _symbol(value.name)
    if _is_rdf_term(value):
        term: Term = as_rdf_term(value)
        return term
    if type(value) is str:
        return _symbol(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _typed(digits_of(value), "integer")
    if isinstance(value, bool | float):
        return Literal(value)
    if isinstance(value, Decimal):
        return _typed(f"{value:f}", "decimal")
    for kind, made in READ_AS.items():
        if isinstance(value, kind):
            return made(value)
    if type(value).__module__ == "numpy":
        return as_argument(_python_value(value))
    raise InputError(f"{value!r} of type {type(value).__name__} is no term", hint=VALUES)


def _python_value(scalar: Any) -> Any:
    """What a number, a text or a time of NumPy is in Python."""
    if scalar.dtype.kind == "M":
        # Nanoseconds would come as a plain number.
        unit = "D" if scalar.dtype == "datetime64[D]" else "us"
        scalar = scalar.astype(f"datetime64[{unit}]")
    return scalar.item()


READ_AS: Mapping[type, Callable[[Any], Term]] = {
    # A datetime is a date as well.
    datetime: lambda value: _typed(value.isoformat(), "dateTime"),
    date: lambda value: _typed(value.isoformat(), "date"),
    time: lambda value: _typed(value.isoformat(), "time"),
    UUID: lambda value: NamedNode(value.urn),
}
"""What values of Python's library stand for; numbers apart."""


def query_text(text: Any) -> str:
    """The text of a query, and nothing else."""
    if isinstance(text, str):
        return text
    raise InputError(f"{text!r:.60} is no text", hint="give the query as a str")


def as_bindings(bindings: Any) -> dict[str, Term]:
    """The terms of variables by their names, from what a user gives."""
    if not isinstance(bindings, Mapping):
        raise InputError(f"{bindings!r} is no mapping", hint='bindings={"x": NamedNode("ex:a")}')
    found: dict[str, Term] = {}
    for given, value in bindings.items():
        name = given[1:] if isinstance(given, str) and given[:1] in ("?", "$") else given
        if not isinstance(name, str) or name in found:
            what = "is no name" if not isinstance(name, str) else "is there twice"
            raise InputError(
                f"the variable {given!r} {what}", hint='bindings={"x": NamedNode("ex:a")}'
            )
        found[name] = as_rdf_value(value)
    return found


def as_rdf_value(value: Any) -> Term:
    """A term from what a variable of a query may be given."""
    hint = "give a NamedNode or a Literal; numbers, booleans and datetimes as they are"
    if type(value) is str:
        raise InputError(f"{value!r} may be an IRI or a string", hint=hint)
    try:
        return as_argument(value)
    except InputError:
        raise InputError(f"{value!r} is no term", hint=hint) from None


def as_rdf_term(term: Any) -> Any:
    """A pyoxigraph term, from one of pyoxigraph or rdflib."""
    if isinstance(term, RDF_TERMS):
        return term
    try:
        return _of_rdflib(term)
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"{term!r} is no term of RDF",
            hint="IRIs are absolute, without blanks; texts have no half of a surrogate pair",
        ) from None


def _of_rdflib(term: Any) -> Any:
    kind = type(term).__name__
    if kind == "URIRef":
        return NamedNode(str(term))
    if kind == "BNode":
        return BlankNode(str(term))
    if term.language:
        return Literal(str(term), language=term.language)
    return (
        Literal(str(term), datatype=NamedNode(str(term.datatype)))
        if term.datatype
        else Literal(str(term))
    )


def graph_of(statement: Statement) -> NamedNode | BlankNode | None:
    """The named graph that a quad is in; None for the default graph."""
    if isinstance(statement, Quad) and not isinstance(statement.graph_name, DefaultGraph):
        return statement.graph_name
    return None


def _is_rdf_term(value: Any) -> bool:
    return isinstance(value, RDF_TERMS) or type(value).__module__.startswith("rdflib.")


def _symbol(name: str) -> Symbol:
    if WORD.fullmatch(name) and name not in RESERVED:
        return Symbol(name)
    raise InputError(
        f"{name!r} is not a symbol",
        hint=f"a symbol is one word, and none of {', '.join(sorted(RESERVED))}; "
        "for other strings give a Literal, for a triple terms (NamedNode) or text",
    )


def _typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + datatype))


def _refusal(value: Any) -> InputError:
    hint = "give triples, Facts, tuples like ('isIn', 'a', 'b'), text, or a Path to a file"
    if isinstance(value, str | os.PathLike):
        hint = "a text or a Path stands alone, not in a list; several texts can be joined to one"
    return InputError(f"{value!r} is not a fact", hint=hint)
