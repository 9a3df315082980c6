"""The notation of an ontology, found out by its first bytes.

A file that ends in .owl may be RDF/XML, Turtle, or one of the notations of OWL that are no
RDF; standard input has no name at all.  What stands before the first statement (the XML
prolog with its entities, comments) is passed over, and the rest decides.
"""

from __future__ import annotations

import re
from pathlib import Path

from pyoxigraph import RdfFormat

from livefacts.errors import InputError
from livefacts.syntax.input.files import without_compression
from livefacts.syntax.rdf.documents import FORMATS, OTHER_ENCODINGS

BEGINNING = 1 << 16
"""Bytes that are looked at: a DOCTYPE with entities may be long."""
MANY_NOTATIONS = (".owl", ".xml", ".rdf")
"""Extensions under which ontologies are kept in other notations than the extension says."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BEFORE_XML = re.compile(
    rb"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE
)
BEFORE_TEXT = re.compile(rb"\s+|#[^\n]*")
XML = re.compile(rb"<(?:[?!]|[^\s<>]+\s)")
"""How XML begins; an IRI of Turtle has no spaces in it."""
JSON = re.compile(rb"(\[\s*)?\{\s*[\"}]")
NOT_RDF = {
    re.compile(rb"(Prefix|Ontology)\s*\("): "the functional notation",
    re.compile(rb"Prefix\s*:\s*[\w.-]*:\s*<|Ontology\s*:\s"): "the Manchester notation",
    re.compile(rb"format-version\s*:"): "the OBO notation",
    re.compile(rb"<([\w.-]+:)?Ontology\s"): "OWL/XML",
}


def ontology_format(name: str, start: bytes) -> RdfFormat:
    """The RDF format of an ontology that begins like this; raises if it is in no RDF format."""
    extension = without_compression(Path(name)).suffix.lower()
    first = _first_statement(start)
    for beginning, notation in NOT_RDF.items():
        if beginning.match(first):
            raise InputError(
                f"{name}: this ontology is in {notation}, which is no RDF",
                hint="save it as RDF/XML or Turtle, for example with Protégé",
            )
    if extension in FORMATS and extension not in MANY_NOTATIONS:
        return FORMATS[extension]
    begins = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if XML.match(begins) or start.startswith(OTHER_ENCODINGS):
        return RdfFormat.RDF_XML
    return RdfFormat.JSON_LD if JSON.match(first) else RdfFormat.TURTLE


def _first_statement(start: bytes) -> bytes:
    """What is left behind comments and the prolog of XML."""
    start = start.removeprefix(BYTE_ORDER_MARK)
    before = BEFORE_XML if start.lstrip().startswith(b"<") else BEFORE_TEXT
    at = 0
    while (passed := before.match(start, at)) is not None:
        at = passed.end()
    return start[at:]
