"""N-Triples: lines of text become rows of ids, with no object per term.

The compiled scanner takes the lines that it is sure of.  Every other line (unusual escapes,
unusual language tags, triple terms, anything wrong) goes to pyoxigraph, one line at a time,
so that exactly those lines are accepted that pyoxigraph accepts, with the same terms.  A
line is accepted as a whole or rejected as a whole, and a rejected line takes nothing else
with it.

Lines end with LF, CR or CRLF.  The text is read in pieces; a line may have 16 MiB, as in
pyoxigraph.  The same scanner reads N-Quads, where a fourth term names the graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, DefaultGraph, Quad, RdfFormat, Triple, parse, serialize

from livefacts.model.facts import Term
from livefacts.store.terms.blank_labels import label_in
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.line_scanner import NEWLINE, Spans, scan

CHUNK = 1 << 20
LONGEST_LINE = 1 << 24
ROWS_PER_BATCH = 1 << 16
STATEMENTS_PER_SCAN = 1 << 14
SLOW_LINES_PER_SCAN = 1 << 12
LINES_AT_A_TIME = 1 << 8
SHORTEST_STATEMENT = 12
"""Bytes that most statements have at least: so many fit into the room for a text."""
DEEPEST_TRIPLE_TERM = 100
DEFAULT_GRAPH = -1
TIME = re.compile(rb'-?[0-9]+|"[-+:.TZ0-9]+"(?:\^\^<[^<>]*>)?')
TIMED = "the last term is a time, and facts with times are a stream"
"""Why a line is rejected that would be a statement without its last term."""

RETURN = ord("\r")
OVERLONG = -1
HEAD = 400
"""Bytes that are kept of a line that is too long, or rejected."""


class RawStream(Protocol):
    """Anything that fills a buffer with bytes, as files do; 0 at the end."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


class BadLine(NamedTuple):
    """A line that was rejected: its number and the column from 1, why, and its text."""

    line: int
    column: int
    reason: str
    text: str


class Batch(NamedTuple):
    """Rows of ids, and the graph of each row, or None if all are in the default graph.

    `lines` are the numbers of the lines on which they stand, where these were asked for.
    """

    rows: Ids
    graphs: Ids | None
    lines: NDArray[np.int64] | None = None


class LineBuffer:
    """A stream of bytes in pieces that end where a line ends, with a line feed after them."""

    def __init__(self, stream: RawStream, size: int = CHUNK) -> None:
        self.text = np.empty(min(CHUNK, size) + 2, np.uint8)
        self.head = b""
        self._stream = stream
        self._given = 0
        self._filled = 0
        self._covered = 0

    def next_lines(self) -> int:
        """Bring whole lines to the start of `text`; how many bytes they take, 0 at the end.

        OVERLONG says that a line was longer than it may be; `head` is its beginning, and
        its end has been read.
        """
        self._drop_given()
        searched = max(0, self._filled - 1)
        while self._read_more():
            end = self._last_line_end(searched)
            if self._filled > LONGEST_LINE and not 0 < self._first_line_end() <= LONGEST_LINE:
                return self._pass_over_line()
            if end:
                return self._give(end)
            searched = self._filled - 1
        return self._give(self._filled)

    def _drop_given(self) -> None:
        if self._given:
            self.text[self._given] = self._covered
            self._drop(self._given)
            self._given = 0

    def _drop(self, size: int) -> None:
        rest = self.text[size : self._filled].copy()
        self.text[: len(rest)] = rest
        self._filled = len(rest)

    def _give(self, end: int) -> int:
        self._given = end
        self._covered = int(self.text[end])
        self.text[end] = NEWLINE
        return end

    def _read_more(self) -> bool:
        if self._filled + 1 >= len(self.text):
            larger = np.empty(2 * len(self.text), np.uint8)
            larger[: self._filled] = self.text[: self._filled]
            self.text = larger
        room = self.text[self._filled : min(self._filled + CHUNK, len(self.text) - 1)].data
        size = self._stream.readinto(room) or 0
        self._filled += size
        return size > 0

    def _last_line_end(self, searched: int) -> int:
        """The place after the last line end, or 0; a CR at the very end may have an LF."""
        text = self.text[searched : self._filled].tobytes()
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))
        return searched + end + 1 if end >= 0 else 0

    def _first_line_end(self) -> int:
        text = self.text[: self._filled].tobytes()
        ends = [end for end in (text.find(b"\n"), text.find(b"\r", 0, -1)) if end >= 0]
        if not ends:
            return 0
        end = min(ends)
        return end + (2 if text[end : end + 2] == b"\r\n" else 1)

    def _pass_over_line(self) -> int:
        self.head = self.text[:HEAD].tobytes()
        end = self._first_line_end()
        while not end:
            # The last byte stays: a CR there belongs to an LF that may follow.
            self._drop(self._filled - 1)
            if not self._read_more():
                end = self._filled
            end = end or self._first_line_end()
        self._drop(end)
        return OVERLONG


