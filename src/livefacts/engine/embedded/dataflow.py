"""The dataflow: the steps of all continuous queries over one graph, kept up to date together.

Triples come and go; each change is passed from step to step, as signed bags of rows, and
only through the steps that it reaches.  Steps that several queries have in common are there
once.  A step keeps what its operator needs and nothing else; a triple pattern keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.bags import Bag, add_to, summed
from livefacts.engine.embedded.flowsteps import Lister, Worker, worker_of
from livefacts.engine.embedded.flowtotals import Grouper
from livefacts.engine.embedded.footprint import Footprint
from livefacts.engine.embedded.patternmatches import PatternMatches
from livefacts.engine.embedded.standing import KeptPart
from livefacts.engine.embedded.triplechanges import TripleChange
from livefacts.engine.embedded.triplefilters import ANY, TripleFilter
from livefacts.plan.flow import FlowPlan, FlowStep, Joined, Match, MatchNamed, Operator
from livefacts.plan.flowwords import described
from livefacts.store.dictionary import Dictionary

NO_QUADS = np.zeros((0, 4), np.int32)
Source = TripleFilter | PatternMatches
NodeKey = tuple[Operator, tuple[int, ...], str]


@dataclass(slots=True, eq=False)
class Node:
    """A step at work: who takes its rows, and how many queries need it."""

    key: NodeKey
    number: int
    worker: Worker | Source
    inputs: tuple[Node, ...]
    outputs: list[tuple[Node, int]] = field(default_factory=list)
    users: int = 0


@dataclass(slots=True, eq=False)
class Standing:
    """A query at work: its plan, its steps, and its answers."""

    plan: FlowPlan
    nodes: tuple[Node, ...]
    answers: Bag

    @property
    def size(self) -> int:
        """How many rows its steps keep, answers included."""
        return len(self.answers) + sum(node.worker.size for node in self.nodes)

    def kept(self) -> tuple[KeptPart, ...]:
        """What each step keeps, and the answers; what several keep counts where it is first."""
        measured = Footprint()
        parts = []
        for number, (node, step) in enumerate(zip(self.nodes, self.plan.steps, strict=True)):
            if node.worker.size:
                name = f"step {number}, {described(step.operator)}"
                size = measured.bytes_of(node.worker)
                parts.append(KeptPart(name, node.worker.size, size))
        return (*parts, KeptPart("answers", len(self.answers), measured.bytes_of(self.answers)))

    @property
    def looked_at(self) -> int:
        """How many rows of their state its steps have looked at so far."""
        return sum(node.worker.looked_at for node in self.nodes)

    @property
    def patterns(self) -> Ids:
        """The triple patterns that the query can see, -1 in the place of a variable."""
        sources = [node.worker for node in self.nodes if isinstance(node.worker, Source)]
        patterns = [pattern for source in sources for pattern in source.patterns]
        return np.array(patterns, np.int32).reshape(-1, 3)


class Dataflow:
    """Follows any number of queries."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._nodes: dict[NodeKey, Node] = {}
        self._sources: dict[tuple[bool, int], list[tuple[Node, Source]]] = {}
        """Triple patterns by whether they look at named graphs, and by their predicates."""
        self._next = 0
        self._standing: list[Standing] = []

    def __len__(self) -> int:
        """How many steps are at work, each counted once."""
        return len(self._nodes)

    def add(self, plan: FlowPlan, triples: Ids, quads: Ids = NO_QUADS) -> Standing:
        """A query begins to stand, over the triples that are there, and those of named graphs."""
        workers, answers = _filled(plan, self._dictionary, triples, quads)
        nodes: list[Node] = []
        for step, worker in zip(plan.steps, workers, strict=True):
            nodes.append(self._node(step, worker, nodes, plan.base))
        for node in nodes:
            node.users += 1
        standing = Standing(plan, tuple(nodes), answers)
        self._standing.append(standing)
        return standing

    def _node(
        self, step: FlowStep, worker: Worker | Source, before: Sequence[Node], base: str
    ) -> Node:
        """The node of a step: one that is there, or a new one with the worker's state."""
        inputs = tuple(before[each] for each in step.inputs)
        key = step.operator, tuple(node.number for node in inputs), base
        known = self._nodes.get(key)
        if known is not None:
            return known
        node = self._nodes[key] = Node(key, self._next, worker, inputs)
        self._next += 1
        for place, other in enumerate(inputs):
            other.outputs.append((node, place))
        if isinstance(worker, Source):
            for spot in _places(worker):
                self._sources.setdefault(spot, []).append((node, worker))
        return node

    def drop(self, standing: Standing) -> None:
        """A query stands no longer; steps that nobody else needs go with it."""
        if standing not in self._standing:
            return
        self._standing.remove(standing)
        for node in reversed(standing.nodes):
            node.users -= 1
            if not node.users:
                self._forget(node)

    def _forget(self, node: Node) -> None:
        del self._nodes[node.key]
        for other in node.inputs:
            other.outputs = [pair for pair in other.outputs if pair[0] is not node]
        if isinstance(node.worker, Source):
            for place in _places(node.worker):
                self._sources[place].remove((node, node.worker))

    def apply(
        self, added: Ids, removed: Ids, came: Ids = NO_QUADS, gone: Ids = NO_QUADS
    ) -> list[tuple[Standing, Bag]]:
        """The change of the answers of each query that a change of triples reaches.

        Triples that are added were not there, and triples that are removed were; so did the
        quads of named graphs come and go.
        """
        passing = _Passing()
        for change, named in (
            (TripleChange(added, removed), False),
            (TripleChange(came, gone), True),
        ):
            for node, source in self._reached(change.predicates, named):
                passing.on(node, source.bag(change))
        made = passing.through()
        found = []
        for standing in self._standing:
            bag = made.get(standing.nodes[-1].number)
            if bag:
                for row, count in bag.items():
                    add_to(standing.answers, row, count)
                found.append((standing, bag))
        return found

    def held_ids(self) -> Iterator[Ids]:
        """The ids that steps and answers keep."""
        bags = [node.worker.rows() for node in self._nodes.values()]
        bags += [standing.answers for standing in self._standing]
        yield np.array(list({each for rows in bags for row in rows for each in row}), np.int32)

    def _reached(self, predicates: Iterable[int], named: bool) -> Iterable[tuple[Node, Source]]:
        """The triple patterns that a change can match, by its predicates."""
        places = [(named, each) for each in (ANY, *predicates)] if predicates else []
        known = [place for place in places if place in self._sources]
        if len(known) == 1:
            return self._sources[known[0]]
        return {id(pair[0]): pair for each in known for pair in self._sources[each]}.values()


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


