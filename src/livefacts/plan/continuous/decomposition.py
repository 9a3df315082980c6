"""Decomposition: a graph pattern cut into parts that share no variable.

A triple pattern ties its variables together.  What is tied, directly or through other
variables, is one part; constants tie nothing.  Parts can be followed on their own, and the
answers of the whole pattern are the product of theirs.

    ground      no variable: the part holds or it does not
    star        one variable, the centre: an answer is a centre of which all patterns hold
    connected   several variables, to be joined

Paper: Gergatsoulis and Damigos, Definitions 6 to 12.  There predicates are constants; here
a variable in the place of the predicate ties like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from livefacts.language.formula import TripleAtom, Variable, variables_of


class Shape(Enum):
    """What has to be kept to follow a part."""

    GROUND = "ground"
    STAR = "star"
    CONNECTED = "connected"


@dataclass(frozen=True, slots=True)
class Part:
    """Triple patterns whose variables are tied together."""

    patterns: tuple[TripleAtom, ...]
    variables: tuple[Variable, ...]

    @property
    def shape(self) -> Shape:
        """What has to be kept to follow this part.

        >>> x, y = Variable("x"), Variable("y")
        >>> Part((), (x,)).shape, Part((), (x, y)).shape
        (<Shape.STAR: 'star'>, <Shape.CONNECTED: 'connected'>)
        """
        shapes = (Shape.GROUND, Shape.STAR)
        return shapes[len(self.variables)] if len(self.variables) < 2 else Shape.CONNECTED


def decompose(patterns: Iterable[TripleAtom]) -> tuple[Part, ...]:
    """The parts of a graph pattern, each pattern in one of them; the ground part comes last."""
    distinct = tuple(dict.fromkeys(patterns))
    ground = [pattern for pattern in distinct if not list(variables_of(pattern))]
    groups: list[list[TripleAtom]] = []
    for pattern in distinct:
        if pattern not in ground:
            groups = _tied(groups, pattern)
    parts = [_part(sorted(group, key=distinct.index)) for group in groups]
    parts.sort(key=lambda part: distinct.index(part.patterns[0]))
    return (*parts, _part(ground)) if ground else tuple(parts)


def is_loosely_connected(parts: Sequence[Part]) -> bool:
    """Whether no two variables are tied: a ground part and stars, nothing to be joined."""
    return all(part.shape is not Shape.CONNECTED for part in parts)


def _tied(groups: list[list[TripleAtom]], pattern: TripleAtom) -> list[list[TripleAtom]]:
    """The groups, with all that share a variable with the pattern made one with it."""
    mine = set(variables_of(pattern))
    joined, others = [pattern], []
    for group in groups:
        if mine & {v for member in group for v in variables_of(member)}:
            joined += group
        else:
            others.append(group)
    return [*others, joined]


def _part(patterns: Sequence[TripleAtom]) -> Part:
    found = (v for pattern in patterns for v in variables_of(pattern))
    return Part(tuple(patterns), tuple(dict.fromkeys(found)))
