"""The six kinds of update of the DynamiTE paper (section 6), as lines of N-Triples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from livefacts.generate import NAMESPACE, university

SUBPROPERTY = "http://www.w3.org/2000/01/rdf-schema#subPropertyOf"
WITHOUT_REASONING, EMAIL_ADDRESSES = 16_000, 8_000


@dataclass(frozen=True)
class Lines:
    """Triples that come and go; `is_asserted` if they are there before."""

    name: str
    lines: list[bytes]
    is_asserted: bool = False

    @property
    def text(self) -> bytes:
        return b"".join(self.lines)


def updates(universities: int) -> Iterator[Lines]:
    """The updates to a file of so many universities; the last two only if there are any."""
    yield Lines("1", list(_names(1)))
    yield Lines("2", list(_names(WITHOUT_REASONING)))
    yield Lines("3", list(_addresses(EMAIL_ADDRESSES)))
    head, responsible = f"{NAMESPACE}headOf", f"{NAMESPACE}responsibleOf"
    above = [_below(head, responsible), _below(responsible, f"{NAMESPACE}Manager")]
    yield Lines("4", above)
    yield Lines("4, asserted before", [_below(head, f"{NAMESPACE}worksFor")], is_asserted=True)
    if universities:
        campuses = _campuses(universities)
        yield Lines("5", campuses[0])
        yield Lines("6", campuses[0] + campuses[1])


def _names(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield f'<http://new.example/thing{number}> <{NAMESPACE}name> "thing {number}" .\n'.encode()


def _addresses(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield (
            f"<http://new.example/person{number}> <{NAMESPACE}emailAddress> "
            f'"person{number}@new.example" .\n'
        ).encode()


def _below(name: str, above: str) -> bytes:
    return f"<{name}> <{SUBPROPERTY}> <{above}> .\n".encode()


def _campuses(first: int) -> tuple[list[bytes], list[bytes]]:
    """Two universities beyond those of the file."""
    campuses: list[list[bytes]] = []
    for piece in islice(university(first + 2), 1, None):
        if piece.endswith(b"#University> .\n") and piece.count(b"\n") == 1:
            campuses.append([])
        campuses[-1].append(piece)
    return campuses[-2], campuses[-1]
