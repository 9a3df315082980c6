"""Update text: what a SPARQL Update asks for, read before anything is changed.

An update is cut into its operations by its tokens.  pyoxigraph then checks the grammar of
each, by running it on an empty store; it parses the quads of data and templates as TriG,
with an IRI in the place of every variable; and each WHERE becomes a SELECT.

Insertions and deletions are known here.  What moves whole graphs or reaches out of the
process (LOAD, CLEAR, DROP, …) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Quad, RdfFormat, Store, parse

from livefacts.errors import QueryError
from livefacts.model.namespaces import DECLARED
from livefacts.store.terms.ntriples import reason_of
from livefacts.syntax.sparql.query_errors import UPDATE, syntax_error
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    NOTHING,
    QueryLimits,
    Token,
    TokenKind,
    check_prefixes,
    declared_prefixes,
    place_in,
    read_query,
    refuse_services,
    tokens_of,
    without_code_point_escapes,
)

VARIABLE = "urn:livefacts:variable:"
"""Stands before the name of a variable, where a template is parsed as data."""
LIMITS = QueryLimits(size=1 << 20, patterns=1 << 30, operators=1 << 30)
"""Of the whole text; each WHERE has the limits of a query."""
REFUSED = {
    "LOAD": "load the file with Reasoner.load, or livefacts add",
    "CLEAR": "DELETE WHERE { GRAPH <g> { ?s ?p ?o } } empties a graph",
    "DROP": "DELETE WHERE { GRAPH <g> { ?s ?p ?o } } empties a graph",
    "CREATE": "a graph exists as soon as something is inserted into it",
    "ADD": "INSERT { GRAPH <b> { ?s ?p ?o } } WHERE { GRAPH <a> { ?s ?p ?o } } does it",
    "COPY": "INSERT { GRAPH <b> { ?s ?p ?o } } WHERE { GRAPH <a> { ?s ?p ?o } } does it",
    "MOVE": "DELETE { GRAPH <a> { ?s ?p ?o } } INSERT { GRAPH <b> { ?s ?p ?o } } "
    "WHERE { GRAPH <a> { ?s ?p ?o } } does it",
}
FORMS = "INSERT DATA, DELETE DATA, DELETE WHERE, or DELETE { } INSERT { } WHERE { }"
_RELATIVE = re.compile(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)")


@dataclass(frozen=True, slots=True)
class Operation:
    """Templates of quads that go and come, and the query that fills in their variables."""

    deletes: tuple[Quad, ...]
    inserts: tuple[Quad, ...]
    where: str | None = None
    """A SELECT; None if the templates are the data."""
    graph: NamedNode | None = None
    """The graph that WITH names, in which the pattern is looked for."""


def read_update(text: str, prefixes: Mapping[str, str]) -> list[Operation]:
    """The operations of an update, in order; otherwise a `QueryError`."""
    if len(text) > LIMITS.size:
        raise QueryError(
            f"the update has {len(text):,} characters; {LIMITS.size:,} are allowed",
            hint="load much data from a file, or apply a patch",
        )
    text = without_code_point_escapes(text)
    prefixes = {**DECLARED, **prefixes}
    with _in_update():
        tokens = tokens_of(text, LIMITS)
        refuse_services(text, tokens)
        check_prefixes(text, tokens, {**prefixes, **declared_prefixes(tokens)})
        _check_iris(text, tokens)
        drafts = list(_Splitter(text, tokens).drafts())
        for draft in drafts:
            if draft.where is not None:
                read_query(draft.where, prefixes, DEFAULT_LIMITS)
    for draft in drafts:
        _check_grammar(draft.alone, prefixes)
    return [draft.operation(prefixes) for draft in drafts]


@contextmanager
def _in_update() -> Iterator[None]:
    """Errors that speak of a query are about an update here."""
    try:
        yield
    except QueryError as error:
        place = None if error.place is None else replace(error.place, file=UPDATE)
        raise QueryError(
            error.message.replace("the query", "the update"), place=place, hint=error.hint
        ) from None


def _check_iris(text: str, tokens: Sequence[Token]) -> None:
    if any(token.is_word("BASE") for token in tokens):
        return
    for token in tokens:
        if token.kind is TokenKind.IRI and _RELATIVE.match(token.text):
            raise QueryError(
                f"{token.text} is a relative IRI",
                place=place_in(text, token.start),
                hint="write the whole IRI, or begin with PREFIX or BASE",
            )


def _check_grammar(text: str, prefixes: Mapping[str, str]) -> None:
    try:
        Store().update(text, prefixes=dict(prefixes))
    except SyntaxError as error:
        raise syntax_error(text, error, UPDATE) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise QueryError(f"the update could not be evaluated: {error}") from error


@dataclass(frozen=True, slots=True)
class _Draft:
    """An operation whose templates are still text."""

    alone: str
    """The text of the update, everything but this operation and its prologue blanked out."""
    prologue: str
    deletes: str
    inserts: str
    where: str | None
    graph: str

    def operation(self, prefixes: Mapping[str, str]) -> Operation:
        known = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items())
        prologue = known + self.prologue
        graph = _graph(prologue, self.graph) if self.graph else None
        deletes = tuple(_into(graph, _parsed(prologue + self.deletes)))
        inserts = tuple(_into(graph, _parsed(prologue + self.inserts)))
        return Operation(deletes, inserts, self.where, graph)


def _graph(prologue: str, name: str) -> NamedNode:
    (quad,) = _parsed(f"{prologue}<x:x> <x:x> {name} .")
    assert isinstance(quad.object, NamedNode), "the grammar lets only IRIs follow WITH"
    return quad.object


def _parsed(trig: str) -> list[Quad]:
    try:
        return list(parse(trig, format=RdfFormat.TRIG))
    except SyntaxError as error:
        raise QueryError(f"the update cannot be read: {reason_of(error)}") from None


def _into(graph: NamedNode | None, quads: list[Quad]) -> Iterator[Quad]:
    """Quads of the default graph, in the graph that WITH names."""
    for quad in quads:
        is_named = isinstance(quad.graph_name, NamedNode)
        yield (
            quad
            if graph is None or is_named
            else Quad(quad.subject, quad.predicate, quad.object, graph)
        )


class _Splitter:
    """Walks along the tokens of an update and finds its operations."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._at = 0
        self._prologue = ""
        self._declared: list[Token] = []

    def drafts(self) -> Iterator[_Draft]:
        """The operations, in order."""
        self._read_prologue()
        while self._now is not NOTHING:
            first = self._at
            draft = self._draft()
            yield replace(draft, alone=self._alone(first, self._at))
            if self._now is not NOTHING:
                self._expect(";")
            self._read_prologue()

    def _alone(self, first: int, end: int) -> str:
        blank = list(re.sub(r"[^\n]", " ", self._text))
        for token in self._declared:
            blank[token.start : token.start + len(token.text)] = token.text
        operation, start = self._slice(first, end), self._tokens[first].start
        blank[start : start + len(operation)] = operation
        return "".join(blank)

    @property
    def _now(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else NOTHING

    def _next(self) -> Token:
        token = self._now
        self._at += 1
        return token

    def _takes(self, *words: str) -> bool:
        """Whether these words come now; they are then passed over."""
        ahead = self._tokens[self._at : self._at + len(words)]
        found = len(ahead) == len(words) and all(
            token.is_word(word) for token, word in zip(ahead, words, strict=True)
        )
        self._at += len(words) * found
        return found

    def _expect(self, mark: str) -> Token:
        token = self._next()
        if token.kind is not TokenKind.MARK or token.text != mark:
            start = token.start if token is not NOTHING else len(self._text)
            raise QueryError(
                f"{mark} is missing here",
                place=place_in(self._text, start),
                hint=f"an update is {FORMS}; several are separated by ;",
            )
        return token

    def _read_prologue(self) -> None:
        while self._now.is_word("PREFIX", "BASE", "VERSION"):
            length = 3 if self._now.is_word("PREFIX") else 2
            declared = self._tokens[self._at : self._at + length]
            self._declared += declared
            if not declared[0].is_word("VERSION"):
                self._prologue += " ".join(token.text for token in declared) + "\n"
            self._at += length

    def _draft(self) -> _Draft:
        if self._takes("INSERT", "DATA"):
            return _Draft("", self._prologue, "", self._template(), None, "")
        if self._takes("DELETE", "DATA"):
            return _Draft("", self._prologue, self._template(names_all=True), "", None, "")
        if self._takes("DELETE", "WHERE"):
            start = self._at
            template = self._template(names_all=True)
            pattern = self._slice(start, self._at)
            return _Draft("", self._prologue, template, "", self._select("", pattern), "")
        return self._modification()

    def _modification(self) -> _Draft:
        first = self._now
        graph = self._next_term() if self._takes("WITH") else ""
        deletes = self._template(names_all=True) if (goes := self._takes("DELETE")) else ""
        inserts = self._template() if (comes := self._takes("INSERT")) else ""
        if not goes and not comes:
            raise self._refusal(first if not graph else self._now)
        dataset = ""
        while self._takes("USING"):
            named = "NAMED " if self._takes("NAMED") else ""
            dataset += f"FROM {named}{self._next_term()} "
        if not self._takes("WHERE"):
            self._expect("WHERE")
        start = self._at
        self._pass_block()
        where = self._select(dataset, self._slice(start, self._at))
        return _Draft("", self._prologue, deletes, inserts, where, graph)

    def _refusal(self, token: Token) -> QueryError:
        place = place_in(self._text, min(token.start, len(self._text)))
        word = token.text.upper()
        if token.kind is TokenKind.WORD and word in REFUSED:
            return QueryError(f"{word} is refused", place=place, hint=REFUSED[word])
        if token.is_word("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"):
            return QueryError(
                f"{word} asks, and an update changes facts", place=place, hint="use query"
            )
        return QueryError(
            "this does not begin an update", place=place, hint=f"an update is {FORMS}"
        )

    def _next_term(self) -> str:
        return self._next().text

    def _select(self, dataset: str, pattern: str) -> str:
        return f"{self._prologue}SELECT * {dataset}WHERE {pattern}"

    def _slice(self, first: int, end: int) -> str:
        """The text of these tokens, as it is written."""
        if first >= end:
            return ""
        last = self._tokens[end - 1]
        return self._text[self._tokens[first].start : last.start + len(last.text)]

    def _pass_block(self) -> None:
        self._expect("{")
        depth = 1
        while depth:
            token = self._next()
            if token is NOTHING:
                self._at = len(self._tokens)
                self._expect("}")
            if token.kind is TokenKind.MARK:
                depth += (token.text == "{") - (token.text == "}")

    def _template(self, *, names_all: bool = False) -> str:
        """A block of quads as TriG, with IRIs in the place of variables.

        With `names_all` there are no blank nodes: a new node cannot be deleted.
        """
        self._expect("{")
        parts: list[str] = []
        start = first = self._at
        while not (self._now.kind is TokenKind.MARK and self._now.text == "}"):
            if self._now is NOTHING:
                self._expect("}")
            if not self._now.is_word("GRAPH"):
                self._at += 1
                continue
            parts.append(self._triples(first, self._at))
            parts.append(self._graph_block())
            first = self._at
        parts.append(self._triples(first, self._at))
        if names_all:
            self._refuse_nodes(start, self._at)
        self._at += 1
        return "\n".join(parts)

    def _refuse_nodes(self, first: int, end: int) -> None:
        for token in self._tokens[first:end]:
            if token.kind is TokenKind.BLANK or (
                token.kind is TokenKind.MARK and token.text in "[("
            ):
                raise QueryError(
                    "a blank node cannot be deleted by name here",
                    place=place_in(self._text, token.start),
                    hint="find it with a variable and WHERE; Reasoner.remove and patches take "
                    "the labels that facts show",
                )

    def _graph_block(self) -> str:
        self._at += 1
        name = self._data(self._at, self._at + 1)
        self._at += 1
        first = self._at
        self._pass_block()
        block = f"GRAPH {name} {{ {self._data(first + 1, self._at - 1)}\n}}"
        if self._now.kind is TokenKind.MARK and self._now.text == ".":
            self._at += 1
        return block

    def _triples(self, first: int, end: int) -> str:
        if first == end:
            return ""
        ends = self._tokens[end - 1].text == "."
        return self._data(first, end) + ("" if ends else "\n.")

    def _data(self, first: int, end: int) -> str:
        """The text of these tokens, variables as IRIs."""
        if first >= end:
            return ""
        text, position = "", self._tokens[first].start
        for token in self._tokens[first:end]:
            if token.kind is TokenKind.VARIABLE:
                text += f"{self._text[position : token.start]}<{VARIABLE}{token.text[1:]}>"
                position = token.start + len(token.text)
        last = self._tokens[end - 1]
        return text + self._text[position : last.start + len(last.text)]
