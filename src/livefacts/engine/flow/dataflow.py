"""The dataflow: the steps of all continuous queries over one graph, kept up to date together.

Triples come and go; each change is passed from step to step, as signed bags of rows, and
only through the steps that it reaches.  Steps that several queries have in common are there
once, and those that differ in a constant share their joins.  A step keeps what its operator
needs and nothing else; a triple pattern keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import Bag, Row, add_to
from livefacts.engine.flow.first_rows import bag_of, rows_of
from livefacts.engine.flow.memory_use import Footprint, KeptPart
from livefacts.engine.flow.nodes import (
    Family,
    FamilyShape,
    Member,
    Node,
    NodeKey,
    Source,
    shape_of,
)
from livefacts.engine.flow.pattern_matches import PatternMatches
from livefacts.engine.flow.triple_changes import TripleChange
from livefacts.engine.flow.triple_filters import ANY, TripleFilter
from livefacts.engine.flow.workers import Fillable, Lister, Worker, worker_of
from livefacts.engine.patterns.signed_rows import SignedRows
from livefacts.plan.continuous.flow import FlowPlan, Joined, Match, MatchNamed
from livefacts.plan.continuous.flow_text import described
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import NO_QUADS, NO_TRIPLES, GraphSnapshots, graphs_of

NOTHING_THERE = graphs_of(NO_TRIPLES)


@dataclass(eq=False)
class RunningQuery:
    """A query at work: its plan, its steps, and its answers."""

    plan: FlowPlan
    nodes: tuple[Node, ...]
    first: SignedRows | None
    """The answers when it began, as long as they are the same."""

    @cached_property
    def ordered(self) -> Bag:
        """The answers with what they are ordered by, where they do not show that."""
        assert self.first is not None, "nothing has changed yet"
        return bag_of(self.first)

    @cached_property
    def answers(self) -> Bag:
        """The answers."""
        if not self.plan.is_ordered_by_more:
            return self.ordered
        return shown_rows(self.plan, self.ordered)

    @property
    def rows(self) -> SignedRows:
        """The answers with what they are ordered by, as they are now."""
        first = self.first
        return rows_of(dict(self.ordered), self.plan.steps[-1].width) if first is None else first

    def follow(self, bag: Bag) -> Bag:
        """Take note of rows that the last step has made; the answers that come and go."""
        ordered, answers = self.ordered, self.answers
        self.first = None
        for row, count in bag.items():
            add_to(ordered, row, count)
        if ordered is answers:
            return bag
        shown = shown_rows(self.plan, bag)
        for row, count in shown.items():
            add_to(answers, row, count)
        return shown

    @property
    def size(self) -> int:
        """How many rows its steps keep, answers included."""
        return self.count + sum(node.worker.size for node in self.nodes)

    @property
    def count(self) -> int:
        """How many different answers there are."""
        first = self.first
        return len(self.ordered) if first is None else len(first.counts)

    def kept(self, measured: Footprint | None = None) -> tuple[KeptPart, ...]:
        """What each step keeps, and the answers; what several keep counts where it is first."""
        measured = measured or Footprint()
        parts = []
        for number, (node, step) in enumerate(zip(self.nodes, self.plan.steps, strict=True)):
            if node.worker.size:
                name = f"step {number}, {described(step.operator)}"
                size = measured.bytes_of(node.worker)
                parts.append(KeptPart(name, node.worker.size, size))
        answers = (self.answers, self.ordered) if self.first is None else (self.first,)
        return (*parts, KeptPart("answers", self.count, sum(map(measured.bytes_of, answers))))

    @property
    def looked_at(self) -> int:
        """How many rows of their state its steps have looked at so far."""
        return sum(node.worker.looked_at for node in self.nodes)

    @property
    def sources(self) -> list[Source]:
        """What matches the triple patterns of the query."""
        return [node.worker for node in self.nodes if isinstance(node.worker, Source)]

    @property
    def looks_at_graphs(self) -> bool:
        """Whether a pattern looks at named graphs."""
        return any(source.is_named for source in self.sources)

    @property
    def patterns(self) -> Ids:
        """The triple patterns that the query can see, -1 in the place of a variable."""
        patterns = [pattern for source in self.sources for pattern in source.patterns]
        return np.array(patterns, np.int32).reshape(-1, 3)


class Dataflow:
    """Follows any number of queries."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nodes: dict[NodeKey, Node] = {}
        self._sources = Sources()
        self._only: dict[FamilyShape, Node] = {}
        """The step of a shape that no other has."""
        self._families: dict[FamilyShape, Family] = {}
        self._next = 0
        self._standing: list[RunningQuery] = []
        self._ends: dict[int, list[RunningQuery]] = {}
        """Queries by the number of their last step."""

    def __len__(self) -> int:
        """How many steps are at work, each counted once."""
        return len(self._nodes)

    def add(self, plan: FlowPlan, there: GraphSnapshots = NOTHING_THERE) -> RunningQuery:
        """A query begins to stand, over the triples that are there, and those of named graphs."""
        workers, answers = _filled(plan, self._dictionary, there)
        nodes: list[Node] = []
        for step, worker in zip(plan.steps, workers, strict=True):
            inputs = tuple(nodes[each] for each in step.inputs)
            key = step.operator, tuple(node.number for node in inputs), plan.base
            nodes.append(self._nodes.get(key) or self._new_node(key, worker, inputs, there))
        for node in nodes:
            node.users += 1
        standing = RunningQuery(plan, tuple(nodes), answers)
        self._standing.append(standing)
        self._ends.setdefault(nodes[-1].number, []).append(standing)
        return standing

    def _new_node(
        self, key: NodeKey, worker: Worker | Source, inputs: tuple[Node, ...], there: GraphSnapshots
    ) -> Node:
        """A node with the state of a worker that has seen what is there."""
        node = self._nodes[key] = Node(key, self._next, worker, inputs)
        self._next += 1
        for place, other in enumerate(inputs):
            other.outputs.append((node, place))
        if isinstance(worker, Source) and not self._finds_family(node, there):
            self._sources.add(node)
        return node

    def _finds_family(self, node: Node, there: GraphSnapshots) -> bool:
        """Whether there are steps that differ from this one in a constant: they join together."""
        found = shape_of(node.key[0])
        if found is None:
            return False
        shape, constant = found
        family = self._families.get(shape)
        if family is None:
            only = self._only.pop(shape, None)
            if only is None:
                self._only[shape] = node
                return False
            self._sources.remove(only)
            family = self._families[shape] = Family(shape, self._dictionary, there)
            self._sources.add(family)
            family.add(self._constant_of(only), only, there)
        family.add(self._dictionary.encode_one(constant), node, there)
        return True

    def _constant_of(self, node: Node) -> int:
        found = shape_of(node.key[0])
        assert found is not None, "a member of a family has a shape"
        return self._dictionary.encode_one(found[1])

    def drop(self, standing: RunningQuery) -> None:
        """A query stands no longer; steps that nobody else needs go with it."""
        if standing not in self._standing:
            return
        self._standing.remove(standing)
        self._ends[standing.nodes[-1].number].remove(standing)
        for node in reversed(standing.nodes):
            node.users -= 1
            if not node.users:
                self._forget(node)

    def _forget(self, node: Node) -> None:
        del self._nodes[node.key]
        self._ends.pop(node.number, None)
        for other in node.inputs:
            other.outputs = [pair for pair in other.outputs if pair[0] is not node]
        if isinstance(node.worker, Member):
            self._leave_family(node)
        elif isinstance(node.worker, Source):
            self._sources.remove(node)
            found = shape_of(node.key[0])
            if found is not None:
                del self._only[found[0]]

    def _leave_family(self, node: Node) -> None:
        found = shape_of(node.key[0])
        assert found is not None, "a member of a family has a shape"
        family = self._families[found[0]]
        family.drop(self._constant_of(node))
        if not family.nodes:
            del self._families[found[0]]
            self._sources.remove(family)

    def apply(
        self, added: Ids, removed: Ids, came: Ids = NO_QUADS, gone: Ids = NO_QUADS
    ) -> list[tuple[RunningQuery, Bag]]:
        """The change of the answers of each query that a change of triples reaches.

        Triples that are added were not there, and triples that are removed were; so did the
        quads of named graphs come and go.
        """
        passing = _Passing()
        for change, named in (
            (TripleChange(added, removed), False),
            (TripleChange(came, gone), True),
        ):
            for source in self._sources.reached(change, named):
                for node, bag in source.bags(change):
                    passing.on(node, bag)
        found = []
        for number, bag in passing.through().items():
            for standing in self._ends.get(number, ()):
                if shown := standing.follow(bag):
                    found.append((standing, shown))
        return found

    def held_ids(self) -> Iterator[Ids]:
        """The ids that steps and answers keep."""
        bags = [node.worker.rows() for node in self._nodes.values()]
        bags += [family.matches.rows() for family in self._families.values()]
        yield np.array(list({each for rows in bags for row in rows for each in row}), np.int32)
        for standing in self._standing:
            yield standing.rows.rows.ravel()


