"""Class expressions in rules: as conditions of a body, and as what a rule concludes.

A class expression means something else on each side.  `hasMaker some Winery` as a condition
is two atoms; as a conclusion it would need a maker that no fact names.  `hasMaker only
Winery` as a conclusion says of every maker that it is a winery; as a condition it would
need to know all makers.  What has no place on a side is a gap, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.language.axioms import (
    And,
    Axiom,
    Bound,
    ClassExpression,
    Count,
    Has,
    HasSelf,
    Individual,
    Inverse,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Unreadable,
)
from livefacts.language.formula import Atom, Comparison, Formula, Slot, TripleAtom, Variable
from livefacts.model.namespaces import OWL, RDF_TYPE
from livefacts.syntax.owl.datatypes import Ranges, UnknownRangeError, is_range
from livefacts.syntax.owl.literal_values import are_different
from livefacts.syntax.owl.ontology_graph import NOTHING, THING

Body: TypeAlias = tuple[Formula, ...]
Wrap: TypeAlias = Callable[[ClassExpression], Axiom]
"""Makes the axiom that a part of an expression stands for."""

SAME_AS = NamedNode(OWL + "sameAs")
MOST_RULES = 1000
TOP = {NamedNode(OWL + f"top{kind}Property") for kind in ("Object", "Data")}
BOTTOM = {NamedNode(OWL + f"bottom{kind}Property") for kind in ("Object", "Data")}
LETTERS = "xyzuvw"

ALL_VALUES_UNKNOWN = (
    "whether these are all values is never known: there may be some that no fact mentions"
)
ABSENCE_UNKNOWN = "that something is not there does not follow from facts that are missing"
INVENTS = "a rule names no new individuals, and this says that there is one"
CHOOSES = "a rule concludes one thing, and this leaves open which of several it is"
COUNTS = "rules do not count individuals: two names may stand for one"
EVERYTHING = "it speaks of everything there is, also of what no fact mentions"
NAMELESS = "an individual without an IRI cannot be named in a rule; load the file as data, too"
NO_SUBJECT = "a literal cannot be the subject of a triple"


class GapError(Exception):
    """What cannot be said on this side of a rule; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One rule to be: a head, or None for a constraint, under conditions."""

    head: Atom | None
    body: Body
    part: Axiom
    """What of an axiom it expresses."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of an axiom that no rule expresses, and why."""

    part: Axiom
    reason: str


class VariableNames:
    """Variables of one rule: x, y, z, u, v, w, x2, …"""

    def __init__(self) -> None:
        self._used = 0

    def next(self) -> Variable:
        round, letter = divmod(self._used, len(LETTERS))
        self._used += 1
        return Variable(LETTERS[letter] + (str(round + 1) if round else ""))


