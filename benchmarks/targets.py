"""Targets: what an experiment was meant to show, beside what it has measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.tables import RESULTS, latency, table


@dataclass(frozen=True)
class Target:
    """One figure with a bound; times in seconds, ratios as numbers."""

    figure: str
    wanted: str
    measured: str
    is_met: bool


def within(figure: str, seconds: float, most: float) -> Target:
    """A time that may be so long at most."""
    return Target(figure, f"≤ {latency(most)}", latency(seconds), seconds <= most)


def at_most(figure: str, ratio: float, most: float) -> Target:
    """A ratio that may be so large at most."""
    return Target(figure, f"≤ {most:.4g} x", f"{ratio:.2f} x", ratio <= most)


def at_least(figure: str, ratio: float, least: float) -> Target:
    """A ratio that must be so large at least."""
    return Target(figure, f"≥ {least:.4g} x", f"{ratio:.2f} x", ratio >= least)


def number_at_most(figure: str, number: float, most: float) -> Target:
    """A number that may be so large at most."""
    return Target(figure, f"≤ {most:g}", f"{number:,.3g}", number <= most)


def holds(figure: str, is_met: bool) -> Target:
    """Something that is so or not."""
    return Target(figure, "yes", "yes" if is_met else "no", is_met)


def summary(name: str, targets: Sequence[Target]) -> str:
    """The targets of an experiment as a table; they are kept as JSON, too."""
    RESULTS.mkdir(exist_ok=True)
    kept = json.dumps([asdict(target) for target in targets], indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(kept + "\n", encoding="utf-8")
    met = sum(target.is_met for target in targets)
    rows = [
        [each.figure, each.wanted, each.measured, "reached" if each.is_met else "**missed**"]
        for each in targets
    ]
    title = f"## Targets: {met} of {len(targets)} reached\n\n"
    return title + table(["figure", "wanted", "measured", ""], rows)
