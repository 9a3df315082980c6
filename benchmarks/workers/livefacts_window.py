"""Our window with a self join: what ends, what enters, and all answers written at every tick."""

from __future__ import annotations

from typing import Any

import numpy as np
from changing import timed
from pyoxigraph import NamedNode
from reporting import Stages, run

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.expiry.timed_engine import ExpiringEngine
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rulelang.rule_parser import parse

RULE = "[?x, <x:far>, ?z] :- [?x, <x:near>, ?y], [?y, <x:near>, ?z] ."
FIRST = 1 << 20
TIMED = 40


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    dictionary = Dictionary()
    engine = ExpiringEngine(dictionary, parse(RULE).rules)
    near, far = (int(dictionary.encode_one(NamedNode(f"x:{name}"))) for name in ("near", "far"))
    draw = np.random.default_rng(1)
    ticks = []
    for now in range(1, 2 * job["points"] + TIMED):
        ticks.append(_tick(engine, now, job["points"], _drawn(draw, job, near), far))
    last = ticks[-TIMED:]
    return {name: sorted(tick[name] for tick in last)[TIMED // 2] for name in last[0]}


def _tick(
    engine: ExpiringEngine, now: int, points: int, entering: Ids, answer: int
) -> dict[str, float]:
    """What one tick costs, and how many facts end and answer."""
    found: dict[str, Any] = {}

    def end() -> None:
        found["ended"] = engine.expire(now)

    def read() -> None:
        found["rows"] = engine.rows(TRIPLES, where={1: answer})

    ending = timed(end)
    giving = timed(lambda: engine.give({TRIPLES: entering}, now + points))
    reading = timed(read)
    return {
        "ending": ending,
        "entering": giving,
        "answers": reading,
        "ended": sum(map(len, found["ended"].went().values())),
        "rows": len(found["rows"][0]),
    }


def _drawn(draw: np.random.Generator, job: dict[str, Any], near: int) -> Ids:
    ends = draw.integers(0, job["nodes"], (job["rate"], 2)) + FIRST
    middle = np.full(job["rate"], near)
    return np.stack([ends[:, 0], middle, ends[:, 1]], axis=1).astype(np.int32)


if __name__ == "__main__":
    run(main, "livefacts")
