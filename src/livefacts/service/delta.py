"""Deltas: what a change made true and what it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from livefacts.engine.contract import IdDelta, Ids
from livefacts.model.facts import Term, shown
from livefacts.service.reading import FactReader, FactView
from livefacts.syntax.rejects import Reject


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold, and the values for which it does not."""

    constraint: str
    bindings: Mapping[str, Term]

    def __str__(self) -> str:
        values = ", ".join(f"?{name} = {shown(term)}" for name, term in self.bindings.items())
        return f"{self.constraint}: {values}" if values else self.constraint


class Delta:
    """The net change of what is true; facts are decoded when they are read.

    `added` and `removed` are asserted and derived facts together, `derived` those of the
    added that were concluded and not told, `violations` those that came with the change, `rejects`
    the first lines of input that could not be read (`counts["rejected"]` has them all).
    """

    def __init__(
        self,
        seq: int,
        ids: IdDelta,
        reader: FactReader,
        *,
        violations: Sequence[Violation] = (),
        rejects: Sequence[Reject] = (),
        rejected: int = 0,
        hints: Sequence[str] = (),
    ) -> None:
        self.seq = seq
        self.violations = tuple(violations)
        self.rejects = tuple(rejects)
        self.hints = tuple(hints)
        self._rejected = rejected
        self._ids = ids
        self._reader = reader

    @cached_property
    def added(self) -> FactView:
        return FactView(self._reader, self._reader.shown(self._ids.added))

    @cached_property
    def removed(self) -> FactView:
        return FactView(self._reader, self._reader.shown(self._ids.removed))

    @cached_property
    def derived(self) -> FactView:
        return FactView(self._reader, self._reader.shown(self._concluded()))

    def _concluded(self) -> dict[int, Ids]:
        return {shape: ids[self._ids.derived[shape]] for shape, ids in self._ids.added.items()}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many facts came and went, how many of those that came were concluded,
        and how many lines were rejected."""
        return {
            "added": len(self.added),
            "removed": len(self.removed),
            "derived": len(self.derived),
            "rejected": self._rejected,
        }

    def __bool__(self) -> bool:
        return bool(self.added) or bool(self.removed)

    def __repr__(self) -> str:
        return f"<Delta {self.seq}: +{len(self.added):,} -{len(self.removed):,}>"