@dataclass(frozen=True, slots=True)
class ClassRules:
    """Turns class expressions into bodies and conclusions, under what an ontology declares."""

    data_properties: frozenset[NamedNode]
    datatypes: frozenset[NamedNode]
    ranges: Ranges

    # conditions

    def bodies(self, cls: ClassExpression, at: Slot, names: VariableNames) -> list[Body]:
        """The ways in which facts show that something is in the class; raises `GapError`."""
        if is_range(cls, self.datatypes):
            return self._literals(self.ranges.inside, cls, at)
        match cls:
            case And(members):
                return _product(self.bodies(member, at, names) for member in members)
            case Or(members):
                return _bounded([b for member in members for b in self.bodies(member, at, names)])
            case OneOf(members):
                return [(Comparison(at, "=", named(member)),) for member in members]
            case Some(property, filler):
                return self._some(property, filler, at, names)
            case Count(Bound.MIN, 0):
                return [()]
            case Count(Bound.MIN, 1, property, filler):
                return self._some(property, filler, at, names)
            case Has(NamedNode() as property, Literal() as value):
                return self._some(property, OneOf((value,)), at, names)
            case Has(property, value):
                return [(link(property, at, named(value)),)]
            case HasSelf(property):
                return [(link(property, at, at),)]
            case NamedNode():
                return _members(cls, at)
            case _:
                raise GapError(_no_condition(cls))

    def _some(
        self, property: Property, filler: ClassExpression, at: Slot, names: VariableNames
    ) -> list[Body]:
        value = names.next()
        inner = self.bodies(filler, value, names)
        return [(link(property, at, value), *body) for body in inner]

    def _literals(
        self, ways: Callable[[ClassExpression, Slot], list[Body]], cls: ClassExpression, at: Slot
    ) -> list[Body]:
        try:
            return _bounded(ways(cls, at))
        except UnknownRangeError as error:
            raise GapError(str(error)) from None

    # conclusions

    def conclusions(
        self, cls: ClassExpression, at: Slot, body: Body, names: VariableNames, wrap: Wrap
    ) -> Iterator[Conclusion | Gap]:
        """What follows for something that is in the class, as heads under the body."""
        try:
            yield from self._derived(cls, at, body, names, wrap)
        except GapError as gap:
            yield Gap(wrap(cls), str(gap))

    def _derived(
        self, cls: ClassExpression, at: Slot, body: Body, names: VariableNames, wrap: Wrap
    ) -> Iterator[Conclusion | Gap]:
        if is_range(cls, self.datatypes):
            outside = self._literals(self.ranges.outside, cls, at)
            yield from self.never(body, outside, wrap(cls))
            return
        match cls:
            case And(members):
                for member in members:
                    yield from self.conclusions(member, at, body, names, wrap)
            case Or(members):
                yield from self._either(members, at, body, names, wrap)
            case Not(member):
                yield from self.never(body, self.bodies(member, at, names), wrap(cls))
            case OneOf(()):
                yield Conclusion(None, body, wrap(cls))
            case OneOf((member,)):
                yield Conclusion(TripleAtom(at, SAME_AS, named(member)), body, wrap(cls))
            case Some(property, OneOf((value,))) | Has(property, value):
                yield Conclusion(link(property, at, named(value)), body, wrap(cls))
            case HasSelf(property):
                yield Conclusion(link(property, at, at), body, wrap(cls))
            case Only():
                yield from self._values(cls, at, body, names, wrap)
            case Count():
                yield from self._counted(cls, at, body, names, wrap)
            case NamedNode():
                yield from self._member(cls, at, body, wrap)
            case _:
                raise GapError(_no_conclusion(cls))

    def _values(
        self, cls: Only, at: Slot, body: Body, names: VariableNames, wrap: Wrap
    ) -> Iterator[Conclusion | Gap]:
        value = names.next()
        inner = (*body, link(cls.property, at, value))
        yield from self.conclusions(
            cls.filler, value, inner, names, lambda part: wrap(replace(cls, filler=part))
        )

    def _member(self, cls: NamedNode, at: Slot, body: Body, wrap: Wrap) -> Iterator[Conclusion]:
        if cls == NOTHING:
            yield Conclusion(None, body, wrap(cls))
        elif cls != THING:
            yield Conclusion(TripleAtom(at, RDF_TYPE, cls), body, wrap(cls))

    def _either(
        self,
        members: tuple[ClassExpression, ...],
        at: Slot,
        body: Body,
        names: VariableNames,
        wrap: Wrap,
    ) -> Iterator[Conclusion | Gap]:
        """`not A or B` as a conclusion is B under the condition A."""
        denied = [member.member for member in members if isinstance(member, Not)]
        others = [member for member in members if not isinstance(member, Not)]
        if len(others) > 1:
            raise GapError(CHOOSES)
        rest, whole = others[0] if others else NOTHING, Or(members)
        for condition in self.bodies(And(tuple(denied)), at, names):
            yield from self.conclusions(
                rest, at, (*body, *condition), names, lambda c: wrap(whole if c == rest else c)
            )

    def _counted(
        self, cls: Count, at: Slot, body: Body, names: VariableNames, wrap: Wrap
    ) -> Iterator[Conclusion | Gap]:
        match cls.bound, cls.number:
            case Bound.EXACTLY, number:
                yield from self.conclusions(replace(cls, bound=Bound.MAX), at, body, names, wrap)
                if number:
                    least = replace(cls, bound=Bound.MIN)
                    yield from self.conclusions(least, at, body, names, wrap)
            case Bound.MIN, 0:
                return
            case Bound.MIN, _:
                raise GapError(INVENTS)
            case Bound.MAX, 0:
                none = Some(cls.property, cls.filler)
                yield from self.never(body, self.bodies(none, at, names), wrap(cls))
            case Bound.MAX, 1:
                yield from self.at_most_one(cls.property, cls.filler, at, body, names, wrap(cls))
            case _:
                raise GapError(COUNTS)

    def at_most_one(
        self,
        property: Property,
        filler: ClassExpression,
        at: Slot,
        body: Body,
        names: VariableNames,
        part: Axiom,
    ) -> Iterator[Conclusion]:
        """Two values are the same individual; two literals with different values are too many."""
        first, second = names.next(), names.next()
        differ: Body = (Comparison(first, "!=", second),)
        if property in self.data_properties:
            differ = are_different(first, second)
        pairs = product(self.bodies(filler, first, names), self.bodies(filler, second, names))
        links = (link(property, at, first), link(property, at, second))
        for one, other in pairs:
            both = (*body, *links, *one, *other, *differ)
            yield Conclusion(self.same(property, first, second), both, part)

    def same(self, property: Property, first: Slot, second: Slot) -> Atom | None:
        """That two values of a property are one: a conclusion, or for literals never."""
        if property in self.data_properties:
            return None
        return TripleAtom(first, SAME_AS, second)

    def never(self, body: Body, others: Iterable[Body], part: Axiom) -> Iterator[Conclusion]:
        """Constraints: the body must not hold together with one of the others."""
        for other in others:
            yield Conclusion(None, (*body, *other), part)


