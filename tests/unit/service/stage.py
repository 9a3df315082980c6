"""A small stage for registered queries: background, streams and a clock, in short words.

`in A B` is the triple `:A :in :B`; several facts are separated by commas.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pyoxigraph import NamedNode, Quad, Triple

from livefacts.engine.contract import Flags, Ids
from livefacts.rules.program import Program
from livefacts.service.intake import Intake
from livefacts.service.registering import Registrations
from livefacts.service.registration import Registration
from livefacts.service.reports import Report
from livefacts.service.streamlog import Facts, facts_of, keys_of
from livefacts.store.dictionary import Dictionary
from livefacts.syntax import rulefile

EX = "http://example.org/"
PREFIX = f"@prefix : <{EX}> .\n"
TRANSITIVE = "[?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] ."
PAIRS = "WHERE { ?x :in ?y }"


class Told:
    """A background that is a set of facts."""

    def __init__(self) -> None:
        self.keys: set[tuple[int, bytes]] = set()

    def facts(self) -> Facts:
        return facts_of(self.keys)

    def holds(self, shape: int, ids: Ids) -> Flags:
        return np.array([key in self.keys for key in keys_of({shape: ids})], np.bool_)

    def quads(self) -> Iterator[Quad]:
        return iter(())


class Stage:
    """Registered queries, and everything that happens to them."""

    def __init__(self, rules: str | Program = "") -> None:
        program = rulefile.parse(PREFIX + rules) if isinstance(rules, str) else rules
        self.dictionary = Dictionary()
        self.told = Told()
        self.queries = Registrations(self.dictionary, self.told, program)

    def register(self, text: str, *, full: bool = False) -> Registration:
        return self.queries.register(text, {"": EX}, full=full)

    def facts(self, text: str) -> Facts:
        return self.ids(triples(text))

    def ids(self, given: list[Triple]) -> Facts:
        intake = Intake(self.dictionary)
        intake.take_statements(given)
        return intake.facts()

    def push(self, text: str, at: int, stream: str = "s") -> None:
        self.queries.pushed(self.facts(text), at, stream)

    def retract(self, text: str, at: int, stream: str = "s") -> None:
        self.queries.retracted(self.facts(text), at, stream)

    def add(self, text: str) -> None:
        facts = self.facts(text)
        self.told.keys.update(keys_of(facts))
        self.queries.background(facts)

    def remove(self, text: str) -> None:
        facts = self.facts(text)
        self.told.keys.difference_update(keys_of(facts))
        self.queries.background(facts)

    def advance(self, now: int) -> None:
        self.queries.advance(now)


def triples(text: str) -> list[Triple]:
    """`in A B, in B C` as triples."""
    named = ([NamedNode(EX + word) for word in fact.split()] for fact in text.split(","))
    return [Triple(s, p, o) for p, s, o in named]


def words(report: Report) -> str:
    """The rows of a report in short: `AB BC`."""
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
