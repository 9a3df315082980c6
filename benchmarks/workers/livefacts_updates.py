"""Our updates: the six kinds of the DynamiTE paper, on a closed file of universities.

An update comes and goes; the fourth also goes and comes, as the paper has it: what it
removes is there from the start.  `maintenance` says how changes are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from changing import engine_for, fingerprint, into, out_of, read, summary, timed
from reporting import Stages, first_lines, run
from university_updates import updates

from livefacts.engine.contract import Change, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.store.terms.dictionary import Dictionary


@dataclass(frozen=True)
class Update:
    """Triples that come and go; `is_asserted` if they are there before."""

    name: str
    rows: Ids
    is_asserted: bool = False


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _updated(first_lines(job["input"]), {**job, "turns": 1, "more": 0}, Stages())
    return _updated(job["input"], job, stages)


def _updated(source: str | bytes, job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    rows = read(source, dictionary)
    wanted = list(_updates(dictionary, job))
    engine = engine_for(job["rules"], dictionary, job["maintenance"])
    with stages.stage("close"):
        engine.apply(into(rows))
    found = [_came_and_went(engine, update, job["turns"]) for update in wanted]
    return {"asserted": len(rows), "true": fingerprint(engine)[0], "updates": found}


def _updates(dictionary: Dictionary, job: dict[str, Any]) -> Iterator[Update]:
    for each in updates(job["more"]):
        yield Update(each.name, read(each.text, dictionary), each.is_asserted)


def _came_and_went(engine: EmbeddedEngine, update: Update, turns: int) -> dict[str, Any]:
    come, gone = into(update.rows), out_of(update.rows)
    way = (gone, come) if update.is_asserted else (come, gone)
    before, other = fingerprint(engine), _state_after(engine, *way)
    times = [[timed(lambda each=each: engine.apply(each)) for each in way] for _ in range(turns)]  # type: ignore[misc]
    first, second = map(summary, zip(*times, strict=True))
    return {
        "name": update.name,
        "triples": len(np.unique(update.rows, axis=0)),
        "facts": abs(other[0] - before[0]),
        "addition": second if update.is_asserted else first,
        "removal": first if update.is_asserted else second,
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
