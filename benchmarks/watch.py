"""Watched queries: what one message costs, form by form, in graphs of two sizes.

A triple comes and goes, and the answers follow through the steps of the query.  Beside it
stands asking pyoxigraph the whole query again, and the same in a graph ten times smaller.
Then: how long the first answers take, what is kept for them, and what a hundred watches of
one graph cost, or a hundred queries on one stream without a graph.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pyoxigraph import Literal, NamedNode, Quad, Store, Triple

import livefacts as lf
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import latency, table, times
from benchmarks.targets import at_most, summary
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.service.continuous.query_plans import plan_of
from livefacts.store.terms.dictionary import Dictionary

NOTHING = np.zeros((0, 3), np.int32)
FORMS = {
    "two patterns": "SELECT ?x ?y { ?x <x:p> ?y . ?y <x:q> ?z }",
    "FILTER": "SELECT ?x { ?x <x:p> ?y . ?x <x:n> ?n FILTER(?n >= 3) }",
    "OPTIONAL": "SELECT ?x ?z { ?x <x:p> ?y OPTIONAL { ?y <x:q> ?z FILTER(?z != ?x) } }",
    "MINUS": "SELECT ?x { ?x <x:p> ?y MINUS { ?y <x:q> ?x } }",
    "NOT EXISTS": "SELECT ?x { ?x <x:p> ?y FILTER NOT EXISTS { ?y <x:q> ?z FILTER(?z = ?x) } }",
    "DISTINCT": "SELECT DISTINCT ?x { ?x <x:p> ?y }",
    "GROUP BY": "SELECT ?x (COUNT(?y) AS ?c) (SUM(?n) AS ?s) { ?x <x:p> ?y . ?y <x:n> ?n } GROUP BY ?x",
    "path": "SELECT ?z { ?x <x:p>/^<x:q>/(<x:p>|<x:q>) ?z }",
    "path with +": "SELECT ?y { <x:1> (<x:p>/<x:q>)+ ?y }",
}


HUNDRED = 100


def run(peers: Peers, options: Options) -> str:
    small, large = (300, 3_000) if options.quick else (6_000, 60_000)
    turns = 50 if options.quick else 1_000
    rows, ratios = [], []
    for form, text in FORMS.items():
        lesser, ours = (_followed(text, size, turns) for size in (small, large))
        theirs = _asked_anew(text, large, 3)
        rows.append([form, latency(lesser), latency(ours), latency(theirs), times(theirs, ours)])
        ratios.append(ours / lesser)
    heads = ["form", f"{small:,} triples", f"{large:,} triples", "asked anew", "against ours"]
    one, hundred, strangers = _many(large, turns)
    alone, together = (_fed(many, small, turns) for many in (1, HUNDRED))
    targets = [
        at_most("a message, ten times the triples, the worst form", max(ratios), 2),
        at_most("100 watches that differ in a constant, against one", hundred / one, 20),
        at_most("the same as queries on one stream, without a graph", together / alone, 20),
    ]
    shared = (
        f"A message costs {latency(one)} with one watch, {latency(hundred)} with {HUNDRED} that "
        f"differ in a constant, and {latency(strangers)} with {HUNDRED} that it does not concern. "
        f"Fed to one query without a graph it costs {latency(alone)}, to {HUNDRED} {latency(together)}.\n"
    )
    parts = ["# Watched queries\n", table(heads, rows), _beginnings(options), shared]
    return "\n".join([*parts, summary("watch", targets)])


def _beginnings(options: Options) -> str:
    """How long the first answers take over a graph that is there, and what is kept then."""
    sizes = (3_000, 30_000) if options.quick else (100_000, 1_000_000)
    heads = ["first answers", *(f"{size:,} triples" for size in sizes), "a triple", "kept"]
    small, large = (_begun(size) for size in sizes)
    rows = [
        [form, latency(small[form][0]), latency(large[form][0]), *_shown(*large[form], sizes[1])]
        for form in FORMS
    ]
    return table(heads, rows)


def _shown(seconds: float, kept: int, triples: int) -> list[str]:
    return [latency(seconds / triples), f"{kept / 1e6:,.1f} MB"]


def _begun(size: int) -> dict[str, tuple[float, int]]:
    """Seconds to the first answers of every form, and the bytes that are kept."""
    dictionary, found = Dictionary(), {}
    triples = _encoded(dictionary, _triples(size))
    for form, text in FORMS.items():
        plan = plan_of(text, {})
        Dataflow(dictionary).add(plan, triples[:300])
        gc.collect()
        started = time.thread_time()
        standing = Dataflow(dictionary).add(plan, triples)
        found[form] = time.thread_time() - started, sum(part.bytes for part in standing.kept())
    return found


ALIKE = "SELECT ?x ?n {{ ?x <x:p> ?y . ?y <x:q> <x:{0}> OPTIONAL {{ ?y <x:n> ?n }} }}"


def _fed(many: int, size: int, turns: int) -> float:
    """A message to queries on one stream, from a tuple to the changes."""
    queries = lf.ContinuousQueries({str(n): ALIKE.format(n) for n in range(many)})
    queries.feed(add=[Triple(*each) for each in _triples(size)])
    messages = [Triple(*each) for each in _messages(size)]

    def turn(number: int) -> None:
        for operation in ("ins", "del"):
            queries.feed(messages=[(operation, messages[number % len(messages)])])

    return _per_turn(turn, turns) / 2


def _many(size: int, turns: int) -> tuple[float, float, float]:
    """A message to one watch, to a hundred alike, and to a hundred that it does not concern."""
    others = "SELECT ?x ?y {{ ?x <x:other{0}> ?y . ?y <x:q> ?z }}"
    found = []
    for text, many in ((ALIKE, 1), (ALIKE, HUNDRED), (others, HUNDRED)):
        dictionary = Dictionary()
        flow, triples = Dataflow(dictionary), _encoded(dictionary, _triples(size))
        for number in range(many):
            flow.add(plan_of(text.format(number), {}), triples)
        found.append(_turned(flow, dictionary, size, turns))
    return found[0], found[1], found[2]


def _triples(size: int) -> list[Any]:
    """Rings of six nodes, of p and q, with a number each."""
    found = []
    for node in range(size // 3):
        ring = node - node % 6
        for edge, step in (("x:p", 1), ("x:q", 2)):
            end = NamedNode(f"x:{ring + (node + step) % 6}")
            found.append((NamedNode(f"x:{node}"), NamedNode(edge), end))
        found.append((NamedNode(f"x:{node}"), NamedNode("x:n"), Literal(node % 7)))
    return found


def _messages(size: int) -> list[Any]:
    p = NamedNode("x:p")
    return [(NamedNode(f"x:{i}"), p, NamedNode(f"x:{i + 3}")) for i in range(0, size // 3 - 6, 6)]


def _encoded(dictionary: Dictionary, triples: list[Any]) -> Any:
    return dictionary.encode([term for each in triples for term in each]).reshape(-1, 3)


def _followed(text: str, size: int, turns: int) -> float:
    dictionary = Dictionary()
    flow = Dataflow(dictionary)
    flow.add(plan_of(text, {}), _encoded(dictionary, _triples(size)))
    return _turned(flow, dictionary, size, turns)


def _turned(flow: Dataflow, dictionary: Dictionary, size: int, turns: int) -> float:
    """What a message costs."""
    messages = [_encoded(dictionary, [each]) for each in _messages(size)]

    def turn(number: int) -> None:
        message = messages[number % len(messages)]
        flow.apply(message, NOTHING)
        flow.apply(NOTHING, message)

    return _per_turn(turn, turns) / 2


def _asked_anew(text: str, size: int, turns: int) -> float:
    store = Store()
    store.extend(Quad(*each) for each in _triples(size))

    def turn(number: int) -> None:
        found = store.query(text)
        sum(1 for _ in found)  # type: ignore[union-attr]

    return _per_turn(turn, turns)


def _per_turn(turn: Callable[[int], None], turns: int) -> float:
    for number in range(min(turns, 50)):
        turn(number)
    # What was built for the first answers is not collected while messages are measured.
    gc.collect()
    started = time.thread_time()
    for number in range(turns):
        turn(number)
    return (time.thread_time() - started) / turns
