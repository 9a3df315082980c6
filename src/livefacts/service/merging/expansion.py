"""Expansion: facts about stand-ins become facts about all that they stand for.

A group has two stand-ins.  A fact about the first holds of every member; one that has the
first in two places, of every member and itself; one that has both, of every two different
members.  What is said of the second alone says nothing more.

In a fact that speaks of a group in three places or more, members may all be different: it
holds if it holds where some of them are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, Ids

FEW = 4096
"""Up to so many cells are looked up one by one."""
NOBODY = -1


class StandIns(NamedTuple):
    """Two terms that stand for members, themselves among them."""

    first: int
    second: int
    members: Ids


class Roles:
    """Who stands for whom."""

    def __init__(self, groups: Iterable[StandIns] = ()) -> None:
        self._members: dict[int, Ids] = {}
        self._places: dict[int, tuple[int, bool]] = {}
        for group in groups:
            self.add(group)

    def add(self, group: StandIns) -> None:
        self._members[group.first] = group.members
        self._places[group.first] = group.first, False
        self._places[group.second] = group.first, True

    def remove(self, first: int, second: int) -> None:
        del self._members[first], self._places[first], self._places[second]

    def __bool__(self) -> bool:
        return bool(self._members)

    def located(self, cells: Ids) -> tuple[Ids, Flags]:
        """For each cell the first stand-in of its group or NOBODY, and whether it is the second."""
        if cells.size <= FEW:
            nobody = NOBODY, False
            found = [self._places.get(cell, nobody) for cell in cells.reshape(-1).tolist()]
            firsts = np.array([first for first, _ in found], np.int32).reshape(cells.shape)
            return firsts, np.array([s for _, s in found], np.bool_).reshape(cells.shape)
        terms = np.array(sorted(self._places), np.int32)
        places = [self._places[term] for term in terms.tolist()]
        at = np.minimum(np.searchsorted(terms, cells), len(terms) - 1)
        is_one = terms[at] == cells
        firsts = np.where(is_one, np.array([f for f, _ in places], np.int32)[at], NOBODY)
        seconds: Flags = is_one & np.array([s for _, s in places], np.bool_)[at]
        return firsts.astype(np.int32), seconds

    def touched(self, rows: Ids) -> Flags:
        """Which rows speak of stand-ins."""
        if not self._members:
            return np.zeros(len(rows), np.bool_)
        found: Flags = (self.located(rows)[0] != NOBODY).any(axis=1)
        return found

    def expanded(self, rows: Ids, *, are_triples: bool) -> Ids:
        """The facts that these facts stand for, each once."""
        if not self._members or not len(rows):
            return rows
        firsts, seconds = self.located(rows)
        touched = (firsts != NOBODY).any(axis=1)
        if not touched.any():
            return rows
        some = rows[touched]
        wider = list(self._wider(some, firsts[touched], seconds[touched], are_triples))
        parts = [rows[~touched], self._paired(some, firsts[touched], seconds[touched])]
        if wider:
            parts.append(np.unique(np.array(wider, np.int32), axis=0))
        return np.concatenate(parts)

    def _paired(self, rows: Ids, firsts: Ids, seconds: Flags) -> Ids:
        """Members in the places of stand-ins: one wherever one stands, two for the two."""
        chosen = ~_is_led_by_a_second(firsts, seconds)
        rows, firsts = rows[chosen], firsts[chosen]
        out = rows.copy()
        for column in range(rows.shape[1]):
            earlier = range(column)
            is_new = firsts[:, column] != NOBODY
            for i in earlier:
                again = is_new & (rows[:, i] == rows[:, column])
                out[again, column] = out[again, i]
                is_new &= ~again
            at, values = self._choices(out[:, column], firsts[:, column], is_new)
            rows, firsts, out = rows[at], firsts[at], out[at]
            out[:, column] = values
            for i in earlier:
                both = (firsts[:, i] == firsts[:, column]) & (firsts[:, column] != NOBODY)
                one = both & (rows[:, i] != rows[:, column]) & (out[:, i] == out[:, column])
                if one.any():
                    rows, firsts, out = rows[~one], firsts[~one], out[~one]
        return out

    def _choices(self, values: Ids, firsts: Ids, is_new: Flags) -> tuple[NDArray[np.int64], Ids]:
        """Each row as often as there are members to choose from, and the choices."""
        if not is_new.any():
            return np.arange(len(values)), values
        keys, which = np.unique(firsts[is_new], return_inverse=True)
        members = [self._members[key] for key in keys.tolist()]
        sizes = np.array([len(each) for each in members], np.int64)
        counts = np.ones(len(values), np.int64)
        counts[is_new] = sizes[which]
        at = np.repeat(np.arange(len(values)), counts)
        chosen = values[at]
        begins = np.zeros(len(values), np.int64)
        begins[is_new] = (np.cumsum(sizes) - sizes)[which]
        offsets = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        new = is_new[at]
        chosen[new] = np.concatenate(members)[(begins[at] + offsets)[new]]
        return at, chosen

    def _wider(
        self, rows: Ids, firsts: Ids, seconds: Flags, are_triples: bool
    ) -> Iterator[tuple[int, ...]]:
        """Facts with three or more different members of a group."""
        for row, keys, labels in zip(rows.tolist(), firsts.tolist(), seconds.tolist(), strict=True):
            wide = [key for key in set(keys) - {NOBODY} if keys.count(key) > 2]
            if wide and not (are_triples and any(labels)):
                yield from self._assigned(row, keys, wide)

    def _assigned(
        self, row: list[int], keys: list[int], wide: list[int]
    ) -> Iterator[tuple[int, ...]]:
        pairs = zip(row, keys, strict=True)
        choices = [[c] if key == NOBODY else self._members[key].tolist() for c, key in pairs]
        for chosen in product(*choices):
            places = list(zip(row, keys, chosen, strict=True))
            if any(_count(key, places) > 2 for key in wide) and _is_meant(places):
                yield chosen


def _is_led_by_a_second(firsts: Ids, seconds: Flags) -> Flags:
    """Which rows name the second stand-in of a group before its first."""
    led = np.zeros(len(firsts), np.bool_)
    for column in range(firsts.shape[1]):
        is_led = seconds[:, column].copy()
        for i in range(column):
            is_led &= firsts[:, i] != firsts[:, column]
        led |= is_led
    return led


Places = list[tuple[int, int, int]]
"""The cells of a fact: what stands there, the first stand-in of its group, and who was chosen."""


def _count(key: int, places: Places) -> int:
    return len({chosen for _, k, chosen in places if k == key})


def _is_meant(places: Places) -> bool:
    """Whether stand-ins differ where members do; of three members, some may share a stand-in."""
    return all(
        (a == b) == (x == y) or (a == b and _count(k, places) > 2)
        for number, (a, k, x) in enumerate(places)
        for b, m, y in places[:number]
        if k == m != NOBODY
    )
