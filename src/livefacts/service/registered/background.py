"""The background: what is asserted for all time, as the worlds of registered queries see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pyoxigraph import Quad

from livefacts.engine.contract import Flags, Ids
from livefacts.service.streams.fact_rows import Rows


class Background(Protocol):
    """What is asserted for all time."""

    def facts(self) -> Rows:
        """All of it."""
        ...

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are part of it."""
        ...

    def conclusions(self) -> int:
        """How many conclusions the reasoner has drawn from it, or more."""
        ...

    def quads(self) -> Iterable[Quad]:
        """What named graphs assert of it."""
        ...

    def narrowed(self, graphs: tuple[str, ...]) -> Background:
        """What these named graphs alone assert."""
        ...
