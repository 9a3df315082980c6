"""Lexemes: the tokens of a query as the grammar takes them, with the terms that they stand for.

Words become keywords, prefixed names IRIs, and a string with its type or language one literal.
The declarations of a prologue take effect here, and the grammar does not see them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BaseDirection, Literal, NamedNode, RdfFormat, parse

from livefacts.language.algebra import Parameter
from livefacts.language.formula import Variable
from livefacts.model.namespaces import XSD
from livefacts.syntax.sparql.query_text import (
    IRI_PARAMETER,
    NOTHING,
    Token,
    TokenKind,
)

COMPARISONS = frozenset(["!=", "<", ">", "<=", ">="])
AGGREGATES = frozenset(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"])
ANY = 1 << 30
ARITIES = {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    **dict.fromkeys(
        ("STR", "LANG", "DATATYPE", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN"), (1, 1)
    ),
    **dict.fromkeys(("UCASE", "LCASE", "ENCODE_FOR_URI", "BOUND"), (1, 1)),
    **dict.fromkeys(("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE"), (1, 1)),
    **dict.fromkeys(("TZ", "MD5", "SHA1", "SHA256", "SHA384", "SHA512"), (1, 1)),
    **dict.fromkeys(("isIRI", "isURI", "isBLANK", "isLITERAL", "isNUMERIC", "isTRIPLE"), (1, 1)),
    **dict.fromkeys(("SUBJECT", "PREDICATE", "OBJECT", "LANGDIR", "hasLANG", "hasLANGDIR"), (1, 1)),
    **dict.fromkeys(("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE"), (2, 2)),
    **dict.fromkeys(("STRAFTER", "STRLANG", "STRDT", "sameTerm", "ADJUST"), (2, 2)),
    **dict.fromkeys(("IF", "TRIPLE", "STRLANGDIR"), (3, 3)),
    **dict.fromkeys(("SUBSTR", "REGEX"), (2, 3)),
    "REPLACE": (3, 4),
    "TIMESTAMP": (1, 3),
    "BNODE": (0, 1),
    "CONCAT": (0, ANY),
    "COALESCE": (0, ANY),
}
"""The functions as expressions name them, and with how few and how many arguments."""
FUNCTIONS = {name.upper(): name for name in ARITIES}
ALIASES = {"COMPUTED": "COMPUTE", "ELEMENTS": "TRIPLES", "SLIDE": "STEP"}
_RELATIVE = re.compile(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPABLE = frozenset("tbnrf\"'\\")


class QueryMistakeError(Exception):
    """Something in a text that cannot be read: what, where, and what to do."""

    def __init__(self, message: str, position: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.position, self.hint = message, position, hint


class QueryRefusedError(QueryMistakeError):
    """Something that is read, and refused for a reason of its own."""


class Lexeme:
    """A word of the grammar: its terminal, what it stands for, and where it begins."""

    __slots__ = ("start_pos", "text", "type", "value")
    # What lark copies from the last one to tell where a text ends.
    line = column = end_line = end_column = end_pos = None

    def __init__(self, type: str, text: str, start_pos: int, value: Any = None) -> None:
        self.type, self.text, self.start_pos, self.value = type, text, start_pos, value

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Names:
    """What IRIs and prefixed names stand for, in one place of a text."""

    prefixes: Mapping[str, str]
    base: str = ""

    def resolved(self, iri: str) -> str:
        """The IRI that a relative one stands for; if there is none, the same text."""
        try:
            (quad,) = parse(f"<{iri}> <x:x> <x:x> .", RdfFormat.TURTLE, base_iri=self.base or None)
        except (SyntaxError, ValueError):
            return iri
        assert isinstance(quad.subject, NamedNode), "an IRI was written"
        return quad.subject.value

    def node(self, text: str, start: int = 0) -> NamedNode:
        """The IRI of a token."""
        if text[0] != "<":
            return self._named(text, start)
        try:
            return NamedNode(text[1:-1])
        except ValueError:
            pass
        try:
            return NamedNode(self.resolved(text[1:-1]))
        except ValueError:
            said = "a relative IRI" if _RELATIVE.match(text) else "no IRI"
            hint = "write the whole IRI, or begin with PREFIX or BASE"
            raise QueryRefusedError(f"{text} is {said}", start, hint) from None

    def _named(self, text: str, start: int) -> NamedNode:
        prefix, _, local = text.partition(":")
        space = self.prefixes.get(prefix)
        if space is None:
            known = ", ".join(f"{name}:" for name in sorted(self.prefixes))
            raise QueryRefusedError(
                f"the prefix {prefix}: is not declared",
                start,
                f"begin with PREFIX {prefix}: <...>; known without it: {known or 'none'}",
            )
        local = _ESCAPED.sub(r"\1", local) if "\\" in local else local
        try:
            return NamedNode(space + local)
        except ValueError:
            raise QueryMistakeError(
                f"{text} stands for no IRI", start, "its prefix is a relative IRI"
            ) from None


class Lexemes:
    """The lexemes of one text, one after the other."""

    def __init__(
        self,
        tokens: Sequence[Token],
        terminals: Mapping[str, str],
        prefixes: Mapping[str, str],
        base: str = "",
        parameters: int = 0,
        is_registration: bool = False,
    ) -> None:
        self.names = Names(prefixes, base)
        self.parameters = 0
        self.declared: list[tuple[int, str]] = []
        """The declarations of prologues, and where they stand."""
        self.windows: list[tuple[Lexeme, Lexeme]] = []
        """WINDOW inside of braces, and the names behind it."""
        self._most = parameters
        self._is_registration = is_registration
        self._tokens = tokens
        self._terminals = terminals
        self._at = 0

    def __iter__(self) -> Iterator[Lexeme]:
        may_declare, depth, before = True, 0, None
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if may_declare and token.is_word("PREFIX", "BASE", "VERSION"):
                self._declare(token)
                continue
            self._at += 1
            is_word = token.kind is TokenKind.WORD
            lexeme = self._word(token) if is_word else self._lexeme(token)
            depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
            may_declare = depth == 0 and (token.text == ";" or lexeme.type == "AS")
            if before is not None and before.type == "WINDOW" and depth:
                self.windows.append((before, lexeme))
            before = lexeme
            yield lexeme

    def _next(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else NOTHING

    def _declare(self, word: Token) -> None:
        """Take in a declaration of the prologue."""
        kinds = {"PREFIX": [TokenKind.NAME, TokenKind.IRI], "BASE": [TokenKind.IRI]}
        wanted = kinds.get(word.text.upper(), [TokenKind.STRING])
        given = self._tokens[self._at + 1 : self._at + 1 + len(wanted)]
        is_named = wanted[0] is not TokenKind.NAME or (
            given and given[0].text.partition(":")[2] == ""
        )
        if [token.kind for token in given] != wanted or not is_named:
            forms = {"PREFIX": "PREFIX ex: <http://example.org/>", "VERSION": 'VERSION "1.2"'}
            form = forms.get(word.text.upper(), "BASE <http://example.org/>")
            raise QueryMistakeError(
                f"{word.text} declares nothing here", word.start, f"write {form}"
            )
        if wanted[-1] is TokenKind.IRI:
            self.declared.append((word.start, " ".join(each.text for each in (word, *given))))
            iri = self.names.resolved(given[-1].text[1:-1])
            if len(given) == 1:
                self.names.base = iri
            else:
                self.names.prefixes = {**self.names.prefixes, given[0].text[:-1]: iri}
        self._at += 1 + len(wanted)

    def _lexeme(self, token: Token) -> Lexeme:
        text, start = token.text, token.start
        match token.kind:
            case TokenKind.MARK:
                type = "COMPARISON" if text in COMPARISONS else self._terminals.get(text, "UNKNOWN")
                return Lexeme(type, text, start)
            case TokenKind.VARIABLE:
                return Lexeme("VARIABLE", text, start, Variable(text[1:]))
            case TokenKind.IRI | TokenKind.NAME:
                return Lexeme("IRI", text, start, self.names.node(text, start))
            case TokenKind.STRING:
                return Lexeme("LITERAL", text, start, self._literal(token))
            case TokenKind.NUMBER:
                return Lexeme("LITERAL", text, start, number(text))
            case TokenKind.BLANK:
                return Lexeme("BLANK", text, start, Variable(text))
            case TokenKind.PARAMETER:
                return self._parameter(token)
            case _:
                return Lexeme("UNKNOWN", text, start)

    def _word(self, token: Token) -> Lexeme:
        text, start = token.text, token.start
        word = ALIASES.get(text.upper(), text.upper())
        if self._is_registration and self._at > 2:
            # The word that was read last may be the name of the query.
            before = self._tokens[self._at - 3]
            if before.kind is TokenKind.WORD and before.text.upper() == "REGISTER":
                return Lexeme("WORD", text, start)
        if word in FUNCTIONS:
            return Lexeme("FUNCTION", text, start, FUNCTIONS[word])
        if word in AGGREGATES:
            return Lexeme("AGGREGATE", text, start, word)
        if word in ("TRUE", "FALSE"):
            return Lexeme("LITERAL", text, start, Literal(word == "TRUE"))
        known = text if text == "a" else word if word != "A" else ""
        unknown = "WORD" if self._is_registration else "UNKNOWN"
        return Lexeme(self._terminals.get(known, unknown), text, start)

    def _literal(self, token: Token) -> Literal:
        value = unquoted(token.text, token.start)
        following = self._next()
        if following.kind is TokenKind.LANGUAGE:
            self._at += 1
            return tagged(value, following.text)
        if following.text != "^^" or following.kind is not TokenKind.MARK:
            return Literal(value)
        self._at += 1
        kind = self._next()
        if kind.kind not in (TokenKind.IRI, TokenKind.NAME):
            raise QueryMistakeError(
                "a type is missing", following.start, f"write {token.text}^^xsd:int"
            )
        self._at += 1
        return Literal(value, datatype=self.names.node(kind.text, kind.start))

    def _parameter(self, token: Token) -> Lexeme:
        if self.parameters == self._most:
            raise QueryMistakeError("a character that means nothing here", token.start)
        self.parameters += 1
        type = "IRI" if token.text == IRI_PARAMETER else "LITERAL"
        return Lexeme(type, "a constant", token.start, Parameter(self.parameters - 1))


def number(text: str) -> Literal:
    """A number as it is written."""
    kind = "double" if "e" in text or "E" in text else "decimal" if "." in text else "integer"
    return Literal(text, datatype=NUMBERS[kind])


NUMBERS = {kind: NamedNode(XSD + kind) for kind in ("integer", "decimal", "double")}


def tagged(value: str, tag: str) -> Literal:
    """A string with its language, and perhaps the direction in which it is written."""
    language, _, direction = tag[1:].partition("--")
    if direction:
        return Literal(value, language=language, direction=BaseDirection(direction))
    return Literal(value, language=language)


def unquoted(text: str, start: int = 0) -> str:
    """The characters that a string stands for."""
    value = text[3:-3] if len(text) > 5 and text[:3] in ('"""', "'''") else text[1:-1]
    if "\\" not in value:
        return value
    for found in _ESCAPED.finditer(value):
        if found[1] not in _ESCAPABLE:
            raise QueryMistakeError(
                f"{found[0]} is no character", start, "a backslash is written \\\\"
            )
    return _ESCAPED.sub(lambda found: _CHARACTERS.get(found[1], found[1]), value)
