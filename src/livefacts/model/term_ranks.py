"""Ranks of terms: keys by which any terms can be sorted, in the order of SPARQL.

Blank nodes come first, then IRIs, then literals by what they stand for: numbers by their exact
value, strings by code point, booleans, dateTimes, dates, and the rest.  SPARQL leaves open how
values of different sorts are ordered, and terms of one value; here every two terms are, and what
has one value goes by its text.  So the least and the greatest of some terms never depend on the
order in which they came.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.model.facts import Term
from livefacts.model.moments import DAY, Moment, Span
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import Number
from livefacts.model.values import Text, value_of

MONTH = Fraction(DAY * 146097, 400 * 12)
"""The mean length of a month, in seconds."""


class TermClass(IntEnum):
    """Terms of different classes, in their order."""

    BLANK = 1
    IRI = 2
    NUMBER = 3
    NAN = 4
    TEXT = 5
    TRUTH = 6
    TIME = 7
    DATE = 8
    REST = 9


_MOMENTS = {"dateTime": TermClass.TIME, "date": TermClass.DATE}


def rank_of(term: Term) -> tuple[Any, ...]:
    """The class of a term, its value, and last what tells it apart from others of that value.

    >>> rank_of(Literal(2)) < rank_of(Literal(2.5)) < rank_of(Literal(10)) < rank_of(Literal("a"))
    True
    """
    if isinstance(term, Literal):
        return _rank_of_literal(term)
    if isinstance(term, NamedNode):
        return TermClass.IRI, term.value, ""
    if isinstance(term, BlankNode):
        return TermClass.BLANK, term.value, ""
    return TermClass.REST, "~~", str(term), ""


def rank_of_whole(number: int) -> tuple[Any, ...]:
    """The rank of an integer.

    >>> rank_of_whole(2) == rank_of(Literal(2))
    True
    """
    return TermClass.NUMBER, number, f'"{number}"^^<{XSD}integer>'


def _rank_of_literal(term: Literal) -> tuple[Any, ...]:
    match value_of(term):
        case Number(_, amount):
            is_number = amount == amount
            return (
                (TermClass.NUMBER, amount, str(term)) if is_number else (TermClass.NAN, str(term))
            )
        case Text(text):
            return TermClass.TEXT, text, term.language or "", str(term)
        case bool(truth):
            return TermClass.TRUTH, truth, str(term)
        case Moment(datatype, seconds) if datatype in _MOMENTS:
            return _MOMENTS[datatype], seconds, str(term)
        case Moment(datatype, seconds):
            return TermClass.REST, datatype, seconds, str(term)
        case Span(months, seconds):
            return TermClass.REST, "duration", months * MONTH + seconds, str(term)
    return TermClass.REST, "~", str(term), ""
