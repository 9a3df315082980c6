"""Dumping: everything that is true, written to a file or stream."""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from pyoxigraph import Quad, RdfFormat, serialize

from livefacts.engine.contract import Ids
from livefacts.errors import InputError, LivefactsWarning
from livefacts.service.reading import FactReader
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES
from livefacts.syntax.files import without_compression
from livefacts.syntax.rdf import format_named, format_of
from livefacts.syntax.rulewriter import write_fact

PIECE = 1 << 16
FACTS = "rules"
WITH_GRAPHS = (RdfFormat.N_QUADS, RdfFormat.TRIG, RdfFormat.JSON_LD)


def write_facts(
    target: str | os.PathLike[str] | IO[bytes],
    format: str | None,
    facts: Mapping[int, Ids],
    quads: Ids,
    dictionary: Dictionary,
    reader: FactReader,
) -> None:
    """Write facts, and the assertions of named graphs where the format has a place for them."""
    is_facts = _is_fact_file(target, format)
    kind = None if is_facts else _rdf_format(target, format)
    with _opened(target) as stream:
        if kind is None:
            for fact in reader.decoded(facts):
                stream.write(write_fact(fact).encode() + b"\n")
            return
        triples = facts.get(TRIPLES)
        _warn_of_others(facts)
        if kind in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS):
            for at in range(0, 0 if triples is None else len(triples), PIECE):
                stream.write(dictionary.write_ntriples(triples[at : at + PIECE]))  # type: ignore[index]
            if kind == RdfFormat.N_QUADS:
                stream.write(serialize(_named(quads, dictionary), format=kind) or b"")
            return
        triples_only = {} if triples is None else {TRIPLES: triples}
        statements = (Quad(t.subject, t.predicate, t.object) for t in reader.decoded(triples_only))  # type: ignore[union-attr]
        named = _named(quads, dictionary) if kind in WITH_GRAPHS else iter(())
        serialize(_chained(statements, named), stream, format=kind)


def _chained(first: Iterator[Quad], second: Iterator[Quad]) -> Iterator[Quad]:
    yield from first
    yield from second


def _named(quads: Ids, dictionary: Dictionary) -> Iterator[Quad]:
    for row in quads:
        yield Quad(*dictionary.decode(row))  # type: ignore[arg-type]


def _is_fact_file(target: str | os.PathLike[str] | IO[bytes], format: str | None) -> bool:
    if format is not None:
        return format == FACTS
    named = isinstance(target, str | os.PathLike)
    return named and without_compression(Path(target)).suffix == ".rules"  # type: ignore[arg-type]


def _rdf_format(target: str | os.PathLike[str] | IO[bytes], format: str | None) -> RdfFormat:
    if format is not None:
        return format_named(format)
    return format_of(target) if isinstance(target, str | os.PathLike) else RdfFormat.N_TRIPLES


def _warn_of_others(facts: Mapping[int, Ids]) -> None:
    others = sum(len(ids) for shape, ids in facts.items() if shape != TRIPLES)
    if others:
        warnings.warn(
            f"{others:,} predicate facts have no place in RDF and were left out; "
            "dump to a .rules file to keep them",
            LivefactsWarning,
            stacklevel=4,
        )


@contextmanager
def _opened(target: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    try:
        with open(target, "wb") as file:
            if str(target).endswith(".gz"):
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield file
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from error
