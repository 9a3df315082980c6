"""The query store: SPARQL over everything that is true, through a pyoxigraph store kept in step.

The default graph of the store holds every triple that is true, asserted and derived; a
named graph holds the triples that were asserted in it.  The store is filled when the first
query is asked, and from then on changed by every delta.

A query only reads, and only this store: see `livefacts.syntax.sparql.query_text` for what is
refused.  Answers are written as the facts are: see `livefacts.service.queries.variants`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from pyoxigraph import (
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
    Store,
    Triple,
    parse,
)

from livefacts.errors import QueryError
from livefacts.model.namespaces import DECLARED
from livefacts.service.queries.results import Answer, QueryResult, Row, Rows, Triples
from livefacts.service.queries.variants import Variants, is_kept_as_written
from livefacts.syntax.sparql.query_errors import syntax_error
from livefacts.syntax.sparql.query_text import (
    DEFAULT_LIMITS,
    QueryLimits,
    QueryText,
    read_query,
)

Statement: TypeAlias = Triple | Quad
"""A triple is in the default graph."""

BATCH_BYTES = 16 * 1024 * 1024
_UNUSUAL = re.compile(
    rb"_:"  # blank nodes, which bulk loading would rename
    rb'|"@[A-Za-z0-9-]*[A-Z]'
    rb'|"\^\^<http://www\.w3\.org/2001/XMLSchema#(?!integer>)'
    rb'|"(?!-?[1-9][0-9]{0,17}"|0")[^"\n]*"\^\^<http://www\.w3\.org/2001/XMLSchema#integer>'
    rb"|<<"
)


class QueryStore:
    """The triples that are true, ready to be asked."""

    def __init__(self, limits: QueryLimits = DEFAULT_LIMITS) -> None:
        self._store = Store()
        self._variants = Variants(self._store)
        self._limits = limits

    def __len__(self) -> int:
        """The number of quads in the store; facts that share a quad count once."""
        return len(self._store)

    def fill(self, ntriples: Iterable[bytes], named: Iterable[Quad] = ()) -> None:
        """Adds the N-Triples text of the default graph, in pieces, and quads of named graphs."""
        altered: list[Quad] = []
        for batch in _batches(ntriples):
            usual, unusual = _split(batch)
            if usual:
                self._store.bulk_load(usual, RdfFormat.N_TRIPLES, lenient=True)
            looked_at = list(parse(unusual, RdfFormat.N_TRIPLES, lenient=True))
            self._store.extend(quad for quad in looked_at if is_kept_as_written(quad.object))
            altered.extend(quad for quad in looked_at if not is_kept_as_written(quad.object))
        # Last, so that a value written in two ways finds its usual form in the store.
        self._variants.add(altered)
        self._variants.add(named)

    def add_graph(self, graph: NamedNode) -> None:
        """Makes a graph known, even while nothing is asserted in it."""
        self._store.add_graph(graph)

    def apply(self, added: Iterable[Statement], removed: Iterable[Statement]) -> None:
        """Follows a change: statements that were not there, and statements that were."""
        self._variants.remove(map(_as_quad, removed))
        self._variants.add(map(_as_quad, added))

    def query(
        self,
        text: str,
        prefixes: Mapping[str, str] | None = None,
        graph: NamedNode | None = None,
        base: str | None = None,
    ) -> QueryResult:
        """The answers to a SELECT, ASK, CONSTRUCT or DESCRIBE query.

        Where it names no graph it sees everything, or only the given graph.  Relative IRIs
        are relative to `base`.
        """
        known = {**DECLARED, **(prefixes or {})}
        question = read_query(text, known, self._limits)
        self.check_graphs(question)
        try:
            default = None if question.graphs else graph
            found = self._store.query(
                question.text, prefixes=known, default_graph=default, base_iri=base
            )
            return self._result(question, found, known)
        except SyntaxError as error:
            raise syntax_error(question.text, error) from None
        except (OSError, RuntimeError, ValueError) as error:
            raise QueryError(f"the query could not be evaluated: {error}") from error

    def written(self, quad: Quad) -> Iterable[Quad]:
        """The facts that the store keeps as it keeps this quad, as they are written."""
        return self._variants.sharing(quad)

    def check_graphs(self, question: QueryText) -> None:
        """Refuse a query that names a graph in FROM which is not here."""
        for graph in question.graphs:
            if not self._store.contains_named_graph(NamedNode(graph)):
                raise QueryError(f"no graph <{graph}> is loaded", hint=self._graph_hint(graph))

    def _graph_hint(self, graph: str) -> str:
        loaded = [g.value for g in self._store.named_graphs()]
        near = difflib.get_close_matches(graph, loaded, n=1) or loaded[:1]
        if near:
            return f"there is <{near[0]}>; without FROM a query sees everything"
        return "load(path, graph=...) loads into a graph; without FROM a query sees everything"

    def _result(
        self,
        question: QueryText,
        found: QuerySolutions | QueryBoolean | QueryTriples,
        prefixes: Mapping[str, str],
    ) -> QueryResult:
        if isinstance(found, QueryBoolean):
            return Answer(bool(found))
        if isinstance(found, QueryTriples):
            return Triples(tuple(self._written_triples(found)), prefixes)
        names = tuple(variable.value for variable in found.variables)
        return Rows(names, tuple(self._written_rows(question, names, found)), prefixes)

    def _written_rows(
        self, question: QueryText, names: tuple[str, ...], found: QuerySolutions
    ) -> Iterator[Row]:
        if self._variants.is_empty:
            yield from (Row.of(names, tuple(solution)) for solution in found)
            return
        from_facts = [name not in question.computed for name in names]
        written = self._variants.as_written
        for solution in found:
            pairs = zip(solution, from_facts, strict=True)
            terms = [written(t) if keep and t is not None else t for t, keep in pairs]
            yield Row.of(names, terms)

    def _written_triples(self, found: QueryTriples) -> Iterator[Triple]:
        for triple in dict.fromkeys(found):
            if self._variants.is_empty:
                yield triple
            else:
                yield from self._variants.triples_as_written(triple)


def _as_quad(statement: Statement) -> Quad:
    if isinstance(statement, Quad):
        return statement
    return Quad(statement.subject, statement.predicate, statement.object)


def _batches(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces joined into batches of whole lines."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= BATCH_BYTES:
            whole, _, rest = b"".join(held).rpartition(b"\n")
            held, size = [rest], len(rest)
            if whole:
                yield whole + b"\n"
    if size:
        yield b"".join(held)


def _split(batch: bytes) -> tuple[bytes, bytes]:
    """Lines that can be loaded as they are, and lines that need a look at their terms."""
    if not _UNUSUAL.search(batch):
        return batch, b""
    usual: list[bytes] = []
    unusual: list[bytes] = []
    for line in batch.split(b"\n"):
        (unusual if _UNUSUAL.search(line) else usual).append(line)
    return b"\n".join(usual), b"\n".join(unusual)
