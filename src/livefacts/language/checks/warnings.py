"""Warnings about rules: those that are followed as they are written, but hardly meant so.

Who comes from Prolog or Datalog writes variables with a capital letter.  Here those are
symbols, and a rule of nothing but symbols says something about them alone.  A literal whose
text is no value of its datatype is a term like any other, and equals no other.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal

from livefacts.errors import LivefactsWarning, Place
from livefacts.language.checks.safety import all_atoms
from livefacts.language.formula import Atom, PredicateAtom, variables_of
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_rule
from livefacts.model.facts import Fact, Symbol
from livefacts.model.namespaces import XSD
from livefacts.model.values import value_of

WITH_VALUES = frozenset(
    XSD + name for name in ("integer", "decimal", "double", "float", "boolean", "dateTime", "date")
)


@dataclass(frozen=True, slots=True)
class RuleWarning:
    """What is perhaps not meant, where, and what to write instead."""

    message: str
    place: Place | None
    hint: str

    def __str__(self) -> str:
        where = "" if self.place is None or not self.place.line else f"\n{self.place.shown()}"
        return f"{self.message}{where}\nhint: {self.hint}"


def warn_of_rules(program: Program, before: Program) -> None:
    """Warn of what is doubtful about the rules that a program has and the one before had not."""
    known = set(map(id, before.rules))
    for rule in program.rules:
        if id(rule) not in known:
            for warning in of_rule(rule, program):
                warnings.warn(str(warning), LivefactsWarning, stacklevel=2)


def of_program(program: Program) -> Iterator[RuleWarning]:
    """What is doubtful about rules, and about the facts that come with them."""
    for rule in program.rules:
        yield from of_rule(rule, program)
    for fact in program.facts:
        terms = fact.arguments if isinstance(fact, Fact) else (fact.object,)
        yield from _of_literals(terms, None)


def of_rule(rule: Rule, program: Program) -> Iterator[RuleWarning]:
    """What is doubtful about one rule."""
    atoms = list(all_atoms(rule))
    capitals = [] if _has_variables(rule) else list(dict.fromkeys(_capitals(atoms)))
    if capitals:
        names = " and ".join([", ".join(capitals[:-1]), capitals[-1]] if capitals[1:] else capitals)
        yield RuleWarning(
            f"this rule has no variables: {names} "
            f"{'are symbols' if capitals[1:] else 'is a symbol'}, and it speaks of nothing else",
            rule.place,
            f"variables are written ?{capitals[0]}: {_with_variables(rule, capitals, program)}",
        )
    for atom in atoms:
        yield from _of_literals(_terms(atom), atom.place)


def _has_variables(rule: Rule) -> bool:
    parts = [part for part in (rule.head, rule.at, *rule.body) if part is not None]
    return any(True for part in parts for _ in variables_of(part))


def _capitals(atoms: Iterable[Atom]) -> Iterator[str]:
    """Symbols that elsewhere would be variables."""
    for atom in atoms:
        for term in _terms(atom):
            if isinstance(term, Symbol) and term.name[0].isupper():
                yield term.name


def _terms(atom: Atom) -> Iterable[object]:
    return atom.arguments if isinstance(atom, PredicateAtom) else atom.slots


def _with_variables(rule: Rule, capitals: list[str], program: Program) -> str:
    """The rule as it was perhaps meant."""
    written = write_rule(rule, dict(program.prefixes))
    inside = re.compile(rf"(?<=[(, ])({'|'.join(map(re.escape, capitals))})(?=[,) ])")
    return inside.sub(r"?\1", written)


def _of_literals(terms: Iterable[object], place: Place | None) -> Iterator[RuleWarning]:
    for term in terms:
        if (
            isinstance(term, Literal)
            and term.datatype.value in WITH_VALUES
            and value_of(term) is None
        ):
            kind = term.datatype.value.removeprefix(XSD)
            yield RuleWarning(
                f'"{term.value}" is not a value of xsd:{kind}',
                place,
                "nothing is equal to it or compares with it, in rules and in queries",
            )
