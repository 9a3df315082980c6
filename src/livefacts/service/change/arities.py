"""Arities: a predicate has one number of arguments, in rules and in facts alike.

A fact with another number than the rules have matches none of them, and nobody would notice:
it is refused, as rules are that differ among themselves.  A change is compared by the names
that occur in it.  The arities of facts without rules are remembered by name; since such facts
may have been retracted, the store is asked before anything is refused for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from livefacts.engine.contract import TRIPLES, Engine, Ids
from livefacts.errors import ArityError, Place
from livefacts.language.checks.safety import arguments, first_atoms
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Symbol
from livefacts.service.change.assertions import without
from livefacts.service.change.fact_reader import FactReader
from livefacts.store.terms.dictionary import Dictionary

FEW = 64
"""Up to so many facts are looked at without arrays."""
NOTHING: Mapping[int, Ids] = {}
ONLY_TRIPLES = {TRIPLES}
HINT = "give one of the two another name"


class PredicateArities:
    """Which shape the facts of each predicate have."""

    def __init__(self, dictionary: Dictionary, reader: FactReader, engine: Engine) -> None:
        self._dictionary = dictionary
        self._reader = reader
        self._engine = engine
        self._rules: tuple[Rule, ...] = ()
        self._in_rules: dict[int, tuple[int, Place]] = {}
        self._asserted: dict[int, int] = {}
        dictionary.tell_before_sweeps(self)

    def let_go(self) -> None:
        """Forget the names of facts of which none is asserted any more."""
        there: set[int] = set()
        for shape in set(self._asserted.values()):
            there.update(np.unique(self._engine.rows(shape, False)[:, 0]).tolist())
        self._asserted = {name: shape for name, shape in self._asserted.items() if name in there}

    def held_ids(self) -> Iterator[Ids]:
        """The ids of the names that are remembered."""
        yield np.array([*self._in_rules, *self._asserted], np.int32)

    def check(
        self, program: Program, asserted: Mapping[int, Ids], retracted: Mapping[int, Ids] = NOTHING
    ) -> None:
        """Raise if asserted facts differ from the rules, or from what was asserted before."""
        if program.rules is not self._rules:
            self._follow(program, retracted)
        here: dict[int, int] = {}
        for shape, name, ids in _predicates(asserted):
            self._check_rules(name, shape, ids)
            known = here.get(name) or self._asserted_shape(name, shape, retracted)
            if known != shape:
                raise self._refusal(name, shape, ids, f"{arguments(known - 1)} in other facts")
            here[name] = shape
        self._asserted |= here

    def check_arrivals(self, program: Program, runs: Iterable[Mapping[int, Ids]]) -> None:
        """Raise if facts of a stream differ from the rules."""
        if program.rules is not self._rules:
            self._follow(program, NOTHING)
        for run in runs:
            for shape, name, ids in _predicates(run) if run.keys() != ONLY_TRIPLES else ():
                self._check_rules(name, shape, ids)

    def _follow(self, program: Program, retracted: Mapping[int, Ids]) -> None:
        """The rules are these now; raise if facts have been asserted that they differ from."""
        encode = self._dictionary.encode_one
        in_rules = {
            encode(Symbol(name)): (1 + len(atom.arguments), atom.place)
            for name, atom in first_atoms(program.rules).items()
        }
        for name, (shape, place) in in_rules.items():
            known = self._asserted_shape(name, shape, retracted)
            if known != shape:
                raise ArityError(
                    f"{self._word(name)} has {arguments(shape - 1)} here and "
                    f"{arguments(known - 1)} in asserted facts",
                    place=place if place.line else None,
                    hint=HINT,
                )
        self._rules, self._in_rules = program.rules, in_rules

    def _check_rules(self, name: int, shape: int, ids: Ids) -> None:
        known, place = self._in_rules.get(name, (shape, None))
        if known != shape:
            where = f" at {place}" if place is not None and place.line else " in the rules"
            raise self._refusal(name, shape, ids, arguments(known - 1) + where)

    def _asserted_shape(self, name: int, shape: int, retracted: Mapping[int, Ids]) -> int:
        """The shape of the asserted facts of this predicate; this one if there are none."""
        known = self._asserted.get(name, shape)
        if known == shape:
            return shape
        # This looks at all facts of a shape, and is rare: who comes here is refused or right.
        asserted = self._engine.asserted().get(known)
        if asserted is None:
            return shape
        others = without(asserted[asserted[:, 0] == name], retracted.get(known, asserted[:0]))
        return known if len(others) else shape

    def _refusal(self, name: int, shape: int, ids: Ids, otherwise: str) -> ArityError:
        rows = ids[ids[:, 0] == name][:1]
        fact = next(iter(self._reader.decoded({shape: rows})))
        return ArityError(
            f"{self._word(name)} has {arguments(shape - 1)} in {fact} and {otherwise}", hint=HINT
        )

    def _word(self, name: int) -> str:
        [term] = self._dictionary.decode(np.array([name], np.int32))
        return str(term)


def _predicates(facts: Mapping[int, Ids]) -> Iterator[tuple[int, int, Ids]]:
    """The predicates of facts: shape, name, and all facts of that shape."""
    for shape, ids in facts.items():
        if shape != TRIPLES:
            for name in _names(ids):
                yield shape, name, ids


def _names(ids: Ids) -> Iterable[int]:
    """The predicates of facts of one shape, each once."""
    names = ids[:, 0]
    if len(names) > FEW:
        # Facts of one predicate mostly stand together, and only the first of them is wanted.
        names = np.unique(names[np.append(True, names[1:] != names[:-1])])
    return set(names.tolist())
