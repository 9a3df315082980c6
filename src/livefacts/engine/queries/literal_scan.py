"""The literal scan: what common literals stand for, read off their texts without objects.

Strings, integers, decimals, doubles, dates and times in their usual forms are recognised in a
grid of characters, a column at a time.  Any other literal is left to be looked at by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from livefacts.engine.queries.solutions import Flags
from livefacts.engine.queries.value_lines import (
    DECIMAL,
    DOUBLE,
    INTEGER,
    LINE,
    LOCAL_DAY,
    LOCAL_TIME,
    MICROSECONDS,
    POWERS,
    STRING,
    TAGGED,
    UNSEEN,
    ZONED_DAY,
    ZONED_TIME,
)
from livefacts.model.moments import DAY, days_before, days_in_month
from livefacts.model.namespaces import XSD

Bytes = NDArray[np.uint8]
Ends = NDArray[np.int64]
Lines = NDArray[Any]
Grid = NDArray[np.uint8]
"""A row of characters for each form, and zeros behind them."""

WIDTH = 26
"""Longer forms are left out."""
MOST_DIGITS = 15
"""A double holds every number of so many digits."""
PADDING = 64
"""Behind the texts, so that the widest window fits."""
WIDEST_ZONE = 14 * 60
QUOTE, END, ZERO, LETTER_E, PLUS, MINUS, DOT = b'">0e+-.'
DAY_FORM, TIME_FORM = b"dddd-dd-dd", b"dddd-dd-ddTdd:dd:dd"
ZONE_FORM = b"dd:dd"
DIGIT = ord("d")
"""Stands for any digit in a form."""


def scanned(packed: Bytes, ends: Ends) -> Lines:
    """A line for each text of many that lie one after the other; UNSEEN where it is not known."""
    starts = np.concatenate([np.zeros(1, np.int64), ends])[:-1]
    lines = _lines(len(ends))
    last = packed[ends - 1]
    lines["sort"][last == QUOTE] = STRING
    lines["sort"][(last != QUOTE) & (last != END)] = TAGGED
    lines["whole"] = np.where(last == QUOTE, ends - starts - 2, 0)
    padded = np.concatenate([packed, np.zeros(PADDING, np.uint8)])
    for tail, scan in SCANS.items():
        lengths = ends - starts - 1 - len(tail)
        here = np.flatnonzero((last == END) & (lengths > 0) & (lengths <= WIDTH))
        tails = sliding_window_view(padded, len(tail))[ends[here] - len(tail)]
        here = here[(tails == np.frombuffer(tail, np.uint8)).all(axis=1)]
        if len(here):
            grid = sliding_window_view(padded, WIDTH)[starts[here] + 1]
            grid[np.arange(WIDTH) >= lengths[here, None]] = 0
            lines[here] = scan(grid, lengths[here])
    return lines


def _lines(count: int) -> Lines:
    lines = np.zeros(count, LINE)
    lines["sort"] = UNSEEN
    return lines


def _number(grid: Grid, has_dot: bool, has_exponent: bool) -> tuple[Flags, Flags, Flags]:
    """Which forms are numbers, and which of their characters are digits, and digits of fractions."""
    digits, dots = grid - ZERO < 10, grid == DOT
    signs = (grid == PLUS) | (grid == MINUS)
    exponents = (grid | 0x20) == LETTER_E
    is_behind = np.cumsum(exponents, axis=1) > 0
    mantissas = digits & ~is_behind
    valid = (digits | dots | signs | exponents | (grid == 0)).all(axis=1) & mantissas.any(axis=1)
    valid &= ~(signs[:, 1:] & ~exponents[:, :-1]).any(axis=1)
    valid &= (dots.sum(axis=1) <= has_dot) & ~(dots & is_behind).any(axis=1)
    powers = exponents.sum(axis=1)
    valid &= (powers <= has_exponent) & ((powers == 0) | (digits & is_behind).any(axis=1))
    return valid, mantissas, mantissas & (np.cumsum(dots, axis=1) > 0)


def _value(grid: Grid, digits: Flags) -> NDArray[np.int64]:
    """The numbers that some of the characters write, one digit after the other."""
    found = np.zeros(len(grid), np.int64)
    for column in range(grid.shape[1]):
        here = digits[:, column]
        found = np.where(here, found * 10 + (grid[:, column] - ZERO), found)
    return found


def _exact_numbers(grid: Grid, sort: int) -> Lines:
    lines = _lines(len(grid))
    valid, digits, fractions = _number(grid, sort == DECIMAL, has_exponent=False)
    valid &= digits.sum(axis=1) <= MOST_DIGITS
    wholes = np.where(grid[:, 0] == MINUS, -1, 1) * _value(grid, digits)
    scales = np.minimum(fractions.sum(axis=1), MOST_DIGITS)
    lines["sort"][valid] = sort
    for name, column in (("scale", scales), ("whole", wholes), ("real", wholes / POWERS[scales])):
        lines[name][valid] = column[valid]
    return lines


def _integers(grid: Grid, lengths: Ends) -> Lines:
    return _exact_numbers(grid, INTEGER)


def _decimals(grid: Grid, lengths: Ends) -> Lines:
    return _exact_numbers(grid, DECIMAL)


def _doubles(grid: Grid, lengths: Ends) -> Lines:
    lines = _lines(len(grid))
    valid, _, _ = _number(grid, has_dot=True, has_exponent=True)
    here = np.flatnonzero(valid)
    reals = grid[here].view(f"S{WIDTH}").reshape(-1).astype(np.float64)
    finite = np.isfinite(reals)
    lines["sort"][here[finite]] = DOUBLE
    lines["real"][here[finite]] = reals[finite]
    return lines


def _fits(grid: Grid, form: bytes, first: int = 0) -> Flags:
    """Which rows have a form at a place."""
    here = grid[:, first : first + len(form)]
    wanted = np.frombuffer(form, np.uint8)
    fits: Flags = np.logical_and.reduce(
        (here == wanted) | ((wanted == DIGIT) & (here - ZERO < 10)), 1
    )
    return fits


def _field(grid: Grid, first: int, last: int) -> NDArray[np.int64]:
    part = grid[:, first:last]
    return _value(part, np.ones(part.shape, np.bool_))


def _days(grid: Grid) -> tuple[NDArray[np.int64], Flags]:
    """The seconds of days, and where there are such days."""
    year, month, day = (_field(grid, *span) for span in ((0, 4), (5, 7), (8, 10)))
    valid = _fits(grid, DAY_FORM) & (year > 0) & (month > 0) & (month <= 12) & (day > 0)
    # The calendar is computed with columns as it is with numbers.
    calendar: Any = (days_before, days_in_month)
    before, most = (count(year, month) for count in calendar)
    return (before + day - 1) * DAY, valid & (day <= most)


def _dates(grid: Grid, lengths: Ends) -> Lines:
    seconds, valid = _days(grid)
    ends, zoned = len(DAY_FORM), _fits(grid, b"Z", len(DAY_FORM))
    valid &= (lengths == ends) | ((lengths == ends + 1) & zoned)
    return _moments(seconds, valid, np.where(zoned, ZONED_DAY, LOCAL_DAY))


def _times(grid: Grid, lengths: Ends) -> Lines:
    seconds, valid = _days(grid)
    hour, minute, second = (_field(grid, *span) for span in ((11, 13), (14, 16), (17, 19)))
    valid &= _fits(grid, TIME_FORM) & (hour < 24) & (minute < 60) & (second < 60)
    ends = len(TIME_FORM)
    zulu = (lengths == ends + 1) & _fits(grid, b"Z", ends)
    sign = grid[:, ends]
    zone = _field(grid, ends + 1, ends + 3) * 60 + _field(grid, ends + 4, ends + 6)
    away = (lengths == ends + 6) & _fits(grid, ZONE_FORM, ends + 1) & (zone <= WIDEST_ZONE)
    away &= ((sign == PLUS) | (sign == MINUS)) & (_field(grid, ends + 4, ends + 6) < 60)
    seconds += hour * 3600 + minute * 60 + second
    seconds -= np.where(away, np.where(sign == MINUS, -60, 60) * zone, 0)
    valid &= (lengths == ends) | zulu | away
    return _moments(seconds, valid, np.where(zulu | away, ZONED_TIME, LOCAL_TIME))


def _moments(seconds: NDArray[np.int64], valid: Flags, sorts: NDArray[np.int64]) -> Lines:
    lines = _lines(len(valid))
    lines["sort"][valid] = sorts[valid]
    lines["whole"][valid] = seconds[valid] * MICROSECONDS
    return lines


SCANS: dict[bytes, Callable[[Grid, Ends], Lines]] = {
    f'"^^<{XSD}{name}>'.encode(): scan
    for name, scan in (
        ("integer", _integers),
        ("decimal", _decimals),
        ("double", _doubles),
        ("date", _dates),
        ("dateTime", _times),
    )
}
