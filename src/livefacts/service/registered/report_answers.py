"""Report answers: asked anew at each report, of a store that is kept in step with the world.

These are the few queries that neither rules (`timed_matches`) nor a flow (`flow_answers`) can follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import UNBOUND
from livefacts.engine.flow.bags import Row as IdRow
from livefacts.language.registration import StreamOperator
from livefacts.service.continuous.findings import Found, found_answer, found_rows
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.results import Answer, QueryResult, Row
from livefacts.service.registered.flow_answers import decoded_rows
from livefacts.service.registered.query_input import QueryInput
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import NO_TRIPLES, GraphSnapshots, Versions, by_graph


class WorldStore:
    """What a query sees, as a store that answers any SPARQL query."""

    def __init__(self, source: QueryInput, dictionary: Dictionary) -> None:
        self._source = source
        self._dictionary = dictionary
        self._triples = Versions.beginning(source.triples())
        self._named = {name: Versions.beginning(NO_TRIPLES) for name in source.windows}
        source.follow()

    def version(self) -> FactVersion:
        """What there is now."""
        came, gone, *quads = self._source.changes()
        self._triples.note(came, gone)
        added, removed = (by_graph(each) if len(each) else {} for each in quads)
        for name in added | removed:
            known = self._named.setdefault(name, Versions.beginning(NO_TRIPLES))
            known.note(added.get(name, NO_TRIPLES), removed.get(name, NO_TRIPLES))
        named = {name: versions.snapshot() for name, versions in self._named.items()}
        return FactVersion(
            GraphSnapshots(self._triples.snapshot(), named), self._dictionary.reader()
        )

    def held_ids(self) -> Iterator[Ids]:
        """The ids of the names of graphs; all others are in the world."""
        yield np.array(list(self._named), np.int32)


class AskedAnswers:
    """The answers of any query, asked anew at each report."""

    def __init__(
        self,
        ask: Callable[[FactVersion], QueryResult],
        source: QueryInput,
        relation: StreamOperator,
        dictionary: Dictionary,
        reason: str = "",
    ) -> None:
        self._ask = ask
        self._store = WorldStore(source, dictionary)
        self._relation = relation
        self._dictionary = dictionary
        self.reason = reason
        """Why they are not followed change by change."""
        self._before: list[IdRow] = []

    def resume(self, reported: Iterable[IdRow]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        self._before = list(reported)

    def reported(self) -> Iterable[IdRow]:
        """The rows of the last report, before it was compared with another."""
        return self._before

    def held_ids(self) -> Iterator[Ids]:
        """The ids of the rows that were reported, and of the names of graphs."""
        yield np.array([each for row in self._before for each in row], np.int32)
        yield from self._store.held_ids()

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        result = self._ask(self._store.version())
        if isinstance(result, Answer):
            return found_answer(bool(result))
        names = tuple(result.variables)
        rows = [Row.of(names, tuple(row)) for row in result]
        if self._relation is StreamOperator.ALL:
            return found_rows(names, rows)
        before, self._before = self._before, self._encoded(rows)
        if self._relation is StreamOperator.NEW:
            new = _minus(self._before, before)
        else:
            new = _minus(before, self._before)
        return found_rows(names, list(decoded_rows(names, new, self._dictionary)))

    def _encoded(self, rows: Sequence[Row]) -> list[IdRow]:
        with self._dictionary.passing:
            ids = iter(self._dictionary.encode([t for row in rows for t in row if t is not None]))
        return [tuple(UNBOUND if t is None else int(next(ids)) for t in row) for row in rows]


def _minus(rows: Iterable[IdRow], others: Iterable[IdRow]) -> list[IdRow]:
    """The rows of one bag without those of another, in their order."""
    left = Counter(others)
    found = []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            found.append(row)
    return found
