"""Time syntax: windows, durations and the directives of time, from parse trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from livefacts.errors import InputError
from livefacts.language.windows import (
    ONE_POINT,
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
    Window,
)
from livefacts.model.durations import Duration, duration, read_duration
from livefacts.syntax.rulelang.constants import Constants
from livefacts.syntax.rulelang.source_text import RuleText

if TYPE_CHECKING:
    from lark import Token, Tree

WINDOW_FORMS = "10 s; 1 h until 10 min ago; range 10 s step 5 s; 3 facts; session 30 s"
LONGEST_COUNT = 18
"""Digits of a number of facts."""


class TimeReader:
    """Reads what one text says about time; its directives are kept here."""

    def __init__(self, text: RuleText, constants: Constants) -> None:
        self._text = text
        self._constants = constants
        self.tick: Duration | None = None
        self.retained: dict[str | NamedNode, Duration] = {}
        self.streams: dict[NamedNode, SteppedWindow] = {}

    def directive(self, tree: Tree[Token]) -> None:
        parts: list[Any] = list(tree.children)
        match tree.data:
            case "tick":
                self._set_tick(parts[1:])
            case "retain":
                self.retained[self._name(parts[1])] = self._duration(parts[2:])
            case _:
                self._declare_stream(parts[1], parts[3])

    def _set_tick(self, parts: list[Token]) -> None:
        tick = self._duration(parts)
        if not tick.amount:
            raise self._text.refuse(parts[0], "a tick is longer than 0", "write @tick 1 s .")
        if not tick.is_by_clock:
            raise self._text.refuse(
                parts[0], "a tick is a length of time", "write it with a unit: @tick 1 s ."
            )
        if self.tick not in (None, tick):
            raise self._text.refuse(parts[0], f"the tick is {self.tick} already")
        self.tick = tick

    def _declare_stream(self, name: Token, node: Tree[Token]) -> None:
        window = self.window(node)
        iri = self._iri(name)
        if not isinstance(window, SteppedWindow) or window.stream is not None:
            raise self._text.refuse(
                name,
                "the facts of a stream hold in a window of the form [range … step …]",
                "write @stream ex:positions in [range 10 s step 1 s] .",
            )
        if self.streams.get(iri, window) != window:
            raise self._text.refuse(
                name, f"the facts of {iri} hold in another window already", "declare a stream once"
            )
        self.streams[iri] = window

    def window(self, node: Any) -> Window:
        """The window in these brackets."""
        parts: list[Token] = list(node.children[1:])
        full = self._drop(parts, "FULL")
        stream = self._after(parts, "ON")
        closed = self._drop(parts, "BOUNDS_CLOSED")
        first = parts[0]
        match first.type:
            case "FACTS_COUNT":
                window: Window = self._fact_window(parts, stream)
            case "SESSION":
                of = self._of(parts)
                window = SessionWindow(self._some(parts[1:], first), of, stream)
            case "RANGE":
                window = self._stepped(parts, stream, closed)
            case "TUMBLING":
                width = self._some(parts[1:], first)
                window = SteppedWindow(width, width, stream, closed)
            case _:
                window = self._by_time(parts, stream)
        self._check(window, first, closed, full)
        if not full or isinstance(window, FactWindow | SessionWindow):
            return window
        return replace(window, full=True)

    def _check(self, window: Window, first: Token, closed: bool, full: bool) -> None:
        """Refuse what makes no sense of this window."""
        if closed and not isinstance(window, SteppedWindow):
            raise self._text.refuse(
                first, "only a window with a range can be closed", "[n] has both its ends already"
            )
        if full and isinstance(window, FactWindow | SessionWindow):
            raise self._text.refuse(
                first,
                "only a window that has a length can be seen in full",
                "leave `full` out, or use a window by time: in [10 s] full",
            )

    def _by_time(self, parts: list[Token], stream: NamedNode | None) -> Window:
        """`[n]`, or `[n until m ago]`."""
        at = next((n for n, t in enumerate(parts) if t.type == "UNTIL"), None)
        if at is None:
            return TimeWindow(self._duration(parts), stream)
        length, until = self._duration(parts[:at]), self._duration(parts[at + 1 : -1])
        if length.is_by_clock == until.is_by_clock and until > length:
            raise self._text.refuse(
                parts[0],
                f"a window that begins {length} ago has passed {until} ago",
                f"the longer time comes first: [{until} until {length} ago]",
            )
        return PastWindow(length, until, stream)

    def _of(self, parts: list[Token]) -> str | NamedNode | None:
        """Take `of` and the name behind it out of the parts."""
        if len(parts) < 2 or parts[-2].type != "OF":
            return None
        name = self._name(parts.pop())
        parts.pop()
        return name

    def _stepped(self, parts: list[Token], stream: NamedNode | None, closed: bool) -> SteppedWindow:
        at = next((n for n, t in enumerate(parts) if t.type == "STEP"), len(parts))
        range = self._some(parts[1:at], parts[0])
        step = self._some(parts[at + 1 :], parts[at]) if at < len(parts) else ONE_POINT
        return SteppedWindow(range, step, stream, closed)

    def _fact_window(self, parts: list[Token], stream: NamedNode | None) -> FactWindow:
        of = self._of(parts)
        digits = parts[0].split()[0]
        if len(digits) > LONGEST_COUNT:
            raise self._text.refuse(
                parts[0], "a window of so many facts is longer than anything that comes"
            )
        count = int(digits)
        if not count:
            raise self._text.refuse(parts[0], "a window of no facts is always empty")
        return FactWindow(count, of, stream)

    def _some(self, parts: list[Token], before: Token) -> Duration:
        length = self._duration(parts)
        if not length.amount:
            raise self._text.refuse(before, f"a {before.lower()} of nothing makes no window")
        return length

    def _duration(self, parts: list[Token]) -> Duration:
        number, *unit = parts
        try:
            if number.type == "ISO_DURATION":
                return read_duration(number)
            return duration(str(number), str(unit[0]) if unit else "")
        except InputError as error:
            raise self._text.refuse(number, error.message, error.hint) from None

    def _after(self, parts: list[Token], word: str) -> NamedNode | None:
        """Take a word and the IRI behind it out of the parts."""
        if len(parts) < 2 or parts[-2].type != word:
            return None
        iri = self._iri(parts.pop())
        parts.pop()
        return iri

    def _drop(self, parts: list[Token], word: str) -> bool:
        if parts and parts[-1].type == word:
            parts.pop()
            return True
        return False

    def _name(self, token: Token) -> str | NamedNode:
        return str(token) if token.type == "NAME" else self._iri(token)

    def _iri(self, token: Token) -> NamedNode:
        iri = self._constants.constant(token)
        assert isinstance(iri, NamedNode), "the grammar lets IRIs stand here"
        return iri
