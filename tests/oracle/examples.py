"""Worked examples of rules with time: rules, what arrives when, and what holds then.

Times are written before a colon.  `a(u)@2` arrives with the time point 2, `-a(w)@3` is taken
back; without `@`, the time point is the one before the colon; `~kitchen` names a stream.  In a
table, `38-39` stands for each of the time points, and a time point with nothing behind it is
one without output.

E1 to E3 and E15 are the examples of the paper on Laser: `tests/papers/test_laser.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple
from tests.oracle.timeline import Timeline

from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.syntax.rulelang.rule_parser import parse

CLOCK = re.compile(r"(?:^|\s)(\d+)(?:-(\d+))?:(?=\s|$)")
ITEM = re.compile(r"(-?)(\[[^]]*\]|[a-z]\w*(?:\([^()]*\))?)(?:@(\d+))?(?:~(\w+))?")
EX = "http://example.org/"


@dataclass(frozen=True, slots=True)
class Event:
    """A fact that arrives, or is taken back, when the clock shows `known`."""

    known: int
    fact: Triple | Fact
    time: int
    stream: NamedNode | None = None
    is_retraction: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """One example; `start` is its first time point, `background` facts that hold always."""

    name: str
    rules: str
    start: int
    arrivals: str
    output: str
    background: str = ""

    def program(self) -> Program:
        return parse(f"@prefix ex: <{EX}> . {self.rules}")

    def events(self) -> list[Event]:
        return [event for known, items in moments(self.arrivals) for event in events(known, items)]

    def table(self) -> dict[int, set[Triple | Fact]]:
        return {
            known: {event.fact for event in events(known, items)}
            for known, items in moments(self.output)
        }

    def asserted(self) -> list[Triple | Fact]:
        return [event.fact for event in events(0, self.background)]

    def timeline(self, now: int) -> Timeline:
        """What is known when the clock shows `now`."""
        timeline = Timeline(self.start)
        for fact in self.asserted():
            timeline.add(fact)
        for event in self.events():
            if event.known <= now:
                act = timeline.retract if event.is_retraction else timeline.push
                act(event.fact, event.time, event.stream)
        return timeline


def moments(text: str) -> Iterator[tuple[int, str]]:
    """The time points of a text, in order, each with what stands behind it."""
    _, *parts = CLOCK.split(" ".join(text.split()))
    for first, last, items in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        for time in range(int(first), int(last or first) + 1):
            yield time, items


def events(known: int, text: str) -> Iterator[Event]:
    for sign, fact, time, stream in ITEM.findall(text):
        on = NamedNode(EX + stream) if stream else None
        yield Event(known, fact_of(fact), int(time or known), on, bool(sign))


def fact_of(text: str) -> Triple | Fact:
    (fact,) = parse(f"@prefix ex: <{EX}> . {text} .").facts
    return fact


EXAMPLES = (
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
)
"""The examples of rules: their tables are what is concluded at each time point."""

FURTHER = (
    Example(
        "E21: a session ends when nothing has come for its gap",
        """q(?x) :- sometime a(?x) in [session 3] . w(?t) :- at ?t a(?x) in [session 3] .
           c :- always a(u) in [session 3] .""",
        0,
        "1: a(u)  3: a(v)  7: a(u)  8: a(u)",
        """0:  1: q(u) w(1) c  2: q(u) w(1)  3-5: q(u) q(v) w(1) w(3)  6:
           7: q(u) w(7) c  8: q(u) w(7) w(8) c  9-10: q(u) w(7) w(8)  11:""",
    ),
    Example(
        "E22: a late fact joins two sessions, and a retraction parts them",
        "q(?x) :- sometime a(?x) in [session 3] .",
        0,
        "1: a(u)  5: a(v)  6: a(w)@3  7: -a(w)@3  9: a(x)",
        "1-3: q(u)  4:  5: q(v)  6: q(u) q(w) q(v)  7: q(v)  8:  9: q(x)",
    ),
    Example(
        "E23: a window in the past",
        """q(?x) :- sometime a(?x) in [4 until 2 ago] . b :- always a(u) in [3 until 2 ago] .
           k :- sometime here in [4 until 2 ago] .""",
        0,
        "1: a(u)  2: a(u)  5: a(v)",
        "0-1:  2: k  3: q(u) k  4: q(u) b k  5-6: q(u) k  7-9: q(v) k  10: k",
        background="here",
    ),
    Example(
        "E24: always in full holds only when the whole window has been seen",
        "q :- always a in [2] full . p :- always a in [2] .",
        0,
        "0: a  1: a  2: a  4: a  5: a  6: a  7: a",
        "0-1: p  2: p q  3-5:  6-7: p q  8:",
    ),
    Example(
        "E25: at without a window, under @retain",
        "@retain a 3 . m(?t) :- at ?t a(?x) . n(?x) :- b(?t), at ?t a(?x) .",
        0,
        "1: a(u)  3: b(1)  5: b(1)",
        "1-2: m(1)  3: m(1) n(u)  4: m(1)  5:",
    ),
    Example(
        "a sum over a window takes each reading once",
        """total(?s, ?n) :- ?n = sum { ?v, ?t : at ?t reading(?s, ?v) in [2] } .
           kinds(?n) :- ?n = count { ?v : sometime reading(?s, ?v) in [1] } .""",
        1,
        "1: reading(a, 5)  2: reading(a, 5) reading(b, 1)  4: reading(a, 7)",
        """1: total(a, 5) kinds(1)
           2: total(a, 10) total(b, 1) kinds(2)
           3: total(a, 10) total(b, 1) kinds(2)
           4: total(a, 12) total(b, 1) kinds(1)
           5: total(a, 7) kinds(1)
           6: total(a, 7)
           7:""",
    ),
    Example(
        "triples arrive, and windows of triples are as those of predicates",
        """hot(?s) :- sometime [?s, ex:temperature, ?v] in [2], ?v > 90 .
           [?s, ex:was, ?p] :- at ?t [?s, ?p, ?v] in [1], ?p = ex:temperature .
           last(?s) :- sometime [?s, ex:temperature, ?v] in [1 fact of ex:temperature] .""",
        1,
        "1: [ex:oven, ex:temperature, 95]  2: [ex:oven, ex:mood, 3]  3: [ex:sink, ex:temperature, 20]",
        """1-2: hot(ex:oven) [ex:oven, ex:was, ex:temperature] last(ex:oven)
           3: hot(ex:oven) [ex:sink, ex:was, ex:temperature] last(ex:sink)
           4: [ex:sink, ex:was, ex:temperature] last(ex:sink)
           5: last(ex:sink)""",
    ),
    Example(
        "a window on one stream sees neither other streams nor conclusions",
        """warm :- sometime a in [1 on ex:kitchen] .
           any :- sometime a in [1] .
           at ?t a :- at ?t b in [1] .
           last(?x) :- sometime c(?x) in [1 fact on ex:kitchen] .""",
        1,
        "1: b c(u)~kitchen c(v)~cellar  2: a~cellar  4: a~kitchen",
        """1: any a last(u)  2-3: any last(u)  4-5: any warm  6:""",
    ),
    Example(
        "a window of facts may count those of one predicate only",
        "q(?x) :- sometime a(?x) in [1 fact of a] . other :- sometime b in [2 facts of a] .",
        1,
        "1: a(u)  2: b  3: b  4: a(v)",
        "1-3: q(u)  4-5: q(v)",
    ),
    Example(
        "not inside an operator",
        """gap :- sometime not a in [1] .
           quiet :- always not a in [1] .
           missing(?t) :- at ?t not a in [1] .
           steady :- not sometime not a in [1] .
           outside(?u) :- at ?t b in [3], ?u = ?t + 1, not at ?u a in [1] .
           inside(?u) :- at ?t b in [3], ?u = ?t + 1, at ?u not a in [1] .""",
        1,
        "1: b  2: a  3: a",
        """1: gap quiet missing(1) outside(2)
           2: gap missing(1)
           3: steady
           4: gap missing(4) outside(2)
           5: gap quiet missing(4) missing(5)""",
    ),
    Example(
        "before the first point of its grid a window is empty",
        """some :- sometime road in [range 4 step 4] .
           all :- always road in [range 4 step 4] .
           gap :- sometime not road in [range 4 step 4] .
           when(?t) :- at ?t a in [range 4 step 4] .
           closed(?t) :- at ?t a in [range 4 step 4 closed] .""",
        2,
        "2: a  4: a  5: a  6: a  8: a",
        """2-3: gap  4-7: some all when(2) when(4) closed(2) closed(4)
           8-9: some all when(5) when(6) when(8) closed(4) closed(5) closed(6) closed(8)
           12: some all closed(8)""",
        background="road",
    ),
    Example(
        "recursion through time, forward and backward",
        """at ?u hot :- at ?t hot in [3], ?u = ?t + 1 .
           at ?t hot :- at ?t fire in [2] .
           at ?u cold :- at ?t cold in [3], ?u = ?t - 1, ?u >= 2 .
           at ?t cold :- at ?t ice in [0] .
           since(?t) :- at ?t cold in [5] .""",
        1,
        "2: fire  4: ice",
        "1:  2: hot  3: hot  4: hot cold since(4) since(3) since(2)  5:",
    ),
    Example(
        "what is pushed and concluded as well is output where it is concluded",
        "a(?x) :- sometime b(?x) in [1] . at ?u a(v) :- at ?t b(v) in [2], ?u = ?t + 2 .",
        1,
        "1: b(v)  2: a(u)  3: a(v)",
        "1-2: a(v)  3: a(v)  4:",
    ),
    Example(
        "arrivals before the first time point are set aside",
        "q(?x) :- sometime a(?x) in [3] . last(?x) :- sometime a(?x) in [2 facts] .",
        5,
        "5: a(u)  6: a(late)@4",
        "5-6: q(u) last(u)",
    ),
    Example(
        "durations are counted in ticks",
        "@tick 500 ms . q :- sometime a in [1 s] . w :- sometime a in [range 1 s step 1 s] .",
        0,
        "1: a",
        "1: q  2-3: q w  4:",
    ),
)
"""More that the definition says: their tables are what is concluded at each time point."""

IS_IN = "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) ."
DATA = """1: isIn(a, b)~places  2: isIn(b, c)~places  3: isIn(c, d)~places
          4: isIn(a, e)~places isIn(e, d)~places"""

DECLARED = (
    Example(
        "E16: facts that expire, and what follows from them",
        f"@stream ex:places in [range 10 step 1] . {IS_IN}",
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
    ),
    Example(
        "E16: with closed bounds all goes one time point later",
        f"@stream ex:places in [range 10 step 1 closed] . {IS_IN}",
        1,
        DATA,
        """4-11: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, c) isIn(b, d)
                 isIn(a, d)
           12: isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(b, d) isIn(a, d)
           13: isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, d)
           14: isIn(a, e) isIn(e, d) isIn(a, d)
           15-16:""",
    ),
    Example(
        "E17: a renewal, and a retraction before the end",
        f"@stream ex:places in [range 10 step 1] . {IS_IN}",
        1,
        f"{DATA}  6: isIn(a, b)~places  8: -isIn(e, d)@4~places",
        """4-7: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(e, d) isIn(a, c) isIn(b, d)
                isIn(a, d)
           8-11: isIn(a, b) isIn(b, c) isIn(c, d) isIn(a, e) isIn(a, c) isIn(b, d) isIn(a, d)
           12: isIn(a, b) isIn(c, d) isIn(a, e)
           13: isIn(a, b) isIn(a, e)
           14-15: isIn(a, b)
           16:""",
    ),
    Example(
        "E18: two streams with windows of their own",
        """@stream ex:positions in [range 3 step 1] .
           @stream ex:jams in [range 6 step 2] .
           alert(?x, ?z) :- pos(?x, ?y), jam(?y, ?z) .""",
        1,
        """1: pos(u, r)~positions  3: jam(r, hi)~jams  4: jam(r, lo)~jams  5: pos(u, r)~positions
           8: pos(v, r)~positions""",
        """1-3: pos(u, r)
           4: jam(r, hi) jam(r, lo)
           5-7: jam(r, hi) jam(r, lo) pos(u, r) alert(u, hi) alert(u, lo)
           8-9: jam(r, hi) jam(r, lo) pos(v, r) alert(v, hi) alert(v, lo)
           10: pos(v, r)
           11-12:""",
    ),
)
"""The examples of declared streams: their tables are all that holds at each time point."""
