"""World listeners: who follows a world is called with its changes, and its engine has a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from livefacts.engine.contract import LimitedEngine

Delta = TypeVar("Delta")


class FollowedWorld(Generic[Delta]):
    """A world with an engine, and those who follow it."""

    _engine: LimitedEngine

    def __init__(self) -> None:
        self._followers: list[Callable[[Delta], None]] = []

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change may derive."""
        return self._engine.limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        self._engine.limit = limit

    def follow(self, follower: Callable[[Delta], None]) -> None:
        """Call with every change from now on."""
        self._followers.append(follower)

    def unfollow(self, follower: Callable[[Delta], None]) -> None:
        """Call no more."""
        self._followers.remove(follower)

    def _announce(self, delta: Delta) -> None:
        for follower in self._followers:
            follower(delta)
