"""Fact texts: facts in the numbers of a dictionary as texts, and back.

A row of the journal has each term once, and facts as numbers into these terms; it means the same
to any dictionary, and labels of blank nodes come back as they were.  Many facts are a Parquet
file beside the journal, of which the row has the name and a digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.errors import DamageError
from livefacts.journal import file_operations
from livefacts.journal.log_file import BEFORE, digest_of
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.id_reader import TermReader

Parts = Mapping[str, Mapping[int, Ids]]
"""Facts by what a change did with them, and by shape; quads have the shape `QUADS`."""
Terms = Dictionary | TermReader
TRIPLES, QUADS = 0, -1
WIDTHS = {TRIPLES: 3, QUADS: 4}
MANY = 100_000
"""More facts than these are a file of their own."""
PIECE = 1 << 15
"""So many of them are written together."""
TERMS, ROWS, FILE, DIGEST = "terms", "rows", "file", "digest"


def count(parts: Parts) -> int:
    """How many facts there are."""
    return sum(len(ids) for facts in parts.values() for ids in facts.values())


def pack(parts: Parts, dictionary: Terms) -> dict[str, Any]:
    """Facts as plain data: the texts of their terms, and rows of places among these."""
    flat = [ids.reshape(-1) for facts in parts.values() for ids in facts.values()]
    if not flat:
        return {}
    terms, places = np.unique(np.concatenate(flat), return_inverse=True)
    texts = texts_of(terms.astype(np.int32), dictionary)
    rows: dict[str, dict[str, list[int]]] = {}
    first = 0
    for name, facts in parts.items():
        for shape, ids in facts.items():
            if ids.size:
                mine = places[first : first + ids.size].tolist()
                rows.setdefault(name, {})[str(shape)] = mine
                first += ids.size
    return {TERMS: texts, ROWS: rows} if rows else {}


def unpack(packed: Mapping[str, Any], dictionary: Dictionary) -> dict[str, dict[int, Ids]]:
    """Facts in the numbers of a dictionary."""
    if TERMS not in packed:
        return {}
    numbers = number_texts(packed[TERMS], dictionary)
    return {
        name: {
            int(shape): numbers[np.array(places, np.int64)].reshape(-1, _width(int(shape)))
            for shape, places in facts.items()
        }
        for name, facts in packed[ROWS].items()
    }


def unpack_net(
    contents: Sequence[Mapping[str, Any]], came: str, went: str, dictionary: Dictionary
) -> dict[str, dict[int, Ids]]:
    """What came and went by several rows, one after the other, in the end.

    What one of them both removes and adds is there afterwards.
    """
    texts: list[str] = []
    places: dict[int, list[int]] = {}
    signs: dict[int, list[bool]] = {}
    for packed in contents:
        first, rows = len(texts), packed.get(ROWS, {})
        texts += packed.get(TERMS, ())
        for name in (went, came):
            for key, mine in rows.get(name, {}).items():
                shape = int(key)
                places.setdefault(shape, []).extend([first + place for place in mine])
                signs.setdefault(shape, []).extend([name == came] * (len(mine) // _width(shape)))
    numbers = number_texts(texts, dictionary)
    found: dict[str, dict[int, Ids]] = {came: {}, went: {}}
    for shape, mine in places.items():
        ids = numbers[np.array(mine, np.int64)].reshape(-1, _width(shape))
        latest, is_there = _latest(ids, np.array(signs[shape], np.bool_))
        found[came][shape], found[went][shape] = latest[is_there], latest[~is_there]
    return found


def _latest(ids: Ids, signs: NDArray[np.bool_]) -> tuple[Ids, NDArray[np.bool_]]:
    """Each fact once, with the last of its signs."""
    latest, places = np.unique(ids[::-1], axis=0, return_index=True)
    return latest, signs[::-1][places]


def _width(shape: int) -> int:
    return WIDTHS.get(shape, shape)


def texts_of(ids: Ids, dictionary: Terms) -> list[str]:
    """Texts by which any dictionary knows the terms of ids; symbols begin with a quote."""
    packed, ends = dictionary.packed_texts(ids)
    data, starts = packed.tobytes(), [0, *ends.tolist()]
    return [data[first:end].decode() for first, end in pairwise(starts)]


def number_texts(texts: list[str], dictionary: Dictionary) -> Ids:
    """The numbers that a dictionary gives to texts of terms."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(each) for each in encoded], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    data = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    return dictionary.encode_spans(data, starts, ends, b"")


# parts of a row


