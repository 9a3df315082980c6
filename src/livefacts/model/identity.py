"""Value identity: one literal for each value, and the narrowest datatype that has the value.

Comparisons follow SPARQL, where `1 = "1"^^xsd:double` and 0 equals -0.  Ontologies ask
whether two literals denote one and the same value, which XML Schema answers otherwise:

- the values of xsd:decimal, xsd:float and xsd:double have nothing in common;
- the two zeros of a float or double are two values, and NaN is one;
- a moment keeps its time zone: the same time elsewhere is another value;
- `"a@en"^^rdf:PlainLiteral` is `"a"@en`, and what is derived from xsd:string are strings.

What is no literal, has an unknown datatype or a form that its datatype does not allow has
no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from pyoxigraph import Literal, NamedNode

from livefacts.model.facts import Term
from livefacts.model.moments import MOMENT_TYPES, SPAN_TYPES, canonical_moment, canonical_span
from livefacts.model.namespaces import RDF, XSD
from livefacts.model.numbers import (
    INTEGER_RANGES,
    Number,
    NumberKind,
    literal_of,
    parse_decimal,
    parse_double,
    parse_float,
    parse_integer,
)

_NAME_START = (
    ":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME_REST = _NAME_START + "0-9.\u00b7\u0300-\u036f\u203f\u2040-"
TEXTS = {
    "language": re.compile("[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*"),
    "NCName": re.compile(f"[{_NAME_START[1:]}][{_NAME_REST[1:]}]*"),
    "Name": re.compile(f"[{_NAME_START}][{_NAME_REST}]*"),
    "NMTOKEN": re.compile(f"[{_NAME_REST}]+"),
    "token": re.compile("(?:[^\t\n\r ]+(?: [^\t\n\r ]+)*)?"),
    "normalizedString": re.compile("[^\t\n\r]*"),
    "string": re.compile("(?s:.*)"),
}
"""The datatypes of strings, the narrowest first: each is within those after it."""
_HEXADECIMAL = re.compile("(?:[0-9a-fA-F]{2})*")
_BASE64 = re.compile(
    "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
)
_TAG = re.compile("[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")


def value_literal(term: Term) -> Literal | None:
    """The literal that stands for all literals of one value; None where there is no value.

    >>> value_literal(Literal("01.0", datatype=NamedNode(XSD + "decimal"))) == Literal(1)
    True
    """
    if not isinstance(term, Literal):
        return None
    if term.language is not None:
        return Literal(term.value, language=term.language.lower(), direction=term.direction)
    read = _READERS.get(term.datatype.value)
    return None if read is None else read(term.value)


def kind_of(term: Term) -> NamedNode | None:
    """The narrowest datatype that has the value of a literal; None where there is no value.

    Of the datatypes of numbers it is xsd:integer, xsd:decimal, xsd:float or xsd:double.

    >>> kind_of(Literal("1.0", datatype=NamedNode(XSD + "decimal"))).value.rpartition("#")[2]
    'integer'
    """
    value = value_literal(term)
    if value is None or value.language is not None:
        return value and value.datatype
    match value.datatype.value.removeprefix(XSD):
        case "string":
            texts = (name for name, form in TEXTS.items() if form.fullmatch(value.value))
            return NamedNode(XSD + next(texts))
        case "dateTime" if canonical_moment(value.value, "dateTimeStamp"):
            return NamedNode(XSD + "dateTimeStamp")
        case _:
            return value.datatype


def _typed(text: str | None, name: str) -> Literal | None:
    return None if text is None else Literal(text, datatype=NamedNode(XSD + name))


def _text(name: str) -> Callable[[str], Literal | None]:
    return lambda text: Literal(text) if TEXTS[name].fullmatch(text) else None


def _plain(text: str) -> Literal | None:
    """The value of rdf:PlainLiteral: a text, an @, and a language or nothing."""
    before, at, tag = text.rpartition("@")
    if not at or (tag and not _TAG.fullmatch(tag)):
        return None
    return Literal(before, language=tag.lower()) if tag else Literal(before)


def _boolean(text: str) -> Literal | None:
    known = {"true": True, "1": True, "false": False, "0": False}
    return Literal(known[text]) if text in known else None


def _hexadecimal(text: str) -> Literal | None:
    return _typed(text.upper(), "hexBinary") if _HEXADECIMAL.fullmatch(text) else None


def _base64(text: str) -> Literal | None:
    joined = text.replace(" ", "")
    is_spaced = text != text.strip(" ") or "  " in text
    return _typed(joined, "base64Binary") if _BASE64.fullmatch(joined) and not is_spaced else None


def _number(parse: Callable[[str], Number | None]) -> Callable[[str], Literal | None]:
    def read(text: str) -> Literal | None:
        number = parse(text)
        return None if number is None else literal_of(_narrowed(number))

    return read


def _narrowed(number: Number) -> Number:
    """A decimal without a fraction is an integer."""
    if (
        number.kind == NumberKind.DECIMAL
        and number.amount == Decimal(number.amount).to_integral_value()
    ):
        return Number(NumberKind.INTEGER, int(number.amount))
    return number


def _whole(name: str) -> Callable[[str], Literal | None]:
    return _number(lambda text: parse_integer(text, name))


def _moment(name: str) -> Callable[[str], Literal | None]:
    line = "dateTime" if name == "dateTimeStamp" else name
    return lambda text: _typed(canonical_moment(text, name), line)


def _span(name: str) -> Callable[[str], Literal | None]:
    return lambda text: _typed(canonical_span(text, name), "duration")


_READERS: dict[str, Callable[[str], Literal | None]] = {
    RDF + "PlainLiteral": _plain,
    XSD + "boolean": _boolean,
    XSD + "decimal": _number(parse_decimal),
    XSD + "float": _number(parse_float),
    XSD + "double": _number(parse_double),
    XSD + "hexBinary": _hexadecimal,
    XSD + "base64Binary": _base64,
    XSD + "anyURI": lambda text: _typed(text, "anyURI"),
    **{XSD + name: _text(name) for name in TEXTS},
    **{XSD + name: _whole(name) for name in INTEGER_RANGES},
    **{XSD + name: _moment(name) for name in MOMENT_TYPES},
    **{XSD + name: _span(name) for name in SPAN_TYPES},
}
