"""Statements: a text of rules cut into pieces that are parsed one by one.

What cannot be parsed is refused with its place, and the next statement is read as if nothing had
happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from livefacts.errors import Place
from livefacts.model.work_bounds import look

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

SHACL, N3, JENA, DATALOG = "shacl", "n3", "jena", "datalog"
TOKEN = re.compile(
    r"""
    (?P<space>\s+|\#[^\n]*)
  | (?P<string>\"{3}(?:[^"\\]|\\.|"(?!""))*\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}
      |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<iri><[^<>"{}|^`\\\s]*>)
  | (?P<name>(?:[\w-]|\.(?=[\w:-]))*:(?:[\w:%-]|\.(?=[\w:%-]))*)
  | (?P<number>\d+\.\d+(?:[eE][+-]?\d+)?)
  | (?P<word>[?$@]?[\w-]+)
  | (?P<open>[\[({])
  | (?P<close>[\])}])
  | (?P<dot>\.)
  | (?P<sign><=|>=|=>|->|<-|:-|:=|\^\^|.)
    """,
    re.VERBOSE | re.DOTALL,
)
DOTLESS = re.compile(r"@include\b|(?:prefix|base)\s", re.IGNORECASE)
"""How statements begin that end with an IRI, whether a dot follows or not."""
BEGINS = frozenset({"rule", "if", "data", "prefix", "base", "version", "imports"})
"""The words with which a statement of SHACL's language begins."""
DEEPEST = 120
"""So deep may a statement be nested: who makes a rule of it calls itself so often."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A statement that could not be said in the rule language, and why."""

    place: Place
    reason: str

    def __str__(self) -> str:
        line = f":{self.place.line}" if self.place.line else ""
        return f"{self.place.file}{line}: {self.reason}"


class UnsayableError(Exception):
    """What a statement says has no counterpart; the message says what and why."""


@dataclass(slots=True)
class ForeignText:
    """A text with its lines, and what of it was refused."""

    text: str
    file: str
    language: str
    refused: list[Refusal] = field(default_factory=list)

    def statements(self) -> Iterator[tuple[Place, Tree[Token]]]:
        """The statements that can be parsed, each with the place where it begins."""
        lines = self.text.split("\n")
        for start, end in spans(self.text, self.language):
            look()
            line = self.text.count("\n", 0, start) + 1
            column = start - (self.text.rfind("\n", 0, start) + 1) + 1
            place = Place(self.file, line, column, lines[line - 1].rstrip("\r"))
            tree = self._parsed(self.text[start:end], place)
            if tree is not None and _is_deep(tree):
                self.refuse(place, "it is nested too deeply")
            elif tree is not None:
                yield place, tree

    def _parsed(self, piece: str, place: Place) -> Tree[Token] | None:
        from lark import UnexpectedInput

        try:
            return _parser().parse(piece, start=self.language)
        except UnexpectedInput as error:
            line, column = max(error.line, 1), max(error.column, 1)
            if error.line < 0 or not piece[error.pos_in_stream or 0 :].strip():
                self.refused.append(Refusal(place, "the statement does not end as it should"))
                return None
            column = column + place.column - 1 if line == 1 else column
            near = piece.split("\n")[line - 1][max(error.column - 1, 0) :][:30]
            shown = self.text.split("\n")[place.line + line - 2]
            where = Place(self.file, place.line + line - 1, column, shown)
            self.refused.append(Refusal(where, f"this could not be read: {near.rstrip()}"))
            return None

    def refuse(self, place: Place, reason: str) -> None:
        """Note a statement that cannot be taken."""
        self.refused.append(Refusal(place, reason))


def _is_deep(tree: Tree[Token]) -> bool:
    level: list[Tree[Token] | Token] = [tree]
    for _ in range(DEEPEST):
        level = [part for node in level for part in getattr(node, "children", ())]
    return bool(level)


def spans(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Where each statement begins and ends."""
    depth, start, end, before = 0, -1, 0, ""
    for found in TOKEN.finditer(text):
        kind, token = found.lastgroup, found[0]
        if kind == "space":
            continue
        begins = language == SHACL and depth == 0 and token.lower() in BEGINS
        if begins and start >= 0 and not (token.lower() == "data" and before == "where"):
            yield start, end
            start = -1
        if start < 0:
            start = found.start()
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        end, before = found.end(), token.lower()
        if kind == "dot" and start == found.start():
            start = -1  # the dot behind a statement that has ended
            continue
        ends = kind == "dot" or (language == JENA and kind == "close" and token == "]")
        ends = ends and depth == 0 and language != SHACL
        if ends or (kind == "iri" and DOTLESS.match(text, start)):
            yield start, end
            start = -1
    if start >= 0:
        yield start, end


def without_comments(text: str, language: str) -> str:
    """The text with Jena's second kind of comment as blanks, so that places stay what they are."""
    if language != JENA or "//" not in text:
        return text
    parts, last = [], 0
    for found in TOKEN.finditer(text):
        if found[0] == "/" and found.start() >= last and text.startswith("//", found.start()):
            end = text.find("\n", found.start())
            end = len(text) if end < 0 else end
            parts += [text[last : found.start()], " " * (end - found.start())]
            last = end
    return "".join([*parts, text[last:]])


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark.open(
        "notation.lark",
        rel_to=__file__,
        parser="lalr",
        start=[SHACL, N3, JENA, DATALOG],
        maybe_placeholders=False,
    )
