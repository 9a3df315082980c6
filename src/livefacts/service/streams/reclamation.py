"""Reclamation (garbage collection) of terms: those of streams whose ids are in use nowhere.

Facts of streams bring new terms all the time.  Once enough of them have come, everybody who
may keep ids is asked for them, and the dictionary sweeps out the others; so memory follows
the windows, however long the streams run.  Terms that were asked for in any other way, by
background, rules or queries, stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from livefacts.engine.contract import Ids
from livefacts.service.streams.fact_rows import Key, facts_of
from livefacts.store.terms.dictionary import Dictionary

FEWEST_BORN = 1 << 16
"""After so many new terms a sweep may be worth its work, and after as many as are kept."""


class FactKeeper(Protocol):
    """Keeps facts, and knows their ids."""

    def held_ids(self) -> Iterable[Ids]:
        """The ids that it keeps."""
        ...


class Reclaimer:
    """Gives back the terms of one reasoner's streams."""

    def __init__(self, dictionary: Dictionary, keepers: Iterable[FactKeeper]) -> None:
        self._dictionary = dictionary
        self._keepers = list(keepers)
        self.reclaimed = 0
        """How many terms were given back."""

    def ask(self, keeper: FactKeeper) -> None:
        """One more part of the state keeps ids, and is asked for them before a sweep."""
        self._keepers.append(keeper)

    def passing(self) -> AbstractContextManager[None]:
        """Sweep if it is due; then, while this is entered, new terms are transient."""
        if self.is_due():
            self.reclaimed += self._dictionary.sweep(self._held())
        return self._dictionary.passing()

    def is_due(self) -> bool:
        """Whether a sweep is worth its work."""
        return self._dictionary.born > max(FEWEST_BORN, len(self._dictionary) // 2)

    def _held(self) -> Iterator[Ids]:
        for keeper in self._keepers:
            yield from keeper.held_ids()


def ids_of(keys: Iterable[Key]) -> Iterable[Ids]:
    """The ids of facts that are kept by their bytes."""
    return facts_of(keys).values()