def counts_of(packed: Mapping[str, Any], folder: Path) -> dict[str, int]:
    """How many facts each part of a row has."""
    if FILE in packed:
        kinds = _many(folder, packed)["part"].value_counts().to_pylist()
        return {each["values"]: each["counts"] for each in kinds}
    return {
        name: sum(len(places) // _width(int(shape)) for shape, places in facts.items())
        for name, facts in packed.get(ROWS, {}).items()
    }


def only_in(packed: Mapping[str, Any], folder: Path, part: str, other: str) -> int:
    """How many facts of one part of a row are not in another, whatever the graph."""
    return len(_members(packed, folder, part) - _members(packed, folder, other))


def _members(packed: Mapping[str, Any], folder: Path, part: str) -> set[tuple[Any, ...]]:
    if FILE in packed:
        rows = _many(folder, packed, filters=[("part", "==", part)]).to_pylist()
        return {_member(row["shape"], row["fact"]) for row in rows}
    return {
        _member(int(shape), fact)
        for shape, places in packed.get(ROWS, {}).get(part, {}).items()
        for fact in zip(*[iter(places)] * _width(int(shape)), strict=True)
    }


def _member(shape: int, fact: Sequence[Any]) -> tuple[Any, ...]:
    return (TRIPLES, *fact[:3]) if shape == QUADS else (shape, *fact)


# many facts


def write_many(path: Path, parts: Parts, dictionary: Terms) -> dict[str, Any]:
    """Facts as a file that is on the disk; what the row says of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    with pq.ParquetWriter(buffer, _many_schema(), compression="zstd") as writer:
        # Piece by piece: Ctrl-C is heard between two of them.
        for piece in _pieces(parts, dictionary):
            writer.write_table(piece)
    data = buffer.getvalue().to_pybytes()
    file_operations.replace_file(path, data)
    return {FILE: path.name, DIGEST: digest_of(data).hex()}


def _many_schema() -> Any:
    import pyarrow as pa

    fact = pa.list_(pa.string())
    return pa.schema([("part", pa.string()), ("shape", pa.int64()), ("fact", fact)])


def _pieces(parts: Parts, dictionary: Terms) -> Iterator[Any]:
    """Tables of some facts each, with the texts of their terms."""
    import pyarrow as pa

    for name, facts in parts.items():
        for shape, ids in facts.items():
            for first in range(0, len(ids), PIECE):
                rows = ids[first : first + PIECE]
                texts = _texts(np.ascontiguousarray(rows).reshape(-1), dictionary)
                columns = [
                    pa.repeat(pa.scalar(name), len(rows)),
                    pa.repeat(pa.scalar(shape), len(rows)),
                    pa.ListArray.from_arrays(_offsets(rows.size, rows.shape[1]), texts),
                ]
                yield pa.table(columns, _many_schema())


def _texts(ids: Ids, dictionary: Terms) -> Any:
    """The texts of ids, as a column."""
    import pyarrow as pa

    packed, ends = dictionary.packed_texts(ids)
    offsets = np.append(0, ends)
    return pa.LargeStringArray.from_buffers(
        len(ids), pa.py_buffer(offsets), pa.py_buffer(packed)
    ).cast(pa.string())


def _offsets(count: int, width: int) -> Any:
    import pyarrow as pa

    return pa.array(np.arange(0, count + 1, width, dtype=np.int32))


def many_as_written(folder: Path, packed: Mapping[str, Any]) -> bytes:
    """The file that a row names, which must be as it was written."""
    path: Path = folder / packed[FILE]
    try:
        data: bytes = path.read_bytes()
    except OSError as error:
        raise DamageError(f"{path} cannot be read: {error.strerror}", hint=BEFORE) from error
    if digest_of(data).hex() != packed[DIGEST]:
        raise DamageError(f"{path} is not as it was written", hint=BEFORE)
    return data


def _many(folder: Path, packed: Mapping[str, Any], **options: Any) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(many_as_written(folder, packed)), **options)


def read_many(
    folder: Path, packed: Mapping[str, Any], dictionary: Dictionary
) -> dict[str, dict[int, Ids]]:
    """The facts of a file that a row names."""
    import pyarrow as pa

    table = _many(folder, packed).combine_chunks()
    found: dict[str, dict[int, Ids]] = {}
    kinds = table.select(["part", "shape"]).group_by(["part", "shape"]).aggregate([])
    for kind in kinds.to_pylist():
        part, shape = kind["part"], kind["shape"]
        is_mine = pa.compute.and_(
            pa.compute.equal(table["part"], part), pa.compute.equal(table["shape"], shape)
        )
        values = table.filter(is_mine)["fact"].combine_chunks().flatten().dictionary_encode()
        numbers = number_texts(values.dictionary.to_pylist(), dictionary)
        places: NDArray[np.int32] = values.indices.to_numpy()
        found.setdefault(part, {})[shape] = numbers[places].reshape(-1, _width(shape))
    return found
