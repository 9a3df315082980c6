"""Random stream histories: a program, and what is pushed, taken back and told while the
clock goes on.

A stream history has a stock of facts that its rules look for.  Some of them arrive at most time
points, so that `always` can hold; most arrive now and then.  Facts come in time, late, and
ahead of time; the clock goes on by one time point or by several.  In a quiet history little
arrives, and the clock jumps; in one with a rhythm, every other time point is left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Triple
from tests.properties.generate.cases import fewer
from tests.properties.generate.programs import is_recursive
from tests.properties.generate.timed_rules import (
    ARRIVING,
    DERIVED,
    NODES,
    PROPERTIES,
    STREAMS,
    VALUES,
    TimedRuleMaker,
    fits,
    reads,
    timed_parts,
)
from tests.properties.generate.timed_themes import THEMES
from tests.properties.generate.vocabulary import EX, NODE

from livefacts.language.formula import ALWAYS, Atom, PredicateAtom, TripleAtom
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_program
from livefacts.language.windows import SteppedWindow
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact, Term

PUSH, RETRACT, ADD, REMOVE, ADVANCE, TICKS = "push", "retract", "add", "remove", "advance", "ticks"
LEARN, UNLEARN = "learn", "unlearn"
MOST_FACTS = 6
GRAPHS = tuple(NamedNode(EX + name) for name in ("monday", "sunday"))
Statement = Triple | Fact


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that happens: facts pushed or retracted at a time point, told, or the clock.

    Facts that are told or untold have a graph in the place of a stream; rules come and go, too.
    """

    kind: str
    facts: tuple[Statement, ...] = ()
    at: int = 0
    stream: NamedNode | None = None
    rules: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        if self.rules:
            return f"{self.kind} {write_program(Program(rules=self.rules))}"
        if self.kind in (ADVANCE, TICKS):
            return f"{self.kind} to {self.at}"
        when = f" at {self.at}" if self.kind in (PUSH, RETRACT) else ""
        where = f" on {self.stream}" if self.stream else ""
        return f"{self.kind} {', '.join(map(str, self.facts))}{when}{where}"


@dataclass(frozen=True, slots=True)
class StreamHistory:
    """A program, its first time point if that is given, and what happens."""

    name: str
    program: Program
    acts: tuple[Act, ...]
    start: int | None = None

    def __str__(self) -> str:
        acts = "\n".join(map(str, self.acts))
        return f"# {self.name}, start={self.start}\n{write_program(self.program)}\n{acts}"


def draw_stream_history(seed: int, steps: int = 9) -> StreamHistory:
    """The history of a seed."""
    pick = random.Random(f"journey {seed}")
    program = draw_program(pick)
    stock = draw_stock(pick, program)
    first = pick.choice((0, 0, 1, 1, 2, 5, 100, -3))
    rhythm = 2 if pick.random() < (0.6 if _goes_through_always(program) else 0.1) else 1
    maker = ActMaker(pick, stock, first, pick.random() < 0.25, rhythm)
    acts = [act for _ in range(steps) for act in maker.step()]
    start = first if pick.random() < 0.5 else None
    return StreamHistory(f"seed {seed}", program, tuple(acts), start)


def _goes_through_always(program: Program) -> bool:
    """Whether a rule that depends on itself looks at what holds always."""
    rules = [rule for rule in program if not rule.is_constraint]
    return any(
        is_recursive(rule, rules) and any(p.operator == ALWAYS for p in timed_parts(rule.body))
        for rule in rules
    )


def draw_with_rule_changes(seed: int) -> StreamHistory:
    """A history on which rules come and go: some of the program's are learned later."""
    history = draw_stream_history(seed)
    pick = random.Random(f"changing {seed}")
    known = list(history.program.rules)
    away = [known.pop(pick.randrange(len(known))) for _ in range(pick.choice((1, 1, 2))) if known]
    program, acts = replace(history.program, rules=tuple(known)), list[Act]()
    for act in history.acts:
        if pick.random() < 0.12:
            kind, ours, theirs = pick.choice(((LEARN, known, away), (UNLEARN, away, known)))
            if theirs:
                rule = theirs.pop(pick.randrange(len(theirs)))
                ours.append(rule)
                acts.append(Act(kind, rules=(rule,)))
        acts.append(act)
    return replace(history, name=f"changing seed {seed}", program=program, acts=tuple(acts))


