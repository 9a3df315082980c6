"""Byte text: reading, comparing, copying and hashing text at addresses, inside kernels.

Kernels that handle text work on addresses, eight bytes at a time, and never touch a byte
outside of the span that they were given.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined

Number: TypeAlias = Any
"""An integer of a kernel, which is a machine number there and an int outside."""

WORD = 8
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SEED = np.uint64(0xCBF29CE484222325)
TAG_SHIFT = np.uint64(32)
FOLD_SHIFT = np.uint64(29)


def _loader(cell: Any) -> Any:
    @intrinsic
    def load(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], ir.IntType(cell.bitwidth).as_pointer())
            return builder.load(pointer, align=1)

        return cell(types.int64), generate

    return load


def _storer(cell: Any) -> Any:
    @intrinsic
    def store(typing_context: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], ir.IntType(cell.bitwidth).as_pointer())
            builder.store(arguments[1], pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, cell), generate

    return store


load_word = _loader(types.uint64)
"""The eight bytes at an address, which need not be aligned."""
load_byte = _loader(types.uint8)
store_word = _storer(types.uint64)
store_byte = _storer(types.uint8)


@inlined
def address_of(array: NDArray[Any]) -> Number:
    """Where the first cell of an array is."""
    return np.int64(array.ctypes.data)


@inlined
def hash_tag(address: Number, length: Number) -> Number:
    """A number below 2**32 that is nearly always different for different texts."""
    h = SEED ^ (np.uint64(length) * MULTIPLIER)
    position = 0
    while position + WORD <= length:
        h = (h ^ load_word(address + position)) * MULTIPLIER
        h ^= h >> FOLD_SHIFT
        position += WORD
    while position < length:
        h = (h ^ np.uint64(load_byte(address + position))) * MULTIPLIER
        h ^= h >> FOLD_SHIFT
        position += 1
    return np.int64(h >> TAG_SHIFT)


@inlined
def equal_bytes(left: Number, right: Number, length: Number) -> bool:
    """Whether two texts of one length are the same."""
    position = 0
    while position + WORD <= length:
        if load_word(left + position) != load_word(right + position):
            return False
        position += WORD
    while position < length:
        if load_byte(left + position) != load_byte(right + position):
            return False
        position += 1
    return True


@inlined
def copy_bytes(target: Number, source: Number, length: Number) -> None:
    """Copy a text to a place that it does not overlap."""
    position = 0
    while position + WORD <= length:
        store_word(target + position, load_word(source + position))
        position += WORD
    while position < length:
        store_byte(target + position, load_byte(source + position))
        position += 1
