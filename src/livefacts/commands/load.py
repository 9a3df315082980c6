"""`livefacts load`: read files, draw all conclusions, and say or write what came out."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from livefacts.commands.loading import Inputs, Loaded, leave, load
from livefacts.commands.options import (
    BlankNodes,
    Bnodes,
    Derived,
    Files,
    Graph,
    InputFormat,
    Rejects,
    Rules,
)
from livefacts.commands.terminal import counted, output, say
from livefacts.commands.violations import as_csv, as_json_lines
from livefacts.commands.writing import dump


class StatsFormat(StrEnum):
    """How statistics are printed."""

    text = "text"
    json = "json"


def load_command(
    files: Files,
    rules: Rules = None,
    graph: Graph = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
    dump_path: Annotated[
        str | None,
        typer.Option(
            "--dump", metavar="FILE", help="Write what is true here; - is standard output."
        ),
    ] = None,
    derived: Derived = None,
    violations: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the violations of constraints here, as JSON lines, or as a table if the "
            "name ends in .csv.",
        ),
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Print figures of the store.")] = False,
    form: Annotated[
        StatsFormat, typer.Option("--format", help="How to print the figures.")
    ] = StatsFormat.text,
) -> None:
    """Read files, draw every conclusion of the rules, and report.

    A line that cannot be read is rejected and costs no other line; the command then ends
    with 3.

    \b
    livefacts load uni.nt.gz --rules rdfs
    livefacts load 'data/*.ttl' mine.rules --rules rdfs --dump closure.nt.gz
    livefacts load people.nt --rules mine.rules --dump - --derived
    livefacts load big.nq.zst --rejects bad.csv --stats --format json
    livefacts load wine.owl data.nt --rules owl-rl --violations violations.csv
    """
    inputs = Inputs(files, rules or [], graph, bnodes, input_format, rejects)
    loaded = load(inputs)
    _summarize(loaded, violations)
    if dump_path:
        dump(loaded.reasoner, dump_path, derived)
    if violations:
        _write_violations(loaded, violations)
    if stats:
        _print_stats(loaded, form)
    leave(loaded)


def _summarize(loaded: Loaded, violations: str | None) -> None:
    true = len(loaded.reasoner)
    told = len(loaded.reasoner.facts(derived=False))
    say(
        f"{counted(told, 'fact')} told, {counted(true - told, 'conclusion')}, "
        f"{counted(true, 'fact')} true ({loaded.seconds:.1f} s)"
    )
    broken = len(loaded.reasoner.violations())
    if broken:
        hint = "" if violations else "; --violations FILE writes them"
        say(f"{counted(broken, 'violation')} of constraints{hint}")


def _write_violations(loaded: Loaded, path: str) -> None:
    violations = loaded.reasoner.violations()
    with output(path) as stream:
        stream.write(as_csv(violations) if path.endswith(".csv") else as_json_lines(violations))


def _print_stats(loaded: Loaded, form: StatsFormat) -> None:
    figures = loaded.reasoner.stats()
    if form is StatsFormat.json:
        typer.echo(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        typer.echo(f"{name:<20} {value:,}" if isinstance(value, int) else f"{name:<20} {value}")
