"""Datatypes of OWL in rules: when a literal is in a data range, and when it is certainly not.

The kind of a literal is the narrowest datatype that has its value.  Two literals have a value in
common only if their kinds are of one family; families are facts of the hidden predicate
`_family`, the kinds within a datatype of `_within`.  A literal of an unknown datatype, or with
a text that its datatype does not allow, is neither inside nor outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from pyoxigraph import Literal, NamedNode

from livefacts.language.axioms import And, ClassExpression, Individual, Not, OneOf, Or, Restricted
from livefacts.language.formula import Comparison, FunctionCall, Slot
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import RDF, XSD
from livefacts.model.numbers import INTEGER_RANGES
from livefacts.syntax.owl.literal_values import (
    FAMILY_OF,
    INEXACT,
    Body,
    has_kind,
    is_nan,
    is_none_of,
    is_value,
    kinds_beside,
    variable_for,
)
from livefacts.syntax.owl.ontology_graph import BUILT_IN, LITERAL

SIGNS = {
    "minInclusive": (">=", "<"),
    "maxInclusive": ("<=", ">"),
    "minExclusive": (">", "<="),
    "maxExclusive": ("<", ">="),
}


class UnknownRangeError(Exception):
    """A data range that no condition of the rule language can express; says why."""


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
                return [_inside(range, value)]
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
                return [_inside(datatype, value, tuple(bounds))]
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
                return [is_none_of(value, _literals(members)) if members else ()]
            case Restricted(datatype, facets):
                beyond: list[Body] = [
                    (Comparison(value, _signs(name)[1], bound),) for name, bound in facets
                ]
                beyond += [(is_nan(value),)] if _is_inexact(datatype) else []
                return [*_outside(datatype, value), *beyond]
            case _:
                raise UnknownRangeError("literals cannot be told to be outside of it")


def _literals(members: Iterable[Individual]) -> Iterator[Literal]:
    for member in members:
        if not isinstance(member, Literal):
            raise UnknownRangeError(f"{member} stands among literals and is none")
        yield member


def _inside(datatype: NamedNode, value: Slot, bounds: Body = ()) -> Body:
    """That a literal is in a datatype, and within bounds."""
    if datatype == LITERAL:
        return bounds
    _check_known(datatype)
    low, high = INTEGER_RANGES.get(datatype.value.removeprefix(XSD), (None, None))
    bounds += (Comparison(value, ">=", Literal(low)),) if low is not None else ()
    bounds += (Comparison(value, "<=", Literal(high)),) if high is not None else ()
    return (*has_kind(value, "_within", datatype), *bounds)


def _outside(datatype: NamedNode, value: Slot) -> Iterator[Body]:
    """Of another family; of another kind in the same family; or beyond the bounds."""
    if datatype == LITERAL:
        return
    _check_known(datatype)
    family = variable_for(value, "family")
    others = [Comparison(family, "!=", Symbol(each)) for each in FAMILY_OF[datatype.value]]
    yield (*has_kind(value, "_family", family), *others)
    for kind in kinds_beside(datatype):
        yield (Comparison(FunctionCall("kind", value), "is", NamedNode(kind)),)
    low, high = INTEGER_RANGES.get(datatype.value.removeprefix(XSD), (None, None))
    if low is not None:
        yield (Comparison(value, "<", Literal(low)),)
    if high is not None:
        yield (Comparison(value, ">", Literal(high)),)


def _is_inexact(datatype: NamedNode) -> bool:
    return bool(INEXACT.intersection(FAMILY_OF.get(datatype.value, ())))


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
