"""Traits: what planning asks of every rule, found out once."""

from __future__ import annotations

from dataclasses import dataclass

from livefacts.plan.remembering import by_address
from livefacts.plan.transitive import is_transitive
from livefacts.rules.formula import Aggregate, Negation
from livefacts.rules.program import Rule


@dataclass(frozen=True, slots=True)
class Traits:
    """What a rule in normal form is."""

    is_aggregate: bool
    has_negation: bool
    is_transitive: bool


@by_address
def traits(rule: Rule) -> Traits:
    """The traits of a rule."""
    return Traits(
        isinstance(rule.body[0], Aggregate),
        any(isinstance(formula, Negation) for formula in rule.body),
        is_transitive(rule),
    )
