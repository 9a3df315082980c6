"""`python -m benchmarks [name …]`: run experiments, print their tables and keep them."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from datetime import UTC, datetime

from benchmarks import earlier, tables
from benchmarks.options import Options
from benchmarks.peers import NO_PEERS, prepare

EXPERIMENTS = (
    "closure",
    "generic",
    "memory",
    "startup",
    "scale",
    "changes",
    "volz",
    "dynamite",
    "edges",
    "schemaorg",
    "owl",
    "owl equality",
    "ontologies",
    "streams",
    "imars",
    "laser",
    "aggregates",
    "patterns",
    "watch",
    "queries",
    "durable",
    "serve",
    "spark",
    "spark general",
    "spark updates",
    "spark streaming",
)

ALONE = {
    "aggregates",
    "owl equality",
    "ontologies",
    "patterns",
    "watch",
    "queries",
    "durable",
    "serve",
    "spark streaming",
}
"""Experiments without other systems to be installed."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument(
        "--universities",
        metavar="N,N",
        default="",
        help="sizes of `spark` and `queries`, such as 8,42",
    )
    given = parser.parse_args()
    names = _experiments(given.names) or list(EXPERIMENTS)
    for name in names:
        if name not in EXPERIMENTS:
            parser.error(f"there is no experiment {name}: choose from {', '.join(EXPERIMENTS)}")
    options = Options(given.quick, tuple(int(n) for n in given.universities.split(",") if n))
    stand_alone = (
        earlier.CHECKOUT is not None
        or set(names) <= ALONE
        or (given.quick and all(map(_has_options, names)))
    )
    peers = NO_PEERS if stand_alone else prepare()
    for name in names:
        print(f"experiment {name}", file=sys.stderr)
        run = importlib.import_module(f"benchmarks.{name.replace(' ', '_')}").run
        report = run(peers, options) if _has_options(name) else run(peers)
        report += earlier.report() + _where_and_when(name)
        print(report)
        print(f"kept in {tables.keep(name, report)}", file=sys.stderr)


def _experiments(words: list[str]) -> list[str]:
    """The experiments that words name: some have names of two words."""
    names: list[str] = []
    for word in words:
        if names and f"{names[-1]} {word}" in EXPERIMENTS:
            names[-1] += f" {word}"
        else:
            names.append(word)
    return names


def _has_options(name: str) -> bool:
    with_options = (
        "owl",
        "ontologies",
        "spark",
        "streams",
        "imars",
        "laser",
        "aggregates",
        "patterns",
        "watch",
    )
    return name.startswith((*with_options, "queries", "durable", "serve"))


def _where_and_when(name: str) -> str:
    day = datetime.now(UTC).date().isoformat()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return (
        f"\n`python -m benchmarks {name}`, {day}, {machine}, Python {platform.python_version()}\n"
    )


if __name__ == "__main__":
    main()
