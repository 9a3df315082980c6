"""The serializer: rows of ids as an RDF file in any format, packed if its name says so.

N-Triples and N-Quads are written by a kernel; the other formats by pyoxigraph, from the
same lines.  Formats without graphs (N-Triples, Turtle, N3, RDF/XML) get the statements of
all graphs.  A file appears under its name when it is complete, not before.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias, cast

import numpy as np
from pyoxigraph import Quad, RdfFormat, parse, serialize

from livefacts.errors import InputError
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.id_reader import TermReader
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, Batch
from livefacts.syntax.input.files import STANDARD_INPUT
from livefacts.syntax.rdf.documents import format_named, format_of

Target: TypeAlias = str | os.PathLike[str] | IO[bytes]
"""A path, "-" for standard output, or a binary stream."""

ROWS_AT_A_TIME = 1 << 15
WITH_GRAPHS = (RdfFormat.N_QUADS, RdfFormat.TRIG, RdfFormat.JSON_LD)
ENDS_AS_XML_NAME = re.compile(r"[^\W\d][\w.\-]*>$")


def write_rows(
    target: Target,
    batches: Iterable[Batch],
    terms: Dictionary | TermReader,
    *,
    format: str | RdfFormat | None = None,
    prefixes: dict[str, str] | None = None,
) -> int:
    """Write statements to a file or stream; how many there were.

    The format is the one given, or that of the file's extension; N-Triples for a stream.
    """
    kind = _format_of_target(target, format)
    written = _Count()
    pieces = written.counting(_pieces(batches, kind in WITH_GRAPHS))
    with open_target(target) as stream:
        if kind in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
            for piece in pieces:
                stream.write(terms.write_ntriples(piece))
        else:
            quads = _quads(pieces, terms, kind)
            serialize(quads, stream, kind, prefixes=prefixes)
    return written.rows


class _Count:
    """Counts rows that go by."""

    def __init__(self) -> None:
        self.rows = 0

    def counting(self, pieces: Iterable[Ids]) -> Iterator[Ids]:
        for piece in pieces:
            self.rows += len(piece)
            yield piece


def _format_of_target(target: Target, format: str | RdfFormat | None) -> RdfFormat:
    if format is not None:
        return format_named(format)
    if isinstance(target, str | os.PathLike):
        return format_of(target)
    return RdfFormat.N_TRIPLES


def _pieces(batches: Iterable[Batch], with_graphs: bool) -> Iterator[Ids]:
    """Rows of three columns, or of four with the graph, not too many at a time."""
    for rows, graphs, _ in batches:
        statements = rows
        if with_graphs:
            column = np.full(len(rows), DEFAULT_GRAPH, np.int32) if graphs is None else graphs
            statements = np.column_stack([rows, column])
        for start in range(0, len(statements), ROWS_AT_A_TIME):
            yield statements[start : start + ROWS_AT_A_TIME]


def _quads(
    pieces: Iterable[Ids], terms: Dictionary | TermReader, format: RdfFormat
) -> Iterator[Quad]:
    for piece in pieces:
        if format == RdfFormat.RDF_XML:
            _check_xml_names(np.unique(piece[:, 1]), terms)
        yield from parse(terms.write_ntriples(piece), format=RdfFormat.N_QUADS)


def _check_xml_names(predicates: Ids, terms: Dictionary | TermReader) -> None:
    for text in terms.texts(predicates):
        if not ENDS_AS_XML_NAME.search(text):
            raise InputError(
                f"RDF/XML cannot write the predicate {text}: it does not end in an XML name",
                hint="choose another format, for example Turtle (.ttl)",
            )


@contextmanager
def open_target(target: Target) -> Iterator[IO[bytes]]:
    """A stream to write to; a file is packed if its name ends in .gz or .zst."""
    if not isinstance(target, str | os.PathLike):
        yield target
    elif os.path.exists(target) and not os.path.isfile(target):
        with _directly(Path(target)) as stream:
            yield stream
    elif target == STANDARD_INPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with _new_file(Path(target)) as stream:
            yield stream


@contextmanager
def _directly(path: Path) -> Iterator[IO[bytes]]:
    """What is no file but can be written to, such as /dev/null or a pipe."""
    try:
        with path.open("wb") as stream:
            yield stream
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when everything is in it, and vanishes on an error."""
    unfinished = path.with_name(path.name + ".part")
    try:
        with _packed(unfinished, path.suffix.lower()) as stream:
            yield stream
        unfinished.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check that the directory exists, may be written to, and has room",
        ) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


class _PlainGzip(gzip.GzipFile):
    """Gzip without name and time in it: the same text gives the same bytes."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        super().__init__("", "wb", compresslevel=6, fileobj=self._file, mtime=0)

    def close(self) -> None:
        super().close()
        self._file.close()


def _packed(path: Path, suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], _PlainGzip(path))
    if suffix == ".zst":
        import zstandard

        return cast(IO[bytes], zstandard.open(path, "wb"))
    return path.open("wb")
