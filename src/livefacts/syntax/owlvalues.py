"""Values of literals: which datatypes have values in common, and which literals are one value.

Rules compare by order, as SPARQL does: `1` equals `"1"^^xsd:double`, 0 equals -0, and NaN does
not equal itself.  In OWL the numbers of xsd:float, xsd:double and all others are three families
that have no value in common, 0 and -0 are two values, and NaN is one.  The conditions here say
that in comparisons: the sign of a zero shows when one is divided by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

from pyoxigraph import Literal, NamedNode

from livefacts.model.facts import Fact, Symbol
from livefacts.model.namespaces import OWL, RDF, XSD
from livefacts.model.values import Number, value_of
from livefacts.rules.formula import (
    Arithmetic,
    Call,
    Comparison,
    Formula,
    PredicateAtom,
    Slot,
    Variable,
    variables_of,
)

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
    "durations": tuple(XSD + n for n in ("duration", "yearMonthDuration", "dayTimeDuration")),
} | {
    f"{name}s": (XSD + name,)
    for name in [
        "float",
        "double",
        "boolean",
        "date",
        "time",
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
REAL, RATIONAL, PLAIN = OWL + "real", OWL + "rational", RDF + "PlainLiteral"
FAMILY_OF = {
    datatype: (family,) for family, datatypes in FAMILIES.items() for datatype in datatypes
} | {
    REAL: ("numbers",),
    RATIONAL: ("numbers",),
    PLAIN: ("strings", "strings_in_a_language"),
}
BELOW = {
    XSD + "normalizedString": ("token", "language", "Name", "NCName", "NMTOKEN"),
    XSD + "token": ("language", "Name", "NCName", "NMTOKEN"),
    XSD + "Name": ("NCName",),
}
"""The datatypes within others, where these are not all of a family."""
NUMBERS = ("numbers", "floats", "doubles")
INEXACT = frozenset(("floats", "doubles"))
WITHOUT_VALUES = frozenset(
    ("strings", "strings_in_a_language", "hexBinarys", "base64Binarys", "anyURIs")
)
"""Families whose literals comparisons know as they are written, or by their text alone."""
DECIMAL = NamedNode(XSD + "decimal")
ONE = Literal("1.0e0", datatype=NamedNode(XSD + "double"))


def families() -> tuple[Fact, ...]:
    """Which datatype is of which family, as facts."""
    return tuple(
        Fact("_family", (NamedNode(datatype), Symbol(family)))
        for family, datatypes in (*FAMILIES.items(), ("numbers", (RATIONAL,)))
        for datatype in datatypes
    )


def within(datatype: NamedNode) -> tuple[Fact, ...]:
    """The datatypes whose literals are all in this one, as facts."""
    local = datatype.value.removeprefix(XSD)
    inner = [datatype.value, *(XSD + name for name in BELOW.get(datatype.value, ()))]
    if local in INTEGER_BOUNDS:
        inner += [XSD + name for name in INTEGER_BOUNDS]
    elif datatype.value in LARGEST:
        inner += [each for family in FAMILY_OF[datatype.value] for each in FAMILIES[family]]
    return tuple(Fact("_within", (NamedNode(each), datatype)) for each in dict.fromkeys(inner))


LARGEST = {names[0] for names in FAMILIES.values()} | {REAL, RATIONAL, PLAIN}


def family_of(literal: Literal) -> str | None:
    """The family of a literal, None if its datatype is not known."""
    return FAMILY_OF.get(literal.datatype.value, (None,))[0]


def is_written_one_way(literal: Literal) -> bool:
    """Whether a comparison holds no other literal for the same value."""
    return family_of(literal) in (None, *WITHOUT_VALUES)


def kind_of(value: Slot, what: str = "type") -> Variable:
    """The variable for the datatype of a value, or for its family."""
    name = next((v.name for v in variables_of(value)), "it")
    return Variable(f"{name}_{what}")


def of_family(value: Slot, family: Variable | Symbol) -> Body:
    """That the datatype of a literal is of a family."""
    kind = kind_of(value)
    return (
        Comparison(kind, "=", Call("datatype", value)),
        PredicateAtom("_family", (kind, family)),
    )


def is_nan(value: Slot) -> Comparison:
    """That a literal is no number, which no other literal is."""
    return Comparison(value, "!=", value)


def is_value(value: Slot, literal: Literal) -> Body:
    """That a value is the value of this literal."""
    family = family_of(literal)
    if family not in NUMBERS:
        return (Comparison(value, "=", literal),)
    number = _inexact(literal)
    if number is not None and math.isnan(number):
        return (is_nan(value), *of_family(value, Symbol(family)))
    same = (Comparison(value, "=", literal), *of_family(value, Symbol(family)))
    return (*same, _has_sign(value, math.copysign(1, number))) if number == 0 else same


def is_none_of(value: Slot, literals: Iterable[Literal]) -> list[Body]:
    """Ways for a value to be certainly none of these: of another family, or of one and different."""
    by_family: dict[str | None, list[Literal]] = {}
    for literal in literals:
        by_family.setdefault(family_of(literal), []).append(literal)
    unknown = tuple(Comparison(value, "!=", each) for each in by_family.pop(None, ()))
    family = kind_of(value, "family")
    others = (Comparison(family, "!=", Symbol(str(each))) for each in by_family)
    ways: list[Body] = [(*of_family(value, family), *others, *unknown)]
    for each, members in by_family.items():
        apart = product(*(_is_not(value, member) for member in members))
        ways += [(*of_family(value, Symbol(str(each))), *sum(way, ()), *unknown) for way in apart]
    return ways


def _is_not(value: Slot, literal: Literal) -> list[Body]:
    """Ways for a value to differ from one of its own family."""
    number = _inexact(literal)
    if number is not None and math.isnan(number):
        return [(Comparison(value, "=", value),)]
    ways: list[Body] = [(Comparison(value, "!=", literal),)]
    if number == 0:
        sign = -math.copysign(1, number)
        ways.append((Comparison(value, "=", literal), _has_sign(value, sign)))
    return ways


def are_different(first: Slot, second: Slot, families: Iterable[str]) -> list[Body]:
    """Ways for two literals of these families to be certainly two values, no two at once.

    One of the two equals itself, since NaN differs from itself and is one value all the same.
    """
    possible = set(families)
    equal = Comparison(first, "=", second)
    one, other = kind_of(first, "family"), kind_of(second, "family")
    ways: list[Body] = [(Comparison(first, "!=", second), Comparison(first, "=", first))]
    if len(possible.intersection(NUMBERS)) > 1:
        sorts = (*of_family(first, one), *of_family(second, other))
        ways.append((equal, *sorts, Comparison(one, "!=", other)))
    if possible & INEXACT:
        signs = Comparison(_parts(first), "!=", _parts(second))
        ways.append((equal, signs, *of_family(first, one), *of_family(second, one)))
    return ways


def has_amount(subject: Slot, property: NamedNode, amount: Slot) -> PredicateAtom:
    """That a property has a number as its value, in the one form that all of its literals have."""
    return PredicateAtom("_amount", (subject, property, amount))


def amount_of(value: Slot, amount: Slot) -> Comparison:
    """The form of a number: its family stays, and so does the sign of a zero."""
    return Comparison(amount, "=", Arithmetic("-", value, Literal("0.0", datatype=DECIMAL)))


def _inexact(literal: Literal) -> float | None:
    """The number that a literal of xsd:float or xsd:double is."""
    value = value_of(literal) if family_of(literal) in INEXACT else None
    return float(value.amount) if isinstance(value, Number) else None


def _has_sign(value: Slot, sign: float) -> Comparison:
    return Comparison(_parts(value), ">" if sign > 0 else "<", Literal(0))


def _parts(value: Slot) -> Arithmetic:
    return Arithmetic("/", ONE, value)
