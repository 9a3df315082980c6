"""Kill cycles: a process that changes a folder is killed at random, again and again.

After each end, the folder is opened: every change that was acknowledged is there, no other is
there in half, and everything that follows is right.  The journal is folded all the time, and of
history little is kept.

    python -m tests.system.kill_cycles FOLDER --cycles 1000
"""

from __future__ import annotations

import argparse
import gc
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


def work(folder: Path, timed: bool, seed: int, again: lf.Reasoner, told: int) -> None:
    """Look at what is there, then change it for ever, and tell each number that was acknowledged."""
    pick = random.Random(seed)
    dies_when_opened, dies_later = pick.random() < 0.2, pick.random() < 0.5
    if dies_when_opened:
        _die_at_a_step(pick, 20)
    after = pick.choice((None, 3_000, 30_000))
    reasoner = lf.Reasoner.open(folder, RULES, fold_after=after, keep=100)
    check(reasoner, timed, again)
    os.write(told, f"found {reasoner.seq}\n".encode())
    if dies_later:
        _die_at_a_step(pick, 200)
    while True:
        delta = change(reasoner, reasoner.seq, timed)
        os.write(told, f"{delta.seq}\n".encode())
        if pick.random() < 0.05:
            reasoner.checkpoint()


def _die_at_a_step(pick: random.Random, latest: int) -> None:
    """End before or after a write, a sync or a rename."""
    left = [pick.randrange(1, latest)]

    def die(step: str, path: Path) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    file_operations.on_step = die


def killed(folder: Path, timed: bool, seed: int, again: lf.Reasoner) -> tuple[int, int]:
    """The number that a process found, and the last one that was acknowledged before it was killed.

    Both are 0 where it did not get so far.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            work(folder, timed, seed, again, writing)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    left, numbers = random.Random(seed).randrange(1, 150), list[int]()
    with os.fdopen(reading, encoding="utf-8") as told:
        for line in told:
            numbers.append(int(line.removeprefix("found ")))
            left -= 1
            if left == 0:
                os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the process was killed, and did not fail by itself"
    return (numbers[0], numbers[-1]) if numbers else (0, 0)


def check(found: lf.Reasoner, timed: bool, again: lf.Reasoner) -> None:
    """Compare what was recovered; `again` has made what was acknowledged, and makes the rest."""
    acknowledged = again._state.seq
    assert acknowledged <= found._state.seq, f"{acknowledged} was acknowledged"
    _catch_up(again, found._state.seq, timed)
    assert _shape(found) == _shape(again)
    assert {rule.key() for rule in found.rules} == {rule.key() for rule in again.rules}
    assert found.now == again.now
    report = found.verify()
    assert report, str(report)


def _catch_up(again: lf.Reasoner, seq: int, timed: bool) -> None:
    """Make the same changes in memory."""
    while again._state.seq < seq:
        change(again, again._state.seq, timed)
    assert again._state.seq == seq, "no half call"


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
    again, ends, looks = warmed_up(timed), 0, 0
    gc.freeze()  # children share what is there
    for cycle in range(cycles):
        found, acknowledged = killed(folder, timed, seed + cycle, again)
        _catch_up(again, max(again._state.seq, acknowledged), timed)
        ends, looks = ends + 1, looks + bool(found)
        print(f"cycle {cycle}: {found} found, then {acknowledged} acknowledged", flush=True)
    # Arrow and Delta read in this process for the first time: no child comes after it.
    with lf.Reasoner.open(folder) as reasoner:
        check(reasoner, timed, again)
    print(f"{ends} ends, {looks + 1} looks at what was there, {again._state.seq} changes")


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
