"""Plots of lines on two logarithmic axes, side by side, as PNG and SVG."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from reporting import Stages, run


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    panels = job["panels"]
    width = 7 if len(panels) == 1 else 4.5 * len(panels)
    figure, all_axes = pyplot.subplots(
        1, len(panels), figsize=(width, 4.5), sharey=True, squeeze=False
    )
    for axes, panel in zip(all_axes[0], panels, strict=True):
        _draw(axes, panel)
    all_axes[0][0].set_ylabel(job["y_label"])
    all_axes[0][-1].legend()
    figure.tight_layout()
    for path in job["paths"]:
        figure.savefig(path, dpi=150)
    return {"plots": job["paths"]}


def _draw(axes: Any, panel: dict[str, Any]) -> None:
    for name, values in panel["lines"].items():
        axes.plot(panel["x"], values, marker="o", label=name)
    if "linear" in panel:
        first, last = panel["x"][0], panel["x"][-1]
        base = panel["lines"][panel["linear"]][-1]
        axes.plot([first, last], [base * first / last, base], "k:", linewidth=1, label="linear")
    axes.set(xscale="log", yscale="log", xlabel=panel["x_label"], title=panel.get("title", ""))
    if panel.get("legend"):
        axes.legend()
    axes.grid(visible=True, which="both", alpha=0.2)


if __name__ == "__main__":
    run(main, "matplotlib")
