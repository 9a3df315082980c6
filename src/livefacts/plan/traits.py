"""Traits: what planning asks of every rule, found out once.

A change of rules plans thousands of others again, which have not changed.  Rules are known
by address: to compare two of them takes longer than what is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from livefacts.plan.normalize import REMEMBERED
from livefacts.plan.transitive import is_transitive
from livefacts.rules.formula import Aggregate, Negation
from livefacts.rules.program import Rule


@dataclass(frozen=True, slots=True)
class Traits:
    """What a rule in normal form is; `rule` keeps its address from being given to another."""

    rule: Rule
    is_aggregate: bool
    has_negation: bool
    is_transitive: bool


_by_address: dict[int, Traits] = {}


def traits(rule: Rule) -> Traits:
    """The traits of a rule."""
    known = _by_address.get(id(rule))
    if known is not None:
        return known
    if len(_by_address) >= REMEMBERED:
        _by_address.clear()
    found = _by_address[id(rule)] = Traits(
        rule,
        isinstance(rule.body[0], Aggregate),
        any(isinstance(formula, Negation) for formula in rule.body),
        is_transitive(rule),
    )
    return found
