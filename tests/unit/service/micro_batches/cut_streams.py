"""Streams cut into batches at random, and what a reasoner of one process says of the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

import livefacts as lf
from livefacts.language.program import NO_PROGRAM
from livefacts.service.micro_batches import stream_reasoner
from livefacts.service.micro_batches.answer_files import answer_files
from livefacts.service.micro_batches.answer_rows import Conclusions
from livefacts.service.micro_batches.batch_events import RowReading
from livefacts.service.micro_batches.knowledge_background import KnowledgeBackground
from livefacts.service.micro_batches.stream_reasoner import PROGRAM, REGISTERED, StreamQuery
from livefacts.service.reasoner.clocked_program import Follower, TickChange
from livefacts.syntax.rule_sets import open_rules

NAMES = ("value", "time", "lane", "offset", "arrival")
KINDS = (pa.binary(), pa.int64(), pa.string(), pa.int64(), pa.int64())
SCHEMA = pa.schema(list(zip(NAMES, KINDS, strict=True)))


@dataclass(frozen=True)
class Asked:
    """A query or a program, and how late facts may be."""

    text: str
    lateness: int = 0

    @property
    def is_query(self) -> bool:
        return "REGISTER" in self.text


def no_background() -> KnowledgeBackground:
    """A knowledge base that is not there yet."""
    return KnowledgeBackground(SimpleNamespace(base=SimpleNamespace(settings={})))  # type: ignore[arg-type]


def reasoner_of(asked: Asked, folder: Path, **others: Any) -> stream_reasoner.StreamReasoner:
    """What follows it, with JSON lines for answers."""
    kind = REGISTERED if asked.is_query else PROGRAM
    return stream_reasoner.StreamReasoner(
        folder / "state",
        StreamQuery(kind, asked.text, asked.lateness),
        NO_PROGRAM if asked.is_query else open_rules(asked.text),
        RowReading(),
        answer_files(str(folder / "answers"), "jsonl", "q"),
        no_background(),
        **others,
    ).open()


def table_of(lines: Sequence[tuple[int, str]]) -> pa.Table:
    """The rows of a batch: offsets and lines."""
    cells = [(line.encode(), None, "0", offset, 0) for offset, line in lines]
    rows = [dict(zip(NAMES, each, strict=True)) for each in cells]
    return pa.Table.from_pylist(rows, SCHEMA)


def cut(random: Random, lines: Sequence[str]) -> list[list[tuple[int, str]]]:
    """The lines in batches of random sizes; within a batch they come in any order."""
    numbered = list(enumerate(lines))
    ends = sorted(random.sample(range(1, len(lines)), random.randint(0, min(12, len(lines) - 1))))
    batches = [
        numbered[start:end] for start, end in zip([0, *ends], [*ends, len(lines)], strict=True)
    ]
    for batch in batches:
        random.shuffle(batch)
    return batches


def answers_in(folder: Path) -> list[dict[str, Any]]:
    """All answers, in order, without the numbers of their batches."""
    found = []
    for path in sorted((folder / "answers").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            assert row.pop("batch") == int(path.stem)
            found.append(row)
    return found


def answers_in_batches(
    asked: Asked, batches: Iterable[list[tuple[int, str]]], folder: Path, *, reopened: bool = False
) -> list[dict[str, Any]]:
    """What is written when the batches come one after the other."""
    stream = reasoner_of(asked, folder)
    for number, batch in enumerate(batches):
        if reopened:
            stream.close()
            stream = reasoner_of(asked, folder)
        stream.take(table_of(batch), number)
    stream.close()
    return answers_in(folder)


def answers_embedded(asked: Asked, lines: Sequence[str]) -> list[dict[str, Any]]:
    """What a reasoner in memory says, to which each line comes by itself."""
    return list(_reported(asked, lines) if asked.is_query else _concluded(asked, lines))


def _pushed(line: str) -> tuple[int, str]:
    fact, _, time = line.removesuffix(" .").rpartition(" ")
    return int(time), f"{fact} ."


def _reported(asked: Asked, lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    r = lf.Reasoner()
    query = r.register(asked.text)
    events = r.event_time(lateness=asked.lateness)
    for line in lines:
        time, fact = _pushed(line)
        *triple, stream = fact.removesuffix(" .").rsplit(" ", 1)
        events.push(f"{' '.join(triple)} .", at=time, stream=stream.strip("<>"))
    for report in query.results():
        for row in report.rows:
            texts = {n: str(t) for n, t in row.as_dict().items() if t is not None}
            assert report.window is not None
            window = {"since": report.window.since, "until": report.window.until}
            yield {"time": report.time, "correction": False, **window, **texts}


def _concluded(asked: Asked, lines: Sequence[str]) -> list[dict[str, Any]]:
    program = open_rules(asked.text)
    has = Conclusions.of(program).has
    r, rows = lf.Reasoner(rules=program), list[dict[str, Any]]()

    def seen(moment: TickChange) -> None:
        for op, facts in (("-", moment.removed), ("+", moment.added)):
            texts = sorted(str(fact) for fact in facts if has(fact))
            rows.extend({"time": moment.time, "op": op, "fact": text} for text in texts)

    events = r.event_time(lateness=asked.lateness, through=Follower(r, seen, everything=True))
    for line in lines:
        time, fact = _pushed(line)
        events.push(fact, at=time)
    return rows
