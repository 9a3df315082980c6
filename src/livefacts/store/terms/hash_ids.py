"""Hash ids: ids that need no table, 64 bits of hash of which three say what kind of term it is.

The hash is XXH64 with the seed 42 over the UTF-8 text of the term, bit for bit what Spark's
`xxhash64` gives; the three low bits are then the kind of term.  Two processes that never
spoke to each other give a term the same id.

Two texts may have the same hash.  Whoever hands out such ids has to look for that; with
another salt the hash of a text is another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel
from livefacts.store.terms.byte_text import Number, address_of, load_byte, load_word
from livefacts.store.terms.text_table import BLANK, IRI, LITERAL, SYMBOL, TRIPLE

HashIds = NDArray[np.int64]

SPARK_SEED = 42
KIND_BITS = 3
KIND_MASK = (1 << KIND_BITS) - 1
STRIPE, WORD, HALF = 32, 8, 4
P1 = np.uint64(0x9E3779B185EBCA87)
P2 = np.uint64(0xC2B2AE3D27D4EB4F)
P3 = np.uint64(0x165667B19E3779F9)
P4 = np.uint64(0x85EBCA77C2B2AE63)
P5 = np.uint64(0x27D4EB2F165667C5)


@inlined
def rotated(x: Number, bits: Number) -> Number:
    """The bits of a word moved to the left, around the end."""
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@inlined
def stirred(lane: Number, word: Number) -> Number:
    """A lane after one more word."""
    return rotated(lane + word * P2, 31) * P1


@inlined
def merged(h: Number, lane: Number) -> Number:
    """The hash after one more lane."""
    return (h ^ stirred(np.uint64(0), lane)) * P1 + P4


@inlined
def hash_text(address: Number, length: Number, seed: Number) -> Number:
    """XXH64 of the bytes at an address."""
    position = 0
    seed = np.uint64(seed)
    if length >= STRIPE:
        a, b, c, d = seed + P1 + P2, seed + P2, seed, seed - P1
        while position + STRIPE <= length:
            a = stirred(a, load_word(address + position))
            b = stirred(b, load_word(address + position + 8))
            c = stirred(c, load_word(address + position + 16))
            d = stirred(d, load_word(address + position + 24))
            position += STRIPE
        h = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)
        h = merged(merged(merged(merged(h, a), b), c), d)
    else:
        h = seed + P5
    h += np.uint64(length)
    while position + WORD <= length:
        h = rotated(h ^ stirred(np.uint64(0), load_word(address + position)), 27) * P1 + P4
        position += WORD
    if position + HALF <= length:
        half = np.uint64(0)
        for i in range(HALF):
            half |= np.uint64(load_byte(address + position + i)) << np.uint64(8 * i)
        h = rotated(h ^ (half * P1), 23) * P2 + P3
        position += HALF
    while position < length:
        h = rotated(h ^ (np.uint64(load_byte(address + position)) * P5), 11) * P1
        position += 1
    h = (h ^ (h >> np.uint64(33))) * P2
    h = (h ^ (h >> np.uint64(29))) * P3
    return h ^ (h >> np.uint64(32))


@kernel
def hash_spans(
    buffer: NDArray[np.uint8], ends: NDArray[np.int64], seed: Number, out: NDArray[np.uint64]
) -> None:
    """Fill `out` with the hashes of texts that follow each other; each ends at its end."""
    base = address_of(buffer)
    start = 0
    for i in range(ends.shape[0]):
        out[i] = hash_text(base + start, ends[i] - start, seed)
        start = ends[i]


def hashes(text: NDArray[np.uint8], ends: NDArray[np.int64], salt: int = 0) -> NDArray[np.uint64]:
    """The hashes of texts that follow each other, each ending at its end."""
    found = np.empty(len(ends), np.uint64)
    hash_spans(_own(text), np.ascontiguousarray(ends, np.int64), SPARK_SEED + salt, found)
    return found


def term_ids(
    found: NDArray[np.uint64], kinds: NDArray[np.uint8], bits: int = 64 - KIND_BITS
) -> HashIds:
    """Hashes with the kinds of their terms in the low bits; `bits` of each hash are kept.

    Fewer bits than there are make collisions, to see that they do no harm.
    """
    kept = np.uint64((((1 << bits) - 1) << KIND_BITS) & (2**64 - 1))
    return ((found & kept) | kinds.astype(np.uint64)).view(np.int64)


def kinds_of(ids: Any) -> Any:
    """The kinds of the terms of ids: IRI, BLANK, LITERAL, SYMBOL or TRIPLE."""
    return ids & KIND_MASK


def id_of_text(text: str, kind: int, salt: int = 0, bits: int = 64 - KIND_BITS) -> int:
    """The id of one text.

    >>> id_of_text("<http://example.org/ada>", IRI) & KIND_MASK == IRI
    True
    """
    data = np.frombuffer(bytearray(text.encode() or b" "), np.uint8)
    found = hashes(data, np.array([len(text.encode())]), salt)
    return int(term_ids(found, np.array([kind], np.uint8), bits)[0])


def kind_of_text(text: str) -> int:
    """The kind of term that N-Triples writes so.

    >>> [kind_of_text(text) for text in ("<x:a>", "_:b", '"c"', "<<( <x:a> <x:b> <x:c> )>>")]
    [0, 1, 2, 4]
    """
    if text.startswith("<<("):
        return TRIPLE
    return {"<": IRI, "_": BLANK, '"': LITERAL}.get(text[:1], SYMBOL)


def _own(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # Contiguous, writable and not empty: kernels would be compiled again for other arrays.
    return np.require(text, np.uint8, ["C", "W"]) if len(text) else np.zeros(1, np.uint8)
