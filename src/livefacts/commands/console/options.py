"""Options that several jobs share, said once."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from livefacts.errors import InputError


class BlankNodes(StrEnum):
    """Whether blank nodes of two loads of a file are the same."""

    local = "local"
    by_name = "by-name"


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Files or quoted globs, by extension: .nt .nq .ttl .trig .n3 .rdf .owl .jsonld .rules, "
        "each also .gz or .zst; - is standard input.",
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option("--data", "-d", metavar="FILE", help="A file or a quoted glob; may be repeated."),
]


def asked_and_files(
    words: list[str],
    data: list[str] | None,
    looks_asked: Callable[[str], bool],
    what: str,
    example: str,
) -> tuple[str, list[str]]:
    """What is asked, the one word that looks like it, and the files: the others, and --data."""
    asked = [word for word in words if looks_asked(word)]
    if len(words) == 1 and not os.path.exists(words[0]):
        asked = words
    if len(asked) != 1:
        said = f"{len(asked)} of these look like a {what}" if asked else f"there is no {what}"
        raise InputError(
            f"{said}: {' '.join(words)}",
            hint=f"files first, then the {what}: kb/ {example}; or name the files by --data",
        )
    rest = list(words)
    rest.remove(asked[0])
    return asked[0], rest + (data or [])


Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        "-r",
        metavar="NAME|FILE",
        help="A ready rule set or a file of rules; may be repeated. `livefacts rules list` "
        "shows the ready ones.",
    ),
]
Graph = Annotated[
    str | None,
    typer.Option(metavar="IRI", help="Put what is loaded into this graph."),
]
Bnodes = Annotated[
    BlankNodes,
    typer.Option(help="Blank nodes are new with every load, or belong to the file's name."),
]
InputFormat = Annotated[
    str | None,
    typer.Option(metavar="EXT", help="The format of files whose name does not tell, such as ttl."),
]
Rejects = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write every rejected line here, with its place and reason."),
]
Derived = Annotated[
    bool | None,
    typer.Option(
        "--derived/--asserted",
        help="Only what was derived, or only what was asserted.",
        show_default="both",
    ),
]
Tick = Annotated[
    str | None, typer.Option(metavar="TIME", help="How long a time point lasts, such as 1s.")
]
Speed = Annotated[
    float | None,
    typer.Option(min=0.001, help="So many times as fast as it happened; otherwise at once."),
]
ArrivalTime = Annotated[
    bool,
    typer.Option("--arrival-time", help="Facts happen when they arrive; lines need no time."),
]
MaxAhead = Annotated[
    str,
    typer.Option(metavar="TIME", help="Set facts aside that are further ahead; `none` allows all."),
]
NO_LIMIT = "none"
Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="TEXT|FILE",
        help="Lines are messages of JSON, and this says what they stand for: "
        "'reading(s=$.id, v=$.value) at $.ts'.",
    ),
]
SourceAddress = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="ADDRESS",
        help="Follow messages of JSON, with --map: -, file:///path, mqtt://host/topic, "
        "kafka://host:port/topic.",
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="TEXT|FILE",
        help="What the messages of a source stand for: one for all, or one for each --source.",
    ),
]
SourceAddresses = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="ADDRESS",
        help="Follow messages of JSON, too, by --map: -, file:///path, mqtt://host/topic, "
        "kafka://host:port/topic; may be repeated.",
    ),
]
Folder = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER",
        help="Keep everything here, and go on here after any end; a source is read on from there.",
    ),
]
Lateness = Annotated[str, typer.Option(metavar="TIME", help="How late facts may come, such as 5s.")]
