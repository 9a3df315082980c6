"""Nodes of a dataflow: steps at work, and families of those that differ in a constant alone.

`?x ex:in ?y . ?y ex:of <c>` for a hundred different <c> would mean a hundred joins of the same
triples.  A family joins them once, with a column in the place of the constant, and passes each
row on to the step that asks for its value.  It keeps the triples of those constants only for
which there is a step: every row that it finds is somebody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.flow.bags import Bag, Row
from livefacts.engine.flow.pattern_matches import PatternMatches
from livefacts.engine.flow.triple_changes import TripleChange
from livefacts.engine.flow.triple_filters import TripleFilter
from livefacts.engine.flow.workers import Worker
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import Joined, Operator
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import GraphSnapshots, of_rows

NodeKey = tuple[Operator, tuple[int, ...], str]
SUBJECT, PREDICATE, OBJECT = 0, 1, 2


class Member:
    """What a step of a family has instead of joins of its own."""

    is_named = False

    def __init__(self, matches: PatternMatches, own: PatternMatches) -> None:
        self._matches = matches
        self.patterns = own.patterns
        self.predicates = own.predicates

    @property
    def size(self) -> int:
        """How many triples are kept, for all of the family."""
        return self._matches.size

    @property
    def looked_at(self) -> int:
        """How many triples have been looked at, for all of the family."""
        return self._matches.looked_at

    def rows(self) -> Iterable[Row]:
        """The terms of its patterns; the triples are its family's."""
        return [tuple(each for each in pattern if each >= 0) for pattern in self.patterns]


Source = TripleFilter | PatternMatches | Member


@dataclass(slots=True, eq=False)
class Node:
    """A step at work: who takes its rows, and how many queries need it."""

    key: NodeKey
    number: int
    worker: Worker | Source
    inputs: tuple[Node, ...]
    outputs: list[tuple[Node, int]] = field(default_factory=list)
    users: int = 0

    @property
    def is_shared(self) -> bool:
        """Whether several queries have it, or its joins."""
        return self.users > 1 or isinstance(self.worker, Member)

    @property
    def patterns(self) -> list[Row]:
        """The triple patterns that it matches."""
        assert isinstance(self.worker, TripleFilter | PatternMatches), "it is a triple pattern"
        return self.worker.patterns

    @property
    def is_named(self) -> bool:
        """Whether it looks at named graphs."""
        assert isinstance(self.worker, Source), "it is a triple pattern"
        return self.worker.is_named

    def bags(self, change: TripleChange) -> Iterator[tuple[Node, Bag]]:
        """What a change brings to whom."""
        assert isinstance(self.worker, TripleFilter | PatternMatches), "it is a triple pattern"
        yield self, self.worker.bag(change)


@dataclass(frozen=True, slots=True)
class FamilyShape:
    """Patterns with a column in the place of a constant, and where that is."""

    general: Joined
    pattern: int
    place: int


def shape_of(operator: Operator) -> tuple[FamilyShape, Term] | None:
    """What a step has in common with others, and its constant; None if it is on its own."""
    if not isinstance(operator, Joined):
        return None
    patterns = operator.patterns
    spots = [
        (number, place)
        for number, slots in enumerate(patterns)
        for place in (SUBJECT, OBJECT)
        if not isinstance(slots[place], int)
    ]
    predicates = [slots[PREDICATE] for slots in patterns]
    if len(spots) != 1 or any(isinstance(each, int) for each in predicates):
        return None
    (number, place) = spots[0]
    if predicates.count(predicates[number]) > 1:
        # A triple would be kept for the constant and for another pattern, too.
        return None
    column = 1 + max(slot for slots in patterns for slot in slots if isinstance(slot, int))
    slots = list(patterns[number])
    constant = slots[place]
    assert not isinstance(constant, int), "a constant is a term"
    slots[place] = column
    general = Joined((*patterns[:number], tuple(slots), *patterns[number + 1 :]))  # type: ignore[arg-type]
    return FamilyShape(general, number, place), constant


class Family:
    """Steps that are the same but for one constant: their patterns are matched once."""

    is_named = False

    def __init__(self, shape: FamilyShape, dictionary: Dictionary, there: GraphSnapshots) -> None:
        self.matches = PatternMatches(shape.general, dictionary)
        self._place = shape.place
        self._predicate = self.matches.patterns[shape.pattern][PREDICATE]
        self.nodes: dict[int, Node] = {}
        """The step of each constant."""
        for pattern in set(self.patterns):
            if pattern[PREDICATE] != self._predicate:
                self._feed(there.everything.matching(pattern))

    @property
    def patterns(self) -> list[Row]:
        """The triple patterns, with a variable where the constants are."""
        return self.matches.patterns

    def add(self, constant: int, node: Node, there: GraphSnapshots) -> None:
        """One more step."""
        assert isinstance(node.worker, PatternMatches), "a step comes with joins of its own"
        node.worker = Member(self.matches, node.worker)
        self.nodes[constant] = node
        self._feed(there.everything.matching(self._pattern_of(constant)))

    def drop(self, constant: int) -> None:
        """A step less."""
        del self.nodes[constant]
        gone = of_rows(self.matches.triples()).matching(self._pattern_of(constant))
        self.matches.bag(TripleChange(gone[:0], gone))

    def _pattern_of(self, constant: int) -> Row:
        ends = (constant, -1) if self._place == SUBJECT else (-1, constant)
        return ends[0], self._predicate, ends[1]

    def _feed(self, triples: Ids) -> None:
        self.matches.bag(TripleChange(triples, triples[:0]))

    def bags(self, change: TripleChange) -> Iterator[tuple[Node, Bag]]:
        """What a change brings to whom."""
        bags: dict[int, Bag] = {}
        for row, count in self.matches.bag(self._concerning(change)).items():
            bags.setdefault(row[-1], {})[row[:-1]] = count
        for constant, bag in bags.items():
            yield self.nodes[constant], bag

    def _concerning(self, change: TripleChange) -> TripleChange:
        """The change without triples of constants that nobody asks for."""
        predicate, place, known = self._predicate, self._place, self.nodes
        if change.few is None:
            return TripleChange(*map(self._asked_for, (change.added, change.removed)))
        if all(t[PREDICATE] != predicate or t[place] in known for _, t in change.few):
            return change
        return TripleChange(*map(self._asked_for, (change.added, change.removed)))

    def _asked_for(self, triples: Ids) -> Ids:
        constants = np.fromiter(self.nodes, np.int32, len(self.nodes))
        is_wanted: Flags = triples[:, PREDICATE] != self._predicate
        is_wanted |= np.isin(triples[:, self._place], constants)
        return triples[is_wanted]
