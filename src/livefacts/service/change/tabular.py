"""Tabular: what can be read as a table of Arrow is a DataFrame of pandas and of polars, too.

Other libraries that know Arrow (duckdb, polars, pyarrow) take such an object as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    import pyarrow as pa

NO_TERM = -1
"""The id that stands where a variable is unbound."""


class Tabular:
    """Rows with named columns."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """A table of Arrow: values of Arrow's types, or with `terms` the N-Triples text of each."""

    def to_pandas(self, *, terms: bool = False) -> Any:
        """The same as a DataFrame of pandas."""
        table = self._plain(terms)
        try:
            return table.to_pandas()
        except ImportError as error:
            raise not_installed("pandas") from error

    def to_polars(self, *, terms: bool = False) -> Any:
        """The same as a DataFrame of polars."""
        try:
            import polars
        except ImportError as error:
            raise not_installed("polars") from error
        return polars.from_arrow(self._plain(terms))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """What other libraries read as a table of Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _plain(self, terms: bool) -> pa.Table:
        """The table with its texts written out in each row."""
        from livefacts.service.change.arrow_columns import written_out

        return written_out(self.to_arrow(terms=terms))


def not_installed(package: str) -> LivefactsError:
    """What is raised where an optional package is missing."""
    return LivefactsError(f"{package} is not installed", hint=f"pip install {package}")
