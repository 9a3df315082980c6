"""Durations: lengths of time, in time points or by the clock.

A bare number counts time points.  A number with a unit, or a duration of XML Schema
(`PT10S`), has a length that becomes a number of time points once it is known how long
one of them is: the tick.  Months and years have no fixed length and are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from math import gcd

from livefacts.errors import InputError

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
LONGEST = 1 << 60
"""Time points of a window, at most."""
WRITTEN = {"m": "min"}
NAMES = {
    "nanosecond": "ns",
    "microsecond": "us",
    "µs": "us",
    "millisecond": "ms",
    "sec": "s",
    "second": "s",
    "min": "m",
    "minute": "m",
    "hour": "h",
    "day": "d",
}
_ISO = re.compile(
    r"P(?=[0-9T])(?:(?P<d>[0-9]+)D)?"
    r"(?:T(?=[0-9])(?:(?P<h>[0-9]+)H)?(?:(?P<m>[0-9]+)M)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)S)?)?"
)
_CALENDAR = re.compile(r"P[0-9DTHMSYW.]+")


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """So many time points, or so many nanoseconds."""

    amount: int
    is_by_clock: bool = False

    def points(self, tick: Duration | None) -> int:
        """How many time points this is, when one of them lasts a tick.

        >>> read_duration("1 min").points(read_duration("1 s"))
        60
        """
        if not self.is_by_clock:
            return _checked(self.amount)
        length = (tick or SECOND).amount
        whole, rest = divmod(self.amount, length)
        if rest:
            fitting = Duration(gcd(self.amount, length), is_by_clock=True)
            raise InputError(
                f"{self} is not a whole number of ticks of {tick or SECOND}",
                hint=f"choose a shorter tick: @tick {fitting} . in the rules, or tick= "
                f"(--tick '{fitting}')",
            )
        return _checked(whole)

    def __str__(self) -> str:
        if not self.is_by_clock:
            return str(self.amount)
        unit = max(
            (u for u, n in NANOSECONDS.items() if self.amount % n == 0), key=NANOSECONDS.__getitem__
        )
        unit = unit if self.amount else "s"
        return f"{self.amount // NANOSECONDS[unit]} {WRITTEN.get(unit, unit)}"


def _checked(points: int) -> int:
    if points > LONGEST:
        raise InputError(
            f"{points} is longer than anything can be",
            hint="windows and steps have at most 2^60 time points, or facts",
        )
    return points


LONGEST_AMOUNT = 40
"""Digits of a length of time."""
SECOND = Duration(NANOSECONDS["s"], is_by_clock=True)


def duration(amount: str, unit: str = "") -> Duration:
    """The duration of a number and a unit; without a unit, in time points.

    >>> str(duration("1.5", "s")), str(duration("3"))
    ('1500 ms', '3')
    """
    if len(amount) > LONGEST_AMOUNT:
        raise InputError(f"{amount[:20]}… is longer than any time", hint="choose a longer unit")
    if not unit:
        if not amount.isdecimal():
            raise InputError(
                f"{amount} is not a whole number of time points",
                hint=f"write a unit behind it: {amount} s",
            )
        return Duration(int(amount))
    known = unit_of(unit)
    if known is None:
        raise InputError(
            f"{unit} is not a unit of time",
            hint=f"there are {', '.join(WRITTEN.get(each, each) for each in NANOSECONDS)}",
        )
    nanoseconds = Decimal(amount) * NANOSECONDS[known]
    if nanoseconds != int(nanoseconds):
        raise InputError(f"{amount} {unit} is shorter than a nanosecond somewhere")
    return Duration(int(nanoseconds), is_by_clock=True)


def read_tick(tick: str | Duration | None) -> Duration | None:
    """How long a time point lasts: a duration by the clock, longer than nothing."""
    known = read_duration(tick) if isinstance(tick, str) else tick
    if known is None or (isinstance(known, Duration) and known.is_by_clock and known.amount):
        return known
    raise InputError(
        f"{tick} is not how long a time point lasts",
        hint="it is a length of time, longer than 0: 1 s, 1 min or PT10S",
    )


def unit_of(word: str) -> str | None:
    """The unit that a word stands for: `s`, `sec`, `seconds`, …"""
    word = word.lower()
    singular = word.removesuffix("s") if len(word) > 2 else word
    if word in NANOSECONDS:
        return word
    return NAMES.get(word) or NAMES.get(singular)


def read_duration(text: str) -> Duration:
    """A duration as people write it: `10`, `10s`, `1 min`, `PT10S`.

    >>> str(read_duration("PT1M30S")), str(read_duration("500ms"))
    ('90 s', '500 ms')
    """
    text = text.strip()
    iso = _ISO.fullmatch(text.upper())
    if iso is not None:
        parts = [duration(value, unit) for unit, value in iso.groupdict().items() if value]
        return Duration(sum(part.amount for part in parts), is_by_clock=True)
    if _CALENDAR.fullmatch(text.upper()):
        raise InputError(
            f"{text} has no fixed length", hint="months and years differ: write days or hours"
        )
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([^\W\d]*)", text)
    if found is None:
        raise InputError(
            f"{text or 'nothing'} is not a duration", hint="write 10 s, 1 min or PT10S"
        )
    return duration(found[1], found[2])
