"""Derived equalities: those that rules derive, found in the middle of a change, and proven.

What the engine concludes to be the same can be merged as if it had been asserted, once it is
known what that rests on.  A few edges connect a group of many: each is proven from what the
engine was given, and that is traced to what was asserted of members.  Proofs through negation
are left to the engine, for they may end when something comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.engine.embedded.proofs.backward_search import BoundRules, Node, Proof, proof_of
from livefacts.engine.embedded.proofs.body_matches import BoundBody
from livefacts.engine.embedded.templates.axiom_engine import SpecialisedEngine
from livefacts.language.formula import Negation
from livefacts.language.program import Rule
from livefacts.service.merging.equality_support import Asserted, Pair, Support
from livefacts.service.merging.group_steps import GroupStep
from livefacts.service.merging.groups import EqualGroup, Groups
from livefacts.service.merging.indistinguishability import Plainness
from livefacts.service.merging.member_assertions import MemberAssertions, Row, image, is_special

FEWEST = 12
"""So many things that follow to be the same are merged; fewer cost less than their proofs."""


class FollowingError(Exception):
    """A change concludes that many things are the same: it is made again with them merged."""

    def __init__(self, found: Mapping[Pair, Support]) -> None:
        super().__init__(found)
        self.found = found


class Following:
    """Looks out for equalities that follow, while steps are made."""

    def __init__(
        self,
        engine: SpecialisedEngine,
        groups: Groups,
        assertions: MemberAssertions,
        plainness: Plainness,
    ) -> None:
        self._engine = engine
        self._groups = groups
        self._assertions = assertions
        self._plainness = plainness

    def check_stored(self, step: GroupStep, rules: Sequence[Rule]) -> None:
        """Whether what a change has derived so far makes it worth to begin again."""
        self.check(step, rules, self._engine.made_so_far(TRIPLES))

    def check(self, step: GroupStep, rules: Sequence[Rule], new: Ids) -> None:
        """Whether new triples conclude of so many things that they are the same as to merge them."""
        is_equality = (new[:, 1] == self._plainness.same_as) & (new[:, 0] != new[:, 2])
        pairs = new[is_equality][:, [0, 2]]
        if len(pairs) < FEWEST - 1:
            return
        found: dict[Pair, Support] = {}
        tracing = None
        for component in large_components(pairs, FEWEST):
            plain = np.array(sorted(self._plain_among(component, step)), np.int32)
            if len(plain) >= FEWEST:
                tracing = tracing or self._tracing(step, rules)
                among = component[np.isin(component, plain).all(axis=1)]
                found |= tracing.supports(spanning(among, self._groups))
        if found:
            raise FollowingError(found)

    def _plain_among(self, terms: Ids, step: GroupStep) -> set[int]:
        asked = set(np.unique(terms).tolist())
        known = {term for term in asked if term in step.plain}
        return known | self._plainness.plain(asked - known, step.change)

    def _tracing(self, step: GroupStep, rules: Sequence[Rule]) -> Tracing:
        bound = self._engine.proofs(rules)
        return Tracing(bound, self._plainness.same_as, self._groups, self._assertions, step)


def large_components(pairs: Ids, fewest: int) -> Iterator[Ids]:
    """The pairs of each component that has so many members."""
    members, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)
    labels = _labels(len(members), ends.astype(np.int32))
    sizes = np.bincount(labels, minlength=len(members))
    of_pairs = labels[ends[:, 0]]
    for label in np.flatnonzero(sizes >= fewest).tolist():
        yield pairs[of_pairs == label]


def _labels(count: int, ends: Ids) -> Ids:
    """For each member the least one that it is connected with."""
    labels = np.arange(count)
    while True:
        least = labels.copy()
        np.minimum.at(least, ends[:, 0], labels[ends[:, 1]])
        np.minimum.at(least, ends[:, 1], labels[ends[:, 0]])
        least = least[least]
        if (least == labels).all():
            return labels.astype(np.int32)
        labels = least


def spanning(pairs: Ids, groups: Groups) -> Iterator[Pair]:
    """Pairs that connect what these pairs connect and is not yet; a chain where there can be one.

    In a chain few equalities rest on one fact.
    """
    members, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)
    leaders = {term: found[0] for found in groups.connected(members.tolist()) for term in found}
    missing = len({leaders[term] for term in members.tolist()}) - 1
    for x, y in _near_first(pairs, np.abs(ends[:, 0] - ends[:, 1])):
        if not missing:
            return
        one, other = _leader(x, leaders), _leader(y, leaders)
        if one != other:
            leaders[one] = other
            missing -= 1
            yield x, y


def _near_first(pairs: Ids, distances: Ids) -> Iterator[Pair]:
    """Pairs by distance; those of neighbours, which are mostly enough, without sorting others."""
    are_near = distances == 1
    for x, y in pairs[are_near].tolist():
        yield x, y
    rest = pairs[~are_near][np.argsort(distances[~are_near], kind="stable")]
    for x, y in rest.tolist():
        yield x, y


def _leader(term: int, leaders: dict[int, int]) -> int:
    while leaders[term] != term:
        leaders[term] = leaders[leaders[term]]
        term = leaders[term]
    return term


@dataclass
class Tracing:
    """Traces proofs of equalities to what was asserted, in the middle of a change."""

    rules: BoundRules
    same_as: int
    groups: Groups
    assertions: MemberAssertions
    step: GroupStep
    _forgotten: frozenset[Row] = frozenset()
    _images: dict[Row, Row] = field(default_factory=dict)
    _imaged: set[EqualGroup] = field(default_factory=set)
    _parts: dict[Node, Support | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._forgotten = frozenset(self.step.forgotten)

    def supports(self, pairs: Iterable[Pair]) -> dict[Pair, Support]:
        """What these equalities rest on; those are left out that have no proof of the kind."""
        found = {}
        for x, y in pairs:
            support = self._support(x, y)
            if support is not None:
                found[min(x, y), max(x, y)] = support
        return found

    def _support(self, x: int, y: int) -> Support | None:
        """What an equality rests on: at best a rule about other facts, else any proof."""
        fact = x, self.same_as, y
        for premises, rule in self._direct(fact):
            parts = [part for node in premises if (part := self._part(node)) is not None]
            if len(parts) == len(premises):
                return _joined([Support(frozenset(), frozenset([rule]), frozenset()), *parts])
        return self._traced(proof_of(self.rules, TRIPLES, fact))

    def _direct(self, fact: Row) -> Iterator[tuple[tuple[Node, ...], Rule]]:
        """Instances that conclude an equality from facts that are none, of each rule the first."""
        for body in self.rules.concluding(TRIPLES, fact):
            if isinstance(body, BoundBody) and not _has_negation(body):
                premises = self.rules.first(body, fact)
                if premises and not any(self._is_equality(node) for node in premises):
                    yield premises, body.rule.key()

    def _is_equality(self, node: Node) -> bool:
        return node[0] == TRIPLES and self.rules.lookup.fact(*node)[1] == self.same_as

    def _part(self, node: Node) -> Support | None:
        if node not in self._parts:
            proof = proof_of(self.rules, node[0], self.rules.lookup.fact(*node))
            self._parts[node] = self._traced(proof)
        return self._parts[node]

    def _traced(self, proof: Proof | None) -> Support | None:
        rules = None if proof is None else _rules_of(proof)
        if proof is None or rules is None:
            return None
        asserted: set[Asserted] = set()
        equalities: set[Pair] = set()
        for node in proof.heights:
            if node not in proof.instances:
                self._trace(node[0], self.rules.lookup.fact(*node), asserted, equalities)
        return Support(frozenset(asserted), rules, frozenset(equalities))

    def _trace(
        self, relation: int, fact: tuple[int, ...], asserted: set[Asserted], equalities: set[Pair]
    ) -> None:
        """What it rests on that the engine was given this fact."""
        if relation != TRIPLES:
            asserted.add((len(fact), *fact))
            return
        row: Row = fact[0], fact[1], fact[2]
        if row[1] == self.same_as and row[0] != row[2]:
            self._follow(row[0], row[2], asserted, equalities)
            return
        assertion = self._assertion(row)
        asserted.add((TRIPLES, *assertion))
        for member, stand_in in zip(assertion, row, strict=True):
            if member != stand_in:
                self._follow(member, stand_in, asserted, equalities)

    def _assertion(self, row: Row) -> Row:
        """A fact about members that the engine was given this fact for."""
        if not is_special(row, self.step.plain):
            return row
        if not self._images:
            self._note_images(self.step.remembered)
        for term in row:
            group = self.step.plain.get(term)
            if group is not None and group not in self._imaged:
                self._imaged.add(group)
                asserted = self.assertions.of(group.plain)
                self._note_images(each for each in asserted if each not in self._forgotten)
        return self._images[row]

    def _note_images(self, rows: Iterable[Row]) -> None:
        for row in rows:
            shown = image(row, self.step.plain)
            if shown == row or shown not in self._images:
                self._images[shown] = row

    def _follow(self, start: int, end: int, asserted: set[Asserted], equalities: set[Pair]) -> None:
        """What it rests on that two things are known to be the same."""
        for x, y in pairwise(self.groups.path(start, end)):
            if (x, y) in self.groups.asserted:
                asserted.add((TRIPLES, x, self.same_as, y))
            elif (y, x) in self.groups.asserted:
                asserted.add((TRIPLES, y, self.same_as, x))
            else:
                equalities.add((min(x, y), max(x, y)))


def _rules_of(proof: Proof) -> frozenset[Rule] | None:
    """The rules of a proof, or None if it needs something not to be."""
    bodies = [instance.body for instance in proof.instances.values()]
    if any(not isinstance(body, BoundBody) or _has_negation(body) for body in bodies):
        return None
    return frozenset(body.rule.key() for body in bodies)


def _has_negation(body: BoundBody) -> bool:
    return any(isinstance(check, Negation) for check in body.checks)


def _joined(parts: Sequence[Support]) -> Support:
    return Support(
        frozenset().union(*(part.asserted for part in parts)),
        frozenset().union(*(part.rules for part in parts)),
        frozenset().union(*(part.equalities for part in parts)),
    )
