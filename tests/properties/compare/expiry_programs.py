"""Maintenance programs for facts that expire: random streams, tick by tick.

At every tick some facts enter, each with the last time point at which it holds.  The stream
program is evaluated by the oracle, and what it keeps must be, for every time point ahead, what
follows from the facts that still hold then.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyoxigraph import Literal, Triple
from tests.oracle import Row, model
from tests.oracle.naive import TRIPLE
from tests.properties.generate.programs import draw_case

from livefacts.language.formula import Aggregate, Negation
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact
from livefacts.plan.maintenance.delta_program import STREAM, Maintenance, maintenance

Arrival = tuple[Triple | Fact, int]
LONGEST = 4


@dataclass(slots=True)
class Window:
    """A stream program at work: what is materialized, as rows that end with a time point."""

    program: Program
    rules: Maintenance = field(init=False)
    rows: set[Row] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rules = maintenance(self.program, kind=STREAM)

    def tick(self, now: int, arrivals: Iterable[Arrival]) -> tuple[set[Row], set[Row]]:
        """Evaluate the maintenance program, apply Plus and Minus, and return them."""
        inputs = [Fact(name, terms) for name, terms in self.rows]
        inputs += [self._entering(fact, until) for fact, until in arrivals]
        found = model(Program(self.rules.rules), [*inputs, Fact("now", (Literal(now),))])
        plus, minus = self._extension(found, "plus"), self._extension(found, "minus")
        self.rows = (self.rows - minus) | plus
        return plus, minus

    def _entering(self, fact: Triple | Fact, until: int) -> Fact:
        name, terms = self.flat(fact)
        return Fact(self.rules.names.of(name, "ins"), (*terms, Literal(until)))

    def flat(self, fact: Triple | Fact | Row) -> Row:
        if isinstance(fact, Triple):
            return self.rules.names.triple, (fact.subject, fact.predicate, fact.object)
        name, terms = fact
        return (self.rules.names.triple if name == TRIPLE else name), terms

    def _extension(self, found: set[Row], role: str) -> set[Row]:
        served = {self.rules.names.of(name, role): name for name in self.predicates()}
        return {(served[name], terms) for name, terms in found if name in served}

    def predicates(self) -> set[str]:
        return {each.atom.name for each in self.rules.inputs}


def expected(window: Window, now: int, arrivals: list[Arrival]) -> set[Row]:
    """Every conclusion with the last time point at which the facts that hold derive it."""
    last: dict[Row, int] = {}
    for time in sorted({until for _, until in arrivals if until >= now}):
        holding = [fact for fact, until in arrivals if until >= time]
        last |= dict.fromkeys(map(window.flat, model(window.program, holding)), time)
    spoken = window.predicates()
    return {(n, (*terms, Literal(t))) for (n, terms), t in last.items() if n in spoken}


def differences(seed: int, ticks: int) -> Iterator[str]:
    """Where a window with random rules and arrivals is not what it should be."""
    pick, case = random.Random(f"window {seed}"), draw_case(seed, plain=True)
    window = Window(Program(tuple(rule for rule in case.rules if _is_positive(rule))))
    stock = sorted(set(case.facts), key=str)
    arrivals: list[Arrival] = []
    for now in range(1, ticks + 1):
        chosen = pick.sample(stock, min(len(stock), 5))
        entering = [(fact, now + pick.randrange(LONGEST)) for fact in chosen]
        arrivals += entering
        window.tick(now, entering)
        wrong = window.rows ^ expected(window, now, arrivals)
        if wrong:
            yield f"at {now}: wrong about {wrong}"


def _is_positive(rule: Rule) -> bool:
    return rule.head is not None and not any(isinstance(f, Negation | Aggregate) for f in rule.body)
