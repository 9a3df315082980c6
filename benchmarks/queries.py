"""Queries: SPARQL over the facts themselves, beside a pyoxigraph store of the same triples.

LUBM's fourteen queries where its data is at hand, under the rules of OWL 2 RL, or queries of
the same shapes over generated universities; then groups, point lookups, stars, paths and
snowflakes in a shop, cycles in a skewed graph, and paths in a tree.  Every row is read, as terms,
on both sides; a ratio is given where both have the same bag of rows.  Some are asked of duckdb,
too, in SQL over the columns of ids, where no terms are made, and of rdflib, if it takes a few
seconds at most.  Then: how soon the first query is answered after a load, what the columns take,
and what a change costs while queries are asked.

`--universities 20` asks the fourteen queries of so many generated universities, too.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from pyoxigraph import Store

import livefacts as lf
from benchmarks import datasets, shop
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.query_peers import DuckdbColumns, RdflibGraph, bag, best, store_of
from benchmarks.query_texts import EDGES, FOURTEEN, OTHERS, SQL
from benchmarks.tables import NOTHING, latency, table, times
from benchmarks.targets import at_least, at_most, number_at_most, summary, within

HEADS = ["query", "rows", "livefacts", "pyoxigraph", "ratio", "duckdb, ids alone", "rdflib"]
HEAVY = 1e-3
LUBM = "http://www.University0.edu", "http://www.Department0.University0.edu"
OURS = "http://university0.example", "http://university0.example/department0"
"""A university and its first department."""


def run(peers: Peers, options: Options) -> str:
    figures = Figures()
    path = datasets.lubm(1 if options.quick else 5) or datasets.universities(
        1 if options.quick else 5
    )
    reasoner, ready = _universities(path)
    store = store_of(reasoner)
    figures.compare(reasoner, store, {**_fourteen(reasoner), **OTHERS})
    point, store_point = _points(reasoner, store)
    figures.add("point lookup", 1, point, store_point)
    columns = reasoner.stats()["column_bytes"] / len(reasoner)
    for made, texts in (
        (_shop(200 if options.quick else 4_000), shop.QUERIES),
        (_graph(1_000 if options.quick else 100_000), EDGES),
    ):
        slow = RdflibGraph(made) if texts is shop.QUERIES else None
        figures.compare(made, store_of(made), texts, slow)
    report = ["# Queries\n", table(HEADS, figures.rows)]
    for count in options.universities:
        report += [f"## {count} generated universities\n", _many_universities(count)]
    quiet, asked = _changes()
    targets = [
        at_least("geometric mean of the ratios", figures.mean, 10),
        number_at_most("queries of more than 1 ms that are slower", len(figures.slower), 0),
        within("ready after a load, a million triples", ready, 0.1),
        number_at_most("bytes a triple for the columns", columns, 40),
        within("a point lookup through the public API", point, 100e-6),
        at_most("a change while queries are asked, against one without", asked / quiet, 1.2),
    ]
    return "\n".join([*report, summary("queries", targets)])


class Figures:
    """The figures of queries: rows for a table, and the times of both sides where they agree."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._times: dict[str, tuple[float, float]] = {}

    @property
    def mean(self) -> float:
        """The geometric mean of the ratios."""
        logs = [math.log(theirs / ours) for ours, theirs in self._times.values()]
        return math.exp(sum(logs) / len(logs))

    @property
    def slower(self) -> list[str]:
        """The queries that take a while, and longer than in pyoxigraph."""
        return [name for name, (a, b) in self._times.items() if b > HEAVY and a > b]

    def compare(
        self,
        reasoner: lf.Reasoner,
        store: Store,
        texts: Mapping[str, str],
        rdflib: RdflibGraph | None = None,
    ) -> None:
        """Ask all of them, read every row, and note the best of some turns."""
        prefixes = dict(reasoner._state.known_prefixes())
        duckdb = DuckdbColumns(reasoner)
        for name, text in texts.items():
            ours, found = best(lambda text=text: list(reasoner.query(text)))
            theirs, expected = best(lambda text=text: list(store.query(text, prefixes=prefixes)))
            rows = bag(found)
            by_duckdb = by_rdflib = NOTHING
            if name in SQL:
                taken, in_ids = duckdb.ask(SQL[name])
                by_duckdb = latency(taken) if in_ids == rows else "other rows"
            if rdflib is not None:
                by_rdflib = _by_rdflib(rdflib, text, prefixes, found)
            names = found[0].variables if found else None
            is_same = rows == bag(expected, names)
            self.add(name, len(found), ours, theirs, is_same, by_duckdb, by_rdflib)

    def add(
        self,
        name: str,
        rows: int,
        ours: float,
        theirs: float,
        is_same: bool = True,
        *others: str,
    ) -> None:
        if is_same:
            self._times[name] = ours, theirs
        ratio = times(theirs, ours) if is_same else "other rows"
        row = [name, f"{rows:,}", latency(ours), latency(theirs), ratio]
        self.rows.append([*row, *(others or (NOTHING, NOTHING))])


