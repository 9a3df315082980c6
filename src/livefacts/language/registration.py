"""Registered queries: what a C-SPARQL or RSP-QL text asks for, as data.

A registered query is a SPARQL query around which it is said how often it is computed, which
part of which stream it sees, and which of its answers are reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from livefacts.errors import Place
from livefacts.language.algebra import Query
from livefacts.language.formula import NOWHERE
from livefacts.language.windows import Window
from livefacts.model.durations import Duration


class StreamOperator(StrEnum):
    """Which answers a report has: all, those that are new, or those that are gone."""

    ALL = "RSTREAM"
    NEW = "ISTREAM"
    GONE = "DSTREAM"


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A stream and the part of it that a query sees; `name` is what WINDOW calls it."""

    stream: str
    window: Window
    name: str | None = None
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RegisteredQuery:
    """A query, when it is computed, and what it is computed over.

    `body` is the SPARQL query: the whole text with everything else blanked out, so that
    every line and column in it is one of the text.  `asked` is what it says.
    """

    name: str
    body: str
    asked: Query
    windows: tuple[StreamWindow, ...]
    relation: StreamOperator = StreamOperator.ALL
    makes_stream: bool = False
    every: Duration | None = None
    graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    form: str = "SELECT"
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    every_place: Place = field(default=NOWHERE, compare=False, repr=False)
