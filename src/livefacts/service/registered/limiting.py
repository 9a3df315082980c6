"""Limits of registered queries: how much one change of their worlds may derive.

They are those of the reasoner.  What it has derived already does not count again where a
world begins; nor do the answers of queries, which are facts only inside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from livefacts.engine.embedded.engine import EmbeddedEngine
from livefacts.engine.embedded.expiringengine import ExpiringEngine
from livefacts.errors import LimitError
from livefacts.model.facts import Symbol
from livefacts.rules.formula import PredicateAtom
from livefacts.rules.program import Rule
from livefacts.service.streams.streamlog import StreamLog


@contextmanager
def allowing(
    engine: EmbeddedEngine | ExpiringEngine,
    *,
    more: Callable[[], int] = lambda: 0,
    times: int = 1,
) -> Iterator[None]:
    """Meanwhile the limit is so many times as high, and higher by so much."""
    limit = engine.limit
    engine.limit = None if limit is None else limit * times + more()
    try:
        yield
    finally:
        engine.limit = limit


def points_of(logs: Iterable[StreamLog], now: int) -> int:
    """At how many time points something has come that is there until now."""
    return max(1, len({time for log in logs for time in log.times[: bisect_right(log.times, now)]}))


def leave_out(engine: EmbeddedEngine | ExpiringEngine, answers: Iterable[Rule]) -> None:
    """What these rules derive is answers, and no limit counts it."""
    heads = [rule.head for rule in answers]
    names = [Symbol(head.name) for head in heads if isinstance(head, PredicateAtom)]
    engine.uncounted = frozenset(engine.dictionary.encode_one(name) for name in names)


def not_reported(name: str, time: int, limit: int | None) -> LimitError:
    """The error of a query whose report is not made."""
    return LimitError(
        f"the rules derive more than {limit:,} facts for the query {name} at {time}; "
        "time has moved on, and its report is still to be made",
        hint="take back what causes it, or raise the limit: advance then goes on with the report",
    )


def not_registered(name: str, limit: int | None) -> LimitError:
    """The error of a query that cannot begin."""
    return LimitError(
        f"the rules derive more than {limit:,} facts for the query {name}; it is not registered",
        hint="raise the limit, or look for a rule that makes ever new values",
    )
