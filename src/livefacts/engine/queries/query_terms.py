"""The terms of a query: those of the facts by their ids, and those that it computes itself.

A term that a query writes or computes has the id of the dictionary, if the dictionary knows it,
and else a number below -1 that means something in this query alone.  So equal terms have equal
ids, joins need nothing else, and a query adds nothing to what the facts speak of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.queries.solutions import UNBOUND, Ids
from livefacts.model.facts import Term
from livefacts.store.terms.term_reader import TermReader, text_of

FIRST_OWN = -2


class QueryTerms:
    """The terms that one query speaks of."""

    def __init__(self, known: TermReader) -> None:
        self._known = known
        self._own: list[Term] = []
        self._ids: dict[Term, int] = {}
        self.computed_bytes = 0
        """How much text the terms have that the dictionary does not know."""

    @property
    def epoch(self) -> int:
        """The ids of a query never mean other terms than before."""
        return 0

    @property
    def numbers(self) -> int:
        """The ids of the facts are below this, unless they are inline integers."""
        return self._known.numbers

    def encode_one(self, term: Term) -> int:
        """The id of a term."""
        found = self._ids.get(term)
        if found is None:
            known = self._known.find(term)
            if known is None:
                known = FIRST_OWN - len(self._own)
                self._own.append(term)
                self.computed_bytes += len(str(term))
            found = self._ids[term] = known
        return found

    def encode(self, terms: Iterable[Term | None]) -> Ids:
        """The ids of terms; unbound where there is none."""
        ids = [UNBOUND if term is None else self.encode_one(term) for term in terms]
        return np.array(ids, np.int32)

    def decode(self, ids: Sequence[int] | Ids) -> list[Term | None]:
        """The terms of ids; None where one is unbound."""
        numbers = np.asarray(ids, np.int32)
        known = numbers >= 0
        if known.all():
            return list(self._known.decode(numbers))
        found = np.empty(len(numbers), np.object_)
        found[known] = _objects(self._known.decode(numbers[known]))
        for at in np.flatnonzero(~known).tolist():
            number = int(numbers[at])
            found[at] = None if number == UNBOUND else self._own[FIRST_OWN - number]
        terms: list[Term | None] = found.tolist()
        return terms

    def decode_one(self, number: int) -> Term | None:
        """The term of one id."""
        return self.decode([number])[0]

    def texts(self, ids: Sequence[int] | Ids) -> list[str]:
        """The texts of ids, as N-Triples writes them."""
        return ["" if term is None else text_of(term) for term in self.decode(ids)]

    def packed_texts(self, ids: Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The texts of terms that the dictionary knows, one after the other, and their ends."""
        return self._dictionary.packed_texts(ids)

    def kinds(self, ids: Ids) -> NDArray[np.uint8]:
        """The kinds of the terms that the dictionary knows: IRI, BLANK, LITERAL, ..."""
        return self._known.kinds(ids)


def _objects(terms: Sequence[Term]) -> NDArray[np.object_]:
    return np.fromiter(terms, np.object_, len(terms))
