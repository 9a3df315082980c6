"""RDF documents: files of every format that pyoxigraph reads, as rows of ids.

N-Triples and N-Quads go through the compiled scanner: a bad line is rejected with its place
and nothing else is lost.  In all other formats a parser can only guess where the next
statement begins after an error (and which prefixes and graphs hold there), and a guess may
make facts that nobody stated: the statements before the first error are kept, the rest of
the file is rejected with the place.

Labels of blank nodes are local to a file: the caller gives each file a scope.

Of a DOCTYPE in RDF/XML only plain entities are taken, see `livefacts.syntax.rdf.entities`; any
other is refused before it is parsed, since entities can make a small file grow without bound.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np
from pyoxigraph import DefaultGraph, NamedNode, Quad, QuadParser, RdfFormat, parse, serialize

from livefacts.errors import InputError
from livefacts.model.work_bounds import look
from livefacts.store.terms.blank_labels import ScopedLabels, hashed_scope
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.ntriples import (
    CHUNK,
    DEFAULT_GRAPH,
    HEAD,
    ROWS_PER_BATCH,
    BadLine,
    Batch,
    StatementReader,
    reason_of,
)
from livefacts.syntax.input.files import (
    STANDARD_INPUT,
    DistantFile,
    Progress,
    Source,
    SourceStream,
    is_rereadable,
    name_of,
    open_source,
    utf8,
    without_compression,
)
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.rdf.entities import (
    DOCTYPE,
    LONGEST_PROLOG,
    Entities,
    is_prolog,
    refusal,
    without_doctype,
)
from livefacts.syntax.rdf.nesting import FlatText, JsonNesting, Nesting, XmlNesting

FORMATS = {
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".ttl": RdfFormat.TURTLE,
    ".trig": RdfFormat.TRIG,
    ".n3": RdfFormat.N3,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
}
LINE_FORMATS = (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)
FORMATS_BY_NAME = {suffix[1:]: format for suffix, format in FORMATS.items()} | {
    "ntriples": RdfFormat.N_TRIPLES,
    "n-triples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "n-quads": RdfFormat.N_QUADS,
    "turtle": RdfFormat.TURTLE,
    "rdf/xml": RdfFormat.RDF_XML,
    "rdfxml": RdfFormat.RDF_XML,
    "json-ld": RdfFormat.JSON_LD,
}
QUADS_AT_A_TIME = 1 << 14
OPEN_TRIPLE_TERM = b"<<("
DEEPEST_NESTING = 400
"""Triple terms inside each other; pyoxigraph overflows its stack at some 10,000."""
NAMESPACE = re.compile(rb"\bxmlns(?::([A-Za-z][\w-]*))?\s*=\s*[\"']([^\"'<>\s]+)[\"']")
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00", b"<\x00")

# How a file begins that can be in no other format.
XML_START = re.compile(rb"<\?xml\s|<rdf:RDF[\s>]|<!DOCTYPE\s", re.IGNORECASE)
TURTLE_START = re.compile(
    rb"@(?:prefix|base)\s|(?:PREFIX|BASE)\s|#|<[A-Za-z][\w+.-]*:[^<>\s]*>\s|_:\w"
)
JSON_START = re.compile(rb'\{\s*"|\[\s*\{\s*"')


def scope_of_name(name: str | os.PathLike[str]) -> bytes:
    """The scope that a file always has, so that its blank nodes are the same at every load.

    >>> scope_of_name("data/rooms.ttl") == scope_of_name("./data/../data/rooms.ttl")
    True
    """
    text = os.fspath(name)
    full = text if "://" in text else os.path.abspath(text)
    return hashed_scope(full.encode())


def format_named(name: str | RdfFormat, *more: str) -> RdfFormat:
    """The format that a name, a file extension or pyoxigraph means; `more` would do as well."""
    if isinstance(name, RdfFormat):
        return name
    format = FORMATS_BY_NAME.get(name.lower().removeprefix("."))
    if format is None:
        known = ", ".join([*FORMATS_BY_NAME, *more])
        raise InputError(f"unknown format {name}", hint=f"known: {known}")
    return format


def format_of(source: Source, format: str | RdfFormat | None = None) -> RdfFormat:
    """The format of a source: as given, or by the extension of its name."""
    if format is not None:
        return format_named(format)
    if isinstance(source, bytes) or source == STANDARD_INPUT:
        return RdfFormat.N_TRIPLES
    name = name_of(source)
    known = FORMATS.get(without_compression(Path(name)).suffix.lower())
    if known is None:
        raise InputError(
            f"{name}: the extension does not say which format this is",
            hint=f"known are {' '.join(FORMATS)}, each with .gz or .zst too; "
            "format= (--input-format) names another",
        )
    return known


def read_rows(
    source: Source,
    dictionary: Dictionary,
    *,
    format: str | RdfFormat | None = None,
    graph: NamedNode | None = None,
    scope: bytes = b"",
    base: str | None = None,
    rejects: Rejects | None = None,
    prefixes: dict[str, str] | None = None,
    progress: Progress | None = None,
    unpacked: int | None = None,
    numbered: bool = False,
) -> Iterator[Batch]:
    """The statements of a source as batches of rows and graphs.

    `graph` is where statements of the default graph go.  Without `rejects` the first bad
    line raises an `InputError`.  `prefixes` is filled with those that the file declares.
    With `numbered`, rows of N-Triples and N-Quads come with their lines.
    """
    reading = _Reading(source, dictionary, scope, rejects, numbered=numbered)
    with open_source(source, unpacked) as stream:
        kind = _kind_of(source, format, stream)
        if kind in LINE_FORMATS:
            batches = reading.lines(stream, quads=kind == RdfFormat.N_QUADS)
        else:
            batches = reading.document(stream, kind, base or _address(source), prefixes)
        for batch in _merged(batches):
            yield batch if graph is None else _put_into(graph, batch, dictionary)
            if progress:
                progress(stream.bytes_read(), stream.size)
    reading.conclude()


def read_text(
    text: str, dictionary: Dictionary, scope: bytes, prefixes: dict[str, str] | None = None
) -> list[Batch]:
    """The statements of a text in Turtle; where it is N-Triples, line by line, which is quicker."""
    source = utf8(text)
    if text.lstrip()[:1] in ("<", "_"):
        with suppress(InputError):
            return list(read_rows(source, dictionary, format=RdfFormat.N_TRIPLES, scope=scope))
    turtle = RdfFormat.TURTLE
    return list(read_rows(source, dictionary, format=turtle, scope=scope, prefixes=prefixes))


def read_quads(
    source: Source,
    *,
    format: str | RdfFormat | None = None,
    base: str | None = None,
    prefixes: dict[str, str] | None = None,
    name: str | None = None,
) -> Iterator[Quad]:
    """The statements of a source, as terms; the first bad one raises an `InputError`.

    `name` is what the error calls the source.
    """
    reading = _Reading(source, Dictionary(), b"", None, name)
    with open_source(source) as stream:
        kind = _kind_of(source, format, stream)
        yield from reading.quads(stream, kind, base or _address(source), prefixes)


def _kind_of(source: Source, format: str | RdfFormat | None, stream: SourceStream) -> RdfFormat:
    """The format of a source; where its name says one and its beginning another, the latter."""
    named = format_of(source, format)
    if format is not None or isinstance(source, bytes) or source == STANDARD_INPUT:
        return named
    start = stream.peek(HEAD).lstrip()
    if XML_START.match(start):
        return RdfFormat.RDF_XML
    if named == RdfFormat.RDF_XML and TURTLE_START.match(start):
        return RdfFormat.TURTLE
    if named != RdfFormat.JSON_LD and JSON_START.match(start):
        return RdfFormat.JSON_LD
    if named == RdfFormat.JSON_LD and TURTLE_START.match(start):
        return RdfFormat.TURTLE
    return named


class _Reading:
    """One source on its way into a dictionary."""

    def __init__(
        self,
        source: Source,
        dictionary: Dictionary,
        scope: bytes,
        rejects: Rejects | None,
        name: str | None = None,
        numbered: bool = False,
    ) -> None:
        self._numbered = numbered
        self._source = source
        self._name = name or name_of(source)
        self._dictionary = dictionary
        self._scope = scope
        self._rejects = rejects
        self._first: Reject | None = None
        self._accepted = 0

    def lines(self, stream: SourceStream, *, quads: bool) -> Iterator[Batch]:
        reader = self._reader(self._scope, quads=quads, numbered=self._numbered)
        for batch in reader.read(stream):
            self._accepted += len(batch.rows)
            yield batch

    def _reader(self, scope: bytes, *, quads: bool, numbered: bool = False) -> StatementReader:
        source = self._source
        return StatementReader(
            self._dictionary,
            scope=scope,
            quads=quads,
            on_bad_line=self._reject_line,
            size=len(source) if isinstance(source, bytes) else CHUNK,
            numbered=numbered,
        )

    def document(
        self,
        stream: SourceStream,
        format: RdfFormat,
        base: str | None,
        prefixes: dict[str, str] | None,
    ) -> Iterator[Batch]:
        quads = self.quads(stream, format, base, prefixes)
        reader = self._reader(b"", quads=True)
        labels = ScopedLabels(self._scope)
        while chunk := list(islice(quads, QUADS_AT_A_TIME)):
            text = serialize(chunk, format=RdfFormat.N_QUADS) or b""
            yield from reader.read(io.BytesIO(labels.scoped(text)))

    def quads(
        self,
        stream: SourceStream,
        format: RdfFormat,
        base: str | None,
        prefixes: dict[str, str] | None,
    ) -> Iterator[Quad]:
        feed = _feed(stream, format)
        parser = parse(cast(IO[bytes], feed), format=format, base_iri=base)
        yield from self._until_error(parser, feed, format)
        if prefixes is not None:
            prefixes.update(feed.prefixes | parser.prefixes)

    def _until_error(self, parser: QuadParser, feed: _Feed, format: RdfFormat) -> Iterator[Quad]:
        try:
            for quad in parser:
                feed.opened = 0
                if format == RdfFormat.N3 and not isinstance(quad.graph_name, DefaultGraph):
                    raise SyntaxError("formulas are not facts: write rules in a .rules file")
                self._accepted += 1
                yield quad
        except SyntaxError as error:
            self._reject_rest(error, feed)
        except MemoryError as error:
            if "buffer" not in str(error):
                raise
            self._reject_rest(SyntaxError("a term or comment of more than 16 MB"), feed)

    def _reject_line(self, bad: BadLine) -> None:
        self._reject(Reject(self._name, bad.line, bad.column, bad.reason, bad.text))

    def _reject_rest(self, error: SyntaxError, feed: _Feed) -> None:
        line = error.lineno or feed.line
        what = "text" if isinstance(self._source, bytes) else "file"
        reason = f"{reason_of(error)}; the rest of the {what} was not read"
        text = _line_of(self._source, line) if line and is_rereadable(self._source) else ""
        self._reject(Reject(self._name, line, error.offset or 1, reason, text))

    def _reject(self, reject: Reject) -> None:
        if self._rejects is None:
            raise reject.as_error()
        self._rejects.add(reject)
        self._first = self._first or reject

    def conclude(self) -> None:
        """Say what may be wrong if nothing at all could be read."""
        if self._rejects is not None and self._first is not None and not self._accepted:
            self._rejects.note_unread(self._name, self._first)


class _Feed:
    """What a parser reads from: watches for triple terms that are nested too deeply."""

    def __init__(self, stream: SourceStream, nesting: Nesting) -> None:
        self._stream = stream
        self._nesting = nesting
        self._tail = b""
        self.opened = 0
        self.line = 0
        self.prefixes: dict[str, str] = {}
        """Prefixes that the parser does not report."""

    def read(self, size: int = -1) -> bytes:
        look()
        piece = self._stream.read(size) or b""
        self._nesting.follow(piece)
        self.opened += (self._tail + piece).count(OPEN_TRIPLE_TERM)
        self._tail = piece[1 - len(OPEN_TRIPLE_TERM) :]
        if self.opened > DEEPEST_NESTING:
            raise SyntaxError("triple terms are nested too deeply")
        return piece


def _feed(stream: SourceStream, format: RdfFormat) -> _Feed:
    if format == RdfFormat.RDF_XML:
        return _XmlFeed(stream, XmlNesting())
    return _Feed(stream, JsonNesting() if format == RdfFormat.JSON_LD else FlatText())


class _XmlFeed(_Feed):
    """The same for RDF/XML, one line at a time, since its errors do not say their line.

    A DOCTYPE before the root element is made anew from the plain entities it declares.  Any
    other is refused wherever it stands, even in a comment or a CDATA section: what hides
    there from us may not hide from the parser.
    """

    def __init__(self, stream: SourceStream, nesting: Nesting) -> None:
        super().__init__(stream, nesting)
        self._starts_line = True
        self._entities = Entities(stream.name)
        self._prolog: io.BytesIO | None = None

    def read(self, size: int = -1) -> bytes:
        if self._prolog is None:
            self._prolog = io.BytesIO(self._read_prolog())
        piece = self._prolog.readline(size)
        if not piece:
            piece = self._stream.readline(size)
            self._check(piece)
        self.line += self._starts_line and bool(piece)
        self._starts_line = piece.endswith(b"\n")
        self._nesting.follow(piece)
        self._note_prefixes(piece)
        return piece

    def _note_prefixes(self, piece: bytes) -> None:
        if b"xmlns" in piece:
            for name, iri in NAMESPACE.findall(piece):
                self.prefixes.setdefault(name.decode(), self._entities.expanded(iri).decode())

    def _read_prolog(self) -> bytes:
        prolog = self._stream.readline(LONGEST_PROLOG)
        self._check_encoding(prolog)
        while is_prolog(prolog) and len(prolog) < LONGEST_PROLOG:
            line = self._stream.readline(LONGEST_PROLOG)
            if not line:
                break
            prolog += line
        made = without_doctype(prolog, self._entities)
        for part in made.around:
            self._check(part)
        return made.text

    def _check_encoding(self, start: bytes) -> None:
        if start.startswith(OTHER_ENCODINGS):
            raise InputError(
                f"{self._stream.name} is not in UTF-8",
                hint="save the file as UTF-8 and load it again",
            )

    def _check(self, piece: bytes) -> None:
        self._entities.count(piece)
        window = (self._tail + piece).lower()
        if DOCTYPE in window:
            raise refusal(
                self._stream.name, f"in line {self.line + 1} it is behind, or inside, other things"
            )
        self._tail = window[1 - len(DOCTYPE) :]


def _merged(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same rows in batches of a useful size."""
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch.rows)
        if count >= ROWS_PER_BATCH:
            yield _one_batch(waiting)
            waiting, count = [], 0
    if waiting:
        yield _one_batch(waiting)


