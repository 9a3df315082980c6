"""The split reader: in a task, a split of text becomes pieces of encoded facts.

A piece has so many rows that it fits a task, whatever the size of the file, so that a packed
file is read as a stream.  What cannot be read is rejected with file, line and reason; all of
it is counted, and the first of each split are kept.  A file that cannot be read to its end
is left out as a whole, and the others are not lost with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from pyoxigraph import BlankNode, RdfFormat

from livefacts.engine.spark.read.asked_facts import row_of
from livefacts.engine.spark.read.splits import RangeStream, Split, is_of_rules
from livefacts.errors import InputError, LivefactsError
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.kb.term_encoding import Encoding, Texts, encode_all
from livefacts.model.facts import Term
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.blank_labels import label_in
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, BadLine, Batch, StatementReader
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.rdf.documents import format_of, read_rows

ROWS_PER_PIECE = 1 << 19
MOST_KEPT = 1000
"""Rejects of a split that are kept; all of them are counted."""


@dataclass(frozen=True, slots=True)
class FactPiece:
    """Encoded facts: triples of the default graph, quads of named ones, and predicate facts."""

    triples: HashIds
    quads: HashIds
    others: dict[int, HashIds]
    terms: Texts

    @property
    def rows(self) -> int:
        return len(self.triples) + len(self.quads) + sum(map(len, self.others.values()))


@dataclass(slots=True)
class SplitReading:
    """A split on its way: how many lines there were, and what was rejected.

    With `numbered`, statements of lines come with their numbers.
    """

    split: Split
    encoding: Encoding
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    rejects: Rejects = field(default_factory=lambda: Rejects(most=MOST_KEPT))
    numbered: bool = False
    lines: int = 0
    failure: str = ""

    def pieces(self) -> Iterator[FactPiece]:
        """The facts of the split; `failure` says why the file has to be left out, if it has."""
        try:
            yield from encoded_pieces(self.statements, self.encoding)
        except LivefactsError as error:
            self.failure = _told(error)
        except OSError as error:
            self.failure = error.strerror or str(error)

    def statements(self, dictionary: Dictionary) -> Iterator[Statements]:
        """What the split says, a batch at a time."""
        split = self.split
        path = store_path(split.path, self.options)
        if split.format is None and is_of_rules(split.path):
            yield _facts_of_rules(split, path, dictionary)
        elif split.is_whole:
            yield from read_rows(
                path.source(),
                dictionary,
                format=split.format,
                scope=split.scope,
                rejects=self.rejects,
                numbered=self.numbered,
            )
        else:
            yield from self._range(path, dictionary)

    def _range(self, path: StorePath, dictionary: Dictionary) -> Iterator[Batch]:
        stream = RangeStream(self.split, path)
        reader = StatementReader(
            dictionary,
            scope=self.split.scope,
            quads=format_of(self.split.path, self.split.format) == RdfFormat.N_QUADS,
            on_bad_line=self._reject,
            numbered=self.numbered,
        )
        try:
            yield from reader.read(stream)
            self.lines = reader.lines
        finally:
            stream.close()

    def _reject(self, bad: BadLine) -> None:
        self.rejects.add(Reject(self.split.path, bad.line, bad.column, bad.reason, bad.text))


Statements = Batch | dict[int, Ids]


def encoded_pieces(
    read: Callable[[Dictionary], Iterator[Statements]], encoding: Encoding
) -> Iterator[FactPiece]:
    """What is read into a dictionary, as pieces that fit a task."""
    dictionary = Dictionary()
    waiting = _Waiting()
    for batch in read(dictionary):
        waiting.take(batch)
        if waiting.rows >= ROWS_PER_PIECE:
            yield waiting.encoded(dictionary, encoding)
            dictionary.clear()
            waiting = _Waiting()
    yield waiting.encoded(dictionary, encoding)


class _Waiting:
    """What was read since the last piece."""

    def __init__(self) -> None:
        self.rows = 0
        self._triples: list[Ids] = []
        self._quads: list[Ids] = []
        self._others: dict[int, Ids] = {}

    def take(self, batch: Statements) -> None:
        if isinstance(batch, dict):
            self._triples.append(batch.pop(TRIPLES, np.zeros((0, 3), np.int32)))
            self._others = batch
        elif batch.graphs is None:
            self._triples.append(batch.rows)
            self.rows += len(batch.rows)
        else:
            is_default = batch.graphs == DEFAULT_GRAPH
            self._triples.append(batch.rows[is_default])
            named = np.column_stack([batch.rows[~is_default], batch.graphs[~is_default]])
            self._quads.append(named.astype(np.int32))
            self.rows += len(batch.rows)

    def encoded(self, dictionary: Dictionary, encoding: Encoding) -> FactPiece:
        parts = [_joined(self._triples, 3), _joined(self._quads, 4), *self._others.values()]
        (triples, quads, *others), terms = encode_all(parts, dictionary, encoding)
        return FactPiece(triples, quads, dict(zip(self._others, others, strict=True)), terms)


def _joined(parts: list[Ids], width: int) -> Ids:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros((0, width), np.int32)


def _facts_of_rules(split: Split, path: StorePath, dictionary: Dictionary) -> dict[int, Ids]:
    """The facts of a file in the rule language, by shape."""
    from livefacts.syntax.rulelang.rule_parser import read_rules

    program = read_rules(
        path.source(), lambda label: BlankNode(label_in(split.scope, label.encode()).decode())
    )
    if program.rules:
        raise InputError(
            "rules cannot be ingested: give them to materialize", place=program.rules[0].place
        )
    terms: dict[int, list[Term]] = {}
    for fact in program.facts:
        shape, row = row_of(fact)
        terms.setdefault(shape, []).extend(row)
    return {
        shape: dictionary.encode(listed).reshape(-1, shape or 3) for shape, listed in terms.items()
    }


def _told(error: LivefactsError) -> str:
    place = getattr(error, "place", None)
    return f"{error.message} (line {place.line})" if place else error.message
