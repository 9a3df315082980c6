"""The end of a stream history: what holds there is verified, and lasts as long as it is said to.

Since when a fact holds is when it was last reported to begin.  Until when it will is what the
oracle finds at the time points to come, if nothing more happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.oracle.streams import visible
from tests.properties.compare.stream_histories import Pair
from tests.properties.generate.stream_histories import ADVANCE, TICKS, Act, StreamHistory

from livefacts.service.streams.lifetimes import Lasting

AHEAD = 30
"""More time points than any window of a history has."""
MOST = 4


def ended(history: StreamHistory) -> Iterator[str]:
    """What is wrong when a history has ended."""
    pair, began = Pair(history), dict[Any, int | None]()
    for act in history.acts:
        if act.kind in (ADVANCE, TICKS):
            act = replace(act, kind=TICKS)
        for time, held in _seen(pair, act):
            began = {fact: began.get(fact, time) for fact in held}
    if pair.now is None:
        return
    report = pair.reasoner.verify()
    if not report.ok:
        yield str(report)
    for fact in sorted(visible(pair.model(pair.now).output), key=str)[:MOST]:
        yield from _explained(pair, fact, began[fact])


def _seen(pair: Pair, act: Act) -> Iterator[tuple[int | None, set[Any]]]:
    """What holds after an act, and at the time points that pass while it happens."""
    before = pair.now
    list(pair.follow(act))
    if pair.now is None:
        yield None, set(pair.held)
        return
    first = pair.oracle.begin(pair.now) if before is None else before + 1
    for time in range(first, pair.now):
        yield time, pair.model(time).facts
    yield pair.now, pair.model(pair.now).facts


def _explained(pair: Pair, fact: Any, since: int | None) -> Iterator[str]:
    explanation = pair.reasoner.explain(fact)
    if not explanation.holds:
        yield f"{fact} has no proof"
        return
    lasting = explanation.lasting or Lasting()
    expected = Lasting(since, _last(pair, fact))
    if lasting != expected:
        yield f"{fact} is said to hold {lasting}, not {expected}"


def _last(pair: Pair, fact: Any) -> int | None:
    """The last time point at which a fact holds in silence; None if it does not end."""
    assert pair.now is not None
    for time in range(pair.now + 1, pair.now + AHEAD):
        if fact not in pair.oracle.model(pair.program, time).facts:
            return time - 1
    return None
