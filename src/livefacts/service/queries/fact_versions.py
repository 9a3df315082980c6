"""Fact versions: what readers see of a reasoner, one version after the other.

The columns are written out when somebody first asks; from then on every change is noted, and
the next one who asks gets a version with it.  A version has its terms with it: it stays as it
is, and can be read by any thread, whatever changes meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES, Engine, Ids
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.term_reader import TermReader
from livefacts.store.versions.snapshots import NO_TRIPLES, GraphSnapshots, Versions, of_rows

UNIVERSITY = "ub:"
UNIVERSITIES = (
    "http://livefacts.example/university#",
    "http://swat.cse.lehigh.edu/onto/univ-bench.owl#",
)
"""Vocabularies of university data, generated and LUBM: `ub:` stands for the one that is loaded."""


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One version of the facts, with its terms."""

    graphs: GraphSnapshots
    terms: TermReader

    def graph_names(self) -> list[NamedNode]:
        """The named graphs, also those that assert nothing any more."""
        return [self.terms.decode_one(name) for name in self.graphs.named]  # type: ignore[misc]

    def seen_from(
        self, default: tuple[int, ...] | None, named: tuple[int, ...] | None
    ) -> GraphSnapshots:
        """The graphs that a query sees which names some; None leaves them as they are."""
        everything, known = self.graphs.everything, self.graphs.named
        if default is not None:
            parts = [known[name].rows() for name in default if name in known]
            everything = of_rows(np.unique(np.concatenate([NO_TRIPLES, *parts]), axis=0))
        if named is not None:
            known = {name: known[name] for name in named if name in known}
        return GraphSnapshots(everything, known)


class FactVersions:
    """The versions of what is true and of what named graphs assert."""

    def __init__(
        self, engine: Engine, reader: FactReader, graphs: NamedGraphs, changing: threading.RLock
    ) -> None:
        self._engine = engine
        self._reader = reader
        self.graphs = graphs
        self._changing = changing
        """Held by whoever changes the facts."""
        self._lock = threading.Lock()
        self._triples = Versions(self._everything)
        self._named: dict[int, Versions] = {}
        self._current: FactVersion | None = None
        self.is_followed = False
        """Whether changes must be noted, because there is a version."""

    def version(self) -> FactVersion:
        """What is true now."""
        current = self._current
        if current is not None:
            return current
        with self._lock:
            if self.is_followed:
                return self._made()
        # The tables are read, which nobody may change meanwhile.
        with self._changing, self._lock:
            return self._made()

    def _made(self) -> FactVersion:
        if self._current is None:
            if not self._triples.is_followed:
                quads = self.graphs.quads()
                names = {*self._named, *np.unique(quads[:, 3]).tolist()}
                self._named = {name: Versions.beginning(_in_graph(quads, name)) for name in names}
            named = {name: each.snapshot() for name, each in self._named.items()}
            graphs = GraphSnapshots(self._triples.snapshot(), named)
            self._current = FactVersion(graphs, self._engine.dictionary.reader())
            self.is_followed = True
        return self._current

    @property
    def nbytes(self) -> int:
        """The memory of the columns that the last version had made."""
        graphs = [self._current.graphs.everything] if self._current else []
        named = self._current.graphs.named.values() if self._current else ()
        return sum(each.nbytes for each in [*graphs, *named])

    def _everything(self) -> Ids:
        shown = self._reader.shown({TRIPLES: self._engine.rows(TRIPLES)})
        return shown.get(TRIPLES, NO_TRIPLES)

    def follow(self, delta: Delta, came: Ids, gone: Ids) -> None:
        """Note a change, and the quads of named graphs that came and went with it.

        Where no version is followed, nobody needs to call this.
        """
        with self._lock:
            self._current = None
            self._triples.note(
                delta.shown_added.get(TRIPLES, NO_TRIPLES),
                delta.shown_removed.get(TRIPLES, NO_TRIPLES),
            )
            self.is_followed = self._triples.is_followed
            if self.is_followed and (len(came) or len(gone)):
                self._note_quads(came, gone)

    def _note_quads(self, came: Ids, gone: Ids) -> None:
        for graph in np.unique(np.concatenate([came[:, 3], gone[:, 3]])).tolist():
            if graph not in self._named:
                self._named[graph] = Versions.beginning(NO_TRIPLES)
            self._named[graph].note(_in_graph(came, graph), _in_graph(gone, graph))

    def prefixes(self, known: Mapping[str, str]) -> dict[str, str]:
        """Known prefixes, and `ub:` where universities are spoken of."""
        found, terms = dict(known), self._engine.dictionary.reader()
        for vocabulary in UNIVERSITIES:
            if terms.find(NamedNode(vocabulary + "Person")) is not None:
                found.setdefault("ub", vocabulary)
        return found


def _in_graph(quads: Ids, graph: int) -> Ids:
    return np.ascontiguousarray(quads[quads[:, 3] == graph, :3])
