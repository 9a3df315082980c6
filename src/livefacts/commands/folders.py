"""`livefacts log`, `undo`, `backup` and `restore`: what has happened in a folder, and copies of it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.terminal import say
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.journal.journal import JournalRow

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of Reasoner.open.")]


def log_command(folder: Folder) -> None:
    """List the changes of a folder that are kept, oldest first.

    \b
    livefacts log kb/
    """
    from livefacts.service.reasoner.reasoner import Reasoner

    for row in Reasoner.open(folder, read_only=True).log():
        typer.echo(_line(row))


def _line(row: JournalRow) -> str:
    number = str(row.last) if row.first <= row.last else "-"
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.time))
    said = ", ".join(row.content.get("rows", {})) or ", ".join(sorted(row.content))
    return "\t".join([number, when, row.kind, said])


def undo_command(
    folder: Folder,
    number: Annotated[int, typer.Argument(metavar="N", help="The number of the change.", min=1)],
    preview: Annotated[bool, typer.Option("--preview", help="Only show what it would do.")] = False,
) -> None:
    """Take one change of a folder back by another, and print what became true and ended.

    \b
    livefacts undo kb/ 17 --preview
    """
    from livefacts.service.reasoner.reasoner import Reasoner

    with Reasoner.open(folder) as reasoner:
        typer.echo(reasoner.undo(number, preview=preview).to_patch(), nl=False)


def backup_command(
    folder: Folder,
    copy: Annotated[str, typer.Argument(metavar="COPY", help="A folder that is not there yet.")],
) -> None:
    """Copy a folder while nobody writes to it, and check both: every row and file that is kept.

    \b
    livefacts backup kb/ copy/
    """
    from livefacts.service.reasoner.reasoner import Reasoner
    from livefacts.service.reasoner.saved_folder import check_folder

    _check_target(folder, copy)
    with Reasoner.open(folder):
        check_folder(folder)
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".lock"))
    _say_checked(copy)


def restore_command(
    copy: Annotated[str, typer.Argument(metavar="COPY", help="What backup made.")],
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Not there yet.")],
) -> None:
    """Make a folder of a backup, once every row and file of it is checked.

    \b
    livefacts restore copy/ kb/
    """
    from livefacts.service.reasoner.saved_folder import check_folder

    _check_target(copy, folder)
    check_folder(copy)
    shutil.copytree(copy, folder)
    _say_checked(folder)


def _check_target(source: str, target: str) -> None:
    if not Path(source).is_dir():
        raise InputError(f"{source} is no folder", hint="name a folder of Reasoner.open")
    if Path(target).exists():
        raise InputError(f"{target} is there already", hint="name a folder that is not there yet")


def _say_checked(folder: str) -> None:
    from livefacts.service.reasoner.reasoner import Reasoner
    from livefacts.service.reasoner.saved_folder import check_folder

    with Reasoner.open(folder) as found:
        check_folder(folder)
        say(f"{folder}: {len(found):,} facts, up to change {found.seq}")
