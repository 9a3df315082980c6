"""Axiom ids: the names of rules that come from axioms, by kind of axiom and what it speaks of.

    disjoint-EdibleThing-PotableLiquid

A violation is reported under the name of its constraint, so names have to mean something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import lru_cache

from pyoxigraph import NamedNode

from livefacts.language.axioms import Axiom, HasTrait, SubPropertyOf

KINDS = {
    "SubClassOf": "subclass",
    "EquivalentClasses": "equivalent",
    "DisjointClasses": "disjoint",
    "DisjointUnion": "union",
    "SubPropertyOf": "subproperty",
    "EquivalentProperties": "equivalent",
    "InverseProperties": "inverse",
    "DisjointProperties": "disjoint",
    "Domain": "domain",
    "Range": "range",
    "HasKey": "key",
    "ClassAssertion": "type",
    "PropertyAssertion": "denied",
}
SHOWN = 2
"""How many names a name is made of."""


class Ids:
    """Gives each rule a name of its own; `taken` are names that others have."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}

    def next(self, axiom: Axiom) -> str:
        """A name for the next rule of an axiom."""
        stem = stem_of(axiom)
        while True:
            number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
            name = stem if number == 1 else f"{stem}-{number}"
            if name not in self._taken:
                self._taken.add(name)
                return name


@lru_cache(maxsize=1 << 14)
def stem_of(axiom: Axiom) -> str:
    """What names of the rules of this axiom begin with."""
    kind = KINDS.get(type(axiom).__name__, "axiom")
    if isinstance(axiom, HasTrait):
        kind = axiom.trait.lower()
    elif isinstance(axiom, SubPropertyOf) and len(axiom.chain) > 1:
        kind = "chain"
    words = [word for iri in _iris(axiom) if (word := _local(iri))]
    return "-".join([kind, *dict.fromkeys(words)][: SHOWN + 1])


def _iris(part: object) -> Iterator[NamedNode]:
    if isinstance(part, NamedNode):
        yield part
    elif isinstance(part, tuple):
        for each in part:
            yield from _iris(each)
    elif hasattr(part, "__dataclass_fields__"):
        for each in fields(part):  # type: ignore[arg-type]
            yield from _iris(getattr(part, each.name))


def _local(iri: NamedNode) -> str:
    """The last part of an IRI, as far as it fits into a name.

    >>> _local(NamedNode("http://example.org/food#Non-Spicy(Red)"))
    'Non-Spicy-Red'
    """
    last = re.split(r"[/#:]", iri.value.rstrip("/#:"))[-1]
    return "-".join(re.findall(r"\w+", last))
