"""`livefacts doctor`: is everything in place, and if not, what to do."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from livefacts.commands.console.fact_files import prepare
from livefacts.commands.console.terminal import ExitCode, say


class DoctorFormat(StrEnum):
    """How the report is printed."""

    text = "text"
    json = "json"


def doctor_command(
    compile_kernels: Annotated[
        bool, typer.Option("--compile", help="Compile the kernels now, so that nobody waits later.")
    ] = False,
    form: Annotated[
        DoctorFormat, typer.Option("--format", help="How to print the report.")
    ] = DoctorFormat.text,
) -> None:
    """Look at this installation: versions, Java, Spark, kernel cache, disk and memory.

    Ends with 0 unless the embedded engine cannot work.

    \b
    livefacts doctor
    livefacts doctor --compile
    livefacts doctor --format json
    """
    from livefacts import doctor

    if compile_kernels:
        if not prepare():
            say("kernels were compiled before")
        return
    findings = doctor.examine()
    if form is DoctorFormat.json:
        typer.echo(json.dumps([finding.as_dict() for finding in findings], indent=2))
    else:
        typer.echo("\n".join(finding.as_line() for finding in findings))
    if any(finding.state is doctor.FindingState.BROKEN for finding in findings):
        raise typer.Exit(ExitCode.ERROR)
