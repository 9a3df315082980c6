"""The road of one triple: from `Reasoner.add` to having read what was added.

Times of `add` with a text and with a `Triple`, how many functions of Python are called on the
way, and in how many files of the package.  The same calls and files for one fact that is pushed
at the time that it is, under a rule with a window, and for one query that is registered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import process_time_ns
from typing import Any

from reporting import Stages, run

RULES = "[?x, <x:known>, ?y] :- [?x, <x:seen>, ?y] ."
TIMED = "[?x, <x:known>, ?y] :- sometime [?x, <x:seen>, ?y] in [10] ."
QUERY = (
    "REGISTER QUERY {name} COMPUTED EVERY 5s AS SELECT ?x "
    "FROM STREAM <x:{name}> [RANGE 10s STEP 5s] WHERE {{ ?x <x:seen> <x:{name}-here> }}"
)
WARM_UP = 300
REPEATS = 5


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    import livefacts as lf

    reasoner = lf.Reasoner(rules=RULES)
    found: dict[str, Any] = {"file": lf.__file__}

    def add_and_read(given: Any) -> None:
        list(reasoner.add(given).added)

    for number, (name, make) in enumerate({"text": as_text, "triple": as_triple}.items()):
        for given in given_by(make, WARM_UP, f"warm{number}"):
            list(reasoner.add(given).added)
        found[name] = {
            "seconds": [measured(reasoner, make, job["turns"], n) for n in range(REPEATS)],
            **walked(add_and_read, given_by(make, REPEATS, f"walk{number}")),
        }
    timed = lf.Reasoner(rules=TIMED)
    timed.push(as_text("first"), at=1)
    timed.advance(1)
    timed.push(as_text("second"), at=1)
    found["push"] = walked(lambda text: timed.push(text, at=1), given_by(as_text, REPEATS, "now"))
    queries = [QUERY.format(name=f"q{number}") for number in range(REPEATS)]
    found["register"] = walked(timed.register, queries)
    return found


def as_text(name: str) -> Any:
    return f"<x:{name}> <x:seen> <x:place-{name}> ."


def as_triple(name: str) -> Any:
    from pyoxigraph import NamedNode, Triple

    return Triple(*(NamedNode(f"x:{each}") for each in (name, "seen", f"place-{name}")))


def given_by(make: Callable[[str], Any], count: int, name: str) -> list[Any]:
    return [make(f"{make.__name__}-{name}-{number}") for number in range(count)]


def measured(reasoner: Any, make: Callable[[str], Any], turns: int, repeat: int) -> float:
    """Processor seconds of one `add` whose delta is looked at, the middle of many."""
    seconds = []
    for given in given_by(make, turns, f"turn{repeat}"):
        started = process_time_ns()
        len(reasoner.add(given).added)
        seconds.append((process_time_ns() - started) / 1e9)
    return median(seconds)


def walked(deed: Callable[[Any], object], given: list[Any]) -> dict[str, int]:
    """How many Python functions are called on the way, and in how many files of the package.

    The least of several walks: now and then a table has to grow.
    """
    walks = [walk(deed, each) for each in given]
    return {"calls": min(map(len, walks)), "files": min(len(files_of(each)) for each in walks)}


def walk(deed: Callable[[Any], object], given: Any) -> list[str]:
    """The file of each call."""
    calls: list[str] = []
    with profiled(lambda frame: calls.append(frame.f_code.co_filename)):
        deed(given)
    return calls


def files_of(calls: list[str]) -> set[str]:
    """The files of the package among them."""
    ours = {name for name in calls if "livefacts" in name and "site-packages" not in name}
    return ours - {__file__}


@contextmanager
def profiled(note: Callable[[Any], None]) -> Iterator[None]:
    """Note the frame of every call of a Python function."""
    sys.setprofile(lambda frame, event, _: note(frame) if event == "call" else None)
    try:
        yield
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    run(main, "livefacts")
