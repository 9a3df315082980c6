"""Fact rows: facts as rows of ids in arrays by shape, and one by one as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import TRIPLES, Ids

Rows: TypeAlias = Mapping[int, Ids]
"""Facts by shape."""
Key: TypeAlias = tuple[int, bytes]
"""A fact: its shape and its row."""
FACTORS = np.random.default_rng(1).integers(1, 1 << 62, 64) | 1
"""Odd numbers, one for each column of a row: different rows have different sums, almost always."""


def row_bytes(ids: Ids) -> list[bytes]:
    """The rows of an array, each as bytes."""
    if len(ids) == 1:
        return [ids.astype(np.int32, copy=False).tobytes()]
    ids = np.ascontiguousarray(ids, np.int32)
    whole = np.dtype((np.void, ids.shape[1] * ids.itemsize))
    return ids.view(whole).reshape(-1).tolist()  # type: ignore[return-value]


def row_ids(rows: list[bytes]) -> Ids:
    """The array of rows that are bytes, of which there is at least one."""
    # Of bytes that can be written to: kernels would be compiled again for any other array.
    return np.frombuffer(bytearray().join(rows), np.int32).reshape(len(rows), -1)


def keys_of(facts: Rows) -> Iterator[Key]:
    """The facts of an array, one by one."""
    for shape, ids in facts.items():
        yield from ((shape, row) for row in row_bytes(ids))


def facts_of(keys: Iterable[Key]) -> dict[int, Ids]:
    """Facts one by one, as arrays by shape."""
    rows: dict[int, list[bytes]] = {}
    for shape, row in keys:
        rows.setdefault(shape, []).append(row)
    return {shape: row_ids(found) for shape, found in rows.items()}


def united(parts: Iterable[Rows]) -> dict[int, Ids]:
    """The facts of several parts, by shape."""
    found: dict[int, list[Ids]] = {}
    for part in parts:
        for shape, ids in part.items():
            if len(ids):
                found.setdefault(shape, []).append(ids)
    return {s: ids[0] if len(ids) == 1 else np.concatenate(ids) for s, ids in found.items()}


def netted(changes: Iterable[tuple[Rows, Rows]]) -> tuple[dict[int, Ids], dict[int, Ids]]:
    """What several changes, one after the other, add and remove in the end."""
    net: dict[Key, int] = {}
    for added, removed in changes:
        for facts, sign in ((removed, -1), (added, 1)):
            for key in keys_of(facts):
                net[key] = net.get(key, 0) + sign
    came, gone = (facts_of(key for key, n in net.items() if n == sign) for sign in (1, -1))
    return came, gone


def distinct_rows(ids: Ids) -> Ids:
    """Each row once, in the order in which they come first."""
    if len(ids) < 2 or _are_distinct(ids):
        return ids
    rows = dict.fromkeys(row_bytes(ids))
    return ids if len(rows) == len(ids) else row_ids(list(rows))


def _are_distinct(ids: Ids) -> bool:
    """Whether no row comes twice, seen from sums; if two rows have the same, they may still differ."""
    sums = ids @ FACTORS[: ids.shape[1]]
    sums.sort()
    return bool((sums[1:] != sums[:-1]).all())


def different(column: NDArray[np.integer[Any]]) -> set[int]:
    """The values of a column that has mostly long runs of each."""
    begins = np.empty(len(column), np.bool_)
    begins[:1] = True
    np.not_equal(column[1:], column[:-1], out=begins[1:])
    return set(column[begins].tolist())


def predicate_of(shape: int, ids: Ids) -> Ids:
    """The column that says what facts are about: the predicate of triples, or the name."""
    column: Ids = ids[:, 1] if shape == TRIPLES else ids[:, 0]
    return column
