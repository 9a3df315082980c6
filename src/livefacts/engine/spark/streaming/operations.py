"""Operations: what the messages of a micro-batch add and remove, and those that say nothing.

A message is, whatever its source, one of these:

    <s> <p> <o> .                           facts that come: N-Quads, Turtle, the rule language
    A <s> <p> <o> .                         RDF Patch: rows that come (A) and go (D)
    {"facts": "...", "retract": "..."}      JSON lines
    {"id": "s1", "value": 95}               any JSON, by a map

A message counts as a whole: one that is wrong anywhere is rejected, and does nothing.  Of several
operations on the same fact the last one wins, so that they make one change.  Usual lines of
N-Quads and of RDF Patch are read all at once by the scanner; any other message is read by itself.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from livefacts.engine.spark.read.asked_facts import (
    QUADS,
    AskedFacts,
    Rows,
    row_of,
    rows_of,
)
from livefacts.engine.spark.streaming.message_rows import MessagePlace, MessageRows
from livefacts.errors import InputError, LivefactsError
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, StatementReader
from livefacts.syntax.input.rejects import LONGEST_TEXT, Rejects
from livefacts.syntax.json_map.fact_lines import JsonMap
from livefacts.syntax.rdf.patch import Statement, parse_patch
from livefacts.syntax.stream_files import read_events

FACTS, PATCH, JSON = FORMATS = ("facts", "patch", "json")
MessageFormat = str | JsonMap | None
"""One of FORMATS, a map from JSON, or None: each message shows what it is."""
PATCH_LINE = r"^[AD] +(?:<[^_]|_:)"
FACT_LINE = r"^(?:<[^<])"
LINE_END = r"[\r\n]"
LABEL = r"(?:^|[\s(])_:"
PATCH_START = ("A ", "D ", "H ", "TX", "TC", "TA", "PA ", "PD ")
JSON_START = "{"
NO_TEXT = "this message is not UTF-8"


class RejectedMessage(NamedTuple):
    """A message that could not be read, where it stands, and why."""

    number: int
    place: MessagePlace
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Operations:
    """What a micro-batch asks for, as one change, and the messages that were rejected."""

    asked: AskedFacts
    count: int
    rejected: tuple[RejectedMessage, ...]


def check_format(format: MessageFormat) -> MessageFormat:
    """The same format, if it is one."""
    if format is not None and not isinstance(format, JsonMap) and format not in FORMATS:
        raise InputError(
            f"there is no format {format!r} of messages",
            hint=f"{', '.join(FORMATS)}, a map of livefacts.sources.read_map, or none: each "
            "message shows what it is",
        )
    return format


def read_operations(messages: MessageRows, format: MessageFormat = None) -> Operations:
    """The operations of messages; of several on one fact, the last."""
    reading = _Reading(messages, format)
    reading.read()
    return reading.operations()


@dataclass(slots=True)
class _Ordered:
    """Facts of one shape, each with the number of its message, and whether it comes or goes."""

    rows: list[Ids] = field(default_factory=list)
    numbers: list[NDArray[np.int64]] = field(default_factory=list)
    comes: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(self, rows: Ids, numbers: NDArray[np.int64], comes: NDArray[np.bool_]) -> None:
        self.rows.append(rows)
        self.numbers.append(numbers)
        self.comes.append(comes)

    def last(self) -> tuple[Ids, Ids, int]:
        """What comes and what goes by the last operation on each fact, and how many there were."""
        rows, comes = np.concatenate(self.rows), np.concatenate(self.comes)
        numbers = np.concatenate(self.numbers)
        # Within a message, facts are in their order already.
        order = np.argsort(numbers, kind="stable")
        rows, comes = rows[order], comes[order]
        by_fact = np.lexsort(rows.T)
        rows, comes = rows[by_fact], comes[by_fact]
        is_last: NDArray[np.bool_] = np.ones(len(rows), np.bool_)
        is_last[:-1] = (rows[1:] != rows[:-1]).any(axis=1)
        return rows[is_last & comes], rows[is_last & ~comes], len(rows)


class _Reading:
    """Messages on their way to operations."""

    def __init__(self, messages: MessageRows, format: MessageFormat) -> None:
        self._messages = messages
        self._format = format
        self._dictionary = Dictionary()
        self._shapes: dict[int, _Ordered] = {}
        self._rejected: list[RejectedMessage] = []
        self._texts = self._decoded(messages.values())

    def _decoded(self, values: pa.Array) -> pa.Array:
        """The messages as texts; null where there is none, or where it is rejected."""
        try:
            return values.cast(pa.large_string())
        except pa.ArrowInvalid:
            return pa.array(
                map(self._text, range(len(values)), values.to_pylist()), pa.large_string()
            )

    def _text(self, number: int, value: bytes | None) -> str | None:
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            self._reject(number, NO_TEXT, repr(value))
            return None

    def operations(self) -> Operations:
        added, removed, count = Rows(), Rows(), 0
        for shape, ordered in self._shapes.items():
            added[shape], removed[shape], found = ordered.last()
            count += found
        nothing = np.zeros((0, 3), np.int32)
        asked = AskedFacts(
            self._dictionary,
            {TRIPLES: nothing, **added},
            {TRIPLES: nothing, **removed},
            np.zeros(0, np.int32),
        )
        return Operations(asked, count, tuple(sorted(self._rejected)))

    def read(self) -> None:
        """All messages: usual lines at once, others one by one."""
        slow = ~self._blank()
        for is_line, skipped in self._usual():
            numbers = np.flatnonzero(is_line)
            slow[numbers] = False
            slow[self._read_lines(numbers, skipped)] = True
        for number in np.flatnonzero(slow).tolist():
            self._read_one(number)

    def _blank(self) -> NDArray[np.bool_]:
        return _mask(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(self._texts)), 0), True)

    # usual lines

    def _usual(self) -> Iterator[tuple[NDArray[np.bool_], int]]:
        """The messages that are one line of the scanner's, and how many bytes stand before it."""
        self._lines = pc.utf8_rtrim_whitespace(self._texts)
        is_one = ~_mask(pc.match_substring_regex(self._lines, LINE_END), True)
        if self._format in (None, PATCH):
            yield is_one & _mask(pc.match_substring_regex(self._lines, PATCH_LINE), False), 2
        if self._format in (None, FACTS):
            is_fact = _mask(pc.match_substring_regex(self._lines, FACT_LINE), False)
            has_label = _mask(pc.match_substring_regex(self._lines, LABEL), True)
            yield is_one & is_fact & ~has_label, 0

    def _read_lines(self, numbers: NDArray[np.int64], skipped: int) -> list[int]:
        """Read lines at once; the messages whose line the scanner could not read."""
        bad: list[int] = []
        if not len(numbers):
            return bad
        lines = self._lines.take(pa.array(numbers))
        comes = np.ones(len(numbers), np.bool_)
        if skipped:
            comes = _mask(pc.starts_with(lines, "A"), False)
        end, between = (pa.scalar(text, pa.large_string()) for text in ("\n", ""))
        text = pc.binary_join_element_wise(pc.utf8_slice_codeunits(lines, skipped), end, between)
        reader = StatementReader(
            self._dictionary,
            scope=b"",
            quads=True,
            on_bad_line=lambda line: bad.append(int(numbers[line.line - 1])),
            numbered=True,
        )
        for batch in reader.read(io.BytesIO(_content(text))):
            assert batch.lines is not None
            places = batch.lines - 1
            self._take(batch.rows, batch.graphs, numbers[places], comes[places])
        return bad

    def _take(
        self, rows: Ids, graphs: Ids | None, numbers: NDArray[np.int64], comes: NDArray[np.bool_]
    ) -> None:
        if graphs is None:
            self._shape(TRIPLES).add(rows, numbers, comes)
            return
        is_named = graphs != DEFAULT_GRAPH
        named = np.column_stack([rows[is_named], graphs[is_named]])
        self._shape(QUADS).add(named, numbers[is_named], comes[is_named])
        self._shape(TRIPLES).add(rows[~is_named], numbers[~is_named], comes[~is_named])

    def _shape(self, shape: int) -> _Ordered:
        return self._shapes.setdefault(shape, _Ordered())

    # any other message

    def _read_one(self, number: int) -> None:
        text = self._texts[number].as_py()
        if text is None:
            return
        try:
            self._kind_of(text)(number, text)
        except (LivefactsError, ValueError, RecursionError) as error:
            self._reject(number, getattr(error, "message", str(error)), text)

    def _kind_of(self, text: str) -> Callable[[int, str], None]:
        if isinstance(self._format, JsonMap):
            return self._take_mapped
        found = {FACTS: self._take_facts, PATCH: self._take_patch, JSON: self._take_json}
        return found[self._format or shown_format(text)]

    def _take_facts(self, number: int, text: str) -> None:
        found = rows_of(text, self._messages.scope(number), self._dictionary)
        for shape, rows in found.items():
            count = len(rows)
            self._shape(shape).add(rows, np.full(count, number), np.ones(count, np.bool_))

    def _take_patch(self, number: int, text: str) -> None:
        self._take_statements(number, [(row.adds, row.statement) for row in parse_patch(text).rows])

    def _take_json(self, number: int, text: str) -> None:
        rejects = Rejects()
        events = list(read_events(text.encode(), rejects, JSON, untimed=0))
        for reject in rejects.kept:
            raise InputError(reject.reason)
        self._take_statements(
            number, [(not event.retracts, fact) for event in events for fact in event.facts]
        )

    def _take_mapped(self, number: int, text: str) -> None:
        assert isinstance(self._format, JsonMap)
        found = self._format.facts(text, self._messages.name(number))
        self._take_statements(number, [(not each.retracts, each.fact) for each in found])

    def _take_statements(self, number: int, statements: list[tuple[bool, Statement]]) -> None:
        rows = [(adds, *row_of(statement)) for adds, statement in statements]
        for adds, shape, terms in rows:
            ids = self._dictionary.encode(terms).reshape(1, -1)
            self._shape(shape).add(ids, np.array([number]), np.array([adds]))

    def _reject(self, number: int, reason: str, text: str) -> None:
        place = self._messages.place(number)
        self._rejected.append(RejectedMessage(number, place, reason, text[:LONGEST_TEXT]))


def shown_format(text: str) -> str:
    """The format that a message shows.

    >>> shown_format("D <urn:a> <urn:b> <urn:c> ."), shown_format("near(a, b) .")
    ('patch', 'facts')
    """
    start = text.lstrip()
    if start.startswith(JSON_START):
        return JSON
    return PATCH if start.startswith(PATCH_START) else FACTS


def _mask(found: pa.Array, otherwise: bool) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = pc.fill_null(found, otherwise).to_numpy(zero_copy_only=False)
    return mask


def _content(texts: pa.Array) -> memoryview:
    """All texts, one after the other, which lie in one piece."""
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
    return memoryview(content)[int(ends[0]) : int(ends[-1])]
