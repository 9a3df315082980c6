"""C-SPARQL and RSP-QL: the text of a registered query, as data.

Only what these languages add to SPARQL is read here.  The query itself is handed on as the
same text in which the additions are blanked out: what a SPARQL parser finds wrong with it,
it finds at the line and column where the user wrote it.  `WINDOW` becomes `GRAPH`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode

from livefacts.errors import Place, QueryError
from livefacts.language.registration import RegisteredQuery, StreamOperator, StreamWindow
from livefacts.syntax.sparql.lexemes import Lexeme, Lexemes
from livefacts.syntax.sparql.query_forms import GraphClause
from livefacts.syntax.sparql.query_reader import read_registration
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    Token,
    place_in,
    without_code_point_escapes,
)
from livefacts.syntax.sparql.stream_clauses import RegisteredText, StreamClause

ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
WINDOW_BASE = "http://livefacts.invalid/"
"""What relative names of windows are relative to, where a text declares no BASE."""


def parse_registration(
    text: str, prefixes: Mapping[str, str] | None = None, name: str = "query"
) -> RegisteredQuery:
    """The query that a text registers; a `QueryError` with its place if it does not.

    `prefixes` are known without a declaration; `name` is what a text without REGISTER is called.
    """
    DEFAULT_LIMITS.check(text)
    text = without_code_point_escapes(text)
    tokens, lexemes, found = read_registration(text, prefixes or {}, WINDOW_BASE)
    return _Registration(text, tokens, lexemes, found, name).query()


class _Registration:
    """One text: blanks out what is not SPARQL, and checks what is left."""

    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        lexemes: Lexemes,
        found: RegisteredText,
        name: str,
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._lexemes = lexemes
        self._found = found
        self._name = name
        clauses = found.asked.clauses
        self._streams = [each for each in clauses if isinstance(each, StreamClause)]
        self._graphs = [each for each in clauses if isinstance(each, GraphClause)]
        self._place = Place("query", 1, 1, text.partition("\n")[0])
        if found.register is not None:
            self._place = self._at(found.register.word)

    def query(self) -> RegisteredQuery:
        form, register = self._form(), self._found.register
        what = "QUERY" if register is None else register.what.type
        every = None if register is None else register.every
        makes_stream = what == "STREAM" or (what != "QUERY" and form == "CONSTRUCT")
        relation = what if what not in ("QUERY", "STREAM") else "RSTREAM"
        windows = self._windows()
        self._check(what, form, relation, reads_nothing=not windows and every is None)
        return RegisteredQuery(
            self._name if register is None else _name(register.name),
            self._body({window.name for window in windows}),
            replace(self._found.asked.query, base=self._lexemes.names.base, dataset=None),
            windows,
            StreamOperator(relation),
            makes_stream,
            None if every is None else every.amount,
            tuple(_name(each.name) for each in self._graphs if each.kind == "default"),
            tuple(_name(each.name) for each in self._graphs if each.kind == "named"),
            form,
            self._place,
            self._place if every is None else self._at(every.first),
        )

    def _form(self) -> str:
        form = self._found.asked.query.form
        if form == "DESCRIBE":
            (first, *_) = (token for token in self._tokens if token.is_word(form))
            raise self._refusal(
                first.start,
                f"{first.text} does not begin a registered query",
                "SELECT, ASK or CONSTRUCT may be registered",
            )
        return form

    def _check(self, what: str, form: str, relation: str, *, reads_nothing: bool) -> None:
        """Refuse what makes no sense as a whole."""
        said = hint = ""
        register = self._found.register
        if what == "STREAM" and form == "ASK":
            said = "a stream is made of triples, and ASK makes none"
            hint = "CONSTRUCT the triples of the stream, or write REGISTER QUERY"
        elif what == "STREAM" and form == "SELECT" and register and register.name.value is None:
            said = f"{register.name.text} is no IRI, and the properties of rows are named after one"
            hint = "write REGISTER STREAM <http://...>, or CONSTRUCT the triples of the stream"
        elif form == "ASK" and relation != "RSTREAM":
            said = f"ASK has one answer, of which {relation} reports nothing"
            hint = "write REGISTER QUERY"
        elif reads_nothing:
            said = "the query reads no stream, so nothing says when it is computed"
            hint = "add FROM STREAM <...> [RANGE 10s STEP 1s] before WHERE, or COMPUTE EVERY 1s"
        if said:
            raise QueryError(said, place=self._place, hint=hint)

    def _windows(self) -> tuple[StreamWindow, ...]:
        found: list[StreamWindow] = []
        for clause in self._streams:
            stream, start = _name(clause.stream), clause.word.start_pos
            name = None if clause.name is None else clause.name.value.value
            if name is not None and name in [other.name for other in found]:
                said = f"two windows are called <{name}>"
                raise self._refusal(start, said, "rename one of them")
            if not ABSOLUTE.match(stream):
                said = f"<{stream}> is not the name of a stream"
                raise self._refusal(start, said, "a stream is an absolute IRI")
            found.append(StreamWindow(stream, clause.window, name, self._at(clause.word)))
        return tuple(found)

    def _body(self, windows: set[str | None]) -> str:
        """The text with nothing but its query, every character where it was."""
        body = list(self._text)
        register = self._found.register
        spans = [(each.word.start_pos, each.last.start_pos + 1) for each in self._streams]
        spans += [(g.word.start_pos, g.name.start_pos + len(g.name.text)) for g in self._graphs]
        if register is not None:
            ends = [token.start for token in self._tokens if token.text.upper() == "AS"]
            spans.append((register.word.start_pos, ends[0] + len("AS")))
        for first, end in spans:
            for at in range(first, end):
                body[at] = self._text[at] if self._text[at] in "\r\n" else " "
        for word, name in self._lexemes.windows:
            body[word.start_pos : word.start_pos + len("WINDOW")] = "GRAPH "
            if isinstance(name.value, NamedNode) and name.value.value not in windows:
                raise self._refusal(
                    name.start_pos,
                    f"there is no window {name.text}",
                    f"FROM NAMED WINDOW {name.text} ON <stream> [RANGE 10s STEP 1s] declares it",
                )
        return "".join(body)

    def _refusal(self, position: int, message: str, hint: str) -> QueryError:
        return QueryError(message, place=place_in(self._text, position), hint=hint)

    def _at(self, lexeme: Lexeme) -> Place:
        return place_in(self._text, lexeme.start_pos)


def _name(lexeme: Lexeme) -> str:
    """A name as it is written; one that is relative to nothing stays so."""
    if lexeme.value is None:
        return lexeme.text
    value: str = lexeme.value.value
    return value.removeprefix(WINDOW_BASE)
