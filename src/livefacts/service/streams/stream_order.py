"""The order of registered queries: those that make a stream before those that read it."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from livefacts.errors import QueryError
from livefacts.language.registration import RegisteredQuery


def ordered(queries: Sequence[RegisteredQuery]) -> list[str]:
    """The names of the queries in order; the last query is refused if it closes a circle."""
    makers = {query.name for query in queries if query.makes_stream}
    reads = {
        query.name: [window.stream for window in query.windows if window.stream in makers]
        for query in queries
    }
    try:
        return list(TopologicalSorter(reads).static_order())
    except CycleError as error:
        circle = " reads ".join(reversed(error.args[1]))
        raise QueryError(
            f"streams that are made of each other: {circle}",
            place=queries[-1].place,
            hint="let one of them read a stream that is pushed",
        ) from None
