"""Tables: what the experiments print and keep, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

NOTHING = "-"
RESULTS = Path(__file__).parent / "results"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; columns of figures are aligned to the right."""
    lines = [f"| {' | '.join(heads)} |"]
    lines.append(f"|{'|'.join('---' if n == 0 else '--:' for n in range(len(heads)))}|")
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def seconds(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1000:.0f} ms"


def latency(value: float | None) -> str:
    """A short time, with as many digits as mean something."""
    if value is None:
        return NOTHING
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.{0 if value >= 100 * size else 1}f} {unit}"
    return f"{value * 1e6:.{0 if value >= 1e-5 else 1}f} µs"


def rate(count: int, value: float | None) -> str:
    """So many a second, in millions."""
    return NOTHING if not value else f"{count / value / 1e6:.2f} M/s"


def times(theirs: float | None, ours: float | None) -> str:
    """How many times as long they took."""
    return NOTHING if not theirs or not ours else f"{theirs / ours:.2f} x"


def keep(name: str, text: str) -> Path:
    """Write the report of an experiment into the folder of results."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name.replace(' ', '-')}.md"
    path.write_text(text, encoding="utf-8")
    return path
