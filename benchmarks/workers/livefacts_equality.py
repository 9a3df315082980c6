"""Our groups of equal things: one reason for a group goes and comes back, through the public API."""

from __future__ import annotations

from typing import Any

from changing import state, summary, timed
from pyoxigraph import NamedNode, Triple
from reporting import Stages, run

from livefacts import Reasoner

SAME = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
FUNCTIONAL = NamedNode("http://www.w3.org/2002/07/owl#FunctionalProperty")
WARM_UP = 20


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _measured({**job, "members": WARM_UP}, Stages())
    return _measured(job, stages)


def _measured(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    members = [_named(f"m{number}") for number in range(job["members"])]
    reasons = _linked(members, job["shape"])
    reasoner = Reasoner(rules="owl-rl", same_as=job["same_as"])
    reasoner.add(_described(members, job["facts"]))
    with stages.stage("load"):
        reasoner.add(reasons)
    before = _state(reasoner, job)
    out, back, removed = [], [], 0
    for at in _places(len(reasons), job["turns"]):
        one = [reasons[at]]
        out.append(timed(lambda one=one: reasoner.remove(one)))  # type: ignore[misc]
        removed = max(removed, before[0] - len(reasoner))
        back.append(timed(lambda one=one: reasoner.add(one)))  # type: ignore[misc]
    return {
        "true": before[0],
        "removed": removed,
        "out": summary(out),
        "in": summary(back),
        "state": before,
        "same": _state(reasoner, job) == before,
    }


def _state(reasoner: Reasoner, job: dict[str, Any]) -> tuple[int, str]:
    """How many facts are true, and which, where these are not millions."""
    return state(reasoner) if job["members"] <= 100 else (len(reasoner), "")


def _named(name: str) -> NamedNode:
    return NamedNode(f"http://livefacts.example/equal#{name}")


def _linked(members: list[NamedNode], shape: str) -> list[Triple]:
    """Each the same as the next one, or as the first; or all the one value of a property."""
    if shape == "values":
        return [Triple(_named("it"), _named("has"), member) for member in members]
    hubs = members if shape == "chain" else [members[0]] * len(members)
    return [Triple(hub, SAME, other) for hub, other in zip(hubs, members[1:], strict=False)]


def _described(members: list[NamedNode], facts: int) -> list[Triple]:
    axiom = Triple(_named("has"), TYPE, FUNCTIONAL)
    return [axiom] + [
        Triple(member, _named(f"p{number}"), _named(f"o{at}.{number}"))
        for at, member in enumerate(members)
        for number in range(facts)
    ]


def _places(count: int, turns: int) -> list[int]:
    """The middle first, which splits a chain in halves, then others."""
    return [count // 2, count - 1, 0, *range(count // 3, count, max(1, count // 3))][:turns]


if __name__ == "__main__":
    run(main, "livefacts")
