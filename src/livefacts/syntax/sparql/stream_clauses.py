"""Stream clauses: what C-SPARQL and RSP-QL put around a query, as far as the grammar sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

from livefacts.errors import InputError
from livefacts.language.registration import CountWindow, RangeWindow
from livefacts.model.durations import Duration, read_duration
from livefacts.model.durations import duration as duration_of
from livefacts.syntax.sparql.lexemes import Lexeme, QueryRefusedError
from livefacts.syntax.sparql.query_forms import AskedQuery

ONE_POINT = Duration(1)


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
    window: RangeWindow | CountWindow
    name: Lexeme | None


class RegisteredText(NamedTuple):
    """The parts of a text that registers a query."""

    register: Registering | None
    asked: AskedQuery


class WindowExtent(NamedTuple):
    """A window, and the bracket that ends it."""

    window: RangeWindow | CountWindow
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
        return lambda closed: RangeWindow(range, range, closed)
    return lambda closed: RangeWindow(range, step.amount if step else ONE_POINT, closed)


def by_count(children: list[Any]) -> Any:
    word, triples, *numbers = children
    counts = [_count(number) for number in numbers if number is not None]

    def made(closed: bool) -> CountWindow:
        if closed:
            raise QueryRefusedError(
                "a window of so many triples has no bounds",
                (word or triples).start_pos,
                "leave BOUNDS CLOSED out",
            )
        return CountWindow(*counts)

    return made


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
    if not number.text.isdecimal() or not int(number.text):
        raise QueryRefusedError(
            f"{number.text} is no number of triples", number.start_pos, "write 10"
        )
    return int(number.text)
