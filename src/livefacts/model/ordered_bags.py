"""Ordered bags: keys in an order of their values, which come and go, each some number of times.

They stand in chunks of bounded size, so that one that comes or goes is compared with some twenty
of a million, and moves those of its chunk alone.  A chunk knows how often its keys are there
together, so that the one at a place is found without counting all.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
MOST = 512
"""The keys of a chunk; one that would have more is split."""


class OrderedBag(Generic[Key]):
    """Keys in the order of what `rank` gives for them, which tells any two apart.

    >>> bag = OrderedBag(lambda key: (len(key), key))
    >>> bag.change([("cc", 1), ("a", 3), ("dd", 1), ("cc", -1)])
    >>> bag.first, bag.last, bag.at(2), bag.at(3), len(bag)
    ('a', 'dd', 'a', 'dd', 4)
    """

    __slots__ = ("_chunks", "_counts", "_lasts", "_rank", "_ranked", "_sizes")

    def __init__(self, rank: Callable[[Key], tuple[Any, ...]]) -> None:
        self._rank = rank
        self._counts: dict[Key, int] = {}
        self._ranked: dict[Key, tuple[Any, ...]] = {}
        """Each key with its rank, as it stands in its chunk: the key comes last."""
        self._chunks: list[list[tuple[Any, ...]]] = []
        self._lasts: list[tuple[Any, ...]] = []
        self._sizes: list[int] = []
        """How often the keys of each chunk are there."""

    def __len__(self) -> int:
        """How many keys there are, each as often as it is there."""
        return sum(self._sizes)

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def __iter__(self) -> Iterator[Key]:
        """The different keys."""
        return iter(self._counts)

    def ranked(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """The keys in their order, each behind its rank, with how often it is there."""
        for chunk in self._chunks:
            for each in chunk:
                yield each, self._counts[each[-1]]

    @property
    def first(self) -> Key:
        """The key of the least rank."""
        key: Key = self._chunks[0][0][-1]
        return key

    @property
    def last(self) -> Key:
        """The key of the greatest rank."""
        key: Key = self._lasts[-1][-1]
        return key

    def at(self, place: int) -> Key:
        """The key at a place, counted from 0, where each stands as often as it is there."""
        number = 0
        while place >= self._sizes[number]:
            place -= self._sizes[number]
            number += 1
        for ranked in self._chunks[number]:
            place -= self._counts[ranked[-1]]
            if place < 0:
                break
        key: Key = ranked[-1]
        return key

    def change(self, changes: Sequence[tuple[Key, int]]) -> None:
        """Keys are there so many times more, or less."""
        if not self._chunks and len(changes) > MOST:
            self._fill(changes)
            return
        for key, count in changes:
            self._change(key, count)

    def _change(self, key: Key, count: int) -> None:
        before = self._counts.get(key, 0)
        if not count:
            return
        if before:
            ranked = self._ranked[key]
        else:
            ranked = self._ranked[key] = (*self._rank(key), key)
            if not self._chunks:
                self._chunks.append([])
                self._lasts.append(ranked)
                self._sizes.append(0)
        at = min(bisect_left(self._lasts, ranked), len(self._lasts) - 1)
        self._sizes[at] += count
        if before + count:
            self._counts[key] = before + count
            if not before:
                self._insert(at, ranked)
        elif before:
            self._remove(at, key)

    def _insert(self, at: int, ranked: tuple[Any, ...]) -> None:
        chunk = self._chunks[at]
        insort(chunk, ranked)
        self._lasts[at] = chunk[-1]
        if len(chunk) > MOST:
            half = len(chunk) // 2
            size = sum([self._counts[each[-1]] for each in chunk[:half]])
            self._chunks[at : at + 1] = chunk[:half], chunk[half:]
            self._lasts.insert(at, chunk[half - 1])
            self._sizes[at : at + 1] = size, self._sizes[at] - size

    def _remove(self, at: int, key: Key) -> None:
        del self._counts[key]
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, self._ranked.pop(key))]
        if chunk:
            self._lasts[at] = chunk[-1]
        else:
            del self._chunks[at], self._lasts[at], self._sizes[at]

    def _fill(self, changes: Sequence[tuple[Key, int]]) -> None:
        """The first keys, sorted all at once."""
        counts = self._counts
        for key, count in changes:
            counts[key] = counts.get(key, 0) + count
        for key in [key for key, count in counts.items() if not count]:
            del counts[key]
        rank = self._rank
        ranked = self._ranked = {key: (*rank(key), key) for key in counts}
        whole, size = sorted(ranked.values()), MOST // 2
        self._chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
        self._lasts = [chunk[-1] for chunk in self._chunks]
        self._sizes = [sum([counts[each[-1]] for each in chunk]) for chunk in self._chunks]
