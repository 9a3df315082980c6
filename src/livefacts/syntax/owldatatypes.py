"""Datatypes of OWL in rules: when a literal is in a data range, and when it is certainly not.

Two literals have a value in common only if their datatypes are of one family; families are
kept as facts of the hidden predicate `_family`, the subtypes of a datatype as `_within`.
A literal of a datatype that nobody knows is neither inside nor outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from pyoxigraph import Literal, NamedNode

from livefacts.model.facts import Fact, Symbol
from livefacts.model.namespaces import OWL, RDF, XSD
from livefacts.rules.axioms import And, ClassExpression, Not, OneOf, Or, Restricted
from livefacts.rules.formula import (
    Call,
    Comparison,
    Formula,
    PredicateAtom,
    Slot,
    Variable,
    variables_of,
)
from livefacts.syntax.owlgraph import BUILT_IN, LITERAL

Body = tuple[Formula, ...]

INTEGER_BOUNDS: Mapping[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "numbers": tuple(XSD + name for name in ("decimal", *INTEGER_BOUNDS)),
    "strings": tuple(
        XSD + name
        for name in ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN")
    ),
    "strings_in_a_language": (RDF + "langString",),
    "moments": (XSD + "dateTime", XSD + "dateTimeStamp"),
} | {
    f"{name}s": (XSD + name,)
    for name in [
        "float",
        "double",
        "boolean",
        "date",
        "time",
        "duration",
        "gYear",
        "gYearMonth",
        "gMonthDay",
        "gMonth",
        "gDay",
        "hexBinary",
        "base64Binary",
        "anyURI",
    ]
}
FAMILY_OF = {
    datatype: (family,) for family, datatypes in FAMILIES.items() for datatype in datatypes
} | {
    OWL + "real": ("numbers",),
    OWL + "rational": ("numbers",),
    RDF + "PlainLiteral": ("strings", "strings_in_a_language"),
}
SIGNS = {
    "minInclusive": (">=", "<"),
    "maxInclusive": ("<=", ">"),
    "minExclusive": (">", "<="),
    "maxExclusive": ("<", ">="),
}


class UnknownRangeError(Exception):
    """A data range that no condition of the rule language can tell; says why."""


def families() -> tuple[Fact, ...]:
    """Which datatype is of which family, as facts."""
    return tuple(
        Fact("_family", (NamedNode(datatype), Symbol(family)))
        for family, datatypes in FAMILIES.items()
        for datatype in datatypes
    )


def within(datatype: NamedNode) -> tuple[Fact, ...]:
    """The datatypes whose literals are all in this one, as facts."""
    local = datatype.value.removeprefix(XSD)
    if local in INTEGER_BOUNDS:
        inner = [XSD + name for name in INTEGER_BOUNDS]
    else:
        own = FAMILY_OF.get(datatype.value, ())
        inner = [each for family in own for each in FAMILIES[family]]
        inner = inner if datatype.value in LARGEST else [datatype.value]
    return tuple(Fact("_within", (NamedNode(each), datatype)) for each in inner)


LARGEST = {names[0] for names in FAMILIES.values()} | {
    OWL + "real",
    RDF + "PlainLiteral",
}


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
                return [(Comparison(value, "=", member),) for member in members]
            case Restricted(datatype, facets):
                bounds = [Comparison(value, _signs(name)[0], bound) for name, bound in facets]
                return [(*_inside(datatype, value), *bounds)]
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
                return [tuple(Comparison(value, "!=", member) for member in members)]
            case Restricted(datatype, facets):
                beyond = [(Comparison(value, _signs(name)[1], bound),) for name, bound in facets]
                return [*_outside(datatype, value), *beyond]
            case _:
                raise UnknownRangeError("literals cannot be told to be outside of it")


def _inside(datatype: NamedNode, value: Slot) -> Body:
    if datatype == LITERAL:
        return ()
    _check_known(datatype)
    kind = _kind_of(value)
    low, high = INTEGER_BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    bounds = [Comparison(value, ">=", Literal(low))] if low is not None else []
    bounds += [Comparison(value, "<=", Literal(high))] if high is not None else []
    return (
        Comparison(kind, "=", Call("datatype", value)),
        PredicateAtom("_within", (kind, datatype)),
        *bounds,
    )


def _outside(datatype: NamedNode, value: Slot) -> Iterator[Body]:
    if datatype == LITERAL:
        return
    _check_known(datatype)
    kind, family = _kind_of(value), _kind_of(value, "family")
    others = [Comparison(family, "!=", Symbol(each)) for each in FAMILY_OF[datatype.value]]
    yield (
        Comparison(kind, "=", Call("datatype", value)),
        PredicateAtom("_family", (kind, family)),
        *others,
    )
    low, high = INTEGER_BOUNDS.get(datatype.value.removeprefix(XSD), (None, None))
    if low is not None:
        yield (Comparison(value, "<", Literal(low)),)
    if high is not None:
        yield (Comparison(value, ">", Literal(high)),)


def _check_known(datatype: NamedNode) -> None:
    if datatype.value not in FAMILY_OF:
        where = "" if datatype in BUILT_IN else " and the ontology does not define it"
        raise UnknownRangeError(f"the datatype {datatype} is not known here{where}")


def _kind_of(value: Slot, what: str = "type") -> Variable:
    """The variable for the datatype of a value, or for its family."""
    name = next((v.name for v in variables_of(value)), "it")
    return Variable(f"{name}_{what}")


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
