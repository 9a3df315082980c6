"""`livefacts load`: read files, draw all conclusions, and say or write what came out."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.fact_files import Inputs, Loaded, leave, load
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Derived,
    Files,
    Graph,
    InputFormat,
    Rejects,
    Rules,
)
from livefacts.commands.console.terminal import ExitCode, check_format, counted, dump, output, say

if TYPE_CHECKING:
    from livefacts.service.change.delta import Violation

CONSTRAINTS_SHOWN = 5


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
    imports: Annotated[
        str | None,
        typer.Option(
            "--imports", metavar="FOLDER", help="The folder of ontologies that files import."
        ),
    ] = None,
    fail_on_violation: Annotated[
        bool, typer.Option("--fail-on-violation", help="End with 4 if constraints are violated.")
    ] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Print figures of the store.")] = False,
    form: Annotated[
        StatsFormat, typer.Option("--format", help="How to print the figures.")
    ] = StatsFormat.text,
) -> None:
    """Read files, draw every conclusion of the rules, and report.

    A line that cannot be read is rejected and costs no other line; the command then ends
    with 3. Violations of constraints are counted; they change how it ends if you ask for it.

    \b
    livefacts load uni.nt.gz --rules rdfs
    livefacts load 'data/*.ttl' mine.rules --rules rdfs --dump closure.nt.gz
    livefacts load people.nt --rules mine.rules --dump - --derived
    livefacts load big.nq.zst --rejects bad.csv --stats --format json
    livefacts load wine.owl data.nt --rules owl-rl --violations violations.csv
    livefacts load data.nt --rules checks.rules --fail-on-violation
    """
    if dump_path:
        check_format(dump_path)
    inputs = Inputs(
        files, rules or [], graph, bnodes, input_format, rejects, writes=True, imports=imports
    )
    loaded = load(inputs)
    _summarize(loaded)
    broken = loaded.reasoner.violations()
    if dump_path:
        dump(loaded.reasoner, dump_path, derived)
    if violations:
        _write_violations(broken, violations)
    if broken:
        _say_violations(broken, violations, _options(files, rules or []))
    if stats:
        _print_stats(loaded, form)
    leave(loaded)
    if broken and fail_on_violation:
        raise typer.Exit(ExitCode.VIOLATED)


def _summarize(loaded: Loaded) -> None:
    true = len(loaded.reasoner)
    asserted = len(loaded.reasoner.facts(derived=False))
    say(
        f"{counted(asserted, 'fact')} asserted, {true - asserted:,} derived, "
        f"{counted(true, 'fact')} true ({loaded.seconds:.1f} s)"
    )


def _options(files: list[str], rules: list[str]) -> str:
    """What another command needs to see the same."""
    given = [("--data", name) for name in files] + [("--rules", name) for name in rules]
    return " ".join(f"{option} {shlex.quote(name)}" for option, name in given)


def _say_violations(violations: list[Violation], path: str | None, options: str) -> None:
    """How often which constraint is violated, and how to find out more."""
    times = Counter(violation.constraint for violation in violations)
    names = [f"{name} {number:,}" for name, number in times.most_common(CONSTRAINTS_SHOWN)]
    if len(times) > CONSTRAINTS_SHOWN:
        names.append("…")
    say(f"{counted(len(violations), 'violation')} of constraints: {', '.join(names)}")
    written = f"all of them are in {path}" if path else "--violations FILE writes them"
    say(f"hint: {written}; livefacts explain {next(iter(times))} {options} says why")


def _write_violations(violations: list[Violation], path: str) -> None:
    with output(path) as stream:
        stream.write(_as_csv(violations) if path.endswith(".csv") else _as_json_lines(violations))


def _print_stats(loaded: Loaded, form: StatsFormat) -> None:
    figures = loaded.reasoner.stats()
    if form is StatsFormat.json:
        typer.echo(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        typer.echo(f"{name:<20} {value:,}" if isinstance(value, int) else f"{name:<20} {value}")


def _as_json_lines(violations: Iterable[Violation]) -> bytes:
    """A violation a line: the constraint, the values of its variables, the facts in conflict."""
    lines = [
        {
            "constraint": violation.constraint,
            "bindings": {name: str(term) for name, term in violation.bindings.items()},
            "facts": [str(fact) for fact in violation.facts],
        }
        for violation in violations
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _as_csv(violations: Iterable[Violation]) -> bytes:
    """The same as a table, with what is one of several on a line of its own."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["constraint", "bindings", "facts"])
    for violation in violations:
        bindings = [f"?{name} = {term}" for name, term in violation.bindings.items()]
        facts = [str(fact) for fact in violation.facts]
        table.writerow([violation.constraint, "\n".join(bindings), "\n".join(facts)])
    return text.getvalue().encode()
