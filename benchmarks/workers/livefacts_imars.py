"""Our windows over trees of isIn: kept by times, by removing and adding, and computed anew."""

from __future__ import annotations

import csv
from collections import deque
from typing import Any

import numpy as np
from changing import fingerprint, timed
from pyoxigraph import NamedNode
from reporting import Stages, run

from livefacts.engine.contract import Change, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.expiry.timed_engine import FOREVER, ExpiringEngine
from livefacts.plan import compile_rules
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rulelang.rule_parser import parse

RULE = "[?x, <x:isIn>, ?z] :- [?x, <x:isIn>, ?y], [?y, <x:isIn>, ?z] ."
FIRST = 1 << 20
"""Beyond the ids of the rule's words; places are numbers, nobody asks for their names."""


class Step:
    """A background, and a window of the same triples under three ways of maintenance."""

    def __init__(self, pool: Ids, dictionary: Dictionary, background: int, percent: float) -> None:
        self._dictionary = dictionary
        self.entering = max(1, int(background * percent / 100))
        self.points = max(1, background // 2 // self.entering)
        self.background, self._stream = pool[:background], pool[background:]
        self._at = self._now = 0
        self.window: deque[Ids] = deque()
        self.rules = parse(RULE).rules
        self.plan = compile_rules(self.rules)
        self.times = ExpiringEngine(dictionary, self.rules)
        self.volz = EmbeddedEngine(dictionary, self.plan)
        self.times.give({TRIPLES: self.background}, FOREVER)
        self.volz.apply(Change({TRIPLES: self.background}))
        for _ in range(self.points):
            self.move()

    def move(self) -> dict[str, float]:
        """The window moves on by one step; what it cost each way."""
        chosen = np.arange(self._at, self._at + self.entering) % len(self._stream)
        self._at += self.entering
        self._now += 1
        entering, now = self._stream[chosen], self._now
        leaving = self.window.popleft() if len(self.window) == self.points else entering[:0]
        self.window.append(entering)
        ending = timed(lambda: self.times.expire(now))
        giving = timed(lambda: self.times.give({TRIPLES: entering}, now + self.points))
        change = Change({TRIPLES: entering}, retracted={TRIPLES: leaving})
        return {
            "ending": ending,
            "stream": ending + giving,
            "volz": timed(lambda: self.volz.apply(change)),
        }

    def anew(self) -> tuple[float, EmbeddedEngine]:
        content = np.concatenate([self.background, *self.window])
        engines: list[EmbeddedEngine] = []

        def recompute() -> None:
            engine = EmbeddedEngine(self._dictionary, self.plan)
            engine.apply(Change({TRIPLES: content}))
            engines.append(engine)

        return timed(recompute), engines[0]


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    pool = _pool(job["input"], dictionary)
    _measured(Step(pool[:600], dictionary, 200, 5), 5, 2)
    every = [
        _measured(Step(pool, dictionary, job["background"], percent), percent, job["turns"])
        for percent in job["percents"]
    ]
    return {"steps": every}


def _measured(step: Step, percent: float, turns: int) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    for _ in range(turns):
        for way, seconds in step.move().items():
            found.setdefault(way, []).append(seconds)
        seconds, anew = step.anew()
        found.setdefault("naive", []).append(seconds)
    expected = fingerprint(anew)
    return {
        "percent": percent,
        "entering": step.entering,
        "true": expected[0],
        "same": expected == fingerprint(step.volz) == fingerprint(step.times),  # type: ignore[arg-type]
        **{way: sorted(seconds)[len(seconds) // 2] for way, seconds in found.items()},
    }


def _pool(path: str, dictionary: Dictionary) -> Ids:
    word = int(dictionary.encode_one(NamedNode("x:isIn")))
    with open(path, newline="") as lines:
        pairs = np.array([[int(x), int(y)] for x, y in csv.reader(lines)], np.int32) + FIRST
    return np.stack([pairs[:, 0], np.full(len(pairs), word), pairs[:, 1]], axis=1).astype(np.int32)


if __name__ == "__main__":
    run(main, "livefacts")
