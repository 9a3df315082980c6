"""Rule texts: places in them, and errors that point there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from livefacts.errors import Place, RuleError, RuleSyntaxError

if TYPE_CHECKING:
    from lark import Token


class MistakeError(Exception):
    """An error found where the text is not at hand; `RuleText.refuse` gives it a place."""

    def __init__(self, token: Token, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.token = token
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class RuleText:
    """The lines of a text of rules, and the name of the file they are from."""

    file: str
    lines: list[str]

    def at(self, line: int, column: int) -> Place:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Place(self.file, line, column, text)

    def place(self, token: Token) -> Place:
        return self.at(token.line or 1, token.column or 1)

    def refuse(
        self, token: Token, message: str, hint: str = "", kind: type[RuleError] = RuleSyntaxError
    ) -> RuleError:
        """The error that points at this token."""
        return kind(message, place=self.place(token), hint=hint)

    def end(self) -> Place:
        """Just behind the last character that is neither space nor comment."""
        return self.end_before(Place(self.file, len(self.lines) + 1, 1))

    def end_before(self, place: Place) -> Place:
        """Just behind the last such character before this place."""
        lines = [*self.lines[: place.line - 1], place.text[: place.column - 1]]
        for number in range(len(lines), 0, -1):
            written = lines[number - 1].split(" #")[0].rstrip()
            if written and not written.startswith("#"):
                return self.at(number, len(written) + 1)
        return self.at(1, 1)

    def last_before(self, place: Place) -> str:
        """That last character itself."""
        end = self.end_before(place)
        return end.text[end.column - 2 : end.column - 1]


def rule_text(text: str, file: str) -> RuleText:
    return RuleText(file, [line.rstrip("\r") for line in text.split("\n")])
