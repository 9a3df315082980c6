"""Matching: the answers of a graph pattern, followed triple by triple.

A matcher is told which triples come and go, and tells which answers come and go with them.
It keeps no graph, only what its patterns need: bits for stars, the triples that fit for
what must be joined.  A triple that comes though it is there, or goes though it is not,
changes nothing.

Parts of the pattern that share no variable are followed on their own.  The product of their
answers is made only when it is read; its change is

    dA x B + A' x dB        with A' as A is after its change

Paper: Gergatsoulis and Damigos, sections 4 to 6; Algorithm 3 is the product of stars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.matchjoins import JoinMatcher
from livefacts.engine.embedded.matchstars import StarMatcher
from livefacts.engine.embedded.signedrows import SignedRows, added_up, no_rows, product
from livefacts.model.facts import Term
from livefacts.plan.decompose import Part, Shape, decompose
from livefacts.rules.formula import TripleAtom, Variable, variables_of

Encode = Callable[[Term], int]
Signs = NDArray[np.int32]
ONE_EMPTY_ROW = SignedRows(np.empty((1, 0), np.int32), np.ones(1, np.int64))


class PartMatcher(Protocol):
    """Follows one part of a pattern."""

    @property
    def count(self) -> int:
        """How many answers there are."""

    @property
    def entries(self) -> int:
        """How many centres or triples are kept."""

    @property
    def nbytes(self) -> int:
        """The memory that they take."""

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The answers that come and go with triples, in their order."""

    def rows(self) -> SignedRows:
        """All answers as they are now."""

    def kept(self) -> Ids:
        """The triples that are known to be there."""


class Matcher:
    """Follows the answers of triple patterns.

    `variables` names the columns of the rows, in the order of the patterns.
    """

    def __init__(self, patterns: Sequence[TripleAtom], encode: Encode) -> None:
        found = (v for pattern in patterns for v in variables_of(pattern))
        self.variables: tuple[Variable, ...] = tuple(dict.fromkeys(found))
        self.parts = decompose(patterns)
        self.matchers = tuple(_matcher(part, encode) for part in self.parts)
        columns = [v for part in self.parts for v in part.variables]
        self._order = [columns.index(v) for v in self.variables]
        self._nothing = no_rows(len(self.variables))

    def apply(self, added: Ids, removed: Ids) -> SignedRows:
        """The answers that come and go when triples go, and then others come."""
        triples = np.ascontiguousarray(np.concatenate([removed, added]), np.int32)
        signs = np.ones(len(triples), np.int32)
        signs[: len(removed)] = -1
        return self.change(triples, signs)

    def change(self, triples: Ids, signs: Signs) -> SignedRows:
        """The same for triples that come (1) and go (-1) in their order."""
        if len(self.matchers) == 1:
            return self.matchers[0].change(triples, signs)
        changes = []
        for matcher in self.matchers:
            # Parts before this one are as they are now, those behind it as they were.
            change = matcher.change(triples, signs)
            others = [m for m in self.matchers if m is not matcher]
            if change and all(other.count for other in others):
                factors = [change if m is matcher else m.rows() for m in self.matchers]
                changes.append(self._combined(factors))
        return added_up(changes, len(self.variables)) if changes else self._nothing

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        if self.count == 0:
            return self._nothing
        return self._combined(matcher.rows() for matcher in self.matchers)

    @property
    def count(self) -> int:
        """How many answers there are."""
        count = 1
        for matcher in self.matchers:
            count *= matcher.count
        return count

    def size(self) -> int:
        """How many entries are kept."""
        return sum(matcher.entries for matcher in self.matchers)

    def kept(self) -> Ids:
        """The triples that are known to be there, each once: from them all can be made again."""
        parts = [np.empty((0, 3), np.int32), *(matcher.kept() for matcher in self.matchers)]
        return np.unique(np.concatenate(parts), axis=0)

    def _combined(self, factors: Iterable[SignedRows]) -> SignedRows:
        whole = ONE_EMPTY_ROW
        for factor in factors:
            whole = product(whole, factor)
        return SignedRows(whole.rows[:, self._order], whole.counts)


def _matcher(part: Part, encode: Encode) -> PartMatcher:
    numbers = {variable: ~number for number, variable in enumerate(part.variables)}
    slots = [
        [numbers[s] if isinstance(s, Variable) else encode(s) for s in pattern.slots]
        for pattern in part.patterns
    ]
    patterns = np.array(slots, np.int32).reshape(-1, 3)
    if part.shape is Shape.CONNECTED:
        return JoinMatcher(patterns, len(part.variables))
    return StarMatcher(patterns)
