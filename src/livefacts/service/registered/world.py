"""The world of some windows: the background, what the windows hold, and everything that follows.

Queries over the same windows share a world.  It moves from one time to the next by one
change for its engine, so conclusions and answers are maintained, not recomputed.  What a
window and the background both assert is asserted until neither does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import ClassVar

from livefacts.engine.contract import ASSERTED, HOLDS, Change, Flags, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.errors import LimitError
from livefacts.language.program import Rule
from livefacts.plan import compile_rules
from livefacts.service.registered.background import Background
from livefacts.service.registered.limits import allowing, beginning, conclusions_in, leave_out
from livefacts.service.registered.moving_window import Extent, MovingWindow, TimeSpan, window_on
from livefacts.service.registered.world_listeners import FollowedWorld
from livefacts.service.streams.reclamation import ids_of
from livefacts.service.streams.stream_log import Facts, Key, StreamLog, facts_of, keys_of
from livefacts.store.terms.dictionary import Dictionary

Follower = Callable[[IdDelta], None]


class EngineWorld(FollowedWorld[IdDelta]):
    """A world with an engine of its own."""

    is_timed: ClassVar[bool] = False
    _engine: EmbeddedEngine

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        windows: Sequence[tuple[Extent, StreamLog]],
        limit: int | None = None,
        replaced: int | None = None,
    ) -> None:
        super().__init__()
        self.now: int | None = None
        self._replaced = replaced
        """How many conclusions the world had in whose place this is, if there was one."""
        self._background = background
        self._windows: list[MovingWindow] = [window_on(*each) for each in windows]
        self._engine = EmbeddedEngine(dictionary, compile_rules(()))
        self._engine.limit = limit
        self._logs = [log for _, log in windows]
        self._touched: dict[Key, None] = {}
        """Facts of the background whose change has derived too much, for the next move."""
        self._inside: Counter[Key] = Counter()
        self._doubly_asserted: set[Key] = set()
        self._pending: Counter[Key] = Counter()
        self.recent: list[Key] = []
        """The facts that windows brought in or took out in the change that is being published."""

    # what it is about

    def require(self, own: Sequence[Rule], answers: Sequence[Rule]) -> None:
        """From now on these rules hold, and those that find answers, and no others."""
        rules = (*own, *answers)
        leave_out(self._engine, answers)
        plan = compile_rules(rules, before=self._engine.plan)
        with allowing(self._engine, more=self._background.conclusions):
            self._apply(Change(plan=plan))

    # changes

    def fill(self) -> None:
        """Take the background in; done once, before anything else but rules."""
        self._apply(Change(dict(self._background.facts())))

    def arrived(self, stream: str, time: int, facts: Facts) -> None:
        """Facts have come to a stream; if they are late, they count at the next move."""
        for window in self._windows:
            if window.extent.stream == stream and window.sees(time):
                self._pending.update(keys_of(facts))

    def retracted(self, stream: str, time: int, facts: Facts) -> None:
        """Facts have been taken back."""
        for window in self._windows:
            if window.extent.stream == stream and window.sees(time):
                self._pending.subtract(keys_of(facts))

    def background_changed(self, touched: Facts) -> None:
        """The background may have changed for these facts, and for no others.

        If that derives too much, it counts at the next move, if it still does.
        """
        try:
            self._change_background(touched)
        except BaseException as error:
            self._touched.update(dict.fromkeys(keys_of(touched)))
            if not isinstance(error, LimitError):
                raise

    def _change_background(self, touched: Facts) -> None:
        asserted: list[Key] = []
        retracted: list[Key] = []
        doubly: list[Key] = []
        singly: list[Key] = []
        for shape, ids in touched.items():
            holds = self._background.holds(shape, ids).tolist()
            was = self._is_asserted(shape, ids)
            for key, is_asserted, now in zip(keys_of({shape: ids}), was, holds, strict=True):
                in_window = self._inside[key] > 0
                before = is_asserted and (not in_window or key in self._doubly_asserted)
                if now == before:
                    continue
                if in_window:
                    (doubly if now else singly).append(key)
                else:
                    (asserted if now else retracted).append(key)
        self._apply(
            Change(facts_of(dict.fromkeys(asserted)), retracted=facts_of(dict.fromkeys(retracted)))
        )
        self._doubly_asserted.update(doubly)
        self._doubly_asserted.difference_update(singly)

    def move(self, now: int) -> None:
        """The time is `now`: windows slide, and everything follows."""
        if self._touched:
            self._change_background(facts_of(self._touched))
            self._touched = {}
        change = self._pending.copy()
        for window in self._windows:
            for fact, times in window.moved(now).items():
                change[fact] += times
        inside = self._inside
        asserted = [fact for fact, times in change.items() if times > 0 and not inside[fact]]
        retracted = [fact for fact, times in change.items() if times < 0 and inside[fact] == -times]
        with self._beginning(now) if self.is_new else nullcontext():
            self._assert(asserted, retracted)
        self._settle(now, change)

    def _beginning(self, now: int) -> AbstractContextManager[None]:
        return beginning(self._engine, self._logs, now, self._replaced, self.conclusions)

    def _assert(self, asserted: list[Key], retracted: list[Key]) -> None:
        """Facts that no window had and one has now, and the other way round."""
        if not asserted and not retracted:
            return
        new = facts_of(asserted)
        known = {
            key
            for shape, ids in new.items()
            for key, is_asserted in zip(
                keys_of({shape: ids}), self._is_asserted(shape, ids), strict=True
            )
            if is_asserted
        }
        freed = self._doubly_asserted.intersection(retracted)
        if known:
            new = facts_of(fact for fact in asserted if fact not in known)
        gone = facts_of(fact for fact in retracted if fact not in freed)
        self.recent = [*asserted, *retracted]
        self._apply(Change(new, retracted=gone))
        self._doubly_asserted |= known
        self._doubly_asserted -= freed

    def _settle(self, now: int, change: Counter[Key]) -> None:
        inside = self._inside
        for fact, times in change.items():
            left = inside[fact] + times
            if left:
                inside[fact] = left
            elif times:
                inside.pop(fact)
        self._pending.clear()
        for window in self._windows:
            window.settle(now)
        self.now = now

    def _apply(self, change: Change) -> None:
        try:
            self._announce(self._engine.apply(change))
        finally:
            self.recent = []

    def _is_asserted(self, shape: int, ids: Ids) -> list[bool]:
        asserted: list[bool] = (self._engine.standing(shape, ids) & ASSERTED != 0).tolist()
        return asserted

    # reading

    def facts(self) -> Facts:
        """Everything that is true in this world."""
        return self._engine.facts()

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are true in this world."""
        found: Flags = self._engine.standing(shape, ids) & HOLDS != 0
        return found

    @property
    def is_new(self) -> bool:
        """Whether it has not been moved yet: its windows are empty."""
        return self.now is None

    def conclusions(self) -> int:
        """How many facts are derived."""
        return conclusions_in(self._engine, self._engine.derived())

    def inside(self) -> set[Key]:
        """The facts that the windows hold, as they came."""
        return set(self._inside)

    def next_change(self, now: int) -> int | None:
        """The next time at which a window changes, if nothing arrives."""
        points = [window.next_change(now) for window in self._windows]
        return min((point for point in points if point is not None), default=None)

    def spans(self, now: int, first: int) -> dict[Extent, TimeSpan]:
        """The time points of the windows."""
        return {window.extent: window.span(now, first) for window in self._windows}

    def forgettable(self, stream: str, now: int) -> list[int]:
        """Until when the arrivals of a stream can no longer matter, for each window on it."""
        found = [w.forgettable(now) for w in self._windows if w.extent.stream == stream]
        return [time for time in found if time is not None]

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts, and of those that will change."""
        yield from self._engine.held_ids()
        yield from ids_of(chain(self._inside, self._pending, self._doubly_asserted, self._touched))

    def sizes(self) -> dict[str, int]:
        """How many facts are true, and how many the windows hold."""
        held = sum(len(ids) for ids in self.facts().values())
        return {"facts": held, "in_windows": len(self._inside)}
