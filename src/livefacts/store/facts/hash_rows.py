"""Hash rows: rows of 64-bit hash ids in bulk, put into buckets, sorted, added up and followed.

What Spark tasks do with millions of rows at a time.  Rows are columns of int64 here; a
row in order comes after those with a smaller first, then second, then third number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel
from livefacts.store.terms.byte_text import Number

Column = NDArray[np.int64]
SHORT_RUN = 24
CONSTANT, SUBJECT, OBJECT = 0, 1, 2
"""Where a place of a conclusion comes from: itself, or the triple that it follows from."""


class Facts(NamedTuple):
    """Facts as columns: three ids, how often each follows, and how often it is asserted."""

    s: Column
    p: Column
    o: Column
    support: Column
    asserted: NDArray[np.int32]


# buckets


@kernel
def count_places(places: NDArray[np.uint16], counts: Column) -> None:
    """How many rows each bucket has."""
    for i in range(places.shape[0]):
        counts[places[i]] += 1


@kernel
def fill_places(places: NDArray[np.uint16], starts: Column, order: Column) -> None:
    """Fill `order` with rows by bucket; `starts` is where each bucket begins, then ends."""
    for i in range(places.shape[0]):
        place = places[i]
        order[starts[place]] = i
        starts[place] += 1


def order_by_bucket(places: NDArray[np.uint16], buckets: int) -> tuple[Column, Column]:
    """The rows bucket after bucket, and where each bucket ends.

    >>> order, ends = order_by_bucket(np.array([1, 0, 1], np.uint16), 2)
    >>> order.tolist(), ends.tolist()
    ([1, 0, 2], [1, 3])
    """
    counts = np.zeros(buckets, np.int64)
    count_places(places, counts)
    ends = np.cumsum(counts)
    order = np.empty(len(places), np.int64)
    fill_places(places, ends - counts, order)
    return order, ends


# order


@inlined
def is_after(p: Column, o: Column, i: Number, second: Number, third: Number) -> bool:
    """Whether row i comes after a row with these numbers."""
    return bool(p[i] > second or (p[i] == second and o[i] > third))


@inlined
def sort_run(p: Column, o: Column, order: Column, first: Number, last: Number) -> None:
    """Sort the rows from first to before last; a long run in ever smaller steps."""
    step = 1
    if last - first > SHORT_RUN:
        while step < (last - first) // 3:
            step = 3 * step + 1
    while step > 0:
        for i in range(first + step, last):
            second, third, row = p[i], o[i], order[i]
            j = i
            while j - step >= first and is_after(p, o, j - step, second, third):
                p[j], o[j], order[j] = p[j - step], o[j - step], order[j - step]
                j -= step
            p[j], o[j], order[j] = second, third, row
        step //= 3


@kernel
def sort_runs(s: Column, p: Column, o: Column, order: Column) -> None:
    """Rows that are in the order of s become so in that of p and o as well."""
    count = s.shape[0]
    first = 0
    while first < count:
        last = first + 1
        while last < count and s[last] == s[first]:
            last += 1
        if last - first > 1:
            sort_run(p, o, order, first, last)
        first = last


@kernel
def is_in_order(s: Column, p: Column, o: Column) -> bool:
    """Whether rows are in order; rows that are the same may follow each other."""
    for i in range(1, s.shape[0]):
        if s[i] < s[i - 1]:
            return False
        if s[i] == s[i - 1] and (p[i] < p[i - 1] or (p[i] == p[i - 1] and o[i] < o[i - 1])):
            return False
    return True


@kernel
def add_up(facts: Facts) -> int:
    """Rows in order become one for each fact, counts added up; how many there are."""
    kept = 0
    for i in range(facts.s.shape[0]):
        s, p, o = facts.s[i], facts.p[i], facts.o[i]
        last = kept - 1
        if kept and facts.s[last] == s and facts.p[last] == p and facts.o[last] == o:
            facts.support[last] += facts.support[i]
            facts.asserted[last] += facts.asserted[i]
        else:
            facts.s[kept], facts.p[kept], facts.o[kept] = s, p, o
            facts.support[kept], facts.asserted[kept] = facts.support[i], facts.asserted[i]
            kept += 1
    return kept


def ordered(facts: Facts) -> Facts:
    """Facts in order."""
    s, p, o = (_own(column) for column in facts[:3])
    if is_in_order(s, p, o):
        return Facts(s, p, o, _own(facts.support), np.require(facts.asserted, np.int32, ["C", "W"]))
    order = np.argsort(s)
    s, p, o = s[order], p[order], o[order]
    sort_runs(s, p, o, order)
    return Facts(s, p, o, facts.support[order], facts.asserted[order])


def added_up(facts: Facts) -> Facts:
    """Facts in order, each once, with the sums of its counts; may change its argument.

    >>> twice = Facts(*(np.array([9, 5, 9]) for _ in range(4)), np.ones(3, np.int32))
    >>> found = added_up(twice)
    >>> found.s.tolist(), found.support.tolist(), found.asserted.tolist()
    ([5, 9], [5, 18], [1, 2])
    """
    in_order = ordered(facts)
    count = add_up(in_order)
    s, p, o, support, asserted = in_order
    return Facts(s[:count], p[:count], o[:count], support[:count], asserted[:count])


def _own(column: Column) -> Column:
    # Contiguous and writable: kernels would be compiled again for any other array.
    return np.require(column, np.int64, ["C", "W"])


# consequences


class Kinds(NamedTuple):
    """Kinds of triples in order, and from where to where their conclusions are listed."""

    predicates: Column
    objects: Column
    first: Column
    last: Column


@inlined
def find_kind(kinds: Kinds, predicate: Number, obj: Number) -> int:
    """The place of a kind, or -1."""
    low, high = 0, kinds.predicates.shape[0]
    while low < high:
        middle = (low + high) >> 1
        found = kinds.predicates[middle]
        if found < predicate or (found == predicate and kinds.objects[middle] < obj):
            low = middle + 1
        else:
            high = middle
    is_there = low < kinds.predicates.shape[0] and kinds.predicates[low] == predicate
    return low if is_there and kinds.objects[low] == obj else -1


@kernel
def count_conclusions(p: Column, o: Column, plain: Kinds, named: Kinds, found: Column) -> int:
    """Fill `found` with the place of each triple's kind; how many conclusions there are.

    Places of kinds that name the object come after all others; -1 is for no conclusion.
    """
    total = 0
    for i in range(p.shape[0]):
        place = find_kind(plain, p[i], np.int64(0))
        if place >= 0:
            total += plain.last[place] - plain.first[place]
        else:
            place = find_kind(named, p[i], o[i])
            if place >= 0:
                total += named.last[place] - named.first[place]
                place += plain.predicates.shape[0]
        found[i] = place
    return total


@kernel
def fill_conclusions(
    triples: tuple[Column, Column, Column],
    found: Column,
    plain: Kinds,
    named: Kinds,
    sources: NDArray[np.int8],
    values: NDArray[np.int64],
    out: tuple[Column, Column, Column, Column],
) -> None:
    """Fill `out` with the conclusions of triples and the place of the triple of each."""
    s, _, o = triples
    heads_s, heads_p, heads_o, origin = out
    filled, count = 0, plain.predicates.shape[0]
    for i in range(s.shape[0]):
        place = found[i]
        if place < 0:
            continue
        kinds = plain if place < count else named
        place = place if place < count else place - count
        for head in range(kinds.first[place], kinds.last[place]):
            heads_s[filled] = filled_place(sources[head, 0], values[head, 0], s[i], o[i])
            heads_p[filled] = filled_place(sources[head, 1], values[head, 1], s[i], o[i])
            heads_o[filled] = filled_place(sources[head, 2], values[head, 2], s[i], o[i])
            origin[filled] = i
            filled += 1


@inlined
def filled_place(source: Number, value: Number, s: Number, o: Number) -> Number:
    """A place of a conclusion."""
    if source == SUBJECT:
        return s
    return o if source == OBJECT else value


def conclusions(
    triples: tuple[Column, Column, Column],
    plain: Kinds,
    named: Kinds,
    sources: NDArray[np.int8],
    values: NDArray[np.int64],
) -> tuple[Column, Column, Column, Column]:
    """The conclusions of triples as columns, and the place of the triple of each."""
    s, p, o = (_own(column) for column in triples)
    found = np.empty(len(s), np.int64)
    total = count_conclusions(p, o, plain, named, found)
    out = tuple(np.empty(total, np.int64) for _ in range(4))
    fill_conclusions((s, p, o), found, plain, named, sources, values, out)  # type: ignore[arg-type]
    return out  # type: ignore[return-value]


@kernel
def search(
    first: Column,
    second: Column,
    third: Column,
    wanted: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Fill `found` with the places of wanted rows, -1 for a row that is not there."""
    count = first.shape[0]
    for i in range(wanted.shape[0]):
        a, b, c = wanted[i, 0], wanted[i, 1], wanted[i, 2]
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            is_before = first[middle] < a
            if first[middle] == a:
                is_before = second[middle] < b
                if second[middle] == b:
                    is_before = third[middle] < c
            if is_before:
                low = middle + 1
            else:
                high = middle
        is_there = low < count and first[low] == a and second[low] == b and third[low] == c
        found[i] = low if is_there else -1


def places_of(columns: tuple[Column, Column, Column], wanted: Column) -> Column:
    """The places of rows among sorted columns; -1 for a row that is not there.

    >>> columns = (np.array([1, 1, 4]), np.array([2, 5, 0]), np.array([3, 3, 3]))
    >>> places_of(columns, np.array([[1, 5, 3], [4, 4, 4]])).tolist()
    [1, -1]
    """
    found = np.empty(len(wanted), np.int64)
    # Contiguous and writable: kernels would be compiled again for any other array.
    first, second, third = (np.require(column, np.int64, ["C", "W"]) for column in columns)
    search(first, second, third, np.require(wanted, np.int64, ["C", "W"]), found)
    return found
