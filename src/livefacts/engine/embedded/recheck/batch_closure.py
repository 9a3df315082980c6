"""The closure in batches: the plain rules, component by component, into tables of their own.

A component whose rules do not depend on each other is evaluated once.  Any other goes in
rounds (semi-naive, set at a time): what came in the last round is joined with everything, until
nothing is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.recheck.column_joins import (
    BatchAtom,
    BatchBody,
    Bindings,
    Model,
    compiled,
    pattern_of,
)
from livefacts.engine.embedded.recheck.column_values import NONE
from livefacts.engine.embedded.recheck.id_tables import Columns, Numbers, distinct
from livefacts.language.checks.strata import stratify
from livefacts.language.formula import Aggregate
from livefacts.language.program import Rule
from livefacts.model.running_totals import IN_RULES
from livefacts.store.terms.dictionary import Dictionary


@dataclass(frozen=True, slots=True)
class BatchRule:
    """A rule in ids; an aggregate has one atom to range over."""

    head: BatchAtom
    body: BatchBody
    aggregate: Aggregate | None = None

    def heads(self, found: Bindings) -> list[Ids]:
        """What the rule concludes, once for each way."""
        return [found.column(slot) for slot in self.head.slots]


def batch_rule(rule: Rule, dictionary: Dictionary) -> BatchRule:
    """A rule in normal form, in ids."""
    assert rule.head is not None, "normal form has a head"
    head = pattern_of(rule.head, dictionary)
    first = rule.body[0]
    if isinstance(first, Aggregate):
        return BatchRule(head, compiled(first.body, dictionary), first)
    return BatchRule(head, compiled(rule.body, dictionary))


def close(model: Model, rules: Iterable[Rule]) -> None:
    """Add everything that follows from the facts of a model by rules in normal form."""
    strata = stratify(rules)
    for component in strata.components:
        batch = [batch_rule(rule, model.dictionary) for rule in component]
        if any(strata.is_recursive(rule) for rule in component):
            close_together(model, batch)
        else:
            _conclude(model, batch)


def _conclude(model: Model, rules: Sequence[BatchRule]) -> None:
    add_new(model, (heads for rule in rules for heads in _conclusions(model, rule)))


def close_together(model: Model, rules: Sequence[BatchRule]) -> None:
    """Add what follows by rules that may depend on each other.

    After the first round, every way to make a body true uses something that came in the
    round before.
    """
    since = model.counts()
    _conclude(model, rules)
    while model.counts() != since:
        before, since = since, model.counts()
        add_new(
            model,
            (
                (rule.head.shape, rule.heads(found))
                for rule in rules
                for pivot in range(len(rule.body.atoms))
                for found in model.new_solutions(rule.body, pivot, before)
            ),
        )


def add_new(model: Model, facts: Iterable[tuple[int, Columns]]) -> None:
    """Add those of these facts that are not there, when all of them have been seen."""
    new: dict[int, list[Columns]] = {}
    for shape, columns in facts:
        different = distinct(columns)
        missing = model.table(shape).find(different) < 0
        if missing.any():
            new.setdefault(shape, []).append([column[missing] for column in different])
    for shape, pieces in new.items():
        joined = [np.concatenate(column) for column in zip(*pieces, strict=True)]
        model.table(shape).append(distinct(joined) if len(pieces) > 1 else joined)


def instances(model: Model, rule: BatchRule) -> Iterator[Numbers]:
    """The rows that a rule concludes, once for each way to make its body true."""
    for shape, heads in _conclusions(model, rule):
        yield model.table(shape).find(heads)


def _conclusions(model: Model, rule: BatchRule) -> Iterator[tuple[int, Columns]]:
    if rule.aggregate is not None:
        yield rule.head.shape, _aggregated(model, rule)
        return
    for found in model.solutions(rule.body):
        yield rule.head.shape, rule.heads(found)


def _aggregated(model: Model, rule: BatchRule) -> Columns:
    """One fact for each group that has a value: its name, the group, the value."""
    assert rule.aggregate is not None
    source = rule.body.atoms[0]
    groups = len(rule.head.slots) - 2
    constants = source.constants
    rows = [
        rows
        for _, rows in model.table(source.shape).joined(
            tuple(constants), [np.array([value], np.int32) for value in constants.values()], 1
        )
    ]
    cells = [
        model.table(source.shape).column(number)[np.concatenate([[], *rows]).astype(np.int64)]
        for number in range(len(source.slots))
    ]
    looked_at = IN_RULES[rule.aggregate.function].values
    values = cells[1 + groups : 1 + groups + looked_at]
    return _of_groups(model, rule, cells[1 : 1 + groups], np.stack(values, axis=1))


def _of_groups(model: Model, rule: BatchRule, groups: Columns, ids: Ids) -> Columns:
    assert rule.aggregate is not None
    order = np.lexsort(groups[::-1]) if groups else np.arange(len(ids))
    groups, ids = [column[order] for column in groups], ids[order]
    changes = [column[1:] != column[:-1] for column in groups]
    begins = np.flatnonzero(np.logical_or.reduce(changes)) + 1 if changes else np.zeros(0, np.int64)
    parts = np.split(ids, begins) if len(ids) else []
    found = [model.calculator.aggregate(rule.aggregate, part) for part in parts]
    values = np.array(found, np.int32)
    there = values != NONE
    first = np.concatenate([[0], begins])[: len(parts)][there]
    name = rule.head.constants[0]
    return [
        np.full(len(first), name, np.int32),
        *(column[first] for column in groups),
        values[there],
    ]
