"""Result writers: answers in the formats of the SPARQL standards, piece by piece.

A piece is some hundred rows of text: who sends answers on need not have all of them at once.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from livefacts.errors import QueryError
from livefacts.model.namespaces import XSD
from livefacts.service.queries.results import (
    Answer,
    QueryResult,
    RdfTerm,
    Row,
    Rows,
    Triples,
    as_json,
    plain,
    tabbed,
)
from livefacts.syntax.rdf.documents import format_named

PIECE_ROWS = 500
"""So many rows are written at once."""
XML_HEAD = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n'


def result_pieces(result: QueryResult, form: str) -> Iterator[str]:
    """A result in a format, as "json", "xml", "csv", "tsv" or one of RDF."""
    if form in _OF_ROWS:
        of_rows, of_answer = _OF_ROWS[form]
        if isinstance(result, Answer):
            return iter((of_answer(result.value),))
        return of_rows(result.as_rows() if isinstance(result, Triples) else result)
    if not isinstance(result, Triples):
        raise QueryError(
            f"only the answer of CONSTRUCT or DESCRIBE can be written as {form}",
            hint=f"use {', '.join(_OF_ROWS)}",
        )
    return _rdf(result, format_named(form))


def _grouped(rows: Iterable[Any]) -> Iterator[list[Any]]:
    waiting = iter(rows)
    while group := list(islice(waiting, PIECE_ROWS)):
        yield group


def _csv(rows: Rows) -> Iterator[str]:
    lines = ([plain(term) for term in row] for row in rows)
    for group in _grouped(chain((rows.variables,), lines)):
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerows(group)
        yield out.getvalue()


def _tsv(rows: Rows) -> Iterator[str]:
    head = "\t".join(f"?{name}" for name in rows.variables)
    lines = ("\t".join(tabbed(term) for term in row) for row in rows)
    for group in _grouped(chain((head,), lines)):
        yield "\n".join(group) + "\n"


def _json(rows: Rows) -> Iterator[str]:
    yield f'{{"head": {_dumped({"vars": rows.variables})}, "results": {{"bindings": [\n'
    before = ""
    for group in _grouped(rows):
        yield before + ",\n".join(_dumped(as_bindings_json(row)) for row in group)
        before = ",\n"
    yield "\n]}}\n"


def as_bindings_json(row: Row) -> dict[str, Any]:
    """The bound variables of a row, in SPARQL's JSON."""
    return {name: as_json(term) for name, term in row.as_dict().items()}


_dumped: Callable[[Mapping[str, Any]], str] = json.JSONEncoder(ensure_ascii=False).encode


def _xml(rows: Rows) -> Iterator[str]:
    names = "".join(f"<variable name={quoteattr(name)}/>" for name in rows.variables)
    yield f"{XML_HEAD}<head>{names}</head>\n<results>\n"
    for group in _grouped(rows):
        yield "".join(f"<result>{_xml_bindings(row)}</result>\n" for row in group)
    yield "</results>\n</sparql>\n"


def _xml_bindings(row: Row) -> str:
    pairs = row.as_dict().items()
    return "".join(f"<binding name={quoteattr(n)}>{_xml_term(t)}</binding>" for n, t in pairs)


def _xml_term(term: RdfTerm) -> str:
    match term:
        case NamedNode():
            return f"<uri>{escape(term.value)}</uri>"
        case BlankNode():
            return f"<bnode>{escape(term.value)}</bnode>"
        case Literal():
            text = escape(term.value, {"\r": "&#13;"})
            return f"<literal{_xml_kind(term)}>{text}</literal>"
        case Triple():
            parts = zip(Triples.variables, term, strict=True)
            inner = "".join(f"<{name}>{_xml_term(part)}</{name}>" for name, part in parts)
            return f"<triple>{inner}</triple>"


def _xml_kind(literal: Literal) -> str:
    if literal.language is not None:
        return f" xml:lang={quoteattr(literal.language)}"
    datatype = literal.datatype.value
    return "" if datatype == XSD + "string" else f" datatype={quoteattr(datatype)}"


def _xml_answer(value: bool) -> str:
    return f"{XML_HEAD}<head/>\n<boolean>{str(value).lower()}</boolean>\n</sparql>\n"


_OF_ROWS: dict[str, tuple[Callable[[Rows], Iterator[str]], Callable[[bool], str]]] = {
    "json": (_json, lambda value: _dumped({"head": {}, "boolean": value}) + "\n"),
    "xml": (_xml, _xml_answer),
    "csv": (_csv, lambda value: f"{str(value).lower()}\r\n"),
    "tsv": (_tsv, lambda value: f"{str(value).lower()}\n"),
}


def _rdf(result: Triples, form: RdfFormat) -> Iterator[str]:
    if form in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
        return ("".join(f"{triple} .\n" for triple in group) for group in _grouped(result))
    return iter((_serialized(result.triples, form, result.prefixes),))


def _serialized(triples: Sequence[Triple], form: RdfFormat, known: Mapping[str, str]) -> str:
    """Triples in a format that is written as a whole, with the prefixes that they use."""
    lines = "".join(f"{triple}\n" for triple in triples)
    used = {name: iri for name, iri in known.items() if f"<{iri}" in lines}
    text = serialize(triples, format=form, prefixes=used)
    return "" if text is None else text.decode()