class Sources:
    """Triple patterns by what a triple must have to match them."""

    def __init__(self) -> None:
        self._by_predicate: dict[tuple[bool, int], list[Node | Family]] = {}
        self._by_constants: dict[tuple[bool, int, int, int], list[Node | Family]] = {}

    def add(self, source: Node | Family) -> None:
        """Triples may reach this."""
        for table, place in self._places(source):
            table.setdefault(place, []).append(source)

    def remove(self, source: Node | Family) -> None:
        """Triples reach this no longer."""
        for table, place in self._places(source):
            table[place].remove(source)
            if not table[place]:
                del table[place]

    def _places(self, source: Node | Family) -> Iterator[tuple[Any, Any]]:
        named, patterns = source.is_named, source.patterns
        for predicate in {pattern[1] for pattern in patterns}:
            yield self._by_predicate, (named, predicate)
        for constants in {_constants(pattern) for pattern in patterns}:
            yield self._by_constants, (named, *constants)

    def reached(self, change: TripleChange, named: bool) -> Iterable[Node | Family]:
        """What a change can reach, each once."""
        table: dict[Any, list[Node | Family]] = self._by_constants
        places: Iterable[Any]
        if change.few is None:
            table, places = self._by_predicate, [(named, p) for p in (ANY, *change.predicates)]
        else:
            places = ((named, *each) for _, triple in change.few for each in _asked(triple))
        found = [table[place] for place in places if place in table]
        if len(found) == 1:
            return found[0]
        return {id(source): source for sources in found for source in sources}.values()


