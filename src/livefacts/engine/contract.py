"""The contract of an engine: facts by shape, changes in, deltas of ids out.

A shape is `TRIPLES`, or one more than the arity of a predicate; its rows are columns of
ids, the predicate's own first for predicate facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]


NO_FACTS: Mapping[int, Ids] = MappingProxyType({})


class IdDelta(NamedTuple):
    """The net change of what is true, by shape."""

    added: Mapping[int, Ids]
    removed: Mapping[int, Ids]
    derived: Mapping[int, Flags]
    """For each added fact, whether it was derived rather than asserted."""
    newly_derived: Mapping[int, Ids] = NO_FACTS
    """Facts, new or not, that a rule derives now and none did before."""
    newly_underived: Mapping[int, Ids] = NO_FACTS
    """Facts that no rule derives any more, gone or not."""
