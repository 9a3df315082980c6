"""Syntax errors of the rule language, in words.

The parser knows which terminals could have come next; people want to hear "a comma or
the final dot".  Mistakes that are made often get a hint of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Set
from typing import TYPE_CHECKING

from livefacts.errors import Place, RuleSyntaxError
from livefacts.syntax.rulesource import MistakeError, RuleText

if TYPE_CHECKING:
    from lark import Token, UnexpectedInput

TIME_WORDS = ("sometime", "always", "at", "in")
TIME_DIRECTIVES = ("@tick", "@retain", "@stream")
DIRECTIVES = ("@prefix", "@id", "@limit")
RESERVED = (*TIME_WORDS, "not", "true", "false")

WORDS = {
    "IF": ":-",
    "COMMA": "a comma",
    "DOT": "the final dot",
    "COMPARE": "a comparison (= != < <= > >=)",
    "RPAR": "a closing )",
    "RSQB": "a closing ]",
    "RBRACE": "a closing }",
    "COLON": "a colon",
    "LBRACE": "an opening {",
    "ID": "a name for the rule",
    "PREFIX_NAME": "a prefix with its colon, like ex:",
    "IRI": "an IRI in < >",
    "INTEGER": "a whole number",
    "VARIABLE": "a variable",
}
"""Said in this order; what is not here (arithmetic, `^^`, …) is never the likely wish."""

CHARACTERS = {
    "$": "a variable begins with a question mark: ?x",
    "?": "a variable is a question mark and a name: ?x",
    ";": "conditions are separated by commas; every triple is written out in full",
    "&": "conditions are joined by commas",
    "|": "there is no `or`: write a second rule with the same head",
    "!": "negation is written not atom(…), inequality !=",
    "~": "negation is written not atom(…)",
    "{": "braces belong to aggregates: ?n = count { ?x : … }",
    ":": "a rule is written head :- body .",
    "^": 'a datatype is written behind a string: "5"^^xsd:integer',
    "`": "strings are in \" or '",
    "\\": "a backslash belongs inside a string",
}


def refuse_word(token: Token) -> Token:
    """Called for each bare word: words of the language are not names."""
    if token in TIME_WORDS:
        raise MistakeError(
            token,
            f"`{token}` is an operator of time, which is not part of this version yet",
            f"as a name or symbol, write {token}_ or quote it",
        )
    if token in RESERVED:
        raise MistakeError(token, f"`{token}` is a word of the rule language and cannot stand here")
    return token


def refuse_directive(token: Token) -> Token:
    """Called for each @word that is no directive."""
    if token in TIME_DIRECTIVES:
        raise MistakeError(token, f"{token} belongs to time, which is not part of this version yet")
    if token == "@base":
        raise MistakeError(token, "there is no @base", "write whole IRIs, or use @prefix")
    near = difflib.get_close_matches(token, DIRECTIVES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(DIRECTIVES)}"
    raise MistakeError(token, f"there is no directive {token}", hint)


def explained(error: UnexpectedInput, text: RuleText) -> RuleSyntaxError:
    """The parser's error, said so that the writer of the text can mend it."""
    from lark import UnexpectedCharacters, UnexpectedToken

    if isinstance(error, UnexpectedCharacters):
        return _strange_character(text.at(error.line, error.column), error.allowed or set())
    assert isinstance(error, UnexpectedToken), "a stream with an end has no other errors"
    expected = in_words(error.accepts or error.expected)
    if error.token.type == "$END":
        return RuleSyntaxError(
            f"the text ends too early: {expected} was expected", place=text.end()
        )
    return RuleSyntaxError(
        f"{expected} was expected before {error.token}",
        place=text.place(error.token),
        hint=_hint(error, text),
    )


def in_words(terminals: Set[str]) -> str:
    """What could have come, as a phrase.

    >>> in_words({"COMMA", "DOT", "PLUS"})
    'a comma or the final dot'
    """
    if "DIRECTIVE" in terminals:
        return "a rule, a fact or a directive"
    if "NOT" in terminals:
        return "an atom or a comparison"
    if "OPEN_TRIPLE" in terminals:
        return "an atom"
    if {"NAME", "VARIABLE"} <= terminals:
        return "a variable or a constant"
    if "STRING" in terminals:
        return "a constant"
    words = [word for terminal, word in WORDS.items() if terminal in terminals]
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else "".join(words)


def _strange_character(place: Place, allowed: Set[str]) -> RuleSyntaxError:
    rest = place.text[place.column - 1 :]
    expected = in_words(allowed)
    if rest[:1] in "\"'" and rest:
        return RuleSyntaxError(
            "this string does not end on its line, or has a wrong escape",
            place=place,
            hint=r"inside a string write \" \n \t \\ \uXXXX",
        )
    if rest[:1] == "<" and "IRI" in allowed:
        return RuleSyntaxError(
            "this IRI has no end, or a character that IRIs cannot have",
            place=place,
            hint='spaces and " { } | ^ ` \\ are written in %-form',
        )
    if rest.startswith(("<-", "=>", "->", "⇒", "→", "←")):
        return RuleSyntaxError(
            f"{expected} was expected here", place=place, hint="a rule is written head :- body ."
        )
    return RuleSyntaxError(
        f"{expected} was expected here", place=place, hint=CHARACTERS.get(rest[:1], "")
    )


def _hint(error: UnexpectedInput, text: RuleText) -> str:
    token: Token = error.token  # type: ignore[attr-defined]
    accepts: Set[str] = error.accepts or set()  # type: ignore[attr-defined]
    before = _line_before(token, text)
    if "DOT" in accepts and token.type in _STARTS and before:
        return f"a rule ends with a dot: is it missing on line {before}?"
    if "DOT" in accepts and token.type in ("NAME", "OPEN_TRIPLE", "VARIABLE", "NOT"):
        return "conditions are separated by commas"
    if token.type == "IF":
        return "a rule has one head, then :- once; write one rule for each head"
    if "IF" in accepts and token.type in ("COMMA", "COMPARE"):
        return "a rule has one atom as its head, then :-"
    if token.type == "NOT":
        return "negation stands in the body, before an atom"
    return CHARACTERS.get(str(token)[:1], "")


_STARTS = ("NAME", "OPEN_TRIPLE", "FALSE", "AT_ID", "AT_PREFIX", "AT_LIMIT", "DIRECTIVE")


def _line_before(token: Token, text: RuleText) -> int:
    """The line of the text before this token if that is an earlier one, else 0."""
    line = token.line or 1
    if text.lines[line - 1][: (token.column or 1) - 1].strip():
        return 0
    earlier = RuleText(text.file, text.lines[: line - 1]).end()
    return earlier.line if earlier.text else 0
