"""The data source of stream files: `format("timed-rdf")`, facts with the times at which they happen.

A row has the time as it is written (a whole number or a dateTime), the stream or null, `op` (A, or D
for what is taken back), the fact as text, and the file and when it was written; a line that cannot
be read has its `line`, text and `reason` instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from livefacts.engine.spark.formats.folder_stream import FolderFiles

from livefacts.kb.stores.file_path import StorePath

NAME = "timed-rdf"
COLUMNS = (
    "at string, stream string, op string, fact string, file string, line long, reason string, "
    "time timestamp"
)
SUFFIXES = (".nq", ".nt", ".trdf", ".jsonl", ".ndjson", ".rdfp")
EVENTS_AT_A_TIME = 5_000
TEXTS = ("at", "stream", "op", "fact", "reason")


class TimedRdfSource(DataSource):
    """Stream files as rows."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return NAME

    def schema(self) -> str:
        """The columns of what is read."""
        return COLUMNS

    def reader(self, schema: StructType) -> DataSourceReader:
        """What reads the files that there are."""
        from livefacts.engine.spark.formats.folder_stream import FolderReader

        return FolderReader(self._files(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """What reads files as they come."""
        from livefacts.engine.spark.formats.folder_stream import FolderStream

        return FolderStream(self._files(schema))

    def _files(self, schema: StructType) -> FolderFiles:
        from livefacts.engine.spark.formats.folder_stream import FolderFiles, FolderOptions

        options = FolderOptions.of(self.options, SUFFIXES)
        return FolderFiles(options, timed_columns, tuple(schema.fieldNames()))


def timed_columns(file: StorePath) -> Iterator[dict[str, pa.Array]]:
    """The events of a file as columns."""
    from itertools import islice

    from pyoxigraph import Literal

    from livefacts.language.rule_text import write_fact
    from livefacts.model.facts import Fact
    from livefacts.syntax.input.rejects import Rejects
    from livefacts.syntax.stream_files import read_events

    rejects = Rejects(most=sys.maxsize)
    events = read_events(file.source(), rejects)
    while True:
        some = list(islice(events, EVENTS_AT_A_TIME))
        rows = [
            {
                "at": event.time.value if isinstance(event.time, Literal) else str(event.time),
                "stream": event.stream,
                "op": "D" if event.retracts else "A",
                "fact": write_fact(fact, {}).removesuffix(" .")
                if isinstance(fact, Fact)
                else str(fact),
            }
            for event in some
            for fact in event.facts
        ]
        bad = [{"line": r.line, "fact": r.text, "reason": r.reason} for r in rejects.kept]
        rejects.kept.clear()
        if not some and not bad:
            return
        yield _columns([*rows, *bad])


def _columns(rows: Sequence[Mapping[str, object]]) -> dict[str, pa.Array]:
    found = {name: pa.array([row.get(name) for row in rows], pa.string()) for name in TEXTS}
    return {**found, "line": pa.array([row.get("line") for row in rows], pa.int64())}
