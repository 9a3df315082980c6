"""Datatypes of OWL in rules: when a literal is in a data range, and when it is certainly not.

Two literals have a value in common only if their datatypes are of one family; families are
kept as facts of the hidden predicate `_family`, the subtypes of a datatype as `_within`.
A literal of a datatype that nobody knows, or with a text that its datatype does not allow, is
neither inside nor outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from pyoxigraph import Literal, NamedNode

from livefacts.model.facts import Symbol
from livefacts.model.namespaces import RDF, XSD
from livefacts.rules.axioms import And, ClassExpression, Individual, Not, OneOf, Or, Restricted
from livefacts.rules.formula import Call, Comparison, PredicateAtom, Slot
from livefacts.syntax.owlgraph import BUILT_IN, LITERAL
from livefacts.syntax.owlvalues import (
    FAMILIES,
    FAMILY_OF,
    INEXACT,
    INTEGER_BOUNDS,
    WITHOUT_VALUES,
    Body,
    is_nan,
    is_none_of,
    is_value,
    kind_of,
    of_family,
)

SIGNS = {
    "minInclusive": (">=", "<"),
    "maxInclusive": ("<=", ">"),
    "minExclusive": (">", "<="),
    "maxExclusive": ("<", ">="),
}


class UnknownRangeError(Exception):
    """A data range that no condition of the rule language can tell; says why."""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Data ranges as conditions; `definitions` are the data ranges that have names."""

    definitions: tuple[tuple[NamedNode, ClassExpression], ...] = ()

    def _defined(self, range: NamedNode, depth: int) -> ClassExpression | None:
        """What a name stands for; a name that leads back to itself stands for nothing."""
        return dict(self.definitions).get(range) if depth < len(self.definitions) else None

    def inside(self, range: ClassExpression, value: Slot, depth: int = 0) -> list[Body]:
        """Ways to be in the range, one of which has to hold."""
        match range:
            case NamedNode():
                defined = self._defined(range, depth)
                if defined is not None:
                    return self.inside(defined, value, depth + 1)
                return _inside(range, value)
            case And(members):
                return _all(self.inside(member, value, depth) for member in members)
            case Or(members):
                return [way for member in members for way in self.inside(member, value, depth)]
            case Not(member):
                return self.outside(member, value, depth)
            case OneOf(members):
                return [is_value(value, member) for member in _literals(members)]
            case Restricted(datatype, facets):
                bounds = [Comparison(value, _signs(name)[0], bound) for name, bound in facets]
                return _inside(datatype, value, tuple(bounds))
            case _:
                raise UnknownRangeError("literals cannot be told to be in it")

    def outside(self, range: ClassExpression, value: Slot, depth: int = 0) -> list[Body]:
        """Ways to be certainly not in the range, one of which has to hold."""
        match range:
            case NamedNode():
                defined = self._defined(range, depth)
                if defined is not None:
                    return self.outside(defined, value, depth + 1)
                return list(_outside(range, value))
            case And(members):
                return [way for member in members for way in self.outside(member, value, depth)]
            case Or(members):
                return _all(self.outside(member, value, depth) for member in members)
            case Not(member):
                return self.inside(member, value, depth)
            case OneOf(members):
                return is_none_of(value, _literals(members)) if members else [()]
            case Restricted(datatype, facets):
                beyond: list[Body] = [
                    (Comparison(value, _signs(name)[1], bound),) for name, bound in facets
                ]
                beyond += [(is_nan(value),)] if families_in(datatype) & INEXACT else []
                return [*_outside(datatype, value), *beyond]
            case _:
                raise UnknownRangeError("literals cannot be told to be outside of it")


def families_in(range: ClassExpression) -> frozenset[str]:
    """The families that literals in a range may be of."""
    datatype = range.datatype if isinstance(range, Restricted) else range
    known = FAMILY_OF.get(datatype.value) if isinstance(datatype, NamedNode) else None
    return frozenset(known or FAMILIES)


def _literals(members: Iterable[Individual]) -> Iterator[Literal]:
    for member in members:
        if not isinstance(member, Literal):
            raise UnknownRangeError(f"{member} stands among literals and is none")
        yield member


def _inside(datatype: NamedNode, value: Slot, bounds: Body = ()) -> list[Body]:
    """Ways to be in a datatype, and within bounds.

    What is compared with a bound has a value; without bounds, it equals itself if it has one.
    NaN does not, and is a value all the same.
    """
    if datatype == LITERAL:
        return [bounds]
    _check_known(datatype)
    kind = kind_of(value)
    way = (
        Comparison(kind, "=", Call("datatype", value)),
        PredicateAtom("_within", (kind, datatype)),
    )
    low, high = INTEGER_BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    bounds += (Comparison(value, ">=", Literal(low)),) if low is not None else ()
    bounds += (Comparison(value, "<=", Literal(high)),) if high is not None else ()
    own = set(FAMILY_OF[datatype.value])
    if bounds or own & WITHOUT_VALUES:
        return [(*way, *bounds)]
    ways: list[Body] = [(*way, Comparison(value, "<=", value))]
    return [*ways, (*way, is_nan(value))] if own & INEXACT else ways


def _outside(datatype: NamedNode, value: Slot) -> Iterator[Body]:
    if datatype == LITERAL:
        return
    _check_known(datatype)
    family = kind_of(value, "family")
    others = [Comparison(family, "!=", Symbol(each)) for each in FAMILY_OF[datatype.value]]
    yield (*of_family(value, family), *others)
    low, high = INTEGER_BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    if low is not None:
        yield (Comparison(value, "<", Literal(low)),)
    if high is not None:
        yield (Comparison(value, ">", Literal(high)),)


def _check_known(datatype: NamedNode) -> None:
    if datatype.value not in FAMILY_OF:
        where = "" if datatype in BUILT_IN else " and the ontology does not define it"
        raise UnknownRangeError(f"the datatype {datatype} is not known here{where}")


def _signs(facet: NamedNode) -> tuple[str, str]:
    local = facet.value.removeprefix(XSD)
    if local not in SIGNS:
        name = local.replace(RDF, "rdf:") if local == facet.value else f"xsd:{local}"
        raise UnknownRangeError(f"the facet {name} has no counterpart among comparisons")
    return SIGNS[local]


def _all(ways: Iterator[list[Body]]) -> list[Body]:
    return [sum(each, ()) for each in product(*ways)]


def is_range(cls: ClassExpression, datatypes: frozenset[NamedNode]) -> bool:
    """Whether the members of a class expression are literals."""
    match cls:
        case NamedNode():
            return cls.value.startswith(XSD) or cls in BUILT_IN or cls in datatypes
        case Restricted():
            return True
        case OneOf(members):
            return any(isinstance(member, Literal) for member in members)
        case And(members) | Or(members):
            return any(is_range(member, datatypes) for member in members)
        case Not(member):
            return is_range(member, datatypes)
        case _:
            return False
