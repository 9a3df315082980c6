"""Live buckets: a bound on what is held, and the same answers whatever is evicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from livefacts.kb.bucket_stages import Bucket
from livefacts.kb.buckets import bucket_if_any, bucket_of
from livefacts.kb.consequences import fact_table
from livefacts.kb.live_buckets import HELD, HeldBuckets, Live
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.tables import (
    ROWS_WORTH_A_FILE,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    write_file,
    write_in_buckets,
)
from livefacts.store.terms.hash_ids import KIND_BITS, HashIds

BUCKETS = 4


def test_what_was_looked_at_longest_ago_is_read_again() -> None:
    read: list[int] = []

    def reading(number: int) -> tuple[str, int]:
        read.append(number)
        return f"bucket {number}", 10

    held = HeldBuckets(reading, most=25)
    assert [held[number] for number in (1, 2, 1, 3, 1, 2)][-1] == "bucket 2"
    assert read == [1, 2, 3, 2]
    assert held.bytes == 20


def test_one_bucket_is_held_however_large_it_is() -> None:
    held = HeldBuckets(lambda number: (number, 1000), most=1)
    assert (held[1], held[2], held.bytes) == (1, 2, 1000)


@pytest.mark.parametrize("most", [1, 4000, HELD])
def test_answers_do_not_depend_on_how_much_is_held(tmp_path: Path, most: int) -> None:
    triples = _triples(np.arange(1, 400))
    live = Live(_written(tmp_path, triples), most=most)
    some = np.concatenate([triples[::3], _triples(np.arange(1000, 1050))])
    for _ in range(2):
        assert live.is_told(some).tolist() == [True] * len(triples[::3]) + [False] * 50
        known = live.texts(some[:, 0])
        assert known == {int(number): f"<urn:{number}>" for number in triples[::3, 0]}
        live.take(fact_table(triples[:1], 0, -1))
        assert not live.is_told(triples[:1]).any()
        live.take(fact_table(triples[:1], 0, 1))
    assert sum(live.count_kinds(frozenset()).values()) == len(triples)


def _triples(numbers: HashIds) -> HashIds:
    subjects = numbers.astype(np.int64) << KIND_BITS
    return np.stack([subjects, np.full_like(subjects, 8), subjects], axis=1)


def _written(folder: Path, triples: HashIds) -> list[Bucket]:
    homes, found = bucket_of(np.ascontiguousarray(triples[:, 0]), BUCKETS), []
    path = store_path(folder)
    for number in range(BUCKETS):
        mine = triples[homes == number]
        ids = np.sort(mine[:, 0])
        terms = pa.table([ids, [f"<urn:{each}>" for each in ids]], schema=SCHEMAS[TERMS])
        files = [
            (path / table / write_file(path / table, rows, number).name,)
            for table, rows in ((TRIPLES_TABLE, fact_table(mine, 0, 1)), (TERMS, terms))
        ]
        found.append(Bucket(number, BUCKETS, files[0], terms=files[1]))
    return found


def test_a_change_of_many_rows_is_in_files_of_its_buckets(tmp_path: Path) -> None:
    triples = _triples(np.arange(1, BUCKETS * ROWS_WORTH_A_FILE + 1))
    few, many = fact_table(triples[:9], 0, 1), fact_table(triples, 0, 1)
    path = store_path(tmp_path)
    (file,) = write_in_buckets(path, few, BUCKETS)
    assert bucket_if_any(file.name) is None
    files = write_in_buckets(path, many, BUCKETS)
    assert [bucket_if_any(file.name) for file in files] == list(range(BUCKETS))
    assert sum(file.rows for file in files) == len(triples)
    for number, file in enumerate(files):
        subjects = (path / file.name).read_table(many.schema)["s"].to_numpy()
        assert set(bucket_of(subjects, BUCKETS).tolist()) == {number}
