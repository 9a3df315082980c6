"""Time points: whole numbers, and the dates that they stand for.

A moment belongs to the time point that it falls into: its distance from 1970-01-01 in
ticks, rounded down.  A moment without a zone is in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from pyoxigraph import Literal

from livefacts.errors import InputError
from livefacts.model.durations import SECOND, Duration
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import digits_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_POINTS = 1 << 62
"""Time points lie so near to 0 that windows before and behind them have room in 64 bits."""
_NUMBER = re.compile(r"-?[0-9]+")
_END_OF_DAY = re.compile(r"([0-9-]+)T24:00:00(?:\.0+)?(|Z|[+-][0-9]{2}:[0-9]{2})")
DATES = (XSD + "dateTime", XSD + "dateTimeStamp")


def time_point(value: Any, tick: Duration | None = None) -> int:
    """The time point of a whole number, a datetime, or a literal or text of one of them.

    >>> time_point(datetime(1970, 1, 1, 0, 1, tzinfo=UTC))
    60
    """
    point = value if type(value) is int else _point_of(value, tick)
    if not -MOST_POINTS < point < MOST_POINTS:
        raise InputError(
            f"{digits_of(point)[:40]} is not a time point that can be kept",
            hint="time points lie between -2^62 and 2^62: choose a longer tick",
        )
    return point


def _point_of(value: Any, tick: Duration | None) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        nanoseconds = (aware - EPOCH) // MICROSECOND * 1000
        return nanoseconds // (tick or SECOND).amount
    if isinstance(value, Literal):
        return _of_literal(value, tick)
    if isinstance(value, str):
        return _of_text(value, tick)
    raise _refusal(value)


def _of_text(text: str, tick: Duration | None) -> int:
    try:
        return int(text) if _NUMBER.fullmatch(text) else time_point(_date(text), tick)
    except (ValueError, OverflowError):
        raise _refusal(text) from None


def _of_literal(literal: Literal, tick: Duration | None) -> int:
    try:
        if literal.datatype.value in DATES:
            return time_point(_date(literal.value), tick)
        if literal.datatype.value == XSD + "integer":
            return int(literal.value)
    except (ValueError, OverflowError):
        pass
    raise _refusal(literal)


def _date(text: str) -> datetime:
    """A moment as XML Schema writes it: 24:00:00 is the first one of the next day."""
    at_its_end = _END_OF_DAY.fullmatch(text)
    if at_its_end is None:
        return datetime.fromisoformat(text)
    day, zone = at_its_end.groups()
    return datetime.fromisoformat(f"{day}T00:00:00{zone}") + timedelta(days=1)


def _refusal(value: Any) -> InputError:
    return InputError(
        f"{value} is not a time point",
        hint="give a whole number, a datetime, or a text such as 2026-01-31T12:00:00Z",
    )


def written_like(given: Any, tick: Duration | None) -> Callable[[int], str]:
    """How to write time points for who gave this one: as dates, or as numbers.

    >>> written_like("1970-01-01T00:00:00Z", None)(60), written_like(7, None)(60)
    ('1970-01-01T00:01:00Z', '60')
    """
    if str(given.value if isinstance(given, Literal) else given).lstrip("-").isdecimal():
        return str
    return lambda point: moment(point, tick).isoformat().replace("+00:00", "Z")


def moment(point: int, tick: Duration | None = None) -> datetime:
    """The moment at which a time point begins.

    >>> moment(60).isoformat()
    '1970-01-01T00:01:00+00:00'
    """
    return EPOCH + MICROSECOND * (point * (tick or SECOND).amount // 1000)
