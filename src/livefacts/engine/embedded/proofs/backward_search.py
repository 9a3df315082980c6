"""Backward search: why a fact holds, found by looking backward through the rules over stored facts.

An asserted fact has height 0.  A rule instance gives its conclusion a height of one more than
the highest of its positive premises; an aggregate is as high as the highest fact it ranges
over.  The height of a fact is the least that any instance gives it, and so proofs chosen by
least height have no cycles.

The search goes backward in layers of distance from the fact, each fact visited once, while
heights run forward from asserted facts.  A proof of height h uses facts at distance less than h
only; so once the layers below h - 1 are visited, no lower proof can turn up, and every proof
inside the one that was found is a lowest one, too.  Among equally high proofs the one with
fewer steps is taken, as far as both were seen.

Where facts have very many derivations, as in a dense graph that is closed, ruling out every
lower proof can cost too much.  Then the search ends early, with a proof that may be higher:
it follows instances with one fact to prove first, and looks at few instances per fact.

Nothing is kept for proofs between changes, and the rules are the plain ones: the
single-triple path and the transitive module store the same facts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

from livefacts.engine.embedded.proofs.body_matches import BoundBody, Env, pattern_of
from livefacts.engine.embedded.proofs.lookups import NOWHERE, Fact, Lookup, TermIds, name_column
from livefacts.language.formula import Aggregate, PredicateAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.normal_form import with_whole_bodies
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.dictionary import Dictionary

Node: TypeAlias = tuple[int, int]
"""A stored fact: its relation and its row."""
FAR = 1 << 60
"""The distance of all facts in a hurried search."""
WIDTH = 1_000
"""Instances of one rule for one fact that are looked at."""
MOST_ROWS = 1_000
"""Rows of a group that are proved."""
BUDGET = 10_000
"""Instances after which any proof will do."""
HURRY = 16
"""The same in a hurried search; so many times more where these prove nothing."""
DETOUR = 4
"""How much farther away a fact is, in a hurried search, when others are to be proved with it."""
ENOUGH = 100
"""Instances up to which the search goes on for fewer steps when the height is known."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One way to conclude a fact: a rule, the bindings, and the facts it rests on.

    An instance of an aggregate has no bindings: its premises are the rows of its group.
    """

    body: BoundBody | GroupTotal
    env: Env
    premises: tuple[Node, ...]
    weight: int
    is_partial: bool = False
    """Whether the group has more rows than were taken."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A fact, and for it and all facts below it the instance that concludes each.

    A fact without an instance was asserted.  `is_smallest` is False where the search ended
    before every lower proof was ruled out.
    """

    root: Node
    instances: dict[Node, Instance]
    heights: dict[Node, int]
    is_smallest: bool


class GroupTotal:
    """An aggregate in normal form: values of groups, from the rows of a hidden predicate."""

    def __init__(self, rule: Rule, lookup: Lookup, terms: TermIds) -> None:
        (aggregate,) = rule.body
        assert isinstance(aggregate, Aggregate)
        source = aggregate.body[0]
        assert isinstance(source, PredicateAtom)
        assert isinstance(rule.head, PredicateAtom)
        self.rule = rule
        self._lookup = lookup
        self._groups = len(rule.head.arguments) - 1
        self.head = pattern_of(rule.head, lookup, terms)
        self._source = pattern_of(source, lookup, terms)

    def rows(self, fact: Fact) -> tuple[Node, ...]:
        """The rows of the group that a value is of."""
        group = fact[1 : 1 + self._groups]
        known = ((0, self._source_name), *enumerate(group, 1))
        rows = self._lookup.matching(self._source.relation, tuple(known))
        return tuple((self._source.relation, row) for row in rows.tolist())

    @property
    def _source_name(self) -> int:
        name = self._source.slots[0]
        assert isinstance(name, int)
        return name


class BoundRules:
    """The rules of a program in normal form, found by the facts that they can conclude."""

    def __init__(self, rules: Sequence[Rule], store: RowStore, dictionary: Dictionary) -> None:
        self.lookup = Lookup(store)
        self.terms = TermIds(dictionary)
        self._by_head: dict[tuple[int, int | None], list[BoundBody | GroupTotal]] = {}
        for rule in with_whole_bodies(rules):
            bound = self._bound(rule)
            relation = bound.head.relation
            name = bound.head.slots[name_column(relation)]
            key = relation, None if isinstance(name, Variable) else name
            self._by_head.setdefault(key, []).append(bound)

    def _bound(self, rule: Rule) -> BoundBody | GroupTotal:
        is_total = isinstance(rule.body[0], Aggregate)
        return (GroupTotal if is_total else BoundBody)(rule, self.lookup, self.terms)

    def concluding(self, relation: int, fact: Fact) -> list[BoundBody | GroupTotal]:
        """The rules whose heads could be this fact."""
        name = fact[name_column(relation)]
        found = self._by_head.get((relation, name), []) + self._by_head.get((relation, None), [])
        return [rule for rule in found if len(rule.head.slots) == len(fact)]

    def instances(self, node: Node, width: int) -> Iterator[Instance | None]:
        """The ways to conclude a fact; None where a rule has more than `width` of them."""
        fact = self.lookup.fact(*node)
        for rule in self.concluding(node[0], fact):
            if isinstance(rule, GroupTotal):
                rows = rule.rows(fact)
                yield Instance(rule, {}, rows[:MOST_ROWS], 0, len(rows) > MOST_ROWS)
                continue
            for number, env in enumerate(rule.solutions(fact)):
                if number == width:
                    yield None
                    break
                yield self._instance(rule, env)

    def _instance(self, body: BoundBody, env: Env) -> Instance:
        premises = self._premises(body, env)
        return Instance(body, env, premises, 0 if is_inner(body.rule) else 1)

    def _premises(self, body: BoundBody, env: Env) -> tuple[Node, ...]:
        nodes = (
            (atom.relation, self.lookup.row_of(atom.relation, atom.fact(env)))
            for atom in body.atoms
        )
        return tuple(dict.fromkeys(nodes))

    def first(self, body: BoundBody, fact: Fact) -> tuple[Node, ...] | None:
        """The premises of the first instance of a rule that concludes a fact."""
        for env in body.solutions(fact):
            return self._premises(body, env)
        return None


def is_inner(rule: Rule) -> bool:
    """Whether a rule in normal form only collects the rows or values of an aggregate."""
    head = rule.head
    return isinstance(head, PredicateAtom) and head.name.startswith(
        ("_rows:", "_groups:", "_values:")
    )


def prove(rules: BoundRules, shape: int, fact: Fact) -> Proof | None:
    """A lowest proof of a fact, or None if it does not hold."""
    relation = rules.lookup.relation(shape)
    if relation == NOWHERE or not rules.lookup.row_of(relation, fact):
        return None
    proof = proof_of(rules, relation, fact)
    assert proof is not None, f"no rule concludes the stored fact {fact}"
    return proof


def proof_of(rules: BoundRules, relation: int, fact: Fact) -> Proof | None:
    """A lowest proof of a stored fact, or None while a change has not concluded it yet."""
    root = relation, rules.lookup.row_of(relation, fact)
    search = Search(rules, root, WIDTH)
    if search.run():
        return search.proof()
    width = HURRY
    while True:
        search = Search(rules, root, width)
        if search.hurry():
            return search.proof()
        if not search.is_cut:
            return None
        width *= HURRY


@dataclass
class Search:
    """One search for a proof: `run` for a lowest one, `hurry` for any."""

    rules: BoundRules
    root: Node
    width: int
    _labels: dict[Node, tuple[int, int]] = field(default_factory=dict)
    """Height and number of steps of the best proof so far."""
    _best: dict[Node, Instance] = field(default_factory=dict)
    _users: dict[Node, list[tuple[Node, Instance]]] = field(default_factory=dict)
    _reached: set[Node] = field(default_factory=set)
    _next: list[Node] = field(default_factory=list)
    _looked: int = 0
    _cut_at: float = math.inf
    """The least distance of a fact whose instances were not all looked at."""
    _is_partial: bool = False
    _ended_early: bool = False

    def run(self) -> bool:
        """Visit layer after layer until the fact has a lowest proof; whether it has one."""
        self._reach(self.root)
        depth = 0
        while self._next and not self._is_settled(depth + 1):
            layer, self._next = self._next, []
            for node in layer:
                self._expand(node, depth)
                if self._may_stop(depth):
                    break
            depth += 1
        return self.root in self._labels

    def hurry(self) -> bool:
        """Look for any proof, first along instances with at most one fact to prove."""
        self._ended_early = True
        self._reach(self.root)
        queue = [(0, node) for node in self._next]
        seen: set[Node] = set()
        while queue and self.root not in self._labels:
            cost, node = heappop(queue)
            if node in seen:
                continue
            seen.add(node)
            self._next = []
            for instance in self._expand(node, FAR):
                waiting = [p for p in instance.premises if p not in self._labels]
                if len(waiting) == 1 and not self._is_inner(waiting[0]):
                    heappush(queue, (cost + 1, waiting[0]))
            for premise in self._next:
                heappush(queue, (cost + DETOUR, premise))
        return self.root in self._labels

    def proof(self) -> Proof:
        """What was found, below the fact that was asked for."""
        chosen: dict[Node, Instance] = {}
        heights: dict[Node, int] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node in heights:
                continue
            heights[node] = self._labels[node][0]
            if node in self._best:
                chosen[node] = self._best[node]
                waiting.extend(chosen[node].premises)
        is_smallest = self._is_settled(self._cut_at + 1) and not self._ended_early
        return Proof(self.root, chosen, heights, is_smallest and not self._is_partial)

    @property
    def is_cut(self) -> bool:
        """Whether a wider search could find more."""
        return self._cut_at < math.inf

    def _is_settled(self, height: float) -> bool:
        return self.root in self._labels and self._labels[self.root][0] <= height

    def _may_stop(self, depth: int) -> bool:
        """Whether a lowest proof is there, or the search has cost too much for one that is."""
        if self._looked > BUDGET and depth < FAR:
            self._ended_early = not self._is_settled(depth + 1)
            self._next = []
            return True
        return self._looked > ENOUGH and self._is_settled(depth + 1)

    def _reach(self, node: Node, depth: int = -1) -> None:
        if node in self._reached:
            return
        self._reached.add(node)
        if self.rules.lookup.is_asserted(*node):
            self._labels[node] = (0, 1)
        elif self._is_inner(node):
            self._expand(node, depth)
        else:
            self._next.append(node)

    def _is_inner(self, node: Node) -> bool:
        fact = self.rules.lookup.fact(*node)
        return any(is_inner(rule.rule) for rule in self.rules.concluding(node[0], fact))

    def _expand(self, node: Node, depth: int) -> list[Instance]:
        """Look at the instances that conclude a fact, and reach for their premises."""
        looked_at = []
        for instance in self.rules.instances(node, self.width):
            if instance is None:
                self._cut_at = min(self._cut_at, depth)
                continue
            self._looked += 1
            looked_at.append(instance)
            self._is_partial |= instance.is_partial
            for premise in instance.premises:
                self._users.setdefault(premise, []).append((node, instance))
                self._reach(premise, depth)
            if self._offer(node, instance):
                self._spread(node)
            if self._may_stop(depth):
                break
        return looked_at

    def _offer(self, node: Node, instance: Instance) -> bool:
        """Take the instance if it is the best so far and its premises are proved."""
        labels = [self._labels[p] for p in instance.premises if p in self._labels]
        if len(labels) < len(instance.premises):
            return False
        height = instance.weight + max(height for height, _ in labels)
        label = height, 1 + sum(size for _, size in labels)
        if node in self._labels and self._labels[node] <= label:
            return False
        self._labels[node], self._best[node] = label, instance
        return True

    def _spread(self, node: Node) -> None:
        """A fact has a better proof: so may have all that rests on it."""
        waiting = [(self._labels[node], node)]
        while waiting:
            _, premise = heappop(waiting)
            for head, instance in self._users.get(premise, ()):
                if self._offer(head, instance):
                    heappush(waiting, (self._labels[head], head))
