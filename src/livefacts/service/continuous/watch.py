"""The watch: the answers of a query, and how they change while facts, rules and time do.

A watch can be asked (`answers`, `changes`), can call (`on_change`), and can be waited for
(`for change in watch` in another thread, `async for`).  Changes wait in a buffer until they
are read.  A reader who is too slow loses changes and never holds up the reasoner: the buffer is
emptied, and the next thing read is a change with the op "lagged", which says how many were
lost and up to which sequence number.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from livefacts.errors import OptionError
from livefacts.plan.continuous.flow_text import PlanWords
from livefacts.service.continuous.answers import CAME, WENT, Change
from livefacts.service.continuous.watched_query import Bags, FollowedQuery
from livefacts.service.queries.results import QueryResult, Row
from livefacts.store.terms.dictionary import Loan

LAGGED = "lagged"
Callback = Callable[[list[Change]], object]


class Watch:
    """A query whose answers are followed; made by `Reasoner.watch`."""

    def __init__(
        self,
        text: str,
        followed: FollowedQuery,
        prefixes: Mapping[str, str],
        buffer: int,
        closing: Callable[[Watch], None],
        seq: int,
    ) -> None:
        if buffer < 1:
            raise OptionError(f"a buffer holds at least one change, not {buffer}")
        self.text = text
        self._followed = followed
        self._prefixes = prefixes
        self._room = buffer
        self._closing = closing
        self._seq = seq
        self._waiting: deque[tuple[int, Bags, Loan | None]] = deque()
        self._size = 0
        self._lost = 0
        self._lost_until = seq
        self._callbacks: list[Callback] = []
        self._news = threading.Condition()
        self._wakers: list[Callable[[], object]] = []
        self._open = True
        self._missed: list[Change] = []
        """What has changed before this watch was made, and since the one that it goes on from."""
        self.when_closed: Callable[[], None] = lambda: None
        """Called when it is closed."""
        self.when_read: Callable[[int], None] = lambda seq: None
        """Called with the number of the last change that was read."""

    def go_on(self, missed: list[Change]) -> None:
        """Begin with what has changed since another watch was read."""
        self._missed = missed

    # asking

    def answers(self) -> QueryResult:
        """All answers as they are now: what `query` would give, kept ready."""
        return self._followed.answers(self._prefixes)

    def changes(self) -> list[Change]:
        """What has changed since this was asked last, or since the watch began."""
        with self._news:
            lost, self._lost = self._lost, 0
            taken, self._waiting, self._size = self._waiting, deque(), 0
            missed, self._missed = self._missed, []
            seq = self._seq
        found = [*missed, *([lagged(lost, self._lost_until)] if lost else [])]
        for number, bag, _ in taken:
            found += self._signed(number, bag)
        if found:
            self.when_read(seq)
        return found

    def beginning(self) -> list[Change]:
        """All answers as they are now, as changes that come."""
        return self._signed(self._seq, self._followed.bag())

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns of rows."""
        return self._followed.variables

    @property
    def seq(self) -> int:
        """The number of the last change of the reasoner that this watch has followed."""
        return self._seq

    @property
    def plan(self) -> PlanWords:
        """How the query is followed, in words; `plan.to_dot()` draws it."""
        return self._followed.plan

    @property
    def cached(self) -> dict[str, int]:
        """What is kept: steps, how many are shared, their rows, their bytes, and rows looked at."""
        return self._followed.cached

    # being called

    def on_change(self, callback: Callback) -> Callback:
        """Call with the list of changes, after each change of the reasoner that brings some."""
        self._callbacks.append(callback)
        return callback

    def __iter__(self) -> Iterator[Change]:
        """Changes as they come, waiting for those that other threads make, until `close`."""
        while True:
            with self._news:
                self._news.wait_for(lambda: self._has_news() or not self._open)
                ended = not self._open and not self._has_news()
            if ended:
                return
            yield from self.changes()

    def _has_news(self) -> bool:
        return bool(self._waiting or self._lost or self._missed)

    async def __aiter__(self) -> AsyncIterator[Change]:
        """Changes as they come, without blocking the loop, until `close`."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(news.set)

        with self._news:
            self._wakers.append(wake)
        try:
            while True:
                news.clear()
                found = self.changes()
                for change in found:
                    yield change
                if not found and not self._open:
                    return
                if not found:
                    await news.wait()
        finally:
            with self._news:
                self._wakers.remove(wake)

    def close(self) -> None:
        """Stop watching; what was not read yet can still be read."""
        with self._news:
            self._open = False
            self._wake()
        self._closing(self)
        self.when_closed()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # following

    @property
    def followed(self) -> FollowedQuery:
        """What follows the query."""
        return self._followed

    def advance(self, seq: int, bag: Bags) -> list[tuple[Callback, list[Change]]]:
        """Take note of a change; the calls that are due for it."""
        if not bag:
            self._seq = seq
            return []
        with self._news:
            self._seq = seq
            self._waiting.append((seq, bag, self._followed.lend(bag)))
            self._size += len(bag)
            if self._size > self._room:
                self._lost += self._size
                self._lost_until = seq
                self._waiting.clear()
                self._size = 0
            self._wake()
        if not self._callbacks:
            return []
        changes = self._signed(seq, bag)
        return [(callback, changes) for callback in self._callbacks]

    def _wake(self) -> None:
        self._news.notify_all()
        for wake in self._wakers:
            wake()

    def _signed(self, seq: int, bag: Bags) -> list[Change]:
        """Changes as objects: what goes before what comes, each in the order of its text."""
        rows = sorted(((self._followed.row(key), count) for key, count in bag.items()), key=_text)
        gone = [Change(WENT, row, -count, seq) for row, count in rows if count < 0]
        return gone + [Change(CAME, row, count, seq) for row, count in rows if count > 0]

    def __repr__(self) -> str:
        return f"<Watch {self.text!r}>"


def _text(pair: tuple[Row, Any]) -> list[str]:
    return [str(term) for term in pair[0]]


def between(before: Watch, after: Watch) -> list[Change]:
    """What leads from the answers of one watch to those of another of the same query."""
    came, seq = Counter[Row](), after.seq
    for watch, sign in ((after, 1), (before, -1)):
        for change in watch.beginning():
            came[change.row] += sign * change.count
    rows = sorted(((row, count) for row, count in came.items() if count), key=_text)
    gone = [Change(WENT, row, -count, seq) for row, count in rows if count < 0]
    return gone + [Change(CAME, row, count, seq) for row, count in rows if count > 0]


def lagged(lost: int, seq: int) -> Change:
    """The change that says that others were lost, up to a number."""
    return Change(LAGGED, Row.of((), ()), lost, seq)
