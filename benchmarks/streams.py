"""Registered queries: triples through windows with rdfs, fresh terms in every event.

CPU seconds of one process; what makes the events is not counted.  "Full answers" reads
every row of every report.  "After a tenth" and "at the end" tell whether memory stays flat:
terms that are known, and megabytes of the process.  The second table shows what more windows over one stream cost,
as a multiple of the largest one alone; the third what a report of other bodies costs.  The one after it
tells whether a push costs what it pushes, however much has come to its time point before;
the last what `livefacts register` takes for lines of standard input, which come as fast as they
are read, its start left out, and how many megabytes it has meanwhile.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from benchmarks.bodies import bodies
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import table
from livefacts.service.reasoner.facade import Reasoner

EX = "http://example.org/"
STREAM = EX + "positions"
SCHEMA = f"""PREFIX ex: <{EX}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
ex:isIn rdfs:domain ex:Commuter . ex:Commuter rdfs:subClassOf ex:Person ."""
DATE_TIME = NamedNode("http://www.w3.org/2001/XMLSchema#dateTime")
A_SECOND = 2_000
"""Triples of a second."""


def run(peers: Peers, options: Options) -> str:
    count = 20_000 if options.quick else 1_000_000
    few = 10_000 if options.quick else 100_000
    parts = ["# Streams\n", f"## {count:,} triples through a window of ten seconds, rdfs\n"]
    parts += [_speeds(count), "## Windows over one stream\n", _windows(few)]
    parts += ["## Any body inside a window\n", bodies(options.quick)]
    parts += ["## Single pushes to one time point\n", _pushes(few)]
    parts += ["## Lines of standard input\n", _piped(2 * few)]
    return "\n".join(parts)


def query(number: int, seconds: int) -> str:
    return (
        f"REGISTER QUERY q{number} AS PREFIX ex: <{EX}> SELECT ?x ?y "
        f"FROM STREAM <{STREAM}> [RANGE {seconds}s STEP 1s] "
        "WHERE { ?x ex:isIn ?y . ?x a ex:Person }"
    )


def events(count: int) -> Iterator[tuple[int, list[Triple]]]:
    """Positions of people who are seen once, with the moment at which they are."""
    verb = NamedNode(EX + "isIn")
    for second in range(count // A_SECOND):
        moments = [f"2026-01-01T00:00:00.{second}{n}Z" for n in range(A_SECOND)]
        yield (
            second,
            [
                Triple(NamedNode(f"{EX}u{second}_{n}"), verb, Literal(m, datatype=DATE_TIME))
                for n, m in enumerate(moments)
            ],
        )


@dataclass(frozen=True)
class Played:
    """What a run has cost: CPU seconds, answers, and by its parts the terms and megabytes."""

    seconds: float
    answers: int
    terms: tuple[int, int]
    megabytes: tuple[int, int]


def play(count: int, windows: Sequence[int], *, reads: bool = True) -> Played:
    """Let so many triples pass through windows of so many seconds."""
    reasoner = Reasoner(rules="rdfs")
    reasoner.add(SCHEMA)
    queries = [reasoner.register(query(n, seconds)) for n, seconds in enumerate(windows)]
    spent, answers = 0.0, 0
    early = 0, 0
    for second, facts in events(count):
        started = time.thread_time()
        reasoner.push(facts, at=second, stream=STREAM)
        reasoner.advance(second)
        for report in (report for each in queries for report in each.results()):
            answers += len(report.rows) if reads else len(report)
        spent += time.thread_time() - started
        if second == count // A_SECOND // 10:
            early = _held(reasoner)
    late = _held(reasoner)
    return Played(spent, answers, (early[0], late[0]), (early[1], late[1]))


def _held(reasoner: Reasoner) -> tuple[int, int]:
    """Terms that are known, and megabytes of the process at the most until now."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return int(reasoner.stats()["terms"]), most


def _speeds(count: int) -> str:
    rows = []
    for title, reads in (("answers counted", False), ("full answers", True)):
        played = play(count, [10], reads=reads)
        cells = [f"{played.seconds:.2f}", f"{count / played.seconds:,.0f}", f"{played.answers:,}"]
        kept = [f"{each:,}" for each in (*played.terms, *played.megabytes)]
        rows.append([title, *cells, *kept])
    heads = ["", "CPU s", "triples/s", "answers", "terms after a tenth", "terms at the end"]
    return table([*heads, "MB after a tenth", "MB at the end"], rows)


def _windows(count: int) -> str:
    rows = []
    alone = play(count, [20], reads=False).seconds
    for title, windows in (
        ("one query, 20 s", [20]),
        ("100 queries, 20 s", [20] * 100),
        ("20 queries, 1 to 20 s", list(range(1, 21))),
        ("100 queries, 1 to 20 s", [1 + n % 20 for n in range(100)]),
    ):
        spent = play(count, windows, reads=False).seconds if len(windows) > 1 else alone
        rows.append([title, f"{spent:.2f}", f"{spent / alone:.1f}"])
    return table(["", "CPU s", "times the largest alone"], rows)


def _pushes(most: int) -> str:
    rows = []
    for count in (most // 100, most):
        spent = _pushed(count)
        rows.append([f"{count:,}", f"{spent:.2f}", f"{1e6 * spent / count:.1f}"])
    return table(["pushes", "CPU s", "µs for one"], rows)


def _pushed(count: int) -> float:
    """CPU seconds for pushes of one triple each to one time point that has not come."""
    reasoner = Reasoner(rules="rdfs")
    reasoner.add(SCHEMA)
    reasoner.register(query(0, 10))
    verb, place = NamedNode(EX + "isIn"), NamedNode(EX + "here")
    triples = [Triple(NamedNode(f"{EX}u{n}"), verb, place) for n in range(count)]
    started = time.thread_time()
    for triple in triples:
        reasoner.push(triple, at=1, stream=STREAM)
    return time.thread_time() - started


def _piped(count: int) -> str:
    rows = [[name, *_lines_read(count, line)] for name, line in LINES.items()]
    heads = ["lines", "CPU s", "lines/s", "MB after a tenth", "MB at the end"]
    return table(heads, rows)


LINES = {
    "timed N-Quads": f"<{EX}u%d> <{EX}isIn> <{EX}p%d> <{STREAM}> %d .\n",
    "JSON lines": f'{{"stream": "{STREAM}", "facts": "<{EX}u%d> <{EX}isIn> <{EX}p%d> .", "at": %d}}\n',
}


def _lines_read(count: int, line: str) -> list[str]:
    """CPU seconds, lines a second and megabytes of a process that reads so many lines."""
    command = [sys.executable, "-m", "livefacts", "register", query(0, 10), "--stream", "-"]
    spent = []
    for many in (1, count):
        before = _children()
        with subprocess.Popen(
            [*command, "--format", "csv", "--rules", "rdfs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        ) as process:
            early, late = _written(process, many, line)
        spent.append(_children() - before)
    seconds = spent[1] - spent[0]
    return [f"{seconds:.2f}", f"{count / seconds:,.0f}", str(early), str(late)]


def _written(process: subprocess.Popen[bytes], count: int, line: str) -> tuple[int, int]:
    """Write lines to a process; its megabytes after a tenth of them, and at the end."""
    assert process.stdin is not None, "its input is a pipe"
    early = 0
    for number in range(count):
        process.stdin.write((line % (number, number, number // A_SECOND)).encode())
        if number == count // 10:
            early = _megabytes(process.pid)
    late = _megabytes(process.pid)
    process.stdin.close()
    return early, late


def _megabytes(process: int) -> int:
    with open(f"/proc/{process}/statm") as figures:
        return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