def _spans_for(size: int) -> Spans:
    """Room for the statements of a text of so many bytes, or of a part of it."""
    statements = min(STATEMENTS_PER_SCAN, size // SHORTEST_STATEMENT + 1)
    lines = min(SLOW_LINES_PER_SCAN, statements)
    return Spans(
        starts=np.empty(3 * statements, np.int64),
        ends=np.empty(3 * statements, np.int64),
        graph_starts=np.empty(statements, np.int64),
        graph_ends=np.empty(statements, np.int64),
        slow=np.empty((lines, 3), np.int64),
    )


def known_triples(text: bytes, dictionary: Dictionary) -> Ids | None:
    """The triples of N-Triples text, all of whose terms are known; None if that is not sure.

    Nothing is added to the dictionary.
    """
    spans = _plain_spans(text)
    if spans is None:
        return None
    found = dictionary.find_spans(*spans)
    return None if (found < 0).any() else found.reshape(-1, 3)


def plain_triples(text: bytes, dictionary: Dictionary, scope: bytes) -> Ids | None:
    """The triples of short N-Triples text that the scanner is sure of; None for any other."""
    spans = _plain_spans(text)
    return None if spans is None else dictionary.encode_spans(*spans, scope).reshape(-1, 3)


def _plain_spans(
    text: bytes,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]] | None:
    """Where the terms of N-Triples start and end, if the scanner is sure of all lines at once."""
    buffer = np.frombuffer(bytearray(text + b"\n"), np.uint8)
    spans = _spans_for(len(text))
    position, _, count, slow = scan(buffer, 0, len(text), 1, False, spans)
    if slow or position < len(text):
        return None
    return buffer, spans.starts[: 3 * count], spans.ends[: 3 * count]


class StatementReader:
    """Reads one N-Triples or N-Quads text into a dictionary, line by line.

    `size` is that of the text, where it is known: a short one needs little room.  With
    `numbered`, batches say on which line each row stands.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        *,
        scope: bytes,
        quads: bool,
        on_bad_line: Callable[[BadLine], None],
        size: int = CHUNK,
        numbered: bool = False,
    ) -> None:
        self._numbered = numbered
        self._dictionary = dictionary
        self._scope = scope
        self._quads = quads
        self._format = RdfFormat.N_QUADS if quads else RdfFormat.N_TRIPLES
        self._on_bad_line = on_bad_line
        self._line = 1
        self._size = size
        self._spans = _spans_for(size)

    @property
    def lines(self) -> int:
        """How many lines have been read."""
        return self._line - 1

    def read(self, stream: RawStream) -> Iterator[Batch]:
        """The statements of a stream, a batch at a time."""
        lines = LineBuffer(stream, self._size)
        while size := lines.next_lines():
            if size == OVERLONG:
                self._reject_overlong_line(lines.head)
            else:
                yield from self._read_lines(lines.text, size)

    def _read_lines(self, text: NDArray[np.uint8], size: int) -> Iterator[Batch]:
        position = 0
        while position < size:
            begin, first = position, self._line
            position, self._line, count, slow = scan(
                text, position, size, self._line, self._quads, self._spans
            )
            if count and self._numbered:
                # A subject that is that of the line before has its place there.
                places = self._spans.starts[1 : 3 * count : 3]
                numbers = first + _lines_before(text[begin:position], places - begin)
                yield self._encode(text, count)._replace(lines=numbers)
            elif count:
                yield self._encode(text, count)
            if slow:
                yield from self._read_slowly(text, self._spans.slow[:slow].tolist())

    def _encode(self, text: NDArray[np.uint8], count: int) -> Batch:
        spans, scope = self._spans, self._scope
        ids = self._dictionary.encode_spans(
            text, spans.starts[: 3 * count], spans.ends[: 3 * count], scope
        )
        named = np.flatnonzero(spans.graph_starts[:count] >= 0)
        if not len(named):
            return Batch(ids.reshape(-1, 3), None)
        graphs = np.full(count, DEFAULT_GRAPH, np.int32)
        graphs[named] = self._dictionary.encode_spans(
            text, spans.graph_starts[named], spans.graph_ends[named], scope
        )
        return Batch(ids.reshape(-1, 3), graphs)

    def _read_slowly(self, text: NDArray[np.uint8], lines: list[list[int]]) -> Iterator[Batch]:
        for first in range(0, len(lines), LINES_AT_A_TIME):
            group = [
                (text[start:end].tobytes(), number)
                for start, end, number in lines[first : first + LINES_AT_A_TIME]
            ]
            canonical = None
            if not self._numbered:
                canonical = self._in_canonical_form([line for line, _ in group])
            if canonical is None:
                yield from self._read_one_by_one(group)
            else:
                yield from self._read_canonical(canonical)

    def _in_canonical_form(self, lines: list[bytes]) -> bytes | None:
        """Good lines as the scanner likes them; None if anything is wrong with one."""
        if any(map(_is_nested_too_deeply, lines)):
            return None
        try:
            quads = parse(b"\n".join(lines), format=self._format)
            return serialize(quads, format=RdfFormat.N_QUADS)
        except (SyntaxError, OSError, ValueError):
            return None

    def _read_canonical(self, canonical: bytes) -> Iterator[Batch]:
        """Lines that are known to be good; what is still unusual becomes objects."""
        text = np.frombuffer(bytearray(canonical + b"\n"), np.uint8)
        size, position = len(canonical), 0
        while position < size:
            position, _, count, slow = scan(text, position, size, 1, True, self._spans)
            if count:
                yield self._encode(text, count)
            for start, end, _ in self._spans.slow[:slow].tolist():
                quads = list(parse(text[start:end].tobytes(), format=RdfFormat.N_QUADS))
                yield encode_quads(quads, self._dictionary, self._scope)

    def _read_one_by_one(self, group: list[tuple[bytes, int]]) -> Iterator[Batch]:
        found = [
            (quad, number) for line, number in group for quad in self._parse_line(line, number)
        ]
        if found:
            numbers = np.array([number for _, number in found], np.int64)
            quads = [quad for quad, _ in found]
            yield encode_quads(quads, self._dictionary, self._scope)._replace(lines=numbers)

    def _parse_line(self, line: bytes, number: int) -> list[Quad]:
        if _is_nested_too_deeply(line):
            self._reject(number, 1, f"more than {DEEPEST_TRIPLE_TERM} triple terms in a line", line)
            return []
        try:
            return list(parse(line, format=self._format))
        except SyntaxError as error:
            self._reject(number, error.offset or 1, _line_reason(error, line), line)
        except (OSError, ValueError) as error:
            self._reject(number, 1, str(error), line)
        return []

    def _reject(self, number: int, column: int, reason: str, line: bytes) -> None:
        text = line[:HEAD].decode("utf-8", "replace")
        self._on_bad_line(BadLine(number, column, reason, text))

    def _reject_overlong_line(self, head: bytes) -> None:
        self._reject(self._line, 1, f"line longer than {LONGEST_LINE:,} bytes", head)
        self._line += 1


def _lines_before(text: NDArray[np.uint8], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many lines of a text end before each of some places; lines end with LF, CR or CRLF."""
    is_end = text == NEWLINE
    returns = text == RETURN
    if returns.any():
        returns[:-1] &= ~is_end[1:]
        is_end |= returns
    return np.searchsorted(np.flatnonzero(is_end), places)


