"""Indistinguishability: which things nothing tells apart from those that are the same.

Literals have values, rules name constants, and facts of predicates are not replaced by the rules
of equality: what they speak of stays itself.  So does what is asserted to be the same as itself,
which is derived of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from livefacts.engine.contract import ASSERTED, TRIPLES, Change, Engine, Flags, Ids
from livefacts.language.checks.exchangeability import SAME_AS, Interchange
from livefacts.model.facts import Symbol
from livefacts.store.terms.dictionary import BLANK, IRI


class Plainness:
    """What is known of terms that must stay themselves."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._dictionary = engine.dictionary
        self.same_as = int(engine.dictionary.encode_one(SAME_AS))
        self._constants: frozenset[int] = frozenset()
        self._assertion: frozenset[int] = frozenset()
        self.known: set[int] = set()
        """Terms of which it has turned out; they stay themselves while the rules do."""

    def follow(self, interchange: Interchange) -> None:
        """Take note of what rules tell apart."""
        encode = self._dictionary.encode_one
        self._constants = frozenset(int(encode(term)) for term in interchange.constants)
        self._assertion = frozenset(int(encode(Symbol(name))) for name in interchange.telling_apart)

    def plain(self, terms: Iterable[int], change: Change) -> set[int]:
        """Those of these terms that are plain, after a change."""
        rest = set(terms).difference(self._constants, self.known)
        found = np.array(sorted(rest), np.int32)
        kinds = self._dictionary.kinds(found)
        found = found[(kinds == IRI) | (kinds == BLANK)]
        if not len(found):
            return set()
        found = found[~self._asserted_same_as_itself(found)]
        spoken_of = [*self._in_store(), *asserted_of(change, self.same_as)]
        for ids in spoken_of:
            found = found[~np.isin(found, ids)]
        return set(found.tolist())

    def _asserted_same_as_itself(self, terms: Ids) -> Flags:
        rows = np.column_stack([terms, np.full(len(terms), self.same_as, np.int32), terms])
        found: Flags = self._engine.standing(TRIPLES, rows) & ASSERTED != 0
        return found

    def _in_store(self) -> Iterable[Ids]:
        """What facts of predicates speak of that were asserted, or that tell things apart."""
        for shape in self._engine.shapes():
            if shape != TRIPLES:
                yield self._engine.rows(shape, derived=False)[:, 1:].reshape(-1)
                derived = self._engine.rows(shape, derived=True)
                yield derived[self._is_assertion(derived)][:, 1:].reshape(-1)

    def _is_assertion(self, facts: Ids) -> Flags:
        found: Flags = np.isin(facts[:, 0], list(self._assertion))
        return found

    def asserted_apart(self, facts: Mapping[int, Ids]) -> set[int]:
        """Terms that facts of predicates tell apart."""
        found: set[int] = set()
        for shape, rows in facts.items():
            if shape != TRIPLES and len(rows):
                found.update(rows[self._is_assertion(rows)][:, 1:].reshape(-1).tolist())
        return found


def asserted_of(change: Change, same_as: int) -> list[Ids]:
    """What a change asserts that must stay itself for that."""
    found = []
    for facts in (change.facts, change.others):
        for shape, rows in facts.items():
            if shape != TRIPLES:
                found.append(rows[:, 1:].reshape(-1))
            else:
                itself = (rows[:, 1] == same_as) & (rows[:, 0] == rows[:, 2])
                found.append(rows[itself, 0])
    return found
