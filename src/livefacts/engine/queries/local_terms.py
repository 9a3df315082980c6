"""Local terms: those of the facts by their ids, and those that a query computes itself.

A term that a query writes or computes has the id of the dictionary, if the dictionary knows it,
and else a number below -1 that means something in this query alone.  So equal terms have equal
ids, joins need nothing else, and a query adds nothing to what the facts speak of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.engine.queries.bounds import UNBOUNDED, Bounds
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids
from livefacts.language.algebra import Parameter
from livefacts.model.facts import Term
from livefacts.store.terms.id_reader import FEW, TermReader, text_of
from livefacts.store.terms.text_table import BLANK, IRI, LITERAL, SYMBOL, TRIPLE

FIRST_OWN = -2
NO_KIND = 255
AT_ONCE = 4096
"""After so many terms the clock is looked at."""
OWN_KINDS: dict[type, int] = {NamedNode: IRI, BlankNode: BLANK, Literal: LITERAL, Triple: TRIPLE}


class QueryTerms:
    """The terms that one query speaks of."""

    def __init__(
        self, known: TermReader, constants: Sequence[Term] = (), bounds: Bounds = UNBOUNDED
    ) -> None:
        """`constants` are those that parameters of the query stand for."""
        self._constants = constants
        self._bounds = bounds
        self._known = known
        self._finder = known.finder()
        self._own: list[Term] = []
        self._ids: dict[Term, int] = {}
        self.computed_bytes = 0
        """How much text the terms have that the dictionary does not know."""

    @property
    def numbers(self) -> int:
        """The ids of the facts are below this, unless they are inline integers."""
        return self._known.numbers

    def pause(self) -> None:
        """Look at the clock, and at how much text was computed."""
        self._bounds.pause()
        self._bounds.hold(self.computed_bytes)

    @property
    def epoch(self) -> int:
        """The ids of a query never mean other terms than before."""
        return 0

    def encode_one(self, term: Term | Parameter) -> int:
        """The id of a term, or of what a parameter stands for."""
        if isinstance(term, Parameter):
            term = self._constants[term.number]
        found = self._ids.get(term)
        if found is None:
            known = self._finder.find(term)
            if known is None:
                known = FIRST_OWN - len(self._own)
                self._own.append(term)
                self.computed_bytes += len(str(term))
            found = self._ids[term] = known
        return found

    def encode(self, terms: Iterable[Term | None]) -> Ids:
        """The ids of terms; unbound where there is none."""
        ids: list[int] = []
        left = iter(terms)
        while some := list(islice(left, AT_ONCE)):
            ids += [UNBOUND if term is None else self.encode_one(term) for term in some]
            self.pause()
        return np.array(ids, np.int32)

    def decode(self, ids: Sequence[int] | Ids) -> list[Term | None]:
        """The terms of ids; None where one is unbound."""
        if len(ids) <= FEW:
            few = ids.tolist() if isinstance(ids, np.ndarray) else ids
            if min(few, default=0) >= 0:
                return list(self._known.decode(few))
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

    def kinds(self, ids: Ids) -> NDArray[np.uint8]:
        """The kinds of the terms that the dictionary knows: IRI, BLANK, LITERAL, ..."""
        return self._known.kinds(ids)

    def packed_texts(self, ids: Sequence[int] | Ids) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The texts of terms that the dictionary knows, one after the other, and their ends."""
        return self._known.packed_texts(ids)

    def are_statements(self, rows: Ids) -> Flags:
        """Which rows are triples that RDF knows."""
        subjects, predicates, values = (self._all_kinds(column) for column in rows.T)
        fits: Flags = np.isin(subjects, (IRI, BLANK)) & (predicates == IRI) & (values < NO_KIND)
        return fits

    def _all_kinds(self, ids: Ids) -> NDArray[np.uint8]:
        """The kinds of all terms, those that the query computes too; `NO_KIND` for none of RDF."""
        kinds = np.full(len(ids), NO_KIND, np.uint8)
        known = ids >= 0
        kinds[known] = self._known.kinds(np.ascontiguousarray(ids[known]))
        kinds[kinds == SYMBOL] = NO_KIND
        for at in np.flatnonzero(ids <= FIRST_OWN).tolist():
            kinds[at] = OWN_KINDS.get(type(self._own[FIRST_OWN - int(ids[at])]), NO_KIND)
        return kinds


def _objects(terms: Sequence[Term]) -> NDArray[np.object_]:
    return np.fromiter(terms, np.object_, len(terms))
