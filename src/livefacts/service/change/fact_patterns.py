"""Fact patterns: which facts are meant by the name of a predicate, or by an atom with variables.

`reading` means all facts of that name, `reading(?s, 90)` those that fit, and so does
`[?x, a, ex:Cat]` among triples.  Variables name the columns of what is found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.errors import InputError, OptionError, RuleError
from livefacts.language.formula import Atom, PredicateAtom, Slot, TripleAtom, Variable
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import DECLARED
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.id_reader import TermReader
from livefacts.syntax.rulelang import rule_parser

NAME = re.compile(r"\s*(\w+)\s*")
HINT = "give the name of a predicate, or an atom: reading(?s, ?v), [?x, a, ex:Cat]"


@dataclass(frozen=True, slots=True)
class FactPattern:
    """What stands in the places of the facts that are meant; all arities of a name if it stands alone."""

    slots: tuple[Slot, ...]
    shape: int | None

    def columns(self) -> dict[str, int]:
        """The variables, and where each of them stands first; none of a name alone."""
        found: dict[str, int] = {}
        for at, slot in enumerate(self.slots):
            if isinstance(slot, Variable):
                found.setdefault(slot.name, at)
        return found

    def matching(self, facts: Mapping[int, Ids], terms: Dictionary | TermReader) -> dict[int, Ids]:
        """The facts that are meant, among facts by shape."""
        if self.shape is None:
            others = {shape: rows for shape, rows in facts.items() if shape != TRIPLES}
            return {shape: self._chosen(rows, terms) for shape, rows in others.items()}
        return {self.shape: self._chosen(facts[self.shape], terms)} if self.shape in facts else {}

    def _chosen(self, rows: Ids, terms: Dictionary | TermReader) -> Ids:
        first = self.columns()
        fits = np.ones(len(rows), np.bool_)
        for at, slot in enumerate(self.slots):
            if isinstance(slot, Variable):
                fits &= rows[:, at] == rows[:, first[slot.name]]
            else:
                number = terms.find(slot)
                fits &= rows[:, at] == number if number is not None else False
        return rows[fits]


def read_pattern(text: object, prefixes: Mapping[str, str]) -> FactPattern:
    """The pattern that a text means."""
    if not isinstance(text, str):
        raise OptionError(
            f"{text!r} is no pattern of facts", hint=f"{HINT}; or say derived={text!r}"
        )
    if name := NAME.fullmatch(text):
        return FactPattern((Symbol(name[1]),), None)
    atom = _read_atom(text, prefixes)
    slots = atom.slots
    return FactPattern(slots, TRIPLES if isinstance(atom, TripleAtom) else len(slots))


def _read_atom(text: str, prefixes: Mapping[str, str]) -> Atom:
    known = "".join(
        f"@prefix {name}: <{iri}> .\n" for name, iri in (DECLARED | dict(prefixes)).items()
    )
    try:
        program = rule_parser.parse(f"{known}false :- {text.strip().rstrip('.')} .")
    except RuleError as error:
        raise InputError(f"{text!r} is no pattern of facts: {error.message}", hint=HINT) from None
    body = [atom for rule in program.rules for atom in rule.body]
    if len(body) != 1 or not isinstance(body[0], TripleAtom | PredicateAtom):
        raise InputError(f"{text!r} is no pattern of facts: it is not one atom", hint=HINT)
    return body[0]
