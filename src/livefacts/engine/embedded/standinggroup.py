"""Standing queries on one stream: messages become ids once, and reach whom they concern.

All queries of a group share a dictionary and one gate.  A query hears of a batch only if a
predicate of the batch stands in one of its patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.gate import Gate
from livefacts.engine.embedded.messagescan import Messages
from livefacts.engine.embedded.projecting import Signs
from livefacts.engine.embedded.signedrows import Factored
from livefacts.engine.embedded.standing import KeptPart, Standing
from livefacts.store.dictionary import Dictionary

Build = Callable[[Dictionary], Standing]
"""Makes a standing query over a dictionary; again when terms are forgotten."""

NOTHING = Factored((), ())
FEWEST_TERMS = 4096
"""Terms that may be kept before it is looked at whether they are still needed."""


@dataclass(frozen=True, slots=True)
class Cached:
    """What is kept: entries and bytes of each part, and the terms."""

    parts: tuple[KeptPart, ...]
    terms: int
    term_bytes: int

    @property
    def entries(self) -> int:
        """Centres, triples and rows of all parts."""
        return sum(part.entries for part in self.parts)

    @property
    def bytes(self) -> int:
        """The memory of all parts and of the terms, spare room included."""
        return sum(part.bytes for part in self.parts) + self.term_bytes

    def __str__(self) -> str:
        lines = [f"{p.name}: {p.entries:,} entries, {p.bytes:,} bytes" for p in self.parts]
        return "\n".join([*lines, f"terms: {self.terms:,}, {self.term_bytes:,} bytes"])


class StandingGroup:
    """Queries that follow the same messages."""

    def __init__(self, builds: Sequence[Build]) -> None:
        self._builds = builds
        self._look_at = FEWEST_TERMS
        self.seq = 0
        self._begin(Dictionary())

    def _begin(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.queries = [build(dictionary) for build in self._builds]
        patterns = np.concatenate([query.patterns for query in self.queries])
        self._gate = Gate(np.unique(patterns, axis=0), dictionary)
        self._concerned = _by_predicate(self.queries)

    def take(self, messages: Messages) -> list[Factored]:
        """What a batch changes, for each of the queries."""
        return self.follow(*self.admit(messages))

    def admit(self, messages: Messages) -> tuple[Ids, Signs]:
        """The triples that fit a pattern of a query, and whether they come (1) or go (-1)."""
        return self._gate.admit(messages)

    def follow(self, triples: Ids, signs: Signs) -> list[Factored]:
        """What triples that were let in change, as one batch."""
        self.seq += 1
        found = [NOTHING] * len(self.queries)
        for number in self._hearing(triples):
            found[number] = self.queries[number].change(triples, signs)
        return found

    def _hearing(self, triples: Ids) -> Sequence[int]:
        if not len(triples):
            return ()
        if len(self.queries) == 1:
            return (0,)
        hearing = set(self._concerned.get(ANY_PREDICATE, ()))
        for predicate in set(triples[:, 1].tolist()):
            hearing.update(self._concerned.get(predicate, ()))
        return sorted(hearing)

    def forget_terms(self) -> None:
        """Begin anew with what is kept, if most terms are not needed any more."""
        old = self.dictionary
        if len(old) <= self._look_at:
            return
        kept = [query.kept() for query in self.queries]
        if 2 * len(np.unique(np.concatenate(kept))) < len(old):
            self._begin(Dictionary())
            for query, triples in zip(self.queries, kept, strict=True):
                ids = _carried_over(triples, old, self.dictionary)
                query.change(ids, np.ones(len(ids), np.int32))
        self._look_at = max(FEWEST_TERMS, 2 * len(self.dictionary))

    def cached(self, parts: Sequence[KeptPart]) -> Cached:
        """These parts, and the terms of the group."""
        return Cached(tuple(parts), len(self.dictionary), self.dictionary.nbytes)


ANY_PREDICATE = -1


def _by_predicate(queries: Sequence[Standing]) -> dict[int, list[int]]:
    """The numbers of the queries that a predicate concerns."""
    concerned: dict[int, list[int]] = {}
    for number, query in enumerate(queries):
        for predicate in set(query.patterns[:, 1].tolist()):
            concerned.setdefault(predicate, []).append(number)
    return concerned


def _carried_over(triples: Ids, old: Dictionary, new: Dictionary) -> Ids:
    """The same triples in the ids of another dictionary."""
    text, ends = old.packed_texts(triples.reshape(-1))
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    return new.encode_spans(text, starts, ends, b"").reshape(-1, 3)
