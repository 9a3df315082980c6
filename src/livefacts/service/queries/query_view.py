"""The query view: a reasoner's query store, filled when it is first asked and kept in step by deltas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Quad, Triple

from livefacts.engine.contract import TRIPLES, Engine, Ids
from livefacts.model.namespaces import DECLARED
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.store.facts.named_graphs import NamedGraphs

if TYPE_CHECKING:
    from livefacts.service.queries.query_store import QueryStore

UNIVERSITIES = (
    "http://livefacts.example/university#",
    "http://swat.cse.lehigh.edu/onto/univ-bench.owl#",
)
"""Vocabularies of university data, generated and LUBM: `ub:` stands for the one that is loaded."""
PIECE = 1 << 16
FOLLOWED = 50_000
"""A change of more triples than this is cheaper to load anew than to follow in the query store."""


class QueryView:
    """What is true, as a store that answers SPARQL."""

    def __init__(self, engine: Engine, reader: FactReader, graphs: NamedGraphs) -> None:
        self._engine = engine
        self._dictionary = engine.dictionary
        self._reader = reader
        self.graphs = self._graphs = graphs
        self.opened: QueryStore | None = None
        """The store, once it has been asked for."""

    def store(self) -> QueryStore:
        """The store, as things are now."""
        if self.opened is None:
            self.opened = self._filled()
        return self.opened

    def check_graphs(self, text: str, prefixes: Mapping[str, str]) -> None:
        """Refuse a query that names a graph in FROM which nobody has loaded."""
        from livefacts.syntax.sparql.query_text import read_query

        question = read_query(text, {**DECLARED, **prefixes})
        if question.graphs:
            self.store().check_graphs(question)

    def prefixes(self, known: Mapping[str, str]) -> dict[str, str]:
        """Known prefixes, and `ub:` where universities are spoken of."""
        found = dict(known)
        for vocabulary in UNIVERSITIES:
            if self._dictionary.find(NamedNode(vocabulary + "Person")) is not None:
                found.setdefault("ub", vocabulary)
        return found

    def follow(self, delta: Delta, came: Ids, gone: Ids) -> None:
        """Follow a change, and the quads of named graphs that came and went with it."""
        # A store that fails on the way is dropped, and filled anew by the next query.
        store, self.opened = self.opened, None
        if (
            store is None
            or len(delta.added) + len(delta.removed) + len(came) + len(gone) > FOLLOWED
        ):
            return
        added = [fact for fact in delta.added if isinstance(fact, Triple)]
        removed = [fact for fact in delta.removed if isinstance(fact, Triple)]
        store.apply([*added, *self.quads(came)], [*removed, *self.quads(gone)])
        self.opened = store

    def quads(self, ids: Ids) -> Iterator[Quad]:
        """Assertions of named graphs, decoded."""
        for row in ids:
            yield Quad(*self._dictionary.decode(row))  # type: ignore[arg-type]

    def _filled(self) -> QueryStore:
        from livefacts.service.queries.query_store import QueryStore

        store = QueryStore()
        shown = self._reader.shown({TRIPLES: self._engine.rows(TRIPLES)})
        triples = shown.get(TRIPLES, self._graphs.quads()[:0, :3])
        write = self._dictionary.write_ntriples
        pieces = range(0, len(triples), PIECE)
        named = self.quads(self._graphs.quads())
        store.fill((write(triples[at : at + PIECE]) for at in pieces), named)
        return store
