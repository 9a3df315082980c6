"""Our updates: the six kinds of the DynamiTE paper, on a closed file of universities.

An update comes and goes; the fourth also goes and comes, as the paper has it: what it
removes is there from the start.  `maintenance` says how changes are followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from changing import engine_for, fingerprint, into, out_of, read, summary, timed
from reporting import Stages, first_lines, run

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.engine import Change, EmbeddedEngine
from livefacts.generate import NAMESPACE, university
from livefacts.store.dictionary import Dictionary

SUBPROPERTY = "http://www.w3.org/2000/01/rdf-schema#subPropertyOf"
WITHOUT_REASONING, EMAIL_ADDRESSES = 16_000, 8_000


@dataclass(frozen=True)
class Update:
    """Triples that come and go; `is_told` if they are there before."""

    name: str
    rows: Ids
    is_told: bool = False


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _updated(first_lines(job["input"]), {**job, "turns": 1, "more": 0}, Stages())
    return _updated(job["input"], job, stages)


def _updated(source: str | bytes, job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    rows = read(source, dictionary)
    updates = list(_updates(dictionary, job))
    engine = engine_for(job["rules"], dictionary, job["maintenance"])
    with stages.stage("close"):
        engine.apply(into(rows))
    found = [_came_and_went(engine, update, job["turns"]) for update in updates]
    return {"told": len(rows), "true": fingerprint(engine)[0], "updates": found}


def _updates(dictionary: Dictionary, job: dict[str, Any]) -> Iterator[Update]:
    def update(name: str, lines: Iterable[bytes], *, is_told: bool = False) -> Update:
        return Update(name, read(b"".join(lines), dictionary), is_told)

    yield update("1", _names(1))
    yield update("2", _names(WITHOUT_REASONING))
    yield update("3", _addresses(EMAIL_ADDRESSES))
    head, responsible = f"{NAMESPACE}headOf", f"{NAMESPACE}responsibleOf"
    yield update("4", [_below(head, responsible), _below(responsible, f"{NAMESPACE}Manager")])
    yield update("4, told before", [_below(head, f"{NAMESPACE}worksFor")], is_told=True)
    if job["more"]:
        campuses = _campuses(job["more"])
        yield update("5", campuses[0])
        yield update("6", campuses[0] + campuses[1])


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


def _came_and_went(engine: EmbeddedEngine, update: Update, turns: int) -> dict[str, Any]:
    come, gone = into(update.rows), out_of(update.rows)
    way = (gone, come) if update.is_told else (come, gone)
    before, other = fingerprint(engine), _state_after(engine, *way)
    times = [[timed(lambda each=each: engine.apply(each)) for each in way] for _ in range(turns)]  # type: ignore[misc]
    first, second = map(summary, zip(*times, strict=True))
    return {
        "name": update.name,
        "triples": len(np.unique(update.rows, axis=0)),
        "facts": abs(other[0] - before[0]),
        "addition": second if update.is_told else first,
        "removal": first if update.is_told else second,
        "states": [before, other, fingerprint(engine)],
    }


def _state_after(engine: EmbeddedEngine, change: Change, back: Change) -> tuple[int, int]:
    """What a change leads to; this is looked at apart, as it empties the processor's caches."""
    engine.apply(change)
    found = fingerprint(engine)
    engine.apply(back)
    return found


if __name__ == "__main__":
    run(main, "livefacts")