def draw_program(pick: random.Random) -> Program:
    retained = pick.sample(sorted(ARRIVING | DERIVED), 2) if pick.random() < 0.2 else []
    maker = TimedRuleMaker(pick, retained)
    rules: list[Rule] = []
    for theme in pick.sample(THEMES, pick.choice((0, 0, 1, 1))):
        rules += theme(pick)
    for _ in range(pick.choice((0, 1, 2, 3) if rules else (1, 2, 3, 4))):
        maker.heads = [rule.head for rule in rules if rule.head is not None]
        rule = maker.rule()
        if fits([*rules, rule]):
            rules.append(rule)
    lengths = tuple((name, Duration(pick.choice((0, 1, 2, 3)))) for name in retained)
    heads = {rule.head.name for rule in rules if isinstance(rule.head, PredicateAtom)}
    share = 0.5 if heads & ARRIVING.keys() else 0.2
    program = Program(retained=lengths, streams=_draw_streams(pick, share))
    return program.plus(replace(rule, id=f"rule{n}") for n, rule in enumerate(rules, 1))


def _draw_streams(pick: random.Random, share: float) -> tuple[tuple[NamedNode, SteppedWindow], ...]:
    """Sometimes a stream whose facts hold in a window."""
    if pick.random() >= share:
        return ()
    width, step = pick.choice((1, 2, 3, 5)), pick.choice((1, 1, 2, 3))
    window = SteppedWindow(Duration(width), Duration(step), closed=pick.random() < 0.3)
    return ((STREAMS[0], window),)


@dataclass(frozen=True, slots=True)
class Stocked:
    """A fact of the stock: its stream, and how likely it is at a time point."""

    fact: Statement
    stream: NamedNode | None
    share: float


def draw_stock(pick: random.Random, program: Program) -> list[Stocked]:
    """A few facts for the atoms that the rules read, most of them with their constants."""
    nodes = pick.sample(NODES, 2)
    drawn = [
        _instance(atom, pick, nodes)
        for atom in reads(program.rules)
        for _ in range(pick.choice((1, 1, 2)))
        if isinstance(atom, TripleAtom) or atom.name in ARRIVING or pick.random() < 0.15
    ]
    facts = [*dict.fromkeys(drawn)]
    pick.shuffle(facts)
    streams = (STREAMS[0], None, *STREAMS) if program.streams else (None, None, None, *STREAMS)
    shares = (0.2, 0.3, 0.4, 0.85)
    stock = [
        Stocked(fact, pick.choice(streams), pick.choice(shares)) for fact in facts[:MOST_FACTS]
    ]
    again = [replace(each, stream=pick.choice(STREAMS)) for each in stock if pick.random() < 0.15]
    return [*stock, *again]


def _instance(atom: Atom, pick: random.Random, nodes: Sequence[NamedNode]) -> Statement:
    if isinstance(atom, TripleAtom):
        assert isinstance(atom.predicate, NamedNode)
        sorts = (NODE, PROPERTIES[atom.predicate])
        subject, object = (_term(sort, pick, nodes) for sort in sorts)
        return Triple(subject, atom.predicate, object)  # type: ignore[arg-type]
    sorts = (ARRIVING | DERIVED)[atom.name]
    kept = zip(atom.arguments, sorts, strict=True)
    return Fact(
        atom.name,
        tuple(
            slot
            if isinstance(slot, NamedNode) and pick.random() < 0.7
            else _term(sort, pick, nodes)
            for slot, sort in kept
        ),
    )


def _term(sort: str, pick: random.Random, nodes: Sequence[NamedNode]) -> Term:
    return pick.choice(nodes) if sort == NODE else pick.choice(VALUES)


