"""Flow answers: any query inside windows, followed change by change by a dataflow.

What windows bring and take between two reports goes once through the steps of a flow, so a
report costs what has changed since the last one, whatever the windows hold.  Answers are
bags of rows of ids, which become terms when a report is read; a row that stays from report
to report becomes terms once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pyoxigraph import Quad

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.engine.flow.bags import UNBOUND, Bag, add_to
from livefacts.engine.flow.bags import Row as IdRow
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.engine.flow.evaluator import Ordering
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.registration import StreamOperator
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_text import PlanWords, words_of
from livefacts.service.change.fact_reader import FactReader
from livefacts.service.continuous.findings import Found, found_answer
from livefacts.service.queries.results import Row
from livefacts.service.registered.window_times import WindowTimes
from livefacts.service.registered.world_store import NO_GRAPHS, StoredWorld, WindowGraphs
from livefacts.service.streams.fact_rows import Rows, facts_of, netted
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import NO_QUADS, NO_TRIPLES, graphs_of


def looked_up(plan: FlowPlan) -> tuple[TripleAtom, ...]:
    """The triple patterns of a plan, each once."""
    return tuple(dict.fromkeys(TripleAtom(*map(_slot, slots)) for slots in plan.patterns()))


def _slot(slot: Any) -> Any:
    return Variable(f"c{slot}") if isinstance(slot, int) else slot


class FlowedAnswers:
    """The answers of a query that a flow follows, in step with its world."""

    def __init__(
        self,
        plan: FlowPlan,
        world: StoredWorld,
        relation: StreamOperator,
        reader: FactReader,
        dictionary: Dictionary,
        graphs: WindowGraphs = NO_GRAPHS,
        quads: Iterable[Quad] = (),
        times: WindowTimes | None = None,
    ) -> None:
        self._world = world
        self._graphs = graphs
        self._times = times
        self._quads: list[tuple[Ids, Ids]] = []
        """Quads of the background's named graphs that have come and gone, likewise."""
        self._relation = relation
        self._reader = reader
        self._dictionary = dictionary
        self._flow = Dataflow(dictionary)
        asserted = self._encoded(quads)
        there = graphs_of(self._triples(world.facts()), asserted)
        self._standing = self._flow.add(plan, there)
        self._changed: Bag = dict(self._standing.answers)
        self._pending: list[tuple[Ids, Ids]] = []
        """Triples that have come and gone since the flow was last fed."""
        self._rows = DecodedRows(plan, dictionary)
        world.follow(self._note)

    @property
    def plan(self) -> PlanWords:
        """How the answers are found, in words."""
        return words_of(self._standing.plan)

    def resume(self, reported: Iterable[IdRow]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        self._changed = dict(self._standing.answers)
        for row in reported:
            add_to(self._changed, row, -1)

    def reported(self) -> Iterable[IdRow]:
        """The rows of the last report, before it was compared with another."""
        self._feed()
        bag = Counter(self._standing.answers)
        bag.subtract(self._changed)
        return bag.elements()

    def close(self) -> None:
        """Follow the world no longer."""
        self._world.unfollow(self._note)
        self._graphs.close()

    def move(self, now: int) -> None:
        """The time is `now`, for the windows that have names, too."""
        self._graphs.move(now)
        if self._times is not None:
            self._times.move(now)
        self._feed()

    def graphs_changed(self, came: Iterable[Quad], gone: Iterable[Quad]) -> None:
        """Named graphs of the background have changed."""
        self._quads.append((self._encoded(came), self._encoded(gone)))

    def held_ids(self) -> Iterator[Ids]:
        """The ids that the flow keeps, of answers that came or went, and of what it will be fed."""
        yield from self._flow.held_ids()
        yield np.array([each for row in self._changed for each in row], np.int32)
        for pair in (*self._pending, *self._quads):
            yield from pair
        yield from self._graphs.held_ids()
        if self._times is not None:
            yield from self._times.held_ids()

    # changes

    def _note(self, delta: IdDelta) -> None:
        added, removed = self._triples(delta.added), self._triples(delta.removed)
        if len(added) or len(removed):
            self._pending.append((added, removed))

    def _triples(self, facts: Rows) -> Ids:
        if not len(facts.get(TRIPLES, NO_TRIPLES)):
            return NO_TRIPLES
        return self._reader.shown({TRIPLES: facts[TRIPLES]}).get(TRIPLES, NO_TRIPLES)

    def _encoded(self, quads: Iterable[Quad]) -> Ids:
        terms = [term for quad in quads for term in quad]
        return self._dictionary.encode(terms).reshape(-1, 4)

    def _named(self) -> tuple[Ids, Ids]:
        """What has come to named graphs and windows, and what has gone."""
        asserted, self._quads = self._quads, []
        for graph in self._graphs:
            name = self._dictionary.encode_one(graph.name)
            came, gone = (
                _in_graph(self._triples(facts_of(keys)), name) for keys in graph.changes()
            )
            asserted.append((came, gone))
        if self._times is not None:
            asserted.append(self._times.changes())
        return _netted(asserted, NO_QUADS)

    def _feed(self) -> None:
        pending, self._pending = self._pending, []
        triples, quads = _netted(pending, NO_TRIPLES), self._named()
        if not any(map(len, (*triples, *quads))):
            return
        with self._dictionary.passing:
            found = self._flow.apply(*triples, *quads)
        for _, bag in found:
            self._rows.forget(bag)
            for row, count in bag.items():
                add_to(self._changed, row, count)

    # reports

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        self._feed()
        changed, self._changed = self._changed, {}
        if self._standing.plan.form == "ASK":
            return found_answer(bool(self._standing.answers))
        reported, answers = self._reported(changed), self._standing.answers
        if self._relation is StreamOperator.ALL and self._standing.plan.is_ordered_by_more:
            return self._rows.found(reported, answers, dict(self._standing.ordered))
        return self._rows.found(reported, answers)

    def _reported(self, changed: Bag) -> Bag:
        if self._relation is StreamOperator.ALL:
            return dict(self._standing.answers)
        sign = 1 if self._relation is StreamOperator.NEW else -1
        return {row: sign * count for row, count in changed.items() if sign * count > 0}


def _netted(changes: Sequence[tuple[Ids, Ids]], nothing: Ids) -> tuple[Ids, Ids]:
    """What several changes of rows add and remove in the end; without any, `nothing`."""
    if len(changes) == 1:
        return changes[0]
    width = nothing.shape[1]
    came, gone = netted(({width: added}, {width: removed}) for added, removed in changes)
    return came.get(width, nothing), gone.get(width, nothing)


def _in_graph(triples: Ids, graph: int) -> Ids:
    return np.column_stack([triples, np.full(len(triples), graph, np.int32)])


class DecodedRows:
    """Rows of ids as terms; those of answers that stay are decoded once."""

    def __init__(self, plan: FlowPlan, dictionary: Dictionary) -> None:
        self._names = plan.variables
        self._dictionary = dictionary
        self._by_all, self._by_shown = (
            Ordering(order, dictionary, plan.base) if order else None
            for order in (plan.order, plan.shown_order)
        )
        self._known: dict[IdRow, Row] = {}

    def forget(self, gone: Iterable[IdRow]) -> None:
        """These answers have come or gone."""
        for row in gone:
            self._known.pop(row, None)

    def found(self, bag: Bag, answers: Bag, ordered: Bag | None = None) -> Found:
        """A report of some rows; those of `answers` are remembered when they are read.

        `ordered` are the rows with all that they are ordered by, where that is known.
        """
        loan = self._dictionary.lend_later(lambda: [_ids_of(ordered or bag)])
        count, read = (lambda: sum(bag.values())), (lambda: self._read(bag, answers, ordered))
        return Found(self._names, not bag, count, read, loan)

    def _read(self, bag: Bag, answers: Bag, ordered: Bag | None) -> Iterator[Row]:
        rows = self._known
        missing = [row for row in bag if row not in rows]
        decoded = dict(zip(missing, self._decoded(missing), strict=True))
        self._known.update((row, decoded[row]) for row in missing if row in answers)
        counts, width = ordered or bag, len(self._names)
        ordering = self._by_shown if ordered is None else self._by_all
        for key in self._ordered(list(counts), ordering):
            row = key[:width]
            yield from [decoded.get(row) or rows[row]] * counts[key]

    def _ordered(self, rows: list[IdRow], ordering: Ordering | None) -> list[IdRow]:
        if ordering is None:
            return rows
        with self._dictionary.passing:
            return ordering.sorted(rows)

    def _decoded(self, rows: Sequence[IdRow]) -> Iterator[Row]:
        ids = [each for row in rows for each in row]
        bound = [each for each in ids if each != UNBOUND]
        terms: Any = iter(self._dictionary.decode(bound) if bound else ())
        cells = [None if each == UNBOUND else next(terms) for each in ids]
        width = len(self._names)
        for at in range(len(rows)):
            yield Row.of(self._names, cells[at * width : (at + 1) * width])


def _ids_of(bag: Bag) -> Ids:
    return np.array([each for row in bag for each in row], np.int32)
