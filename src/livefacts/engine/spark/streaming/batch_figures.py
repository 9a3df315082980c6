"""Batch figures: what each micro-batch brought, what followed, how long it took, and how late it was.

They are a line of the log `livefacts.streams`, a row of a table beside the checkpoints, and,
for Prometheus, the figures of a `StreamMetrics`, which is a listener of Spark's as well: Spark knows
how far a source is ahead.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from livefacts.errors import LivefactsError
from livefacts.kb.stores.file_path import StorePath

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from pyspark.sql import DataFrame, SparkSession

LOG = logging.getLogger("livefacts.streams")
LOOPBACK = "127.0.0.1"
TABLE = "_batches"
"""The table of figures, among the checkpoints of streams; no stream has such a name."""


COUNTERS = {
    "batches": "Micro-batches",
    "rows": "Messages taken in",
    "facts": "Operations on facts in them",
    "rejected": "Messages that could not be read",
    "added": "Facts that became true",
    "derived": "Conclusions among them",
    "removed": "Facts that ended",
}
GAUGES = {
    "seconds": "How long the last micro-batch took",
    "late": "Seconds between the last message and its commit",
    "state_bytes": "Size of the tables",
    "offsets_behind": "Offsets that the source is ahead",
    "is_running": "1 while the query runs",
}


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """One micro-batch; times are in seconds, and `late` is None where messages have no times."""

    stream: str
    batch: int
    seq: int
    rows: int
    facts: int
    rejected: int
    asserted: int
    retracted: int
    added: int
    removed: int
    reading: float
    changing: float
    writing: float
    late: float | None
    state_bytes: int

    @property
    def derived(self) -> int:
        """How many conclusions came, beside what was asserted."""
        return max(0, self.added - self.asserted)

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.reading + self.changing + self.writing

    def __str__(self) -> str:
        late = "" if self.late is None else f", {self.late:.1f} s behind"
        bad = f", {self.rejected:,} rejected" if self.rejected else ""
        return (
            f"stream {self.stream}: batch {self.batch}, version {self.seq}: {self.rows:,} rows, "
            f"{self.facts:,} facts{bad}; {self.added:,} added ({self.derived:,} derived), "
            f"{self.removed:,} removed; {self.seconds:.3f} s{late}"
        )

    def as_row(self) -> dict[str, Any]:
        """The same as a row."""
        return asdict(self) | {"derived": self.derived, "seconds": self.seconds}


TYPES = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "float | None": pa.float64()}
SCHEMA = pa.schema(
    [
        *((each.name, TYPES[str(each.type)]) for each in fields(StreamFigures)),
        ("derived", pa.int64()),
        ("seconds", pa.float64()),
    ]
)
SPARK_TYPES = {pa.string(): "string", pa.int64(): "long", pa.float64(): "double"}
OnBatch = Callable[[StreamFigures], None]


def note_figures(folder: StorePath, figures: StreamFigures) -> None:
    """Log the figures of a batch, and add them to the table."""
    from deltalake import write_deltalake

    LOG.info("%s", figures)
    row = pa.Table.from_pylist([figures.as_row()], SCHEMA)
    options = folder.options or None
    write_deltalake(str(folder / TABLE), row, mode="append", storage_options=options)


def batches_frame(session: SparkSession, folder: StorePath) -> DataFrame:
    """The table of figures, in the order of batches."""
    from deltalake import DeltaTable

    where, options = str(folder / TABLE), folder.options or None
    rows = SCHEMA.empty_table()
    if DeltaTable.is_deltatable(where, options):
        rows = DeltaTable(where, storage_options=options).to_pyarrow_table().sort_by("seq")
    columns = ", ".join(f"`{field.name}` {SPARK_TYPES[field.type]}" for field in SCHEMA)
    return session.createDataFrame(rows, columns)


def rows_behind(progress: Mapping[str, Any]) -> int | None:
    """How many offsets the sources of a query are ahead of it; None if they do not say.

    >>> rows_behind({"sources": [{"endOffset": '{"t": {"0": 3}}', "latestOffset": '{"t": {"0": 7}}'}]})
    4
    """
    found = [
        _distance(_parsed(source.get("endOffset")), _parsed(source.get("latestOffset")))
        for source in progress.get("sources", ())
    ]
    known = [each for each in found if each is not None]
    return sum(known) if known else None


def _parsed(offset: Any) -> Any:
    try:
        return json.loads(offset) if isinstance(offset, str) else offset
    except ValueError:
        return None


def _distance(end: Any, latest: Any) -> int | None:
    """The difference of numbers, wherever they stand in two offsets of the same form."""
    if isinstance(end, int) and isinstance(latest, int):
        return max(0, latest - end)
    if not isinstance(end, dict) or not isinstance(latest, dict):
        return None
    parts = [_distance(end.get(name, 0), latest[name]) for name in latest]
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


class StreamMetrics(StreamingQueryListener):
    """The figures of all streams for Prometheus.

    `Pipeline(..., on_batch=metrics.take)` tells it of batches, and
    `spark.streams.addListener(metrics)` how far sources are ahead.
    """

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge
        except ImportError as error:
            raise LivefactsError(
                "metrics need the package prometheus-client",
                hint="pip install 'livefacts[serve]'",
            ) from error
        self.registry: CollectorRegistry = CollectorRegistry()
        self._counters = {
            name: Counter(f"livefacts_stream_{name}", says, ["stream"], registry=self.registry)
            for name, says in COUNTERS.items()
        }
        self._gauges = {
            name: Gauge(f"livefacts_stream_{name}", says, ["stream"], registry=self.registry)
            for name, says in GAUGES.items()
        }
        self._names: dict[str, str] = {}

    def take(self, figures: StreamFigures) -> None:
        """A micro-batch is done."""
        row = figures.as_row() | {"batches": 1}
        for name, counter in self._counters.items():
            counter.labels(figures.stream).inc(row[name])
        for name in ("seconds", "late", "state_bytes"):
            if row[name] is not None:
                self._gauges[name].labels(figures.stream).set(row[name])

    def text(self) -> str:
        """All of it as Prometheus reads it."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry).decode()

    def serve(self, port: int, host: str = LOOPBACK) -> None:
        """Answer at http://127.0.0.1:port/metrics from now on."""
        from prometheus_client import start_http_server

        start_http_server(port, addr=host, registry=self.registry)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Spark has started a query."""
        name = event.name or str(event.id)
        self._names[str(event.id)] = name
        self._gauges["is_running"].labels(name).set(1)

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Spark has done a micro-batch."""
        progress = json.loads(event.progress.json)
        behind = rows_behind(progress)
        if behind is not None:
            self._gauges["offsets_behind"].labels(progress["name"] or progress["id"]).set(behind)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """There is nothing to do."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """A query has ended, or failed."""
        name = self._names.pop(str(event.id), None)
        if name is not None:
            self._gauges["is_running"].labels(name).set(0)
