"""Live buckets: the state in the driver's memory, as sorted columns and what has changed since.

Small changes are made here, without a job: a bucket is read when a change looks into it, and
what later changes add is kept beside it.  Of all buckets only so many are held as a bound of
bytes allows; those that were looked into longest ago are read again when they are needed.  What
is asked of all asserted triples may be asked of tasks, so that large knowledge bases need not
fit here.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.kb.bucket_stages import (
    Bucket,
    Survey,
    is_of_kinds,
    kinds_of_triples,
    survey_told,
)
from livefacts.kb.buckets import bucket_of
from livefacts.kb.consequences import Kind, TripleColumns, columns_of, summed
from livefacts.kb.term_encoding import NO_TRIPLES
from livefacts.store.facts.hash_rows import Facts, added_up, ordered, places_of
from livefacts.store.terms.hash_ids import HashIds

HELD = 384 << 20
"""So many bytes of buckets are held: all of them up to five million facts, about."""
Content = TypeVar("Content")
Surveyor = Callable[[Survey], Iterable[tuple[HashIds, Counter[Kind]]]]
"""Asks the asserted triples of all buckets, as they are in their files."""


class Columns:
    """Facts as sorted columns, with support and assertion; or what has changed of these."""

    def __init__(self, facts: Facts) -> None:
        self.keys = (facts.s, facts.p, facts.o)
        self.support = facts.support
        self.told = facts.asserted

    def __len__(self) -> int:
        return len(self.support)

    def add_counts(self, triples: HashIds, found: NDArray[np.int64]) -> None:
        """Add the support and the assertion of each triple."""
        places = places_of(self.keys, triples)
        known = np.flatnonzero(places >= 0)
        found[known, 0] += self.support[places[known]]
        found[known, 1] += self.told[places[known]]

    @property
    def size(self) -> int:
        """How many bytes they take, with the order by predicate."""
        each = sum(column.itemsize for column in (*self.keys, self.support, self.told))
        return len(self) * (each + 2 * np.dtype(np.int64).itemsize)

    def told_columns(self) -> TripleColumns:
        s, p, o = self.keys
        is_told = self.told > 0
        return s[is_told], p[is_told], o[is_told]

    def told_of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        """The asserted triples of some kinds, without a look at others."""
        places, predicates = self._by_predicate
        wanted = np.array(sorted({predicate for predicate, _ in kinds}), np.int64)
        starts, ends = (np.searchsorted(predicates, wanted, side) for side in ("left", "right"))
        spans = [places[i:j] for i, j in zip(starts.tolist(), ends.tolist(), strict=True)]
        chosen = np.concatenate([places[:0], *spans])
        found = np.stack([column[chosen] for column in self.keys], axis=1)
        return found[is_of_kinds(found, kinds)]

    @cached_property
    def _by_predicate(self) -> tuple[NDArray[np.int64], HashIds]:
        """The places of asserted triples in the order of their predicates, and these."""
        told = np.flatnonzero(self.told > 0)
        places = told[np.argsort(self.keys[1][told], kind="stable")]
        return places, self.keys[1][places]

    def triples(self, chosen: NDArray[np.bool_]) -> HashIds:
        return np.stack([column[chosen] for column in self.keys], axis=1)

    def plus(self, other: Columns) -> Columns:
        """Both in one; counts of the same fact are added up."""
        s, p, o = (np.concatenate(pair) for pair in zip(self.keys, other.keys, strict=True))
        support = np.concatenate([self.support, other.support])
        told = np.concatenate([self.told, other.told])
        return Columns(added_up(Facts(s, p, o, support, told)))


class HeldBuckets(Generic[Content]):
    """What was read of some buckets, up to a bound of bytes; the last one always stays."""

    def __init__(self, read: Callable[[int], tuple[Content, int]], most: int) -> None:
        self._read = read
        self._most = most
        self._held: OrderedDict[int, tuple[Content, int]] = OrderedDict()
        self.bytes = 0

    def __getitem__(self, number: int) -> Content:
        if number in self._held:
            self._held.move_to_end(number)
            return self._held[number][0]
        content, size = self._held[number] = self._read(number)
        self.bytes += size
        while self.bytes > self._most and len(self._held) > 1:
            _, (_, freed) = self._held.popitem(last=False)
            self.bytes -= freed
        return content


class Live:
    """Facts and terms of one commit, as far as they were looked at, and changes since.

    Changes are columns as well, of which a later one is joined with the one before it when it
    is no longer much smaller: so there are few of them, however many changes were made.
    """

    def __init__(
        self, buckets: Sequence[Bucket], survey: Surveyor | None = None, most: int = HELD
    ) -> None:
        self._buckets = buckets
        self._survey = survey
        self._columns = HeldBuckets(self._read_columns, most)
        self._terms = HeldBuckets(self._read_terms, most)
        self._changes: list[Columns] = []
        self._new_terms: dict[int, str] = {}

    # facts

    def counts(self, triples: HashIds) -> NDArray[np.int64]:
        """The support and the assertion of each triple."""
        found = np.zeros((len(triples), 2), np.int64)
        homes = bucket_of(np.ascontiguousarray(triples[:, 0]), len(self._buckets))
        for number in np.unique(homes).tolist():
            mine = np.flatnonzero(homes == number)
            part = np.zeros((len(mine), 2), np.int64)
            self._columns[number].add_counts(triples[mine], part)
            found[mine] = part
        for changes in self._changes:
            changes.add_counts(triples, found)
        return found

    def is_told(self, triples: HashIds) -> NDArray[np.bool_]:
        """Which triples are asserted."""
        told: NDArray[np.bool_] = self.counts(triples)[:, 1] > 0
        return told

    def _read_columns(self, number: int) -> tuple[Columns, int]:
        found = Columns(ordered(columns_of(self._buckets[number].read_facts())))
        return found, found.size

    # asserted triples by kind, as the schema is closed over them

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        """The asserted triples of some kinds."""
        found = np.concatenate([NO_TRIPLES, *self._surveyed(kinds)])
        came, gone = (part[is_of_kinds(part, kinds)] for part in self._told_since())
        return np.concatenate([found[~contains(gone, found)], came])

    def _surveyed(self, kinds: frozenset[Kind]) -> list[HashIds]:
        if self._survey is not None:
            return [triples for triples, _ in self._survey(Survey(kinds))]
        return [self._columns[bucket.number].told_of_kinds(kinds) for bucket in self._buckets]

    def count_kinds(self, by_object: frozenset[int]) -> Counter[Kind]:
        """How many asserted triples each kind has; kinds of some predicates name the object."""
        counts: Counter[Kind] = Counter()
        survey = self._survey or self._survey_here
        for _, each in survey(Survey(frozenset(), by_object)):
            counts.update(each)
        came, gone = self._told_since()
        counts.update(kinds_of_triples(came, by_object))
        counts.subtract(kinds_of_triples(gone, by_object))
        return +counts

    def _survey_here(self, survey: Survey) -> list[tuple[HashIds, Counter[Kind]]]:
        numbers = (bucket.number for bucket in self._buckets)
        return [survey_told(survey, self._columns[number].told_columns()) for number in numbers]

    def _told_since(self) -> tuple[HashIds, HashIds]:
        """The triples that changes have asserted, and those that they have retracted."""
        if not self._changes:
            return NO_TRIPLES, NO_TRIPLES
        changes = reduce(Columns.plus, self._changes)
        return changes.triples(changes.told > 0), changes.triples(changes.told < 0)

    def take(self, changes: pa.Table) -> None:
        """Note signed changes of support and assertion."""
        if not len(changes):
            return
        self._changes.append(Columns(added_up(columns_of(changes))))
        while len(self._changes) > 1 and len(self._changes[-2]) < 2 * len(self._changes[-1]):
            later, earlier = self._changes.pop(), self._changes.pop()
            self._changes.append(earlier.plus(later))

    # terms

    def texts(self, ids: HashIds) -> dict[int, str]:
        """The texts of those of these ids that are known."""
        found = {
            number: self._new_terms[number] for number in ids.tolist() if number in self._new_terms
        }
        homes = bucket_of(ids, len(self._buckets))
        for number in np.unique(homes).tolist():
            known, texts = self._terms[number]
            wanted = ids[homes == number]
            places = np.searchsorted(known, wanted)
            places = places[places < len(known)]
            for place in places[np.isin(known[places], wanted)].tolist():
                found[int(known[place])] = texts[place].as_py()
        return found

    def _read_terms(self, number: int) -> tuple[tuple[HashIds, pa.LargeStringArray], int]:
        terms = self._buckets[number].read_terms().combine_chunks().sort_by("id")
        return (terms["id"].to_numpy(), terms["text"].combine_chunks()), terms.nbytes

    def take_terms(self, terms: Mapping[int, str]) -> None:
        """Note terms that are new."""
        self._new_terms.update(terms)


class Told(Protocol):
    """Asserted triples, as far as closing the schema asks for them."""

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        """Those of some kinds."""

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        """How many each kind has."""


@dataclass(frozen=True, slots=True)
class TriplesHere:
    """Triples in the driver, as `Told` asks for them."""

    rows: HashIds

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        return self.rows[is_of_kinds(self.rows, kinds)]

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        return kinds_of_triples(self.rows, by_object)


@dataclass(frozen=True, slots=True)
class ToldAfter:
    """Asserted triples after a change that was not made yet."""

    before: Told
    came: Told
    gone: Told

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        found = self.before.of_kinds(kinds)
        stays = ~contains(self.gone.of_kinds(kinds), found)
        return np.concatenate([found[stays], self.came.of_kinds(kinds)])

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        counts = Counter(self.before.count_kinds(by_object))
        counts.update(self.came.count_kinds(by_object))
        counts.subtract(self.gone.count_kinds(by_object))
        return +counts


def contains(among: HashIds, triples: HashIds) -> NDArray[np.bool_]:
    """Which triples are among others.

    >>> contains(np.array([[1, 2, 3]]), np.array([[1, 2, 4], [1, 2, 3]])).tolist()
    [False, True]
    """
    if not len(among) or not len(triples):
        return np.zeros(len(triples), np.bool_)
    s, p, o = among[np.lexsort(among.T[::-1])].T
    return places_of((s, p, o), triples) >= 0


def netted(parts: Sequence[pa.Table]) -> pa.Table:
    """Signed changes added up, without those that come to nothing."""
    found = summed(pa.concat_tables(parts))
    support, told = found["support"].to_numpy(), found["told"].to_numpy()
    return found.filter(pa.array((support != 0) | (told != 0)))
