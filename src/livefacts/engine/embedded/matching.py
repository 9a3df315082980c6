"""Matching: the answers of a graph pattern, followed triple by triple.

A matcher is told which triples come and go, and tells which answers come and go with them.
It keeps no graph, only the triples that match one of its patterns.  A triple that comes
though it is there, or goes though it is not, changes nothing.

Parts of the pattern that share no variable are followed on their own; the change of their
product is

    dA x B + A' x dB        with A' as A is after its change

and the product itself is made only when it is read.

Paper: Gergatsoulis and Damigos, sections 4 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product as combinations

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.signedrows import SignedRows, added_up, consolidated, product
from livefacts.model.facts import Term
from livefacts.plan.decompose import Part, decompose
from livefacts.rules.formula import TripleAtom, Variable, variables_of

Encode = Callable[[Term], int]
IdTriple = tuple[int, ...]


class Matcher:
    """Follows the answers of triple patterns.

    `variables` names the columns of the rows, in the order of the patterns.
    """

    def __init__(self, patterns: Sequence[TripleAtom], encode: Encode) -> None:
        found = (v for pattern in patterns for v in variables_of(pattern))
        self.variables: tuple[Variable, ...] = tuple(dict.fromkeys(found))
        self.parts = tuple(PartMatcher(part, encode) for part in decompose(patterns))
        columns = [v for part in self.parts for v in part.part.variables]
        self._order = [columns.index(v) for v in self.variables]

    def apply(self, added: Ids, removed: Ids) -> SignedRows:
        """The answers that come and go when triples go, and then others come."""
        changes = []
        for number, part in enumerate(self.parts):
            # Parts before this one are as they are now, those behind it as they were.
            change = part.apply(added, removed)
            if change:
                factors = [other.rows() for other in self.parts]
                factors[number] = change
                changes.append(self._combined(factors))
        return added_up(changes, len(self.variables))

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        return self._combined([part.rows() for part in self.parts])

    def size(self) -> int:
        """How many entries are kept."""
        return sum(part.size() for part in self.parts)

    def _combined(self, factors: Iterable[SignedRows]) -> SignedRows:
        whole = SignedRows(np.empty((1, 0), np.int32), np.ones(1, np.int64))
        for factor in factors:
            whole = product(whole, factor)
        return SignedRows(whole.rows[:, self._order], whole.counts)


class PartMatcher:
    """Follows one part: joins the triples that match its patterns."""

    def __init__(self, part: Part, encode: Encode) -> None:
        self.part = part
        numbers = {variable: ~number for number, variable in enumerate(part.variables)}
        self._patterns = [
            tuple(numbers[s] if isinstance(s, Variable) else encode(s) for s in pattern.slots)
            for pattern in part.patterns
        ]
        self._triples: list[dict[IdTriple, None]] = [{} for _ in self._patterns]

    def apply(self, added: Ids, removed: Ids) -> SignedRows:
        """The answers that come and go."""
        rows: list[tuple[int, ...]] = []
        counts: list[int] = []
        for triples, sign in ((removed, -1), (added, 1)):
            for triple in map(tuple, triples.tolist()):
                found = list(self._change(triple, sign))
                rows += found
                counts += [sign] * len(found)
        return consolidated(self._signed(rows, counts))

    def _signed(self, rows: Sequence[tuple[int, ...]], counts: Sequence[int]) -> SignedRows:
        shape = (len(rows), len(self.part.variables))
        return SignedRows(np.array(rows, np.int32).reshape(shape), np.array(counts, np.int64))

    def _change(self, triple: IdTriple, sign: int) -> Iterator[tuple[int, ...]]:
        fitting = [i for i, p in enumerate(self._patterns) if _unified(p, triple, {}) is not None]
        for i in fitting:
            if (triple in self._triples[i]) is (sign > 0):
                return
        for i in fitting:
            if sign > 0:
                yield from self._answers({i: [triple]})
                self._triples[i][triple] = None
            else:
                del self._triples[i][triple]
                yield from self._answers({i: [triple]})

    def _answers(self, given: dict[int, list[IdTriple]]) -> Iterator[tuple[int, ...]]:
        lists = [given.get(i, list(known)) for i, known in enumerate(self._triples)]
        for chosen in combinations(*lists):
            terms: dict[int, int] | None = {}
            for pattern, triple in zip(self._patterns, chosen, strict=True):
                terms = _unified(pattern, triple, terms) if terms is not None else None
            if terms is not None:
                yield tuple(terms[~number] for number in range(len(self.part.variables)))

    def rows(self) -> SignedRows:
        """All answers as they are now."""
        found = list(self._answers({}))
        return self._signed(found, [1] * len(found))

    def size(self) -> int:
        """How many triples are kept, each as often as it matches."""
        return sum(map(len, self._triples))


def _unified(pattern: IdTriple, triple: IdTriple, terms: dict[int, int]) -> dict[int, int] | None:
    """The terms with those that make the pattern this triple, or None."""
    found = dict(terms)
    for slot, value in zip(pattern, triple, strict=True):
        known = slot if slot >= 0 else found.setdefault(slot, value)
        if known != value:
            return None
    return found
