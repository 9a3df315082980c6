"""The RDF data source: `spark.read.format("rdf")`, files of any RDF format as a DataFrame.

Files are cut and read as `ingest` does it; a row has the N-Triples text of a statement and the
line on which it stands.  Spark starts a process of Python to ask for the columns and another
one to ask for the pieces: what reads files is imported where files are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import LongType, StringType, StructField, StructType

from livefacts.engine.spark.read.frame_columns import BAD_TEXT, FILE, GRAPH, LINE, REASON, TERMS
from livefacts.errors import InputError

NAME = "rdf"
PERMISSIVE, DROPMALFORMED, FAILFAST = MODES = ("PERMISSIVE", "DROPMALFORMED", "FAILFAST")
BYTES_PER_SPLIT = 64 << 20


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How files are read: Spark's options of text sources, and our own."""

    paths: tuple[str, ...]
    format: str | None
    mode: str
    bad_text: str
    bytes_per_split: int
    lines: bool

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SourceOptions:
        """The same from texts."""
        mode = given.get("mode", PERMISSIVE).upper()
        if mode not in MODES:
            raise InputError(f"there is no mode {mode}", hint=f"choose from {', '.join(MODES)}")
        # Several paths come as a list in JSON.
        paths = json.loads(given["paths"]) if "paths" in given else [given.get("path", "")]
        return cls(
            tuple(path for path in paths if path),
            given.get("format"),
            mode,
            given.get("columnNameOfCorruptRecord", BAD_TEXT),
            _positive(given.get("bytesPerSplit", str(BYTES_PER_SPLIT))),
            given.get("lines", "true").lower() != "false",
        )

    def schema(self) -> StructType:
        """The columns where nobody asks for others."""
        names = (*TERMS, GRAPH, LINE, *([self.bad_text] if self.mode == PERMISSIVE else []))
        return StructType([self._field(name) for name in names])

    def check(self, schema: StructType) -> None:
        """Refuse columns that there are not."""
        known = {
            each: self._field(each) for each in (*TERMS, GRAPH, LINE, FILE, REASON, self.bad_text)
        }
        for field in schema.fields:
            there = known.get(field.name)
            if there is None or there.dataType != field.dataType:
                columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in known.values())
                raise InputError(
                    f"there is no column {field.simpleString()}", hint=f"there are {columns}"
                )

    def _field(self, name: str) -> StructField:
        return StructField(name, LongType() if name == LINE else StringType())


def _positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise InputError(f"bytesPerSplit={text} is no number of bytes", hint="64 MB by default")
    return int(text)


class RdfDataSource(DataSource):
    """Files of RDF as rows of s, p, o, g and line; register it with `livefacts.spark.register`."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return NAME

    def schema(self) -> StructType:
        """The columns of what is read."""
        return SourceOptions.of(self.options).schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        """What reads them."""
        from livefacts.engine.spark.read.rdf_reader import RdfReader

        return RdfReader(SourceOptions.of(self.options), schema)
