"""Negotiation: which format an answer has, by one table of media types for all of them.

`Accept` decides, with its qualities, and among equals the order of the table; `?format=` with a
short name decides before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from starlette.exceptions import HTTPException


class MediaType(NamedTuple):
    """A media type, and the short name of the format that it stands for."""

    name: str
    form: str


ROWS = (
    MediaType("application/sparql-results+json", "json"),
    MediaType("application/sparql-results+xml", "xml"),
    MediaType("text/csv", "csv"),
    MediaType("text/tab-separated-values", "tsv"),
    MediaType("application/json", "json"),
    MediaType("application/xml", "xml"),
    MediaType("text/xml", "xml"),
)
RDF = (
    MediaType("text/turtle", "ttl"),
    MediaType("application/n-triples", "nt"),
    MediaType("application/rdf+xml", "rdf"),
    MediaType("application/ld+json", "jsonld"),
    MediaType("application/n-quads", "nq"),
    MediaType("application/trig", "trig"),
    MediaType("text/n3", "n3"),
    MediaType("text/plain", "nt"),
    MediaType("application/x-turtle", "ttl"),
    MediaType("application/xml", "rdf"),
    MediaType("application/json", "jsonld"),
)
SSE = MediaType("text/event-stream", "sse")
NDJSON = MediaType("application/x-ndjson", "ndjson")
LIVE = (
    SSE,
    NDJSON,
    MediaType("application/ndjson", "ndjson"),
    MediaType("application/json", "json"),
)
PATCH = MediaType("application/rdf-patch", "patch")
READABLE = (*RDF, MediaType("application/x-trig", "trig"), MediaType("text/rdf+n3", "n3"))


ALIASES = {
    "turtle": ("ttl",),
    "ntriples": ("nt",),
    "n-triples": ("nt",),
    "nquads": ("nq",),
    "n-quads": ("nq",),
    "rdf+xml": ("rdf",),
    "rdfxml": ("rdf",),
    "xml": ("rdf",),
    "json-ld": ("jsonld",),
    "json": ("jsonld",),
}
"""What other programs call our formats."""


@dataclass(frozen=True, slots=True)
class _Wish:
    kind: str
    quality: float

    def fits(self, name: str) -> int:
        """How well a media type fits: 3 exactly, 2 by its kind, 1 as any would; 0 not at all."""
        if self.kind == name:
            return 3
        if self.kind.endswith("/*") and name.startswith(self.kind[:-1]):
            return 2
        return 1 if self.kind == "*/*" else 0


def chosen(accept: str, given: str | None, offered: Sequence[MediaType]) -> MediaType:
    """The media type that a client wants most among those that are offered."""
    if given is not None:
        found = _named(given, offered)
        if found is None:
            raise _not_acceptable(given, offered)
        return found
    wishes = _wishes(accept or "*/*")
    rated = [(_quality(each.name, wishes), each) for each in offered]
    best = max(quality for quality, _ in rated)
    if best <= 0:
        raise _not_acceptable(accept, offered)
    return next(each for quality, each in rated if quality == best)


def _named(given: str, offered: Sequence[MediaType]) -> MediaType | None:
    """The media type that a short name stands for, in our words or in those of others."""
    for name in (given, *ALIASES.get(given.lower(), ())):
        for each in offered:
            if name in (each.form, each.name):
                return each
    return None


def first_known(given: Sequence[str], offered: Sequence[MediaType]) -> str | None:
    """The one that counts where several formats are named: some clients name one in two ways."""
    return next((name for name in given if _named(name, offered)), given[0] if given else None)


def _quality(name: str, wishes: Sequence[_Wish]) -> float:
    """The quality that the most specific wish gives to a media type."""
    fitting = [(wish.fits(name), wish.quality) for wish in wishes if wish.fits(name)]
    return max(fitting)[1] if fitting else 0.0


def _wishes(accept: str) -> list[_Wish]:
    found = []
    for part in accept.split(","):
        kind, *parameters = (each.strip().lower() for each in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                quality = _number(value)
        found.append(_Wish(kind, quality))
    return found


def _number(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


def _not_acceptable(wanted: str, offered: Sequence[MediaType]) -> HTTPException:
    names = ", ".join(dict.fromkeys(each.name for each in offered))
    return HTTPException(406, f"nothing of this can be given: {wanted}; there are {names}")


def format_of_body(content_type: str, readable: Sequence[MediaType] = READABLE) -> str:
    """The short name of the format of what a client sends."""
    kind = content_type.partition(";")[0].strip().lower()
    for each in readable:
        if each.name == kind:
            return each.form
    names = ", ".join(dict.fromkeys(each.name for each in readable))
    raise HTTPException(415, f"{kind or 'nothing'} cannot be read here; send one of {names}")