def _constants(pattern: Row) -> tuple[int, int, int]:
    """The predicate of a pattern, and one of the constants beside it."""
    subject, predicate, value = pattern[:3]
    return (predicate, ANY, value) if value != ANY else (predicate, subject, ANY)


def _asked(triple: Row) -> Iterator[tuple[int, int, int]]:
    """What the constants of patterns may be that a triple matches."""
    subject, predicate, value = triple[:3]
    for each in (predicate, ANY):
        yield each, ANY, ANY
        yield each, ANY, value
        yield each, subject, ANY


class _Passing:
    """One change on its way through the steps, first things first."""

    def __init__(self) -> None:
        self._made: dict[int, Bag] = {}
        self._given: dict[int, tuple[Node, list[Bag]]] = {}
        self._waiting: list[int] = []

    def on(self, node: Node, bag: Bag) -> None:
        """A step has made these rows."""
        if not bag:
            return
        self._made[node.number] = bag
        for target, place in node.outputs:
            if target.number not in self._given:
                self._given[target.number] = target, [{} for _ in target.inputs]
                heappush(self._waiting, target.number)
            self._given[target.number][1][place] = bag

    def through(self) -> dict[int, Bag]:
        """What every step has made in the end."""
        while self._waiting:
            node, given = self._given.pop(heappop(self._waiting))
            assert not isinstance(node.worker, Source), "a triple pattern has no inputs"
            self.on(node, node.worker.apply(*given))
        return self._made


def shown_rows(plan: FlowPlan, bag: Bag) -> Bag:
    """Rows without the columns that stand there for the order alone."""
    width = len(plan.variables)
    shown: Bag = {}
    for row, count in bag.items():
        add_to(shown, row[:width], count)
    return shown


def _filled(
    plan: FlowPlan, dictionary: Dictionary, there: GraphSnapshots
) -> tuple[list[Worker | Source], SignedRows]:
    """Workers for all steps of a plan, fed with triples, and what the last of them has made."""
    workers: list[Worker | Source] = []
    made: list[SignedRows] = []
    for step in plan.steps:
        if isinstance(step.operator, Match | MatchNamed | Joined):
            source = _source(step.operator, dictionary)
            workers.append(source)
            made.append(source.fill(there))
            continue
        width = plan.steps[step.inputs[0]].width if step.inputs else 0
        worker = worker_of(step.operator, width, dictionary, plan.base)
        workers.append(worker)
        made.append(_first_rows(worker, [made[each] for each in step.inputs], step.width))
    return workers, made[-1]


def _first_rows(worker: Worker, inputs: Sequence[SignedRows], width: int) -> SignedRows:
    if isinstance(worker, Lister):
        return rows_of(worker.start(), width)
    if isinstance(worker, Fillable):
        return worker.fill(*inputs)
    return rows_of(worker.apply(*map(bag_of, inputs)), width)


def _source(
    operator: Match | MatchNamed | Joined, dictionary: Dictionary
) -> TripleFilter | PatternMatches:
    if isinstance(operator, Joined):
        return PatternMatches(operator, dictionary)
    return TripleFilter(operator, dictionary)
