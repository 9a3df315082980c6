"""Our aggregates: one fact into a large group, by rule and watched, and a tick of a window."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

from reporting import Stages, run

import livefacts as lf

WARM, TIMED = 10, 40
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
LISTED = {"argmax": "?e, ?v"}
TOLD = {"percentile": "(95)"}
IN_QUERIES = {
    "stddev": "<urn:livefacts:stddev>(?v)",
    "percentile": "<urn:livefacts:percentile>(?v, 95)",
    "argmax": "<urn:livefacts:argmax>(?e, ?v)",
}


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    function, size = job["function"], job["size"]
    found = {**_by_rule(function, size), **_watched(function, size)}
    if job["windows"]:
        found["tick"] = _tick(function, job["length"], job["readings"], job["groups"])
    return found


def _value(function: str, number: int) -> str:
    return f'"{number}"' if function == "group_concat" else f'"{number}"^^{INTEGER}'


def _facts(function: str, numbers: range) -> str:
    return "".join(
        f"<x:e{n}> <x:in> <x:g> .\n<x:e{n}> <x:v> {_value(function, n * 7919 % 1_000_003)} .\n"
        for n in numbers
    )


def _places(first: int) -> str:
    """Items in the group, whose values come later."""
    return "".join(f"<x:e{first + n}> <x:in> <x:g> .\n" for n in range(WARM + TIMED))


def _aggregate(function: str, body: str) -> str:
    name = function + TOLD.get(function, "")
    return f"?n = {name} {{ {LISTED.get(function, '?v, ?e')} : {body} }}"


def _by_rule(function: str, size: int) -> dict[str, float]:
    total = _aggregate(function, "[?e, <x:in>, ?g], [?e, <x:v>, ?v]")
    rules = f"total(?g, ?n) :- {total} .\nfalse :- [?e, <x:in>, <x:nowhere>] ."
    reasoner = lf.Reasoner(rules=rules, on_violation="refuse")
    reasoner.add(_facts(function, range(size)))
    reasoner.add(_places(size))

    def add(turn: int) -> None:
        reasoner.add(f"<x:e{size + turn}> <x:v> {_value(function, turn * 31)} .")

    def refuse(turn: int) -> None:
        value = f"<x:e{turn}> <x:v> {_value(function, 10**6 + turn)} ."
        try:
            reasoner.add(value + "\n<x:e1> <x:in> <x:nowhere> .")
        except lf.ViolationError:
            return

    return {"rule": _median(add), "refused": _median(refuse)}


def _watched(function: str, size: int) -> dict[str, float]:
    few = lf.Reasoner()
    few.add(_facts(function, range(100)))
    _begun(few, function)
    reasoner = lf.Reasoner()
    reasoner.add(_facts(function, range(size)))
    first = _begun(reasoner, function) / size
    reasoner.add(_places(size))

    def add(turn: int) -> None:
        reasoner.add(f"<x:e{size + turn}> <x:v> {_value(function, turn * 31)} .")

    return {"watch": _median(add), "first": first}


def _begun(reasoner: lf.Reasoner, function: str) -> float:
    """A watch begins; what its first answers cost."""
    call = IN_QUERIES.get(function, f"{function.upper()}(?v)")
    started = time.thread_time()
    watch = reasoner.watch(f"SELECT ?g ({call} AS ?n) {{ ?e <x:in> ?g ; <x:v> ?v }} GROUP BY ?g")
    list(watch.answers())
    return time.thread_time() - started


def _tick(function: str, length: int, readings: int, groups: int) -> float:
    total = _aggregate(function, f"sometime [?e, <x:v>, ?v] in [{length}], [?e, <x:in>, ?g]")
    reasoner = lf.Reasoner(rules=f"total(?g, ?n) :- {total} .")
    items = range(length * readings)
    reasoner.add("".join(f"<x:e{n}> <x:in> <x:g{n % groups}> .\n" for n in items))

    def tick(turn: int) -> None:
        first = turn * readings
        lines = (
            f"<x:e{n % len(items)}> <x:v> {_value(function, n * 7919 % 1_000_003)} .\n"
            for n in range(first, first + readings)
        )
        reasoner.push("".join(lines), at=turn)
        reasoner.advance(turn)

    for turn in range(length):
        tick(turn)
    return _median(lambda turn: tick(length + turn))


def _median(work: Callable[[int], None]) -> float:
    for turn in range(WARM):
        work(turn)
    gc.collect()
    times = []
    for turn in range(WARM, WARM + TIMED):
        started = time.thread_time()
        work(turn)
        times.append(time.thread_time() - started)
    return sorted(times)[TIMED // 2]


if __name__ == "__main__":
    run(main, "livefacts")
