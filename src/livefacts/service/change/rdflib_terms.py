"""Terms for rdflib: what is true, as the terms of rdflib.

The other way is `arguments.as_rdf_term`.  rdflib is imported by whoever has a graph of it.
"""

from __future__ import annotations

from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rdflib.term import BNode, Node, URIRef
from rdflib.term import Literal as RdflibLiteral

from livefacts.errors import LivefactsError
from livefacts.model.facts import shown
from livefacts.model.namespaces import XSD

STRING = XSD + "string"


def for_rdflib(term: Any) -> Node:
    """The term of rdflib; a literal keeps the form in which it was written.

    >>> for_rdflib(Literal("01", datatype=NamedNode(XSD + "integer"))).n3()
    '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    match term:
        case NamedNode():
            return URIRef(term.value)
        case BlankNode():
            return BNode(term.value)
        case Literal() if term.language is not None and term.direction is None:
            return RdflibLiteral(term.value, lang=term.language)
        case Literal() if term.direction is None:
            datatype = None if term.datatype.value == STRING else URIRef(term.datatype.value)
            return RdflibLiteral(term.value, datatype=datatype, normalize=False)
    raise LivefactsError(
        f"rdflib has no terms like {shown(term)}",
        hint="triple terms and directions of texts are of RDF 1.2; r.query and r.facts have them",
    )


def triple_for_rdflib(triple: Triple) -> tuple[Node, Node, Node]:
    """The triple as rdflib has it."""
    return for_rdflib(triple.subject), for_rdflib(triple.predicate), for_rdflib(triple.object)
