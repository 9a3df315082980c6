"""Triple changes, in the shapes in which triple patterns look at them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Ids

FEW = 16
"""Triples that are looked at faster one by one."""


class TripleChange:
    """Triples that were not there and come, and triples that were and go; none does both."""

    def __init__(self, added: Ids, removed: Ids) -> None:
        self.added = added
        self.removed = removed

    @cached_property
    def few(self) -> list[tuple[int, tuple[int, ...]]] | None:
        """Signs and triples one by one; None if there are many."""
        if len(self.added) + len(self.removed) >= FEW:
            return None
        return [
            *((1, tuple(row)) for row in self.added.tolist()),
            *((-1, tuple(row)) for row in self.removed.tolist()),
        ]

    @cached_property
    def predicates(self) -> set[int]:
        """The predicates of all triples."""
        if self.few is not None:
            return {triple[1] for _, triple in self.few}
        return {*np.unique(self.added[:, 1]).tolist(), *np.unique(self.removed[:, 1]).tolist()}

    @cached_property
    def signed(self) -> tuple[Ids, NDArray[np.int32]]:
        """All triples, those that go first, and their signs."""
        triples = np.ascontiguousarray(np.concatenate([self.removed, self.added]), np.int32)
        signs = np.ones(len(triples), np.int32)
        signs[: len(self.removed)] = -1
        return triples, signs
