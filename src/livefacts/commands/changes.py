"""`livefacts add`, `remove` and `apply`: change what files say, and see what follows from it.

The change is printed as RDF Patch on standard output, and summed up on standard error.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from livefacts.commands.console.fact_files import (
    Inputs,
    Loaded,
    is_folder,
    leave,
    load,
    report_rejects,
)
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Files,
    InputFormat,
    Rejects,
    Rules,
)
from livefacts.commands.console.terminal import counted, dump, say
from livefacts.commands.query import QUERY_FILES, text_of
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta
    from livefacts.service.reasoner.facade import Reasoner

Change: TypeAlias = "Callable[[Reasoner], Delta]"
UPDATE_FILES = (".ru", *QUERY_FILES)
FactFile = Annotated[
    str,
    typer.Option(
        "--facts", "-f", metavar="FILE", help="A file of facts; - is standard input, in N-Triples."
    ),
]
Asserted = Annotated[
    bool,
    typer.Option(
        "--asserted", help="Print what was asserted and retracted, not what became true and ended."
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write all that is asserted after the change here."
    ),
]


def add_command(
    files: Files,
    facts: FactFile,
    rules: Rules = None,
    asserted: Asserted = False,
    path: Output = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Add facts to what FILES say, and print what became true and what ended.

    Lines of FILES or facts that cannot be read are rejected; the command then ends with 3.

    \b
    livefacts add kb.nt --rules rdfs --facts new.ttl
    livefacts add kb.nt --rules mine.rules --facts new.nt --output kb.nt
    """
    _check_standard_input([*files, facts])
    loaded = load(Inputs(files, rules or [], None, bnodes, input_format, rejects, writes=True))
    _change(loaded, lambda reasoner: reasoner.load(facts, bnodes=bnodes), asserted, path)


def remove_command(
    files: Files,
    facts: FactFile,
    rules: Rules = None,
    asserted: Asserted = False,
    path: Output = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Take facts back from what FILES say, and print what ended and what became true.

    What follows from other facts stays true. Blank nodes are named by the labels that
    `livefacts dump` shows. A mistake in the facts is an error, and nothing is removed.

    \b
    livefacts remove kb.nt --rules rdfs --facts gone.nt
    livefacts remove kb.nt --rules rdfs --facts gone.nt --asserted --output kb.nt
    """
    _check_standard_input([*files, facts])
    for name in files:
        if is_folder(name) and not Path(name).exists():
            raise InputError(
                f"{name} is not there, and nothing can be removed from it",
                hint="livefacts load FOLDER FILES makes a folder",
            )
    loaded = load(Inputs(files, rules or [], None, bnodes, input_format, rejects, writes=True))
    _change(loaded, lambda reasoner: reasoner.remove(Path(facts)), asserted, path)


def apply_command(
    files: Files,
    rules: Rules = None,
    patches: Annotated[
        list[str] | None,
        typer.Option(
            "--patch",
            "-p",
            metavar="FILE",
            help="RDF Patch, .gz and .zst too; - is standard input; may be repeated.",
        ),
    ] = None,
    update: Annotated[
        str | None,
        typer.Option(
            "--update",
            "-u",
            metavar="TEXT|FILE",
            help="SPARQL Update, or a file.ru; - is standard input.",
        ),
    ] = None,
    asserted: Asserted = False,
    path: Output = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Change what FILES say by a patch or an update, and print what became true and ended.

    All of it is one change: it happens as a whole, or not at all.

    \b
    livefacts apply kb.nt --rules rdfs --patch today.rdfp
    livefacts apply kb.nt --patch monday.rdfp.gz --patch tuesday.rdfp.gz --output kb.nt
    livefacts apply kb.nt --rules rdfs --update 'DELETE WHERE { ?x a <x:Cat> }'
    """
    if bool(patches) is bool(update):
        raise typer.BadParameter("give --patch or --update, one of them")
    _check_standard_input([*files, *(patches or []), update or ""])
    change = _updating(update) if update else _patching(patches or [])
    loaded = load(Inputs(files, rules or [], None, bnodes, input_format, rejects, writes=True))
    _change(loaded, change, asserted, path)


def _updating(update: str) -> Change:
    text = text_of(update, UPDATE_FILES)
    return lambda reasoner: reasoner.update(text)


def _patching(patches: list[str]) -> Change:
    return lambda reasoner: reasoner.apply(patch=[Path(each) for each in patches])


def _check_standard_input(names: list[str]) -> None:
    if names.count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read once only")


def _change(loaded: Loaded, change: Change, asserted: bool, path: str | None) -> None:
    """Make the change, print it, and write what is asserted now."""
    started = time.perf_counter()
    delta = change(loaded.reasoner)
    seconds = time.perf_counter() - started
    report_rejects(Loaded(loaded.reasoner, delta, seconds), None)
    typer.echo(delta.to_patch(asserted=asserted), nl=False)
    _summarize(delta, seconds)
    if path:
        dump(loaded.reasoner, path, derived=False)
    leave(loaded if loaded.rejected else Loaded(loaded.reasoner, delta, seconds))


def _summarize(delta: Delta, seconds: float) -> None:
    counts = delta.counts
    say(
        f"{counted(counts['added'], 'fact')} became true, {counts['derived']:,} of them derived; "
        f"{counted(counts['removed'], 'fact')} ended, {counts['derived_removed']:,} of them "
        f"derived; {counts['asserted']:,} asserted, {counts['retracted']:,} retracted "
        f"({seconds:.2f} s)"
    )
    for hint in delta.hints if not counts["rejected"] else ():
        say(f"note: {hint}")
    if delta.violations:
        say(f"{counted(len(delta.violations), 'violation')} of constraints came with it")
        for violation in delta.violations[:5]:
            say(f"  {violation}")
    if delta.resolved:
        say(f"{counted(len(delta.resolved), 'violation')} of constraints went with it")
