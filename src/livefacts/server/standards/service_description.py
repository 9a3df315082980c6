"""The service description: what the endpoint can do, in RDF, for programs that look before they ask.

SPARQL 1.1 Service Description; given by the endpoint itself when it is asked for no query.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, RdfFormat, parse, serialize
from starlette.requests import Request
from starlette.responses import Response

from livefacts.server.standards.negotiation import RDF, chosen
from livefacts.syntax.rdf.documents import format_named

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner

PREFIXES = {
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "format": "http://www.w3.org/ns/formats/",
}
# A query that names no graph sees what every graph asserts, and all that follows.
SERVICE = """
[] a sd:Service ;
    sd:endpoint {endpoint} ;
    sd:supportedLanguage sd:SPARQL10Query, sd:SPARQL11Query, sd:SPARQL11Update ;
    sd:feature sd:UnionDefaultGraph ;
    sd:resultFormat format:SPARQL_Results_JSON, format:SPARQL_Results_XML, format:SPARQL_Results_CSV,
        format:SPARQL_Results_TSV, format:Turtle, format:N-Triples, format:RDF_XML, format:JSON-LD,
        format:N-Quads, format:TriG, format:N3 ;
    sd:inputFormat format:Turtle, format:N-Triples, format:RDF_XML, format:JSON-LD, format:N-Quads,
        format:TriG, format:N3 ;
    sd:defaultDataset [
        a sd:Dataset ;
        sd:defaultGraph [ a sd:Graph ]
        {named}
    ] .
"""
GRAPH = "; sd:namedGraph [ a sd:NamedGraph ; sd:name {name} ; sd:graph [ a sd:Graph ] ]"
MOST_GRAPHS = 1_000
"""So many named graphs are listed."""


async def description(request: Request, served: ServedReasoner) -> Response:
    """The description in the format that the client wants."""
    given = request.query_params.get("format")
    kind = chosen(request.headers.get("accept", ""), given, RDF)
    endpoint = NamedNode(str(request.url).partition("?")[0].rstrip("/"))
    text = await served.read(request, partial(_written, served, endpoint, kind.form))
    return Response(text, media_type=kind.name, headers={"Vary": "Accept"})


def _written(served: ServedReasoner, endpoint: NamedNode, form: str) -> bytes:
    from livefacts.service.queries.results import Rows

    with served.snapshot() as snapshot:
        names = snapshot.query(f"SELECT ?g {{ GRAPH ?g {{ }} }} LIMIT {MOST_GRAPHS}")
        assert isinstance(names, Rows), "a SELECT has rows"
        text = SERVICE.format(
            endpoint=endpoint,
            named="".join(GRAPH.format(name=row["g"]) for row in names),
        )
    declared = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    told = (quad.triple for quad in parse(f"{declared}{text}", RdfFormat.TURTLE))
    return serialize(told, format=format_named(form), prefixes=PREFIXES) or b""