def _by_rdflib(graph: RdflibGraph, text: str, prefixes: Mapping[str, str], rows: list[Any]) -> str:
    answered = graph.ask(text, prefixes)
    if answered is None:
        return "given up"
    taken, found = answered
    names = rows[0].variables if rows else ()
    return latency(taken) if graph.bag(found, names) == bag(rows) else "other rows"


def _universities(path: Any) -> tuple[lf.Reasoner, float]:
    """Universities under OWL 2 RL, and how long the columns of a million triples take."""
    reasoner = lf.Reasoner(rules="owl-rl")
    reasoner.load(path)
    lf.Reasoner().query("SELECT ?o { <x:s> <x:p> ?o }")
    started = time.process_time()
    reasoner.query("SELECT ?o { <x:s> rdf:type ?o }")
    list(reasoner.query("SELECT ?o { rdf:type rdf:type ?o }"))
    return reasoner, (time.process_time() - started) / len(reasoner) * 1e6


def _many_universities(count: int) -> str:
    """The fourteen queries over generated universities."""
    reasoner, ready = _universities(datasets.universities(count))
    figures = Figures()
    figures.compare(reasoner, store_of(reasoner), _fourteen(reasoner))
    said = (
        f"\n{len(reasoner):,} triples; ready for the first query after {latency(ready)} a million."
    )
    return table(HEADS, figures.rows) + f"{said} Geometric mean: {figures.mean:.1f} x.\n"


def _fourteen(reasoner: lf.Reasoner) -> dict[str, str]:
    is_ours = "livefacts" in reasoner._state.known_prefixes()["ub"]
    university, home = OURS if is_ours else LUBM
    filled = {
        name: body.format(university=university, home=home) for name, body in FOURTEEN.items()
    }
    shown = {name: dict.fromkeys(re.findall(r"\?\w+", body)) for name, body in filled.items()}
    return {name: f"SELECT {' '.join(shown[name])} {{ {body} }}" for name, body in filled.items()}


def _points(reasoner: lf.Reasoner, store: Store) -> tuple[float, float]:
    """One lookup of many, through the public API and by pyoxigraph.

    There are more texts than are kept with their constants: each is read anew.
    """
    subjects = [row["x"] for row in reasoner.query("SELECT ?x { ?x ub:name ?n } LIMIT 3000")]
    name = f"<{reasoner._state.known_prefixes()['ub']}name>"
    texts = [f"SELECT ?n WHERE {{ {each} {name} ?n }}" for each in subjects]

    def per_query(ask: Callable[[str], Any]) -> float:
        turns = [best(lambda: [list(ask(text)) for text in texts])[0] for _ in range(3)]
        return min(turns) / len(texts)

    return per_query(reasoner.query), per_query(store.query)


def _shop(users: int) -> lf.Reasoner:
    reasoner = lf.Reasoner()
    reasoner.add(f"@prefix s: <{shop.NAMESPACE}> .\n" + "\n".join(shop.lines(users)))
    return reasoner


def _graph(edges: int) -> lf.Reasoner:
    """A skewed graph, a hub without a triangle, and a tree."""
    random, nodes = Random(7), edges // 10
    lines = set()
    while len(lines) < edges // 4:
        a, b = (int(nodes * random.random() ** 3) for _ in range(2))
        lines.add(f"<x:n{a}> <x:e> <x:n{b}> .")
    lines |= {f"<x:hub> <x:h> <x:n{n}> ." for n in range(edges // 12)}
    lines |= {f"<x:n{n}> <x:h> <x:hub2> ." for n in range(edges // 12)}
    lines |= {f"<x:n{(n - 1) // 2}> <x:up> <x:n{n}> ." for n in range(1, edges)}
    reasoner = lf.Reasoner()
    reasoner.add("\n".join(sorted(lines)))
    return reasoner


def _changes() -> tuple[float, float]:
    """One triple in and out, while nobody asks and while somebody does; without the asking."""
    fresh = lf.Reasoner(rules="rdfs")
    fresh.add("<x:a> <x:b> <x:c> .")

    def turn(number: int) -> None:
        fresh.add(f"<x:s{number}> <x:p> <x:o{number}> .")
        fresh.remove(f"<x:s{number}> <x:p> <x:o{number}> .")

    def per_turn(ask: bool) -> float:
        least = math.inf
        for _ in range(5):
            spent = 0.0
            for number in range(500):
                started = time.process_time()
                turn(number)
                spent += time.process_time() - started
                if ask:
                    fresh.query("SELECT ?o { <x:a> <x:b> ?o }")
            least = min(least, spent / 1000)
        return least

    return per_turn(False), per_turn(True)
