"""Query text: the tokens of a SPARQL text, and how large it may be.

The one hard place is `<`: it begins an IRI, or it is an operator.  It is an operator only
inside the parentheses of an expression, after an operand; so the reader keeps a stack of
open brackets and knows of each whether it holds an expression.  A sign before a number is an
operator there, too, and a part of the number everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from urllib.parse import urljoin

from livefacts.errors import Place, QueryError

READING_FORMS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
WRITING_FORMS = frozenset(
    ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"]
)
SOLUTION_WORDS = frozenset(["SELECT", "GROUP", "ORDER", "HAVING", "BY"])
CALLING_WORDS = frozenset(["FILTER", "HAVING", "BY", "ASC", "DESC"])


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """How large a query may be: characters, words, open brackets, triple patterns, operators.

    Words are tokens outside of data.  Signs are operators that make an expression deep, each on
    top of the one before; the columns of a result count as operators.

    Beyond these a query could take minutes to plan, or be nested more deeply than is safe.
    """

    size: int = 1 << 20
    data: int = 100_000
    words: int = 30_000
    nesting: int = 128
    patterns: int = 128
    operators: int = 1000
    signs: int = 200
    what: str = "query"
    """What the text is called."""

    def check(self, text: str) -> None:
        """Refuse a text that is too long, or that no file could have."""
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise QueryError(
                    f"the {self.what} has half of a character (a lone surrogate) at {error.start}",
                    hint="read it with the encoding that it was written in",
                ) from None
        if len(text) > self.size:
            raise QueryError(
                f"the {self.what} has {len(text):,} characters; {self.size:,} are allowed",
                hint="load the data that it lists from a file",
            )


DEFAULT_LIMITS = QueryLimits()
UPDATE_LIMITS = QueryLimits(data=1 << 20, what="update")
"""Words, patterns and operators are counted in each operation, and not in data and templates."""


class TokenKind(Enum):
    """What sort of token a text is; `MARK` is punctuation and operators."""

    IRI = auto()
    NAME = auto()
    VARIABLE = auto()
    BLANK = auto()
    STRING = auto()
    LANGUAGE = auto()
    NUMBER = auto()
    WORD = auto()
    MARK = auto()
    PARAMETER = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a query and where it begins."""

    kind: TokenKind
    text: str
    start: int

    def is_word(self, *words: str) -> bool:
        return self.kind is TokenKind.WORD and self.text.upper() in words


NOTHING = Token(TokenKind.MARK, "", 0)
IRI_PARAMETER, LITERAL_PARAMETER = "\x01", "\x02"
"""What stands for a constant in the text of a shape; no text that means anything has them."""

