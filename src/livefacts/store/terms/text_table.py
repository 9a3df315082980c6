"""The text table: texts of terms in one heap, found by hash, numbered in order of arrival.

A text is kept as the number of a prefix and the rest: IRIs share what stands before their
last `/` or `#`, all other texts have the empty prefix.  One 64-bit record per term holds
its kind, the number of its prefix and where the rest stands in the heap, its length before
it.  A slot of the hash table holds a 32-bit tag and the number of the term plus one.

A term that only facts have brought is transient, it *passes by*, until somebody else asks for
it: rules and queries do.  Its record is negative.  A sweep (garbage collection) reclaims the
transient terms whose ids are in use nowhere: their numbers are free, and are given out again
before new ones.

Kernels never allocate: one that finds no room says how far it came, and is called again
when `Dictionary` has made the tables larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel, length_described, prefetch, tables_reader
from livefacts.store.table_types import Bytes, IntRows, Ints
from livefacts.store.terms.byte_text import (
    Number,
    address_of,
    copy_bytes,
    equal_bytes,
    hash_tag,
    load_byte,
    store_byte,
)

IRI, BLANK, LITERAL, SYMBOL, TRIPLE = range(5)
FREE = 7
"""The kind of a number that no term has; its record holds the next one, plus one."""

INLINE_FIRST = 2**30
INLINE_ZERO = 2**30 + 2**29
INLINE_REACH = 2**29

KIND_SHIFT = 60
PREFIX_SHIFT = 40
OFFSET_MASK = (1 << PREFIX_SHIFT) - 1
PREFIX_MASK = (1 << (KIND_SHIFT - PREFIX_SHIFT)) - 1
LOW_HALF = (1 << 32) - 1
KIND_MASK = 7
ALL_BUT_PASSING = (1 << 63) - 1
PASSING_BIT = np.int64(-(1 << 63))
LONG_TEXT = 255
"""Stands before the length of a rest of so many bytes or more, which then takes four bytes."""
MOST_BEFORE = 5
"""Bytes before a rest, at the most."""

COUNT, HEAP_USED, PREFIX_COUNT, PREFIX_HEAP_USED, BYTES_WANTED = range(5)
LIVE, FIRST_FREE, IS_PASSING, LOOSE = range(5, 9)
ALL_PASS, LABELS_STAY = 1, 2
BLOCK = 64
FREE_PREFIXES = 1024
TERMS_PER_PREFIX = 8
LOAD_NUMERATOR, LOAD_DENOMINATOR = 3, 4

INTEGER_SUFFIX = np.frombuffer(b'"^^<http://www.w3.org/2001/XMLSchema#integer>', np.uint8)
LONGEST_INLINE = 10
"""Characters of the longest inline integer, -536870912."""

QUOTE, LESS_THAN, UNDERSCORE, COLON, SLASH, HASH = 34, 60, 95, 58, 47, 35
MINUS, ZERO, NINE = 45, 48, 57
SCOPES = (102, 116, 117)
"""f, t and u: the scopes of files, texts and updates."""
SCOPE_AGAIN = 114
SHORTEST_SCOPED = 5

NOT_INLINE = -1
NO_ROOM = -1
REPEATED = -2
READY = -1


class TermArrays(NamedTuple):
    """The arrays of the table; `sizes` counts what is used of them, `block` is for work.

    COUNT numbers were given out, LIVE of them have a term; LOOSE terms that pass by may be
    in use nowhere: as many came since the last sweep, or went with facts.  While IS_PASSING is set, those who ask do not keep what they ask for; where LABELS_STAY, labels
    of blank nodes that no scope has given stay: who names one again must be understood.
    """

    slots: Ints
    records: Ints
    heap: Bytes
    prefix_slots: Ints
    prefix_starts: Ints
    prefix_heap: Bytes
    sizes: Ints
    block: IntRows


# Who looks up one term passes one vector: where the arrays are, and after them where the text is.
TEXT_ON_DESK = length_described(TermArrays)
DESK_LENGTH = TEXT_ON_DESK + 1
terms_on = tables_reader(TermArrays)


@inlined
def kind_of_text(address: Number, length: Number) -> Number:
    """What kind of term a text is, by its first bytes."""
    first = load_byte(address) if length else 0
    if first == LESS_THAN:
        is_triple = length > 2 and load_byte(address + 1) == LESS_THAN
        return TRIPLE if is_triple else IRI
    if first == QUOTE:
        return LITERAL
    return BLANK if first == UNDERSCORE else SYMBOL


@inlined
def prefix_length(address: Number, length: Number) -> Number:
    """How many bytes of an IRI stand before its local name."""
    position = length - 1
    while position > 0:
        byte = load_byte(address + position)
        if byte == SLASH:
            return position + 1
        if byte == HASH:
            return position + 1
        position -= 1
    return 0


@inlined
def inline_integer(address: Number, length: Number) -> Number:
    """The id of a text that is a small canonical xsd:integer, or NOT_INLINE."""
    digits = length - INTEGER_SUFFIX.shape[0] - 1
    if digits < 1 or digits > LONGEST_INLINE or load_byte(address) != QUOTE:
        return NOT_INLINE
    if not equal_bytes(address + 1 + digits, address_of(INTEGER_SUFFIX), INTEGER_SUFFIX.shape[0]):
        return NOT_INLINE
    start = address + 1
    stop = start + digits
    negative = load_byte(start) == MINUS
    if negative:
        start += 1
    if start == stop or (load_byte(start) == ZERO and (negative or stop - start > 1)):
        return NOT_INLINE
    value = np.int64(0)
    for position in range(start, stop):
        byte = np.int64(load_byte(position))
        if byte < ZERO or byte > NINE:
            return NOT_INLINE
        value = value * 10 + (byte - ZERO)
    if negative:
        value = -value
    if value < -INLINE_REACH or value >= INLINE_REACH:
        return NOT_INLINE
    return value + INLINE_ZERO


@inlined
def rest_of(terms: TermArrays, record: Number) -> tuple[Number, Number]:
    """Where the rest of a text stands, and how many bytes it has."""
    address = address_of(terms.heap) + (record & OFFSET_MASK)
    length = np.int64(load_byte(address))
    if length < LONG_TEXT:
        return address + 1, length
    length = np.int64(0)
    for place in range(4):
        length |= np.int64(load_byte(address + 1 + place)) << (8 * place)
    return address + MOST_BEFORE, length


@inlined
def put_rest(target: Number, address: Number, length: Number) -> Number:
    """Write the rest of a text and its length; the address after it."""
    if length < LONG_TEXT:
        store_byte(target, np.uint8(length))
        target += 1
    else:
        store_byte(target, np.uint8(LONG_TEXT))
        for place in range(4):
            store_byte(target + 1 + place, np.uint8((length >> (8 * place)) & 255))
        target += MOST_BEFORE
    copy_bytes(target, address, length)
    return target + length


@inlined
def has_text(terms: TermArrays, number: Number, address: Number, length: Number) -> bool:
    """Whether the term of this number has this text."""
    record = terms.records[number]
    start, rest = rest_of(terms, record)
    prefix = (record >> PREFIX_SHIFT) & PREFIX_MASK
    prefix_start = terms.prefix_starts[prefix]
    shared = terms.prefix_starts[prefix + 1] - prefix_start
    if shared + rest != length:
        return False
    if not equal_bytes(start, address + shared, rest):
        return False
    return equal_bytes(address_of(terms.prefix_heap) + prefix_start, address, shared)


@inlined
def find_text(
    terms: TermArrays, address: Number, length: Number, tag: Number
) -> tuple[Number, Number]:
    """The number of the term with this text, or -1; and the slot where it is or belongs."""
    mask = terms.slots.shape[0] - 1
    slot = tag & mask
    while True:
        entry = terms.slots[slot]
        if entry == 0:
            return np.int64(-1), slot
        if (entry >> 32) & LOW_HALF == tag:
            number = (entry & LOW_HALF) - 1
            if has_text(terms, number, address, length):
                return number, slot
        slot = (slot + 1) & mask


@inlined
def prefix_number(terms: TermArrays, address: Number, length: Number) -> Number:
    """The number of a prefix, which is kept if it is new; 0, the empty one, if too many are."""
    tag = hash_tag(address, length)
    mask = terms.prefix_slots.shape[0] - 1
    slot = tag & mask
    heap = address_of(terms.prefix_heap)
    while terms.prefix_slots[slot]:
        entry = terms.prefix_slots[slot]
        if (entry >> 32) & LOW_HALF == tag:
            number = entry & LOW_HALF
            start = terms.prefix_starts[number]
            if terms.prefix_starts[number + 1] - start == length and equal_bytes(
                heap + start, address, length
            ):
                return number
        slot = (slot + 1) & mask
    number = terms.sizes[PREFIX_COUNT]
    if number > PREFIX_MASK or number > FREE_PREFIXES + terms.sizes[LIVE] // TERMS_PER_PREFIX:
        return np.int64(0)
    used = terms.sizes[PREFIX_HEAP_USED]
    copy_bytes(heap + used, address, length)
    terms.prefix_slots[slot] = (tag << 32) | number
    terms.prefix_starts[number + 1] = used + length
    terms.sizes[PREFIX_COUNT] = number + 1
    terms.sizes[PREFIX_HEAP_USED] = used + length
    return number


@inlined
def is_handed_out(address: Number, length: Number) -> bool:
    """Whether the text of a blank node is a label of a scope, such as `_:t1_x` or `_:f5r1_x`."""
    if length < SHORTEST_SCOPED or load_byte(address + 2) not in SCOPES:
        return False
    position = address + 3
    while position < address + length:
        byte = load_byte(position)
        if byte == UNDERSCORE:
            return bool(position > address + 3)
        if byte != SCOPE_AGAIN and (byte < ZERO or byte > NINE):
            return False
        position += 1
    return False


@inlined
def add_text(
    terms: TermArrays, address: Number, length: Number, tag: Number, slot: Number
) -> Number:
    """Give a new text the next number; there is room, and `slot` is where it belongs."""
    kind = kind_of_text(address, length)
    shared = 0
    prefix = np.int64(0)
    if kind == IRI:
        shared = prefix_length(address, length)
        if shared:
            prefix = prefix_number(terms, address, shared)
            if prefix == 0:
                shared = 0
    number = next_number(terms)
    used = terms.sizes[HEAP_USED]
    heap = address_of(terms.heap)
    record = (np.int64(kind) << KIND_SHIFT) | (prefix << PREFIX_SHIFT) | used
    passing = terms.sizes[IS_PASSING]
    if passing == ALL_PASS or (
        passing == LABELS_STAY and (kind != BLANK or is_handed_out(address, length))
    ):
        record |= PASSING_BIT
        terms.sizes[LOOSE] += 1
    terms.records[number] = record
    terms.slots[slot] = (tag << 32) | (number + 1)
    terms.sizes[HEAP_USED] = put_rest(heap + used, address + shared, length - shared) - heap
    return number


@inlined
def next_number(terms: TermArrays) -> Number:
    """A number for a new term: one that is free, or the next."""
    terms.sizes[LIVE] += 1
    free = terms.sizes[FIRST_FREE]
    if free:
        terms.sizes[FIRST_FREE] = terms.records[free - 1] & OFFSET_MASK
        return free - 1
    number = terms.sizes[COUNT]
    terms.sizes[COUNT] = number + 1
    return number


@inlined
def keep_term(terms: TermArrays, number: Number) -> None:
    """Who asks for a term may keep it, unless all that is asked for passes by."""
    if terms.records[number] < 0 and not terms.sizes[IS_PASSING]:
        terms.records[number] &= ALL_BUT_PASSING


@inlined
def has_room(terms: TermArrays, texts: Number, size: Number) -> bool:
    """Whether so many new texts of so many bytes fit, with as much again to work in."""
    sizes = terms.sizes
    live = sizes[LIVE] + texts
    prefixes = sizes[PREFIX_COUNT] + texts
    return bool(
        live * LOAD_DENOMINATOR <= terms.slots.shape[0] * LOAD_NUMERATOR
        and sizes[COUNT] + texts < terms.records.shape[0]
        and sizes[HEAP_USED] + 2 * size <= terms.heap.shape[0]
        and prefixes * LOAD_DENOMINATOR <= terms.prefix_slots.shape[0] * LOAD_NUMERATOR
        and prefixes < terms.prefix_starts.shape[0]
        and sizes[PREFIX_HEAP_USED] + size <= terms.prefix_heap.shape[0]
    )


@kernel
def move_slots(old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
    """Put the entries of a hash table into a larger one."""
    mask = new.shape[0] - 1
    for entry in old:
        if entry:
            slot = (entry >> 32) & LOW_HALF & mask
            while new[slot]:
                slot = (slot + 1) & mask
            new[slot] = entry


@kernel
def look_up(desk: NDArray[np.int64], length: Number, keeps: bool) -> Number:
    """The id of the text on the desk, or -1; who `keeps` it changes the table."""
    address = desk[TEXT_ON_DESK]
    inline = inline_integer(address, length)
    if inline != NOT_INLINE:
        return inline
    terms = terms_on(desk)
    number, _slot = find_text(terms, address, length, hash_tag(address, length))
    if number >= 0 and keeps:
        keep_term(terms, number)
    return number


@kernel
def look_up_spans(
    terms: TermArrays,
    buffer: NDArray[np.uint8],
    ends: NDArray[np.int64],
    ids: NDArray[np.int32],
    keeps: bool,
) -> None:
    """Fill `ids` with the ids of texts that stand one after the other; -1 for an unknown one.

    Who `keeps` what is found changes the table; nobody else but its owner may.
    """
    address = address_of(buffer)
    start = np.int64(0)
    for i in range(ends.shape[0]):
        length = ends[i] - start
        inline = inline_integer(address + start, length)
        if inline != NOT_INLINE:
            ids[i] = inline
        else:
            tag = hash_tag(address + start, length)
            number, _slot = find_text(terms, address + start, length, tag)
            if number >= 0 and keeps:
                keep_term(terms, number)
            ids[i] = number
        start = ends[i]


@kernel
def intern(desk: NDArray[np.int64], length: Number) -> Number:
    """The id of the text on the desk, added if it is new; or NO_ROOM."""
    terms, address = terms_on(desk), desk[TEXT_ON_DESK]
    inline = inline_integer(address, length)
    if inline != NOT_INLINE:
        return inline
    tag = hash_tag(address, length)
    number, slot = find_text(terms, address, length, tag)
    if number >= 0:
        keep_term(terms, number)
        return number
    if not has_room(terms, 1, length + MOST_BEFORE):
        terms.sizes[BYTES_WANTED] = length + MOST_BEFORE
        return np.int64(NO_ROOM)
    return add_text(terms, address, length, tag, slot)


@inlined
def scoped_label(
    target: Number, address: Number, length: Number, scope: NDArray[np.uint8]
) -> Number:
    """Write `_:` scope `_` label for the blank node `_:` label; its length."""
    store_byte(target, np.uint8(UNDERSCORE))
    store_byte(target + 1, np.uint8(COLON))
    middle = target + 2
    copy_bytes(middle, address_of(scope), scope.shape[0])
    middle += scope.shape[0]
    store_byte(middle, np.uint8(UNDERSCORE))
    copy_bytes(middle + 1, address + 2, length - 2)
    return length + scope.shape[0] + 1


@kernel
def intern_spans(
    terms: TermArrays,
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    scope: NDArray[np.uint8],
    done: Number,
    ids: NDArray[np.int32],
) -> Number:
    """Fill `ids` with the ids of spans of text from number `done` on; how far it came.

    Memory is asked for ahead of its use, 64 spans at a time: first the slots, then the
    records, then the texts.  A span that is the third one before it (the subject of the
    line before) is not looked up again.
    """
    base = address_of(buffer)
    addresses = terms.block[0]
    lengths = terms.block[1]
    tags = terms.block[2]
    slots = address_of(terms.slots)
    records = address_of(terms.records)
    heap = address_of(terms.heap)
    mask = terms.slots.shape[0] - 1
    total = starts.shape[0]
    while done < total:
        stop = min(total, done + BLOCK)
        size = 0
        for i in range(done, stop):
            size += ends[i] - starts[i] + scope.shape[0] + 1 + MOST_BEFORE
        if not has_room(terms, stop - done, size):
            terms.sizes[BYTES_WANTED] = size
            return done
        # Scoped labels are composed in the half of the room that new texts cannot reach.
        scratch = heap + terms.sizes[HEAP_USED] + size
        for i in range(done, stop):
            k = i - done
            if i >= 3 and starts[i] == starts[i - 3] and ends[i] == ends[i - 3]:
                lengths[k] = REPEATED
                continue
            address = base + starts[i]
            length = ends[i] - starts[i]
            first = load_byte(address)
            if first == UNDERSCORE and scope.shape[0]:
                length = scoped_label(scratch, address, length, scope)
                address = scratch
                scratch += length
            elif first == QUOTE:
                inline = inline_integer(address, length)
                if inline != NOT_INLINE:
                    ids[i] = inline
                    lengths[k] = READY
                    continue
            addresses[k] = address
            lengths[k] = length
            tags[k] = hash_tag(address, length)
            prefetch(slots + 8 * (tags[k] & mask))
        for k in range(stop - done):
            if lengths[k] >= 0:
                entry = terms.slots[tags[k] & mask]
                if entry:
                    prefetch(records + 8 * ((entry & LOW_HALF) - 1))
        for k in range(stop - done):
            if lengths[k] >= 0:
                entry = terms.slots[tags[k] & mask]
                if entry:
                    prefetch(heap + (terms.records[(entry & LOW_HALF) - 1] & OFFSET_MASK))
        for i in range(done, stop):
            k = i - done
            if lengths[k] >= 0:
                number, slot = find_text(terms, addresses[k], lengths[k], tags[k])
                if number < 0:
                    number = add_text(terms, addresses[k], lengths[k], tags[k], slot)
                else:
                    keep_term(terms, number)
                ids[i] = number
            elif lengths[k] == REPEATED:
                ids[i] = ids[i - 3]
        done = stop
    return done


@inlined
def kind_of_id(terms: TermArrays, number: Number) -> Number:
    """What kind of term an id stands for."""
    if number >= INLINE_FIRST:
        return np.int64(LITERAL)
    return (terms.records[number] >> KIND_SHIFT) & KIND_MASK


@kernel
def mark_statements(
    desk: NDArray[np.int64], triples: NDArray[np.int32], marks: NDArray[np.bool_]
) -> bool:
    """Mark the triples whose subject, predicate and object RDF allows there; whether all do."""
    terms = terms_on(desk)
    are_all = True
    for i in range(triples.shape[0]):
        subject = kind_of_id(terms, triples[i, 0])
        marks[i] = (
            subject in (IRI, BLANK)
            and kind_of_id(terms, triples[i, 1]) == IRI
            and kind_of_id(terms, triples[i, 2]) != SYMBOL
        )
        are_all = are_all and marks[i]
    return are_all


@kernel
def sweep(terms: TermArrays, held: NDArray[np.uint8], swept: TermArrays) -> Number:
    """Free the numbers of terms that pass by and are not held; how many that are.

    `swept` has copies of the records and sizes, and room for slots and texts: it becomes the
    table.  The table as it was stays so, for those who still read it.
    """
    sizes = swept.sizes
    freed = 0
    for number in range(sizes[COUNT]):
        record = swept.records[number]
        if record < 0 and (record >> KIND_SHIFT) & KIND_MASK != FREE and not held[number]:
            free = (np.int64(FREE) << KIND_SHIFT) | sizes[FIRST_FREE]
            swept.records[number] = free | PASSING_BIT
            sizes[FIRST_FREE] = number + 1
            freed += 1
    sizes[LIVE] -= freed
    sizes[LOOSE] = 0
    used = np.int64(0)
    base = address_of(swept.heap)
    for number in range(sizes[COUNT]):
        record = swept.records[number]
        if (record >> KIND_SHIFT) & KIND_MASK != FREE:
            address, length = rest_of(terms, record)
            swept.records[number] = (record & ~np.int64(OFFSET_MASK)) | used
            used = put_rest(base + used, address, length) - base
    sizes[HEAP_USED] = used
    mask = swept.slots.shape[0] - 1
    for entry in terms.slots:
        if entry:
            record = swept.records[(entry & LOW_HALF) - 1]
            if (record >> KIND_SHIFT) & KIND_MASK != FREE:
                slot = (entry >> 32) & LOW_HALF & mask
                while swept.slots[slot]:
                    slot = (slot + 1) & mask
                swept.slots[slot] = entry
    return freed
