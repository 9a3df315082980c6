"""Our changes: triples of a closed file go and come back, a few or many at a time.

`through` says where they are handed over: "engine" takes rows of ids, "api" is
`Reasoner.remove` and `Reasoner.add` with terms.  What is true after a removal is compared
with a closure from scratch, and after everything with what was true before.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
from changing import (
    batches,
    engine_for,
    fingerprint,
    instance_triples,
    into,
    out_of,
    read,
    summary,
    timed,
)
from pyoxigraph import Triple
from reporting import Stages, first_lines, run

from livefacts import Reasoner
from livefacts.engine.contract import Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.store.terms.dictionary import Dictionary

WARM_UP = 3


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _measured(first_lines(job["input"]), {**job, "sizes": [[1, 5], [100, 5]]}, Stages())
    return _measured(job["input"], job, stages)


def _measured(source: str | bytes, job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    rows = read(source, dictionary)
    chosen = instance_triples(rows, dictionary)
    if job["through"] == "api":
        return {"changes": _through_the_api(source, dictionary, chosen, job)}
    engine = engine_for(job["rules"], dictionary, "counting-dred")
    with stages.stage("close"):
        engine.apply(into(rows))
    found = _in_the_engine(engine, rows, chosen, job)
    return {"asserted": len(rows), "true": fingerprint(engine)[0], "changes": found}


def _in_the_engine(
    engine: EmbeddedEngine, rows: Ids, chosen: Ids, job: dict[str, Any]
) -> list[dict[str, Any]]:
    before = fingerprint(engine)
    found = []
    for size, turns in job["sizes"]:
        changes = [(out_of(each), into(each)) for each in batches(chosen, size, turns + WARM_UP)]
        anew, same = _without(engine, rows, batches(chosen, size, 1)[0], job)
        times = _turns(changes, engine.apply, engine.apply)
        same = same and fingerprint(engine) == before
        found.append({"size": size, **times, "anew": anew, "same": same})
    return found


def _without(
    engine: EmbeddedEngine, rows: Ids, gone: Ids, job: dict[str, Any]
) -> tuple[float | None, bool]:
    """What a closure of the rest costs, and whether the removal ends in the same state."""
    if not job.get("compare"):
        return None, True
    engine.apply(out_of(gone))
    left = rows[~np.isin(_keys(rows), _keys(gone))]
    anew = engine_for(job["rules"], engine.dictionary, "counting-dred")
    seconds = timed(lambda: anew.apply(into(left)))
    agrees = fingerprint(anew) == fingerprint(engine)
    engine.apply(into(gone))
    return seconds, agrees


def _keys(rows: Ids) -> Any:
    return np.ascontiguousarray(rows).view([("", np.int32)] * 3).ravel()


def _through_the_api(
    source: str | bytes,
    dictionary: Dictionary,
    chosen: Ids,
    job: dict[str, Any],
) -> list[dict[str, Any]]:
    reasoner = Reasoner(rules=job["rules"])
    if isinstance(source, bytes):
        reasoner.add(source.decode())
    else:
        reasoner.load(source)
    true = len(reasoner)
    found = []
    for size, turns in job["sizes"]:
        chosen_now = [_terms(each, dictionary) for each in batches(chosen, size, turns + WARM_UP)]
        times = _turns([(each, each) for each in chosen_now], reasoner.remove, reasoner.add)
        found.append({"size": size, **times, "same": len(reasoner) == true})
    return found


def _terms(rows: Ids, dictionary: Dictionary) -> list[Triple]:
    terms: list[Any] = dictionary.decode(rows.ravel())
    return [Triple(*terms[at : at + 3]) for at in range(0, len(terms), 3)]


def _turns(
    changes: list[tuple[Any, Any]],
    remove: Callable[[Any], object],
    add: Callable[[Any], object],
) -> dict[str, Any]:
    out, back = [], []
    gc.collect()
    for gone, come in changes:
        out.append(timed(lambda gone=gone: remove(gone)))  # type: ignore[misc]
        back.append(timed(lambda come=come: add(come)))  # type: ignore[misc]
    return {"out": summary(out[WARM_UP:]), "in": summary(back[WARM_UP:])}


if __name__ == "__main__":
    run(main, "livefacts")
