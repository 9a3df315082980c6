"""Groups (equivalence classes): things that are the same, and the two of each that stand for it.

A group is what owl:sameAs connects, asserted or proven.  Its *plain* members are those that
nothing tells apart; where there are more than two of them, the first two stand in for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from livefacts.language.checks.components import shortest_path
from livefacts.service.merging.equality_support import Pair, Resting, Support

RETRACTED, ELSEWHERE, HERE = 0, 1, 2
"""How a fact is asserted: not at all, by named graphs alone, or in the default graph."""
FEWEST = 3
"""So many plain members make a group worth merging."""


@dataclass(frozen=True, slots=True)
class EqualGroup:
    """A merged group: its plain members, the two stand-ins first, and its other members."""

    plain: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def stand_ins(self) -> Pair:
        return self.plain[0], self.plain[1]

    def links(self) -> Iterator[Pair]:
        """The equalities that the engine is given of the group in place of all others."""
        first, second = self.stand_ins
        yield first, second
        yield from ((first, other) for other in self.others)


class Groups:
    """The equalities that are known, and the merged groups among what they connect."""

    def __init__(self) -> None:
        self.asserted: dict[Pair, int] = {}
        self.proven: dict[Pair, Support] = {}
        """Equalities that follow, the smaller term first, and what each rests on."""
        self.resting = Resting()
        self._near: dict[int, set[int]] = {}
        self.of: dict[int, EqualGroup] = {}
        """The merged group of each of its members."""
        self.plain: dict[int, EqualGroup] = {}
        """The same, for plain members alone."""

    # equalities

    def tell(self, states: Mapping[Pair, int]) -> dict[Pair, int]:
        """Set how equalities are asserted; how they were asserted before."""
        before = {pair: self.asserted.get(pair, RETRACTED) for pair in states}
        for pair, state in states.items():
            if state:
                self.asserted[pair] = state
                self._connect(*pair)
            elif self.asserted.pop(pair, RETRACTED):
                self._disconnect(*pair)
        return before

    def prove(self, lost: Mapping[Pair, Support], found: Mapping[Pair, Support]) -> None:
        """Let equalities go whose proofs have, and take others that are proven."""
        self.resting.replace(lost, found)
        for pair in lost:
            del self.proven[pair]
            self._disconnect(*pair)
        for pair, support in found.items():
            self.proven[pair] = support
            self._connect(*pair)

    def _connect(self, x: int, y: int) -> None:
        self._near.setdefault(x, set()).add(y)
        self._near.setdefault(y, set()).add(x)

    def _disconnect(self, x: int, y: int) -> None:
        if self.is_asserted(x, y) or (min(x, y), max(x, y)) in self.proven:
            return
        for here, there in ((x, y), (y, x)):
            self._near[here].discard(there)
            if not self._near[here]:
                del self._near[here]

    def connected(self, starts: Iterable[int]) -> Iterator[list[int]]:
        """What is connected with each of these, each component once."""
        met: set[int] = set()
        for start in starts:
            if start in met:
                continue
            met.add(start)
            found, waiting = [start], [start]
            while waiting:
                new = self._near.get(waiting.pop(), set()) - met
                met |= new
                found += new
                waiting += new
            yield found

    def is_asserted(self, x: int, y: int) -> bool:
        """Whether two things are asserted to be the same, whichever way round."""
        return (x, y) in self.asserted or (y, x) in self.asserted

    def path(self, start: int, end: int) -> list[int]:
        """A shortest way from one thing to another along equalities that are known."""
        return shortest_path(start, end, self._near.__getitem__)

    def pairs_of(self, terms: Iterable[int]) -> Iterator[Pair]:
        """The asserted equalities of these terms."""
        for x in terms:
            for y in self._near.get(x, ()):
                if (x, y) in self.asserted:
                    yield x, y
                if (y, x) in self.asserted:
                    yield y, x

    def is_alone(self, term: int) -> bool:
        """Whether a term is not known to be the same as any other."""
        return term not in self._near

    def connected_terms(self) -> list[int]:
        return list(self._near)

    # groups

    def replace(self, gone: Iterable[EqualGroup], come: Iterable[EqualGroup]) -> None:
        """Let groups go and others come."""
        for group in gone:
            for term in group.plain:
                del self.of[term], self.plain[term]
            for term in group.others:
                del self.of[term]
        for group in come:
            self.of.update(dict.fromkeys(group.plain + group.others, group))
            self.plain.update(dict.fromkeys(group.plain, group))

    def grouped(self, members: list[int], plain: set[int]) -> EqualGroup | None:
        """The group of connected members, if it is to be merged; old stand-ins stay if they can."""
        if len(plain) < FEWEST:
            return None
        standing = {self.plain[term] for term in plain if term in self.plain}
        largest = sorted(standing, key=lambda group: (-len(group.plain), group.plain))
        stand_ins = [term for group in largest for term in group.stand_ins if term in plain][:2]
        rest = sorted(plain.difference(stand_ins))
        others = sorted(term for term in members if term not in plain)
        return EqualGroup((*stand_ins, *rest), tuple(others))


def stand_in(term: int, plain: Mapping[int, EqualGroup]) -> int:
    """Who stands in for a term."""
    group = plain.get(term)
    return term if group is None or term in group.stand_ins else group.plain[0]
