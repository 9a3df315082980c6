"""Templates of terms: what stands at a path, as a term of a fact, as a time, or in an IRI.

| a message has | in a predicate fact | in a triple |
|---|---|---|
| a text that is a word, `kitchen` | the symbol | a string; an IRI as subject or predicate |
| any other text, `sensor-1` | a string | the same |
| a number | an integer, a decimal or, with an exponent, a double, as it is written | the same |
| true, false | a boolean | the same |

Whatever it is, the same value at the same place of a map becomes the same term.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from pyoxigraph import Literal, NamedNode

from livefacts.errors import InputError
from livefacts.language.formula import RESERVED
from livefacts.model.durations import NANOSECONDS
from livefacts.model.facts import Symbol, Term
from livefacts.model.namespaces import XSD
from livefacts.model.time_points import EPOCH, time_point
from livefacts.syntax.json_map.value_paths import JsonNumber, JsonPath, shown
from livefacts.syntax.rulelang.constants import DATATYPES, SCHEME
from livefacts.syntax.rulelang.source_text import NAME

EVENTS = "urn:livefacts:event:"
"""How the IRIs begin that `event()` gives."""
UNITS = ("s", "ms", "us")
MOST_DIGITS = 20
"""Of the microseconds from 1970: no date is further away."""
DATE_TIME = NamedNode(XSD + "dateTime")
_WORD = re.compile(NAME)
_WHOLE = re.compile(r"-?[0-9]{1,25}")
_RESERVED = re.compile(r"[^A-Za-z0-9._~\-\u0080-\U0010ffff]")
"""What is written in %-form inside of an IRI."""
Time = int | Literal


class Slot(Enum):
    """The place of a value in a fact."""

    ARGUMENT = "an argument"
    NODE = "the subject or predicate of a triple"
    OBJECT = "the object of a triple"


@dataclass(frozen=True, slots=True)
class FixedTerm:
    """A term that the map has itself."""

    term: Term
    paths: tuple[JsonPath, ...] = ()

    def made(self, message: Any, numbers: Sequence[int], event: str) -> Term:
        return self.term


@dataclass(frozen=True, slots=True)
class EventId:
    """`event()`: an IRI of its own for each message; colons of its name stay as they are."""

    paths: tuple[JsonPath, ...] = ()

    def made(self, message: Any, numbers: Sequence[int], event: str) -> Term:
        return NamedNode(EVENTS + ":".join(map(encoded, event.split(":"))))


@dataclass(frozen=True, slots=True)
class PathValue:
    """What stands at a path, perhaps as a literal of a datatype."""

    path: JsonPath
    slot: Slot
    datatype: NamedNode | None = None

    @property
    def paths(self) -> tuple[JsonPath, ...]:
        return (self.path,)

    def made(self, message: Any, numbers: Sequence[int], event: str) -> Term:
        found = present(self.path, message, numbers)
        if self.datatype is not None:
            return Literal(plain(self.path, found), datatype=self.datatype)
        if isinstance(found, JsonNumber):
            return self._literal(number_literal(found))
        if isinstance(found, bool):
            return self._literal(Literal(found))
        text = plain(self.path, found)
        if self.slot is Slot.NODE:
            return iri(text, self.path)
        is_symbol = self.slot is Slot.ARGUMENT and _WORD.fullmatch(text)
        return Symbol(text) if is_symbol and text not in RESERVED else Literal(text)

    def _literal(self, literal: Literal) -> Literal:
        if self.slot is Slot.NODE:
            raise InputError(f"{self.path} is {literal.value}, and {self.slot.value} is an IRI")
        return literal


@dataclass(frozen=True, slots=True)
class IriTemplate:
    """`<http://ex.org/sensor/{$.id}>`: texts, and paths whose values are put there in %-form.

    A template that is a path and nothing else, `<{$.id}>`, is the IRI that stands there.
    """

    parts: tuple[str | JsonPath, ...]

    @property
    def paths(self) -> tuple[JsonPath, ...]:
        return tuple(part for part in self.parts if isinstance(part, JsonPath))

    def made(self, message: Any, numbers: Sequence[int], event: str) -> NamedNode:
        texts = [
            part if isinstance(part, str) else plain(part, present(part, message, numbers))
            for part in self.parts
        ]
        if len(self.parts) == 1:
            return iri(texts[0], self.parts[0])
        safe = [
            text if isinstance(part, str) else encoded(text)
            for part, text in zip(self.parts, texts, strict=True)
        ]
        return iri("".join(safe), self.parts[0])


@dataclass(frozen=True, slots=True)
class TimeValue:
    """`at $.ts`, `at $.ts ms`: a time point, a date-time, or so many units since 1970."""

    path: JsonPath
    unit: str | None = None

    def made(self, message: Any, numbers: Sequence[int]) -> Time:
        found = present(self.path, message, numbers)
        if self.unit is not None:
            return self._since_1970(found)
        if isinstance(found, JsonNumber) and _WHOLE.fullmatch(found):
            return time_point(int(found))
        if isinstance(found, str) and not isinstance(found, JsonNumber):
            time = Literal(plain(self.path, found), datatype=DATE_TIME)
            time_point(time)
            return time
        raise InputError(
            f"{self.path} is {shown(found)}, and a time is a whole number or a date-time; "
            f"{self.path} ms counts milliseconds since 1970"
        )

    def _since_1970(self, found: Any) -> Literal:
        assert self.unit is not None, "only with a unit"
        if not isinstance(found, JsonNumber):
            raise InputError(f"{self.path} is {shown(found)}, and not a number of {self.unit}")
        try:
            microseconds = Decimal(found) * (NANOSECONDS[self.unit] // 1000)
            if microseconds.adjusted() > MOST_DIGITS:
                raise OverflowError
            moment = EPOCH + timedelta(microseconds=int(microseconds // 1))
        except ArithmeticError:
            raise InputError(f"{shown(found)} {self.unit} since 1970 is no date") from None
        return Literal(moment.isoformat(), datatype=DATE_TIME)


FactValue = FixedTerm | EventId | PathValue | IriTemplate


def present(path: JsonPath, message: Any, numbers: Sequence[int]) -> Any:
    """What stands at a path, where something must."""
    found = path.at(message, numbers)
    if found is None:
        raise InputError(f"there is no {path} in this message; {path}? would leave the fact out")
    return found


def plain(path: JsonPath, value: Any) -> str:
    """A text, a number or a boolean as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise InputError(f"{path} is {shown(value)}, and not one value")
    if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
        raise InputError(f"{path} has half of a surrogate pair")
    return value


def number_literal(number: JsonNumber) -> Literal:
    """A number as rules write it.

    >>> number_literal(JsonNumber("21.50"))
    <Literal value=21.50 datatype=<NamedNode value=http://www.w3.org/2001/XMLSchema#decimal>>
    """
    kind = "DOUBLE" if "e" in number.lower() else "DECIMAL" if "." in number else "INTEGER"
    return Literal(str(number), datatype=DATATYPES[kind])


def iri(text: str, path: object) -> NamedNode:
    """An absolute IRI, made at this place of a map."""
    try:
        if SCHEME.match(text):
            return NamedNode(text)
    except ValueError:
        pass
    raise InputError(
        f"{shown(text)} is no IRI: a template makes one, such as <http://example.org/{{{path}}}>"
    )


def encoded(text: str) -> str:
    """A text as a part of an IRI.

    >>> encoded("room 1/küche")
    'room%201%2Fküche'
    """
    return _RESERVED.sub(lambda found: f"%{ord(found[0]):02X}", text)
