"""Stream histories retold in triples: predicates of two arguments become properties.

What holds must be the same, retold: windows see no difference between the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyoxigraph import NamedNode, Triple
from tests.properties.generate.stream_histories import Statement, StreamHistory
from tests.properties.generate.timed_rules import ARRIVING, DERIVED
from tests.properties.generate.vocabulary import EX

from livefacts.language.formula import (
    Aggregate,
    Atom,
    Formula,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import FactWindow, Window
from livefacts.model.facts import Fact

PROPERTIES = {
    name: NamedNode(f"{EX}{name}")
    for name, sorts in (ARRIVING | DERIVED).items()
    if len(sorts) == 2
}


def retold(history: StreamHistory) -> StreamHistory:
    """The history with triples for all facts of two arguments."""
    acts = (replace(act, facts=tuple(map(fact, act.facts))) for act in history.acts)
    return replace(history, program=_program(history.program), acts=tuple(acts))


def fact(asserted: Statement) -> Statement:
    if isinstance(asserted, Fact) and asserted.name in PROPERTIES:
        subject, object = asserted.arguments
        return Triple(subject, PROPERTIES[asserted.name], object)  # type: ignore[arg-type]
    return asserted


def facts(asserted: Iterable[Statement]) -> set[Statement]:
    return set(map(fact, asserted))


def _program(program: Program) -> Program:
    retained = tuple((_name(name), length) for name, length in program.retained)
    return replace(program, rules=tuple(map(_rule, program.rules)), retained=retained)


def _rule(rule: Rule) -> Rule:
    head = None if rule.head is None else _atom(rule.head)
    return replace(rule, head=head, body=tuple(map(_formula, rule.body)))


def _formula(part: Formula) -> Formula:
    match part:
        case TripleAtom() | PredicateAtom():
            return _atom(part)
        case Negation(atom):
            return Negation(_atom(atom))
        case Timed():
            return replace(part, atom=_atom(part.atom), window=_window(part.window))
        case Aggregate():
            return replace(part, body=tuple(map(_formula, part.body)))
        case _:
            return part


def _atom(atom: Atom) -> Atom:
    if isinstance(atom, PredicateAtom) and atom.name in PROPERTIES:
        subject, object = atom.arguments
        return TripleAtom(subject, PROPERTIES[atom.name], object)
    return atom


def _window(window: Window | None) -> Window | None:
    if isinstance(window, FactWindow):
        return replace(window, of=_name(window.of))
    return window


def _name(name: Any) -> Any:
    return PROPERTIES.get(name, name)
