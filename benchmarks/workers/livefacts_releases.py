"""Our releases: the difference between two versions of a file as one change, or all anew."""

from __future__ import annotations

from typing import Any

from changing import state, timed
from pyoxigraph import RdfFormat, Triple, parse
from reporting import Stages, run

from livefacts import Reasoner

WARM_UP = 1


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    old, new = _triples(job["old"]), _triples(job["new"])
    come, gone = list(new - old), list(old - new)
    forward, back, anew = [], [], []
    followed = _loaded(job, job["old"])
    before = state(followed)
    for _ in range(job["turns"] + WARM_UP):
        forward.append(timed(lambda: followed.apply(add=come, remove=gone)))
        after = state(followed)
        back.append(timed(lambda: followed.apply(add=gone, remove=come)))
        anew.append(timed(lambda: _loaded(job, job["new"])))
    return {
        "come": len(come),
        "gone": len(gone),
        "before": before,
        "after": after,
        "forward": min(forward[WARM_UP:]),
        "back": min(back[WARM_UP:]),
        "anew": min(anew[WARM_UP:]),
        "same": state(_loaded(job, job["new"])) == after and state(followed) == before,
    }


def _triples(path: str) -> set[Triple]:
    with open(path, "rb") as stream:
        return {quad.triple for quad in parse(stream, format=RdfFormat.N_TRIPLES)}


def _loaded(job: dict[str, Any], path: str) -> Reasoner:
    reasoner = Reasoner(rules=job["rules"])
    reasoner.load(path, bnodes="by-name")
    return reasoner


if __name__ == "__main__":
    run(main, "livefacts")
