"""The state in the driver's memory: buckets as sorted columns, and what has changed since.

Small changes are made here, without a job: a bucket is read once, when a change first
looks into it, and what later changes add is kept beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.engine.spark.consequences import FACT_KEYS, Kind, in_order, summed, triples_of
from livefacts.engine.spark.exchange import bucket_of
from livefacts.engine.spark.stages import Bucket, is_of_kinds, kinds_of_triples
from livefacts.store.sortedrows import places_of
from livefacts.store.xxhash import HashIds

Triple = tuple[int, int, int]


class Columns:
    """The facts of one bucket, sorted, as they are in its files."""

    def __init__(self, facts: pa.Table) -> None:
        ordered = in_order(facts)
        s, p, o = (ordered[name].to_numpy() for name in FACT_KEYS)
        self.keys = (s, p, o)
        self.support = ordered["support"].to_numpy()
        self.told = ordered["told"].to_numpy()

    def told_triples(self) -> HashIds:
        places = np.flatnonzero(self.told > 0)
        return np.stack([column[places] for column in self.keys], axis=1)


class Live:
    """Facts and terms of one commit, as far as they were looked at, and changes since."""

    def __init__(self, buckets: Sequence[Bucket]) -> None:
        self._buckets = buckets
        self._columns: dict[int, Columns] = {}
        self._terms: dict[int, tuple[HashIds, pa.LargeStringArray]] = {}
        self._changes: dict[Triple, tuple[int, int]] = {}
        self._new_terms: dict[int, str] = {}

    # facts

    def counts(self, triples: HashIds) -> NDArray[np.int64]:
        """The support and the telling of each triple."""
        found = np.zeros((len(triples), 2), np.int64)
        homes = bucket_of(np.ascontiguousarray(triples[:, 0]), len(self._buckets))
        for number in np.unique(homes).tolist():
            mine = np.flatnonzero(homes == number)
            columns = self._bucket(number)
            places = places_of(columns.keys, triples[mine])
            known, places = mine[places >= 0], places[places >= 0]
            found[known, 0] = columns.support[places]
            found[known, 1] = columns.told[places]
        if self._changes:
            for at, triple in enumerate(map(tuple, triples.tolist())):
                found[at] += self._changes.get(triple, (0, 0))
        return found

    def _bucket(self, number: int) -> Columns:
        if number not in self._columns:
            self._columns[number] = Columns(self._buckets[number].read_facts())
        return self._columns[number]

    def told(self) -> HashIds:
        """All told triples."""
        parts = [self._bucket(bucket.number).told_triples() for bucket in self._buckets]
        told = np.concatenate([np.zeros((0, 3), np.int64), *parts])
        gone = {triple for triple, (_, told) in self._changes.items() if told < 0}
        came = [triple for triple, (_, told) in self._changes.items() if told > 0]
        if gone:
            kept = np.array([tuple(row) not in gone for row in told.tolist()], np.bool_)
            told = told[kept]
        return np.concatenate([told, np.array(came, np.int64).reshape(-1, 3)])

    def take(self, changes: pa.Table) -> None:
        """Note signed changes of support and telling."""
        rows = zip(
            map(tuple, triples_of(changes).tolist()),
            changes["support"].to_pylist(),
            changes["told"].to_pylist(),
            strict=True,
        )
        for triple, support, told in rows:
            before = self._changes.get(triple, (0, 0))
            self._changes[triple] = before[0] + support, before[1] + told

    # terms

    def texts(self, ids: HashIds) -> dict[int, str]:
        """The texts of those of these ids that are known."""
        found = {
            number: self._new_terms[number] for number in ids.tolist() if number in self._new_terms
        }
        homes = bucket_of(ids, len(self._buckets))
        for number in np.unique(homes).tolist():
            known, texts = self._known_terms(number)
            wanted = ids[homes == number]
            places = np.searchsorted(known, wanted)
            places = places[places < len(known)]
            for place in places[np.isin(known[places], wanted)].tolist():
                found[int(known[place])] = texts[place].as_py()
        return found

    def _known_terms(self, number: int) -> tuple[HashIds, pa.LargeStringArray]:
        if number not in self._terms:
            terms = self._buckets[number].read_terms().combine_chunks().sort_by("id")
            self._terms[number] = terms["id"].to_numpy(), terms["text"].combine_chunks()
        return self._terms[number]

    def take_terms(self, terms: Mapping[int, str]) -> None:
        """Note terms that are new."""
        self._new_terms.update(terms)


class ToldTriples:
    """Told triples in memory, as the schema is closed over them."""

    def __init__(self, triples: HashIds) -> None:
        self.triples = triples

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        return self.triples[is_of_kinds(self.triples, kinds)]

    def count_kinds(self, by_object: frozenset[int]) -> Counter[Kind]:
        return kinds_of_triples(self.triples, by_object)


def netted(parts: Sequence[pa.Table]) -> pa.Table:
    """Signed changes added up, without those that come to nothing."""
    found = summed(pa.concat_tables(parts))
    support, told = found["support"].to_numpy(), found["told"].to_numpy()
    return found.filter(pa.array((support != 0) | (told != 0)))
