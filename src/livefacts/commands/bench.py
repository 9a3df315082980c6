"""`livefacts bench`: how fast this machine reads, concludes and answers.

These are figures of livefacts alone, to compare machines and versions.  Comparisons
with other systems are in `benchmarks/` of the repository.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from livefacts.commands.console.fact_files import prepare
from livefacts.commands.console.terminal import say

TRANSITIVE = """
@prefix g: <http://livefacts.example/graph#> .
[?x, g:path, ?y] :- [?x, g:edge, ?y] .
[?x, g:path, ?z] :- [?x, g:path, ?y], [?y, g:edge, ?z] .
"""


class BenchFormat(StrEnum):
    """How figures are printed."""

    table = "table"
    json = "json"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement: what was done, to how many facts, in how much processor time."""

    job: str
    asserted: int
    true: int
    seconds: float

    @property
    def rate(self) -> float:
        """Facts that are true in the end, a second."""
        return self.true / self.seconds if self.seconds else 0.0


def bench_command(
    universities: Annotated[
        int, typer.Option(min=1, help="How much university data to measure with.")
    ] = 5,
    form: Annotated[
        BenchFormat, typer.Option("--format", help="How to print the figures.")
    ] = BenchFormat.table,
) -> None:
    """Measure this machine: loading under several rule sets, recursion, and a query.

    Times are processor time of this process, with kernels compiled, from the file to the
    last conclusion.  For a comparison with other systems see `make bench` in the
    repository.

    \b
    livefacts bench
    livefacts bench --universities 20 --format json
    """
    prepare()
    figures = _measured(universities)
    if form is BenchFormat.json:
        typer.echo(json.dumps([{**asdict(f), "rate": f.rate} for f in figures], indent=2))
        return
    typer.echo(f"{'job':<34}{'asserted':>12}{'true':>12}{'seconds':>9}{'facts/s':>12}")
    for f in figures:
        typer.echo(f"{f.job:<34}{f.asserted:>12,}{f.true:>12,}{f.seconds:>9.2f}{f.rate:>12,.0f}")


def _measured(universities: int) -> list[Figure]:
    from livefacts.generate import random_graph, tree, university

    with tempfile.TemporaryDirectory() as folder:
        campus = _file(folder, "university.nt", university(universities))
        branches = _file(folder, "tree.nt", tree(16, 2))
        graph = _file(folder, "random.nt", random_graph(1_000, 2_000))
        return [
            _closing(f"universities ({universities}), no rules", campus, []),
            _closing(f"universities ({universities}), rho-df", campus, ["rho-df"]),
            _closing(f"universities ({universities}), rdfs", campus, ["rdfs"]),
            _closing("paths in a binary tree", branches, [TRANSITIVE]),
            _closing("paths in a random graph", graph, [TRANSITIVE]),
        ]


def _closing(job: str, path: Path, rules: list[str]) -> Figure:
    from livefacts.service.reasoner.facade import Reasoner

    say(f"measuring: {job}")
    reasoner = Reasoner(rules=rules)
    seconds = _seconds(lambda: reasoner.load(str(path)))
    return Figure(job, len(reasoner.facts(derived=False)), len(reasoner), seconds)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _file(folder: str, name: str, pieces: Iterable[bytes]) -> Path:
    path = Path(folder) / name
    with path.open("wb") as stream:
        stream.writelines(pieces)
    return path
