"""Timed matches of a query in a state: what windows of every length report of them.

Matches that have the same time are a chunk, which is never changed: a report keeps the
chunks that its window sees.  A chunk is decoded when the first report that has it is read,
and once; what stays in a window is not decoded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, compress
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, Ids
from livefacts.engine.embedded.expiry.timed_engine import NEVER, ExpiryDelta
from livefacts.language.program import Rule
from livefacts.language.registration import StreamOperator
from livefacts.service.continuous.findings import Found, found_answer
from livefacts.service.continuous.row_projection import Projection
from livefacts.service.queries.results import Row
from livefacts.service.registered.stream_state import WindowView

Longs = NDArray[np.int64]
When = TypeVar("When")


class MatchChunk:
    """Matches that have the same time."""

    __slots__ = ("_answers", "_loan", "_projection", "_rows", "entries", "matches")

    def __init__(self, projection: Projection, entries: Longs, matches: Ids) -> None:
        self._projection = projection
        self.entries = entries
        self.matches = matches
        self._loan = projection.lend(matches)
        self._answers: Ids | None = None
        self._rows: list[Row] | None = None

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def answers(self) -> Ids:
        """The rows that they give, in ids."""
        if self._answers is None:
            self._answers = self._projection.answers(self.matches)
        return self._answers

    @property
    def rows(self) -> list[Row]:
        """The same as terms."""
        if self._rows is None:
            self._rows = self._projection.rows(self.answers)
        return self._rows

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """The rows in ids, one by one."""
        return map(tuple, self.answers.tolist())

    def joined(self, entries: Longs, matches: Ids) -> MatchChunk:
        """The same with more matches."""
        return MatchChunk(
            self._projection,
            np.concatenate([self.entries, entries]),
            np.concatenate([self.matches, matches]),
        )

    def kept(self, stays: Flags) -> MatchChunk:
        """The matches that stay."""
        chunk = MatchChunk(self._projection, self.entries[stays], self.matches[stays])
        if self._rows is not None and len(self._rows) == len(stays):
            chunk._rows = list(compress(self._rows, stays.tolist()))
        return chunk


Chunks = tuple[MatchChunk, ...]
Bag = Counter[tuple[int, ...]]


class MatchChunks(dict[When, MatchChunk]):
    """Chunks by when windows see them."""

    def take(self, when: When, entries: Longs) -> None:
        """Matches are seen then no longer."""
        chunk = self.get(when)
        if chunk is not None:
            stays = ~np.isin(chunk.entries, entries)
            if stays.any():
                self[when] = chunk.kept(stays)
            else:
                del self[when]

    def put(self, when: When, projection: Projection, entries: Longs, matches: Ids) -> None:
        """Matches are seen then."""
        known = self.get(when)
        self[when] = (
            MatchChunk(projection, entries, matches)
            if known is None
            else known.joined(entries, matches)
        )


class Matches:
    """All matches of a query in a state."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self.rules: tuple[Rule, ...] = (projection.rule,)
        self._chunks = MatchChunks[int]()
        """By the time until which a window sees them."""

    def follow(self, delta: ExpiryDelta) -> None:
        """The state has changed."""
        changed = delta.shapes.get(self.projection.shape)
        if changed is None:
            return
        mine = self.projection.matches(changed.facts)
        if not mine.any():
            return
        facts, before, until, entries = (
            each[mine] for each in (changed.facts, changed.before, changed.until, changed.entries)
        )
        for time in np.unique(before).tolist():
            self._chunks.take(time, entries[before == time])
        for time in np.unique(until).tolist():
            if time != NEVER:
                chosen = until == time
                self._chunks.put(time, self.projection, entries[chosen], facts[chosen])

    def forget(self, after: int) -> None:
        """No window looks at what has this time or an earlier one."""
        for time in [time for time in self._chunks if time <= after]:
            del self._chunks[time]

    def seen(self, after: int) -> Chunks:
        """What has a later time, the oldest first."""
        return tuple(self._chunks[time] for time in sorted(self._chunks) if time > after)


class KeptMatches(Protocol):
    """All matches of a query in a state, as windows see them."""

    projection: Projection
    rules: tuple[Rule, ...]
    """What finds them."""

    def follow(self, delta: ExpiryDelta) -> None:
        """The state has changed."""
        ...

    def forget(self, after: int) -> None:
        """No window looks at what has this time or an earlier one."""
        ...

    def seen(self, after: int) -> Chunks:
        """What a window sees that begins behind a time, the oldest first."""
        ...


class SeenAnswers:
    """What one query sees of its matches through its windows."""

    def __init__(self, matches: KeptMatches, view: WindowView, relation: StreamOperator) -> None:
        self.matches = matches
        self._projection = matches.projection
        self._view = view
        self._relation = relation
        self._before: Chunks = ()
        self._elsewhere: Bag | None = None

    def resume(self, reported: Iterable[tuple[int, ...]]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        self._elsewhere = Counter(reported)

    def held_ids(self) -> Iterator[Ids]:
        """The ids of rows that were reported elsewhere."""
        if self._elsewhere:
            yield np.array(list(self._elsewhere), np.int32)

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        now = self.matches.seen(self._view.after)
        before, self._before = self._before, now
        if self._projection.query.form == "ASK":
            return found_answer(bool(now))
        if self._relation is StreamOperator.ALL:
            return self._all(now)
        elsewhere, self._elsewhere = self._elsewhere, None
        if elsewhere is not None:
            bags = Counter(self.reported()), elsewhere
            new_rows, old_rows = bags if self._relation is StreamOperator.NEW else bags[::-1]
            return self._listed(new_rows - old_rows)
        new, old = (now, before) if self._relation is StreamOperator.NEW else (before, now)
        return self._listed(self._difference(new, old))

    def reported(self) -> Iterable[tuple[int, ...]]:
        """The rows of the last report, before it was compared with another."""
        if self._elsewhere is not None and self._relation is not StreamOperator.ALL:
            return self._elsewhere.elements()
        tuples = _tuples(self._before)
        return set(tuples) if self._projection.is_distinct else tuples

    def _all(self, chunks: Chunks) -> Found:
        is_empty = not any(len(chunk.answers) for chunk in chunks)
        names = self._projection.names
        if self._repeats:
            count, rows = lambda: len(set(_tuples(chunks))), lambda: _distinct(chunks)
            return Found(names, is_empty, count, rows)
        return Found(names, is_empty, lambda: sum(map(len, chunks)), lambda: _rows(chunks))

    @property
    def _repeats(self) -> bool:
        """Whether rows have to be made distinct."""
        return self._projection.is_distinct and self._projection.can_repeat

    def _difference(self, chunks: Chunks, others: Chunks) -> Bag:
        """The rows of some chunks without those of others; what both have is not looked at."""
        if self._repeats:
            return Counter(set(_tuples(chunks)).difference(_tuples(others)))
        both = set(map(id, chunks)) & set(map(id, others))
        one, other = (
            Counter(_tuples(chunk for chunk in part if id(chunk) not in both))
            for part in (chunks, others)
        )
        return one - other

    def _listed(self, bag: Bag) -> Found:
        return self._projection.found(list(bag.elements()))


def _tuples(chunks: Iterable[MatchChunk]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(chunk.tuples() for chunk in chunks)


def _rows(chunks: Chunks) -> Iterator[Row]:
    return chain.from_iterable(chunk.rows for chunk in chunks)


def _distinct(chunks: Chunks) -> Iterable[Row]:
    """Each row once."""
    return dict(zip(_tuples(chunks), _rows(chunks), strict=True)).values()
