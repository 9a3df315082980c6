"""Continuous queries: answers that change with a stream of update messages, and no graph.

A query that stands on its own keeps only what it needs to tell which answers the next
message brings or takes: bits, or the triples that fit one of its patterns, and the terms of
those.  What fits nothing leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pyoxigraph import Store

from livefacts.engine.embedded.gate import Gate
from livefacts.engine.embedded.messagescan import Messages
from livefacts.engine.embedded.signedrows import Factored
from livefacts.errors import InputError, QueryError
from livefacts.plan.patternplan import PatternPlan
from livefacts.rules.query import BasicQuery
from livefacts.service.continuousanswers import Answers, Changes
from livefacts.service.messages import of_change, of_messages, of_tuples
from livefacts.service.queries import WELL_KNOWN_PREFIXES
from livefacts.service.querytext import read_query, syntax_error
from livefacts.service.results import Answer
from livefacts.service.standing import KeptPart, StandingPattern
from livefacts.store.dictionary import Dictionary
from livefacts.syntax.basicquery import parse_basic_query

FEWEST_TERMS = 4096
"""Terms that may be kept before it is looked at whether they are still needed."""


@dataclass(frozen=True, slots=True)
class Cached:
    """What a continuous query keeps: entries and bytes of each part, and the terms."""

    parts: tuple[KeptPart, ...]
    terms: int
    term_bytes: int

    @property
    def entries(self) -> int:
        """Centres, triples and rows of all parts."""
        return sum(part.entries for part in self.parts)

    @property
    def bytes(self) -> int:
        """The memory of all parts and of the terms, spare room included."""
        return sum(part.bytes for part in self.parts) + self.term_bytes

    def __str__(self) -> str:
        lines = [f"{p.name}: {p.entries:,} entries, {p.bytes:,} bytes" for p in self.parts]
        return "\n".join([*lines, f"terms: {self.terms:,}, {self.term_bytes:,} bytes"])


class ContinuousQuery:
    """A query whose answers follow a stream of update messages.

    >>> q = ContinuousQuery("SELECT ?x { ?x <ex:in> <ex:Rome> . ?x <ex:likes> <ex:cats> }")
    >>> q.feed(add="<ex:ann> <ex:in> <ex:Rome> .")
    []
    >>> print(*q.feed(add="<ex:ann> <ex:likes> <ex:cats> ."))
    + ?x=<ex:ann>
    >>> print(q.plan)
    1 part, star
    part 1: a star around ?x; keeps 2 bits for each centre
      ?x <ex:in> <ex:Rome>
      ?x <ex:likes> <ex:cats>
    """

    def __init__(self, text: str, prefixes: Mapping[str, str] | None = None) -> None:
        """`prefixes` are known beside rdf:, rdfs:, xsd: and owl:, and those of the text."""
        self.text = text
        self._query = _read(text, {**WELL_KNOWN_PREFIXES, **(prefixes or {})})
        self._seq = 0
        self._look_at = FEWEST_TERMS
        self._begin(Dictionary())

    def _begin(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._standing = StandingPattern(self._query, dictionary)
        self._gate = Gate(self._standing.patterns, dictionary)

    # messages

    def feed(self, add: Any = None, remove: Any = None, *, messages: Any = None) -> Changes:
        """Take one batch; what it changes in the end.

        `remove` and then `add` are triples as `Reasoner.add` takes them: objects, tuples of
        terms, Turtle or N-Triples, or the `Path` of a file.  `messages` are tuples like
        `(17, "ins", triple)`, RDF Patch or JSON lines as text, or the `Path` of a file, and
        count in their order.  A triple that comes though it is there, or goes though it is
        not, changes nothing.
        """
        if messages is None:
            return self._take(of_change(add, remove))
        if add is not None or remove is not None:
            raise InputError(
                "messages beside add and remove",
                hint='write all of them as messages: ("ins", triple), ("del", triple)',
            )
        return self._take(of_messages(messages))

    def follow(self, messages: Any, batch: int = 1) -> Iterator[Changes]:
        """What messages change, one after the other or `batch` at a time, as they are read."""
        if isinstance(messages, str | bytes | Path):
            known = of_messages(messages)
            for first in range(0, len(known.signs), batch):
                yield self._take(known.piece(first, first + batch))
        else:
            yield from map(self._take, _pieces(messages, batch))

    def _take(self, messages: Messages) -> Changes:
        self._seq += 1
        triples, signs = self._gate.admit(messages)
        found = self._standing.change(triples, signs) if len(signs) else NOTHING
        changes = Changes(found, self.variables, self._dictionary, self._seq)
        if len(self._dictionary) > self._look_at:
            self._forget_terms()
        return changes

    def _forget_terms(self) -> None:
        """Begin anew with what is kept, if most terms are not needed any more."""
        old, kept = self._dictionary, self._standing.kept()
        if 2 * len(np.unique(kept)) < len(old):
            text, ends = old.packed_texts(kept.reshape(-1))
            starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
            self._begin(Dictionary())
            ids = self._dictionary.encode_spans(text, starts, ends, b"").reshape(-1, 3)
            self._standing.change(ids, np.ones(len(ids), np.int32))
        self._look_at = max(FEWEST_TERMS, 2 * len(self._dictionary))

    # answers

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._standing.variables

    @property
    def seq(self) -> int:
        """The number of the last batch."""
        return self._seq

    def answers(self) -> Answers | Answer:
        """The answers as they are now: rows, or yes or no for ASK."""
        found = self._standing.answers()
        if self._standing.form == "ASK":
            return Answer(bool(found))
        return Answers(found, self.variables, self._dictionary)

    @property
    def plan(self) -> PatternPlan:
        """How the query is followed: in words when printed, and `to_dot()` as a picture."""
        return self._standing.plan

    @property
    def cached(self) -> Cached:
        """What is kept to follow the query, and how much memory it takes."""
        terms = self._dictionary
        return Cached(self._standing.cached(), len(terms), terms.nbytes)


NOTHING = Factored((), ())


def _pieces(messages: Iterable[Any], batch: int) -> Iterator[Messages]:
    waiting = iter(messages)
    while piece := list(islice(waiting, batch)):
        yield of_tuples(piece)


def _read(text: str, prefixes: dict[str, str]) -> BasicQuery:
    known = read_query(text, prefixes)
    try:
        Store().query(known.text, prefixes=prefixes)
    except SyntaxError as error:
        raise syntax_error(known.text, error) from None
    query = parse_basic_query(known.text, prefixes)
    if query is None or query.comparisons or query.form == "CONSTRUCT":
        raise QueryError(
            "only triple patterns can be followed",
            hint="SELECT, SELECT DISTINCT or ASK with one group of triple patterns",
        )
    return query
