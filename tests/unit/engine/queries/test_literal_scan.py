"""What is read off the texts of many literals is what each of them stands for."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from pyoxigraph import Literal, NamedNode

from livefacts.engine.queries.literal_scan import scanned
from livefacts.engine.queries.value_lines import DECIMAL, INTEGER, STRING, TAGGED, UNSEEN, described
from livefacts.model.namespaces import XSD
from livefacts.store.terms.dictionary import Dictionary

TYPES = ("integer", "decimal", "double", "date", "dateTime", "boolean", "string", "byte")
LETTERS = {"integer": "0159+-", "decimal": "0159+-.", "double": "0159+-.eE"}
FIXED = {
    "date": ("0019-99-49", "Z", "+01:00", "T", " "),
    "dateTime": ("2029-19-39T29:69:69", "Z", "+15:00", "-09:30", "+14:01", ".5", ".5Z", "z"),
}


def line_of(literal: Literal) -> tuple[int, Fraction, float] | None:
    """The sort, the exact number and the rounded one that a scan reads; None if it does not."""
    ((sort, scale, whole, real),) = lines_of([literal])
    return None if sort == UNSEEN else (sort, Fraction(whole, 10**scale), real)


def lines_of(literals: list[Literal]) -> list[tuple[int, int, int, float]]:
    dictionary = Dictionary()
    ids = [dictionary.encode_one(literal) for literal in literals]
    return scanned(*dictionary.packed_texts(ids)).tolist()


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + name))


def draw_form(pick: Random, name: str) -> str:
    """A form that is allowed, or almost."""
    if name in LETTERS:
        return "".join(pick.choices(LETTERS[name], k=pick.choice([1, 2, 3, 4, 6, 17, 28])))
    if name not in FIXED:
        return pick.choice(["true", "", "1", "a"])
    pattern, *ends = FIXED[name]
    digits = (str(pick.randint(0, int(c))) if c.isdigit() else c for c in pattern)
    form = list("".join(digits) + pick.choice(["", *ends]))
    if pick.random() < 0.2:
        form[pick.randrange(len(form))] = pick.choice("0a:")
    return "".join(form)


@pytest.mark.parametrize("name", TYPES)
def test_a_scan_reads_what_each_literal_stands_for(name: str) -> None:
    pick = Random(name)
    literals = [typed(draw_form(pick, name), name) for _ in range(3000)]
    for literal, line in zip(literals, lines_of(literals), strict=True):
        sort, scale, whole, real = described(literal)
        if line[0] != UNSEEN:
            exact = Fraction(line[2], 10 ** line[1])
            assert (line[0], exact, line[3]) == (sort, Fraction(whole, 10**scale), real), literal


@pytest.mark.parametrize(
    ("text", "name", "sort", "value"),
    [("-17", "integer", INTEGER, -17), ("2.50", "decimal", DECIMAL, Fraction(5, 2))],
)
def test_numbers_are_read_by_the_scan(text: str, name: str, sort: int, value: Fraction) -> None:
    assert line_of(typed(text, name)) == (sort, value, float(value))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0.8414709848078965", "double"),
        ("-1.5E-3", "double"),
        ("2026-02-28", "date"),
        ("2026-02-28Z", "date"),
        ("2026-02-28T23:59:59", "dateTime"),
        ("2026-02-28T23:59:59Z", "dateTime"),
        ("2026-02-28T23:59:59-14:00", "dateTime"),
    ],
)
def test_usual_forms_are_read_by_the_scan(text: str, name: str) -> None:
    sort, scale, whole, real = described(typed(text, name))
    assert line_of(typed(text, name)) == (sort, Fraction(whole, 10**scale), real)


def test_strings_are_told_from_tagged_ones_and_from_empty_ones() -> None:
    literals = [Literal(""), Literal("a"), Literal("a", language="en"), Literal('"^^')]
    assert [line[0] for line in lines_of(literals)] == [STRING, STRING, TAGGED, STRING]
    assert [line[2] > 0 for line in lines_of(literals)] == [False, True, False, True]


def test_a_short_text_is_no_trouble_for_the_windows() -> None:
    unknown = Literal("", datatype=NamedNode("x:"))
    assert lines_of([unknown]) == [(UNSEEN, 0, 0, 0.0)]
    assert scanned(*Dictionary().packed_texts([])).tolist() == []
