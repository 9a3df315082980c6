"""`livefacts verify`: are the conclusions that were kept what the rules say?"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.fact_files import Inputs, leave, load
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Files,
    InputFormat,
    Rejects,
    Rules,
)
from livefacts.commands.console.terminal import ExitCode, counted, say

if TYPE_CHECKING:
    from livefacts.service.reasoner.verification import VerifyReport


class VerifyFormat(StrEnum):
    """How the report is printed."""

    text = "text"
    json = "json"


def verify_command(
    files: Files,
    rules: Rules = None,
    patches: Annotated[
        list[str] | None,
        typer.Option(
            "--patch",
            "-p",
            metavar="FILE",
            help="Apply this RDF Patch before verifying, as a change of its own; may be repeated.",
        ),
    ] = None,
    form: Annotated[
        VerifyFormat, typer.Option("--format", help="How to print the report.")
    ] = VerifyFormat.text,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Load files, follow patches, then compute everything anew by another road and compare.

    Facts, what was asserted, counters and indices are compared. Differences are listed, and the
    command then ends with 1.

    \b
    livefacts verify kb.nt --rules rdfs
    livefacts verify kb.nt --rules rdfs --patch monday.rdfp --patch tuesday.rdfp.gz
    """
    if [*files, *(patches or [])].count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once only")
    loaded = load(Inputs(files, rules or [], None, bnodes, input_format, rejects))
    for patch in patches or []:
        counts = loaded.reasoner.apply(patch=Path(patch)).counts
        say(
            f"{patch}: {counted(counts['added'], 'fact')} became true, "
            f"{counted(counts['removed'], 'fact')} ended"
        )
    report = loaded.reasoner.verify()
    typer.echo(str(report) if form is VerifyFormat.text else _as_json(report))
    if not report:
        raise typer.Exit(ExitCode.ERROR)
    leave(loaded)


def _as_json(report: VerifyReport) -> str:
    return json.dumps(
        {
            "ok": report.ok,
            "facts": report.facts,
            "instances": report.instances,
            "seconds": round(report.seconds, 3),
            "counts": dict(report.counts),
            "differences": [
                {
                    "kind": each.kind,
                    "fact": each.written,
                    "expected": each.expected,
                    "found": each.found,
                    "note": each.note,
                }
                for each in report.differences
            ],
        },
        indent=2,
        ensure_ascii=False,
    )
