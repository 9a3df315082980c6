"""Records: rows of tables and lists of dicts, as the facts that a map makes of them.

The map is that of messages of JSON: `reading($.sensor, $.value)`; a row is a message whose names
are the columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyoxigraph import Triple

from livefacts.errors import InputError
from livefacts.model.facts import Fact
from livefacts.syntax.json_map.mapping_text import read_map

WAYS = ("to_pylist", "to_dicts")
"""How tables of Arrow and of polars give their rows."""


def mapped_records(records: Any, text: str) -> Iterator[Triple | Fact]:
    """The facts that a map makes of each row."""
    mapping = read_map(text)
    for number, row in enumerate(_rows(records), 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"row {number} is {row!r:.60}, and no record",
                hint="a record is a dict; a table of Arrow, pandas or polars has them as rows",
            )
        try:
            made = mapping.facts(json.dumps(dict(row), default=_plain), str(number))
        except (InputError, TypeError, ValueError) as error:
            raise InputError(f"row {number}: {error}") from None
        for each in made:
            if each.time is not None or each.retracts:
                raise InputError(
                    "the map gives times or takes facts back, which is for streams",
                    hint="leave out `at` and `retract`, or push what read_map(...) makes",
                )
            yield each.fact


def _rows(records: Any) -> Iterable[Any]:
    """The rows of a table, as dicts."""
    for way in WAYS:
        if hasattr(records, way):
            rows: Iterable[Any] = getattr(records, way)()
            return rows
    if hasattr(records, "to_dict") and hasattr(records, "columns"):
        return _without_gaps(records.to_dict("records"))
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise InputError(
            f"{records!r:.60} is no table and no list of records",
            hint="give a DataFrame, a table of Arrow, or a list of dicts",
        )
    return records


def _without_gaps(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What pandas has as NaN or NaT is missing."""
    for row in rows:
        yield {name: None if value != value else value for name, value in row.items()}


def _plain(value: Any) -> Any:
    """What JSON has for a value that it does not know: a number of NumPy, or a text."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else str(value)
