"""Errors: every exception a caller can catch, and the place in a text that it points at.

An error says what is wrong, where, and what to do about it:

    ?z is in the head but in no positive body atom
    alarms.rules:12:5
        hot(?z) :- reading(?s, ?v), ?v > 90 .
            ^
    hint: bind ?z in the body, or drop it from the head
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LONGEST_SHOWN = 200
"""Characters of a line that an error shows, around its place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text: file name, line and column from 1, and the line itself."""

    file: str
    line: int
    column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def shown(self) -> str:
        """The position, the line and a caret under the column."""
        if not self.text:
            return str(self)
        first = max(0, self.column - LONGEST_SHOWN // 2) if len(self.text) > LONGEST_SHOWN else 0
        text = self.text[first : first + LONGEST_SHOWN]
        before = "".join("\t" if c == "\t" else " " for c in text[: self.column - 1 - first])
        return f"{self}\n    {text}\n    {before}^"


class LivefactsError(Exception):
    """The root of everything livefacts raises on purpose."""

    def __init__(self, message: str, *, place: Place | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.place is not None and (self.place.file or self.place.line):
            parts.append(self.place.shown())
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class RuleError(LivefactsError):
    """A rule text that cannot be accepted; the subclasses say why."""


class RuleSyntaxError(RuleError):
    """The text is not in the rule language."""


class UnknownPrefixError(RuleError):
    """A prefixed name whose prefix was never declared."""


class ArityError(RuleError):
    """A predicate that is used with different numbers of arguments."""


class UnsafeVariableError(RuleError):
    """A variable that no positive body atom binds."""


class UnstratifiedError(RuleError):
    """A predicate that depends on its own negation or aggregate."""


class UnboundedArithmeticError(RuleError):
    """Arithmetic in recursion that could go on forever."""


class InputError(LivefactsError):
    """A file or text of facts that cannot be read."""


class MapError(InputError):
    """A text that does not say which facts JSON stands for."""


class OptionError(InputError, ValueError):
    """An option that cannot have this value."""


class ConflictError(LivefactsError):
    """Someone else is writing, or has written, to the same knowledge base."""


class StoreError(LivefactsError):
    """A remote store that is away, or does not let this be done."""


class ForgottenError(LivefactsError):
    """History that a folder no longer keeps."""


class DamageError(LivefactsError):
    """A file of a knowledge base that is not as it was written."""


class StoppedError(LivefactsError):
    """A knowledge base that takes no more changes: the disk failed, or it was closed."""


class QueryError(LivefactsError):
    """A query that cannot be parsed or is refused."""


class NotIncrementalError(QueryError):
    """A query that cannot be followed change by change."""


class LimitError(LivefactsError):
    """A change that would pass a limit that the caller has set; it was undone."""


class InterruptAfterChange(KeyboardInterrupt):
    """Ctrl-C that came when a change was decided already: the change was made.

    `delta` is what the call would have returned.
    """

    def __init__(self, delta: Any) -> None:
        super().__init__("the change was made; `delta` of this exception is what it did")
        self.delta = delta


class LivefactsWarning(UserWarning):
    """Something that is done, but perhaps not as it was meant."""


class ViolationError(LivefactsError):
    """A change that would violate a constraint; it was undone."""