def _one_batch(batches: list[Batch]) -> Batch:
    rows = np.concatenate([batch.rows for batch in batches])
    numbers = [batch.lines for batch in batches if batch.lines is not None]
    lines = np.concatenate(numbers) if len(numbers) == len(batches) else None
    if all(batch.graphs is None for batch in batches):
        return Batch(rows, None, lines)
    return Batch(rows, np.concatenate([_graphs(batch) for batch in batches]), lines)


def _graphs(batch: Batch) -> Ids:
    if batch.graphs is not None:
        return batch.graphs
    return np.full(len(batch.rows), DEFAULT_GRAPH, np.int32)


def _put_into(graph: NamedNode, batch: Batch, dictionary: Dictionary) -> Batch:
    graphs = _graphs(batch)
    graphs[graphs == DEFAULT_GRAPH] = dictionary.encode_one(graph)
    return Batch(batch.rows, graphs)


def _address(source: Source) -> str | None:
    """The address of a file, against which its relative IRIs are resolved."""
    if isinstance(source, bytes) or source == STANDARD_INPUT:
        return None
    if isinstance(source, DistantFile):
        return source.name
    return Path(source).absolute().as_uri()


def _line_of(source: Source, number: int) -> str:
    """A line of a source that can be read again."""
    with open_source(source) as stream:
        while number > 1:
            piece = stream.readline(1 << 16)
            if not piece:
                return ""
            number -= piece.endswith(b"\n")
        return stream.readline(HEAD).rstrip(b"\r\n").decode("utf-8", "replace")
