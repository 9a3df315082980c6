"""Held snapshots: versions of a reasoner that are kept over several changes, and read late.

Each must show what the oracle found when it was taken, whatever has changed since: facts in all
three forms, single facts, triples by a query, violations, clock and number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyoxigraph import Triple

import livefacts as lf
from livefacts.service.reasoner.fact_snapshot import FactSnapshot

EVERY, MOST = 3, 3
"""A snapshot is taken after so many changes, and read when there are more than these."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is true by the oracle; what is asserted, where it knows exactly; and violations."""

    facts: set[Any]
    violations: set[Any]
    asserted: set[Any] | None = None


@dataclass(slots=True)
class HeldSnapshots:
    """Snapshots of one reasoner, with what they must show."""

    changes: int = 0
    held: deque[tuple[FactSnapshot, Expected, int | None, int]] = field(default_factory=deque)

    def take(self, reasoner: lf.Reasoner, expected: Expected) -> Iterator[str]:
        """After a change: hold what there is now, and say what is wrong about the oldest one."""
        self.changes += 1
        if self.changes % EVERY == 0:
            seq = reasoner._state.seq
            self.held.append((reasoner.snapshot(), expected, reasoner.now, seq))
        if len(self.held) > MOST:
            yield from self.differences(1)

    def differences(self, count: int | None = None) -> Iterator[str]:
        """What is wrong about the oldest ones, which are given back."""
        for _ in range(len(self.held) if count is None else count):
            snapshot, expected, now, seq = self.held.popleft()
            with snapshot:
                for problem in _wrong(snapshot, expected):
                    yield f"the snapshot of {seq} is wrong about {problem}"
                if (snapshot.now, snapshot.seq) != (now, seq):
                    yield f"the snapshot of {seq} is of {snapshot.seq}, at {snapshot.now}"


def _wrong(snapshot: FactSnapshot, expected: Expected) -> Iterator[str]:
    facts, asserted = expected.facts, expected.asserted
    listed = [list(snapshot.facts(derived=derived)) for derived in (None, False, True)]
    if set(listed[0]) != facts or len(listed[0]) != len(facts) or len(snapshot) != len(facts):
        yield f"facts: {sorted(map(str, set(listed[0]) ^ facts))[:4]}, {len(snapshot)}"
    if set(listed[1]) | set(listed[2]) != facts or len(listed[1]) + len(listed[2]) != len(facts):
        yield "what is asserted and what is derived"
    if asserted is not None and set(listed[1]) != asserted:
        yield f"what is asserted: {sorted(map(str, set(listed[1]) ^ asserted))[:4]}"
    if not all(fact in snapshot for fact in facts) or lf.Fact("nobody", ("x",)) in snapshot:
        yield "single facts"
    rows: Any = snapshot.query("SELECT ?s ?p ?o { ?s ?p ?o }")
    if {Triple(*row) for row in rows} != {fact for fact in facts if isinstance(fact, Triple)}:
        yield "the triples of a query"
    violations = snapshot.violations()
    if {(v.constraint, frozenset(v.bindings.items())) for v in violations} != expected.violations:
        yield "violations"
