"""The protocol of an engine as the service sees it: what is asserted and true, whoever keeps it.

An engine keeps all of it; where equal things are merged, it keeps a part that stands for the
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from livefacts.engine.contract import IdDelta, Ids
from livefacts.engine.embedded.change.engine import Change, Facts
from livefacts.store.terms.dictionary import Dictionary


class Truth(Protocol):
    """Takes changes, and knows what is true after them."""

    before_commit: Callable[[IdDelta], None]

    @property
    def dictionary(self) -> Dictionary: ...

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive."""
        ...

    def beside(self) -> Truth:
        """Another one under the same rules, in which nothing is asserted yet."""
        ...

    def apply(self, change: Change, *, keep: bool = True) -> IdDelta:
        """Make a change, unless it is not to be kept; the net change of what is true."""
        ...

    def facts(self) -> Facts:
        """Everything that is true, by shape."""
        ...

    def asserted(self) -> Facts:
        """The facts that were asserted, by shape."""
        ...

    def derived(self) -> Facts:
        """What is true and was not asserted, by shape."""
        ...

    def holds(self, shape: int, fact: Ids) -> bool:
        """Whether a fact is true."""
        ...

    def standing(self, shape: int, rows: Ids) -> Ids:
        """The flags of facts: whether they are true, and how they are asserted."""
        ...

    def held_ids(self) -> Iterable[Ids]:
        """The ids of all that is kept."""
        ...
