"""Our rules over windows of a timed stream: what a time point costs, by what is read of it.

Every cell is a reasoner of its own.  Its window is full before anything is timed; each figure is
the middle of all timed points, divided by the atoms of one.
"""

from __future__ import annotations

from typing import Any

from changing import timed
from reporting import Stages, run

from livefacts import Reasoner
from livefacts.generate import TimedStream

PARTS = ("push", "advance", "answers", "decode answers", "decode changes")


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _cell({**job, "ticks": 3}, min(job["windows"]), 1)
    cells = [
        _cell(job, window, rules) for rules in job.get("rules", [1]) for window in job["windows"]
    ]
    return {"cells": cells}


def _cell(job: dict[str, Any], window: int, rules: int) -> dict[str, Any]:
    points = window + 1 + job["ticks"]
    nodes = window * job["rate"] if job.get("steady") else None
    stream = TimedStream(job["kind"], points, job["rate"], window, nodes=nodes)
    reasoner = Reasoner(rules="\n".join(_copies(list(stream.rules()), rules)))
    ticks = [
        _tick(reasoner, now, atoms, decodes=now == points - 1)
        for now, atoms in enumerate(stream.atoms())
    ][-job["ticks"] :]
    found = {part: _middle([tick[part] for tick in ticks if part in tick]) for part in PARTS}
    per_atom = {part: seconds / job["rate"] for part, seconds in found.items()}
    begun = sum(tick["begun"] for tick in ticks) / len(ticks) / job["rate"]
    answers = {"rows": ticks[-1]["rows"], "begun": begun}
    return {"window": window, "rules": rules, **answers, **per_atom}


def _copies(rules: list[str], count: int) -> list[str]:
    """The same rules so many times, each time with a head of their own."""
    copies = [rule.replace("q(", f"q{n}(", 1) for n in range(1, count) for rule in rules]
    return [*rules, *copies]


def _tick(reasoner: Reasoner, now: int, atoms: list[Any], decodes: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def advance() -> None:
        found["delta"] = reasoner.advance(now)

    def read() -> None:
        found["view"] = reasoner.facts(derived=True)

    seconds = {"push": timed(lambda: reasoner.push(atoms, at=now))}
    seconds |= {"advance": timed(advance), "answers": timed(read)}
    if decodes:
        delta, view = found["delta"], found["view"]
        seconds["decode answers"] = timed(lambda: list(view))
        seconds["decode changes"] = timed(lambda: (list(delta.derived), list(delta.removed)))
    return {**seconds, "rows": len(found["view"]), "begun": len(found["delta"].derived)}


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    run(main, "livefacts")
