"""Cases: a program and facts in steps, how to write one down, and how to make it smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyoxigraph import Triple

from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_program
from livefacts.model.facts import Fact

T = TypeVar("T")
PLAIN: dict[str, Any] = {
    "as_text": False,
    "asks": False,
    "in_graphs": False,
    "refuses": False,
    "limit": None,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One change: facts and rules that are added together."""

    facts: tuple[Triple | Fact, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A program to start with, the steps that follow, and how the reasoner is to take them.

    `asks` keeps a query open, `in_graphs` tells some triples in named graphs, `refuses`
    undoes changes that violate a constraint, and `limit` those that derive too much.
    """

    name: str
    start: Program
    steps: tuple[Step, ...]
    single_path: bool = True
    as_text: bool = False
    asks: bool = False
    in_graphs: bool = False
    refuses: bool = False
    limit: int | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*self.start.rules, *(rule for step in self.steps for rule in step.rules))

    @property
    def facts(self) -> tuple[Triple | Fact, ...]:
        return (*self.start.facts, *(fact for step in self.steps for fact in step.facts))

    def program(self) -> Program:
        """The program after all steps."""
        return self.start.plus(rule for step in self.steps for rule in step.rules)

    def __str__(self) -> str:
        """The case as rule text: the start, then each step after a line that numbers it."""
        way = (
            f"single_path={self.single_path}, as_text={self.as_text}, asks={self.asks}, "
            f"in_graphs={self.in_graphs}, refuses={self.refuses}, limit={self.limit}"
        )
        parts = [f"# {self.name}: {way}", _text(self.start.rules, self.start.facts)]
        for number, step in enumerate(self.steps, 1):
            parts += [f"# step {number}", _text(step.rules, step.facts)]
        return "\n".join(parts)


def _text(rules: tuple[Rule, ...], facts: tuple[Triple | Fact, ...]) -> str:
    """Rules and facts; a fact with a blank node, which rule text cannot hold, as a remark."""
    anonymous = [fact for fact in facts if "_:" in str(fact)]
    named = tuple(fact for fact in facts if fact not in anonymous)
    return write_program(Program(rules, named)) + "".join(f"# and {fact}\n" for fact in anonymous)


def shrink(
    case: T, fails: Callable[[T], bool], smaller: Callable[[T], Iterator[T]] | None = None
) -> T:
    """A case that still fails, and from which nothing can be dropped."""
    candidates: Callable[[Any], Iterator[Any]] = smaller or _smaller
    while True:
        less = next((other for other in candidates(case) if fails(other)), None)
        if less is None:
            return case
        case = less


def _smaller(case: Case) -> Iterator[Case]:
    """The cases with a step, a fact, a rule or a part of a body less; large cuts first."""
    steps = case.steps
    for name, plain in PLAIN.items():
        if getattr(case, name) != plain:
            yield replace(case, **{name: plain})
    for i, step in enumerate(steps):
        yield replace(case, steps=(*steps[:i], *steps[i + 1 :]))
        for facts in fewer(step.facts):
            yield _with_step(case, i, replace(step, facts=facts))
        for rules in fewer(step.rules):
            yield _with_step(case, i, replace(step, rules=rules))
    for rules in fewer(case.start.rules):
        yield replace(case, start=replace(case.start, rules=rules))
    for facts in fewer(case.start.facts):
        yield replace(case, start=replace(case.start, facts=facts))
    for i, rule in enumerate(case.start.rules):
        for body in fewer(rule.body):
            rules = (*case.start.rules[:i], replace(rule, body=body), *case.start.rules[i + 1 :])
            yield replace(case, start=replace(case.start, rules=rules))


def _with_step(case: Case, at: int, step: Step) -> Case:
    return replace(case, steps=(*case.steps[:at], step, *case.steps[at + 1 :]))


def fewer(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Without a half, a quarter, … one of the items."""
    size = len(items)
    while size >= 1:
        for start in range(0, len(items), size):
            yield (*items[:start], *items[start + size :])
        size //= 2
