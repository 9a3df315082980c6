"""Message queries: continuous queries over a stream of update messages, with no graph.

Such a query keeps only what it needs to know which answers the next message brings or takes:
bits, or the triples that fit one of its patterns, and the terms of those.  What fits nothing
leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pyoxigraph import Triple

from livefacts.engine.messages.signed_lines import Messages
from livefacts.engine.messages.standing_group import Cached, StandingGroup
from livefacts.engine.messages.standing_query import QueryPlan
from livefacts.errors import InputError, QueryError
from livefacts.service.continuous.answers import Answers, Changes
from livefacts.service.continuous.messages import of_change, of_messages, of_tuples
from livefacts.service.continuous.query_plans import build_of
from livefacts.service.queries.results import Answer, Triples


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
        self._group = StandingGroup([build_of(text, prefixes)])

    # messages

    def feed(self, add: Any = None, remove: Any = None, *, messages: Any = None) -> Changes:
        """Take one batch; what it changes in the end.

        `remove` and then `add` are triples as `Reasoner.add` takes them: objects, tuples of
        terms, Turtle or N-Triples, or the `Path` of a file.  `messages` are tuples like
        `(17, "ins", triple)`, RDF Patch or JSON lines as text, or the `Path` of a file, and
        count in their order.  A triple that comes though it is there, or goes though it is
        not, changes nothing.
        """
        return self._take(_messages(add, remove, messages))

    def follow(self, messages: Any, batch: int = 1) -> Iterator[Changes]:
        """What messages change, one after the other or `batch` at a time, as they are read."""
        return map(self._take, _pieces(messages, batch))

    def _take(self, messages: Messages) -> Changes:
        group = self._group
        (found,) = group.take(messages)
        changes = Changes(found, self.variables, group.dictionary, group.seq, messages.time)
        group.forget_terms()
        return changes

    # answers

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._group.queries[0].variables

    @property
    def seq(self) -> int:
        """The number of the last batch."""
        return self._group.seq

    def answers(self) -> Answers | Answer | Triples:
        """The answers as they are now: rows, yes or no for ASK, triples for CONSTRUCT."""
        return _answers(self._group, 0)

    @property
    def plan(self) -> QueryPlan:
        """How the query is followed: in words when printed, and `to_dot()` as a picture."""
        return self._group.queries[0].plan

    @property
    def cached(self) -> Cached:
        """What is kept to follow the query, and how much memory it takes."""
        return self._group.cached()


class ContinuousQueries:
    """Several queries that follow one stream: messages are read and encoded once for all.

    >>> many = ContinuousQueries({
    ...     "rome": "SELECT ?x { ?x <ex:in> <ex:Rome> }",
    ...     "cats": "SELECT ?x { ?x <ex:likes> <ex:cats> }",
    ... })
    >>> for name, changes in many.feed(add="<ex:ann> <ex:likes> <ex:cats> .").items():
    ...     print(name, *changes)
    cats + ?x=<ex:ann>
    >>> len(many.answers("rome"))
    0
    """

    def __init__(self, texts: Mapping[str, str], prefixes: Mapping[str, str] | None = None) -> None:
        """Queries by name."""
        if not texts:
            raise QueryError("no query", hint='give queries by name: {"first": "SELECT ..."}')
        self.names = tuple(texts)
        self._group = StandingGroup([build_of(text, prefixes) for text in texts.values()])

    def feed(
        self, add: Any = None, remove: Any = None, *, messages: Any = None
    ) -> dict[str, Changes]:
        """Take one batch, as `ContinuousQuery.feed` does; the changes of those that have any."""
        return self._take(_messages(add, remove, messages))

    def follow(self, messages: Any, batch: int = 1) -> Iterator[dict[str, Changes]]:
        """What messages change, one after the other or `batch` at a time, as they are read."""
        return map(self._take, _pieces(messages, batch))

    def _take(self, messages: Messages) -> dict[str, Changes]:
        group = self._group
        dictionary = group.dictionary
        changed = {}
        for number, found in enumerate(group.take(messages)):
            if found:
                variables = group.queries[number].variables
                changes = Changes(found, variables, dictionary, group.seq, messages.time)
                if changes:
                    changed[self.names[number]] = changes
        group.forget_terms()
        return changed

    def answers(self, name: str) -> Answers | Answer | Triples:
        """The answers of one query as they are now."""
        return _answers(self._group, self._number(name))

    def plan(self, name: str) -> QueryPlan:
        """How one query is followed."""
        return self._group.queries[self._number(name)].plan

    @property
    def cached(self) -> Cached:
        """What is kept for all queries together, and the terms that they share."""
        return self._group.cached()

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise QueryError(
                f"there is no query {name!r}", hint=f"known are {', '.join(self.names)}"
            )
        return self.names.index(name)


def _answers(group: StandingGroup, number: int) -> Answers | Answer | Triples:
    query = group.queries[number]
    found = query.answers()
    if query.form == "ASK":
        return Answer(bool(found))
    answers = Answers(found, query.variables, group.dictionary)
    if query.form == "CONSTRUCT":
        return Triples(tuple(Triple(*row) for row in answers))
    return answers


def _messages(add: Any, remove: Any, messages: Any) -> Messages:
    if messages is None:
        return of_change(add, remove)
    if add is not None or remove is not None:
        raise InputError(
            "messages beside add and remove",
            hint='write all of them as messages: ("ins", triple), ("del", triple)',
        )
    return of_messages(messages)


def _pieces(messages: Any, batch: int) -> Iterator[Messages]:
    if batch < 1:
        raise InputError(f"a batch of {batch} messages", hint="take at least one")
    if isinstance(messages, str | bytes | Path):
        known = of_messages(messages)
        return (known.piece(at, at + batch) for at in range(0, len(known.signs), batch))
    return _read_on(messages, batch)


def _read_on(messages: Iterable[Any], batch: int) -> Iterator[Messages]:
    waiting = iter(messages)
    while piece := list(islice(waiting, batch)):
        yield of_tuples(piece)
