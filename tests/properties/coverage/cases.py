"""What random cases contain and derive: so that a dull generator is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.oracle import asked_for, model, shown, violations
from tests.oracle.naive import atoms_of, levels
from tests.properties.generate.cases import Case
from tests.properties.generate.programs import is_recursive
from tests.properties.generate.vocabulary import TYPE

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule


def shares(cases: Iterable[Case]) -> dict[str, float]:
    """For each feature, the share of the cases that have it."""
    counts: Counter[str] = Counter()
    total = 0
    for case in cases:
        total += 1
        counts.update(set(features(case)))
    return {name: count / total for name, count in sorted(counts.items())}


def features(case: Case) -> Iterator[str]:
    rules = [rule for rule in case.rules if not rule.is_constraint]
    yield from _of_results(case)
    yield f"strata: {min(len(levels(rules)), 3)}"
    yield "steps: several" if len(case.steps) > 1 else "steps: one"
    if any(step.rules for step in case.steps):
        yield "late rules"
    for rule in rules:
        if is_recursive(rule, rules):
            reads_itself = any(a == rule.head for a, _ in atoms_of(rule.body))
            yield "recursion"
            yield "reads itself" if reads_itself else "recursion through others"
    for rule in case.rules:
        yield from _of_rule(rule)


def _of_results(case: Case) -> Iterator[str]:
    program, facts = case.program(), set(case.facts)
    rows = model(program, facts)
    visible = {shown(row) for row in rows} - {None}
    if visible - facts:
        yield "derives something"
    if len(visible - facts) >= 5:
        yield "derives five or more"
    if any(shown(row) is None and row[0] == "[]" for row in rows):
        yield "generalized triples"
    if any(row[0].startswith("_") for row in rows):
        yield "hidden predicates"
    if violations(program, facts):
        yield "violations"


def _of_rule(rule: Rule) -> Iterator[str]:
    if rule.is_constraint:
        yield "constraints"
    if asked_for(rule):
        yield "parts that are only asked for"
    for atom in (*([] if rule.head is None else [rule.head]), *(a for a, _ in atoms_of(rule.body))):
        yield from _of_atom(atom)
    for part in rule.body:
        yield from _of_part(part)


def _of_atom(atom: Atom) -> Iterator[str]:
    variables = [slot for slot in atom.slots if isinstance(slot, Variable)]
    if len(variables) > len(set(variables)):
        yield "repeated variables"
    match atom:
        case PredicateAtom(_, arguments):
            yield f"arity {len(arguments)}"
            if len(variables) < len(arguments):
                yield "constants"
        case TripleAtom(_, predicate, object):
            if isinstance(predicate, Variable):
                yield "variable predicates"
            if predicate == TYPE and not isinstance(object, Variable):
                yield "class constants"


def _of_part(part: Formula) -> Iterator[str]:
    match part:
        case Negation():
            yield "negation"
        case Aggregate():
            yield "aggregates"
            yield part.function
        case Comparison(_, _, Arithmetic(operator)):
            yield f"arithmetic {operator}"
        case Comparison():
            yield "comparisons"
