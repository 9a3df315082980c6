"""The worked examples of the definition: rules, what arrives when, and what holds then.

Times are written before a colon.  `a(u)@2` arrives with the time point 2, `-a(w)@3` is taken
back; without `@`, the time point is the one before the colon.  In a table, `38-39` stands for
each of the time points, and a time point with nothing behind it is one without output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode
from tests.oracle.timeline import Timeline

from livefacts.model.facts import Fact
from livefacts.rules.program import Program
from livefacts.syntax.rulefile import parse

LINE = re.compile(r"(\d+)(?:-(\d+))?:([^:]*)(?=\s\d+(?:-\d+)?:|$)")
ITEM = re.compile(r"(-?)([a-z]\w*(?:\([^()]*\))?)(?:@(\d+))?")


@dataclass(frozen=True, slots=True)
class Event:
    """A fact that arrives, or is taken back, when the clock shows `known`."""

    known: int
    fact: Fact
    time: int
    is_retraction: bool = False
    stream: NamedNode | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """One example; `start` is its first time point, `background` facts that hold always."""

    name: str
    rules: str
    start: int
    arrivals: str
    output: str
    background: str = ""
    streams: tuple[tuple[str, str], ...] = ()
    """For predicates that arrive on a stream of their own, the stream."""

    def program(self) -> Program:
        return parse(self.rules)

    def events(self) -> list[Event]:
        stream_of = {name: NamedNode(iri) for name, iri in self.streams}
        return [
            Event(known, fact, known if time is None else time, gone, stream_of.get(fact.name))
            for known, items in times(self.arrivals)
            for gone, fact, time in items
        ]

    def table(self) -> dict[int, set[Fact]]:
        return {known: {fact for _, fact, _ in items} for known, items in times(self.output)}

    def told(self) -> list[Fact]:
        return [fact for _, fact, _ in _items(self.background)]

    def timeline(self, now: int) -> Timeline:
        """What is known when the clock shows `now`."""
        timeline = Timeline(self.start)
        for fact in self.told():
            timeline.add(fact)
        for event in self.events():
            if event.known <= now:
                act = timeline.retract if event.is_retraction else timeline.push
                act(event.fact, event.time, event.stream)
        return timeline


def times(text: str) -> Iterator[tuple[int, list[tuple[bool, Fact, int | None]]]]:
    """The time points of a text, in order, each with what stands behind it."""
    for first, last, items in LINE.findall(" ".join(text.split())):
        for time in range(int(first), int(last or first) + 1):
            yield time, _items(items)


def _items(text: str) -> list[tuple[bool, Fact, int | None]]:
    return [
        (bool(sign), fact_of(fact), int(time) if time else None)
        for sign, fact, time in ITEM.findall(text)
    ]


def fact_of(text: str) -> Fact:
    (fact,) = parse(f"{text} .").facts
    assert isinstance(fact, Fact)
    return fact


EXAMPLES = (
    Example(
        "E1: a time window is joined with a window of facts",
        "q(?x, ?y, ?z) :- sometime a(?x, ?y) in [3], sometime b(?y, ?z) in [3 facts] .",
        35,
        "36: a(x1, y)  38: a(x2, y) b(y, z)  40: a(x3, y)",
        """35-37:  38-39: q(x1, y, z) q(x2, y, z)
           40-41: q(x2, y, z) q(x3, y, z)  42: q(x3, y, z)""",
    ),
    Example(
        "E1: of two facts at one time point the one that came first leaves first",
        "in_a(?x) :- sometime a(?x, y) in [2 facts] . in_b :- sometime b(y, z) in [2 facts] .",
        35,
        "36: a(x1, y)  38: a(x2, y) b(y, z)  40: a(x3, y)",
        "38-39: in_a(x2) in_b  40-41: in_a(x3) in_b",
    ),
    Example(
        "E2: sometime in a window lasts as long as the window after the last arrival",
        "q(?x) :- sometime a(?x) in [9] .",
        0,
        "5: a(y)  8: a(y)",
        "0-4:  5-17: q(y)  18-20:",
    ),
    Example(
        "E3: always in a window needs every time point of it",
        "q(?x) :- always a(?x) in [2] .",
        0,
        "5: a(y)  6: a(y)  7: a(y)",
        "0-6:  7: q(y)  8-10:",
    ),
    Example(
        "E4: always is clipped where the stream begins, and a gap ends it",
        "q :- always a in [2] .",
        0,
        "0: a  1: a  2: a  4: a  5: a  6: a  7: a",
        "0-2: q  3-5:  6-7: q  8-9:",
    ),
    Example(
        "E5: a conclusion of a plain head holds only now",
        """b :- sometime a in [5] .
           c :- sometime b in [2] .
           d :- always b in [2] .
           w(?t) :- at ?t b in [2] .""",
        0,
        "1: a",
        """0:  1: b c w(1)  2: b c w(2)  3: b c w(3)  4: b c w(4)  5: b c w(5)  6: b c w(6)
           7:""",
    ),
    Example(
        "E6: a head that lies ahead is seen when its time has come",
        """at ?w b :- at ?t a in [4], ?w = ?t + 2 .
           c :- b .
           d :- sometime b in [1] .""",
        0,
        "1: a",
        "0-2:  3: b c d  4: d  5-6:",
    ),
    Example(
        "E7: the window of a head is shorter than that of an always",
        """at ?t b :- at ?t a in [1] .
           x :- always b in [1] .
           y :- always b in [2] .""",
        0,
        "0: a  1: a  2: a  3: a  4: a  5: a",
        "0-1: b x y  2-5: b x  6-7:",
    ),
    Example(
        "E8: a negation ends with an arrival and begins again with an expiry",
        """alarm(?x) :- sometime hot(?x) in [3], not sometime ok(?x) in [1] .
           seen(?x) :- sometime hot(?x) in [8] .""",
        1,
        "2: hot(k)  3: ok(k)",
        "1:  2: alarm(k) seen(k)  3-4: seen(k)  5: alarm(k) seen(k)  6-10: seen(k)  11-20:",
    ),
    Example(
        "E9: not at a time point that has not come yet",
        """@retain ack 10 .
           m(?t) :- at ?t req in [3], ?u = ?t + 1, ?u < 5, not at ?u ack .""",
        1,
        "1: req  2: ack req  4: req",
        "1: m(1)  2-5: m(2)  6-7:",
    ),
    Example(
        "E10: a window of facts counts all facts in the order of arrival",
        "q(?x) :- sometime a(?x) in [2 facts] . w(?t) :- at ?t a(?x) in [2 facts] .",
        1,
        "1: a(u) b  2: a(v)  4: a(w) a(z)",
        "1: q(u) w(1)  2-3: q(v) w(2)  4-5: q(w) q(z) w(4)",
    ),
    Example(
        "E11: a window of facts with a retraction and a late fact",
        "q(?x) :- sometime a(?x) in [2 facts] .",
        1,
        "1: a(u)  2: a(v)  3: a(w)  5: -a(w)@3  6: a(y)@2  7: a(x)",
        "1: q(u)  2: q(u) q(v)  3-4: q(v) q(w)  5: q(u) q(v)  6: q(v) q(y)  7: q(x) q(y)",
    ),
    Example(
        "E12: a late fact repairs an always",
        "q(?x) :- sometime a(?x) in [3] . b :- always a(k) in [2] .",
        1,
        """1: a(k)  2: a(u)  3: a(k)  4: a(k) a(k)@2  5: -a(k)@4 a(m)@1
           6: a(m)@2""",
        "1: b q(k)  2-3: q(k) q(u)  4: b q(k) q(u)  5: q(k) q(u)  6: q(k)  7:",
    ),
    Example(
        "E13: background holds at every time point of every window",
        """near(?x, ?y) :- sometime seen(?x, ?r) in [2], road(?r, ?y) .
           z(?t) :- at ?t road(r, z) in [1] .""",
        1,
        "2: seen(u, r)",
        """1: z(1)  2: near(u, z) z(1) z(2)  3: near(u, z) z(2) z(3)  4: near(u, z) z(3) z(4)
           5: z(4) z(5)""",
        background="road(r, z)",
    ),
    Example(
        "E14: recursion with windows of two sizes and a renewal",
        """t(?x, ?y) :- sometime e(?x, ?y) in [4] .
           t(?x, ?z) :- t(?x, ?y), sometime e(?y, ?z) in [2] .""",
        1,
        "1: e(a, b)  3: e(b, c)  5: e(a, b)  6: e(b, c)",
        """1-2: t(a, b)  3-8: t(a, b) t(b, c) t(a, c)  9: t(a, b) t(b, c)  10: t(b, c)
           11-12:""",
    ),
    Example(
        "E15: the cooling system",
        """at ?t steam(?v) :- at ?t temp(?v) in [2], ?v >= 100 .
           at ?t liquid(?v) :- at ?t temp(?v) in [2], ?v >= 1, ?v < 100 .
           at ?t isSteam :- at ?t steam(?v) in [2] .
           at ?t isLiquid :- at ?t liquid(?v) in [2] .
           alarm :- always isSteam in [2] .
           normal :- always isLiquid in [2] .
           freeze :- not alarm, not normal .
           veryHot(?t) :- at ?t steam(?v) in [2], ?v >= 150 .
           veryCold(?t) :- at ?t liquid(?v) in [2], ?v = 1 .""",
        0,
        """0: temp(50)  1: temp(60)  2: temp(1)  3: temp(120)  4: temp(160)  5: temp(110)
           7: temp(-3)  8: temp(20)""",
        """0: isLiquid liquid(50) normal
           1: isLiquid liquid(60) normal
           2: isLiquid liquid(1) normal veryCold(2)
           3: freeze isSteam steam(120) veryCold(2)
           4: freeze isSteam steam(160) veryCold(2) veryHot(4)
           5: alarm isSteam steam(110) veryHot(4)
           6: freeze veryHot(4)
           7: freeze
           8: freeze isLiquid liquid(20)
           9: freeze""",
    ),
)
"""The examples of rules: their tables are what is concluded at each time point."""

IS_IN = "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) ."
POSITIONS = "http://example.org/positions"
DATA = "1: isIn(a, b)  2: isIn(b, c)  3: isIn(c, d)  4: isIn(a, e) isIn(e, d)"

DECLARED = (
    Example(
        "E16: facts that expire, and what follows from them",
        f"@stream <{POSITIONS}> in [range 10 step 1] . {IS_IN}",
        1,
        DATA,
        """1: isIn(a, b)
           2: isIn(a, b) isIn(b, c) isIn(a, c)
           3: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, c) isIn(b, d) isIn(a, d)
           4-10: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, c) isIn(b, d)
                 isIn(a, d)
           11: isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(b, d) isIn(a, d)
           12: isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, d)
           13: isIn(a, e) isIn(e, d) isIn(a, d)
           14-15:""",
        streams=(("isIn", POSITIONS),),
    ),
    Example(
        "E16: with closed bounds all goes one time point later",
        f"@stream <{POSITIONS}> in [range 10 step 1 closed] . {IS_IN}",
        1,
        DATA,
        """4-11: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, c) isIn(b, d)
                 isIn(a, d)
           12: isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(b, d) isIn(a, d)
           13: isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, d)
           14: isIn(a, e) isIn(e, d) isIn(a, d)
           15-16:""",
        streams=(("isIn", POSITIONS),),
    ),
    Example(
        "E17: a renewal, and a retraction before the end",
        f"@stream <{POSITIONS}> in [range 10 step 1] . {IS_IN}",
        1,
        f"{DATA}  6: isIn(a, b)  8: -isIn(e, d)@4",
        """4-7: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, c) isIn(b, d)
                isIn(a, d)
           8-11: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(a, c) isIn(b, d) isIn(a, d)
           12: isIn(a, b) isIn(c, d) isIn(a, e)
           13: isIn(a, b) isIn(a, e)
           14-15: isIn(a, b)
           16:""",
        streams=(("isIn", POSITIONS),),
    ),
    Example(
        "E18: two streams with windows of their own",
        """@stream <http://example.org/pos> in [range 3 step 1] .
           @stream <http://example.org/jams> in [range 6 step 2] .
           alert(?x, ?z) :- pos(?x, ?y), jam(?y, ?z) .""",
        1,
        "1: pos(u, r)  3: jam(r, hi)  4: jam(r, lo)  5: pos(u, r)  8: pos(v, r)",
        """1-3: pos(u, r)
           4: jam(r, hi) jam(r, lo)
           5-7: jam(r, hi) jam(r, lo) pos(u, r) alert(u, hi) alert(u, lo)
           8-9: jam(r, hi) jam(r, lo) pos(v, r) alert(v, hi) alert(v, lo)
           10: pos(v, r)
           11-12:""",
        streams=(("pos", "http://example.org/pos"), ("jam", "http://example.org/jams")),
    ),
)
"""The examples of declared streams: their tables are all that holds at each time point."""
