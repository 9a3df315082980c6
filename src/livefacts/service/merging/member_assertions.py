"""Member assertions: what was asserted of the members of merged groups, and by which graphs.

The engine is given facts about stand-ins.  What was asserted of members is kept here: a fact
about a stand-in stays as long as one of the facts does that it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from livefacts.service.merging.groups import EqualGroup, stand_in

Row = tuple[int, int, int]


def is_special(row: Row, plain: Mapping[int, EqualGroup]) -> bool:
    """Whether a triple speaks of a plain member of a merged group."""
    s, p, o = row
    return s in plain or o in plain or p in plain


def image(row: Row, plain: Mapping[int, EqualGroup]) -> Row:
    """The triple with stand-ins for members."""
    s, p, o = row
    return stand_in(s, plain), stand_in(p, plain), stand_in(o, plain)


class MemberAssertions:
    """What is asserted of members, and how often each fact about stand-ins is given by that."""

    def __init__(self) -> None:
        self.states: dict[Row, int] = {}
        self.counts: Counter[Row] = Counter()
        self._of: dict[int, set[Row]] = {}

    def of(self, terms: Iterable[int]) -> Iterator[Row]:
        """What is asserted of these members; a triple that speaks of two of them twice."""
        for term in terms:
            yield from self._of.get(term, ())

    def replace(
        self,
        gone: Iterable[Row],
        come: Mapping[Row, int],
        counts: Mapping[Row, int],
    ) -> None:
        """Forget what was asserted, and remember what is asserted instead."""
        for row in gone:
            del self.states[row]
            for term in set(row):
                self._of[term].discard(row)
                if not self._of[term]:
                    del self._of[term]
        for row, state in come.items():
            self.states[row] = state
            for term in row:
                self._of.setdefault(term, set()).add(row)
        for row, count in counts.items():
            if count:
                self.counts[row] = count
            else:
                self.counts.pop(row, None)
