"""Foundation: which facts follow from one asserted triple, whatever else is overdeleted.

A consequence of single triples that has lost support may depend on itself, where other
rules read such consequences and conclude triples that have some.  It does not while an
asserted triple is there that it follows from.  The ways back to such triples are listed for
each kind of consequence: which index to look in, with which key, and for which objects.

Paper: DynamiTE, section 5.2 (what asserted triples support needs no second look).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.registers import lookup_entry
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_kernels import find, row_address
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.machine_code import inlined, kernel, load_int32

MOST_ROWS = 64
"""So many triples are looked at on one way, and no more."""
WAY_FIELDS = 5
WAY_INDEX = 0
WAY_KEY = 1
WAY_NEEDS = 4
FOLLOWED = bits.ASSERTED | bits.VISIBLE | bits.ROOT
UNFOLLOWED = bits.ENDED | bits.NEW_ROOT


class Ways(NamedTuple):
    """The ways back from consequences to triples that they follow from."""

    places: NDArray[np.int64]
    """Open addressing: predicate and object (or 0) of consequences, first way, how many."""
    ways: NDArray[np.int64]
    """The index, the key, and whether only triples with certain objects are meant."""
    objects: NDArray[np.int64]
    """Open addressing: the number of a way and an object that it is meant for."""


NO_WAYS = Ways(*(np.zeros((0, width), np.int64) for width in (4, WAY_FIELDS, 3)))


@inlined
def leads_to_asserted(rows: Any, machine: Any, number: Any, s: Any, o: Any) -> Any:
    """Whether an asserted triple is on a way, and its consequences have been counted."""
    index = machine.ways[number, WAY_INDEX]
    for j in range(rows.indices[index, layout.KEYS]):
        slot = machine.ways[number, WAY_KEY + j]
        machine.probe[j] = slot if slot >= 0 else (s if slot == code.SUBJECT else o)
    row = find(rows, TRIPLES, index, machine.probe, 0)
    link = rows.indices[index, layout.LINK]
    for _ in range(MOST_ROWS):
        if row == 0:
            return False
        cells = row_address(rows, TRIPLES, row)
        if load_int32(cells, layout.FLAGS) & (FOLLOWED | UNFOLLOWED) == FOLLOWED:
            if machine.ways[number, WAY_NEEDS] == 0:
                return True
            obj = np.int64(load_int32(cells, layout.COLUMN + 2))
            if lookup_entry(machine.objects, np.int64(number) + 1, obj + 1) >= 0:
                return True
        if link == 0:
            return False
        row = np.int64(load_int32(cells, link))
    return False


@kernel
def is_founded(rows: Any, machine: Any, relation: Any, cells: Any) -> Any:
    """Whether a fact is seen to follow from one asserted triple."""
    if relation != TRIPLES or machine.places.shape[0] == 0:
        return False
    s, o = load_int32(cells, layout.COLUMN), load_int32(cells, layout.COLUMN + 2)
    first = np.int64(load_int32(cells, layout.COLUMN + 1)) + 1
    for second in (np.int64(o) + 1, np.int64(0)):
        at = lookup_entry(machine.places, first, second)
        if at >= 0:
            begin = machine.places[at, 2]
            for number in range(begin, begin + machine.places[at, 3]):
                if leads_to_asserted(rows, machine, number, s, o):
                    return True
    return False
