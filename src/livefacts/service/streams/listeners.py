"""Listeners: who wants to know what happens to the streams and the background of a reasoner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.change.engine import Facts
from livefacts.language.program import Program


class Listener:
    """Is told of everything that happens to the streams and the background; here, nobody."""

    is_heard = False
    """Whether anybody is told."""

    def arrived(self, facts: Facts, time: int, stream: int) -> None:
        """Facts have arrived."""

    def retracted(self, facts: Facts, time: int, stream: int) -> None:
        """Facts have been taken back."""

    def changed(self, program: Program, told: Facts, untold: Facts, came: Ids, gone: Ids) -> None:
        """Background or rules have changed."""

    def advanced(self, now: int) -> None:
        """Every time point up to now is complete."""

    def finished(self) -> None:
        """Nothing more will come."""

    def stats(self) -> dict[str, Any]:
        """What the listener keeps."""
        return {}

    def held_ids(self) -> Iterable[Ids]:
        """The ids that the listener keeps."""
        return ()
