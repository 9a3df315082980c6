"""The server under load for as long as one says: readers, writers, and many who follow some queries.

    python -m tests.system.crowd --minutes 10

Nothing may fail, everybody who follows must have heard of the last change at the end, and memory must
stay flat; how long point queries take beside the writers is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.followers import Followers, Heard
from benchmarks.http_load import ROWS, Connection, form_call, percentile
from benchmarks.servers import ServerProcess, serving
from benchmarks.tables import latency, table

RULES = "[?x, <x:shows>, ?v] :- [?x, <x:measures>, ?v] ."
KEPT = 6
"""So many facts of each subject are there at a time."""
GROWTH = 1.2
"""Memory may be so many times what it was after the first third."""
WARM = 1 / 3
LOOKS = 1_000


@dataclass(frozen=True)
class Crowd:
    """Who asks, changes and follows, and for how long."""

    seconds: float
    readers: int = 8
    writers: int = 2
    followers: int = 500
    queries: int = 10
    changes: int = 500
    """A second, by all writers, if they can."""
    asked: int = 20
    """Point queries a second, by each reader."""


@dataclass
class Outcome:
    """What happened."""

    taken: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    events: int = 0
    processor: float = 0.0
    """Seconds of a processor that the server took."""
    crowd_processor: float = 0.0
    """The same of the crowd itself, which shares the machine."""
    wrong: list[str] = field(default_factory=list)

    def grown(self) -> float:
        """How many times the memory of the first third the server has at the end."""
        early = self.memory[: max(1, int(len(self.memory) * WARM))]
        return max(self.memory[len(early) :] or early) / max(early)

    def report(self, seconds: float) -> str:
        """All of it, as a table."""
        asked, written = len(self.taken), len(self.written)
        rows = [
            ["point queries a second", f"{asked / seconds:,.0f}"],
            *([f"point query, p{n}", latency(percentile(self.taken, n))] for n in (50, 99)),
            ["durable changes a second", f"{written / seconds:,.0f}"],
            *([f"change, p{n}", latency(percentile(self.written, n))] for n in (50, 99)),
            ["messages a second to those who follow", f"{self.events / seconds:,.0f}"],
            ["processor, server", f"{self.processor / seconds:.0%} of one"],
            ["processor, crowd", f"{self.crowd_processor / seconds:.0%} of one"],
            ["memory at the end", f"{self.memory[-1] / 1e6:,.0f} MB"],
            ["memory, against the first third", f"{self.grown():.2f} x"],
            ["errors", str(len(self.wrong))],
        ]
        return table([f"{seconds:,.0f} s", "measured"], rows)


def endure(server: ServerProcess, crowd: Crowd) -> Outcome:
    """Let the crowd in, and look after it has gone."""
    queries = (_query(number % crowd.queries) for number in range(crowd.followers))
    calls = [form_call("/watch", query=query) for query in queries]
    last: dict[int, int] = {}
    with Followers(server.url, calls) as followers:
        begun, before = server.processor(), time.process_time() + followers.heard().seconds
        found = asyncio.run(_worked(server, crowd, last))
        heard = _until_told(followers, crowd.queries, last)
        found.processor = server.processor() - begun
        found.crowd_processor = time.process_time() + heard.seconds - before
    found.events = heard.events
    found.wrong += heard.errors
    found.wrong += [
        f"follower {number} is at {at}" for number, at in _behind(heard, crowd.queries, last)
    ]
    return found


async def _worked(server: ServerProcess, crowd: Crowd, last: dict[int, int]) -> Outcome:
    """What the readers and writers met."""
    found = Outcome()
    until = time.perf_counter() + crowd.seconds
    work = [_read(server, crowd, number, until, found) for number in range(crowd.readers)]
    work += [_write(server, crowd, number, until, found, last) for number in range(crowd.writers)]
    done = await asyncio.gather(*work, _weigh(server, until, found), return_exceptions=True)
    found.wrong += [repr(each) for each in done if each is not None]
    return found


def _fact(subject: int, value: int) -> str:
    return f"<x:s{subject}> <x:measures> {value}"


def _query(subject: int) -> str:
    return f"SELECT ?v {{ <x:s{subject}> <x:shows> ?v }}"


async def _read(
    server: ServerProcess, crowd: Crowd, number: int, until: float, found: Outcome
) -> None:
    connection = await Connection.open(server.url)
    call = form_call("/sparql", ROWS, query=_query(number % crowd.queries))
    due = time.perf_counter() + number / crowd.readers / crowd.asked
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        started = time.perf_counter()
        await connection.ask(call)
        found.taken.append(time.perf_counter() - started)
        due = max(due + 1 / crowd.asked, started)
    await connection.close()


async def _write(
    server: ServerProcess,
    crowd: Crowd,
    writer: int,
    until: float,
    found: Outcome,
    last: dict[int, int],
) -> None:
    """Changes bring a fact and take an old one, in turns; `last` has the last of each subject."""
    connection = await Connection.open(server.url)
    due, number, takes = time.perf_counter(), writer, False
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        started, subject = time.perf_counter(), number % crowd.queries
        old = number - KEPT * crowd.queries
        change = (
            f"DELETE DATA {{ {_fact(subject, old)} }}"
            if takes
            else f"INSERT DATA {{ {_fact(subject, number)} }}"
        )
        answer = await connection.ask(form_call("/sparql", server.bearer, update=change))
        done = json.loads(answer)
        if done["counts"]["asserted"] or done["counts"]["retracted"]:
            last[subject] = max(last.get(subject, 0), done["seq"])
        found.written.append(time.perf_counter() - started)
        number += crowd.writers if takes else 0
        takes = not takes
        due = max(due + crowd.writers / crowd.changes, started)
    await connection.close()


async def _weigh(server: ServerProcess, until: float, found: Outcome) -> None:
    while True:
        found.memory.append(server.memory())
        left = until - time.perf_counter()
        if left <= 0:
            return
        await asyncio.sleep(min(1.0, left))


def _behind(heard: Heard, queries: int, last: dict[int, int]) -> list[tuple[int, int]]:
    """Who has not heard of the last change of their query, and where they are."""
    return [
        (number, at) for number, at in enumerate(heard.last) if at < last.get(number % queries, 0)
    ]


def _until_told(followers: Followers, queries: int, last: dict[int, int]) -> Heard:
    """What was heard, when everybody has heard of the last change of their query, or after a while."""
    for _ in range(LOOKS):
        heard = followers.heard()
        if heard.errors or not _behind(heard, queries, last):
            break
        time.sleep(0.01)
    return heard


def soak(crowd: Crowd) -> Outcome:
    """Serve a new folder to a crowd."""
    with tempfile.TemporaryDirectory() as place:
        rules = Path(place) / "shows.rules"
        rules.write_text(RULES)
        with serving(Path(place) / "kb", "--rules", str(rules)) as server:
            return endure(server, crowd)


def main() -> None:
    """Endure, and say how it was."""
    parser = argparse.ArgumentParser(prog="python -m tests.system.crowd")
    parser.add_argument("--minutes", type=float, default=10)
    for name in ("readers", "writers", "followers", "changes", "asked"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Crowd, name))
    given = vars(parser.parse_args())
    crowd = Crowd(given.pop("minutes") * 60, **given)
    found = soak(crowd)
    print(found.report(crowd.seconds))
    for each in found.wrong[:10]:
        print(each, file=sys.stderr)
    sys.exit(bool(found.wrong) or found.grown() > GROWTH)


if __name__ == "__main__":
    main()
