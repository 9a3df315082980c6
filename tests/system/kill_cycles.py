"""Kill cycles: a process that changes a folder is killed at random, again and again.

After each end, the folder is opened: every change that was acknowledged is there, no other is
there in half, and everything that follows is right.  The journal is folded all the time, and of
history little is kept.

    python -m tests.system.kill_cycles FOLDER --cycles 1000
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import livefacts as lf
from livefacts.journal import file_operations

RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
    seen(?s) :- sometime reading(?s, ?v) in [5] .
"""
PEOPLE, SENSORS = 12, 4


def change(reasoner: lf.Reasoner, seq: int, timed: bool) -> lf.Delta:
    """The change that comes after number `seq`: always the same one."""
    pick = random.Random(seq)
    first, second = pick.randrange(PEOPLE), pick.randrange(PEOPLE)
    fact = f"parent(p{first}, p{second}) ."
    kinds: list[Callable[[], lf.Delta]] = [
        lambda: reasoner.add(fact),
        lambda: reasoner.remove(fact),
        lambda: reasoner.apply(add=fact, remove=f"parent(p{second}, p{first}) ."),
        lambda: reasoner.update(f"INSERT DATA {{ GRAPH <x:g{first}> {{ <x:a> <x:b> _:n }} }}"),
        lambda: _turn_rule(reasoner),
    ]
    if timed:
        now = reasoner.now or 0
        reading = f"reading(s{first % SENSORS}, {second}) ."
        kinds += [
            lambda: reasoner.push(reading, at=now + pick.randrange(3)),
            lambda: reasoner.retract(reading, at=now),
            lambda: reasoner.advance(now + 1),
        ]
    return pick.choice(kinds)()


def _turn_rule(reasoner: lf.Reasoner) -> lf.Delta:
    if any(rule.id == "loop" for rule in reasoner.rules):
        return reasoner.remove_rules("loop")
    return reasoner.add_rules("@id loop own(?x) :- ancestor(?x, ?x) .")


def work(folder: Path, timed: bool, seed: int, told: int) -> None:
    """Change the folder for ever, and tell each number that was acknowledged."""
    pick = random.Random(seed)
    if pick.random() < 0.5:
        _die_at_a_step(pick)
    after = pick.choice((None, 3_000, 30_000))
    reasoner = lf.Reasoner.open(folder, RULES, fold_after=after, keep=100)
    os.write(told, b"opened\n")
    while True:
        delta = change(reasoner, reasoner.seq, timed)
        os.write(told, f"{delta.seq}\n".encode())
        if pick.random() < 0.05:
            reasoner.checkpoint()


def _die_at_a_step(pick: random.Random) -> None:
    """End before or after a write, a sync or a rename."""
    left = [pick.randrange(1, 200)]

    def die(step: str, path: Path) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    file_operations.on_step = die


def killed(folder: Path, timed: bool, seed: int) -> int:
    """The last number that was acknowledged before the process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            work(folder, timed, seed, writing)
        finally:
            os._exit(1)
    os.close(writing)
    lines, last = random.Random(seed).randrange(1, 150), 0
    with os.fdopen(reading, encoding="utf-8") as told:
        for line in told:
            last = last if line == "opened\n" else int(line)
            lines -= 1
            if lines <= 0:
                break
        os.kill(child, signal.SIGKILL)
        last = max([last, *(int(line) for line in told if line.endswith("\n") and line[0] != "o")])
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the process was killed, and did not fail by itself"
    return last


def check(folder: Path, timed: bool, acknowledged: int, again: lf.Reasoner) -> int:
    """Open the folder and compare; `again` makes the same changes in memory."""
    with lf.Reasoner.open(folder) as found:
        assert acknowledged <= found.seq, f"{acknowledged} was acknowledged, {found.seq} is there"
        while again._state.seq < found.seq:
            change(again, again._state.seq, timed)
        assert again._state.seq == found.seq, "no half call"
        assert _shape(found) == _shape(again)
        assert {rule.key() for rule in found.rules} == {rule.key() for rule in again.rules}
        assert found.now == again.now
        report = found.verify()
        assert report, str(report)
        return found.seq


def checked(folder: Path, timed: bool, acknowledged: int, again: lf.Reasoner) -> int:
    """The same in a process of its own: tables are not read in one that has children."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.write(writing, str(check(folder, timed, acknowledged, again)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        found = told.read()
    _, status = os.waitpid(child, 0)
    assert not status, "what was found is not what was acknowledged"
    return int(found)


def _shape(reasoner: lf.Reasoner) -> list[str]:
    """The facts; labels of blank nodes differ between two reasoners."""
    return sorted(str(f) if "_:" not in str(f) else "a fact of a node" for f in reasoner)


def warmed_up(timed: bool) -> lf.Reasoner:
    """An empty reasoner; what its children will import and compile is there before they begin.

    Threads are not: an Arrow or Delta that has read something does not survive a fork.
    """
    for name in ("deltalake.transaction", "pyarrow.acero", "livefacts.service.folder.checkpoints"):
        importlib.import_module(name)
    pa.array([0])  # imports pandas, where it is installed
    tried = lf.Reasoner(RULES)
    for seq in range(200):
        change(tried, seq, timed)
    assert tried.verify()
    return lf.Reasoner(RULES)


def run(folder: Path, cycles: int, seed: int, timed: bool) -> None:
    """So many ends of a process, one after the other."""
    again, last = warmed_up(timed), 0
    for cycle in range(cycles):
        acknowledged = killed(folder, timed, seed + cycle)
        last = checked(folder, timed, max(acknowledged, last), again)
        while again._state.seq < last:
            change(again, again._state.seq, timed)
        print(f"cycle {cycle}: {acknowledged} acknowledged, {last} found", flush=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timed", action="store_true")
    given = parser.parse_args()
    run(given.folder, given.cycles, given.seed, given.timed)
    sys.exit(0)


if __name__ == "__main__":
    main()
