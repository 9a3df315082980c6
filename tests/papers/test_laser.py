"""Bazoobandi, Beck, Urbani: Expressive Stream Reasoning with Laser, its worked examples.

A table has the output at each time point: `38-39: q(x)` stands for two of them, a time point with
nothing behind it is one without output.  Oracle and reasoner must both give exactly the tables.

Example 4 says of 42 what is true of 41: a(x2, y) came at 38, and the window [39, 42] has lost it.
Example 3 is right where windows of facts count what arrived, and not what was concluded.
"""

from __future__ import annotations

import pytest
from pyoxigraph import Triple
from tests.oracle.examples import Example, fact_of
from tests.oracle.streams import visible

import livefacts as lf

FIGURE_1 = "36: a(x1, y)  38: a(x2, y) b(y, z)  40: a(x3, y)"
RULE = "q(?x, ?y, ?z) :- sometime a(?x, ?y) in [3], sometime b(?y, ?z) in [3 facts] ."
EXAMPLES = (
    Example(
        "Example 1: a window of three time points, and windows of three and of two facts",
        """timed(?x) :- sometime a(?x, y) in [3] . timed(b) :- sometime b(y, z) in [3] .
           three(?x) :- sometime a(?x, y) in [3 facts] . three(b) :- sometime b(y, z) in [3 facts] .
           two(?x) :- sometime a(?x, y) in [2 facts] . two(b) :- sometime b(y, z) in [2 facts] .""",
        35,
        FIGURE_1,
        """40-41: timed(x2) timed(b) timed(x3) three(x2) three(b) three(x3) two(b) two(x3)
           42: timed(x3) three(x2) three(b) three(x3) two(b) two(x3)""",
    ),
    Example(
        "Examples 2 to 4: the output stream of a join of a time window and a tuple window",
        RULE,
        35,
        FIGURE_1,
        """35-37:  38-39: q(x1, y, z) q(x2, y, z)
           40-41: q(x2, y, z) q(x3, y, z)  42: q(x3, y, z)""",
    ),
    Example(
        "Example 3: the ground program",
        """q(x1, y, z) :- sometime a(x1, y) in [3], sometime b(y, z) in [3 facts] .
           q(x2, y, z) :- sometime a(x2, y) in [3], sometime b(y, z) in [3 facts] .
           q(x3, y, z) :- sometime a(x3, y) in [3], sometime b(y, z) in [3 facts] .""",
        35,
        FIGURE_1,
        "41: q(x2, y, z) q(x3, y, z)",
    ),
    Example(
        "Example 6: two annotations that overlap",
        "q(?x) :- sometime a(?x) in [9] .",
        0,
        "5: a(y)  8: a(y)",
        "0-4:  5-17: q(y)  18-20:",
    ),
    Example(
        "Example 8: always in a window needs every time point of it",
        "q(?x) :- always a(?x) in [2] .",
        0,
        "5: a(y)  6: a(y)  7: a(y)",
        "0-6:  7: q(y)  8-10:",
    ),
    Example(
        "Example 9: a tuple window holds a fact until as many others have come",
        "q(?y, ?z) :- sometime b(?y, ?z) in [3 facts] .",
        35,
        f"{FIGURE_1}  44: c  50: c",
        "35-37:  38-49: q(y, z)  50-51:",
    ),
    Example(
        "Section 2.1: a tuple window counts the data stream, and no conclusions",
        "a :- sometime b in [1 fact] .",
        1,
        "1: b  3: c",
        "1-2: a  3:",
    ),
    Example(
        "Section 2.1: background data hold at every time point of every window",
        """near(?x, ?z) :- sometime a(?x, ?y) in [1], road(?y, ?z) .
           open :- always road(y, z) in [5] . then(?t) :- at ?t road(y, z) in [1] .""",
        1,
        "2: a(x, y)",
        """1: open then(1)  2: near(x, z) open then(1) then(2)  3: near(x, z) open then(2) then(3)
           4: open then(3) then(4)""",
        background="road(y, z)",
    ),
    Example(
        "Section 3: negation before an operator is the other operator before the negation",
        """one :- not sometime a in [2] .  other :- always not a in [2] .
           third :- not always a in [2] .  fourth :- sometime not a in [2] .""",
        0,
        "1: a  2: a  3: a  7: a",
        """0: one other third fourth  1-2: third fourth  3:  4-5: third fourth
           6: one other third fourth  7-9: third fourth  10: one other third fourth""",
    ),
    Example(
        "Section 3: negation before @ differs from negation behind it outside of the window",
        """outside(?u) :- at ?t b in [3], ?u = ?t + 1, not at ?u a in [1] .
           inside(?u) :- at ?t b in [3], ?u = ?t + 1, at ?u not a in [1] .""",
        1,
        "1: b",
        "1: outside(2)  2-3: outside(2) inside(2)  4: outside(2)  5:",
    ),
    Example(
        "Figure 4: the cooling system, with windows of two",
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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_oracle_has_the_output_of_the_table(example: Example) -> None:
    program = example.program()
    for now, expected in example.table().items():
        output = example.timeline(now).model(program, now).output
        assert visible(output) == expected, f"at {now}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_reasoner_has_the_output_of_the_table(example: Example) -> None:
    reasoner, table = lf.Reasoner(example.rules, start=example.start), example.table()
    reasoner.add(example.asserted())
    held: set[Triple | lf.Fact] = set(reasoner.facts())
    for now in range(example.start, max(table) + 1):
        for event in example.events():
            if event.known == now:
                reasoner.push([event.fact], at=event.time)
        delta = reasoner.advance(now)
        held = (held - set(delta.removed)) | set(delta.added)
        assert held == set(reasoner.facts()), f"the deltas up to {now}"
        output = set(reasoner.facts(derived=True)) - set(example.asserted())
        assert output == table.get(now, output), f"at {now}"


def test_example_5_nothing_is_derived_again_before_the_horizon() -> None:
    """a(x1, y) of time point 36 holds in its window until 39, and no time point says so anew."""
    reasoner = lf.Reasoner("q(?x) :- sometime a(?x, ?y) in [3] .", start=35)
    reasoner.push("a(x1, y) .", at=36)
    changes = {now: (len(d.added), len(d.removed)) for now, d in reasoner.ticks(45)}
    assert changes == {36: (2, 0), 37: (0, 1), 40: (0, 1)}


def test_examples_5_to_7_a_conclusion_has_the_annotation_of_its_premise() -> None:
    reasoner = lf.Reasoner("q(?x) :- sometime a(?x) in [9] .", start=0)
    reasoner.push("a(y) .", at=5)
    assert annotations(reasoner, "q(y)", (5, 7)) == {5: (5, 14), 7: (5, 14)}
    reasoner.push("a(y) .", at=8)
    assert annotations(reasoner, "q(y)", (8, 14, 17)) == {8: (5, 17), 14: (5, 17), 17: (5, 17)}


def test_algorithm_1_a_conclusion_holds_as_long_as_all_of_its_premises() -> None:
    """Line 9: the interval of a head is where those of the body overlap."""
    reasoner = lf.Reasoner("q :- sometime a in [9], sometime b in [2] .", start=0)
    reasoner.push("a .", at=3)
    reasoner.push("b .", at=5)
    assert annotations(reasoner, "q", (5, 7)) == {5: (5, 7), 7: (5, 7)}


def test_example_8_always_is_guaranteed_for_no_longer_than_now() -> None:
    reasoner = lf.Reasoner("q(?x) :- always a(?x) in [2] .", start=0)
    for time in (5, 6, 7):
        reasoner.push("a(y) .", at=time)
    assert annotations(reasoner, "q(y)", (7,)) == {7: (7, 7)}


def annotations(
    reasoner: lf.Reasoner, fact: str, times: tuple[int, ...]
) -> dict[int, tuple[int | None, int | None]]:
    """From when and until when a fact is known to hold, at each of the time points."""
    found = {}
    for now in times:
        reasoner.advance(now)
        lasting = reasoner.explain(fact_of(fact)).lasting
        assert lasting is not None, f"at {now}"
        found[now] = lasting.since, lasting.until
    return found
