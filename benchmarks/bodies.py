"""Bodies inside windows: what a report costs that is followed, and one that is asked anew.

The same query stands beside itself with a condition on NOW(), which is always true and which
no flow can follow.  CPU milliseconds a report, push and reading the rows included; both
sides' answers must agree.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode, Triple

from benchmarks.tables import table
from livefacts.service.reasoner.facade import Reasoner

EX = "http://example.org/"
STREAM = EX + "readings"
A = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
BODIES = {
    "average of each sensor": (
        "SELECT ?s (AVG(?v) AS ?mean) (COUNT(*) AS ?n)",
        "?s ex:reads ?v",
        "GROUP BY ?s",
    ),
    "least and greatest of each room": (
        "SELECT ?r (MIN(?v) AS ?low) (MAX(?v) AS ?high)",
        "?s ex:reads ?v . ?s ex:in ?r",
        "GROUP BY ?r",
    ),
    "hot sensors of each room": (
        "SELECT ?r (COUNT(DISTINCT ?s) AS ?n)",
        "?s ex:reads ?v . ?s ex:in ?r FILTER(?v > 95)",
        "GROUP BY ?r",
    ),
    "alarm or none": ("SELECT ?s ?a", "?s ex:reads 99 OPTIONAL { ?s ex:alarm ?a }", ""),
    "rooms without a high one": (
        "SELECT DISTINCT ?r",
        "?r a ex:Room FILTER NOT EXISTS { ?s ex:in ?r . ?s ex:reads 99 }",
        "",
    ),
}


def bodies(quick: bool) -> str:
    """A table of forms and window lengths."""
    rows = []
    for title, parts in BODIES.items():
        for seconds in (10,) if quick else (10, 100):
            rows.append([title, f"{200 * seconds:,}", *_compared(parts, seconds)])
    heads = ["body", "triples in the window", "followed, ms", "asked anew, ms", "ratio"]
    return table(heads, rows)


def _compared(parts: tuple[str, str, str], seconds: int) -> list[str]:
    (followed, one), (anew, other) = (_played(parts, seconds, way) for way in ("", ASKED_ANEW))
    assert one == other, "both ways find the same"
    return [f"{1000 * followed:.1f}", f"{1000 * anew:.1f}", f"{anew / followed:.1f}"]


ASKED_ANEW = "FILTER(isLITERAL(NOW()))"
REPORTS = 10


def _played(parts: tuple[str, str, str], seconds: int, way: str) -> tuple[float, list[str]]:
    """CPU seconds of a report once the window is full, and the last rows."""
    head, body, tail = parts
    reasoner = Reasoner()
    reasoner.add([Triple(_sensor(n), NamedNode(EX + "in"), _room(n % 100)) for n in range(2000)])
    reasoner.add([Triple(_room(n), A, NamedNode(EX + "Room")) for n in range(100)])
    query = reasoner.register(
        f"REGISTER QUERY q AS PREFIX ex: <{EX}> {head} "
        f"FROM STREAM <{STREAM}> [RANGE {seconds}s STEP 1s] WHERE {{ {body} {way} }} {tail}"
    )
    spent, rows = 0.0, []
    for second, facts in _events(seconds + REPORTS):
        started = time.thread_time()
        reasoner.push(facts, at=second, stream=STREAM)
        reasoner.advance(second)
        rows = [row for report in query.results() for row in report.rows]
        spent += time.thread_time() - started if second >= seconds else 0.0
    return spent / REPORTS, sorted(map(str, rows))


def _events(seconds: int) -> Iterator[tuple[int, list[Triple]]]:
    reads = NamedNode(EX + "reads")
    for second in range(seconds):
        numbers = [(second * 7919 + n * 104729) % 200_003 for n in range(200)]
        yield second, [Triple(_sensor(n % 2000), reads, Literal(n % 100)) for n in numbers]


def _sensor(number: int) -> NamedNode:
    return NamedNode(f"{EX}s{number}")


def _room(number: int) -> NamedNode:
    return NamedNode(f"{EX}r{number}")
