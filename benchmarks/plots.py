"""Plots: drawn by matplotlib in the environment of the peers, kept beside the reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.measuring import run_worker
from benchmarks.peers import Peers
from benchmarks.tables import RESULTS


def plot(
    name: str, title: str, panels: Sequence[dict[str, Any]], y_label: str, peers: Peers
) -> str:
    """Draw lines on logarithmic axes; the Markdown that shows them, or says why not.

    A panel has `x`, `x_label` and `lines` by name; `title`, and the name of the line that a
    `linear` one is drawn through, if wanted; the last panel has a legend, and any with `legend`.
    """
    if "matplotlib" in peers.missing:
        return f"No plot: matplotlib could not be installed ({peers.missing['matplotlib']}).\n"
    RESULTS.mkdir(exist_ok=True)
    paths = [str(RESULTS / f"{name}.png"), str(RESULTS / f"{name}.svg")]
    job = {"panels": list(panels), "y_label": y_label, "paths": paths}
    report = run_worker("plot_lines", job, str(peers.python))
    return f"No plot: {report['failure']}\n" if "failure" in report else f"![{title}]({name}.svg)\n"
