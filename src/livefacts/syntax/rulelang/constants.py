"""Constants of the rule language: tokens to RDF terms and symbols.

Lexical forms are kept as they were written: `01` and `1` are two terms.  Prefixes are
known from their declaration to the end of the text, and four are known from the start.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from livefacts.errors import RuleError, UnknownPrefixError
from livefacts.model.facts import Symbol, Term
from livefacts.model.namespaces import DECLARED, RDF, XSD
from livefacts.syntax.rulelang.source_text import RuleText

if TYPE_CHECKING:
    from lark import Token, Tree

BOOLEAN = NamedNode(XSD + "boolean")
DATATYPES = {
    "INTEGER": NamedNode(XSD + "integer"),
    "DECIMAL": NamedNode(XSD + "decimal"),
    "DOUBLE": NamedNode(XSD + "double"),
    "TRUE": BOOLEAN,
    "FALSE": BOOLEAN,
}
ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
BlankNodes: TypeAlias = Callable[[str], BlankNode]
"""Makes the blank node that a label stands for in one text."""

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Constants:
    """Makes the constants of one text, with the prefixes declared so far.

    `blank_nodes` makes a node of a label, where blank nodes may stand; else it is None.
    """

    def __init__(self, text: RuleText) -> None:
        self.text = text
        self.blank_nodes: BlankNodes | None = None
        self.prefixes = dict(DECLARED)
        self._known: dict[str, Term] = {}

    def declare(self, name: Token, iri: Token) -> None:
        """`@prefix name: <iri>`; a later declaration counts from there on."""
        prefix, meaning = name[:-1], self._iri(iri).value
        if DECLARED.get(prefix, meaning) != meaning:
            raise self.text.refuse(
                name,
                f"the prefix {prefix}: always means <{DECLARED[prefix]}>",
                "choose another prefix",
            )
        self.prefixes[prefix] = meaning
        self._known.clear()

    def constant(self, token: Token) -> Term:
        known = self._known.get(token)
        if known is None:
            known = self._made(token)
            if token.type != "BLANK_NODE":
                self._known[str(token)] = known
        return known

    def plain(self, text: str) -> Term:
        """A symbol or integer, from its text."""
        known = self._known.get(text)
        if known is None:
            is_integer = text[0] == "-" or text[0].isdecimal()
            integer = DATATYPES["INTEGER"]
            known = Literal(text, datatype=integer) if is_integer else Symbol(text)
            self._known[text] = known
        return known

    def _made(self, token: Token) -> Term:
        match token.type:
            case "NAME":
                return Symbol(str(token))
            case "IRI":
                return self._iri(token)
            case "PREFIXED_NAME":
                return self._prefixed(token)
            case "BLANK_NODE":
                return self._blank_node(token)
            case number_or_boolean:
                return Literal(str(token), datatype=DATATYPES[number_or_boolean])

    def negative(self, token: Token) -> Literal:
        """The number with a minus in front."""
        return Literal(f"-{token}", datatype=DATATYPES[token.type])

    def string(self, tree: Tree[Token]) -> Literal:
        """A quoted string, with a language or a datatype if there is one."""
        tokens: list[Token] = tree.children  # type: ignore[assignment]
        value = self._unescaped(tokens[0], tokens[0][1:-1])
        if len(tokens) == 1:
            return Literal(value)
        token = tokens[1]
        if token.type != "LANGUAGE":
            return self._typed(value, token)
        try:
            return _in_language(value, token[1:])
        except ValueError:
            raise self.text.refuse(token, f"{token} is not a language tag") from None

    def triple_term(self, tree: Tree[Token]) -> Triple:
        """`<<( s p o )>>`, matched as a whole."""
        first: Token = tree.children[0]  # type: ignore[assignment]
        parts = [self.part(part) for part in tree.children[1:]]
        try:
            return Triple(*parts)  # type: ignore[arg-type]
        except TypeError:
            raise self.text.refuse(
                first,
                "this is not a triple",
                "the subject is an IRI and so is the predicate",
            ) from None

    def part(self, node: Tree[Token] | Token) -> Term:
        """A constant, as it stands in the tree."""
        kind = getattr(node, "data", "")
        if kind == "string":
            return self.string(node)  # type: ignore[arg-type]
        if kind == "triple_term":
            return self.triple_term(node)  # type: ignore[arg-type]
        if kind == "negative":
            return self.negative(node.children[1])  # type: ignore[arg-type, union-attr]
        return self.constant(node)  # type: ignore[arg-type]

    def _typed(self, value: str, token: Token) -> Literal:
        datatype = self.constant(token)
        assert isinstance(datatype, NamedNode), "the grammar lets only IRIs follow ^^"
        if datatype.value in (RDF + "langString", RDF + "dirLangString"):
            raise self.text.refuse(
                token, "a literal of this datatype needs a language", 'write "…"@en'
            )
        return Literal(value, datatype=datatype)

    def _iri(self, token: Token) -> NamedNode:
        value = self._unescaped(token, token[1:-1])
        if not SCHEME.match(value):
            raise self.text.refuse(
                token,
                f"{token} is a relative IRI",
                "write the whole IRI, or declare a prefix: @prefix ex: <http://example.org/> .",
            )
        return self._named(token, value)

    def _prefixed(self, token: Token) -> NamedNode:
        prefix, _, local = token.partition(":")
        if prefix not in self.prefixes:
            raise self._unknown_prefix(token, prefix)
        return self._named(token, self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local))

    def _named(self, token: Token, value: str) -> NamedNode:
        try:
            return NamedNode(value)
        except ValueError as error:
            raise self.text.refuse(token, f"<{value}> is not an IRI: {error}") from None

    def _unescaped(self, token: Token, value: str) -> str:
        if "\\" not in value:
            return value
        value = ESCAPE.sub(_character, value)
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise self.text.refuse(token, "an escape here is half of a surrogate pair")
        return value

    def _unknown_prefix(self, token: Token, prefix: str) -> RuleError:
        near = difflib.get_close_matches(prefix, self.prefixes, n=1)
        meant = f"did you mean {near[0]}:? Else " if near else ""
        return self.text.refuse(
            token,
            f"the prefix {prefix}: is not declared",
            f"{meant}declare it before this line: @prefix {prefix}: <http://…> .",
            UnknownPrefixError,
        )

    def _blank_node(self, token: Token) -> BlankNode:
        if self.blank_nodes is None:
            raise self.text.refuse(
                token,
                f"the blank node {token} cannot stand here",
                "in a rule use a variable; in a fact give the thing an IRI",
            )
        return self.blank_nodes(token[2:])


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    if code[0] in "uU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ud800"
    return ESCAPED.get(code, code)


def _in_language(value: str, tag: str) -> Literal:
    language, _, direction = tag.partition("--")
    if not direction:
        return Literal(value, language=language)
    side = BaseDirection.LTR if direction == "ltr" else BaseDirection.RTL
    return Literal(value, language=language, direction=side)
