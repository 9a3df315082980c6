"""Source text of rules: its lines, the pieces in which it is read, and places in it.

Most of a long text is plain facts, `isIn(a, b) .`, one to a line.  Those are read by a
regular expression, over ten times as fast as by the grammar; everything between them goes
to the grammar in blocks of whole statements.  A string never goes on in the next line,
so a line that ends with a dot and has no `#` in it ends a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from livefacts.errors import Place, RuleError, RuleSyntaxError
from livefacts.language.formula import RESERVED
from livefacts.syntax.input.files import utf8

if TYPE_CHECKING:
    from lark import Token

BLOCK = 1000
"""About how many lines the grammar gets at a time; it keeps a tree of all of them."""

NAME = rf"(?!(?:{'|'.join(sorted(RESERVED))})\b)[^\W\d]\w*"
ARGUMENT = rf"(?:{NAME}|-?[0-9]+)"
PLAIN_FACT = re.compile(rf"\s*({NAME})\(({ARGUMENT}(?:\s*,\s*{ARGUMENT})*)\)\s*\.\s*")


class MistakeError(Exception):
    """An error found where the text is not at hand; `RuleText.refuse` gives it a place."""

    def __init__(self, token: Token, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.token = token
        self.message = message
        self.hint = hint


class PlainFact(NamedTuple):
    """`name(a, 5, …) .` alone on a line, with symbols and integers only."""

    line: int
    name: str
    arguments: tuple[str, ...]


class Block(NamedTuple):
    """Whole statements, from this line on."""

    line: int
    text: str


@dataclass(slots=True)
class RuleText:
    """A text of rules; tokens count their lines from the block that is being read."""

    file: str
    lines: list[str]
    before_block: int = 0

    def at(self, line: int, column: int) -> Place:
        """The place in this line and column of the text."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Place(self.file, line, column, text)

    def in_block(self, line: int, column: int) -> Place:
        """The place in this line and column of the block."""
        return self.at(self.before_block + line, column)

    def place(self, token: Token) -> Place:
        return self.in_block(token.line or 1, token.column or 1)

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
        text = place.text[: place.column - 1]
        for number in range(place.line, 0, -1):
            written = text.split(" #")[0].rstrip()
            if written and not written.startswith("#"):
                return self.at(number, len(written) + 1)
            text = self.lines[number - 2]
        return self.at(1, 1)

    def last_before(self, place: Place) -> str:
        """That last character itself."""
        end = self.end_before(place)
        return end.text[end.column - 2 : end.column - 1]


def rule_text(text: str, file: str) -> RuleText:
    utf8(text)
    lines = text.removeprefix("\ufeff").split("\n")
    return RuleText(file, [line.rstrip("\r") for line in lines])


def pieces(lines: Sequence[str]) -> Iterator[PlainFact | Block]:
    """The text in pieces, in order; every statement is in one of them."""
    block: list[str] = []
    ends_statement = True
    for number, line in enumerate(lines, 1):
        fact = PLAIN_FACT.fullmatch(line) if ends_statement else None
        if block and ends_statement and (fact or len(block) >= BLOCK):
            yield Block(number - len(block), "\n".join(block))
            block = []
        if fact:
            yield PlainFact(number, fact[1], tuple(map(str.strip, fact[2].split(","))))
        else:
            block.append(line)
            ends_statement = _ends_statement(line, ends_statement)
    if block:
        yield Block(len(lines) - len(block) + 1, "\n".join(block))


def _ends_statement(line: str, before: bool) -> bool:
    """Whether no statement is open behind this line; in doubt, one is."""
    written = line.strip()
    if not written or written[0] == "#":
        return before
    return written[-1] == "." and "#" not in written
