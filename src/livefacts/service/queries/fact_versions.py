"""Fact versions: what readers see of a reasoner, one version after the other.

The columns are written out when somebody first asks; from then on every change is noted, and
the next one who asks gets a version with it.  A version has its terms with it: it stays as it
is, and can be read by any thread, whatever changes meanwhile.

Queries need the triples that are true, and the named graphs.  A whole version also has the facts
of every shape in parts: what is asserted, what is derived, and what violates constraints.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from livefacts.engine.contract import TRIPLES, Change, Engine, Facts, IdDelta, Ids
from livefacts.language.program import NO_PROGRAM, Program
from livefacts.model.facts import Term
from livefacts.service.change.assertions import without
from livefacts.service.change.delta import Delta
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.queries.part_versions import NO_TURN, FactPart, PartKey, PartVersions, Turn
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.id_reader import TermReader
from livefacts.store.versions.snapshots import (
    NO_TRIPLES,
    GraphSnapshots,
    Snapshot,
    Versions,
    by_graph,
    of_rows,
)


class VersionStamp(NamedTuple):
    """When a version was the newest one: after which change, at what time, under which rules."""

    seq: int = 0
    now: int | None = None
    size: int = 0
    """How many facts are true and shown."""
    program: Program = NO_PROGRAM


GraphName: TypeAlias = NamedNode | BlankNode | DefaultGraph
Pattern: TypeAlias = Sequence[Term | None]
"""Subject, predicate and object; None is any."""
ANYTHING: Pattern = (None, None, None)
NO_STAMP = VersionStamp()
NOTHING = Snapshot(())
NO_QUADS = np.zeros((0, 4), np.int32)
TRUE = FactPart.ASSERTED, FactPart.DERIVED
"""The parts that share out what is true between them."""


@dataclass(frozen=True, slots=True)
class FactVersion:
    """One version of the facts, with its terms; a whole one has all of them, by parts."""

    graphs: GraphSnapshots
    terms: TermReader
    stamp: VersionStamp = NO_STAMP
    parts: Mapping[PartKey, Snapshot] = field(default_factory=dict)
    is_whole: bool = False

    def rows(self, part: FactPart) -> dict[int, Ids]:
        """The facts of a part, by shape."""
        return {shape: each.rows() for (of, shape), each in self.parts.items() if of is part}

    def facts(self, derived: bool | None = None) -> dict[int, Ids]:
        """What is true, by shape; only conclusions, or only what was asserted."""
        if derived is not None:
            return self.rows(FactPart.DERIVED if derived else FactPart.ASSERTED)
        both: dict[int, list[Ids]] = {}
        for (part, shape), each in self.parts.items():
            if part in TRUE and shape != TRIPLES:
                both.setdefault(shape, []).append(each.rows())
        found = {shape: np.concatenate(rows) for shape, rows in both.items()}
        return {TRIPLES: self.graphs.everything.rows(), **found}

    def holds(self, shape: int, row: list[int]) -> bool:
        """Whether a fact is true and shown."""
        if shape == TRIPLES:
            return self.graphs.everything.holds(row)
        parts = (self.parts.get((part, shape)) for part in TRUE)
        return any(part is not None and part.holds(row) for part in parts)

    def quads(self) -> Ids:
        """What named graphs assert."""
        return self.graphs.quads_matching((-1, -1, -1, -1))

    def asserted_in(
        self, graph: GraphName | None, pattern: Pattern = ANYTHING
    ) -> Iterator[Triple | Quad]:
        """The triples that the default graph asserts, or quads of a named one, or of all."""
        if isinstance(graph, DefaultGraph):
            rows = without(
                self._part_like(FactPart.ASSERTED, pattern),
                self._part_like(FactPart.ELSEWHERE, pattern),
            )
            return map(Triple, *self._columns(rows))
        ids = self._ids_of((*pattern, graph))
        quads = NO_QUADS if ids is None else self.graphs.quads_matching(ids)
        return map(Quad, *self._columns(quads))

    def true_in(self, graph: GraphName | None, pattern: Pattern = ANYTHING) -> Iterator[Triple]:
        """The triples that are true, or those of them that a graph has.

        The default graph has what it asserts, and the conclusions that no graph asserts.
        """
        ids = self._ids_of(pattern)
        if ids is None:
            return iter(())
        rows = self._part_of(graph).matching(ids)
        if isinstance(graph, DefaultGraph):
            rows = without(rows, self._part_like(FactPart.ELSEWHERE, pattern))
        return map(Triple, *self._columns(rows))

    def count_true_in(self, graph: GraphName | None) -> int:
        """How many they are."""
        size = self._part_of(graph).size
        if isinstance(graph, DefaultGraph):
            elsewhere = self.parts.get((FactPart.ELSEWHERE, TRIPLES), NOTHING)
            return size - elsewhere.size
        return size

    def _part_of(self, graph: GraphName | None) -> Snapshot:
        """The triples of a named graph; of the default graph all, elsewhere asserted ones too."""
        if graph is None or isinstance(graph, DefaultGraph):
            return self.graphs.everything
        name = self.terms.find(graph)
        return NOTHING if name is None else self.graphs.named.get(name, NOTHING)

    def _part_like(self, part: FactPart, pattern: Pattern) -> Ids:
        """The triples of a part that fit a pattern."""
        ids = self._ids_of(pattern)
        return NO_TRIPLES if ids is None else self.parts.get((part, TRIPLES), NOTHING).matching(ids)

    def _ids_of(self, pattern: Sequence[Term | None]) -> list[int] | None:
        """The ids of a pattern, -1 for any; None where a term is not known, so that nothing fits."""
        ids = [-1 if term is None else self.terms.find(term) for term in pattern]
        return None if None in ids else ids  # type: ignore[return-value]

    def _columns(self, rows: Ids) -> list[list[Any]]:
        return [self.terms.decode(rows[:, at]) for at in range(rows.shape[1])]

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
    """The versions of what is true, what is asserted and derived, and what named graphs assert."""

    def __init__(
        self,
        engine: Engine,
        reader: FactReader,
        graphs: NamedGraphs,
        changing: threading.RLock,
        stamp: Callable[[], VersionStamp],
    ) -> None:
        self._engine = engine
        self._reader = reader
        self.graphs = graphs
        self._changing = changing
        """Held by whoever changes the facts."""
        self._stamp_now = stamp
        self._lock = threading.Lock()
        self._triples = Versions(self._everything)
        self._named: dict[int, Versions] = {}
        self._parts = PartVersions(engine, reader, graphs)
        self._current: FactVersion | None = None
        self._stamp = NO_STAMP
        self._kept: tuple[int, FactVersion] | None = None
        """What other threads than this one see while changes are made that will be taken back."""
        self._turn = NO_TURN
        self.is_followed = False
        """Whether changes must be noted, because there is a version."""

    def held_ids(self) -> Iterator[Ids]:
        """The ids of the names of graphs; a version has all others with it."""
        yield np.fromiter(self._named, np.int32)

    # readers

    def version(self, *, whole: bool = False) -> FactVersion:
        """What is true now."""
        kept = self._kept
        current = self._current if kept is None or kept[0] == threading.get_ident() else kept[1]
        if current is not None and (current.is_whole or not whole):
            return current
        with self._lock:
            if self.is_followed and self._kept is None and (self._parts.are_followed or not whole):
                return self._made(whole)
        # The tables are read, which nobody may change meanwhile.
        with self._changing, self._lock:
            return self._made(whole)

    def _made(self, whole: bool) -> FactVersion:
        current = self._current
        if current is None or (whole and not current.is_whole):
            if not self.is_followed:
                self._begin(whole)
            elif whole and not self._parts.are_followed:
                self._parts.begin(self._stamp.now)
            named = {name: each.snapshot() for name, each in self._named.items()}
            graphs = GraphSnapshots(self._triples.snapshot(), named)
            parts = self._parts.snapshots() if whole else {}
            terms = self._engine.dictionary.reader()
            current = FactVersion(graphs, terms, self._stamp, parts, whole)
            if self._kept is None:
                self._current = current
        return current

    def _begin(self, whole: bool) -> None:
        """Write out the columns."""
        self._stamp = self._stamp_now()
        parts = dict.fromkeys(self._named, NO_TRIPLES) | by_graph(self.graphs.quads())
        self._named = {name: Versions.beginning(rows) for name, rows in parts.items()}
        if whole:
            self._triples.begin(self._parts.begin(self._stamp.now))
        else:
            self._triples.snapshot()
        self.is_followed = True

    @property
    def nbytes(self) -> int:
        """The memory of the columns that the last version had made."""
        current = self._current
        if current is None:
            return 0
        graphs = [current.graphs.everything, *current.graphs.named.values()]
        return sum(each.nbytes for each in [*graphs, *current.parts.values()])

    def _everything(self) -> Ids:
        shown = self._reader.shown({TRIPLES: self._engine.rows(TRIPLES)})
        return shown.get(TRIPLES, NO_TRIPLES)

    # changes

    def applied(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Let the engine make a change; how the facts stand that it speaks of is noted."""
        if not (keep and self._parts.are_followed):
            return self._engine.apply(change, keep=keep)
        spoken = self._reader.shown(change.spoken())
        before = self._standing(spoken)
        ids = self._engine.apply(change, keep=keep)
        self._turn = Turn(spoken, before, self._standing(spoken))
        return ids

    def _standing(self, facts: Facts) -> dict[int, Ids]:
        return {shape: self._engine.standing(shape, rows) for shape, rows in facts.items()}

    def follow(self, delta: Delta, came: Ids, gone: Ids) -> None:
        """Note a change, and the quads of named graphs that came and went with it.

        Where no version is followed, nobody needs to call this.
        """
        with self._lock:
            turn, self._turn = self._turn, NO_TURN
            self._current = None
            self._stamp = self._stamp_now()
            self._triples.note(
                delta.shown_added.get(TRIPLES, NO_TRIPLES),
                delta.shown_removed.get(TRIPLES, NO_TRIPLES),
            )
            self.is_followed = self._triples.is_followed
            if self._parts.are_followed:
                self._parts.note(delta, turn, self._stamp.size)
            if self.is_followed and (len(came) or len(gone)):
                self._note_quads(came, gone)

    def _note_quads(self, came: Ids, gone: Ids) -> None:
        added, removed = by_graph(came), by_graph(gone)
        for graph in sorted(added.keys() | removed.keys()):
            if graph not in self._named:
                self._named[graph] = Versions.beginning(NO_TRIPLES)
            self._named[graph].note(added.get(graph, NO_TRIPLES), removed.get(graph, NO_TRIPLES))

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Changes are made and taken back meanwhile: other threads see nothing of them."""
        kept = self.version(whole=self._parts.are_followed)
        self._kept = threading.get_ident(), kept
        try:
            yield
        finally:
            with self._lock:
                self._kept, self._current = None, None
                self._stamp = kept.stamp
