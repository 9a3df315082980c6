"""C-SPARQL and RSP-QL: the text of a registered query, as data.

Only what these languages add to SPARQL is read here.  The query itself is handed on as the
same text in which the additions are blanked out: what a SPARQL parser finds wrong with it,
it finds at the line and column where the user wrote it.  `WINDOW` becomes `GRAPH`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from livefacts.errors import InputError, Place, QueryError
from livefacts.language.registration import (
    CountWindow,
    RangeWindow,
    RegisteredQuery,
    StreamOperator,
    StreamWindow,
)
from livefacts.model.durations import Duration, duration, read_duration
from livefacts.syntax.sparql.csparql_errors import explained

if TYPE_CHECKING:
    from lark import Lark, Token

ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
WINDOW_BASE = "http://livefacts.invalid/"
"""What relative names of windows are relative to, where a text declares no BASE."""
ALIASES = {"COMPUTED": "COMPUTE", "ELEMENTS": "TRIPLES", "SLIDE": "STEP"}
KEYWORDS = frozenset(
    [
        "BASE",
        "PREFIX",
        "REGISTER",
        "QUERY",
        "STREAM",
        "RSTREAM",
        "ISTREAM",
        "DSTREAM",
        "COMPUTE",
        "EVERY",
        "AS",
        "FROM",
        "NAMED",
        "WINDOW",
        "ON",
        "RANGE",
        "STEP",
        "TUMBLING",
        "TRIPLES",
        "BOUNDS",
        "CLOSED",
    ]
)
FORMS = ("SELECT", "ASK", "CONSTRUCT")
ONE_POINT = Duration(1)


def parse_registration(
    text: str, prefixes: dict[str, str] | None = None, name: str = "query"
) -> RegisteredQuery:
    """The query that a text registers; a `QueryError` with its place if it does not.

    `prefixes` are known without a declaration; `name` is what a text without REGISTER is called.
    """
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise explained(text, error) from None
    return _Reader(text, dict(prefixes or {}), name).read(tree)


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(
        Path(__file__).with_suffix(".lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        maybe_placeholders=False,
        keep_all_tokens=True,
        lexer_callbacks={"WORD": _keyword},
    )


def _keyword(token: Token) -> Token:
    word = token.upper()
    word = ALIASES.get(word, word)
    return token.update(type=word) if word in KEYWORDS else token


class _Reader:
    """Reads one text, and blanks out what is not SPARQL."""

    def __init__(self, text: str, prefixes: dict[str, str], name: str) -> None:
        self._text = text
        self._prefixes = prefixes
        self._name = name
        self._base = ""
        self._body = list(text)
        self._what = "QUERY"
        self._every: Duration | None = None
        self._windows: list[StreamWindow] = []
        self._graphs: list[str] = []
        self._named_graphs: list[str] = []
        self._place = self._every_place = Place("query", 1, 1, text.partition("\n")[0])

    def read(self, tree: Any) -> RegisteredQuery:
        depth = 0
        form = None
        for part in tree.children:
            if not hasattr(part, "data"):
                depth += {"{": 1, "}": -1}.get(str(part), 0)
                form = form or part
                continue
            if part.data in _READERS:
                self._refuse_depth(part, depth)
            _READ[part.data](self, part)
            depth += part.data == "window_pattern"
        return self._query(self._form(form))

    def _query(self, form: str) -> RegisteredQuery:
        makes_stream = self._what != "QUERY" and form == "CONSTRUCT"
        relation = self._what if self._what not in ("QUERY", "STREAM") else "RSTREAM"
        if self._what == "STREAM" and not makes_stream:
            raise self._refuse_all(
                f"a stream is made of triples, and {form} makes none",
                "CONSTRUCT the triples of the stream, or write REGISTER QUERY",
            )
        if form == "ASK" and relation != "RSTREAM":
            raise self._refuse_all(
                f"ASK has one answer, of which {relation} reports nothing", "write REGISTER QUERY"
            )
        if not self._windows and self._every is None:
            raise self._refuse_all(
                "the query reads no stream, so nothing says when it is computed",
                "add FROM STREAM <...> [RANGE 10s STEP 1s] before WHERE, or COMPUTE EVERY 1s",
            )
        return RegisteredQuery(
            self._name,
            "".join(self._body),
            tuple(self._windows),
            StreamOperator(relation),
            makes_stream,
            self._every,
            tuple(self._graphs),
            tuple(self._named_graphs),
            form,
            self._place,
            self._every_place,
        )

    def _refuse_all(self, message: str, hint: str) -> QueryError:
        return QueryError(message, place=self._place, hint=hint)

    def _form(self, first: Token | None) -> str:
        if first is None:
            raise QueryError(
                "the query ends where it should begin",
                place=_place(self._text, len(self._text.rstrip())),
                hint="SELECT, ASK or CONSTRUCT comes behind AS",
            )
        if first.upper() not in FORMS:
            raise self._refusal(
                first,
                f"{first} does not begin a registered query",
                "SELECT, ASK or CONSTRUCT may be registered",
            )
        return str(first.upper())

    # the parts

    def _take_base(self, node: Any) -> None:
        self._base = urljoin(self._base, _tokens(node)[1][1:-1])

    def _take_prefix(self, node: Any) -> None:
        _, prefix, iri = _tokens(node)
        if not prefix.endswith(":"):
            raise self._refusal(prefix, f"{prefix} is not a prefix", "write PREFIX ex: <...>")
        self._prefixes[prefix[:-1]] = urljoin(self._base, iri[1:-1])

    def _take_register(self, node: Any) -> None:
        self._blank(node)
        register, what, *_ = _tokens(node)
        self._place = _place(self._text, register.start_pos or 0)
        self._what = str(what.type)
        name, *every = node.children[2:-1]
        (token,) = _tokens(name)
        self._name = self._iri(token) if token.type in ("IRI", "NAME") else str(token)
        if every:
            _, word, *length = _tokens(every[0])
            self._every = self._some(length, word)
            self._every_place = _place(self._text, length[0].start_pos or 0)

    def _take_graph(self, node: Any) -> None:
        self._blank(node)
        self._graphs.append(self._iri(_tokens(node)[-1]))

    def _take_named_graph(self, node: Any) -> None:
        self._blank(node)
        self._named_graphs.append(self._iri(_tokens(node)[-1]))

    def _take_stream(self, node: Any) -> None:
        self._blank(node)
        iri, window = node.children[-2:]
        stream = self._iri(_tokens(iri)[0])
        is_named = any(token.type == "NAMED" for token in node.children[:2])
        self._add_window(node, stream, window, stream if is_named else None)

    def _take_named_window(self, node: Any) -> None:
        self._blank(node)
        iri, window = node.children[-2:]
        name = self._window_name(_tokens(node.children[3])[0])
        self._add_window(node, self._iri(_tokens(iri)[0]), window, name)

    def _take_window_pattern(self, node: Any) -> None:
        word, name, _ = _tokens(node)
        start = word.start_pos or 0
        self._body[start : start + len(word)] = "GRAPH "
        if name.type == "VARIABLE":
            return
        known = [window.name for window in self._windows if window.name]
        if self._window_name(name) not in known:
            raise self._refusal(
                name,
                f"there is no window {name}",
                f"FROM NAMED WINDOW {name} ON <stream> [RANGE 10s STEP 1s] declares it",
            )

    def _add_window(self, node: Any, stream: str, window: Any, name: str | None) -> None:
        first = _tokens(node)[0]
        if name is not None and name in [other.name for other in self._windows]:
            raise self._refusal(first, f"two windows are called <{name}>", "rename one of them")
        if not ABSOLUTE.match(stream):
            raise self._refusal(
                first, f"<{stream}> is not the name of a stream", "a stream is an absolute IRI"
            )
        place = _place(self._text, first.start_pos or 0)
        self._windows.append(StreamWindow(stream, self._window(window), name, place))

    def _window(self, node: Any) -> RangeWindow | CountWindow:
        tokens = _tokens(node)
        closed = any(token.type == "BOUNDS" for token in tokens)
        inner = [t for t in tokens[1:-1] if t.type not in ("BOUNDS", "CLOSED")]
        if node.children[1].data == "by_count":
            return self._count_window(inner, closed)
        at = next((n for n, t in enumerate(inner) if t.type in ("STEP", "TUMBLING")), len(inner))
        range = self._some(inner[1:at], inner[0])
        if at == len(inner):
            return RangeWindow(range, ONE_POINT, closed)
        if inner[at].type == "TUMBLING":
            return RangeWindow(range, range, closed)
        return RangeWindow(range, self._some(inner[at + 1 :], inner[at]), closed)

    def _count_window(self, tokens: list[Token], closed: bool) -> CountWindow:
        if closed:
            raise self._refusal(
                tokens[0], "a window of so many triples has no bounds", "leave BOUNDS CLOSED out"
            )
        numbers = [token for token in tokens if token.type == "NUMBER"]
        for number in numbers:
            if not number.isdecimal() or not int(number):
                raise self._refusal(number, f"{number} is no number of triples", "write 10")
        return CountWindow(*map(int, numbers))

    # words

    def _some(self, parts: list[Token], before: Token) -> Duration:
        number, *unit = parts
        try:
            if number.type == "ISO_DURATION":
                length = read_duration(number)
            else:
                length = duration(str(number), str(unit[0]) if unit else "")
        except InputError as error:
            raise self._refusal(number, error.message, error.hint) from None
        if not length.amount:
            raise self._refusal(
                number,
                f"{before} needs a length of time",
                f"write {before} 10s, or 1 min, or PT10S",
            )
        return length

    def _iri(self, token: Token) -> str:
        if token.type == "IRI":
            return urljoin(self._base, token[1:-1])
        prefix, _, local = token.partition(":")
        if prefix not in self._prefixes:
            raise self._refusal(
                token, f"the prefix {prefix}: is not declared", f"begin with PREFIX {prefix}: <...>"
            )
        return self._prefixes[prefix] + local.replace("\\", "")

    def _window_name(self, token: Token) -> str:
        return urljoin(self._base or WINDOW_BASE, self._iri(token))

    def _blank(self, node: Any) -> None:
        """Leave nothing of a part but its line breaks."""
        tokens = _tokens(node)
        for at in range(tokens[0].start_pos or 0, tokens[-1].end_pos or 0):
            if self._body[at] not in "\r\n":
                self._body[at] = " "

    def _refuse_depth(self, node: Any, depth: int) -> None:
        if depth:
            raise self._refusal(
                _tokens(node)[0], "FROM inside of braces", "FROM stands in front of WHERE"
            )

    def _refusal(self, token: Token, message: str, hint: str) -> QueryError:
        return QueryError(message, place=_place(self._text, token.start_pos or 0), hint=hint)


_READERS = frozenset(["graph", "named_graph", "stream", "named_window"])
_READ = {
    "base": _Reader._take_base,
    "prefix": _Reader._take_prefix,
    "register": _Reader._take_register,
    "graph": _Reader._take_graph,
    "named_graph": _Reader._take_named_graph,
    "stream": _Reader._take_stream,
    "named_window": _Reader._take_named_window,
    "window_pattern": _Reader._take_window_pattern,
}


def _tokens(node: Any) -> list[Token]:
    return list(_each_token(node))


def _each_token(node: Any) -> Iterator[Token]:
    if not hasattr(node, "data"):
        yield node
        return
    for child in node.children:
        yield from _each_token(child)


def _place(text: str, position: int) -> Place:
    before = text[:position]
    start = before.rfind("\n") + 1
    shown = text[start:].partition("\n")[0]
    return Place("query", before.count("\n") + 1, position - start + 1, shown)
