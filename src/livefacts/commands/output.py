"""Writing what is true for a command: to a file, or to standard output."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from livefacts.commands.terminal import output

if TYPE_CHECKING:
    from livefacts.service.reasoner.reasoner import Reasoner


def dump(reasoner: Reasoner, path: str, derived: bool | None, form: str | None = None) -> None:
    """Write what is true, or only what was concluded or told, in the format of the name."""
    with output(path) as stream:
        reasoner.dump(stream, derived=derived, format=form or format_of(path))


def format_of(path: str) -> str:
    """The format that the name of a file tells, without what it is compressed with.

    >>> format_of("closure.ttl.gz"), format_of("-")
    ('ttl', 'nt')
    """
    name = os.path.basename(path).removesuffix(".gz").removesuffix(".zst")
    return name.rpartition(".")[2] if "." in name else "nt"
