"""The data source of deltas: `format("deltas")`, the rows that come into a Delta table, as a stream.

Any reader of Delta can follow that table; this one needs no jar.  The offset is the version of the
table, and files that only take the place of others are no new rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from livefacts.engine.spark.formats.folder_stream import position_in

NAME = "deltas"
COLUMNS = "seq long, op string, fact string, s string, p string, o string"


class DeltaSource(DataSource):
    """What streams have added and removed."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return NAME

    def schema(self) -> str:
        """The columns of what is read."""
        return COLUMNS

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """What follows the table."""
        from livefacts.errors import InputError

        if not self.options.get("path"):
            raise InputError("no table of deltas to read", hint='load("out/") names one')
        return DeltaReader(self.options["path"], schema.fieldNames())


@dataclass(frozen=True)
class DeltaFile(InputPartition):
    """A data file."""

    path: str


class DeltaReader(DataSourceStreamReader):
    """Follows the log of a Delta table."""

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self._path = path
        self._columns = list(columns)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first version."""
        return {"version": -1}

    def latestOffset(self, start: dict[str, Any], limit: object) -> dict[str, Any]:  # noqa: N802
        """The version that the table is at."""
        from livefacts.kb.delta_log import Log
        from livefacts.kb.stores.file_path import store_path

        return {
            "version": max(position_in(start, "version"), Log(store_path(self._path)).version())
        }

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[DeltaFile]:
        """The files that came after one version and up to another."""
        from livefacts.kb.delta_log import Log
        from livefacts.kb.stores.file_path import store_path

        table = store_path(self._path)
        log = Log(table)
        versions = range(position_in(start, "version") + 1, end["version"] + 1)
        added = [
            action["add"]
            for version in versions
            for action in log.actions(version)
            if "add" in action and action["add"]["dataChange"]
        ]
        return [DeltaFile(str(table / unquote(file["path"]))) for file in added]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a file."""
        from livefacts.kb.stores.file_path import store_path

        assert isinstance(partition, DeltaFile)
        found = store_path(partition.path).parquet().read(columns=self._columns)
        yield from found.select(self._columns).to_batches()

    def commit(self, end: dict[str, Any]) -> None:
        """The table stays as it is."""

    def stop(self) -> None:
        """Nothing is held."""
