"""`livefacts log`, `undo`, `backup` and `restore`: what has happened in a folder, and copies of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.terminal import say
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.journal.change_log import JournalRow

MOST_SHOWN = 60
"""So many characters of a query are shown."""
Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of Reasoner.open.")]


def log_command(folder: Folder) -> None:
    """List the changes of a folder that are kept, oldest first: number, time, kind, what they did.

    \b
    livefacts log kb/
    """
    from livefacts.service.reasoner.facade import Reasoner

    check_is_folder(folder)
    reasoner = Reasoner.open(folder, read_only=True)
    for row in reasoner.log():
        typer.echo(_line(row, reasoner.path / "journal"))


def _line(row: JournalRow, journal: Path) -> str:
    """The number of a change, when it was made, its kind, and what it did."""
    number = str(row.last) if row.first <= row.last else "-"
    when = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(row.time))
    return "\t".join([number, when, row.kind, ", ".join(_deeds(row, journal)) or "no effect"])


def _deeds(row: JournalRow, journal: Path) -> Iterator[str]:
    """What a row of the journal did, in words."""
    from livefacts.journal import fact_texts
    from livefacts.service.knowledge import recorder

    given, counts = row.content, fact_texts.counts_of(row.content, journal)
    if row.kind == recorder.CHANGE:
        ended = fact_texts.only_in(given, journal, recorder.REMOVED, recorder.RETRACTED)
        asserted, retracted = (counts.get(n, 0) for n in (recorder.ASSERTED, recorder.RETRACTED))
        yield from _signed((asserted, " asserted"), (-retracted, " retracted"))
        yield from _signed((counts.get(recorder.DERIVED, 0), " derived"), (-ended, " derived"))
    else:
        yield from _moved(row, counts)
    for sign, name in ("+", recorder.ADDED_RULES), ("-", recorder.DROPPED):
        if name in given:
            yield f"{sign}rules {' '.join(given[name])}"
    came, went = (len(given.get(name, ())) for name in (recorder.CAME, recorder.WENT))
    yield from _signed((came, " violated"), (-went, " violated"))
    if recorder.LOADED in given:
        yield f"from {' '.join(given[recorder.LOADED])}"
    if recorder.AUTHOR in given:
        yield f"by {given[recorder.AUTHOR]}"
    if recorder.NOTE in given:
        yield repr(given[recorder.NOTE])


def _moved(row: JournalRow, counts: Mapping[str, int]) -> Iterator[str]:
    """What came with time, or was said of streams."""
    from livefacts.service.knowledge import recorder

    given = row.content
    arrived = sum(count for name, count in counts.items() if name.startswith(recorder.RUN))
    pushed = _signed((-arrived if row.kind == recorder.RETRACT else arrived, ""))
    said = {"stream": "<{}>", "at": "at {}", "to": "to {}", "name": "{}", "reason": "{}"}
    words = [form.format(given[name]) for name, form in said.items() if given.get(name) is not None]
    if words:
        yield " ".join([*pushed, *words])
    if row.kind == recorder.REGISTER:
        yield " ".join(given["text"].split())[:MOST_SHOWN]
    if row.kind == recorder.PREFIXES:
        yield " ".join(f"{name}:" for name in given[recorder.PREFIXES])
    came = counts.get(recorder.ADDED, 0) + counts.get(recorder.DERIVED, 0)
    yield from _signed((came, " true"), (-counts.get(recorder.REMOVED, 0), " ended"))


def _signed(*counts: tuple[int, str]) -> Iterator[str]:
    """Numbers that are not zero, with their signs and names."""
    found = " ".join(f"{count:+,}{name}" for count, name in counts if count)
    if found:
        yield found


def undo_command(
    folder: Folder,
    number: Annotated[int, typer.Argument(metavar="N", help="The number of the change.", min=1)],
    preview: Annotated[bool, typer.Option("--preview", help="Only show what it would do.")] = False,
) -> None:
    """Take one change of a folder back by another, and print what became true and ended.

    \b
    livefacts undo kb/ 17 --preview
    """
    from livefacts.service.reasoner.facade import Reasoner

    check_is_folder(folder)
    with Reasoner.open(folder) as reasoner:
        before = reasoner.seq
        delta = reasoner.undo(number, preview=preview)
        if delta.seq > before:
            typer.echo(delta.to_patch(), nl=False)
        for hint in delta.hints:
            say(f"note: {hint}")


def backup_command(
    folder: Folder,
    copy: Annotated[str, typer.Argument(metavar="COPY", help="A folder that is not there yet.")],
) -> None:
    """Copy a folder, also beside who writes to it, and check both: every row and file that is kept.

    \b
    livefacts backup kb/ copy/
    """
    from livefacts.service.folder.duplicate import copy_folder

    _check_target(folder, copy)
    copy_folder(Path(folder), Path(copy))
    _say_checked(copy)


def restore_command(
    copy: Annotated[str, typer.Argument(metavar="COPY", help="What backup made.")],
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Not there yet.")],
) -> None:
    """Make a folder of a backup, once every row and file of it is checked.

    \b
    livefacts restore copy/ kb/
    """
    from livefacts.service.folder.saved_state import check_folder

    _check_target(copy, folder)
    check_folder(copy)
    shutil.copytree(copy, folder)
    _say_checked(folder)


def check_is_folder(name: str) -> None:
    """Refuse a name that is not that of a folder."""
    if not Path(name).is_dir():
        raise InputError(f"{name} is no folder", hint="livefacts load kb/ data.nt makes one")


def _check_target(source: str, target: str) -> None:
    check_is_folder(source)
    if Path(target).exists():
        raise InputError(f"{target} is there already", hint="name a folder that is not there yet")


def _say_checked(folder: str) -> None:
    from livefacts.service.folder.saved_state import check_folder
    from livefacts.service.reasoner.facade import Reasoner

    with Reasoner.open(folder) as found:
        check_folder(folder)
        say(f"{folder}: {len(found):,} facts, up to change {found.seq}")
