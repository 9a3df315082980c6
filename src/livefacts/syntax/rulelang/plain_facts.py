"""Plain facts: texts of `reading(s1, 95) . hot(kitchen) .` without the grammar.

Streams and updates bring facts as text, thousands a second, and nearly all of them are names
with names, numbers, plain strings and IRIs in brackets.  Those are read by one regular
expression, about ten times as fast as by the grammar.  Any other text is left to the grammar,
which also knows what to say of mistakes: what is read here means there the same.
"""

from __future__ import annotations

import re

from pyoxigraph import Literal, NamedNode

from livefacts.language.formula import RESERVED
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.syntax.rulelang.constants import DATATYPES, SCHEME
from livefacts.syntax.rulelang.source_text import NAME

SPACE = r"[ \t\r\n\f]*"
DOUBLE = r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"
DECIMAL = r"-?[0-9]*\.[0-9]+"
INTEGER = r"-?[0-9]+"
STRING = r'"[^"\\\n\r]*"'
IRI = r"<[^<>\"{}|^`\\\x00-\x20]+>"
ARGUMENT = rf"(?:{NAME}|true\b|false\b|{DOUBLE}|{DECIMAL}|{INTEGER}|{STRING}|{IRI})"
FACT = re.compile(
    rf"{SPACE}({NAME}){SPACE}(?:\({SPACE}({ARGUMENT}(?:{SPACE},{SPACE}{ARGUMENT})*){SPACE}\))?"
    rf"{SPACE}\.{SPACE}"
)
ARGUMENTS = re.compile(ARGUMENT)
MOST_KNOWN = 1 << 16
"""So many terms are remembered by their texts."""


class PlainFacts:
    """Reads texts of plain facts, one after the other; terms that come again are the same."""

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}

    def read(self, text: str) -> list[Fact] | None:
        """The facts of a text; None if it may have anything else in it.

        >>> PlainFacts().read("hot(kitchen) . reading(s1, 9.5) .")
        [hot(kitchen), reading(s1, 9.5)]
        >>> PlainFacts().read("hot(?x) :- warm(?x) .") is None
        True
        """
        facts, end = [], 0
        arities: dict[str, int] = {}
        try:
            for found in iter(FACT.scanner(text).match, None):  # type: ignore[attr-defined]
                end = found.end()
                name, written = found.groups()
                arguments = () if written is None else self._arguments(written)
                if arities.setdefault(name, len(arguments)) != len(arguments):
                    return None
                facts.append(Fact(name, arguments))
        except ValueError:
            return None
        return facts if facts and end == len(text) else None

    def _arguments(self, written: str) -> tuple[Term, ...]:
        is_simple = '"' not in written and "<" not in written
        texts = written.split(",") if is_simple else ARGUMENTS.findall(written)
        known = self._terms
        return tuple([known.get(text) or self._term(text) for text in texts])

    def _term(self, text: str) -> Term:
        if len(self._terms) >= MOST_KNOWN:
            self._terms.clear()
        term = self._terms[text] = made(text.strip())
        return term


def made(text: str) -> Term:
    """The term that a plain argument stands for."""
    if text.isidentifier() and text not in RESERVED:
        return Symbol(text)
    if text[0] == "<":
        if not SCHEME.match(text, 1):
            raise ValueError("a relative IRI")
        return NamedNode(text[1:-1])
    if text[0] == '"':
        return Literal(text[1:-1])
    if text in ("true", "false"):
        return Literal(text, datatype=DATATYPES["TRUE"])
    if text[0] not in "-.0123456789":
        return Symbol(text)
    kind = "DOUBLE" if "e" in text.lower() else "DECIMAL" if "." in text else "INTEGER"
    return Literal(text, datatype=DATATYPES[kind])
