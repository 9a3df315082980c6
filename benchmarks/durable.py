"""Durable changes: what a journal that is synced costs, by how many writers share it, and recovery.

Times are those of the clock on the wall: a disk takes no processor time.  Durable and in memory
are measured in one run, on the disk of the folder for temporary files.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, seconds, table, times

RULES = "[?x, <x:known>, ?y] :- [?x, <x:seen>, ?y] ."
WINDOW = "seen(?s) :- sometime reading(?s, ?v) in [10] ."


def run(peers: Peers, options: Options) -> str:
    scale = 20 if options.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return "\n".join(
            [
                "# Durable changes\n",
                _writers(place, scale),
                _beside_memory(place, scale),
                _readers(place, scale),
                _recovery(place, scale),
                _checkpoints(place, scale),
            ]
        )


def _writers(folder: Path, scale: int) -> str:
    rows = []
    for count in (1, 10, 100):
        import livefacts as lf

        taken: list[float] = []
        turns = max(400 // scale // count, 2)
        with lf.Reasoner.open(folder / f"writers{count}", RULES) as reasoner:
            reasoner.add("<x:a> <x:seen> <x:b> .")
            started = time.perf_counter()
            threads = [
                threading.Thread(target=_write, args=(reasoner, name, turns, taken))
                for name in range(count)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            passed = time.perf_counter() - started
        rate = f"{len(taken) / passed:,.0f}"
        rows.append([str(count), rate, latency(median(taken)), latency(_most(taken))])
    return table(["waiting writers", "durable changes/s", "p50", "p99"], rows)


def _write(reasoner: Any, name: int, turns: int, taken: list[float]) -> None:
    for number in range(turns):
        started = time.perf_counter()
        reasoner.add(f"<x:t{name}> <x:seen> <x:{number}> .")
        taken.append(time.perf_counter() - started)


def _most(taken: list[float]) -> float:
    return quantiles(taken, n=100)[98] if len(taken) > 1 else taken[0]


def _beside_memory(folder: Path, scale: int) -> str:
    import livefacts as lf

    turns = max(100 // scale, 5)
    rows = []
    kinds: dict[str, tuple[str, Callable[[Any, int], object]]] = {
        "one fact": (RULES, lambda r, n: r.add(f"<x:o{n}> <x:seen> <x:b> .")),
        "1,000 facts": (RULES, lambda r, n: r.add(_thousand(n))),
        "one tick": (WINDOW, lambda r, n: (r.push(f"reading(s, {n}) .", at=n), r.advance(n))),
    }
    for number, (kind, (rules, change)) in enumerate(kinds.items()):
        memory = _middle(lf.Reasoner(rules), change, turns)
        found = {}
        for durability in ("sync", "group", "none"):
            place = folder / f"beside{number}{durability}"
            with lf.Reasoner.open(place, rules, durability=durability) as reasoner:
                found[durability] = _middle(reasoner, change, turns)
        ratio = times(found["none"], memory)
        rows.append([kind, latency(memory), *map(latency, found.values()), ratio])
    heads = ["p50 of a change", "in memory", "sync", "group", "none", "none / memory"]
    return table(heads, rows)


def _thousand(number: int) -> str:
    return "".join(f"<x:m{number}> <x:seen> <x:n{each}> .\n" for each in range(1000))


def _middle(reasoner: Any, change: Callable[[Any, int], object], turns: int) -> float:
    taken = []
    for number in range(turns):
        started = time.perf_counter()
        change(reasoner, number)
        taken.append(time.perf_counter() - started)
    return median(taken)


def _readers(folder: Path, scale: int) -> str:
    """Point queries of several threads, beside a writer and without, and what the writer feels."""
    import livefacts as lf

    rows, length = [], max(4 / scale, 0.5)
    with lf.Reasoner.open(folder / "readers", RULES, durability="none") as reasoner:
        reasoner.add("".join(f"<x:s{n}> <x:seen> <x:o{n % 99}> .\n" for n in range(10_000)))
        _read_and_written(reasoner, 1, length, writes=True)  # columns are made, plans are known
        _, alone = _read_and_written(reasoner, 0, length, writes=True)
        for count in (1, 2, 4, 8):
            quiet, _ = _read_and_written(reasoner, count, length, writes=False)
            beside, written = _read_and_written(reasoner, count, length, writes=True)
            rows.append([str(count), f"{quiet:,.0f}", f"{beside:,.0f}", times(alone, written)])
    heads = ["reading threads", "queries/s", "beside a writer", "the writer's slowdown"]
    return table(heads, rows)


def _read_and_written(
    reasoner: Any, readers: int, length: float, *, writes: bool
) -> tuple[float, float]:
    """Queries and changes in a second."""
    is_over, counts = threading.Event(), [0] * (readers + 1)

    def repeat(place: int, call: Callable[[int], object]) -> None:
        while not is_over.is_set():
            call(counts[place])
            counts[place] += 1

    calls: list[Callable[[int], object]] = [
        lambda n: list(reasoner.query(f"SELECT ?o {{ <x:s{n % 9_999}> <x:known> ?o }}"))
    ] * readers
    calls.insert(0, lambda n: reasoner.add(f"<x:w{n}> <x:seen> <x:o> ."))
    threads = [
        threading.Thread(target=repeat, args=each) for each in enumerate(calls) if writes or each[0]
    ]
    for thread in threads:
        thread.start()
    time.sleep(length)
    is_over.set()
    for thread in threads:
        thread.join()
    return sum(counts[1:]) / length, counts[0] / length


def _recovery(folder: Path, scale: int) -> str:
    import livefacts as lf

    changes, place, journal = 20_000 // scale, folder / "recovery", folder / "journal"
    with lf.Reasoner.open(journal, RULES, durability="none", fold_after=None) as reasoner:
        for number in range(changes):
            reasoner.add(f"<x:c{number}> <x:seen> <x:d> .")
    with lf.Reasoner.open(place, RULES) as reasoner:
        reasoner.load(_many(folder, 500_000 // scale))
        reasoner.checkpoint()
        held = len(reasoner)
    repeating, tables = (
        min(_timed(lambda each=each: lf.Reasoner.open(each).close()) for _ in range(3))
        for each in (journal, place)
    )
    size = sum(each.stat().st_size for each in place.rglob("*") if each.is_file())
    rows = [
        ["opening, a million facts of the tables", seconds(tables * 1_000_000 / held)],
        ["repeating, 100,000 rows", seconds(repeating * 100_000 / changes)],
        ["bytes on disk for a fact, history included", f"{size / held:.0f}"],
    ]
    return table(["recovery", "measured"], rows)


def _many(folder: Path, facts: int) -> Path:
    path = folder / f"many{facts}.nt"
    with path.open("w") as file:
        file.writelines(f"<x:s{n}> <x:seen> <x:o{n % 999}> .\n" for n in range(facts))
    return path


def _checkpoints(folder: Path, scale: int) -> str:
    """What a writer feels of a checkpoint: one that writes all facts, one that adds a few."""
    import livefacts as lf

    rows, place = [], folder / "checkpoints"
    for durability in ("sync", "none"):
        options = {"durability": durability, "fold_after": None}
        with lf.Reasoner.open(place / durability, RULES, **options) as reasoner:
            reasoner.load(_many(folder, 2_500_000 // scale))
            for kind in ("all facts", "what has changed"):
                before, during, length = _pauses(reasoner)
                taken = [max(before), max(during), _most(during)]
                made = f"{kind} of {len(reasoner):,}, durability={durability}"
                rows.append([made, seconds(length), *map(latency, taken)])
    heads = ["a checkpoint", "takes", "longest change before", "meanwhile", "p99 meanwhile"]
    return table(heads, rows)


def _pauses(reasoner: Any) -> tuple[list[float], list[float], float]:
    """The changes of one thread before another makes a checkpoint, and meanwhile; its length."""
    taken: list[float] = []
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            _write(reasoner, len(taken), 1, taken)

    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(2)
    begun = len(taken)
    length = _timed(reasoner.checkpoint)
    is_over.set()
    writer.join()
    return taken[:begun], taken[begun:], length


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
