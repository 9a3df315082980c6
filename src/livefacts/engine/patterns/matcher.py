"""The matcher: the answers of a graph pattern, followed triple by triple.

A matcher takes the triples that come and go, and gives the answers that come and go with them.
It keeps no graph, only what its patterns need: bits for stars, the triples that fit for
what must be joined.  A triple that comes though it is there, or goes though it is not,
changes nothing.

Parts of the pattern that share no variable are followed on their own.  The product of their
answers is made only when it is read; its change is

    dA x B + A' x dB        with A' as A is after its change

Paper: Gergatsoulis and Damigos, sections 4 to 6; Algorithm 3 is the product of stars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.patterns.connected_parts import JoinMatcher
from livefacts.engine.patterns.projection import Distinct, PartMatcher, Projected, Signs
from livefacts.engine.patterns.signed_rows import Factored, SignedRows
from livefacts.engine.patterns.stars import StarMatcher
from livefacts.language.formula import TripleAtom, Variable, variables_of
from livefacts.model.facts import Term
from livefacts.plan.continuous.decomposition import Part, Shape, decompose

Encode = Callable[[Term], int]


class Matcher:
    """Follows the answers of triple patterns.

    `variables` names the columns of the rows: those that are `selected`, or all in the order
    of the patterns.  With `distinct`, every row is reported once, however often it is found.
    """

    def __init__(
        self,
        patterns: Sequence[TripleAtom],
        encode: Encode,
        selected: Sequence[Variable] | None = None,
        distinct: bool = False,
    ) -> None:
        found = (v for pattern in patterns for v in variables_of(pattern))
        self.variables = tuple(dict.fromkeys(found) if selected is None else selected)
        self.parts = decompose(patterns)
        wanted = frozenset(self.variables)
        # The answers of a part are read whenever another part changes.
        listed = len(self.parts) > 1
        self.matchers = tuple(
            _matcher(part, encode, wanted, distinct, listed) for part in self.parts
        )
        columns = [v for part in self.parts for v in part.variables if v in wanted]
        self._order = tuple(columns.index(v) for v in self.variables)
        self._nothing = Factored((), self._order)

    def apply(self, added: Ids, removed: Ids) -> SignedRows:
        """The answers that come and go when triples go, and then others come."""
        triples = np.ascontiguousarray(np.concatenate([removed, added]), np.int32)
        signs = np.ones(len(triples), np.int32)
        signs[: len(removed)] = -1
        return self.change(triples, signs).expanded()

    def change(self, triples: Ids, signs: Signs) -> Factored:
        """The same for triples that come (1) and go (-1) in their order, not multiplied out."""
        if len(self.matchers) == 1:
            change = self.matchers[0].change(triples, signs)
            return Factored(((change,),), self._order) if change else self._nothing
        terms = []
        for matcher in self.matchers:
            # Parts before this one are as they are now, those behind it as they were.
            change = matcher.change(triples, signs)
            if change and all(other.count for other in self.matchers if other is not matcher):
                terms.append([change if m is matcher else m.rows() for m in self.matchers])
        return Factored(tuple(terms), self._order) if terms else self._nothing

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        return self.factored().expanded()

    def factored(self) -> Factored:
        """The same, not multiplied out."""
        if self.count == 0:
            return self._nothing
        return Factored(([matcher.rows() for matcher in self.matchers],), self._order)

    @property
    def count(self) -> int:
        """How many answers there are, each as often as it is found."""
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


def _matcher(
    part: Part, encode: Encode, wanted: frozenset[Variable], distinct: bool, listed: bool
) -> PartMatcher:
    numbers = {variable: ~number for number, variable in enumerate(part.variables)}
    slots = [
        [numbers[s] if isinstance(s, Variable) else encode(s) for s in pattern.slots]
        for pattern in part.patterns
    ]
    patterns = np.array(slots, np.int32).reshape(-1, 3)
    connected = part.shape is Shape.CONNECTED
    width = len(part.variables)
    whole = JoinMatcher(patterns, width) if connected else StarMatcher(patterns, listed)
    columns = [number for number, v in enumerate(part.variables) if v in wanted]
    if len(columns) == len(part.variables):
        return whole
    return Distinct(whole, columns) if distinct else Projected(whole, columns)
