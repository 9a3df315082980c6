"""HTML tables: what notebooks show of facts, answers and changes; it needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST = 20
"""So many rows are shown."""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> str:
    """A table of the first rows, and how many there are.

    >>> html_table(["?x"], [["<b>"]], 1)
    '<table><thead><tr><th>?x</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table><small>1 row</small>'
    """
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in islice(rows, MOST)
    )
    counted = "1 row" if count == 1 else f"{count:,} rows"
    more = f", of which {MOST} are shown" if count > MOST else ""
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<small>{counted}{more}</small>"
    )


def folded(title: str, inside: str, *, is_open: bool = False) -> str:
    """A part that can be folded."""
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{escape(title)}</summary>{inside}</details>"