_STRINGS = (
    r'"""(?:"{0,2}(?:[^"\\]|\\.))*"""|'
    r"'''(?:'{0,2}(?:[^'\\]|\\.))*'''|"
    r'"(?:[^"\\\n\r]|\\.)*"|'
    r"'(?:[^'\\\n\r]|\\.)*'"
)
_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+"
_SKIPPED = re.compile(r"(?:[ \t\r\n]+|\#[^\r\n]*)*")
_OPERATOR = re.compile(r"<=|[<+-]")
_CODE_POINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_OPENING = frozenset(["(", "{", "[", "<<("])
_CLOSING = frozenset([")", "}", "]", ")>>"])
_OPERATORS = frozenset(["||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "!"])
_SIGNS = frozenset(["+", "-", "*", "/", "!"])
_OPERANDS = (
    TokenKind.IRI,
    TokenKind.NAME,
    TokenKind.VARIABLE,
    TokenKind.BLANK,
    TokenKind.STRING,
    TokenKind.LANGUAGE,
    TokenKind.NUMBER,
    TokenKind.PARAMETER,
)


@cache
def terminals() -> dict[str, str]:
    """What tokens of each kind look like; the kinds in the order in which they are tried."""
    letter = (
        "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
        "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
    )
    inner = letter + r"_0-9\u00b7\u0300-\u036f\u203f-\u2040-"
    # Atomic and short: a text of many letters without a colon is not read again and again.
    prefix = rf"[{letter}](?>[{inner}.]{{0,254}})(?<!\.)"
    escape = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
    first, last = rf"(?:[{letter}_:0-9]|{escape})", rf"(?:[{inner}:]|{escape})"
    local = rf"{first}(?:(?:[{inner}.:]|{escape})*{last})?"
    return {
        "STRING": _STRINGS,
        "IRI": r'<[^<>"{}|^`\\\x00-\x20]*>',
        "BLANK": rf"_:[{letter}_0-9](?:[{inner}.]*[{inner}])?",
        "NAME": rf"(?:{prefix})?:(?:{local})?",
        "VARIABLE": rf"[?$][{letter}_0-9][{letter}_0-9\u00b7\u0300-\u036f\u203f-\u2040]*",
        "LANGUAGE": r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*(?:--(?:ltr|rtl))?",
        "NUMBER": rf"[+-]?(?:{_NUMBER})",
        "WORD": rf"[{letter}_][{letter}_0-9]*",
        "PARAMETER": f"[{IRI_PARAMETER}{LITERAL_PARAMETER}]",
        "MARK": r"\|\||&&|\^\^|!=|<=|>=|<<\(|\)>>|<<|>>|\{\||\|\}|.",
    }


@cache
def _token() -> re.Pattern[str]:
    """What a token is; made at the first query, as the letters of all scripts take a while."""
    kinds = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in terminals().items())
    return re.compile(kinds, re.DOTALL)


def without_code_point_escapes(text: str, what: str = "query") -> str:
    """The text with `\\uXXXX` replaced, which SPARQL does everywhere and before all else."""
    replaced = _CODE_POINT.sub(_character, text)
    found = _CODE_POINT.search(replaced)
    if found:
        raise QueryError(
            "an escaped character that is itself made of escaped characters",
            place=place_in(replaced, found.start(), what),
            hint="write the character itself",
        )
    return replaced


def _character(found: re.Match[str]) -> str:
    number = int(found[1] or found[2], 16)
    if 0xD800 <= number < 0xE000 or number > 0x10FFFF:
        raise QueryError(f"{found[0]} is not a character", hint="write the character itself")
    return chr(number)


def place_in(text: str, position: int, what: str = "query") -> Place:
    """The line and column of a character of the query."""
    before = text[:position]
    line = before.count("\n") + 1
    start = before.rfind("\n") + 1
    shown = text[start:].partition("\n")[0]
    return Place(what, line, position - start + 1, shown)


@dataclass(slots=True)
class _Bracket:
    """An open bracket: whether it holds an expression, a list of terms, or rows of VALUES."""

    is_expression: bool
    is_list: bool = False
    is_data: bool = False
    lists_solutions: bool = False
    """Between SELECT and its `{`, and after GROUP, HAVING and ORDER: parentheses compute."""


@dataclass(slots=True)
class _Reader:
    """Cuts a text into tokens, keeping count of what is open."""

    text: str
    limits: QueryLimits
    tokens: list[Token] = field(default_factory=list)
    open: list[_Bracket] = field(
        default_factory=lambda: [_Bracket(is_expression=False, lists_solutions=True)]
    )
    data: int = 0
    words: int = 0
    patterns: int = 0
    operators: int = 0
    signs: int = 0
    """Of the expression that is open."""

    def read(self) -> list[Token]:
        text, begins, kinds = self.text, _token(), TokenKind.__members__
        position = _SKIPPED.match(text).end()  # type: ignore[union-attr]
        while position < len(text):
            pattern = begins
            if text[position] in "<+-" and self.open[-1].is_expression and self._after_operand():
                pattern = _OPERATOR
            found = pattern.match(text, position)
            assert found is not None, "every character begins a token"
            if found[0] in ('"', "'"):
                raise QueryError(
                    "a string that does not end",
                    place=place_in(text, position, self.limits.what),
                    hint="close it with the same quotes",
                )
            self._take(Token(kinds[found.lastgroup or "MARK"], found[0], position))
            position = _SKIPPED.match(text, found.end()).end()  # type: ignore[union-attr]
        return self.tokens

    def _after_operand(self) -> bool:
        if not self.tokens:
            return False
        last = self.tokens[-1]
        return (
            last.kind in _OPERANDS
            or last.text in (")", "]", ")>>", ">>")
            or last.is_word("TRUE", "FALSE")
        )

    def _take(self, token: Token) -> None:
        inside, is_mark = self.open[-1], token.kind is TokenKind.MARK
        if token.text in _OPENING and is_mark:
            self._open(token, inside)
        elif token.text in _CLOSING and is_mark:
            del self.open[max(1, len(self.open) - 1) :]
        elif token.kind is TokenKind.WORD:
            word = token.text.upper()
            inside.lists_solutions |= word in SOLUTION_WORDS
            self.patterns += word == "AS"
        if token.text == ";" and len(self.open) == 1:
            self.patterns = self.operators = self.words = 0
        if inside.is_expression:
            self.operators += is_mark and token.text in _OPERATORS
            self.signs += is_mark and token.text in _SIGNS
        elif not inside.is_data and not inside.lists_solutions:
            self.patterns += is_mark and token.text in ".;,/|{"
            self.patterns += inside.is_list and token.kind in _OPERANDS
        elif inside.lists_solutions:
            self.operators += token.kind is TokenKind.VARIABLE
        self.data += inside.is_data
        self.words += not inside.is_data
        limits = self.limits
        if (
            max(self.data - limits.data, self.words - limits.words) > 0
            or self.patterns > limits.patterns
            or self.operators > limits.operators
            or self.signs > limits.signs
        ):
            raise self._too_many(token)
        self.tokens.append(token)

    def _open(self, token: Token, inside: _Bracket) -> None:
        opened = _Bracket(is_expression=False)
        if token.text == "(":
            opened.is_expression = self._computes(inside)
            self.signs = self.signs if inside.is_expression else 0
            opened.is_list = not opened.is_expression
            opened.is_data = inside.is_data
        elif token.text == "{":
            inside.lists_solutions = False
            opened.is_data = inside.is_data or self._follows_values() or self._follows_template()
        self.open.append(opened)
        if len(self.open) - 1 > self.limits.nesting:
            raise self._too_large(token, "open brackets", self.limits.nesting)

    def _computes(self, inside: _Bracket) -> bool:
        """Whether a parenthesis that opens here holds an expression, not a list of terms."""
        if inside.is_expression or inside.lists_solutions:
            return True
        if inside.is_data or not self.tokens:
            return False
        last = self.tokens[-1]
        if last.kind in (TokenKind.IRI, TokenKind.NAME):
            return len(self.tokens) > 1 and self.tokens[-2].is_word(*CALLING_WORDS)
        return last.kind is TokenKind.WORD and last.text != "a"

    def _follows_values(self) -> bool:
        for token in reversed(self.tokens):
            if token.is_word("VALUES"):
                return True
            if token.kind is not TokenKind.VARIABLE and token.text not in "()":
                return False
        return False

    def _follows_template(self) -> bool:
        """Whether the braces that open here hold what is inserted or deleted."""
        return bool(self.tokens) and self.tokens[-1].is_word("DATA", "INSERT", "DELETE")

    def _too_many(self, token: Token) -> QueryError:
        """What there is too much of, now that this token has come."""
        if self.data > self.limits.data:
            return self._too_large(token, "terms of data", self.limits.data)
        if self.words > self.limits.words:
            return self._too_large(token, "words", self.limits.words)
        if self.patterns > self.limits.patterns:
            return self._too_large(token, "triple patterns", self.limits.patterns)
        if self.operators > self.limits.operators:
            return self._too_large(token, "operators", self.limits.operators)
        return self._too_large(token, "operators + - * / ! in one expression", self.limits.signs)

    def _too_large(self, token: Token, what: str, allowed: int) -> QueryError:
        return QueryError(
            f"the {self.limits.what} has more than {allowed:,} {what}",
            place=place_in(self.text, token.start, self.limits.what),
            hint="split it, or let rules derive a part of it",
        )


def tokens_of(text: str, limits: QueryLimits = DEFAULT_LIMITS) -> list[Token]:
    """The tokens of a text; a `QueryError` if it is nested or chained too far."""
    return _Reader(text, limits).read()


def form_of(text: str, tokens: Sequence[Token]) -> str:
    """The word that a query begins with; a `QueryError` if it begins with another."""
    for token in tokens:
        if token.kind is not TokenKind.WORD or token.is_word("PREFIX", "BASE", "VERSION"):
            continue
        word = token.text.upper()
        if word in READING_FORMS:
            return word
        if word in WRITING_FORMS:
            raise QueryError(
                f"{word} changes facts, and a query only reads them",
                place=place_in(text, token.start),
                hint="use update, or load, add and remove",
            )
        raise QueryError(
            f"{token.text} does not begin a query",
            place=place_in(text, token.start),
            hint="a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE",
        )
    raise QueryError("the query is empty", hint="try SELECT * WHERE { ?s ?p ?o } LIMIT 10")


def declared_prefixes(tokens: Sequence[Token]) -> dict[str, str]:
    """The prefixes that a text declares, and what they mean."""
    base, declared = "", {}
    for word, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if word.is_word("BASE") and name.kind is TokenKind.IRI:
            base = urljoin(base, name.text[1:-1])
        if word.is_word("PREFIX") and name.kind is TokenKind.NAME and iri.kind is TokenKind.IRI:
            declared[name.text[:-1]] = urljoin(base, iri.text[1:-1])
    return declared