class ActMaker:
    """Draws what happens next, knowing what has happened."""

    def __init__(
        self,
        pick: random.Random,
        stock: Sequence[Stocked],
        first: int,
        is_quiet: bool,
        rhythm: int,
    ) -> None:
        self.pick = pick
        self.is_quiet = is_quiet
        self.rhythm = rhythm
        self.stock = list(stock)
        self.now = first - 1
        self.first = first
        self.pushed: list[tuple[Stocked, int]] = []
        self.background: list[tuple[Statement, NamedNode | None]] = []

    def chance(self, share: float) -> bool:
        return self.pick.random() < share

    def step(self) -> Iterator[Act]:
        """What is told and pushed, the clock, and sometimes what is known only then."""
        is_first = self.now < self.first
        if self.chance(0.5 if is_first else 0.1):
            yield from self.tell()
        further = 1 if is_first or self.chance(0.7) else self.pick.choice((2, 3, 5))
        if self.is_quiet and not is_first:
            further = self.pick.choice((1, 2, 4, 7))
        for time in range(self.now + 1, self.now + further + 1):
            yield from self.arrive(time, 0.3 if self.is_quiet and not is_first else 1.0)
        if not is_first:
            yield from self.surprises()
        self.now += further
        yield Act(self.pick.choice((ADVANCE, TICKS)), at=self.now)
        if self.chance(0.25):
            yield from self.arrive(self.now, 0.3)
        if self.chance(0.1):
            yield from self.surprises()

    def arrive(self, time: int, share: float = 1.0) -> Iterator[Act]:
        """Those facts of the stock that arrive at this time point, together where they can."""
        if time % self.rhythm:
            return
        coming = [each for each in self.stock if self.chance(each.share * share * self.rhythm)]
        if self.chance(0.12):
            coming = []
        by_stream: dict[NamedNode | None, list[Stocked]] = {}
        for each in coming:
            by_stream.setdefault(each.stream, []).append(each)
        for stream, some in by_stream.items():
            self.pushed += [(each, time) for each in some]
            yield Act(PUSH, tuple(each.fact for each in some), time, stream)

    def surprises(self) -> Iterator[Act]:
        """Facts that come late or ahead of time, and arrivals that are taken back."""
        if self.stock and self.chance(0.4):
            yield from self.untimely(self.rare())
        if self.chance(0.3):
            yield from self.regret()
        if self.chance(0.12):
            yield from self.tell()

    def rare(self) -> Stocked:
        """One of the stock, rather one that does not arrive all the time."""
        return self.pick.choices(self.stock, [1 - each.share for each in self.stock])[0]

    def untimely(self, some: Stocked) -> Iterator[Act]:
        known = {time for each, time in self.pushed if each is some}
        by = self.pick.choice((-4, -3, -2, -1, -1, 0, 0, 2, 3))
        for time in (self.now + by, self.now + by + 1)[: self.pick.choice((1, 1, 2))]:
            if time not in known or self.chance(0.2):
                self.pushed.append((some, time))
                yield Act(PUSH, (some.fact,), time, some.stream)

    def regret(self) -> Iterator[Act]:
        """An arrival is taken back, or all recent ones of a fact; now and then on a wrong stream."""
        recent = [(each, time) for each, time in self.pushed if time > self.now - 4]
        if not recent:
            return
        some, chosen = self.pick.choice(recent)
        every = self.chance(0.4)
        stream = some.stream if self.chance(0.95) else None
        for time in sorted({t for each, t in recent if each is some and (every or t == chosen)}):
            self.pushed = [pair for pair in self.pushed if pair != (some, time)]
            yield Act(RETRACT, (some.fact,), time, stream)

    def tell(self) -> Iterator[Act]:
        """A background fact that comes or goes; it may arrive as well."""
        if self.background and self.chance(0.4):
            fact, graph = self.background.pop(self.pick.randrange(len(self.background)))
            yield Act(REMOVE, (fact,), stream=graph)
        elif self.stock:
            fact = self.pick.choice(self.stock).fact
            named = isinstance(fact, Triple) and self.chance(0.4)
            asserted = fact, self.pick.choice(GRAPHS) if named else None
            if asserted not in self.background:
                self.background.append(asserted)
            yield Act(ADD, (fact,), stream=asserted[1])


def smaller(history: StreamHistory) -> Iterator[StreamHistory]:
    """The histories with an act, a fact, a rule or a part of a body less; large cuts first."""
    for acts in fewer(history.acts):
        yield replace(history, acts=acts)
    program = history.program
    for rules in fewer(program.rules):
        yield replace(history, program=replace(program, rules=rules))
    for at, act in enumerate(history.acts):
        for facts in fewer(act.facts):
            if facts:
                less = (*history.acts[:at], replace(act, facts=facts), *history.acts[at + 1 :])
                yield replace(history, acts=less)
    for name in ("streams", "retained"):
        if getattr(program, name):
            yield replace(history, program=replace(program, **{name: ()}))
    for at, rule in enumerate(program.rules):
        for body in fewer(rule.body):
            if body:
                rules = (*program.rules[:at], replace(rule, body=body), *program.rules[at + 1 :])
                yield replace(history, program=replace(program, rules=rules))
