"""pyoxigraph's ways in: into its own store, and as terms numbered by a Python dict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph
from reporting import Stages, run


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    text = Path(job["input"]).read_bytes()
    store = pyoxigraph.Store()
    with stages.stage("load"):
        store.bulk_load(text, pyoxigraph.RdfFormat.N_TRIPLES)
    with stages.stage("terms in a dict"):
        numbers: dict[Any, int] = {}
        rows = [
            tuple(numbers.setdefault(term, len(numbers)) for term in quad.triple)
            for quad in pyoxigraph.parse(text, pyoxigraph.RdfFormat.N_TRIPLES)
        ]
    return {"asserted": len(rows), "true": len(store)}


if __name__ == "__main__":
    run(main, "pyoxigraph")
