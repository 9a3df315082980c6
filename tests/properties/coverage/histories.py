"""What the changes of a history do, by the oracle alone: so that a dull generator is noticed.

A removal *reaches* a conclusion when it takes a premise from one, and *rederives* one when
a fact that it has reached, over any number of steps, is true all the same.  It ends a
*circle* when facts that hold up each other go: those that counting alone would keep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Quad, Triple
from tests.oracle import Row, asked_for, conclusion, instances, premises, row_of
from tests.oracle.naive import overlap
from tests.properties.compare.histories import Truth, fact_of
from tests.properties.generate.histories import Change, History
from tests.properties.generate.programs import is_recursive
from tests.properties.generate.vocabulary import DOMAIN, RANGE, SUBCLASS, SUBPROPERTY

from livefacts.language.formula import variables_of
from livefacts.language.program import Rule
from livefacts.plan import compile_rules

SCHEMA = {SUBCLASS, SUBPROPERTY, DOMAIN, RANGE}


@dataclass(frozen=True, slots=True)
class Instance:
    """One way in which a rule derives a row."""

    rule: Rule
    head: Row
    premises: tuple[Row, ...]


def effects(history: History) -> Counter[str]:
    """How often the changes of a history have each effect."""
    found: Counter[str] = Counter()
    truth = Truth.of(history.start)
    for change in history.changes:
        after = truth.after(change)
        found["changes"] += 1
        found.update(set(_of_removal(truth, change)))
        found.update(set(_of_rules(truth, after, change)))
        found.update(set(_of_truth(truth, after, change)))
        if history.single_path:
            found.update(set(_of_schema(truth, change)))
        if not (history.refuses and after.violations - truth.violations):
            truth = after
        else:
            found["refusals"] += 1
    return found


def shares(histories: Iterable[History]) -> dict[str, float]:
    """Effects of removals and of rule changes as shares of those, all others of the changes."""
    total: Counter[str] = Counter()
    for history in histories:
        total.update(effects(history))
    return {name: count / total[_whole(name)] for name, count in total.items() if count}


def _whole(name: str) -> str:
    whole, colon, _ = name.partition(":")
    return whole if colon else "changes"


def _of_removal(before: Truth, change: Change) -> Iterator[str]:
    """The facts that go, looked at without the rest of the change."""
    left = before.statements - change.removed
    gone = {row_of(fact_of(fact)) for fact in before.statements & change.removed}
    asserted = {row_of(fact_of(fact)) for fact in left}
    if not gone:
        return
    yield "removals"
    if gone & asserted:
        yield "removals: still told in another graph"
    found = _instances(before)
    after = Truth.of(before.rules, left)
    doomed = _doomed(gone - asserted, found, asserted)
    if doomed - gone or after.visible - after.asserted != before.visible - before.statements:
        yield "removals: reach a conclusion"
    kept = doomed & after.rows
    if kept:
        yield "removals: rederive"
    if any(_only_by_recursion(row, found, after, asserted) for row in kept):
        yield "removals: rederive by recursion alone"
    if (doomed - after.rows) - _counted_out(gone - asserted, found, asserted):
        yield "removals: end a circle"
    if after.rows - before.rows:
        yield "removals: make something true"


def _instances(truth: Truth) -> list[Instance]:
    rules = [rule for rule in truth.rules if not rule.is_constraint]
    return [
        Instance(rule, conclusion(rule, binding), tuple(premises(rule, binding)))
        for rule, binding in instances(truth.rows, rules)
    ]


def _doomed(gone: set[Row], found: list[Instance], asserted: set[Row]) -> set[Row]:
    """What delete-and-rederive deletes for a try."""
    doomed, size = set(gone), -1
    while len(doomed) > size:
        size = len(doomed)
        reached = {each.head for each in found if doomed.intersection(each.premises)}
        doomed |= reached - asserted
    return doomed


def _counted_out(gone: set[Row], found: list[Instance], asserted: set[Row]) -> set[Row]:
    """What counting alone deletes."""
    dead: set[Row] = set()
    while True:
        alive = {each.head for each in found if not dead.intersection(each.premises)}
        heads = gone | {each.head for each in found}
        now = {row for row in heads if row not in alive and row not in asserted}
        if now == dead:
            return dead
        dead = now


def _only_by_recursion(row: Row, found: list[Instance], after: Truth, asserted: set[Row]) -> bool:
    rules = [rule for rule in after.rules if not rule.is_constraint]
    left = {each.rule for each in found if each.head == row and after.rows >= {*each.premises}}
    return row not in asserted and all(is_recursive(rule, rules) for rule in left)


def _of_rules(before: Truth, after: Truth, change: Change) -> Iterator[str]:
    came = set(after.rules) - set(before.rules)
    went = set(before.rules) - set(after.rules)
    if set(change.rules_added) & set(change.rules_removed) & set(before.rules):
        yield "a rule changes into itself"
    if not came and not went:
        return
    yield "rule changes"
    used = {rule for rule, _ in instances(before.rows, went)}
    used |= {rule for rule, _ in instances(after.rows, came)}
    if used:
        yield "rule changes: reach a conclusion"
    if change.added - before.statements or change.removed & before.statements:
        yield "rule changes: with facts"
    was, now = _recursive(before), _recursive(after)
    if (now - was) - came:
        yield "rule changes: make others recursive"
    if any(_is_turned(rule, before, after) for rule in (now - was) - came):
        yield "rule changes: make others recursive whose negations turn"
    if (was - now) - went:
        yield "rule changes: end the recursion of others"
    if any(_is_turned(rule, before, after) for rule in (was - now) - went):
        yield "rule changes: end the recursion of others whose negations turn"
    heads = [rule.head for rule in after.rules if rule.head is not None]
    gone = [rule.head for rule in went if rule.head is not None]
    if any(not any(overlap(head, other) for other in heads) for head in gone):
        yield "rule changes: the last rule of a head goes"


def _is_turned(rule: Rule, before: Truth, after: Truth) -> bool:
    """Whether a rule gains or loses an instance whose atoms were true and stay so."""
    old, new = (
        {tuple(premises(rule, binding)) for _, binding in instances(truth.rows, [rule])}
        for truth in (before, after)
    )
    return any(before.rows.intersection(after.rows).issuperset(read) for read in old ^ new)


def _recursive(truth: Truth) -> set[Rule]:
    rules = [rule for rule in truth.rules if not rule.is_constraint]
    return {rule for rule in rules if is_recursive(rule, rules)}


def _of_truth(before: Truth, after: Truth, change: Change) -> Iterator[str]:
    if after.violations - before.violations:
        yield "violations come"
    if before.violations - after.violations:
        yield "violations go"
    if not change.removed and not change.rules_removed and before.rows - after.rows:
        yield "an addition ends something"
    held, empty = _asked(before)
    holds, is_empty = _asked(after)
    if held & is_empty:
        yield "the last match of a part goes"
    if empty & holds:
        yield "the first match of a part comes"
    if any(isinstance(each, Quad) for each in change.removed & before.statements):
        yield "a triple leaves a named graph"
    if change.added & before.statements or change.removed - before.statements:
        yield "idle facts"


def _asked(truth: Truth) -> tuple[set[Rule], set[Rule]]:
    """The rules whose parts that are only asked for hold, and those where they do not."""
    asking = {rule: asked_for(rule) for rule in truth.rules if asked_for(rule)}
    parts = {
        rule: Rule(None, tuple(f for f in rule.body if not asked.isdisjoint(variables_of(f))))
        for rule, asked in asking.items()
    }
    held = {
        rule for rule, part in parts.items() if any(True for _ in instances(truth.rows, [part]))
    }
    return held, asking.keys() - held


def _of_schema(before: Truth, change: Change) -> Iterator[str]:
    if not any(level.single for level in compile_rules(before.rules).levels):
        return
    yield "follow single triples"
    edges = [each for each in change.removed & before.statements if isinstance(each, Triple)]
    if any(edge.predicate in SCHEMA for edge in edges):
        yield "the schema loses an edge"
