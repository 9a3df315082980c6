"""Thread kills: many threads make calls of every kind at one folder, and the process is killed.

Afterwards every change that was acknowledged is there, and everything that follows is right.

    python -m tests.system.thread_kills FOLDER --cycles 8
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import livefacts as lf

RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    seen(?s) :- sometime reading(?s, ?v) in [5] .
"""
LOOP = "@id loop own(?x) :- ancestor(?x, ?x) ."
THREADS, PEOPLE, BROKEN = 8, 10, 7


def call(reasoner: lf.Reasoner, pick: random.Random, name: str) -> object:
    """Make any call; the Delta of a change."""
    first, second = pick.randrange(PEOPLE), pick.randrange(PEOPLE)
    fact, now = f"parent(p{first}, p{second}) .", reasoner.now or 0
    fresh = f"<x:{name}n{first}> <x:p> <x:b> ."
    reading = f"reading(s{first}, {second}) ."
    recent = max(reasoner._state.seq - 5, 0)
    kinds: list[Callable[[], object]] = [
        lambda: reasoner.add(fact),
        lambda: reasoner.remove(fact),
        lambda: reasoner.add(fresh),
        lambda: reasoner.remove(fresh),
        lambda: reasoner.apply(add=fact, timeout=5, memory=50_000_000),
        lambda: reasoner.add_rules(LOOP),
        lambda: reasoner.remove_rules("loop"),
        lambda: reasoner.push(reading, at=now + pick.randrange(3)),
        lambda: reasoner.retract(reading, at=now),
        lambda: reasoner.advance(now + 1),
        lambda: reasoner.undo(recent + 1),
        lambda: reasoner.preview(add=fact) and None,
        reasoner.checkpoint,
        lambda: len(reasoner.query("SELECT ?s ?o { ?s <x:p> ?o }")),
        lambda: len(reasoner.snapshot().facts()),
        lambda: [len(delta.added) for delta in reasoner.changes_since(recent)],
        lambda: len(reasoner.at(recent)),
        lambda: reasoner.explain(fact),
        lambda: reasoner.dump(os.devnull, format="nt"),
        lambda: len(reasoner),
    ]
    return pick.choice(kinds)()


def work(folder: Path, seed: int, told: int) -> None:
    """Call from many threads, for ever; tell each number that was acknowledged."""
    sys.setswitchinterval(1e-5)
    warnings.simplefilter("ignore")
    reasoner = lf.Reasoner.open(folder, RULES, fold_after=3_000, keep=50)

    def repeat(number: int) -> None:
        pick = random.Random(seed * THREADS + number)
        while True:
            try:
                found = call(reasoner, pick, str(number))
            except lf.LivefactsError:
                continue
            except BaseException:
                traceback.print_exc()
                os._exit(BROKEN)
            if isinstance(found, lf.Delta):
                os.write(told, f"{found.seq}\n".encode())

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def killed(folder: Path, seed: int) -> int:
    """The largest number that was acknowledged before the process was killed."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "tests.system.thread_kills", str(folder)]
    given = ["--seed", str(seed), "--told", str(writing)]
    child = subprocess.Popen(command + given, pass_fds=[writing])
    os.close(writing)
    wanted, last = random.Random(seed).randrange(30, 300), 0
    with os.fdopen(reading, encoding="utf-8") as told:
        for line in told:
            last, wanted = max(last, int(line)), wanted - 1
            if not wanted:
                child.kill()
    assert child.wait() == -signal.SIGKILL, "the process was killed, and did not fail by itself"
    return last


def run(folder: Path, cycles: int, seed: int) -> None:
    """So many ends of a process, one after the other."""
    for cycle in range(cycles):
        acknowledged = killed(folder, seed + cycle)
        with lf.Reasoner.open(folder) as found:
            assert acknowledged <= found.seq, f"{acknowledged} was acknowledged, not {found.seq}"
            report = found.verify()
            assert report, str(report)
            print(f"cycle {cycle}: {acknowledged} acknowledged, {found.seq} found", flush=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cycles", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--told", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.told is not None:
        work(given.folder, given.seed, given.told)
    else:
        run(given.folder, given.cycles, given.seed)


if __name__ == "__main__":
    main()
