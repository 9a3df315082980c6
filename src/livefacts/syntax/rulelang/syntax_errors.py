"""Syntax errors of the rule language, in words.

The parser knows which terminals could have come next; people want to hear "a comma or
the final dot".  Mistakes that are made often get a hint of their own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Set
from typing import TYPE_CHECKING

from livefacts.errors import Place, RuleSyntaxError
from livefacts.language.formula import RESERVED, TIME_WORDS
from livefacts.syntax.rulelang.source_text import MistakeError, RuleText
from livefacts.syntax.rulelang.time_syntax import WINDOW_FORMS

if TYPE_CHECKING:
    from lark import Token, UnexpectedInput

IRI = r"(?:<[^<>\s]*>|[\w-]*:[\w-]+)"
DIRECTIVES = ("@prefix", "@id", "@limit", "@tick", "@retain", "@stream")

WORDS = {
    "IF": ":-",
    "COMMA": "a comma",
    "DOT": "the final dot",
    "COMPARE": "a comparison (= != < <= > >=)",
    "RPAR": "a closing )",
    "RSQB": "a closing ]",
    "RBRACE": "a closing }",
    "COLON": "a colon",
    "ID": "a name for the rule",
    "PREFIX_NAME": "a prefix with its colon (ex:)",
    "IRI": "an IRI in < >",
    "INTEGER": "a whole number",
    "VARIABLE": "a variable",
    "UNIT": "a unit of time (s, ms, min, …)",
    "RANGE": f"a window ({WINDOW_FORMS})",
    "OPEN_WINDOW": "a window in [ ]",
    "IN": "in [a window]",
    "_CLOSE_TERM": "a closing )>>",
}
"""Said in this order; what is not here (arithmetic, `^^`, …) is never the likely wish."""

CLOSED = (")", "]", "}")
ARROWS = ("<-", "=>", "->", "⇒", "→", "←", ":=", ":")
CHARACTERS = {
    "$": "a variable begins with a question mark: ?x",
    "?": "a variable is a question mark and a name: ?x",
    ";": "conditions are separated by commas; every triple is written out in full",
    "&": "conditions are joined by commas",
    "|": "there is no `or`: write a second rule with the same head",
    "!": "negation is written not atom(…), inequality !=",
    "~": "negation is written not atom(…)",
    "¬": "negation is written not atom(…)",
    "{": "braces belong to aggregates: ?n = count { ?x : … }",
    "^": 'a datatype is written behind a string: "5"^^xsd:integer',
    "\\": "a backslash belongs inside a string",
    "+": "a number is written without +",
}


def refuse_word(token: Token) -> Token:
    """Called for each bare word: words of the language are not names."""
    if token not in RESERVED:
        return token
    if token in TIME_WORDS:
        raise MistakeError(
            token,
            f"`{token}` is an operator of time and cannot stand here",
            "write sometime a in [10 s], always a in [10 s] or at ?t a in [10 s]; elsewhere "
            f'{token}_, or the string "{token}"',
        )
    hint = "not stands in the body, before an atom" if token == "not" else ""
    raise MistakeError(token, f"`{token}` is a word of the language and cannot stand here", hint)


def refuse_directive(token: Token) -> Token:
    """Called for each @word that is no directive."""
    if token == "@base":
        raise MistakeError(token, "there is no @base", "write whole IRIs, or use @prefix")
    near = difflib.get_close_matches(token, DIRECTIVES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(DIRECTIVES)}"
    raise MistakeError(token, f"there is no directive {token}", hint)


def explain_error(error: UnexpectedInput, text: RuleText) -> RuleSyntaxError:
    """The parser's error, said so that the writer of the text can mend it."""
    accepted: frozenset[str] = frozenset(error.interactive_parser.accepts())  # type: ignore[no-untyped-call]
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        expected = in_words(accepted, text.last_before(text.end()))
        message = f"the text ends too early: {expected} was expected"
        return RuleSyntaxError(message, place=text.end())
    place = text.in_block(error.line, error.column)
    rest = place.text[place.column - 1 :]
    if rest[:1] in ("'", '"') and token is None:
        return RuleSyntaxError(
            "this string does not end on its line, or has a wrong escape",
            place=place,
            hint=r"inside a string write \" \n \t \\ \uXXXX",
        )
    if rest[:1] == "<" and "IRI" in accepted:
        return RuleSyntaxError(
            "this IRI has no end, or a character that IRIs cannot have",
            place=place,
            hint='spaces and " { } | ^ ` \\ are written in %-form',
        )
    return RuleSyntaxError(
        f"{in_words(accepted, text.last_before(place))} was expected{_before(rest)}",
        place=place,
        hint=_hint(accepted, place, text),
    )


def in_words(terminals: Set[str], last: str = "") -> str:
    """What could have come after the character `last`, as a phrase.

    >>> in_words({"COMMA", "DOT", "COMPARE", "PLUS"}, last=")")
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
    unlikely = {"COMPARE"} if last in CLOSED else set()
    words = [word for name, word in WORDS.items() if name in terminals and name not in unlikely]
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else "".join(words)


def _before(rest: str) -> str:
    word = re.match(r"[@?]?\w+|:-|\S", rest)
    return f" before `{word[0]}`" if word else " here"


def _hint(accepted: Set[str], place: Place, text: RuleText) -> str:
    before, rest = place.text[: place.column - 1], place.text[place.column - 1 :]
    if "DOT" in accepted and rest.startswith(":-"):
        return "a rule has one head and one :-"
    if "IF" in accepted and rest.startswith(ARROWS):
        return "a rule is written head :- body ."
    if "IF" in accepted and rest[:1] == ",":
        return "a rule has one atom as its head; write one rule for each"
    if "DOT" in accepted and re.search(IRI + r"\s+$", before) and re.match(f"a\\s|{IRI}", rest):
        return "the rule language writes a triple as [s, p, o]"
    if "DOT" in accepted and re.match(r"[@\[?\w]", rest):
        return _missing(text.end_before(place).line, place.line)
    if "DOT" in accepted and rest[:1] == "(":
        return "the name of a predicate is a plain word, without prefix or < >"
    if "DOT" in accepted and "IF" not in accepted and rest[:1] in tuple("=<>"):
        return "not takes an atom; turn the comparison round instead (!= for =, …)"
    if rest[:1] == "=" and text.last_before(place) == "=":
        return "equality is written with one ="
    if rest[:1] in ("'", '"') and text.last_before(place) == rest[0]:
        return "a string has one quotation mark at each end; line breaks are written \\n"
    if accepted == {"VARIABLE"} or "COLON" in accepted:
        return "an aggregate is written ?n = count { ?x : … }"
    return CHARACTERS.get(rest[:1], "")


def _missing(end: int, line: int) -> str:
    if end < line:
        return f"a rule ends with a dot: is it missing at the end of line {end}?"
    return "conditions are separated by commas, and a rule ends with a dot"
