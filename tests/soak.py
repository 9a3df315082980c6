"""The soak: ends, faults, threads and memory, for as long as you like.

    python tests/soak.py --minutes 60 --seed 1

The parts take turns until the time is over: threads that read beside a writer, processes that are
killed, disks that fail at each step, files that are damaged, a server whose clients come and go,
and one with a crowd.  Samples of the same are in `make test`.  The end is a report; the exit code
is 1 if something went wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KILLS_PER_TURN, DAMAGES_PER_TURN, FAULTS_PER_TURN = 10, 1.0, 20
CHURN_SECONDS, CLIENTS = 120, 8
CROWD_SECONDS = 60
GROWTH_ALLOWED = 1.15
"""Memory may be so many times what it was after the warm-up."""
Part = Callable[[Path, int, Counter[str]], None]


def threads(folder: Path, seed: int, done: Counter[str]) -> None:
    """One writer and readers of every kind, in memory and in a folder."""
    from tests.unit.service.reasoner.test_fact_snapshot import (
        RULES,
        read_beside_a_writer,
        restless,
    )

    import livefacts as lf

    with restless():
        done["reads"] += read_beside_a_writer(lf.Reasoner(rules=RULES), seed, 140)
        with lf.Reasoner.open(folder, RULES, fold_after=2_000, keep=3) as reasoner:
            done["reads"] += read_beside_a_writer(reasoner, seed, 140)


def kills(folder: Path, seed: int, done: Counter[str]) -> None:
    """kill -9 at random under load, with and without streams; in a process of its own."""
    timed = ["--timed"] if seed % 2 else []
    done["kills"] += _cycles("kill_cycles", folder, seed, *timed)


def mixed(folder: Path, seed: int, done: Counter[str]) -> None:
    """kill -9 while many threads make calls of every kind."""
    done["kills among threads"] += _cycles("thread_kills", folder, seed)


def _cycles(module: str, folder: Path, seed: int, *more: str) -> int:
    """How many ends of a process a module has looked at."""
    import subprocess

    command = [sys.executable, "-m", f"tests.system.{module}", str(folder), "--seed"]
    command += [str(seed * KILLS_PER_TURN), "--cycles", str(KILLS_PER_TURN), *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    found = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout.count("found")


def faults(folder: Path, seed: int, done: Counter[str]) -> None:
    """A full disk, or one that fails, at some of the steps of journal and checkpoint."""
    from tests.system.test_failing_disks import CODES, fails_at, states, steps_of

    count, expected = len(steps_of(folder / "all")), states()
    pick = random.Random(seed)
    for number in sorted(pick.sample(range(1, count + 1), min(FAULTS_PER_TURN, count))):
        fails_at(number, pick.choice(CODES), folder / str(number), expected)
        done["failing steps"] += 1


def damages(folder: Path, seed: int, done: Counter[str]) -> None:
    """A bit, an end, or all of each file of a folder."""
    from tests.system.test_damaged_folders import DAMAGES, check, made

    whole = made(folder / "kb")
    damage = list(DAMAGES)[seed % len(DAMAGES)]
    found, harmless = check(whole, folder / "copy", damage, DAMAGES_PER_TURN, seed)
    done["damages found"] += found
    done["damages without effect"] += harmless


def churn(folder: Path, seed: int, done: Counter[str]) -> None:
    """Fresh IRIs come and go, clients come and leave, and the server is started again."""
    from tests.system.serving import serving

    token = ""
    for start in range(2):
        with serving(folder / "kb", "--rules", "rdfs", token=token) as at:
            token = at.token
            sizes = list(_churned(at, start, done))
        before, after = max(sizes[len(sizes) // 4 : len(sizes) // 2]), sizes[-1]
        print(f"memory: {before} MB, then {after} MB", flush=True)
        assert after <= GROWTH_ALLOWED * before, f"memory grows: {sizes}"


def _churned(server: object, start: int, done: Counter[str]) -> Iterator[int]:
    """Megabytes of the server, again and again."""
    from tests.system.serving import Serving

    assert isinstance(server, Serving)
    end, number = time.monotonic() + CHURN_SECONDS, 0
    while time.monotonic() < end:
        number += 1
        iris = " ".join(f"<x:{start}n{number}m{n}> a <x:C{number}> ." for n in range(100))
        server.update(f"INSERT DATA {{ {iris} }}")
        with server.client() as client:
            asked = {"query": "SELECT * { ?s a ?c }"}
            for _ in range(CLIENTS):
                with client.stream("GET", "/watch", params=asked) as live:
                    next(live.iter_bytes())
        server.select("SELECT (COUNT(*) AS ?n) { ?s a ?c }")
        server.update(f"DELETE DATA {{ {iris} }}")
        done["clients"] += CLIENTS
        done["fresh IRIs"] += 101
        pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
        yield pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def crowd(folder: Path, seed: int, done: Counter[str]) -> None:
    """Readers, writers, and hundreds who follow some queries of a server."""
    from tests.system.crowd import GROWTH, Crowd, soak

    asked = Crowd(CROWD_SECONDS)
    found = soak(asked)
    print(found.report(asked.seconds), flush=True)
    assert found.wrong == []
    assert found.grown() <= GROWTH
    done["point queries beside changes"] += len(found.taken)


PARTS: dict[str, Part] = {
    "threads": threads,
    "kills": kills,
    "mixed": mixed,
    "faults": faults,
    "damages": damages,
    "churn": churn,
    "crowd": crowd,
}


def main() -> int:
    """Run the parts in turns, and report."""
    options = _options()
    # The sources come last, so that PYTHONPATH can name others.
    sys.path = [str(ROOT), *sys.path[1:], str(ROOT / "src")]
    end, seed, failures = time.monotonic() + options.minutes * 60, options.seed, 0
    done: Counter[str] = Counter()
    spent = Counter[str](dict.fromkeys(options.only or PARTS, 0))
    while time.monotonic() < end:
        name = min(spent, key=lambda each: spent[each])
        begun = time.monotonic()
        failures += not _tried(PARTS[name], name, seed, done)
        spent[name] += round(time.monotonic() - begun) + 1
        seed += 1
    print(f"{seed - options.seed} turns from seed {options.seed}, {failures} went wrong")
    print(", ".join(f"{count:,} {what}" for what, count in done.items()))
    return 1 if failures else 0


def _tried(part: Part, name: str, seed: int, done: Counter[str]) -> bool:
    place = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        part(place / "kb" if name in ("threads", "kills", "mixed") else place, seed, done)
    except Exception:
        print(f"{name}, seed {seed}, see {place}", flush=True)
        traceback.print_exc()
        return False
    shutil.rmtree(place, ignore_errors=True)
    return True


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=PARTS, help="these parts alone")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
