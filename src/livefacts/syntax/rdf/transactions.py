"""Transactions of a patch, one by one, so that changes can be made as they come.

A row outside of transactions is a piece of its own.  Prefixes and times (`H time 17 .`) count
from where they are declared on, in all pieces that follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from livefacts.errors import InputError

_OPERATION = re.compile(r"\s*([A-Z]+)\b")
TIME = re.compile(r'^[ \t]*H[ \t]+"?time"?[ \t]+(?:"([^"]*)"[^\n]*|([^\s"]+))[ \t]*\.', re.M)
"""A header that says when the rows below it happened."""


@dataclass(frozen=True, slots=True)
class PatchPiece:
    """A patch that is one change: its text, and how far its lines are from where they stood.

    `time` is what the last header has said of it, as it is written there.
    """

    text: str
    shift: int
    name: str
    time: str = ""

    def placed(self, error: InputError) -> InputError:
        """An error in this piece, where it stands in the whole."""
        place = error.place
        if place is not None:
            place = replace(place, file=self.name, line=place.line + self.shift)
        return InputError(error.message, place=place, hint=error.hint)


def pieces_of(lines: Iterable[str], name: str) -> Iterator[PatchPiece]:
    """The pieces of a patch, each as soon as its last line is there.

    >>> [piece.text for piece in pieces_of(["A p .", "TX .", "A q .", "D p .", "TC ."], "x")]
    ['A p .', 'TX .\\nA q .\\nD p .\\nTC .']
    """
    prefixes: list[str] = []
    held: list[str] = []
    time = ""
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        found = _OPERATION.match(text)
        operation = found[1] if found else ""
        if operation == "H":
            time = time_of(text) or time
        if not held and operation in ("PA", "PD"):
            prefixes.append(text)
        elif held or operation in ("A", "D", "TX", "TC", "TA"):
            held.append(text)
            if operation != "TX" and (operation in ("TC", "TA") or not _is_open(held)):
                yield _piece(prefixes, held, number, name, time)
                prefixes += [each for each in held if each.lstrip().startswith(("PA", "PD"))]
                held = []
        elif text.strip() and not text.lstrip().startswith("#") and operation != "H":
            yield _piece(prefixes, [text], number, name, time)
    if held:
        yield _piece(prefixes, held, number, name, time)


def time_of(header: str) -> str:
    """The time that a header gives, as it is written; nothing if it says something else.

    >>> time_of('H time "2026-11-16T08:00:00Z"^^xsd:dateTime .'), time_of('H id "7" .')
    ('2026-11-16T08:00:00Z', '')
    """
    found = TIME.match(header)
    return (found[1] or found[2]) if found else ""


def _is_open(held: list[str]) -> bool:
    return held[0].lstrip().startswith("TX")


def _piece(prefixes: list[str], held: list[str], number: int, name: str, time: str) -> PatchPiece:
    text = "\n".join([*prefixes, *held])
    return PatchPiece(text, number - len(held) - len(prefixes), name, time)
