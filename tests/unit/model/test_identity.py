"""One literal for each value, and the narrowest datatype that has it."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.model.identity import kind_of, value_literal

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode((RDF if name == "PlainLiteral" else XSD) + name))


@pytest.mark.parametrize(
    ("text", "name", "value", "value_name", "kind"),
    [
        ("01.0", "decimal", "1", "integer", "integer"),
        ("-0.0", "decimal", "0", "integer", "integer"),
        ("1.50", "decimal", "1.5", "decimal", "decimal"),
        ("+7", "byte", "7", "integer", "integer"),
        ("1", "float", "1.0E0", "float", "float"),
        ("-0", "double", "-0.0E0", "double", "double"),
        ("0", "double", "0.0E0", "double", "double"),
        ("NaN", "double", "NaN", "double", "double"),
        ("1", "boolean", "true", "boolean", "boolean"),
        ("two words", "token", "two words", "string", "token"),
        (" two words", "string", " two words", "string", "normalizedString"),
        ("two\nlines", "string", "two\nlines", "string", "string"),
        ("", "string", "", "string", "token"),
        ("12-b", "NMTOKEN", "12-b", "string", "NMTOKEN"),
        ("ex:Name", "Name", "ex:Name", "string", "Name"),
        ("été", "NCName", "été", "string", "NCName"),
        ("en-GB", "string", "en-GB", "string", "language"),
        ("a@", "PlainLiteral", "a", "string", "language"),
        ("a@b@", "PlainLiteral", "a@b", "string", "token"),
        ("2019-12-31T24:00:00", "dateTime", "2020-01-01T00:00:00", "dateTime", "dateTime"),
        ("2020-02-28T24:00:00Z", "dateTime", "2020-02-29T00:00:00Z", "dateTime", "dateTimeStamp"),
        ("-0001-12-31T24:00:00", "dateTime", "0000-01-01T00:00:00", "dateTime", "dateTime"),
        ("2020-01-01T10:00:00.50-00:00", "dateTimeStamp", "2020-01-01T10:00:00.5Z", "dateTime", "dateTimeStamp"),
        ("2020-01-01T10:20:30+01:00", "dateTime", "2020-01-01T10:20:30+01:00", "dateTime", "dateTimeStamp"),
        ("24:00:00", "time", "00:00:00", "time", "time"),
        ("2020-10", "gYearMonth", "2020-10", "gYearMonth", "gYearMonth"),
        ("P12MT90M0.50S", "duration", "P1YT1H30M0.5S", "duration", "duration"),
        ("-PT24H", "dayTimeDuration", "-P1D", "duration", "duration"),
        ("P0Y", "yearMonthDuration", "PT0S", "duration", "duration"),
        ("0aF1", "hexBinary", "0AF1", "hexBinary", "hexBinary"),
        ("Y Q = =", "base64Binary", "YQ==", "base64Binary", "base64Binary"),
        ("ex:a b", "anyURI", "ex:a b", "anyURI", "anyURI"),
    ],
)  # fmt: skip
def test_a_value_has_one_literal_and_a_narrowest_datatype(
    text: str, name: str, value: str, value_name: str, kind: str
) -> None:
    literal = typed(text, name)
    assert value_literal(literal) == typed(value, value_name)
    assert value_literal(typed(value, value_name)) == typed(value, value_name)
    assert kind_of(literal) == NamedNode(XSD + kind)


@pytest.mark.parametrize("tagged", [Literal("a", language="EN"), typed("a@EN", "PlainLiteral")])
def test_a_text_in_a_language_is_of_no_other_kind(tagged: Literal) -> None:
    assert value_literal(tagged) == Literal("a", language="en")
    assert kind_of(tagged) == NamedNode(RDF + "langString")


@pytest.mark.parametrize(
    "term",
    [
        typed("abc", "integer"),
        typed("300", "byte"),
        typed("yes", "boolean"),
        typed("2020-01-01T10:00:00", "dateTimeStamp"),
        typed("2021-02-29T24:00:00", "dateTime"),
        typed("P", "duration"),
        typed("two  spaces", "token"),
        typed("a\tb", "normalizedString"),
        typed("a:b", "NCName"),
        typed("no tag", "language"),
        typed("no at", "PlainLiteral"),
        typed("a@no tag", "PlainLiteral"),
        typed("0", "hexBinary"),
        typed("YR==", "base64Binary"),
        typed(" YQ==", "base64Binary"),
        Literal("x", datatype=NamedNode("ex:shade")),
        NamedNode("ex:a"),
    ],
)
def test_what_has_no_value_has_no_kind(term: Literal | NamedNode) -> None:
    assert value_literal(term) is None
    assert kind_of(term) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [("1" * 5000 + ".0", "decimal"), ("P" + "1" * 5000 + "Y", "duration")],
)
def test_numbers_may_be_long(text: str, name: str) -> None:
    found = value_literal(typed(text, name))
    assert found is not None
    assert found.value == text.removesuffix(".0")


def test_a_year_may_be_long() -> None:
    year = "9" * 5000
    found = value_literal(typed(f"{year}-12-31T24:00:00", "dateTime"))
    assert found is not None
    assert found.value == f"1{'0' * 5000}-01-01T00:00:00"
