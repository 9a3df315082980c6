"""Asserted axioms: the facts that templates read, and the ways in which templates match them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from livefacts.engine.contract import IdDelta, Ids
from livefacts.language.formula import Atom, Comparison, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.model.values import compare
from livefacts.plan.rules.specialisation import Template
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary

Row = tuple[int, ...]
"""The shape of a fact, then its ids."""
Bindings = dict[Variable, int]
Pattern = tuple[int | Variable, ...]
Cells = frozenset[tuple[int, int, int]]
"""Ids in a column of the facts of a shape."""


class Axioms:
    """Facts of the schema, found by any of their columns."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int, int], set[Row]] = {}

    def change(self, added: Mapping[int, Ids], removed: Mapping[int, Ids]) -> None:
        for row in _rows(removed):
            for column, value in enumerate(row[1:], start=1):
                self._rows[row[0], column, value].discard(row)
        for row in _rows(added):
            for column, value in enumerate(row[1:], start=1):
                self._rows.setdefault((row[0], column, value), set()).add(row)

    def has(self, row: Row) -> bool:
        """Whether this fact is there."""
        return row in self._rows.get((row[0], 1, row[1]), ())

    def matches(self, patterns: Sequence[Pattern], bound: Bindings) -> Iterator[Bindings]:
        """The ways in which all patterns hold, the one with fewest facts first."""
        if not patterns:
            yield bound
            return
        candidates = [self._candidates(pattern, bound) for pattern in patterns]
        best = min(range(len(patterns)), key=lambda number: len(candidates[number]))
        rest = [*patterns[:best], *patterns[best + 1 :]]
        for row in tuple(candidates[best]):
            extended = _matched(patterns[best], row, bound)
            if extended is not None:
                yield from self.matches(rest, extended)

    def _candidates(self, pattern: Pattern, bound: Bindings) -> set[Row]:
        found: set[Row] | None = None
        for column, slot in enumerate(pattern[1:], start=1):
            value = bound.get(slot) if isinstance(slot, Variable) else slot
            if value is not None:
                rows = self._rows.get((int(pattern[0]), column, value), set())  # type: ignore[arg-type]
                found = rows if found is None or len(rows) < len(found) else found
        assert found is not None, "a pattern names its predicate"
        return found


def _rows(facts: Mapping[int, Ids]) -> Iterator[Row]:
    for shape, ids in facts.items():
        for fact in ids.tolist():
            yield (shape, *fact)


def _matched(pattern: Pattern, row: Row, bound: Bindings) -> Bindings | None:
    extended = dict(bound)
    for slot, value in zip(pattern[1:], row[1:], strict=True):
        wanted = extended.setdefault(slot, value) if isinstance(slot, Variable) else slot
        if wanted != value:
            return None
    return extended


def changed_cells(delta: IdDelta) -> Cells:
    """What stands in the columns of the facts that come and go."""
    return frozenset(
        (shape, column, value)
        for facts in (delta.added, delta.removed)
        for shape, ids in facts.items()
        for column in range(ids.shape[1])
        for value in np.unique(ids[:, column]).tolist()
    )


class BoundTemplate:
    """A template in ids, and the instances that were made of it."""

    def __init__(self, template: Template, dictionary: Dictionary) -> None:
        self.template = template
        self._dictionary = dictionary
        self._patterns = [pattern_of(atom, dictionary) for atom in template.read]
        slots = [slot for pattern in self._patterns for slot in pattern[1:]]
        self.constants: Ids = np.array([s for s in slots if not isinstance(s, Variable)], np.int32)

    def reads(self, changed: Cells) -> bool:
        """Whether a change of these cells of the schema may concern this template."""
        return any(
            all(
                isinstance(slot, Variable) or (pattern[0], column, slot) in changed
                for column, slot in enumerate(pattern[1:])
            )
            for pattern in self._patterns
        )

    def bindings(self, axioms: Axioms, most: int) -> list[tuple[int, ...]] | None:
        """The values of the template's variables, each once; None if there are too many."""
        found: dict[tuple[int, ...], None] = {}
        for bound in axioms.matches(self._patterns, {}):
            values = tuple(bound[variable] for variable in self.template.variables)
            if values not in found and self._passes(bound):
                found[values] = None
                if len(found) > most:
                    return None
        return sorted(found)

    def _passes(self, bound: Bindings) -> bool:
        return all(self._holds(test, bound) for test in self.template.tests)

    def _holds(self, test: Comparison, bound: Bindings) -> bool:
        if test.operator == "is not" and test.left in bound and test.right in bound:
            return bound[test.left] != bound[test.right]  # type: ignore[index]
        return compare(test.operator, self._value(test.left, bound), self._value(test.right, bound))

    def _value(self, part: object, bound: Bindings) -> Term:
        if isinstance(part, Variable):
            return self._dictionary.decode_one(bound[part])
        return part  # type: ignore[return-value]


def pattern_of(atom: Atom, dictionary: Dictionary) -> Pattern:
    """The shape of an atom's facts, then ids and variables."""
    slots = [
        slot if isinstance(slot, Variable) else int(dictionary.encode_one(slot))
        for slot in atom.slots
    ]
    return shape_of(atom), *slots


def shape_of(atom: Atom) -> int:
    """The shape of the facts that fit an atom."""
    return TRIPLES if isinstance(atom, TripleAtom) else len(atom.slots)
