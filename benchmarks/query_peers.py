"""Peers of queries: a pyoxigraph store, an rdflib graph, and duckdb over the columns of ids.

All of them hold the triples of a reasoner, conclusions included.
"""

from __future__ import annotations

import math
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Store, Triple

import livefacts as lf

LONGEST = 3.0
"""So many seconds rdflib may take for a query."""


def best(ask: Callable[[], list[Any]], seconds: float = 1.0) -> tuple[float, list[Any]]:
    """The best processor time of a few turns, and what was found."""
    least, spent, found = math.inf, 0.0, []
    for _ in range(20):
        started = time.process_time()
        found = ask()
        taken = time.process_time() - started
        least, spent = min(least, taken), spent + taken
        if spent > seconds:
            break
    return least, found


def bag(rows: Sequence[Any], names: Sequence[str] | None = None) -> Counter[Any]:
    """Rows as text, their variables in the order of these names, if any are given.

    Blank nodes, which loading renames, are all alike.
    """
    terms = rows if names is None else ([row[name] for name in names] for row in rows)
    return Counter(tuple(_text(term) for term in row) for row in terms)


def _text(term: Any) -> str:
    return "_:" if isinstance(term, BlankNode) else str(term)


def store_of(reasoner: lf.Reasoner) -> Store:
    """A pyoxigraph store."""
    store = Store()
    # By a query: facts() would keep columns of what is asserted, too.
    quads = (Quad(*triple) for triple in reasoner.query("CONSTRUCT WHERE { ?s ?p ?o }"))
    lines = "".join(f"{quad.subject} {quad.predicate} {quad.object} .\n" for quad in quads)
    store.bulk_load(lines.encode(), RdfFormat.N_TRIPLES, lenient=True)
    return store


class RdflibGraph:
    """A graph of rdflib; a query that takes too long is given up."""

    def __init__(self, reasoner: lf.Reasoner) -> None:
        import rdflib

        self._graph = rdflib.Graph()
        for fact in reasoner.query("CONSTRUCT WHERE { ?s ?p ?o }"):
            if isinstance(fact, Triple):
                self._graph.add(tuple(_for_rdflib(term) for term in fact))  # type: ignore[arg-type]

    def ask(self, text: str, prefixes: Mapping[str, str]) -> tuple[float, list[Any]] | None:
        """The processor time of a query, and its rows; None if it takes too long."""
        try:
            with _alarm(LONGEST):
                return best(lambda: list(self._graph.query(text, initNs=dict(prefixes))), 0.3)
        except TimeoutError:
            return None

    @staticmethod
    def bag(rows: list[Any], names: Sequence[str]) -> Counter[Any]:
        """Rows as text, their variables in the order of these names."""
        terms = ([row[name] for name in names] for row in rows)
        return Counter(tuple(_text(t) if t is None else t.n3() for t in row) for row in terms)


def _for_rdflib(term: Any) -> Any:
    import rdflib

    if isinstance(term, NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    plain = term.datatype.value.endswith("#string")
    kind = None if plain else rdflib.URIRef(term.datatype.value)
    return rdflib.Literal(term.value, datatype=kind, normalize=False)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class DuckdbColumns:
    """The columns of ids as a table `t(s, p, o)` of duckdb, on one core; no terms are made."""

    def __init__(self, reasoner: lf.Reasoner) -> None:
        import duckdb

        version = reasoner._state.versions.version()
        self._terms = version.terms
        self._prefixes = reasoner._state.known_prefixes()
        rows = version.graphs.everything.rows()
        columns = {name: np.ascontiguousarray(rows[:, at]) for at, name in enumerate("spo")}
        self._database = duckdb.connect(config={"threads": 1})
        self._database.register("columns", columns)
        self._database.execute("CREATE TABLE t AS SELECT s, p, o FROM columns ORDER BY p, s, o")

    def ask(self, sql: str) -> tuple[float, Counter[Any]]:
        """The processor time of a query, and its rows as text; `{ub:name}` is an id.

        Numbers that the query counts come as they are, in columns that are called `n`.
        """
        filled = re.sub(r"\{([^}]+)\}", lambda found: str(self._id(found[1])), sql)
        run = self._database.execute
        taken, found = best(lambda: [run(filled).fetchnumpy()])
        columns = [self._shown(name, column) for name, column in found[0].items()]
        return taken, Counter(zip(*columns, strict=True))

    def _id(self, name: str) -> int:
        prefix, _, local = name.partition(":")
        iri = name[1:-1] if name[0] == "<" else self._prefixes[prefix] + local
        found = self._terms.find(NamedNode(iri))
        return -1 if found is None else found

    def _shown(self, name: str, column: Any) -> Sequence[str]:
        if name == "n":
            return [str(Literal(int(number))) for number in column]
        return [_text(term) for term in self._terms.decode(np.asarray(column, np.int32))]
