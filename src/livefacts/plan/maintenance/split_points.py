"""Split points: one predicate for each constant, where a relation is only used with constants.

If every atom over triples says which property it is about, the triples of one property have
nothing to do with those of another: each gets a predicate of its own, and a change of rules
concerns that one alone.  The same goes for the classes of rdf:type, and for any argument.

Paper: Volz et al., section 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode

from livefacts.language.formula import Variable
from livefacts.model.facts import Term

Constants = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class SplitPart:
    """The facts of a relation that have these constants, under a name of their own."""

    relation: str
    constants: Constants
    name: str

    def has(self, slots: Sequence[object]) -> bool:
        """Whether an atom or fact of the relation belongs here."""
        return all(c is None or c == s for c, s in zip(self.constants, slots, strict=True))


def parts_of(
    relation: str, atoms: Iterable[Sequence[object]], separator: str
) -> Iterator[SplitPart]:
    """The parts that the atoms of a relation split it into; none if they cannot.

    >>> x, type, cat = Variable("x"), NamedNode("http://e/type"), NamedNode("http://e/Cat")
    >>> [part.name for part in parts_of("t", [(x, type, cat)], "_")]
    ['t_type_Cat']
    """
    atoms = list(atoms)
    names: set[str] = set()
    for constants in _splits(atoms, (None,) * len(atoms[0])):
        words = [_word(constant) for constant in constants if constant is not None]
        if words:
            name = separator.join((relation, *words))
            while name in names:
                name += "X"
            names.add(name)
            yield SplitPart(relation, constants, name)


def _splits(atoms: list[Sequence[object]], fixed: Constants) -> Iterator[Constants]:
    for position, constant in enumerate(fixed):
        found = dict.fromkeys(atom[position] for atom in atoms)
        if constant is None and not any(isinstance(slot, Variable) for slot in found):
            for chosen in found:
                here = [atom for atom in atoms if atom[position] == chosen]
                yield from _splits(here, (*fixed[:position], chosen, *fixed[position + 1 :]))  # type: ignore[arg-type]
            return
    yield fixed


def _word(term: Term) -> str:
    """The end of an IRI, or the text of another term, as part of a name."""
    text = term.value if isinstance(term, NamedNode) else str(term)
    words = re.findall(r"\w+", text)
    return words[-1] if words else "X"
