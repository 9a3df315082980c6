"""Programs followed by key say what one reasoner says of all keys together."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import pytest
from tests.properties.generate.stream_histories import draw_program, draw_stock

import livefacts as lf
from livefacts.language.checks.key_partitions import Partitioning, partitioning_of
from livefacts.language.program import Program
from livefacts.model.facts import Fact, Symbol
from livefacts.service.micro_batches.answer_rows import Conclusions, TimedChange
from livefacts.service.micro_batches.keyed_groups import (
    GlobalClock,
    KeyedGroup,
    KeyedProgram,
    KeyStep,
    netted,
)
from livefacts.service.reasoner.clocked_program import Follower, TickChange
from livefacts.syntax.rulelang.rule_parser import parse
from livefacts.syntax.stream_files import Event

GROUPS = 3
BACKGROUND = ("sensor", "part", "limit")
PROGRAMS = {
    "by time": "hot(?s) :- sometime reading(?s, ?v) in [4], ?v > 3 .",
    "stepped": "seen(?s, ?v) :- sometime reading(?s, ?v) in [range 6 step 3] .",
    "in the past": "then(?s, ?v) :- sometime reading(?s, ?v) in [6 until 2 ago] .",
    "negation, silent keys": """seen(?s) :- sometime reading(?s, ?v) in [3] .
        quiet(?s) :- sensor(?s), not seen(?s) .""",
    "always": """at ?t hot(?s) :- at ?t reading(?s, ?v) in [4], ?v > 1 .
        alarm(?s) :- always hot(?s) in [1] .""",
    "totals": "n(?s, ?n) :- ?n = count { ?v : sometime reading(?s, ?v) in [5] } .",
    "background": """over(?s, ?r) :- sometime reading(?s, ?v) in [3], part(?s, ?r), limit(?l), ?v > ?l .
        part(?x, ?z) :- part(?x, ?y), part(?y, ?z) .""",
    "recursion": """at ?t on(?s) :- at ?t reading(?s, 4) in [5] .
        at ?u on(?s) :- at ?t on(?s) in [5], ?u = ?t + 1, not at ?u reading(?s, 1) in [5] .""",
    "full": "hot(?s) :- always reading(?s, 4) in [1] full .",
}
KNOWN = parse("sensor(a) . sensor(b) . sensor(f) . part(a, b) . part(b, c) . limit(2) .").facts


def events_of(random: Random, late: int) -> list[Event]:
    time, found = 1, []
    for _ in range(random.randint(15, 40)):
        time += random.choice((0, 0, 1, 1, 2, 6))
        at = max(1, time - random.choice((0, 0, 0, 1, late)))
        key, value = Symbol(random.choice("abcde")), random.choice((1, 2, 4))
        fact = parse(f"reading({key}, {value}) .").facts[0]
        found.append(Event(at, None, (fact,), random.random() < 0.08))
    return found


def whole(
    program: Program, background: tuple[Any, ...], events: list[Event], lateness: int
) -> list[TimedChange]:
    """What one reasoner says."""
    found: list[TimedChange] = []
    has = Conclusions.of(program).has

    def seen(moment: TickChange) -> None:
        for op, facts in (("-", moment.removed), ("+", moment.added)):
            found.extend(TimedChange(moment.time, op, fact) for fact in facts if has(fact))

    r = lf.Reasoner(rules=program)
    r.add([*background])
    target = r.event_time(lateness=lateness, through=Follower(r, seen, everything=True))
    for event in events:
        give = target.retract if event.retracts else target.push
        give(event.facts, event.time, event.stream)
    return found


def parts(
    keyed: KeyedProgram, events: list[Event], lateness: int, random: Random
) -> list[TimedChange]:
    """What groups say, whose states are values between batches."""
    saved: dict[int, bytes | None] = dict.fromkeys(range(keyed.groups))
    clock: bytes | None = None
    found: list[TimedChange] = []
    at = 0
    while at < len(events):
        size = random.randint(1, 12)
        given = {"lateness": lateness}
        timed = (
            GlobalClock(keyed, **given)
            if clock is None
            else GlobalClock.restored(keyed, clock, **given)
        )
        steps = timed.take(events[at : at + size])
        clock, at = timed.saved(), at + size
        for number, made in steps.items():
            group = KeyedGroup(keyed, number, saved[number])
            found += group.take(made)
            saved[number] = group.saved()
    return found


def shown(changes: list[TimedChange]) -> list[tuple[int, str, str]]:
    return sorted((each.time, each.op, str(each.fact)) for each in netted(changes))


@pytest.mark.parametrize("lateness", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_of_keys_conclude_what_one_reasoner_does(name: str, lateness: int) -> None:
    program = parse(PROGRAMS[name])
    found = partitioning_of(program, BACKGROUND)
    assert found.is_proven, str(found)
    keyed = KeyedProgram(program, found, GROUPS, KNOWN)
    says_something = False
    for seed in range(4):
        random = Random(f"{name}{lateness}{seed}")
        events = events_of(random, 5 if lateness else 3)
        expected = whole(program, KNOWN, events, lateness)
        assert shown(parts(keyed, events, lateness, random)) == shown(expected), seed
        says_something |= bool(expected)
    assert says_something


RANDOM_PROGRAMS, LEAST_PROVEN = 1200, 40


def test_random_programs_that_are_proven_are_followed_by_key() -> None:
    """Programs with windows, negation, totals and recursion through time."""
    proven = saying = 0
    for seed in range(RANDOM_PROGRAMS):
        random = Random(f"partitioned {seed}")
        program = draw_program(random)
        known = [family for family in ("open", "hot", "seen", "near") if random.random() < 0.3]
        found = partitioning_of(program, known)
        if not found.is_proven:
            continue
        proven += 1
        if proven > 3 * LEAST_PROVEN:
            break
        saying += _agree(random, program, found, seed)
    assert proven >= LEAST_PROVEN
    assert saying >= LEAST_PROVEN // 2


def _agree(random: Random, program: Program, found: Partitioning, seed: int) -> bool:
    stock = draw_stock(random, program)
    shared = [each.fact for each in stock if _family(each.fact) in found.shared]
    keyed = KeyedProgram(program, found, GROUPS, tuple(shared))
    events: list[Event] = []
    for time in range(1, 14):
        for each in stock:
            if each.fact not in shared and random.random() < each.share:
                stream = None if each.stream is None else each.stream.value
                late = random.choice((0, 0, 0, 2))
                events.append(Event(max(1, time - late), stream, (each.fact,)))
    if not events:
        return False
    lateness = random.choice((0, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = whole(program, tuple(shared), events, lateness)
        assert shown(parts(keyed, events, lateness, random)) == shown(expected), (
            f"seed {seed}\n{program.rules}\n{found}"
        )
    return bool(expected)


def _family(fact: Any) -> Any:
    return fact.name if isinstance(fact, Fact) else fact.predicate


def test_a_step_without_facts_moves_silent_keys() -> None:
    program = parse(PROGRAMS["negation, silent keys"])
    keyed = KeyedProgram(program, partitioning_of(program, BACKGROUND), 1, KNOWN)
    group = KeyedGroup(keyed, 0)
    (fact,) = parse("reading(a, 1) .").facts
    first = group.take([KeyStep(None, 1, 1, None, (fact,)), KeyStep(1, 1)])
    assert "quiet(a)" not in {str(change.fact) for change in first}
    later = group.take([KeyStep(9, 1)])
    assert ("+", "quiet(a)") in {(each.op, str(each.fact)) for each in later}
