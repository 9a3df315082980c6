"""Lookups for backward search: the stored facts that fit a pattern, and terms by id.

A pattern is looked up through the widest index on its known columns.  A large relation
gets an index on one known column where it has none; a small one is looked through.  Asserted
rows come before derived ones.

A term that no fact speaks of has no id in the dictionary; here it has a negative one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from livefacts.model.facts import Term
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_store import TRIPLES, RowStore
from livefacts.store.terms.dictionary import Dictionary

RowNumbers = NDArray[np.int64]
Fact = tuple[int, ...]
Known = tuple[tuple[int, int], ...]
"""Columns with the ids that they must have."""
NOWHERE = -1
"""The relation of facts whose shape is not stored."""
LARGE = 5_000
"""Rows from which on an index is made rather than looking through all of them."""
PIECE = 256
NO_ROWS: RowNumbers = np.zeros(0, np.int64)


class TermIds:
    """Terms and their ids, also for terms that are not stored."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._terms: dict[int, Term] = {}
        self._strangers: dict[Term, int] = {}

    def id_of(self, term: Term) -> int:
        """The id of a term; a negative one if no fact or rule speaks of it."""
        known = self._dictionary.find(term)
        if known is not None:
            return known
        number = self._strangers.setdefault(term, -1 - len(self._strangers))
        self._terms[number] = term
        return number

    def term(self, number: int) -> Term:
        """The term of an id."""
        known = self._terms.get(number)
        if known is None:
            known = self._terms[number] = self._dictionary.decode_one(number)
        return known


class Lookup:
    """The facts of one store, as they are at one moment."""

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._found: dict[tuple[int, Known], RowNumbers] = {}
        self._rows: dict[tuple[int, Fact], int] = {}

    def relation(self, shape: int) -> int:
        return self._store.relations.get(shape, NOWHERE)

    def row_of(self, relation: int, fact: Fact) -> int:
        """The row of a fact, or 0."""
        row = self._rows.get((relation, fact))
        if row is None:
            row = self._rows[relation, fact] = self._found_row(relation, fact)
        return row

    def _found_row(self, relation: int, fact: Fact) -> int:
        if relation == NOWHERE or min(fact) < 0:
            return 0
        return int(self._store.find(relation, np.array([fact], np.int32))[0])

    def is_asserted(self, relation: int, row: int) -> bool:
        return bool(self._store.cells(relation)[row, layout.FLAGS] & bits.ASSERTED)

    def fact(self, relation: int, row: int) -> Fact:
        width = self._store.width(relation)
        return tuple(
            self._store.cells(relation)[row, layout.COLUMN : layout.COLUMN + width].tolist()
        )

    def facts(self, relation: int, rows: RowNumbers) -> Iterator[Fact]:
        """The facts of these rows, read as they are asked for."""
        for first in range(0, len(rows), PIECE):
            piece = self._store.columns(relation, rows[first : first + PIECE])
            yield from map(tuple, piece.tolist())

    def names(self, relation: int) -> list[int]:
        """The predicates that facts of a relation have."""
        cells = self._store.cells(relation)
        names = cells[:, layout.COLUMN + name_column(relation)][
            cells[:, layout.FLAGS] & bits.LIVE != 0
        ]
        found: list[int] = np.flatnonzero(np.bincount(names)).tolist()
        return found

    def matching(self, relation: int, known: Known) -> RowNumbers:
        """The rows of the facts that have these ids in these columns."""
        if relation == NOWHERE or any(value < 0 for _, value in known):
            return NO_ROWS
        found = self._found.get((relation, known))
        if found is None:
            found = self._found[relation, known] = self._asserted_first(
                relation, self._looked_up(relation, known)
            )
        return found

    def _looked_up(self, relation: int, known: Known) -> RowNumbers:
        if len(known) == self._store.width(relation):
            row = self.row_of(relation, tuple(value for _, value in known))
            return np.array([row], np.int64) if row else NO_ROWS
        columns = self._indexed(relation, [column for column, _ in known])
        if not columns:
            return self._looked_through(relation, known)
        index = self._store.index(relation, columns)
        values = dict(known)
        rows = self._store.chain(relation, index, [values[column] for column in columns])
        rest = tuple(pair for pair in known if pair[0] not in columns)
        return self._filtered(relation, rows, rest)

    def _looked_through(self, relation: int, known: Known) -> RowNumbers:
        cells = self._store.cells(relation)
        fits = cells[:, layout.FLAGS] & bits.LIVE != 0
        for column, value in known[:1]:
            fits &= cells[:, layout.COLUMN + column] == value
        return self._filtered(relation, np.flatnonzero(fits), known[1:])

    def _indexed(self, relation: int, columns: list[int]) -> tuple[int, ...]:
        """The columns to look up by, or none where it is better to look through all rows.

        A subject has few facts, whatever their predicates.  An object, or the argument of a
        predicate, may have very many: there the predicate must help.
        """
        found = self._store.widest_index(relation, columns)
        assertion = [column for column in columns if column != name_column(relation)]
        if not assertion:
            return found
        is_subject = relation == TRIPLES and assertion[0] == 0
        best = (0,) if is_subject else tuple(c for c in columns if c in _named(relation, assertion))
        if set(found) >= set(best):
            return found
        if self._store.live(relation) < LARGE:
            return ()
        return best if self._store.has_index_room(relation, best) else found

    def _filtered(self, relation: int, rows: RowNumbers, known: Known) -> RowNumbers:
        cells = self._store.cells(relation)
        for column, value in known:
            rows = rows[cells[rows, layout.COLUMN + column] == value]
        return rows

    def _asserted_first(self, relation: int, rows: RowNumbers) -> RowNumbers:
        asserted = self._store.cells(relation)[rows, layout.FLAGS] & bits.ASSERTED != 0
        return np.concatenate([rows[asserted], rows[~asserted]])


def _named(relation: int, assertion: list[int]) -> tuple[int, int]:
    return name_column(relation), assertion[0]


def name_column(relation: int) -> int:
    """The column with the predicate."""
    return 1 if relation == TRIPLES else 0
