"""Patch lines: the rows of a file of RDF Patch, each of which stands on its own.

Prefixes are written out, and rows of transactions that were dropped are passed over.  A row that
cannot be read stays as it is: whoever reads it rejects it, with its line.  So does the beginning of
a transaction that never ends: nothing that follows it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pyarrow as pa

from livefacts.errors import LivefactsError
from livefacts.kb.stores.file_path import StorePath
from livefacts.syntax.input.files import Source, open_source

ROWS_AT_A_TIME = 50_000
OPERATION = re.compile(r"\s*([A-Za-z]+)(?=[\s.]|$)")
PREFIXED = re.compile(r"(?:^|[\s(])[\w.-]*:(?!/)")
Row = tuple[str, int]
"""The text of a row, and the number of its line."""


def patch_rows(source: Source) -> Iterator[Row]:
    """The rows that count, in their order."""
    prefixes: dict[str, str] = {}
    waiting: list[Row] | None = None
    begun: Row = "", 0
    with open_source(source) as stream:
        for number, line in enumerate(iter(stream.readline, b""), 1):
            text = line.decode(errors="backslashreplace").removeprefix("\ufeff").strip()
            found = OPERATION.match(text)
            operation = found[1] if found else ""
            row = text, number
            if not text or text.startswith("#") or operation == "H":
                continue
            if operation == "TX" and waiting is None:
                waiting, begun = [], row
            elif operation in ("TC", "TA") and waiting is not None:
                yield from waiting if operation == "TC" else ()
                waiting = None
            elif operation in ("PA", "PD"):
                yield from _declared(operation, row, prefixes)
            elif waiting is not None:
                waiting.append(_alone(row, prefixes))
            else:
                yield _alone(row, prefixes)
    if waiting is not None:
        yield begun


def _declared(operation: str, row: Row, prefixes: dict[str, str]) -> Iterator[Row]:
    """Take in a prefix; a row that declares none is given on, to be rejected."""
    from livefacts.syntax.rdf.patch import parse_patch

    try:
        found = parse_patch(row[0]).prefixes
    except LivefactsError:
        yield row
        return
    prefixes.update(dict.fromkeys(found, row[0]))
    if operation == "PD":
        prefixes.pop(row[0].split()[1].strip(":\"'"), None)


def _alone(row: Row, prefixes: dict[str, str]) -> Row:
    """The row without prefixes of its file."""
    text, number = row
    if not prefixes or not PREFIXED.search(text):
        return row
    # Only here: tasks begin sooner without the parsers.
    from livefacts.language.rule_text import write_fact
    from livefacts.model.facts import Fact
    from livefacts.syntax.rdf.patch import parse_patch

    try:
        (read,) = parse_patch("\n".join([*prefixes.values(), text])).rows
    except (LivefactsError, ValueError):
        return row
    mark = "A" if read.adds else "D"
    fact = read.statement
    written = write_fact(fact, {}) if isinstance(fact, Fact) else f"{fact} ."
    return f"{mark} {written}", number


def patch_columns(file: StorePath) -> Iterator[dict[str, pa.Array]]:
    """The rows of a file as columns."""
    rows = patch_rows(file.source())
    while some := list(islice(rows, ROWS_AT_A_TIME)):
        yield {
            "value": pa.array([text for text, _ in some], pa.string()),
            "line": pa.array([number for _, number in some], pa.int64()),
        }
