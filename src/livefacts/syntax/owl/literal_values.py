"""Values of literals in OWL: which datatypes share values, and which literals are one value.

Rules compare by order, as SPARQL does: `1` equals `"1"^^xsd:double`, and 0 equals -0.  OWL asks
for identity, which `value` and `kind` of the rule language know: numbers of xsd:float, of
xsd:double and all others are three families without a value in common, 0 and -0 are two
values, and NaN is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyoxigraph import Literal, NamedNode

from livefacts.language.formula import (
    Comparison,
    Formula,
    FunctionCall,
    PredicateAtom,
    Slot,
    Variable,
    variables_of,
)
from livefacts.model.facts import Fact, Symbol
from livefacts.model.identity import TEXTS, value_literal
from livefacts.model.namespaces import OWL, RDF, XSD
from livefacts.model.numbers import INTEGER_RANGES

Body = tuple[Formula, ...]

LANGUAGE = RDF + "langString"
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "numbers": (XSD + "integer", XSD + "decimal"),
    "strings": tuple(XSD + name for name in TEXTS),
    "strings_in_a_language": (LANGUAGE,),
    "moments": (XSD + "dateTimeStamp", XSD + "dateTime"),
} | {
    f"{name}s": (XSD + name,)
    for name in [
        *("float", "double", "boolean", "date", "time", "duration"),
        *("gYear", "gYearMonth", "gMonthDay", "gMonth", "gDay"),
        *("hexBinary", "base64Binary", "anyURI"),
    ]
}
"""The kinds of values, each within those that stand after it in its family."""
FAMILY_OF = (
    {datatype: (family,) for family, kinds in FAMILIES.items() for datatype in kinds}
    | {XSD + name: ("numbers",) for name in INTEGER_RANGES}
    | {OWL + "real": ("numbers",), OWL + "rational": ("numbers",)}
    | {RDF + "PlainLiteral": ("strings", "strings_in_a_language")}
)
INEXACT = frozenset(("floats", "doubles"))


def families() -> tuple[Fact, ...]:
    """Which kind of values is of which family, as facts."""
    return tuple(
        Fact("_family", (NamedNode(kind), Symbol(family)))
        for family, kinds in FAMILIES.items()
        for kind in kinds
    )


def within(datatype: NamedNode) -> tuple[Fact, ...]:
    """The kinds of values that are in a datatype, but for its bounds, as facts."""
    return tuple(Fact("_within", (NamedNode(kind), datatype)) for kind in kinds_in(datatype))


def kinds_in(datatype: NamedNode) -> list[str]:
    """The kinds of values that are in a datatype, but for its bounds.

    >>> [kind.rpartition("#")[2] for kind in kinds_in(NamedNode(XSD + "byte"))]
    ['integer']
    """
    if datatype.value.removeprefix(XSD) in INTEGER_RANGES:
        return [XSD + "integer"]
    kinds = [kind for family in FAMILY_OF[datatype.value] for kind in FAMILIES[family]]
    return kinds[: kinds.index(datatype.value) + 1] if datatype.value in kinds else kinds


def kinds_beside(datatype: NamedNode) -> list[str]:
    """The kinds of values of the same families that are not in a datatype."""
    inside = kinds_in(datatype)
    kinds = [kind for family in FAMILY_OF[datatype.value] for kind in FAMILIES[family]]
    return [kind for kind in kinds if kind not in inside]


def has_kind(value: Slot, predicate: str, second: Slot) -> Body:
    """That the kind of a value is in a datatype (`_within`), or of a family (`_family`)."""
    kind = variable_for(value, "kind")
    return Comparison(kind, "=", FunctionCall("kind", value)), PredicateAtom(
        predicate, (kind, second)
    )


def variable_for(value: Slot, what: str) -> Variable:
    """The variable for the kind of a value, for its family, or for its one form."""
    name = next((v.name for v in variables_of(value)), "it")
    return Variable(f"{name}_{what}")


def is_nan(value: Slot) -> Comparison:
    """That a literal is no number: no other literal differs from itself."""
    return Comparison(value, "!=", value)


def is_looked_up(literal: Literal) -> bool:
    """Whether rules look for the literal itself: a string, or a value that nobody knows."""
    value = value_literal(literal)
    return value is None or value.datatype.value in (XSD + "string", LANGUAGE)


def is_value(value: Slot, literal: Literal) -> Body:
    """That a value is the value of this literal."""
    one = value_literal(literal)
    if one is None or is_looked_up(literal):
        return (Comparison(value, "=", literal),)
    return (Comparison(FunctionCall("value", value), "is", one),)


def is_none_of(value: Slot, literals: Iterable[Literal]) -> Body:
    """That a value is certainly none of these."""
    form = variable_for(value, "value")
    body: list[Formula] = [Comparison(form, "=", FunctionCall("value", value))]
    for literal in literals:
        one = value_literal(literal)
        unlike = Comparison(value, "!=", literal)
        body.append(unlike if one is None else Comparison(form, "is not", one))
    return tuple(body)


def are_different(first: Slot, second: Slot) -> Body:
    """That two literals are certainly two values."""
    return (Comparison(FunctionCall("value", first), "is not", FunctionCall("value", second)),)


def are_one(first: Slot, second: Slot) -> Body:
    """That two literals, written differently, are one value."""
    same = Comparison(FunctionCall("value", first), "is", FunctionCall("value", second))
    return same, Comparison(first, "is not", second)


def has_value(subject: Slot, property: NamedNode, value: Slot) -> PredicateAtom:
    """That a property has a value, in the one form that all literals of the value have."""
    return PredicateAtom("_key_value", (subject, property, value))


def form_of(literal: Slot, value: Slot) -> Comparison:
    """The one form of the value of a literal."""
    return Comparison(value, "=", FunctionCall("value", literal))
