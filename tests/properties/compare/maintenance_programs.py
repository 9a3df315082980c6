"""Maintenance programs beside the engine: what the oracle makes of them at random changes.

At every step of a random history the dred program of that step is evaluated by the oracle over
what was true and told before; its Plus and Minus must be what the oracle finds by computing
everything anew, and what the reasoner says has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Triple
from tests.oracle import Row, model, shown
from tests.oracle.naive import TRIPLE
from tests.properties.compare.histories import LIMIT, Change, History, applied

import livefacts as lf
from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.plan.maintenance.delta_program import Maintenance, maintenance

Rows = set[Row]


@dataclass(frozen=True, slots=True)
class Step:
    """One change: the rules before and after, what was told before, what comes and goes."""

    before: Program
    after: Program
    asserted: Rows
    added: Rows
    removed: Rows
    change: Change


def steps(history: History) -> Iterator[Step]:
    program = Program(history.start, limit=LIMIT)
    asserted: Rows = set()
    for change in history.changes:
        after = Program(change.rules_after(program.rules), limit=LIMIT)
        added, removed = ({row_of(f) for f in facts} for facts in (change.added, change.removed))
        yield Step(program, after, asserted, added, removed, change)
        asserted, program = (asserted - removed) | added, after


def differences(history: History, seen: Counter[str], split: bool = False) -> Iterator[str]:
    """Where Plus and Minus are not what has changed; `seen` counts what the steps were like."""
    reasoner = lf.Reasoner()
    reasoner.add_rules(Program(history.start, limit=LIMIT))
    for number, step in enumerate(steps(history)):
        delta = applied(reasoner, step.change)
        try:
            rules = maintenance(step.before, step.after, split=split)
        except lf.RuleError:
            seen["refused"] += 1
            continue
        was = model(step.before, map(_statement, step.asserted))
        now = model(step.after, map(_statement, (step.asserted - step.removed) | step.added))
        found = evaluated(rules, was, step)
        seen.update(role for role in ("red", "plus", "minus") if extension(rules, found, role))
        for role, rows, ours in (
            ("plus", now - was, delta.added),
            ("minus", was - now, delta.removed),
        ):
            expected = {row for row in rows if _is_spoken_of(rules, row)}
            wrong = extension(rules, found, role) ^ expected
            if wrong:
                yield f"step {number}: {role} is wrong about {wrong}"
            theirs = {row_of(fact) for fact in ours}
            if {row for row in theirs if _is_spoken_of(rules, row)} != set(_visible(expected)):
                yield f"step {number}: the delta of the reasoner is {theirs}"
        seen["steps"] += 1


def evaluated(rules: Maintenance, was: Iterable[Row], step: Step) -> Rows:
    """Everything that the oracle derives by a dred maintenance program."""
    inputs = [_fact(rules, row) for row in was]
    inputs += [_fact(rules, row, "ext") for row in step.asserted if _is_derived(rules, row)]
    for rows, role in ((step.removed & step.asserted, "del"), (step.added, "ins")):
        for row in rows:
            roles = ("ext", role) if _is_derived(rules, row) else (role,)
            inputs.append(_fact(rules, row, *roles))
    return model(Program(rules.rules), inputs)


def extension(rules: Maintenance, found: Rows, role: str) -> Rows:
    """The rows of all predicates in this role, as rows of the relations they belong to."""
    relations = {each.atom.name: each.atom.name for each in rules.inputs}
    relations |= {part.name: part.relation for part in rules.names.parts}
    served = {rules.names.of(name, role): relation for name, relation in relations.items()}
    called = {rules.names.triple: TRIPLE}
    return {
        (called.get(served[name], served[name]), terms) for name, terms in found if name in served
    }


def row_of(fact: Triple | Fact) -> Row:
    if isinstance(fact, Triple):
        return TRIPLE, (fact.subject, fact.predicate, fact.object)
    return fact.name, tuple(fact.arguments)


def _statement(row: Row) -> Triple | Fact:
    name, terms = row
    return Triple(*terms) if name == TRIPLE else Fact(name, terms)  # type: ignore[arg-type]


def _visible(rows: Rows) -> Iterator[Row]:
    return (row for row in rows if shown(row) is not None)


def _fact(rules: Maintenance, row: Row, *roles: str) -> Fact:
    return Fact(rules.names.of(_predicate(rules, row), *roles), row[1])


def _predicate(rules: Maintenance, row: Row) -> str:
    relation = rules.names.triple if row[0] == TRIPLE else row[0]
    return rules.names.predicate(relation, row[1])


def _is_derived(rules: Maintenance, row: Row) -> bool:
    return _predicate(rules, row) in rules.derived


def _is_spoken_of(rules: Maintenance, row: Row) -> bool:
    return _predicate(rules, row) in {each.atom.name for each in rules.inputs}
