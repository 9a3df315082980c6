"""The stream reasoner: micro-batches of a stream to a reasoner in a folder, and its answers out.

A batch is taken in event by event, and each has its number in its row of the journal: after any
end those that were made are passed over.  Then the answers of the batch are written under its
number, and then the folder says that the batch is done.  A batch that comes again does nothing
that was done: whatever ends the process, answers are there once.

    the events of the batch, each once -> the answers of the batch, as a whole -> it is done

What is late, and when something is reported, is decided by the watermark of the reasoner itself,
row by row, so answers do not depend on where Spark cuts a stream into batches.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from livefacts.errors import LivefactsError
from livefacts.journal import file_operations
from livefacts.language.checks.key_partitions import partitioning_of
from livefacts.language.program import Program
from livefacts.service.knowledge.recorder import ORIGIN, Origin
from livefacts.service.micro_batches.answer_files import AnswerFiles
from livefacts.service.micro_batches.answer_rows import (
    CHANGE_SCHEMA,
    ChangeReader,
    Conclusions,
    ReportReader,
    report_rows,
    report_schema,
)
from livefacts.service.micro_batches.batch_events import (
    ARRIVAL,
    RowReading,
    clock_of,
    events_of,
)
from livefacts.service.micro_batches.knowledge_background import KnowledgeBackground
from livefacts.service.reasoner.durable import DurableReasoner, open_folder
from livefacts.service.registered.scheduled_query import Registration
from livefacts.service.streams.event_time import EventTime
from livefacts.service.streams.playback import Pace, Silence, play, rejecting
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.stream_files import Event

SOURCE = "batch"
ASKED, DONE, REASONER, STREAM_ID = "query.json", "done.json", "reasoner", "stream.json"
KEEP = (10_000, "1 h")
REGISTERED, PROGRAM = "query", "program"
Step = Callable[[str], None]


def _go_on(step: str) -> None:
    """Nothing happens between the steps."""


on_step: Step = _go_on
"""Hears of each step of a batch, such as "before answers"; tests let the process end there."""


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """What is asked of a stream: a registered query or a program, and how time is treated."""

    kind: str
    text: str
    lateness: int | str | Mapping[str, int | str] = 0
    late: str = "wait"
    idle: int | str | None = None
    max_ahead: int | str | None = "1 h"
    tick: str | None = None
    full: bool = False


@dataclass(slots=True)
class Done:
    """How far a stream was taken in, and answers were written."""

    batch: int = -1
    seq: int = 0
    report: int = 0


@dataclass(slots=True)
class BatchFigures:
    """What a batch brought."""

    batch: int
    rows: int = 0
    answers: int = 0
    rejected: int = 0
    now: int | None = None
    watermark: int | None = None


@dataclass(slots=True)
class StreamReasoner:
    """A query over a stream, its reasoner, and where its answers go."""

    folder: Path
    asked: StreamQuery
    program: Program
    """The rules of a program; none, for a registered query."""
    reading: RowReading
    answers: AnswerFiles
    background: KnowledgeBackground
    rejects: Rejects = field(default_factory=Rejects)
    upgrade: bool = False
    figures: list[BatchFigures] = field(default_factory=list)
    reasoner: DurableReasoner = field(init=False)
    _events: EventTime = field(init=False)
    _query: Registration | None = field(init=False, default=None)
    _done: Done = field(init=False)

    def open(self) -> StreamReasoner:
        """Go on where the folder stands, or begin."""
        self.folder.mkdir(parents=True, exist_ok=True)
        before = asked_before(self.folder, self.asked, upgrade=self.upgrade)
        self._done = Done(**(read_noted(self.folder / DONE) or {}))
        options = {"tick": self.asked.tick} if self.asked.tick else {}
        self.reasoner = open_folder(
            self.folder / REASONER, None, durability="none", keep=KEEP, **options
        )
        try:
            # The answers of a batch are read out of the history, however long that batch is.
            self.reasoner.keep_after(self._done.seq)
            self._begin(before)
        except BaseException:
            self.close()
            raise
        return self

    def _begin(self, before: Mapping[str, Any] | None) -> None:
        asked, reasoner = self.asked, self.reasoner
        self.background.follow(reasoner, self.program if before is None else None)
        if before is not None and before != asdict(asked):
            self._change(before)
        if asked.kind == REGISTERED:
            self._query = reasoner.register(asked.text, full=asked.full)
        self._events = reasoner.event_time(
            lateness=asked.lateness, late=asked.late, idle=asked.idle, max_ahead=asked.max_ahead
        )
        reasoner.sync()
        write_noted(self.folder / ASKED, asdict(asked))

    def _change(self, before: Mapping[str, Any]) -> None:
        """From here on another query or other rules look at the same stream."""
        from livefacts.syntax.rule_sets import open_rules

        if before["kind"] == PROGRAM:
            old = open_rules(before["text"])
            here = {rule.key() for rule in self.reasoner.rules}
            gone = [rule for rule in old.minus(self.program.rules).rules if rule.key() in here]
            self.reasoner.apply(remove_rules=gone, add_rules=self.program)
        elif before["text"] != self.asked.text:
            for known in self.reasoner.registered().values():
                known.close()
            self._done.report = 0
            write_noted(self.folder / DONE, asdict(self._done))
            if self.program.rules:
                self.reasoner.apply(add_rules=self.program)

    @property
    def plan(self) -> str:
        """How it is followed, in words."""
        if self._query is not None:
            return f"one reasoner in the driver\n{self._query.plan}"
        found = partitioning_of(Program(self.reasoner.rules))
        return f"one reasoner in the driver\n{found}"

    def close(self) -> None:
        """Let others open the folder."""
        self.reasoner.close()

    # batches

    def take(self, table: pa.Table, batch: int) -> BatchFigures:
        """Take a batch in and write its answers; nothing happens if that was done."""
        found = BatchFigures(batch, len(table))
        if batch <= self._done.batch:
            return found
        on_step("before events")
        self.background.follow(self.reasoner)
        rejected = self.rejects.count
        self._play(table, batch)
        self.reasoner.sync()
        on_step("after events")
        answers, done = self._answers(batch)
        self.answers.write(batch, answers)
        on_step("after answers")
        write_noted(self.folder / DONE, asdict(done))
        on_step("after done")
        self._done = done
        self.reasoner.keep_after(done.seq)
        if self._query is not None:
            ReportReader(self._query, 0).forget()
        found.answers, found.rejected = len(answers), self.rejects.count - rejected
        found.now, found.watermark = self.reasoner.now, self._events.watermark
        self.figures.append(found)
        return found

    def _play(self, table: pa.Table, batch: int) -> None:
        events, pace = (
            self._numbered(self._come(table, batch), batch),
            Pace(None, self.reading.tick),
        )
        try:
            for _ in play(events, self._events, pace, rejecting(self.rejects)):
                on_step("event")
            self._events.move()
        finally:
            ORIGIN.set(None)

    def _come(self, table: pa.Table, batch: int) -> Iterator[Event | Silence]:
        """The events of a batch; by arrival, time moves before them, also where there are none."""
        clock = clock_of(table, self.reading.tick) if self.reading.when == ARRIVAL else None
        if clock is not None:
            yield Silence(clock)
        yield from events_of(table, self.reading, self.rejects, batch, self._events.latest)

    def _numbered(self, events: Iterator[Any], batch: int) -> Iterator[Any]:
        """The events that were not made yet; while one is out, it is where changes come from."""
        known = self.reasoner.offsets.get(SOURCE)
        made = known.done if known is not None and known.position == str(batch) else 0
        for number, event in enumerate(events, 1):
            if number > made:
                ORIGIN.set(Origin(SOURCE, str(batch), "", number))
                yield event

    def _answers(self, batch: int) -> tuple[pa.Table, Done]:
        done = self._done
        if self._query is None:
            reader = ChangeReader(self.reasoner, Conclusions.of(self.program), done.seq)
            changes, upto = reader.read()
            rows = [change.row(batch) for change in changes]
            return pa.Table.from_pylist(rows, CHANGE_SCHEMA), Done(batch, upto, done.report)
        reports, number = ReportReader(self._query, done.report).read()
        names = next((report.variables for report in reports if report.variables), ())
        rows = [row for report in reports for row in report_rows(report, batch)]
        table = pa.Table.from_pylist(rows, report_schema(names))
        return table, Done(batch, self.reasoner.seq, number)


def asked_before(
    folder: Path, asked: StreamQuery, *, upgrade: bool = False
) -> Mapping[str, Any] | None:
    """What was asked at this place before; another query is refused, unless it is to be the next."""
    before = read_noted(folder / ASKED)
    differs = [name for name, value in asdict(asked).items() if (before or {}).get(name) != value]
    if before is None or not differs or upgrade:
        return before
    raise LivefactsError(
        f"the checkpoint {folder} belongs to another query: {', '.join(differs)} is not what it was",
        hint="give this one another name=, which begins anew; or upgrade=True, and it goes on "
        "from here with what the old one has seen",
    )


def stream_id(folder: Path) -> str:
    """What tells the stream that goes on from this folder from any other, of the same name, too."""
    known = read_noted(folder / STREAM_ID)
    if known is None:
        folder.mkdir(parents=True, exist_ok=True)
        known = {"id": uuid.uuid4().hex}
        write_noted(folder / STREAM_ID, known)
    return str(known["id"])


def read_noted(path: Path) -> dict[str, Any] | None:
    """What stands in a file of JSON, if it is there."""
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def write_noted(path: Path, content: Mapping[str, Any]) -> None:
    """Have it there as a whole."""
    file_operations.replace_file(path, json.dumps(content).encode())
