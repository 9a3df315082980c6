"""Stream rows: what a report puts on the stream that its query makes.

The triples of a CONSTRUCT are on it as they are.  A row of a SELECT is a blank node, which has
for each variable that is bound a property: the name of the stream, `#`, and that of the variable.
One row is one node, in every report: what reports repeat is said again, of the same node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from pyoxigraph import BlankNode, NamedNode, Triple

from livefacts.language.registration import RegisteredQuery
from livefacts.service.queries.results import Row


def stream_triples(query: RegisteredQuery, rows: Iterable[Row]) -> list[Triple]:
    """The triples that rows of a report are on the stream of its query, each once."""
    if query.form == "CONSTRUCT":
        return [Triple(*row) for row in rows]
    return [triple for row in dict.fromkeys(rows) for triple in _described(query.name, row)]


def _described(stream: str, row: Row) -> Iterator[Triple]:
    text = "\n".join([stream, *map(str, row)])
    node = BlankNode(f"row{blake2b(text.encode(), digest_size=12).hexdigest()}")
    space = stream if stream.endswith(("#", "/")) else f"{stream}#"
    for name, term in row.as_dict().items():
        if term is not None:
            yield Triple(node, NamedNode(space + name), term)
