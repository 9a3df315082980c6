"""Row statements: rows of texts, a column for each term, are read as statements.

A row has N-Triples text: a subject, a predicate and an object, and the graph that asserts
them, or null.  Rows become lines, which the scanner of files reads, so that a DataFrame means
what a file of these lines would mean.  Before that each value has to be one whole term of the
right kind: no value can be half of a statement, or two.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.engine.spark.read.frame_columns import BAD_TEXT, FILE, GRAPH, LINE, REASON, TERMS
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.ntriples import BadLine, Batch, StatementReader
from livefacts.syntax.input.rejects import Reject, Rejects

FRAME = "DataFrame"
"""What rejects of a DataFrame name as their file."""
IRI = r'<[^\s<>"]*>'
BLANK = r'_:[^\s<>"#]*[^\s<>"#.]'
LITERAL = rf'"(?:[^"\\\n\r]|\\[^\n\r])*"(?:@[A-Za-z0-9-]+|\^\^{IRI})?'
TERM_OF_TERMS = "<<("
NODE = rf"^(?:{IRI}|{BLANK})$"
KINDS = {
    "s": (NODE, "an IRI or a blank node"),
    "p": (rf"^{IRI}$", "an IRI"),
    "o": (rf"^(?:{IRI}|{BLANK}|{LITERAL})$", "an IRI, a blank node or a literal"),
    GRAPH: (NODE, "an IRI or a blank node"),
}
TOKEN = re.compile(rf"(?P<open><<\()|(?P<close>\)>>)|{LITERAL}|{IRI}|{BLANK}|[ \t]+")
END = " .\n"


@dataclass(slots=True)
class RowStatements:
    """Rows on their way; blank nodes get the scope, and a row is rejected by its number."""

    batches: Iterable[pa.RecordBatch]
    scope: bytes
    rejects: Rejects
    rows: int = 0

    def read(self, dictionary: Dictionary) -> Iterator[Batch]:
        """The rows as batches of statements."""
        reader = StatementReader(dictionary, scope=self.scope, quads=True, on_bad_line=self._reject)
        for batch in self.batches:
            if len(batch):
                yield from reader.read(io.BytesIO(self._text(batch)))
                self.rows += len(batch)

    def _text(self, batch: pa.RecordBatch) -> memoryview:
        """A line for each row; an empty one for a row that is rejected."""
        columns = {name: batch[name].cast(pa.large_string()) for name in (*TERMS, GRAPH)}
        is_good = self._good(batch, columns)
        parts = [columns[name] for name in TERMS] + [pc.fill_null(columns[GRAPH], "")]
        separators = [pa.scalar(each, pa.large_string()) for each in (END, " ")]
        lines = pc.binary_join_element_wise(*parts, *separators)
        if not pc.all(is_good, min_count=0).as_py():
            lines = pc.if_else(is_good, lines, "\n")
        offsets = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset :]
        return memoryview(lines.buffers()[2])[offsets[0] : offsets[len(lines)]]

    def _good(self, batch: pa.RecordBatch, columns: dict[str, pa.Array]) -> pa.BooleanArray:
        """Which rows have a term of the right kind everywhere; all others are rejected."""
        fits = {name: _fits(name, column) for name, column in columns.items()}
        s, p, o, g = fits.values()
        found = pc.and_(pc.and_(s, p), pc.and_(o, g))
        for at in np.flatnonzero(~found.to_numpy(zero_copy_only=False)).tolist():
            row = {name: batch[name][at].as_py() for name in batch.schema.names}
            number = 0 if row.get(BAD_TEXT) else self.rows + at + 1
            wrong = next(name for name, fit in fits.items() if not fit[at].as_py())
            self.rejects.add(Reject(FRAME, number, 0, _reason(row, wrong), _shown(row)))
        return found

    def _reject(self, bad: BadLine) -> None:
        self.rejects.add(Reject(FRAME, bad.line, 0, bad.reason, bad.text))


def _fits(name: str, column: pa.Array) -> pa.BooleanArray:
    """Which values of a column are whole terms of the kind that belongs there."""
    distinct = column.dictionary_encode()
    found = pc.match_substring_regex(distinct.dictionary, KINDS[name][0])
    if name == "o":
        found = pc.or_(found, _terms_of_terms(distinct.dictionary))
    return pc.fill_null(found.take(distinct.indices), name == GRAPH)


def _terms_of_terms(texts: pa.Array) -> pa.BooleanArray:
    starts = pc.starts_with(texts, TERM_OF_TERMS)
    if not pc.any(starts, min_count=0).as_py():
        return starts
    pairs = zip(starts.to_pylist(), texts.to_pylist(), strict=True)
    return pa.array([starts and _is_closed(text) for starts, text in pairs], pa.bool_())


def _is_closed(text: str) -> bool:
    """Whether a text is one triple term, which ends where the text does.

    >>> _is_closed("<<( <a:> <b:> <<( <a:> <b:> _:c )>> )>>"), _is_closed("<<( <a:> )>> <g:>")
    (True, False)
    """
    depth = at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None or (at and not depth):
            return False
        depth += bool(token["open"]) - bool(token["close"])
        at = token.end()
    return not depth


def _reason(row: dict[str, object], wrong: str) -> str:
    if row.get(BAD_TEXT) is not None:
        places = [str(row[name]) for name in (FILE, LINE) if row.get(name) is not None]
        place = f" ({':'.join(places)})" if places else ""
        return f"{row.get(REASON) or 'it could not be read where it comes from'}{place}"
    if row[wrong] is None:
        return f"{wrong} is null"
    return f"{wrong} is not the N-Triples text of {KINDS[wrong][1]}"


def _shown(row: dict[str, object]) -> str:
    known = (row[name] for name in (*TERMS, GRAPH))
    return str(row.get(BAD_TEXT) or " ".join("null" if v is None else str(v) for v in known))


def statements_of(rows: pa.Table, dictionary: Dictionary, scope: bytes) -> list[Batch]:
    """The rows of a table as statements, all of them or an error that names the first bad one."""
    reading = RowStatements(rows.to_batches(), scope, Rejects(most=1))
    found = list(reading.read(dictionary))
    for reject in reading.rejects.kept:
        raise reject.as_error()
    return found
