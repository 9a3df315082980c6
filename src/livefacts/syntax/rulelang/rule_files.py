"""Rule files: programs in files, and the rule sets that come along."""

from __future__ import annotations

import os
from pathlib import Path

from livefacts.errors import InputError, Place
from livefacts.language.program import Program
from livefacts.syntax.input.files import name_of, open_source
from livefacts.syntax.rulelang.constants import BlankNodes
from livefacts.syntax.rulelang.rule_parser import parse

READY = Path(__file__).parents[2] / "rulesets"


def ready_names() -> tuple[str, ...]:
    """The names of the rule sets that come with livefacts."""
    return tuple(sorted(path.stem for path in READY.glob("*.rules")))


def read_rules(path: str | os.PathLike[str], blank_nodes: BlankNodes | None = None) -> Program:
    """The program in a file of rules and facts, .gz and .zst too; "-" is standard input."""
    name = Path(path).name if Path(path).parent == READY else name_of(path)
    with open_source(path) as stream:
        content = stream.read()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InputError(
            "rules are UTF-8 text, and this byte is not", place=Place(name, line, column)
        ) from None
    return parse(text, name, blank_nodes)
