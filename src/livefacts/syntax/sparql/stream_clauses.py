"""Stream clauses: what C-SPARQL and RSP-QL put around a query, as far as the grammar sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

from livefacts.errors import InputError
from livefacts.language.windows import (
    ONE_POINT,
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    Window,
)
from livefacts.model.durations import Duration, read_duration
from livefacts.model.durations import duration as duration_of
from livefacts.syntax.sparql.lexemes import Lexeme, QueryRefusedError
from livefacts.syntax.sparql.query_forms import AskedQuery

REGISTRATION_WORDS = frozenset(
    [
        *("REGISTER", "QUERY", "STREAM", "RSTREAM", "ISTREAM", "DSTREAM", "COMPUTE", "EVERY"),
        *("WINDOW", "ON", "RANGE", "STEP", "TUMBLING", "TRIPLES", "BOUNDS", "CLOSED"),
        "SESSION",
    ]
)
"""Words that C-SPARQL and RSP-QL add to SPARQL."""
WINDOW_FORMS = (
    "windows are [RANGE 10s STEP 1s], [RANGE 10s TUMBLING], [TRIPLES 10], "
    "[SESSION 30s] and [FROM NOW-PT1H TO NOW-PT10M], "
    "with BOUNDS CLOSED before ] if both ends belong to it"
)
WINDOW_HINTS = {
    "[": WINDOW_FORMS,
    "RANGE": f"a length of time follows, such as 10s, 1 min or PT10S; {WINDOW_FORMS}",
    "SESSION": "a length of time follows, after which a session has ended: [SESSION 30s]",
    "STEP": "a length of time follows, such as 1s, 1 min or PT10S",
    "TRIPLES": "a number of triples follows: [TRIPLES 10]",
}
"""What should follow a word, where something else does."""
LONGEST_COUNT = 40
"""Digits of a number of triples; whether a window may be so long is asked later."""


class Length(NamedTuple):
    """A length of time, and the lexeme that it begins with."""

    amount: Duration
    first: Lexeme


class Registering(NamedTuple):
    """REGISTER, what is registered, its name, and how often it is computed."""

    word: Lexeme
    what: Lexeme
    name: Lexeme
    every: Length | None


class StreamClause(NamedTuple):
    """FROM STREAM, or FROM NAMED WINDOW: from its first word to the bracket that ends it."""

    word: Lexeme
    last: Lexeme
    stream: Lexeme
    window: Window
    name: Lexeme | None


class RegisteredText(NamedTuple):
    """The parts of a text that registers a query."""

    register: Registering | None
    asked: AskedQuery


class WindowExtent(NamedTuple):
    """A window, and the bracket that ends it."""

    window: Window
    last: Lexeme


def registration(children: list[Any]) -> RegisteredText:
    return RegisteredText(*children)


def register(children: list[Any]) -> Registering:
    return Registering(*children)


def every(children: list[Any]) -> Length:
    word, length = children
    return _some(word, length)


def stream(children: list[Any]) -> StreamClause:
    word, named, name, (window, last) = children
    return StreamClause(word, last, name, window, name if named is not None else None)


def named_window(children: list[Any]) -> StreamClause:
    word, name, stream, (window, last) = children
    return StreamClause(word, last, stream, window, name)


def window(children: list[Any]) -> WindowExtent:
    make, bounds, last = children
    return WindowExtent(make(bounds is not None), last)


def by_time(children: list[Any]) -> Any:
    word, length, step = children
    range = _some(word, length).amount
    if isinstance(step, Lexeme):
        return lambda closed: SteppedWindow(range, range, closed=closed)
    length = step.amount if step else ONE_POINT
    return lambda closed: SteppedWindow(range, length, closed=closed)


def by_count(children: list[Any]) -> Any:
    word, triples, *numbers = children
    counts = [_count(number) for number in numbers if number is not None]

    def made(closed: bool) -> FactWindow:
        if closed:
            raise QueryRefusedError(
                "a window of so many triples has no bounds",
                (word or triples).start_pos,
                "leave BOUNDS CLOSED out",
            )
        count, *step = counts
        return FactWindow(count, step=step[0] if step else 1)

    return made


def by_session(children: list[Any]) -> Any:
    word, length = children
    window = SessionWindow(_some(word, length).amount)
    return lambda closed: _unbounded(window, word) if closed else window


def by_past(children: list[Any]) -> Any:
    _, now, older, again, newer, step = children
    for name in (now, again):
        if name.text.upper() != "NOW":
            said = f"{name.text} is not expected here"
            raise QueryRefusedError(said, name.start_pos, "write [FROM NOW-PT1H TO NOW-PT10M]")
    length = older.amount
    until = newer.amount if newer else Duration(0, length.is_by_clock)
    if length.is_by_clock == until.is_by_clock and until >= length:
        raise QueryRefusedError(
            f"a window from {length} ago has passed {until} ago",
            older.first.start_pos,
            "the longer time comes first: [FROM NOW-PT1H TO NOW-PT10M]",
        )
    moved = step.amount if step else ONE_POINT
    return lambda closed: PastWindow(length, until, step=moved, closed=closed)


def ago(children: list[Any]) -> Length:
    first, length = children
    if isinstance(length, Length):
        return length
    if not first.text.startswith("-"):
        said, hint = f"{first.text} is not expected here", "write NOW-10, or NOW-PT10M"
        raise QueryRefusedError(said, first.start_pos, hint)
    unit = "" if length is None else length.text
    try:
        return Length(duration_of(first.text[1:], unit), first)
    except InputError as error:
        raise QueryRefusedError(error.message, first.start_pos, error.hint) from None


def _unbounded(window: Window, word: Lexeme) -> Window:
    hint = "leave BOUNDS CLOSED out"
    raise QueryRefusedError(f"[{window}] has no bounds", word.start_pos, hint)


def step(children: list[Any]) -> Length:
    word, length = children
    return _some(word, length)


def duration(children: list[Any]) -> Length:
    first, *others = children
    texts = [each.text for each in others if each is not None]
    try:
        if first.type == "WORD":
            return Length(read_duration("".join([first.text, *texts])), first)
        return Length(duration_of(first.text, "".join(texts)), first)
    except InputError as error:
        raise QueryRefusedError(error.message, first.start_pos, error.hint) from None


def _some(word: Lexeme, length: Length) -> Length:
    if not length.amount.amount:
        raise QueryRefusedError(
            f"{word.text} needs a length of time",
            length.first.start_pos,
            f"write {word.text} 10s, or 1 min, or PT10S",
        )
    return length


def _count(number: Lexeme) -> int:
    digits = number.text.lstrip("0")
    if not digits.isdecimal() or len(digits) > LONGEST_COUNT:
        raise QueryRefusedError(
            f"{number.text[:20]} is no number of triples", number.start_pos, "write 10"
        )
    return int(digits)
