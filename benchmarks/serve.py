"""The server: requests a second and how long one takes, live answers to many, events in.

Times are those of the clock on the wall, of one client with a connection or eight.  Client and
server share the machine.  Ours writes each change to the disk before it answers; Fuseki holds
the same data in memory, under its RDFS reasoner.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.followers import Followers
from benchmarks.http_load import (
    ROWS,
    Call,
    Connection,
    Load,
    ask_again,
    form_call,
    percentile,
)
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.servers import ServerProcess, fuseki, missing_fuseki, serving
from benchmarks.tables import latency, table

UB = "http://livefacts.example/university#"
HOT = "hot(?s) :- sometime reading(?s, ?v) in [5], ?v > 90 ."
LISTENERS = (1, 100, 500)
BATCHES = (1, 100, 1000)
NDJSON = {"Content-Type": "application/x-ndjson"}
INSERT, DELETE = "insert of one triple", "delete of one triple"
Calls = Callable[[int], Call]


def run(peers: Peers, options: Options) -> str:
    """All of it; `--quick` takes few seconds for each figure, and a small piece of the data."""
    seconds = 0.5 if options.quick else 5.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        data = _data(place, 3_000 if options.quick else None)
        parts = ["# The server\n", _requests(place, data, seconds), _fan_out(place, seconds)]
        return "\n".join([*parts, _events_in(place, seconds)])


def _data(folder: Path, most: int | None) -> Path:
    """A university with its schema, as a file."""
    from livefacts.generate import university

    path = folder / "university.nt"
    lines = b"".join(university(1)).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:most]))
    return path


# requests


def _requests(folder: Path, data: Path, seconds: float) -> str:
    import livefacts as lf

    with lf.Reasoner.open(folder / "kb", ["rdfs"]) as reasoner:
        reasoner.load(data)
        reasoner.checkpoint()
        points = [
            row["s"] for row in reasoner.query(f"SELECT ?s {{ ?s a <{UB}Person> }} LIMIT 500")
        ]
        held = len(reasoner)
    with serving(folder / "kb") as ours:
        found = asyncio.run(_measured(ours, points, seconds))
    heads = ["request", "p50", "p99", "requests/s, 1 client", "8 clients"]
    why = missing_fuseki()
    if why:
        said = f"Fuseki is left out: {why}."
        rows = [[name, *_figures(*loads)] for name, loads in found.items()]
    else:
        with fuseki(folder, data) as theirs:
            beside = asyncio.run(_measured(theirs, points, seconds))
        said = "Fuseki 5 in memory, RDFS reasoner, same data, requests and run."
        heads += [f"Fuseki: {head}" for head in heads[1:]]
        rows = [[name, *_figures(*found[name]), *_figures(*beside[name])] for name in found]
    return f"{held:,} facts under rdfs. {said}\n\n" + table(heads, rows)


def _figures(one: Load, many: Load) -> list[str]:
    parts = [latency(one.part(percent)) for percent in (50, 99)]
    return [*parts, f"{one.rate:,.0f}", f"{many.rate:,.0f}"]


async def _measured(
    server: ServerProcess, points: list[object], seconds: float
) -> dict[str, tuple[Load, Load]]:
    """Each kind of request, by one client and by eight."""
    query, update = server.query, server.update
    wide = "SELECT ?s ?c { ?s a ?c } LIMIT 1000"

    inserted, deleted = count(), count()

    def changed(word: str, numbers: Iterator[int]) -> Calls:
        """A triple that was not there before, or that was: each change is one."""

        def call(_: int) -> Call:
            triple = f"<x:new{next(numbers)}> a <{UB}GraduateStudent>"
            return form_call(update, server.bearer, update=f"{word} DATA {{ {triple} }}")

        return call

    kinds: dict[str, Calls] = {
        "point query": lambda n: form_call(
            query, ROWS, query=f"SELECT ?c {{ {points[n % len(points)]} a ?c }}"
        ),
        "query of 1,000 rows": lambda n: form_call(query, ROWS, query=wide),
        INSERT: changed("INSERT", inserted),
        DELETE: changed("DELETE", deleted),
    }
    found: dict[str, tuple[Load, Load]] = {}
    for name, calls in kinds.items():
        await ask_again(server.url, calls, connections=1, seconds=seconds / 5, most=50)
        loads = []
        for clients in (1, 8):
            most = 10**9 if name != DELETE else sum(len(each.taken) for each in found[INSERT]) // 2
            loads.append(
                await ask_again(server.url, calls, connections=clients, seconds=seconds, most=most)
            )
        found[name] = loads[0], loads[1]
    return found


# live answers


def _fan_out(folder: Path, seconds: float) -> str:
    rows = []
    with serving(folder / "fan") as server:
        for listeners in LISTENERS:
            rows.append([f"{listeners:,}", *_told(server, listeners, seconds)])
    heads = ["who follow `/changes`", "changes/s", "events/s", "p50 until told", "p99"]
    return table(heads, rows)


def _told(server: ServerProcess, count: int, seconds: float) -> list[str]:
    """One writer without pause; how long after the sending of a change everyone has heard of it."""
    calls = [Call("/changes")] * count
    with Followers(server.url, calls, notes_moments=True) as followers:
        sent, passed = asyncio.run(_written(server, count, seconds))
        moments = []
        while True:
            heard = followers.heard()
            moments += heard.moments
            if heard.errors or min(heard.last) >= max(sent):
                break
            time.sleep(0.01)
    delays = [at - sent[seq] for at, numbers in moments for seq in numbers if seq in sent]
    rates = [f"{len(sent) / passed:,.0f}", f"{len(delays) / passed:,.0f}"]
    return [*rates, *(latency(percentile(delays, percent)) for percent in (50, 99))]


async def _written(
    server: ServerProcess, count: int, seconds: float
) -> tuple[dict[int, float], float]:
    """When each change was sent, and how long all of them took."""
    sent: dict[int, float] = {}
    writer = await Connection.open(server.url)
    begun, number = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        number += 1
        text = f"INSERT DATA {{ <x:s{count}> <x:p> {number} }}"
        started = time.perf_counter()
        done = await writer.ask(form_call("/sparql", server.bearer, update=text))
        sent[json.loads(done)["seq"]] = started
    passed = time.perf_counter() - begun
    await writer.close()
    return sent, passed


# streams


def _events_in(folder: Path, seconds: float) -> str:
    rules = folder / "hot.rules"
    rules.write_text(HOT)
    rows = []
    with serving(folder / "streams", "--rules", str(rules)) as server:
        first = Call("/streams/sensors", _event(0).encode(), {**NDJSON, **server.bearer})
        asyncio.run(ask_again(server.url, lambda _: first, connections=1, seconds=1, most=1))
        at = 1
        for size in BATCHES:
            begun = at

            def call(number: int, size: int = size, begun: int = begun) -> Call:
                first = begun + number * size
                lines = (_event(first + each) for each in range(size))
                body = "".join(lines).encode()
                return Call("/streams/sensors", body, {**NDJSON, **server.bearer})

            load = asyncio.run(ask_again(server.url, call, connections=1, seconds=seconds))
            at += len(load.taken) * size
            events = f"{load.rate * size:,.0f}"
            rows.append([f"{size:,}", events, latency(load.part(50)), latency(load.part(99))])
    return table(["events in a request to `/streams`", "events/s", "p50", "p99"], rows)


def _event(number: int) -> str:
    """Ten events at each time point."""
    fact = f"reading(s{number % 10}, {number % 100}) ."
    return json.dumps({"at": number // 10, "facts": fact}) + "\n"
