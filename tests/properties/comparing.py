"""Comparing: a case through the public API, step by step, beside the oracle.

After every step the reasoner must show exactly what the oracle computes from scratch, and
its Delta must be exactly the difference to the step before.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from pyoxigraph import Triple
from tests.oracle import closure, model, shown, violations
from tests.properties.cases import Case, Step, shrink

import livefacts as lf
from livefacts.model.facts import Fact
from livefacts.rules.program import Program
from livefacts.syntax.rulewriter import write_program

Facts = set[Triple | Fact]


def differences(case: Case) -> list[str]:
    """Where reasoner and oracle disagree, in words; an error of the reasoner is one too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(_compared(case))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [f"{type(error).__name__}: {str(error)[:500]} ({place.filename}:{place.lineno})"]


def report(case: Case, found: list[str]) -> str:
    """The smallest case that still differs, ready to be kept as a golden case."""
    small = shrink(case, lambda other: _fails_alike(other, found))
    lines = [*found[:5], "", "smallest case that differs:", str(small), *differences(small)[:5]]
    return "\n".join(lines)


def _fails_alike(case: Case, found: list[str]) -> bool:
    """Whether the case differs too, and not only because shrinking made it senseless."""
    others = differences(case) if is_well_formed(case) else []
    return bool(others) and others[0].startswith("step") == found[0].startswith("step")


def is_well_formed(case: Case) -> bool:
    """Whether the oracle accepts the case; shrinking may leave a variable unbound."""
    try:
        violations(case.program(), case.facts)
    except (ValueError, KeyError):
        return False
    return True


def _compared(case: Case) -> Iterator[str]:
    program, told = case.start, set(case.start.facts)
    rules = write_program(program) if case.as_text else program
    reasoner = lf.Reasoner(rules=rules, single_path=case.single_path)
    before: Facts = set()
    for number, step in enumerate((Step(), *case.steps)):
        deltas = _applied(reasoner, step)
        program = program.plus(step.rules)
        told |= set(step.facts)
        after = closure(program, told)
        for problem in _state(reasoner, program, told, after):
            yield f"step {number}: {problem}"
        if number > 0:
            for problem in _change(deltas, before, after, told):
                yield f"step {number}: {problem}"
        before = after


def _applied(reasoner: Any, step: Step) -> list[Any]:
    deltas = []
    if step.rules:
        deltas.append(reasoner.add_rules(write_program(Program(step.rules))))
    if step.facts:
        deltas.append(reasoner.add(list(step.facts)))
    return deltas


def _state(reasoner: Any, program: Program, told: Facts, after: Facts) -> Iterator[str]:
    listed = list(reasoner.facts())
    asserted = {fact for fact in told if _is_shown(fact)}
    yield from _unlike("facts()", listed, after)
    yield from _unlike("facts(derived=False)", reasoner.facts(derived=False), asserted)
    yield from _unlike("facts(derived=True)", reasoner.facts(derived=True), after - asserted)
    if len(listed) != len(after) or len(reasoner) != len(after):
        yield f"{len(listed)} facts listed, len() is {len(reasoner)}, the oracle has {len(after)}"
    missing = [fact for fact in after if fact not in reasoner]
    if missing:
        yield f"not `in` the reasoner: {missing[0]}"
    found = {(v.constraint, frozenset(v.bindings.items())) for v in reasoner.violations()}
    yield from _unlike("violations()", found, violations(program, told))


def _change(deltas: list[Any], before: Facts, after: Facts, told: Facts) -> Iterator[str]:
    """One Delta is the exact difference; several sum up to it."""
    state = set(before)
    for delta in deltas:
        added, removed = set(delta.added), set(delta.removed)
        if added & state or removed - state:
            yield "a Delta adds what is true already, or removes what is not"
        if len(deltas) == 1:
            yield from _unlike("Delta.derived", delta.derived, added - told)
        state = (state - removed) | added
    yield from _unlike("the sum of the Deltas", state, after)


def _unlike(what: str, found: Iterable[Any], expected: Iterable[Any]) -> Iterator[str]:
    found, expected = set(found), set(expected)
    for word, rest in (("lacks", expected - found), ("has too much", found - expected)):
        if rest:
            yield f"{what} {word}: {', '.join(sorted(map(str, rest))[:4])}"


def _is_shown(fact: Triple | Fact) -> bool:
    return any(shown(row) is not None for row in model(Program(), [fact]))
