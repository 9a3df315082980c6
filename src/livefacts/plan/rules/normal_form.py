"""Normal form: every rule has a head, a positive atom to start from, no braces, and no part in
its body that nothing else needs.

A constraint concludes a hidden predicate that lists its violations.  An aggregate
becomes three rules: the tuples it ranges over, the values of its groups, and the rule
that uses them; a count has one more, whose instances for a group are what is counted.
Facts that are such tuples already are taken as they are, and so are rules in normal form.
A body without a positive atom starts from the hidden fact `_true`.  Parts that are only asked
whether they hold become rules of their own last (`existence_tests`).
Hidden predicates begin with `_` and carry a colon, which no rule text can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from livefacts.language.formula import (
    Aggregate,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.plan.rules.existence_tests import tested
from livefacts.plan.rules.memo import by_address

TRUE = PredicateAtom("_true:")
VIOLATION = "_violation:"
ROWS, GROUPS, VALUES = "_rows:", "_groups:", "_values:"


def normalize(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in normal form; each keeps the id and place of the rule it came from."""
    return tuple([part for rule in rules for part in _normal(rule)])


def with_whole_bodies(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in normal form, but for existence tests: as proofs show them."""
    return tuple(part for rule in rules for part in _whole(rule))


@by_address
def _normal(rule: Rule) -> tuple[Rule, ...]:
    # What has one part has none that nothing else needs.
    parts = [tested(whole) if len(whole.body) > 1 else [whole] for whole in _whole(rule)]
    return tuple([part for each in parts for part in each])


@by_address
def _whole(rule: Rule) -> tuple[Rule, ...]:
    # By address, not by value: formulas of the normal form are those of this very rule.
    return tuple(_parts(rule))


def violation_variables(rule: Rule) -> tuple[Variable, ...]:
    """What a violation of a constraint binds, in the order of the text.

    >>> x, y = Variable("x"), Variable("y")
    >>> violation_variables(Rule(None, (PredicateAtom("p", (x, y)), Comparison(x, "<", y))))
    (Variable(name='x'), Variable(name='y'))
    """
    outside: list[Variable] = []
    for formula in rule.body:
        if isinstance(formula, Aggregate):
            outside.append(formula.result)
            outside.extend(rule.groups_of(formula))
        else:
            outside.extend(variables_of(formula))
    return tuple(dict.fromkeys(outside))


def _parts(rule: Rule) -> Iterator[Rule]:
    head = rule.head
    if isinstance(head, PredicateAtom) and head.name.startswith(VALUES):
        yield rule
        return
    if head is None:
        head = PredicateAtom(VIOLATION + rule.id, violation_variables(rule), rule.place)
    body: list[Formula] = []
    for number, formula in enumerate(rule.body):
        if isinstance(formula, Aggregate):
            parts, used = _aggregate_parts(formula, rule, f"{rule.id}.{number}")
            yield from parts
            body.extend(used)
        else:
            body.append(formula)
    startable = _startable(body)
    is_normal = head is rule.head and len(startable) == len(rule.body) == len(body)
    yield rule if is_normal and not _has_braces(rule) else replace(rule, head=head, body=startable)


def _has_braces(rule: Rule) -> bool:
    return any(isinstance(formula, Aggregate) for formula in rule.body)


def _aggregate_parts(
    aggregate: Aggregate, rule: Rule, name: str
) -> tuple[tuple[Rule, ...], tuple[Formula, ...]]:
    groups = rule.groups_of(aggregate)
    result = Variable(f":{name}") if _is_bound_elsewhere(aggregate, rule) else aggregate.result
    values = PredicateAtom(f"{VALUES}{name}", (*groups, result), aggregate.place)
    used: tuple[Formula, ...] = (values,)
    if result != aggregate.result:
        used += (Comparison(result, "=", aggregate.result, aggregate.place),)
    rows = _rows_as_they_are(aggregate, groups)
    parts: tuple[Rule, ...] = ()
    if rows is None:
        rows = PredicateAtom(f"{ROWS}{name}", groups + aggregate.listed, aggregate.place)
        parts = (replace(rule, head=rows, body=_startable(aggregate.body)),)
    over = replace(aggregate, result=result, body=(rows,))
    if aggregate.function == "count":
        counted = PredicateAtom(f"{GROUPS}{name}", groups, aggregate.place)
        parts += (replace(rule, head=counted, body=(rows,)),)
        over = replace(over, body=(rows, counted))
    return (*parts, replace(rule, head=values, body=(over,))), used


def _rows_as_they_are(aggregate: Aggregate, groups: tuple[Variable, ...]) -> PredicateAtom | None:
    """The only atom in braces, if its facts are the groups with what is listed, in this order."""
    atom, columns = aggregate.body[0], groups + aggregate.listed
    if len(aggregate.body) > 1 or not isinstance(atom, PredicateAtom):
        return None
    return atom if atom.arguments == columns and len(set(columns)) == len(columns) else None


def _is_bound_elsewhere(aggregate: Aggregate, rule: Rule) -> bool:
    for formula in rule.body:
        if formula is aggregate:
            continue
        if isinstance(formula, TripleAtom | PredicateAtom) and aggregate.result in variables_of(
            formula
        ):
            return True
        if isinstance(formula, Aggregate) and aggregate.result in variables_of(formula):
            return True
    return False


def _startable(body: Iterable[Formula]) -> tuple[Formula, ...]:
    body = tuple(body)
    if any(isinstance(formula, TripleAtom | PredicateAtom) for formula in body):
        return body
    return (TRUE, *body)


def positive_atoms(rule: Rule) -> tuple[TripleAtom | PredicateAtom, ...]:
    return tuple([f for f in rule.body if isinstance(f, TripleAtom | PredicateAtom)])


def is_positive(rule: Rule) -> bool:
    """Whether the body has atoms only."""
    return not any(isinstance(f, Negation | Aggregate | Comparison) for f in rule.body)
