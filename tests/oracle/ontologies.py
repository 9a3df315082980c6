"""What an ontology says of individuals, straight from its axioms: no rules, no translation.

An axiom is a tuple such as ("sub", "A", ("only", "p", "B")); classes, properties and
individuals are words, an inverse is ("inv", "p").  Facts are triples of words, with "type"
and "same" as properties.  A class on the left is a question about the facts, one on the right
adds to them; what a side cannot ask or say is left out, as it should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, permutations
from typing import Any, TypeAlias

Fact: TypeAlias = tuple[str, str, str]
Class: TypeAlias = Any
"""A word, or a tuple of a kind and its parts."""
Axiom: TypeAlias = tuple[Any, ...]


class UnknownError(Exception):
    """A question that facts never answer, or a saying that needs more than facts."""


class World:
    """Facts, and the contradictions that were met among them."""

    def __init__(self, individuals: Iterable[str], facts: Iterable[Fact]) -> None:
        self.individuals = tuple(individuals)
        self.facts = set(facts)
        self.contradictions: set[Axiom] = set()

    def values(self, property: Any, of: str) -> list[str]:
        if isinstance(property, tuple):
            return [s for s, p, o in self.facts if p == property[1] and o == of]
        return [o for s, p, o in self.facts if p == property and s == of]

    def pairs(self, property: Any) -> list[tuple[str, str]]:
        return [(x, y) for x in self.individuals for y in self.values(property, x)]

    def tell(self, subject: str, property: Any, value: str) -> None:
        if isinstance(property, tuple):
            subject, property, value = value, property[1], subject
        self.facts.add((subject, property, value))

    # the left: is it known?

    def is_in(self, x: str, cls: Class) -> bool:
        match cls:
            case "Thing":
                return True
            case "Nothing":
                return False
            case str():
                return (x, "type", cls) in self.facts
            case "and", members:
                return all(self._answers(members, x))
            case "or", members:
                return any(self._answers(members, x))
            case "some", property, filler:
                return any(self.is_in(y, filler) for y in self._asked(property, x, filler))
            case "min", 1, property, filler:
                return self.is_in(x, ("some", property, filler))
            case "value", property, individual:
                return individual in self.values(property, x)
            case "self", property:
                return x in self.values(property, x)
            case "oneof", members:
                return x in members
            case _:
                raise UnknownError(cls)

    def _answers(self, classes: Iterable[Class], x: str) -> list[bool]:
        """One answer each, so that a question without an answer is noticed in any case."""
        return [self.is_in(x, cls) for cls in classes]

    def _asked(self, property: Any, x: str, filler: Class) -> list[str]:
        self.is_in(x, filler)
        return self.values(property, x)

    # the right: what follows?

    def put(self, x: str, cls: Class, axiom: Axiom) -> None:
        match cls:
            case "Thing":
                return
            case "Nothing":
                self.contradictions.add(axiom)
            case str():
                self.facts.add((x, "type", cls))
            case "and", members:
                for member in members:
                    self._try(x, member, axiom)
            case "or", members:
                self._put_one(x, members, axiom)
            case "not", member:
                if self.is_in(x, member):
                    self.contradictions.add(axiom)
            case "only", property, filler:
                for y in self.values(property, x):
                    self._try(y, filler, axiom)
            case ("value", property, individual) | ("some", property, ("oneof", (individual,))):
                self.tell(x, property, individual)
            case "self", property:
                self.tell(x, property, x)
            case "oneof", (individual,):
                self.facts.add((x, "same", individual))
            case "max", number, property, filler:
                self._at_most(number, property, filler, x, axiom)
            case "exactly", number, property, filler:
                self._at_most(number, property, filler, x, axiom)
            case _:
                raise UnknownError(cls)

    def _try(self, x: str, cls: Class, axiom: Axiom) -> None:
        try:
            self.put(x, cls, axiom)
        except UnknownError:
            return

    def _put_one(self, x: str, members: Iterable[Class], axiom: Axiom) -> None:
        denied = [member[1] for member in members if member[0] == "not"]
        others = [member for member in members if member[0] != "not"]
        if len(others) > 1:
            raise UnknownError(members)
        if all(self._answers(denied, x)):
            self._try(x, others[0] if others else "Nothing", axiom)

    def _at_most(self, number: int, property: Any, filler: Class, x: str, axiom: Axiom) -> None:
        if number > 1:
            raise UnknownError(number)
        found = [y for y in set(self._asked(property, x, filler)) if self.is_in(y, filler)]
        if number == 0 and found:
            self.contradictions.add(axiom)
        if number == 1:
            self.facts |= {(y, "same", z) for y, z in permutations(found, 2)}


def meant(axioms: Iterable[Axiom], declared: Iterable[str]) -> list[Axiom]:
    """The axioms that say something: annotations, and what is said of them, do not.

    An ("annotation", "p") takes the meaning of what says where p leads, and a fact is an
    annotation if no axiom speaks of its property.
    """
    axioms = list(axioms)
    annotating = {axiom[1] for axiom in axioms if axiom[0] == "annotation"}.difference(declared)
    said = [a for a in axioms if a[0] != "annotation" and _placed(a) not in annotating]
    known = set(declared).union(*(_words(a) for a in said if a[0] not in ("fact", "denied")))
    return [axiom for axiom in said if axiom[0] != "fact" or axiom[2] in known]


def _placed(axiom: Axiom) -> Any:
    """The property of which an axiom says what it leads to, or is a part of."""
    match axiom:
        case ("domain" | "range", property, _) | ("chain", (property,), _):
            return property
        case _:
            return None


def _words(part: Any) -> set[str]:
    return set().union(*map(_words, part)) if isinstance(part, tuple) else {str(part)}


def closure(
    individuals: Iterable[str], axioms: Iterable[Axiom], facts: Iterable[Fact], equality: bool
) -> World:
    """All that follows, by going through all axioms until nothing new comes."""
    world = World(individuals, facts)
    axioms = list(axioms)
    while True:
        before = len(world.facts)
        for axiom in axioms:
            _follow(world, axiom)
        if equality:
            _equate(world)
        if len(world.facts) == before:
            break
    for axiom in axioms:
        _follow(world, axiom)
    return world


def _follow(world: World, axiom: Axiom) -> None:
    match axiom:
        case "sub", sub, sup:
            _include(world, sub, sup, axiom)
        case "equiv", first, second:
            _include(world, first, second, axiom)
            _include(world, second, first, axiom)
        case "disjoint", first, second:
            _include(world, ("and", (first, second)), "Nothing", axiom)
        case "domain", property, cls:
            for x, _ in world.pairs(property):
                world._try(x, cls, axiom)
        case "range", property, cls:
            for _, y in world.pairs(property):
                world._try(y, cls, axiom)
        case "chain", properties, sup:
            for start, end in _paths(world, properties):
                world.tell(start, sup, end)
        case "inverse", first, second:
            for x, y in world.pairs(first):
                world.tell(y, second, x)
            for x, y in world.pairs(second):
                world.tell(y, first, x)
        case "trait", trait, property:
            _trait(world, trait, property, axiom)
        case "key", cls, properties:
            _keys(world, cls, properties)
        case "is", individual, cls:
            world._try(individual, cls, axiom)
        case "fact", subject, property, value:
            world.tell(subject, property, value)
        case "denied", subject, property, value:
            if value in world.values(property, subject):
                world.contradictions.add(axiom)
        case "same", first, second:
            world.facts.add((first, "same", second))
        case "different", first, second:
            if {(first, "same", second), (second, "same", first)} & world.facts:
                world.contradictions.add(axiom)


def _include(world: World, sub: Class, sup: Class, axiom: Axiom) -> None:
    parts = sub[1] if sub[0] == "or" else (sub,)
    for part in parts:
        for x in world.individuals:
            try:
                known = world.is_in(x, part)
            except UnknownError:
                break
            if known:
                world._try(x, sup, axiom)


def _paths(world: World, properties: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for start in world.individuals:
        ends = {start}
        for property in properties:
            ends = {y for x in ends for y in world.values(property, x)}
        yield from ((start, end) for end in ends)


def _trait(world: World, trait: str, property: Any, axiom: Axiom) -> None:
    pairs = world.pairs(property)
    match trait:
        case "Symmetric":
            for x, y in pairs:
                world.tell(y, property, x)
        case "Transitive":
            for start, end in list(_paths(world, (property, property))):
                world.tell(start, property, end)
        case "Functional":
            for x in world.individuals:
                world._at_most(1, property, "Thing", x, axiom)
        case "InverseFunctional":
            for x in world.individuals:
                world._at_most(1, ("inv", property), "Thing", x, axiom)
        case "Asymmetric":
            if any((y, x) in pairs for x, y in pairs):
                world.contradictions.add(axiom)
        case "Irreflexive":
            if any(x == y for x, y in pairs):
                world.contradictions.add(axiom)


def _keys(world: World, cls: Class, properties: Iterable[Any]) -> None:
    try:
        members = [x for x in world.individuals if world.is_in(x, cls)]
    except UnknownError:
        return
    for x, y in combinations(members, 2):
        if all(set(world.values(p, x)) & set(world.values(p, y)) for p in properties):
            world.facts |= {(x, "same", y), (y, "same", x)}


def _equate(world: World) -> None:
    """What holds of one holds of all that are the same; nothing is the same as itself by this."""
    same = {(s, o) for s, p, o in world.facts if p == "same"}
    world.facts |= {(y, "same", x) for x, y in same}
    world.facts |= {(x, "same", z) for x, y in same for w, z in same if y == w and x != z}
    for x, y in same:
        about = [fact for fact in world.facts if fact[1] != "same"]
        world.facts |= {(y, p, o) for s, p, o in about if s == x}
        world.facts |= {(s, p, y) for s, p, o in about if o == x and p != "type"}