def _is_nested_too_deeply(line: bytes) -> bool:
    # Each term of a term is a call on pyoxigraph's stack, which ends at some 10,000.
    return line.count(b"<<") > DEEPEST_TRIPLE_TERM


def _line_reason(error: SyntaxError, line: bytes) -> str:
    """What is wrong with a line; one term more than a statement has may be a time."""
    *statement, last, end = [b"", b"", *line.rsplit(None, 2)]
    if end == b"." and TIME.fullmatch(last):
        try:
            list(parse(b"".join(statement) + b" .", format=RdfFormat.N_QUADS))
        except (SyntaxError, ValueError):
            pass
        else:
            return TIMED
    return reason_of(error).replace("Unexpected end of file", "the line ends too early")


def reason_of(error: SyntaxError) -> str:
    """What a parser found wrong, without the place, which the error carries apart.

    >>> reason_of(SyntaxError("Parser error at line 1 column 9: Unexpected end"))
    'Unexpected end'
    """
    message = str(error.msg)
    place, colon, reason = message.partition(": ")
    return reason if colon and place.startswith("Parser error") else message


def encode_quads(quads: list[Quad], dictionary: Dictionary, scope: bytes) -> Batch:
    """Rows and graphs of quads; the labels of their blank nodes get the scope."""
    terms: list[Term] = []
    for quad in quads:
        terms += (quad.subject, quad.predicate, quad.object)
    ids = dictionary.encode(scoped(term, scope) for term in terms)
    if all(isinstance(quad.graph_name, DefaultGraph) for quad in quads):
        return Batch(ids.reshape(-1, 3), None)
    graphs = [
        DEFAULT_GRAPH
        if isinstance(quad.graph_name, DefaultGraph)
        else dictionary.encode_one(scoped(quad.graph_name, scope))
        for quad in quads
    ]
    return Batch(ids.reshape(-1, 3), np.array(graphs, np.int32))


def scoped(term: Term, scope: bytes) -> Term:
    """The term with its blank nodes in a scope."""
    if not scope:
        return term
    if isinstance(term, BlankNode):
        return BlankNode(label_in(scope, term.value.encode()).decode())
    if isinstance(term, Triple):
        parts: Any = (scoped(part, scope) for part in (term.subject, term.predicate, term.object))
        return Triple(*parts)
    return term
