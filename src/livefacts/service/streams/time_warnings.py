"""Time warnings: rules about time that are followed as they are written, but hardly meant so.

A conclusion holds at the time point of its evaluation.  A window that looks for it further back
finds nothing there, unless the rule says for which time point it concludes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import Ids
from livefacts.errors import LivefactsWarning
from livefacts.language.checks.warnings import RuleWarning
from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Family,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
    family_of,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_formula, write_rule
from livefacts.language.windows import FactWindow, SteppedWindow, TimeWindow, Window
from livefacts.model.durations import Duration
from livefacts.model.facts import Symbol
from livefacts.plan.time_lowering import rules_for, timed_parts
from livefacts.service.streams.fact_rows import predicate_of
from livefacts.store.terms.dictionary import Dictionary

TIMES = "tuwabc"


def warn_of(
    program: Program,
    before: Program,
    tick: Duration | None,
    asserted: Mapping[int, Ids],
    dictionary: Dictionary,
) -> None:
    """Warn of what is doubtful about a program and was not about the one before.

    `asserted` are the facts that come with it.
    """
    known = set(map(str, warnings_of(before, tick)))
    for warning in warnings_of(program, tick, frozenset(_families(asserted, dictionary))):
        if str(warning) not in known:
            warnings.warn(str(warning), LivefactsWarning, stacklevel=2)


def _families(facts: Mapping[int, Ids], dictionary: Dictionary) -> Iterator[Family]:
    """What facts are about."""
    for shape, ids in facts.items():
        for term in dictionary.decode(np.unique(predicate_of(shape, ids))):
            yield term.name if isinstance(term, Symbol) else cast(NamedNode, term)


def warnings_of(
    program: Program, tick: Duration | None = None, asserted: frozenset[Family] = frozenset()
) -> Iterator[RuleWarning]:
    """What is doubtful about the rules of a program that look at windows."""
    for rule in program.rules:
        for formula in timed_parts(rule.body):
            yield from _of_plain_heads(formula, program)
            if formula.operator == ALWAYS:
                yield from _of_short_heads(formula, program, program.tick or tick)
            if formula.operator == AT:
                yield from _of_background(formula, rule, program, asserted)


def _of_plain_heads(formula: Timed, program: Program) -> Iterator[RuleWarning]:
    """`sometime` and `always` over what is derived for now alone."""
    if formula.operator not in (SOMETIME, ALWAYS) or not _reaches_back(formula.window):
        return
    for other in rules_for(program, formula.atom):
        if other.at is None:
            shown = _shown(formula, program)
            only = "only at the first time point" if formula.operator == ALWAYS else "only now"
            yield RuleWarning(
                f"`{shown}` looks back at what rule {other.id} concludes, which holds at the time "
                f"point of its evaluation alone: by that rule it is true {only}",
                formula.place or other.place,
                f"say for which time point it is derived: {_rewritten(other, formula, program)}",
            )


def _reaches_back(window: Window | None) -> bool:
    match window:
        case TimeWindow(length):
            return length.amount > 0
        case SteppedWindow(range=length):
            return length.amount > 1
        case FactWindow():
            return False
    return True


def _rewritten(rule: Rule, formula: Timed, program: Program) -> str:
    """The rule with the time point of what it looks at."""
    taken = {v.name for part in rule.body for v in variables_of(part)}
    time = Variable(next(name for name in TIMES if name not in taken))
    body, is_timed = [], False
    for part in rule.body:
        if not is_timed and isinstance(part, TripleAtom | PredicateAtom):
            part, is_timed = Timed(AT, part, formula.window, time), True
        elif not is_timed and isinstance(part, Timed) and part.operator == SOMETIME:
            part, is_timed = replace(part, operator=AT, time=time), True
        body.append(part)
    at = time if is_timed else None
    return write_rule(replace(rule, body=tuple(body), at=at, id=""), dict(program.prefixes))


def _of_short_heads(
    formula: Timed, program: Program, tick: Duration | None
) -> Iterator[RuleWarning]:
    """`always` over conclusions that are not drawn for all time points of its window."""
    if not isinstance(formula.window, TimeWindow):
        return
    wanted = formula.window.length.points(tick)
    for other in rules_for(program, formula.atom):
        own = [
            part.window.length.points(tick)
            for part in timed_parts(other.body)
            if part.time == other.at and isinstance(part.window, TimeWindow)
        ]
        if other.at is not None and own and max(own) < wanted:
            yield RuleWarning(
                f"`{_shown(formula, program)}` needs conclusions of rule {other.id} for all of its "
                "window, and that rule looks back less far: it is true near the first time point only",
                formula.place or other.place,
                f"give rule {other.id} the window that is looked at",
            )


def _of_background(
    formula: Timed, rule: Rule, program: Program, asserted: frozenset[Family]
) -> Iterator[RuleWarning]:
    """`at ?t` over facts that hold at all times."""
    is_free = isinstance(formula.time, Variable) and not any(
        formula.time in variables_of(part) for part in rule.body if part is not formula
    )
    if (
        is_free
        and not formula.negated
        and not formula.denied
        and family_of(formula.atom) in asserted
    ):
        yield RuleWarning(
            f"`{_shown(formula, program)}` finds what is asserted for all time at every time point "
            "of its window",
            formula.place or rule.place,
            "look for background without `at`, or push it at its time point",
        )


def _shown(formula: Timed, program: Program) -> str:
    return write_formula(formula, dict(program.prefixes))
