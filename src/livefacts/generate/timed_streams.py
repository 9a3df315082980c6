"""Timed streams: atoms at every time point, and the rules that look at them through a window.

The four kinds are those of the evaluation of Laser (Bazoobandi, Beck and Urbani, 2017):
`diamond`, atoms that never come again, which are kept for a window; `box`, the same atoms at
every time point, so that they hold always; `join`, random edges that are joined in a window;
and `cooling`, readings of a temperature, judged by nine rules.

The paper does not say from how many nodes edges are drawn.  Here there are as many as edges in
eighty time points, the largest window of the paper, so that a window of that size has about as
many paths of two edges as it has edges; `nodes` says otherwise.  Readings of one time point
differ from each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from livefacts.errors import InputError

DIAMOND, BOX, JOIN, COOLING = "diamond", "box", "join", "cooling"
KINDS = (DIAMOND, BOX, JOIN, COOLING)
LONGEST_WINDOW = 80
COLDEST, HOTTEST = -100, 1000
PROGRAMS = {
    DIAMOND: ("q(?a, ?b) :- sometime p(?a, ?b) in [{window}] .",),
    BOX: ("q(?a, ?b) :- always p(?a, ?b) in [{window}] .",),
    JOIN: ("q(?a, ?c) :- sometime p(?a, ?b) in [{window}], sometime p(?b, ?c) in [{window}] .",),
    COOLING: (
        "at ?t steam(?v) :- at ?t temp(?v) in [{window}], ?v >= 100 .",
        "at ?t liquid(?v) :- at ?t temp(?v) in [{window}], ?v >= 1, ?v < 100 .",
        "at ?t isSteam :- at ?t steam(?v) in [{window}] .",
        "at ?t isLiquid :- at ?t liquid(?v) in [{window}] .",
        "alarm :- always isSteam in [{window}] .",
        "normal :- always isLiquid in [{window}] .",
        "freeze :- not alarm, not normal .",
        "veryHot(?t) :- at ?t steam(?v) in [{window}], ?v >= 150 .",
        "veryCold(?t) :- at ?t liquid(?v) in [{window}], ?v = 1 .",
    ),
}
Atom = tuple[str, str, str] | tuple[str, int]


@dataclass(frozen=True)
class TimedStream:
    """A stream of `points` time points with `rate` atoms each, for a `window` of so many points.

    >>> print(*TimedStream("diamond", points=2, rate=1, window=10).rules())
    q(?a, ?b) :- sometime p(?a, ?b) in [10] .
    >>> list(TimedStream("box", points=2, rate=1).lines())
    [b'{"at": 0, "facts": "p(a0, b0) ."}\\n', b'{"at": 1, "facts": "p(a0, b0) ."}\\n']
    """

    kind: str
    points: int
    rate: int = 200
    window: int = 10
    seed: int = 0
    nodes: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"there is no stream {self.kind}", hint=f"use {', '.join(KINDS)}")

    def rules(self) -> Iterator[str]:
        """The rules, each a line."""
        for rule in PROGRAMS[self.kind]:
            yield rule.format(window=self.window)

    def atoms(self) -> Iterator[list[Atom]]:
        """The atoms of each time point, as tuples."""
        pick = Random(self.seed)
        nodes = self.nodes or LONGEST_WINDOW * max(1, self.rate)
        for point in range(self.points):
            match self.kind:
                case "diamond":
                    first = point * self.rate
                    yield [("p", f"a{n}", f"b{n}") for n in range(first, first + self.rate)]
                case "box":
                    yield [("p", f"a{n}", f"b{n}") for n in range(self.rate)]
                case "join":
                    ends = (
                        (pick.randrange(nodes), pick.randrange(nodes)) for _ in range(self.rate)
                    )
                    yield [("p", f"n{one}", f"n{other}") for one, other in ends]
                case _:
                    span = range(COLDEST, max(HOTTEST, 2 * self.rate))
                    yield [("temp", value) for value in pick.sample(span, self.rate)]

    def lines(self) -> Iterator[bytes]:
        """Timed facts as JSON, a line for each time point."""
        for point, atoms in enumerate(self.atoms()):
            facts = " ".join(f"{name}({', '.join(map(str, rest))}) ." for name, *rest in atoms)
            yield json.dumps({"at": point, "facts": facts}).encode() + b"\n"
