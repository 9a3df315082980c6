"""Keyed answers: what groups of keys have found in a batch, written once, and what they go on with.

Spark keeps the state of all groups; the folder says which query they follow, over which version of
the background, and how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from livefacts.errors import LivefactsError
from livefacts.model.durations import Duration
from livefacts.service.micro_batches.answer_files import AnswerFiles
from livefacts.service.micro_batches.answer_rows import BATCH, CHANGE_SCHEMA, OP, TIME
from livefacts.service.micro_batches.keyed_stream import REJECTED
from livefacts.service.micro_batches.stream_reasoner import (
    ASKED,
    DONE,
    BatchFigures,
    StreamQuery,
    asked_before,
    read_noted,
    write_noted,
)
from livefacts.syntax.input.rejects import Reject, Rejects

GROUPS = "groups.json"


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """The version of the background, and the number of groups, with which a stream began."""

    version: int
    groups: int


def kept_query(folder: Path, asked: StreamQuery, version: int, groups: int) -> KeptQuestion:
    """What a stream goes on with; it begins with these."""
    folder.mkdir(parents=True, exist_ok=True)
    before = asked_before(folder, asked)
    if before is not None and not (folder / GROUPS).exists():
        raise LivefactsError(
            f"the checkpoint {folder} is that of one reasoner, and not of groups of keys",
            hint="leave keys out, or give another name=",
        )
    known = KeptQuestion(**(read_noted(folder / GROUPS) or {"version": version, "groups": groups}))
    write_noted(folder / GROUPS, asdict(known))
    write_noted(folder / ASKED, asdict(asked))
    return known


def event_time_of(asked: StreamQuery, tick: Duration | None) -> Mapping[str, Any]:
    """How time is treated."""
    names = ("lateness", "late", "idle", "max_ahead")
    return {**{name: getattr(asked, name) for name in names}, "tick": tick}


@dataclass(slots=True)
class KeyedAnswers:
    """Where the answers of all groups go."""

    folder: Path
    answers: AnswerFiles
    plan: str
    rejects: Rejects = field(default_factory=Rejects)
    figures: list[BatchFigures] = field(default_factory=list)

    def take(self, table: pa.Table, batch: int) -> None:
        """Write the answers of a batch, in the order of their times; nothing if that was done."""
        done = read_noted(self.folder / DONE) or {BATCH: -1}
        if batch <= done[BATCH]:
            return
        is_rejected = pc.equal(table[OP], REJECTED)
        for text in table.filter(is_rejected)["fact"].to_pylist():
            self.rejects.add(Reject("", 0, 0, text, ""))
        found = table.filter(pc.invert(is_rejected)).to_pylist()
        found.sort(key=lambda row: row[TIME])
        rows = [{BATCH: batch, **row} for row in found]
        self.answers.write(batch, pa.Table.from_pylist(rows, CHANGE_SCHEMA))
        write_noted(self.folder / DONE, {BATCH: batch})
        self.figures.append(BatchFigures(batch, answers=len(rows)))

    def close(self) -> None:
        """Nothing is open here."""
