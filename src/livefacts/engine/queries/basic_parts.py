"""The parts of a basic graph pattern: triple patterns, property paths, and triple terms.

What paths say about single triples becomes triple patterns.  Paths with a known end come first,
then all triple patterns together, then the other paths.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from livefacts.engine.queries.joins.step_tables import Slot
from livefacts.engine.queries.joins.variable_order import IdPattern
from livefacts.language.algebra import Basic, InversePath, Path, PredicatePath, TripleTerm
from livefacts.language.algebra import Sequence as PathSequence
from livefacts.language.formula import TripleAtom, Variable

FRESH = "#"
"""What the names of variables begin with that stand between the steps of a path."""


class PathPattern(NamedTuple):
    """A path that is not a triple pattern, with an id or a name at each end."""

    subject: Slot
    path: Path
    object: Slot

    @property
    def slots(self) -> tuple[Slot, Slot]:
        return self.subject, self.object


class NestedTerm(NamedTuple):
    """A variable that stands for a triple term with variables in it."""

    name: str
    slots: tuple[Slot, ...]


Stage: TypeAlias = list[IdPattern] | PathPattern | NestedTerm
Numbered: TypeAlias = tuple[int, Stage]
"""A stage, and its number in the order in which the pattern is written."""


class BasicParts(NamedTuple):
    """What a basic graph pattern consists of."""

    triples: list[IdPattern]
    paths: list[PathPattern]
    nested: list[NestedTerm]

    def stages(self, known: Collection[str]) -> list[Numbered]:
        """The parts in the order in which they are evaluated where some variables are known."""
        paths = list(enumerate(self.paths, start=1))
        early = [
            each for each in paths if any(isinstance(s, int) or s in known for s in each[1].slots)
        ]
        late = [each for each in paths if each not in early]
        triples = [(0, self.triples)] if self.triples else []
        nested = enumerate(self.nested, start=1 + len(paths))
        return [*early, *triples, *late, *nested]


class PartReader:
    """Takes patterns apart; `encode` makes ids of terms."""

    def __init__(self, encode: Callable[[Any], int]) -> None:
        self._encode = encode
        self._fresh = count()

    def parts(self, pattern: Basic) -> BasicParts:
        """The parts of a pattern."""
        parts = BasicParts([], [], [])
        for atom in pattern.atoms:
            if isinstance(atom, TripleAtom):
                first, second, third = (self._slot(slot, parts) for slot in atom.slots)
                parts.triples.append((first, second, third))
            else:
                ends = self._slot(atom.subject, parts), self._slot(atom.object, parts)
                self._take(PathPattern(ends[0], atom.path, ends[1]), parts)
        return parts

    def stages(self, path: PathPattern) -> list[Numbered]:
        """A path as triple patterns, and what is none."""
        parts = BasicParts([], [], [])
        self._take(path, parts)
        stages: list[Stage] = [*([parts.triples] if parts.triples else []), *parts.paths]
        return list(enumerate(stages))

    def new_name(self) -> str:
        """The name of a variable that no text can write."""
        return f"{FRESH}{next(self._fresh)}"

    def _slot(self, slot: object, parts: BasicParts) -> Slot:
        if isinstance(slot, Variable):
            return slot.name
        if isinstance(slot, TripleTerm):
            name = self.new_name()
            slots = tuple(self._slot(part, parts) for part in slot.slots)
            parts.nested.append(NestedTerm(name, slots))
            return name
        return self._encode(slot)

    def _take(self, pattern: PathPattern, parts: BasicParts) -> None:
        """Take a path apart into triple patterns, and what is none."""
        subject, path, value = pattern
        match path:
            case PredicatePath():
                parts.triples.append((subject, self._encode(path.predicate), value))
            case InversePath():
                self._take(PathPattern(value, path.path, subject), parts)
            case PathSequence():
                ends = [subject, *(self.new_name() for _ in path.paths[1:]), value]
                for part, first, last in zip(path.paths, ends, ends[1:], strict=False):
                    self._take(PathPattern(first, part, last), parts)
            case _:
                parts.paths.append(pattern)


def names_of(stage: Stage) -> set[str]:
    """The variables of a stage."""
    if isinstance(stage, list):
        return {slot for each in stage for slot in each if isinstance(slot, str)}
    names = {slot for slot in stage.slots if isinstance(slot, str)}
    return names | {stage.name} if isinstance(stage, NestedTerm) else names
