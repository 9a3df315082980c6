"""Rows that are packed into blocks come out as they were."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from livefacts.kb.buckets import ALIGNMENT, Blocks, bucket_of, contents, parcel, posted

TERMS = pa.schema([("id", pa.int64()), ("text", pa.large_string())])


def received(*parcels: pa.RecordBatch) -> dict[int, Blocks]:
    found: dict[int, Blocks] = {}
    for each in parcels:
        for bucket, kind, origin, block in contents(each):
            found.setdefault(bucket, Blocks()).put(kind, origin, block)
    return found


@pytest.mark.parametrize("count", [0, 1, 7, 300])
@pytest.mark.parametrize("buckets", [1, 3, 64])
def test_rows_arrive_in_their_bucket_and_texts_with_them(count: int, buckets: int) -> None:
    ids = np.random.default_rng(count).integers(0, 1 << 50, count) * 8
    texts = [f"<urn:{'x' * int(id % 11)}{id}>" for id in ids]
    found = received(posted("terms", pa.table([ids, texts], TERMS), ids, buckets))
    arrived = {
        (bucket, row["id"], row["text"])
        for bucket, blocks in found.items()
        for row in blocks.rows("terms", TERMS).to_pylist()
    }
    homes = bucket_of(ids, buckets).tolist()
    assert arrived == set(zip(homes, ids.tolist(), texts, strict=True))


def test_every_block_begins_where_numbers_may_begin() -> None:
    sent = parcel("odd", 0, [0, 1, 2], [b"a", b"", b"123456789"])
    blocks = [block for *_, block in contents(sent)]
    assert [len(block) for block in blocks] == [8, 0, 16]
    assert all(block.address % ALIGNMENT == blocks[0].address % ALIGNMENT for block in blocks)


def test_an_origin_that_is_left_out_leaves_nothing_behind() -> None:
    ids = np.arange(4, dtype=np.int64) * 8
    table = pa.table([ids, list("abcd")], TERMS)
    parcels = [posted("terms", table, ids, 1, origin) for origin in (1, 2)]
    blocks = received(*parcels, posted("more", table, ids, 1, 2))[0]
    assert len(blocks.rows("terms", TERMS)) == 8
    kept = blocks.without(blocks.origins("more"))
    assert kept.found.keys() == {"terms"}
    assert len(kept.rows("terms", TERMS)) == 4
    assert blocks.without(set()) is blocks


def test_empty_blocks_reach_all_buckets_if_they_are_to() -> None:
    none = pa.table([np.zeros(0, np.int64), []], TERMS)
    found = received(posted("terms", none, np.zeros(0, np.int64), 3, to_all=True))
    assert found.keys() == {0, 1, 2}
    assert [len(blocks.rows("terms", TERMS)) for blocks in found.values()] == [0, 0, 0]
