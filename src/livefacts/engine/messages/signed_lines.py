"""Signed lines: where the terms of triples start and end, and whether they come or go.

Lines of N-Triples go through the scanner of the store; a line of RDF Patch is one with a
letter before it.  Whatever the scanner is not sure of is left to a parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode

from livefacts.store.machine_code import kernel
from livefacts.store.terms.line_scanner import Spans, scan

NEWLINE, RETURN, SPACE = 10, 13, 32
ADDS, REMOVES = 65, 68
"""A and D, which rows of RDF Patch begin with."""
NOT_PLAIN = -1


Graph: TypeAlias = NamedNode | BlankNode | None
"""The name of a graph; None is the default graph."""


class Messages(NamedTuple):
    """Triples that come (1) or go (-1), in their order, as places in one text.

    `starts` and `ends` have three places a triple; the terms are canonical N-Triples.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    signs: NDArray[np.int32]
    times: Sequence[int | None] = ()
    """The time of each message; none at all if no message has one."""
    graphs: Sequence[Graph] = ()
    """The graph that each message is about; none at all if that is always the default graph."""

    def piece(self, first: int, last: int) -> Messages:
        """Messages number `first` to before `last`."""
        places = slice(3 * first, 3 * last)
        return Messages(
            self.text,
            self.starts[places],
            self.ends[places],
            *(each[first:last] for each in (self.signs, self.times, self.graphs)),  # type: ignore[arg-type]
        )

    @property
    def time(self) -> int | None:
        """The time of the last message that has one."""
        return next((time for time in reversed(self.times) if time is not None), None)


def canonical(
    lines: str,
    signs: NDArray[np.int32],
    times: Sequence[int | None] = (),
    graphs: Sequence[Graph] = (),
) -> Messages:
    """Messages from triples as pyoxigraph writes them, each followed by a line feed."""
    text = np.frombuffer(bytearray(lines.encode()), np.uint8)
    starts, ends = np.empty((2, 3 * len(signs)), np.int64)
    split_lines(text, starts, ends)
    return Messages(text, starts, ends, signs, times, graphs if any(graphs) else ())


def scanned(content: bytes, sign: int = 0) -> Messages | None:
    """Messages from plain N-Triples, or of plain rows of RDF Patch if no sign is given.

    None where anything is not plain.
    """
    text = np.frombuffer(bytearray(content + b"\n"), np.uint8)
    most = content.count(b"\n") + 1
    signs = np.full(most, sign, np.int32)
    if not sign:
        found = take_signs(text, signs)
        if found == NOT_PLAIN:
            return None
        signs = signs[:found]
    starts, ends = np.empty((2, 3 * most), np.int64)
    graphs = np.empty(most, np.int64)
    spans = Spans(starts, ends, graphs, graphs, np.empty((1, 3), np.int64))
    _, _, count, slow = scan(text, 0, len(content), 1, False, spans)
    if slow or (not sign and count != len(signs)):
        return None
    return Messages(text, starts[: 3 * count], ends[: 3 * count], signs[:count])


@kernel
def take_signs(text: Any, signs: Any) -> Any:
    """Replace the letter of each row by a space; how many rows there are, or NOT_PLAIN."""
    count = 0
    at = 0
    while at < text.shape[0]:
        if text[at] != NEWLINE and text[at] != RETURN:
            if (text[at] != ADDS and text[at] != REMOVES) or text[at + 1] != SPACE:
                return NOT_PLAIN
            signs[count] = 1 if text[at] == ADDS else -1
            text[at] = SPACE
            count += 1
            while text[at] != NEWLINE:
                if text[at] == RETURN and text[at + 1] != NEWLINE:
                    return NOT_PLAIN
                at += 1
        at += 1
    return count


@kernel
def split_lines(text: Any, starts: Any, ends: Any) -> Any:
    """The places of the terms of triples in canonical N-Triples, a line each, without dots.

    No subject and no predicate has a space in it, and no term a line feed.
    """
    at = 0
    for k in range(starts.shape[0]):
        starts[k] = at
        stop = NEWLINE if k % 3 == 2 else SPACE
        while text[at] != stop:
            at += 1
        ends[k] = at
        at += 1
