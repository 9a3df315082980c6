"""Moments and spans: the values of the date, time and duration types of XML Schema.

A moment is a number of seconds on the line of its own datatype (xsd:dateTimeStamp shares that
of xsd:dateTime), and it either knows its time zone or does not.  Two moments of which only one
has a zone are never equal; one comes before the other only where that holds for every zone from
-14:00 to +14:00.

A span is a number of months and a number of seconds.  Spans that mix the two are ordered
only where all of the four reference months of XML Schema agree: a month is shorter than
forty days, and neither shorter nor longer than thirty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from livefacts.model.numbers import digits_of, whole

DAY = 86400
_WIDEST_ZONE = 14 * 3600
_CERTAIN_ZONE = r"(?P<zone>Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_ZONE = _CERTAIN_ZONE + "?"
_YEAR = r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_CLOCK = (
    r"(?:(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9](?:\.[0-9]+)?)"
    r"|(?P<midnight>24:00:00(?:\.0+)?))"
)
_FORMS = {
    "dateTime": re.compile(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}"),
    "dateTimeStamp": re.compile(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_CERTAIN_ZONE}"),
    "date": re.compile(f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}"),
    "time": re.compile(f"{_CLOCK}{_ZONE}"),
    "gYear": re.compile(f"{_YEAR}{_ZONE}"),
    "gYearMonth": re.compile(f"{_YEAR}-{_MONTH}{_ZONE}"),
    "gMonth": re.compile(f"--{_MONTH}{_ZONE}"),
    "gMonthDay": re.compile(f"--{_MONTH}-{_DAY}{_ZONE}"),
    "gDay": re.compile(f"---{_DAY}{_ZONE}"),
}
MOMENT_TYPES = tuple(_FORMS)
_LINES = {"dateTimeStamp": "dateTime"}
"""Datatypes whose values are some of those of another one."""
SPAN_TYPES = ("duration", "yearMonthDuration", "dayTimeDuration")
_SPAN = re.compile(
    r"(?P<sign>-?)P(?=[0-9T])(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?"
    r"(?:(?P<seconds>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_LEAP_YEAR = 1972  # stands in where a form has no year, so that --02-29 is a day
_REFERENCE_MONTHS = ((1696, 9), (1697, 2), (1903, 3), (1903, 7))


@dataclass(frozen=True, slots=True)
class Moment:
    """A point on the line of `datatype`, in seconds, with or without a time zone."""

    datatype: str
    seconds: Fraction
    has_zone: bool


@dataclass(frozen=True, slots=True)
class Span:
    """A duration."""

    months: int
    seconds: Fraction


def parse_moment(text: str, datatype: str) -> Moment | None:
    """The value of a lexical form of one of `MOMENT_TYPES`.

    >>> parse_moment("2026-02-30", "date") is None
    True
    """
    found = _FORMS[datatype].fullmatch(text)
    if not found:
        return None
    part = found.groupdict()
    year, month = whole(part.get("year") or str(_LEAP_YEAR)), int(part.get("month") or 1)
    day = int(part.get("day") or 1)
    if day > days_in_month(year, month):
        return None
    seconds = days_before(year, month) * DAY + (day - 1) * DAY + _seconds_of_day(part, datatype)
    line = _LINES.get(datatype, datatype)
    return Moment(line, seconds - _zone_seconds(part["zone"]), part["zone"] is not None)


def canonical_moment(text: str, datatype: str) -> str | None:
    """The one form of a moment, in its own time zone; None where the form is not allowed.

    >>> canonical_moment("2019-12-31T24:00:00.0+00:00", "dateTime")
    '2020-01-01T00:00:00Z'
    """
    if parse_moment(text, datatype) is None:
        return None
    found = _FORMS[datatype].fullmatch(text)
    assert found is not None, "what has a value has the form"
    part = found.groupdict()
    zone = part["zone"] or ""
    start = text.removesuffix(zone)
    if part.get("midnight"):
        start = _next_day(part) + "00:00:00"
    elif "." in (part.get("second") or ""):
        start = start.rstrip("0").rstrip(".")
    if start.startswith("-0000"):
        start = start[1:]
    return start + ("Z" if zone in ("+00:00", "-00:00") else zone)


def _next_day(part: dict[str, str | None]) -> str:
    """The day after the one that is named; nothing where there is no day."""
    if not part.get("day"):
        return ""
    year, month, day = (whole(part[name] or "") for name in ("year", "month", "day"))
    day += 1
    if day > days_in_month(year, month):
        month, day = month + 1, 1
    if month > 12:
        year, month = year + 1, 1
    return f"{'-' * (year < 0)}{digits_of(abs(year)).rjust(4, '0')}-{month:02}-{day:02}T"


def _seconds_of_day(part: dict[str, str | None], datatype: str) -> Fraction:
    if part.get("midnight"):
        return Fraction(0 if datatype == "time" else DAY)
    hour, minute = int(part.get("hour") or 0), int(part.get("minute") or 0)
    return hour * 3600 + minute * 60 + Fraction(Decimal(part.get("second") or 0))


def _zone_seconds(zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


def days_in_month(year: int, month: int) -> int:
    return days_before(year, month + 1) - days_before(year, month)


def days_before(year: int, month: int) -> int:
    """Days from March of the year 0 to the first of a month; the month may be past December."""
    months = year * 12 + month - 3  # counted from March, so that a leap day ends its year
    year, month = divmod(months, 12)
    return year * 365 + year // 4 - year // 100 + year // 400 + (month * 153 + 2) // 5


def order_of_moments(left: Moment, right: Moment) -> int | None:
    """-1, 0 or 1 as left is before, at or after right; None where neither is certain."""
    if left.datatype != right.datatype:
        return None
    distance = left.seconds - right.seconds
    if left.has_zone != right.has_zone and abs(distance) <= _WIDEST_ZONE:
        return None
    return (distance > 0) - (distance < 0)


def parse_span(text: str, datatype: str) -> Span | None:
    """The value of a lexical form of one of `SPAN_TYPES`."""
    found = _SPAN.fullmatch(text)
    if not found:
        return None
    part = found.groupdict()
    if not _fits(part, datatype):
        return None
    months = whole(part["years"] or "0") * 12 + whole(part["months"] or "0")
    hours = whole(part["days"] or "0") * 24 + whole(part["hours"] or "0")
    minutes = hours * 60 + whole(part["minutes"] or "0")
    seconds = minutes * 60 + Fraction(Decimal(part["seconds"] or 0))
    return Span(-months, -seconds) if part["sign"] else Span(months, seconds)


def canonical_span(text: str, datatype: str) -> str | None:
    """The one form of a duration; None where the form is not allowed.

    >>> canonical_span("P12MT90M0.50S", "duration")
    'P1YT1H30M0.5S'
    """
    span = parse_span(text, datatype)
    if span is None:
        return None
    years, months = divmod(abs(span.months), 12)
    whole_minutes, seconds = divmod(abs(span.seconds), 60)
    hours, minutes = divmod(whole_minutes, 60)
    days, hours = divmod(hours, 24)
    long = [digits_of(n) + unit for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n]
    short = [digits_of(n) + unit for n, unit in ((hours, "H"), (minutes, "M")) if n]
    if seconds or not (long or short):
        short.append(f"{_decimal(seconds)}S")
    sign = "-" if span.months < 0 or span.seconds < 0 else ""
    return f"{sign}P{''.join(long)}{'T' * bool(short)}{''.join(short)}"


def _decimal(number: Fraction) -> str:
    """A fraction that some power of ten makes whole, in digits."""
    places = 0
    while number.denominator != 1:
        number, places = number * 10, places + 1
    digits = digits_of(number.numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _fits(part: dict[str, str | None], datatype: str) -> bool:
    long = part["years"] or part["months"]
    short = part["days"] or part["hours"] or part["minutes"] or part["seconds"]
    if datatype == "yearMonthDuration":
        return bool(long and not short)
    return bool(long or short) and not (datatype == "dayTimeDuration" and long)


def order_of_spans(left: Span, right: Span) -> int | None:
    """-1, 0 or 1 as left is shorter, equal or longer; None where the months decide."""
    if left == right:
        return 0
    signs = {_sign(_end(left, *start) - _end(right, *start)) for start in _REFERENCE_MONTHS}
    return signs.pop() if len(signs) == 1 and 0 not in signs else None


def _end(span: Span, year: int, month: int) -> Fraction:
    return days_before(year, month + span.months) * DAY + span.seconds


def _sign(distance: Fraction) -> int:
    return (distance > 0) - (distance < 0)
