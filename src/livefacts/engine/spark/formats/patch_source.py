"""The RDF Patch data source: `format("rdfpatch")`, files of changes, read and written.

A row has in `value` one row of a patch, without prefixes and transactions of its file, and `file`,
`line` and `time`, which is when the file was written.  What is written has a column `value` of such
rows, or columns op and fact, or op, s, p, o and g.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from livefacts.engine.spark.formats.folder_stream import FolderFiles

NAME = "rdfpatch"
COLUMNS = "value string, file string, line long, time timestamp"
SUFFIXES = (".rdfp", ".patch")


class RdfPatchSource(DataSource):
    """Files of RDF Patch as rows, and rows as files."""

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
        from livefacts.engine.spark.formats.patch_lines import patch_columns

        options = FolderOptions.of(self.options, SUFFIXES)
        return FolderFiles(options, patch_columns, tuple(schema.fieldNames()))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """What writes a file for each task."""
        from livefacts.engine.spark.formats.patch_sink import PatchBatchWriter

        return PatchBatchWriter(self.options, schema.fieldNames(), overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """What writes files for each micro-batch."""
        from livefacts.engine.spark.formats.patch_sink import PatchStreamWriter

        return PatchStreamWriter(self.options, schema.fieldNames())
