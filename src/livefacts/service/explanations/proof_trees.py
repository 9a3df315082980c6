"""Proof trees: why a fact holds, or how near it is to holding, in terms.

A fact that holds has a proof: a `Step` that says which rule concludes it from which
premises, down to what was asserted.  Steps that are used twice are one object.  A fact that
does not hold has `attempts`: the rules that could conclude it, each with the premises that
are true and those that are missing, the nearest rule first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from pyoxigraph import Triple

from livefacts.language.formula import Aggregate, Atom, Comparison, Formula, TripleAtom
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Term
from livefacts.service.change.delta import Violation
from livefacts.service.streams.lifetimes import Lasting

Shown: TypeAlias = Triple | Fact | TripleAtom | Violation
"""A fact in an explanation; a `TripleAtom` is a triple that RDF cannot write."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A negated premise: no fact matches."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison, with the values that it was made with."""

    comparison: Comparison


@dataclass(frozen=True, slots=True, eq=False)
class AggregateRow:
    """A tuple that an aggregate ranges over, and why it is one."""

    values: tuple[Term, ...]
    premises: tuple[Premise, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Aggregated:
    """An aggregate, its value, and the rows it is over; of many rows, the first ones."""

    aggregate: Aggregate
    value: Term
    rows: tuple[AggregateRow, ...]
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A fact and why it holds: the rule and its premises, or no rule if it was asserted."""

    fact: Shown
    rule: Rule | None = None
    bindings: Mapping[str, Term] = field(default_factory=dict)
    premises: tuple[Premise, ...] = ()
    height: int = 0

    @property
    def is_asserted(self) -> bool:
        """Whether the fact was asserted and needs no rule."""
        return self.rule is None

    @property
    def is_told(self) -> bool:
        """The old name of `is_asserted`, for one more release."""
        return self.is_asserted

    def facts(self) -> Iterator[Step]:
        """The steps that this one rests on directly, those inside aggregates too."""
        yield from _steps_in(self.premises)


Premise: TypeAlias = Step | Absent | Compared | Aggregated


def _steps_in(premises: tuple[Premise, ...]) -> Iterator[Step]:
    for premise in premises:
        if isinstance(premise, Step):
            yield premise
        elif isinstance(premise, Aggregated):
            for row in premise.rows:
                yield from _steps_in(row.premises)


class PremiseState(StrEnum):
    """What is known about a premise of a rule that does not fire."""

    TRUE = "true"
    MISSING = "missing"
    FALSE = "false"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A premise of an attempt, filled in as far as is known.

    A missing premise is an atom that no fact fits, or an aggregate without that value; a
    false one a comparison that fails, or a negation that a fact stands against.  `value` is
    what an aggregate is instead.
    """

    formula: Formula
    state: PremiseState
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rule that could conclude a fact, and how far its body is true."""

    rule: Rule
    bindings: Mapping[str, Term]
    premises: tuple[Wanted, ...]

    @property
    def missing(self) -> tuple[Formula, ...]:
        """The premises that are known to be false."""
        lacking = (PremiseState.MISSING, PremiseState.FALSE)
        return tuple(premise.formula for premise in self.premises if premise.state in lacking)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a fact holds (`proof`), or what is missing (`attempts`).

    `str(e)` is a tree, `e.to_dict()` data, `e.to_dot()` a graph for Graphviz, and a
    notebook shows it with parts that fold.  Proofs are of least height: an asserted fact has
    height 0, a conclusion one more than the highest of its premises.  `is_smallest` is False
    if the search was too large to rule out a lower one.

    For a fact that does not hold, `unknown` are its terms that nothing speaks of, `nearby`
    facts about the same subject or first argument, and `similar` predicates whose names are
    near.

    Where time has begun, `lasting` says since when the fact holds, and until when unless
    something more happens.
    """

    fact: Shown
    proof: Step | None = None
    is_smallest: bool = True
    attempts: tuple[Attempt, ...] = ()
    unknown: tuple[Term, ...] = ()
    nearby: tuple[Shown, ...] = ()
    similar: tuple[Term, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict, repr=False)
    written: Mapping[str, Rule] = field(default_factory=dict, repr=False)
    """The rules as they were written, where they are followed in another form."""
    lasting: Lasting | None = None
    """Since when and until when a fact that depends on time holds."""

    @property
    def holds(self) -> bool:
        """Whether the fact is true."""
        return self.proof is not None

    def __bool__(self) -> bool:
        return self.holds

    def steps(self) -> list[Step]:
        """The conclusions of the proof, each once, in the order in which the tree shows them."""
        found: dict[int, Step] = {}
        waiting = [] if self.proof is None else [self.proof]
        while waiting:
            step = waiting.pop()
            if step.is_asserted or id(step) in found:
                continue
            found[id(step)] = step
            waiting.extend(reversed(list(step.facts())))
        return list(found.values())

    def __str__(self) -> str:
        from livefacts.service.explanations.tree_text import as_text

        return as_text(self)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, ready for JSON."""
        from livefacts.service.explanations.plain_data import as_data

        return as_data(self)

    def to_dot(self) -> str:
        """The proof, or the attempts, as a graph for Graphviz."""
        from livefacts.service.explanations.graphviz import as_dot

        return as_dot(self)

    def to_html(self) -> str:
        """A page fragment in which every step can be folded; it needs nothing else."""
        from livefacts.service.explanations.tree_text import as_html

        return as_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()