def link(property: Property, subject: Slot, object: Slot) -> TripleAtom:
    """The atom of a property between two things, an inverse the other way round."""
    if isinstance(property, Inverse):
        subject, object, property = object, subject, property.property
    if isinstance(subject, Literal):
        raise GapError(NO_SUBJECT)
    if property in TOP | BOTTOM:
        raise GapError(EVERYTHING)
    return TripleAtom(subject, property, object)


def named(individual: Individual) -> NamedNode | Literal:
    """An individual that can stand in a rule."""
    if isinstance(individual, BlankNode):
        raise GapError(NAMELESS)
    return individual


def _members(cls: NamedNode, at: Slot) -> list[Body]:
    if cls == NOTHING:
        return []
    return [()] if cls == THING else [(TripleAtom(at, RDF_TYPE, cls),)]


def _product(ways: Iterable[list[Body]]) -> list[Body]:
    bodies: list[Body] = [()]
    for each in ways:
        bodies = _bounded([(*body, *way) for body in bodies for way in each])
    return bodies


def _bounded(bodies: list[Body]) -> list[Body]:
    if len(bodies) > MOST_RULES:
        raise GapError(f"it would take more than {MOST_RULES:,} rules: give the unions in it names")
    return bodies


def _no_condition(cls: ClassExpression) -> str:
    match cls:
        case Unreadable(reason):
            return reason
        case Only() | Count(Bound.MAX | Bound.EXACTLY):
            return ALL_VALUES_UNKNOWN
        case Count():
            return COUNTS
        case _:
            return ABSENCE_UNKNOWN


def _no_conclusion(cls: ClassExpression) -> str:
    match cls:
        case Unreadable(reason):
            return reason
        case OneOf():
            return CHOOSES
        case _:
            return INVENTS