def _places(source: Source) -> list[tuple[bool, int]]:
    return [(source.is_named, predicate) for predicate in source.predicates]


def _filled(
    plan: FlowPlan, dictionary: Dictionary, triples: Ids, quads: Ids
) -> tuple[list[Worker | Source], Bag]:
    """Workers for all steps of a plan, fed with triples, and what the last of them has made."""
    workers: list[Worker | Source] = []
    made: list[Bag] = []
    change, named = TripleChange(triples, triples[:0]), TripleChange(quads, quads[:0])
    for step in plan.steps:
        if isinstance(step.operator, Match | MatchNamed | Joined):
            source = _source(step.operator, dictionary)
            workers.append(source)
            made.append(source.bag(named if source.is_named else change))
            continue
        width = plan.steps[step.inputs[0]].width if step.inputs else 0
        worker = worker_of(step.operator, width, dictionary, plan.base)
        first = worker.start() if isinstance(worker, Lister | Grouper) else {}
        rest = worker.apply(*(made[each] for each in step.inputs))
        workers.append(worker)
        made.append(summed([first, rest]))
    return workers, made[-1]


def _source(operator: Match | MatchNamed | Joined, dictionary: Dictionary) -> Source:
    if isinstance(operator, Joined):
        return PatternMatches(operator, dictionary)
    return TripleFilter(operator, dictionary)
