"""The delta program: rules that derive what a change adds and removes, chosen and checked.

`dred` follows changes of facts and rules by deleting and rederiving, `stream` follows facts
that expire.  Both are made from a program by rewriting, as data: evaluated over what is true
before a change and what changes, they give what has to be added (p_plus) and removed (p_minus).

Papers: Volz et al., sections 3 and 4; Barbieri et al., section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from livefacts.errors import RuleError
from livefacts.language.checks.safety import check
from livefacts.language.program import Program, Rule
from livefacts.plan.maintenance import delete_rederive, expiry_program
from livefacts.plan.maintenance.rewrite import Input, PredicateNames, ProgramSection

DRED, STREAM = "dred", "stream"
KINDS = (DRED, STREAM)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A maintenance program: what it has to be given, and its rules by purpose."""

    kind: str
    names: PredicateNames
    inputs: tuple[Input, ...]
    sections: tuple[ProgramSection, ...]
    derived: frozenset[str] = frozenset()
    """The predicates whose asserted facts are kept apart (p_ext)."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(rule for section in self.sections for rule in section.rules)


def maintenance(
    before: Program, after: Program | None = None, kind: str = DRED, split: bool = False
) -> Maintenance:
    """The maintenance program for changes of facts, or of rules from one program to another.

    With `split`, triples of different properties have different predicates.  A program that
    is stratified only because constants keep its rules apart is split in any case.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    after = before if after is None else after
    try:
        return _checked(_made(before, after, kind, split), after)
    except _OneForAllError:
        try:
            return _checked(_made(before, after, kind, split=True), after)
        except _OneForAllError as error:
            raise _one_for_all(error.reason) from None


def _made(before: Program, after: Program, kind: str, split: bool) -> Maintenance:
    if kind == STREAM:
        return _expiring(before, after, split)
    task = delete_rederive.rederive_task(before.rules, after.rules, split)
    return Maintenance(
        DRED,
        task.names,
        tuple(delete_rederive.inputs_of(task)),
        _asserted_apart(delete_rederive.sections_of(task)),
        frozenset(atom.name for atom in task.derived),
    )


def _expiring(before: Program, after: Program, split: bool) -> Maintenance:
    if after.rules != before.rules:
        raise RuleError(
            "the stream maintenance program follows facts that expire, not changes of rules",
            hint="the dred maintenance program covers them",
        )
    task = expiry_program.expiry_task(before.rules, split)
    return Maintenance(
        STREAM,
        task.names,
        tuple(expiry_program.inputs_of(task)),
        _asserted_apart(expiry_program.sections_of(task)),
    )


def _asserted_apart(sections: Iterable[ProgramSection]) -> tuple[ProgramSection, ...]:
    """The sections with every id once: a rule may be called as a predicate is."""
    seen: set[str] = set()
    kept = []
    for section in sections:
        rules = []
        for rule in section.rules:
            while rule.id in seen:
                rule = replace(rule, id=f"{rule.id}-again")
            seen.add(rule.id)
            rules.append(rule)
        kept.append(replace(section, rules=tuple(rules)))
    return tuple(kept)


class _OneForAllError(Exception):
    """The rewritten rules depend on their own negation, or count upward forever."""

    def __init__(self, reason: RuleError) -> None:
        super().__init__(reason)
        self.reason = reason


def _checked(made: Maintenance, program: Program) -> Maintenance:
    try:
        check(Program(made.rules, limit=program.limit))
    except RuleError as error:
        raise _OneForAllError(error) from None
    return made


def _one_for_all(reason: RuleError) -> RuleError:
    return RuleError(
        "this program is in order only because its rules are about different triples, and atoms "
        "with a variable predicate keep the rewriting from telling them apart:\n"
        f"{reason.message}",
        hint="give what is negated, aggregated or counted a predicate of its own",
    )
