"""Plan operators: what engines run, as values.

A `RulePlan` finds the instances of one rule that use a given fact, its pivot, by a list
of steps.  An `AggregatePlan` turns the rows of one hidden predicate into those of
another.  A `Level` holds what can be evaluated together once all lower levels are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from livefacts.language.formula import Atom, PredicateAtom, Slot, Variable
from livefacts.language.program import Rule


@dataclass(frozen=True, slots=True)
class Scan:
    """Each stored fact that fits the atom; `before` when the atom precedes the pivot."""

    atom: Atom
    before: bool
    edges_only: bool = False


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """Go on if no stored fact is the atom; `before` when the atom precedes a negated pivot."""

    atom: Atom
    before: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """Go on if two values compare."""

    operator: str
    left: Slot
    right: Slot


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind a variable to the result of an operator; go on unless it is an error."""

    target: Variable
    operator: str
    left: Slot
    right: Slot


Step: TypeAlias = Scan | AntiJoin | Test | Bind


@dataclass(frozen=True, slots=True)
class RulePlan:
    """One rule, taken at one of its positive atoms."""

    rule: Rule
    head: Atom
    pivot: Atom
    steps: tuple[Step, ...]
    recursive: bool
    transitive: bool = False
    pivot_is_edge: bool = False


@dataclass(frozen=True, slots=True)
class AggregatePlan:
    """Group the facts of `source` by their first `groups` arguments and aggregate the next.

    `counted` are the groups of a count: each is derived as often as it has facts.
    """

    source: PredicateAtom
    target: PredicateAtom
    function: str
    groups: int
    counted: PredicateAtom | None = None
    parameter: str | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """Aggregates first, then the rules towards their fixpoint.

    `negative` are the same rules taken at their negated atoms: what comes there takes
    instances away, and what goes gives them.  `single` are the rules that follow a single triple under the schema; they have no
    plans here while the engine takes that path, and plans in `single_plans` otherwise.
    """

    aggregates: tuple[AggregatePlan, ...] = ()
    plans: tuple[RulePlan, ...] = ()
    negative: tuple[RulePlan, ...] = ()
    single: tuple[Rule, ...] = ()
    single_plans: tuple[RulePlan, ...] = ()
    single_is_mixed: bool = False
    """Whether conclusions of other rules depend on those of `single` and the other way round."""

    def general(self) -> Level:
        """The same with every rule in plans."""
        plans = self.plans + self.single_plans
        return Level(self.aggregates, plans, self.negative)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole program, level by level; `rules` are those it was made of, in normal form."""

    levels: tuple[Level, ...]
    rules: tuple[Rule, ...] = field(default=(), compare=False, repr=False)

    def general(self) -> Plan:
        """The same with every rule in plans, none following single triples."""
        return Plan(tuple(level.general() for level in self.levels), self.rules)
