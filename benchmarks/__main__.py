"""`python -m benchmarks [name …]`: run experiments, print their tables and keep them."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from datetime import UTC, datetime

from benchmarks import tables
from benchmarks.peers import prepare

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
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(EXPERIMENTS)}")
    names = parser.parse_args().names or list(EXPERIMENTS)
    for name in names:
        if name not in EXPERIMENTS:
            parser.error(f"there is no experiment {name}: choose from {', '.join(EXPERIMENTS)}")
    peers = prepare()
    for name in names:
        print(f"experiment {name}", file=sys.stderr)
        report = importlib.import_module(f"benchmarks.{name}").run(peers) + _where_and_when(name)
        print(report)
        print(f"kept in {tables.keep(name, report)}", file=sys.stderr)


def _where_and_when(name: str) -> str:
    day = datetime.now(UTC).date().isoformat()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return (
        f"\n`python -m benchmarks {name}`, {day}, {machine}, Python {platform.python_version()}\n"
    )


if __name__ == "__main__":
    main()
