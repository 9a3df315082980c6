"""A plot of lines on two logarithmic axes, as PNG and SVG."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from reporting import Stages, run


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for name, values in job["lines"].items():
        axes.plot(job["x"], values, marker="o", label=name)
    first, last = job["x"][0], job["x"][-1]
    base = next(iter(job["lines"].values()))[-1]
    axes.plot([first, last], [base * first / last, base], "k:", linewidth=1, label="linear")
    axes.set(xscale="log", yscale="log", xlabel=job["x_label"], ylabel=job["y_label"])
    axes.grid(visible=True, which="both", alpha=0.2)
    axes.legend()
    figure.tight_layout()
    for path in job["paths"]:
        figure.savefig(path, dpi=150)
    return {"plots": job["paths"]}


if __name__ == "__main__":
    run(main, "matplotlib")
