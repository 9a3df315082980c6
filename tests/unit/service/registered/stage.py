"""A small stage for registered queries: background, streams and a clock, in short words.

`in A B` is the triple `:A :in :B`; several facts are separated by commas.
"""

from __future__ import annotations

import re

from pyoxigraph import NamedNode, Triple

from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.registered.reports import Report
from livefacts.service.registered.scheduled_query import Registration

_STREAM = re.compile(r"(STREAM |ON )<(\w+)>")
EX = "http://example.org/"
PREFIX = f"@prefix : <{EX}> .\n"
TRANSITIVE = "[?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] ."
PAIRS = "WHERE { ?x :in ?y }"


class Stage:
    """A reasoner with registered queries; `<s>` is a stream in its texts."""

    def __init__(
        self, rules: str = "", *, limit: int | None = None, start: int | None = None
    ) -> None:
        self.reasoner = Reasoner(rules=PREFIX + rules, limit=limit, start=start)
        self.reasoner.prefixes[""] = EX

    def register(self, text: str, *, full: bool = False) -> Registration:
        return self.reasoner.register(_STREAM.sub(rf"\1<{EX}\2>", text), full=full)

    def push(self, text: str, at: int, stream: str = "s") -> None:
        self.reasoner.push(triples(text), at=at, stream=EX + stream)

    def retract(self, text: str, at: int, stream: str = "s") -> None:
        self.reasoner.retract(triples(text), at=at, stream=EX + stream)

    def add(self, text: str) -> None:
        self.reasoner.add(triples(text))

    def remove(self, text: str) -> None:
        self.reasoner.remove(triples(text))

    def advance(self, now: int) -> None:
        self.reasoner.advance(now)


def triples(text: str) -> list[Triple]:
    """`in A B, in B C` as triples."""
    named = ([NamedNode(EX + word) for word in fact.split()] for fact in text.split(","))
    return [Triple(s, p, o) for p, s, o in named]


def words(report: Report) -> str:
    """The rows of a report in short: `AB BC`; `!` if there is none."""
    if report.error is not None:
        return "!"
    return " ".join(sorted("".join(short(term) for term in row) for row in report.rows))


def short(term: object) -> str:
    value = getattr(term, "value", "")
    return str(value).removeprefix(EX)


def by_time(query: Registration) -> dict[int, str]:
    """Each time of a report and its rows, runs of empty ones included."""
    found = {}
    for report in query.results():
        for time in range(report.first, report.last + 1, query.every):
            found[time] = words(report)
    return found
