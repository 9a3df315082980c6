"""Fact files for a command: a reasoner, the files, and a report of what was rejected."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from livefacts.commands.console.options import BlankNodes
from livefacts.commands.console.terminal import ExitCode, counted, ending_at_once, is_watched, say
from livefacts.errors import InputError
from livefacts.kb.stores.address import is_remote

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta
    from livefacts.service.reasoner.facade import Reasoner

REJECTS_SHOWN = 5
ONTOLOGY = "dlp:"
"""Stands before the path of an ontology whose rules are meant."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a command is to load, and how."""

    files: list[str]
    rules: list[str]
    graph: str | None = None
    bnodes: BlankNodes = BlankNodes.local
    format: str | None = None
    rejects: str | None = None
    tick: str | None = None
    writes: bool = False
    """Whether a folder among the files is to be changed; else it is read beside its writer."""
    imports: str | None = None
    """The folder of the ontologies that files import."""
    at: int | None = None
    """The change of the folder after which it is looked at."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A reasoner that has loaded its files, what that changed, and how long it took."""

    reasoner: Reasoner
    delta: Delta | None
    seconds: float

    @property
    def rejected(self) -> int:
        """How many lines or files could not be read."""
        return self.delta.counts["rejected"] if self.delta is not None else 0


def prepare() -> bool:
    """Have the kernels compiled before work begins; whether anything had to be done."""
    from livefacts import doctor
    from livefacts.store.machine_code import announce_compilation

    if doctor.kernels_are_compiled():
        return False
    announce_compilation(is_certain=True)
    with ending_at_once():
        seconds = doctor.compile_kernels()
    say(f"kernels are compiled ({seconds:.0f} s)")
    return True


def load(inputs: Inputs) -> Loaded:
    """Make a reasoner with these rules and load these files into it."""
    from livefacts.service.reasoner.facade import Reasoner

    prepare()
    started = time.perf_counter()
    folders = [name for name in inputs.files if is_folder(name)]
    files = [name for name in inputs.files if name not in folders]
    if inputs.at is not None and not folders:
        raise InputError(
            "--at needs a folder, which remembers how it was",
            hint="livefacts load kb/ FILES makes one",
        )
    reasoner = _opened(folders, inputs) if folders else Reasoner(inputs.rules, tick=inputs.tick)
    delta = None
    if files:
        delta = reasoner.load(
            files,
            format=inputs.format,
            graph=inputs.graph,
            bnodes=inputs.bnodes,
            rejects=inputs.rejects,
            progress=is_watched(),
            imports=inputs.imports,
        )
    loaded = Loaded(reasoner, delta, time.perf_counter() - started)
    # What is loaded stays: the collector of garbage need not go over it at every tenth change.
    gc.freeze()
    report_rejects(loaded, inputs.rejects)
    _report_imports(loaded)
    _report_axioms(reasoner, inputs.rules)
    return loaded


def load_into(
    folder: str | None, files: list[str] | None, rules: list[str] | None, tick: str | None
) -> Loaded:
    """The same for what streams come to; everything is kept in the folder, if there is one."""
    kept = [] if folder is None else [folder.rstrip("/") + "/"]
    writes = folder is not None
    return load(Inputs([*kept, *(files or [])], rules or [], tick=tick, writes=writes))


def is_folder(name: str) -> bool:
    """Whether a name is that of a folder rather than of a file."""
    return name.endswith("/") or Path(name).is_dir() or is_remote(name)


def _opened(folders: list[str], inputs: Inputs) -> Reasoner:
    """The reasoner in a folder."""
    from livefacts.service.reasoner.facade import Reasoner

    if len(folders) > 1:
        raise InputError("one folder can be opened at a time", hint="dump one, and load the file")
    if not inputs.writes and len(inputs.files) > 1:
        raise InputError(
            f"{folders[0]} is only read here, and files cannot be added to it",
            hint="livefacts load FOLDER FILES adds them",
        )
    is_new = inputs.writes and not Path(folders[0]).exists()
    found = Reasoner.open(
        folders[0], inputs.rules or None, read_only=not inputs.writes, tick=inputs.tick
    )
    if is_new:
        say(f"made {folders[0]}")
    return found if inputs.at is None else found.at(inputs.at)


def say_if_empty(loaded: Loaded) -> None:
    """Say that there is nothing to ask about, where no file was given."""
    if loaded.delta is None and not len(loaded.reasoner):
        say("nothing was loaded: give files with --data")


def leave(loaded: Loaded) -> None:
    """End the command; with another code if some input was rejected."""
    if loaded.rejected:
        raise typer.Exit(ExitCode.SOME_REJECTED)


def _report_axioms(reasoner: Reasoner, rules: list[str]) -> None:
    """Say that rules do not say all of an ontology, where they were made from one."""
    files = " ".join(each.removeprefix(ONTOLOGY) for each in rules if each.startswith(ONTOLOGY))
    gaps = len({gap.axiom for gap in reasoner.ontology().inexpressible}) if files else 0
    if gaps:
        say(f"{counted(gaps, 'axiom is', 'axioms are')} not, or not fully, in rules")
        say(f"hint: livefacts rules from-owl {files} says which, and why")


def _report_imports(loaded: Loaded) -> None:
    """Say which ontologies were imported and not read; `report_rejects` says all hints."""
    from livefacts.service.change.import_catalogue import NOT_READ

    if loaded.delta is not None and not loaded.rejected:
        for hint in loaded.delta.hints:
            if hint.startswith(NOT_READ):
                say(f"hint: {hint}")


def report_rejects(loaded: Loaded, path: str | None) -> None:
    """Say what could not be read; `path` is the file that has all of it."""
    if loaded.delta is None or not loaded.rejected:
        return
    kept = f"; all of them are in {path}" if path else ""
    say(f"{counted(loaded.rejected, 'line was', 'lines were')} rejected{kept}")
    for reject in loaded.delta.rejects[:REJECTS_SHOWN]:
        say(f"  {reject}")
    if loaded.rejected > REJECTS_SHOWN:
        more = "" if path else "; --rejects FILE keeps all of them"
        say(f"  and {loaded.rejected - REJECTS_SHOWN:,} more{more}")
    for hint in loaded.delta.hints:
        say(f"hint: {hint}")
