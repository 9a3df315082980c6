"""Traits of a rule: what planning asks of it, found out once."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from livefacts.language.formula import Aggregate, Negation
from livefacts.language.program import Rule
from livefacts.plan.rules.memo import by_address
from livefacts.plan.rules.schema_split import follows_single_triples
from livefacts.plan.rules.transitivity import is_transitive


@dataclass(frozen=True, slots=True)
class Traits:
    """What a rule in normal form is."""

    is_aggregate: bool
    has_negation: bool
    is_transitive: bool
    follows_single_triples: bool


@by_address
def traits(rule: Rule) -> Traits:
    """The traits of a rule."""
    return Traits(
        isinstance(rule.body[0], Aggregate),
        any(isinstance(formula, Negation) for formula in rule.body),
        is_transitive(rule),
        follows_single_triples(rule),
    )


@dataclass(frozen=True, slots=True)
class SortedRules:
    """The rules of a level by what they are; those with negation are among the others too."""

    aggregates: tuple[Rule, ...]
    single: tuple[Rule, ...]
    others: tuple[Rule, ...]
    negated: tuple[Rule, ...]

    def unsplit(self, rules: tuple[Rule, ...]) -> SortedRules:
        """Without rules that follow single triples; `rules` are all of the level."""
        if not self.single:
            return self
        gone = set(map(id, self.aggregates))
        return replace(self, single=(), others=tuple(r for r in rules if id(r) not in gone))


def sorted_rules(rules: Iterable[Rule], allowed: Container[Rule] | None = None) -> SortedRules:
    """Sort the rules of a level, in one go: there may be thousands.

    `allowed` are the only rules that may follow single triples, if not all may.
    """
    aggregates, single, others, negated = list[Rule](), list[Rule](), list[Rule](), list[Rule]()
    for rule in rules:
        known = traits(rule)
        if known.is_aggregate:
            aggregates.append(rule)
        elif known.follows_single_triples and (allowed is None or rule in allowed):
            single.append(rule)
        else:
            others.append(rule)
            if known.has_negation:
                negated.append(rule)
    return SortedRules(tuple(aggregates), tuple(single), tuple(others), tuple(negated))
