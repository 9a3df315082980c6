"""`livefacts dump`: everything that is true, as a file."""

from __future__ import annotations

from typing import Annotated

import typer

from livefacts.commands.console.fact_files import Inputs, leave, load
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
from livefacts.commands.console.terminal import check_format, dump


def dump_command(
    files: Files,
    rules: Rules = None,
    path: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write here, .gz and .zst too; - is standard output.",
        ),
    ] = "-",
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="EXT",
            help="nt, nq, ttl, trig, n3, rdf, jsonld, or rules; else as the file's name says.",
        ),
    ] = None,
    derived: Derived = None,
    graph: Graph = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Read files, draw every conclusion of the rules, and write what is true.

    \b
    livefacts dump uni.nt.gz --rules rdfs | sort | head
    livefacts dump uni.nt.gz --rules rdfs --derived -o conclusions.ttl
    livefacts dump data.ttl -o data.nt.gz
    """
    check_format(path, form)
    loaded = load(Inputs(files, rules or [], graph, bnodes, input_format, rejects))
    dump(loaded.reasoner, path, derived, form)
    leave(loaded)
