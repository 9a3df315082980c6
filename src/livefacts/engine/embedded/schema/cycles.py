"""Cycles through the schema: rules that conclude schema triples from what the schema concludes.

The schema is closed apart, over triples that are asserted and triples that other rules conclude.
Where such a rule reads what follows from the schema (whatever is said of a thing is said of
all that are the same, axioms too), its conclusion could support its own premise, and
neither side would see it alone.  This finds out whether there can be such a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from livefacts.engine.embedded.schema.chase import Symbolic
from livefacts.engine.embedded.schema.kind_table import Kind
from livefacts.language.formula import Atom, PredicateAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.normal_form import positive_atoms
from livefacts.store.terms.dictionary import Dictionary

Shape = str | tuple[int | None, int | None]
"""The name of a predicate, or the predicate and object of a triple, None for any."""


class Leaning:
    """What rules read and conclude, in ids."""

    def __init__(self, rules: Iterable[Rule], dictionary: Dictionary) -> None:
        self._rules = [
            (_shape(rule.head, dictionary), [_shape(a, dictionary) for a in positive_atoms(rule)])
            for rule in rules
            if rule.head is not None
        ]

    def is_circular(self, schema: Iterable[Kind], heads: Iterable[Symbolic]) -> bool:
        """Whether some rule concludes a triple of the schema from what may follow from it."""
        kinds: set[Shape] = set(schema)
        known: set[Shape] = kinds | {(p, o if o >= 0 else None) for _, p, o in heads}
        waiting = self._rules
        while True:
            new = [rule for rule in waiting if any(_fits(atom, known) for atom in rule[1])]
            if any(_fits(head, kinds) for head, _ in new):
                return True
            if not new:
                return False
            known |= {head for head, _ in new}
            waiting = [rule for rule in waiting if rule not in new]


def _shape(atom: Atom, dictionary: Dictionary) -> Shape:
    if isinstance(atom, PredicateAtom):
        return atom.name
    p, o = (
        None if isinstance(slot, Variable) else int(dictionary.encode_one(slot))
        for slot in (atom.predicate, atom.object)
    )
    return p, o


def _fits(atom: Shape, shapes: Set[Shape]) -> bool:
    """Whether a fact of one of these shapes may be one of this."""
    if isinstance(atom, str):
        return atom in shapes
    p, o = atom
    if p is not None and o is not None:
        return not shapes.isdisjoint({(p, o), (p, None), (None, o), (None, None)})
    return any(
        not isinstance(each, str) and _agree(p, each[0]) and _agree(o, each[1]) for each in shapes
    )


def _agree(first: int | None, second: int | None) -> bool:
    return first is None or second is None or first == second
