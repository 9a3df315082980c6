"""The contract of engines: changes in, deltas of ids out, and the laws that hold for all of them.

This is the only door between the service and the engines.  An engine keeps facts and what
follows from them; whoever uses it gives it a `Change`, gets an `IdDelta`, and asks what holds.

A shape is `TRIPLES`, or one more than the arity of a predicate; its facts are rows of ids, the
predicate's own first.  How a fact stands is a few bits: whether it `HOLDS`, whether anyone has
`ASSERTED` it, and whether the default graph has (`IN_DEFAULT`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.plan.rules.operators import Plan
from livefacts.store.facts import bits, row_store
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]
Facts = dict[int, Ids]
"""Facts by shape."""

TRIPLES = row_store.TRIPLES
"""The shape of triples."""
HOLDS = bits.LIVE
ASSERTED = bits.ASSERTED
IN_DEFAULT = bits.IN_DEFAULT

COUNTING_DRED, DRED, COUNTING, RECOMPUTE = "counting-dred", "dred", "counting", "recompute"
MAINTENANCE = (COUNTING_DRED, DRED, COUNTING, RECOMPUTE)
"""The ways to keep conclusions in step with a change."""

NO_FACTS: Mapping[int, Ids] = MappingProxyType({})
NO_TRIPLES = np.zeros((0, 3), np.int32)


@dataclass(frozen=True, slots=True)
class Change:
    """What is asserted and retracted, by shape; what others than the default graph assert, apart.

    `others` are facts that a named graph or a stream asserts.  `retracted` are facts that the
    default graph no longer asserts, nor anyone else; `unmarked` those that the default graph no
    longer asserts, but another does; `unnamed` those that others no longer assert.  Removals
    come before additions.  With a `plan`, its rules take the place of those that were followed.
    """

    facts: Facts = field(default_factory=dict)
    others: Facts = field(default_factory=dict)
    retracted: Facts = field(default_factory=dict)
    unmarked: Facts = field(default_factory=dict)
    unnamed: Facts = field(default_factory=dict)
    plan: Plan | None = None

    def triples(self) -> Ids:
        """The triples that are asserted."""
        asserted = self.facts.get(TRIPLES)
        if TRIPLES not in self.others:
            return NO_TRIPLES if asserted is None else asserted
        return joined(asserted, self.others[TRIPLES])

    def spoken(self) -> Facts:
        """All facts that it speaks of, by shape; some may be there several times."""
        every = self.facts, self.others, self.retracted, self.unmarked, self.unnamed
        parts = [facts for facts in every if facts]
        if len(parts) == 1:
            return parts[0]
        found: dict[int, list[Ids]] = {}
        for facts in parts:
            for shape, rows in facts.items():
                found.setdefault(shape, []).append(rows)
        return {shape: np.concatenate(rows) for shape, rows in found.items()}


NO_CHANGE = Change()


def joined(first: Ids | None, second: Ids | None) -> Ids:
    """Facts of one shape, where some may be missing."""
    parts = [part for part in (first, second) if part is not None and len(part)]
    if not parts:
        return NO_TRIPLES
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class IdDelta(NamedTuple):
    """The net change of what holds, by shape."""

    added: Mapping[int, Ids]
    removed: Mapping[int, Ids]
    derived: Mapping[int, Flags]
    """For each added fact, whether it was derived rather than asserted."""
    newly_derived: Mapping[int, Ids] = NO_FACTS
    """Facts, new or not, that a rule derives now and none did before."""
    newly_underived: Mapping[int, Ids] = NO_FACTS
    """Facts that no rule derives any more, gone or not."""


class LimitedEngine(Protocol):
    """What every engine can be held to, also one whose facts have times."""

    limit: int | None
    """The largest number of facts that a change may derive."""
    uncounted: frozenset[int]
    """Predicates, by id, whose facts no limit counts."""

    @property
    def dictionary(self) -> Dictionary: ...


class RuleTally(NamedTuple):
    """What rules have looked at, found and cost; several are followed together by single triples."""

    rules: tuple[str, ...]
    looked_at: int
    instances: int
    new: int
    seconds: float


class Engine(Protocol):
    """Takes changes, and knows what holds after them.

    The laws, which `tests/unit/engine/test_contract.py` runs against every engine:

    - *Sum*: the facts are the sum of all deltas; a delta adds what did not hold and removes
      what did.
    - *Inverse*: a change and then its inverse leave what there was before.
    - *Trial*: a change that is not kept leaves everything as it was, and its delta is the one
      that comes when it is kept.
    - *All or nothing*: a change that fails, wherever it does, leaves everything as it was.
    - *One answer*: `facts` are those that `asserted` and `derived` share out between them, and
      `rows`, `holds` and `standing` say the same of each.

    Facts of hidden predicates (`_…`), which only the engine's own rules speak of, are its own
    business.
    """

    before_commit: Callable[[IdDelta], None]
    """Hears what a change does when all of it is done and nothing is final; may refuse it by
    an error.  While it is called, the engine answers for what holds after the change."""

    @property
    def dictionary(self) -> Dictionary: ...

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive."""
        ...

    def beside(self) -> Engine:
        """Another one under the same rules, in which nothing is asserted yet."""
        ...

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change, all of it or nothing; the net change of what holds.

        Unless it is to be kept, nothing happens: the delta is what would have happened.
        """
        ...

    def shapes(self) -> Iterable[int]:
        """The shapes of which there may be facts."""
        ...

    def rows(self, shape: int, derived: bool | None = None, names: KnownNames | None = None) -> Ids:
        """The facts of a shape: all, only conclusions, or only what was asserted.

        With `names`, of the facts of predicates only those whose names are looked at.
        """
        ...

    def facts(self) -> Facts:
        """Everything that holds, by shape."""
        ...

    def asserted(self) -> Facts:
        """The facts that were asserted, by shape."""
        ...

    def derived(self) -> Facts:
        """The conclusions: what holds and was not asserted, by shape."""
        ...

    def holds(self, shape: int, fact: Ids) -> bool:
        """Whether a fact holds."""
        ...

    def standing(self, shape: int, rows: Ids) -> Ids:
        """How facts stand, as bits: `HOLDS`, `ASSERTED`, `IN_DEFAULT`, and others that are the
        engine's own; 0 for a fact that does not hold."""
        ...

    def held_ids(self) -> Iterable[Ids]:
        """The ids of all that is kept."""
        ...

    def figures(self) -> Mapping[str, int | str]:
        """What is kept and how, in figures by name."""
        ...
