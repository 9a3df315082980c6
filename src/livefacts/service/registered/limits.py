"""Limits of registered queries: how much one change of their worlds may derive.

They are those of the reasoner.  What it has derived already does not count again where a
world begins; nor do the answers of queries, which are facts only inside.

A query whose world derives more has no report for that time, and says why; it is asked
again at its next one.  Other queries do not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from livefacts.engine.contract import TRIPLES, LimitedEngine
from livefacts.errors import LimitError
from livefacts.language.formula import PredicateAtom
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.service.streams.arrival_log import ArrivalView
from livefacts.service.streams.fact_rows import Rows
from livefacts.service.streams.window_contents import FAR

UNLIMITED = nullcontext()


def allowing(
    engine: LimitedEngine, *, more: Callable[[], int] = lambda: 0, times: int = 1
) -> AbstractContextManager[None]:
    """While this is entered, the limit of an engine is `limit * times + more()`, if it has one."""
    limit = engine.limit
    return UNLIMITED if limit is None else _limited(engine, limit, limit * times + more())


@contextmanager
def _limited(engine: LimitedEngine, limit: int, meanwhile: int) -> Iterator[None]:
    engine.limit = meanwhile
    try:
        yield
    finally:
        engine.limit = limit


def beginning(
    engine: LimitedEngine,
    views: Iterable[ArrivalView],
    now: int,
    replaced: int | None,
    conclusions: Callable[[], int],
) -> AbstractContextManager[None]:
    """Raise the limit while a world takes in, in one change, all that has arrived so far.

    Each time point may derive as much as the limit.  A world that takes the place of one in
    which too much was derived may have as many more conclusions as that one had.
    """
    if replaced is None:
        return allowing(engine, times=points_of(views, now))
    return allowing(engine, more=lambda: max(0, replaced - conclusions()))


def points_of(views: Iterable[ArrivalView], now: int) -> int:
    """At how many time points something has come that is there until now."""
    return max(1, len({time for view in views for time in view.between(-FAR, now)}))


def leave_out(engine: LimitedEngine, answers: Iterable[Rule]) -> None:
    """What these rules derive is answers, and no limit counts it."""
    heads = [rule.head for rule in answers]
    names = [Symbol(head.name) for head in heads if isinstance(head, PredicateAtom)]
    engine.uncounted = frozenset(map(engine.dictionary.encode_one, names))


def conclusions_in(engine: LimitedEngine, derived: Rows) -> int:
    """How many of the facts that an engine has derived are no answers."""
    answers = list(engine.uncounted)
    return sum(
        len(ids) if shape == TRIPLES else int((~np.isin(ids[:, 0], answers)).sum())
        for shape, ids in derived.items()
    )


def not_reported(name: str, time: int, limit: int | None, cause: LimitError) -> LimitError:
    """The error of a report that is not made."""
    if limit is None:
        return LimitError(f"no report of the query {name} at {time}: {cause.message}")
    return LimitError(
        f"the rules derive more than {limit:,} facts for the query {name} at {time}; "
        "there is no report for that time",
        hint="raise the limit, or take back what causes it; "
        "the query is asked again at its next report",
    )


def lacking(name: str, time: int, stream: str, gap: int) -> LimitError:
    """The error of a report about a stream that a query did not make at some time."""
    return LimitError(
        f"the query {name} has no report for {time}: <{stream}> was not made at {gap}",
        hint=f"see why the query {stream} was not reported then",
    )


def not_registered(name: str, limit: int | None, cause: LimitError) -> LimitError:
    """The error of a query that cannot begin."""
    if limit is None:
        return LimitError(f"the query {name} is not registered: {cause.message}")
    return LimitError(
        f"the rules derive more than {limit:,} facts for the query {name}; it is not registered",
        hint="raise limit= (@limit in the rules), or look for a rule that makes ever new values",
    )
