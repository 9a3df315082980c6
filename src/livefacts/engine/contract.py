"""What an engine promises: changes in, deltas of ids out.

A shape is `TRIPLES`, or one more than the arity of a predicate; its rows are columns of
ids, the predicate's own first for predicate facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class IdDelta:
    """The net change of what is true, by shape."""

    added: dict[int, Ids] = field(default_factory=dict)
    removed: dict[int, Ids] = field(default_factory=dict)
    derived: dict[int, Flags] = field(default_factory=dict)
    """For each added fact, whether it was concluded rather than told."""
    newly_derived: dict[int, Ids] = field(default_factory=dict)
    """Facts, new or not, that a rule derives now and none did before."""
    newly_underived: dict[int, Ids] = field(default_factory=dict)
    """Facts that no rule derives any more, gone or not."""
