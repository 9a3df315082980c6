"""Reclamation (garbage collection) of terms: those of facts that are in use nowhere any more.

Facts bring new terms all the time, and go again.  Once enough of them may have gone, everybody
who may keep ids is asked for them, and the dictionary sweeps out the others; so memory follows
what holds, however much has come and gone.  Terms that rules and queries name stay.

A sweep looks at everything that is kept, and comes when a share of as many terms may be in use
nowhere: what it costs is a share of what the changes cost which brought and took them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from livefacts.engine.contract import Ids
from livefacts.service.streams.fact_rows import Key, facts_of
from livefacts.store.terms.dictionary import Dictionary

FEWEST_LOOSE = 1 << 10
"""So many terms in use nowhere may be worth a sweep."""
SHARE = 2
"""And so is this part of what the sweep will look at."""


class FactKeeper(Protocol):
    """Keeps facts, and knows their ids."""

    def held_ids(self) -> Iterable[Ids]:
        """The ids that it keeps."""
        ...


class Reclaimer:
    """Gives back the terms of one reasoner."""

    def __init__(self, dictionary: Dictionary, keepers: Iterable[FactKeeper]) -> None:
        self._dictionary = dictionary
        self._keepers = list(keepers)
        self._looked_at = 0
        """How many ids were kept at the last sweep."""
        self.reclaimed = 0
        """How many terms were given back."""

    def ask(self, keeper: FactKeeper) -> None:
        """One more part of the state keeps ids, and is asked for them before a sweep."""
        self._keepers.append(keeper)

    def sweep(self) -> None:
        """Sweep if it is due; nobody has ids now that were not lent, and that no keeper knows."""
        if self.is_due():
            self._looked_at = 0
            self.reclaimed += self._dictionary.sweep(self._held())

    def is_due(self) -> bool:
        """Whether a sweep is worth its work."""
        loose = self._dictionary.loose
        if loose <= FEWEST_LOOSE:
            return False
        return loose > (len(self._dictionary) + self._looked_at) // SHARE

    def _held(self) -> Iterator[Ids]:
        for keeper in self._keepers:
            for ids in keeper.held_ids():
                self._looked_at += ids.size
                yield ids


def ids_of(keys: Iterable[Key]) -> Iterable[Ids]:
    """The ids of facts that are kept by their bytes."""
    return facts_of(keys).values()
