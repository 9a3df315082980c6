"""Ontologies: a tree of classes with instances and properties, as facts and as rules.

The three kinds are those of the evaluation by Volz, Staab and Motik (2003): a plain
`taxonomy`; `db`, where every class has properties of its own; and `dl`, where a class is
also defined by a property and a sibling: with children c_1 … c_n of c,

    c_i ⊔ ∃p.c_(i-1) ⊑ c        (for the first child, the last one stands before it)

The paper leaves open which property p is, and which values properties have.  Here p is
drawn from all of them; half of its values are instances of the class that is asked for,
and every other value is drawn from all individuals.

Classes are numbered level by level: c1 … c5 have nobody above them, c6 … c10 are below c1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

from livefacts.errors import InputError

NAMESPACE = "http://livefacts.example/ontology#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TAXONOMY, DB, DL = "taxonomy", "db", "dl"
KINDS = (TAXONOMY, DB, DL)
EVERY = 3
"""Of so many individuals, one has values."""
MOST_CLASSES = 10_000_000


@dataclass(frozen=True)
class GeneratedOntology:
    """A tree of classes: `depth` levels of `subclasses` each, `instances` asserted of every class.

    `properties` are those of each class; a taxonomy has none.  Every third individual has
    one value for each property of its class.

    >>> small = GeneratedOntology("taxonomy", depth=2, subclasses=2, instances=1)
    >>> small.classes
    6
    >>> print(b"".join(small.rules()).decode().splitlines()[-1])
    @id below-c6  [?x, a, o:c2] :- [?x, a, o:c6] .
    """

    kind: str
    depth: int
    subclasses: int = 5
    instances: int = 5
    properties: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        _expect(self.kind in KINDS, f"there is no kind {self.kind}", f"use {', '.join(KINDS)}")
        _expect(self.depth >= 1, f"a tree of classes cannot have {self.depth} levels")
        _expect(self.subclasses >= 1, f"a class cannot have {self.subclasses} subclasses")
        _expect(
            self.instances >= 0 and self.properties >= 0,
            "a class cannot have fewer than no instances or properties",
        )
        _expect(self.kind != DL or self.properties >= 1, "classes are defined by properties")
        _expect(self.classes <= MOST_CLASSES, f"{self.classes:,} classes are too many")

    @cached_property
    def classes(self) -> int:
        """How many classes there are."""
        return sum(self.subclasses**level for level in range(1, self.depth + 1))

    @property
    def rule_count(self) -> int:
        """How many rules say so."""
        below = self.classes - self.subclasses
        domains = 0 if self.kind == TAXONOMY else self.classes * self.properties
        return below + domains + len(self._definitions)

    def parent(self, number: int) -> int:
        """The class directly above, or 0."""
        return (number - 1) // self.subclasses

    def facts(self) -> Iterator[bytes]:
        """What is asserted of individuals, as N-Triples, a class at a time."""
        draw = Random(f"values of {self.kind} {self.depth} of seed {self.seed}")
        for number in range(1, self.classes + 1):
            yield "".join(self._asserted(number, draw)).encode()

    def rules(self) -> Iterator[bytes]:
        """What is said of classes and properties, in the rule language, a class at a time.

        The rule `below-c6` says that c6 is below its class, `some-c6` that what has a
        certain property with a value in the class before c6 is there too, and `domain-p6_0`
        whose property p6_0 is.
        """
        yield f"@prefix o: <{NAMESPACE}> .\n".encode()
        for number in range(1, self.classes + 1):
            yield "".join(self._said(number)).encode()

    def _asserted(self, number: int, draw: Random) -> Iterator[str]:
        for one in range(self.instances):
            name = _individual(number, one)
            yield f"{name} <{TYPE}> <{NAMESPACE}c{number}> .\n"
            if self.kind != TAXONOMY and ((number - 1) * self.instances + one) % EVERY == 0:
                for which in range(self.properties):
                    value = self._value(number, which, draw)
                    yield f"{name} <{NAMESPACE}p{number}_{which}> {value} .\n"

    def _value(self, number: int, which: int, draw: Random) -> str:
        asked_for = self._asked_for.get((number, which))
        if asked_for is None or draw.random() < 1 / 2:
            asked_for = 1 + _below(draw, self.classes)
        return _individual(asked_for, _below(draw, self.instances))

    def _said(self, number: int) -> Iterator[str]:
        above = self.parent(number)
        if above:
            yield f"@id below-c{number}  [?x, a, o:c{above}] :- [?x, a, o:c{number}] .\n"
        if self.kind == TAXONOMY:
            return
        for which in range(self.properties):
            name = f"p{number}_{which}"
            yield f"@id domain-{name}  [?x, a, o:c{number}] :- [?x, o:{name}, ?y] .\n"
        if number in self._definitions:
            name = "p{}_{}".format(*self._definitions[number])
            yield (
                f"@id some-c{number}  [?x, a, o:c{above}] :- "
                f"[?x, o:{name}, ?y], [?y, a, o:c{self._before(number)}] .\n"
            )

    @cached_property
    def _definitions(self) -> dict[int, tuple[int, int]]:
        """The property that stands in the definition beside each class that has one above."""
        if self.kind != DL:
            return {}
        draw = Random(f"definitions of {self.depth} of seed {self.seed}")
        return {
            number: (1 + _below(draw, self.classes), _below(draw, self.properties))
            for number in range(self.subclasses + 1, self.classes + 1)
        }

    @cached_property
    def _asked_for(self) -> dict[tuple[int, int], int]:
        """The class in which a definition wants values of a property."""
        return {name: self._before(number) for number, name in self._definitions.items()}

    def _before(self, number: int) -> int:
        """The sibling before a class; before the first comes the last."""
        first = self.parent(number) * self.subclasses + 1
        return first + (number - first - 1) % self.subclasses


def _individual(number: int, one: int) -> str:
    return f"<{NAMESPACE}i{number}_{one}>"


def _below(draw: Random, end: int) -> int:
    return int(draw.random() * end)


def _expect(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise InputError(message, hint=hint)
