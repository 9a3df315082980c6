"""The W3C tests of SPARQL queries, replayed: triples come one at a time, and go in reverse.

After every triple the answers must be those of a fresh evaluation, and when all triples are
there, those that the W3C expects.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyoxigraph import (
    BlankNode,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    QueryTriples,
    Store,
    parse,
    parse_query_results,
)

from livefacts.engine.flow.bags import UNBOUND
from livefacts.engine.flow.dataflow import Dataflow, RunningQuery
from livefacts.errors import QueryError
from livefacts.language.arrival_times import refuse_times
from livefacts.model.namespaces import DECLARED
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.service.continuous.query_plans import flow_plan
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.sparql.query_shapes import shape_of

SPARQL = "w3c-rdf-tests/sparql"
FOLLOWED = 376
"""At least so many tests are followed change by change."""

KNOWN_FAILURES = {
    "sparql10/open-world/date-2": "pyoxigraph tells dates with and without a zone apart",
}
"""The folder and name of a test -> why it fails; a test that is listed and passes fails."""

VALUES = "a fresh evaluation takes values that are written differently for one term"
ZERO = "a fresh evaluation leads no path of length zero to a constant outside of the graph"
REDUCED = "a fresh evaluation takes some of the duplicates out that REDUCED allows"
GRAPHS = "a fresh evaluation knows the variable of GRAPH inside of its group already"
NO_REFERENCE = {
    "sparql10/graph/graph-optional": GRAPHS,
    "sparql10/graph/graph-variable-scope": GRAPHS,
    "sparql11/negation/graph-minus": GRAPHS,
    "sparql10/distinct/distinct-1": VALUES,
    "sparql10/distinct/distinct-9": VALUES,
    "sparql10/expr-builtin/dawg-str-1": VALUES,
    "sparql10/expr-builtin/dawg-str-2": VALUES,
    "sparql10/expr-builtin/sameTerm-eq": VALUES,
    "sparql10/expr-builtin/sameTerm-not-eq": VALUES,
    "sparql10/expr-builtin/sameTerm-simple": VALUES,
    "sparql10/expr-equals/eq-graph-1": VALUES,
    "sparql10/expr-equals/eq-graph-2": VALUES,
    "sparql10/open-world/open-eq-01": VALUES,
    "sparql10/reduced/reduced-1": REDUCED,
    "sparql10/reduced/reduced-2": REDUCED,
    "sparql11/property-path/pp02": ZERO,
    "sparql11/property-path/pp28a": ZERO,
    "sparql11/property-path/pp37": ZERO,
    "sparql11/property-path/zero_or_more_set_end": ZERO,
    "sparql11/property-path/zero_or_more_set_start": ZERO,
    "sparql11/property-path/zero_or_one_set_end": ZERO,
    "sparql11/property-path/zero_or_one_set_start": ZERO,
}
"""Tests on whose way fresh evaluations cannot be compared with; the end is as the W3C says."""

ENTRIES = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
    PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    SELECT ?entry ?query ?data ?result ?action {
      ?manifest mf:entries/rdf:rest*/rdf:first ?entry .
      ?entry a mf:QueryEvaluationTest ; mf:action ?action ; mf:result ?result .
      ?action qt:query ?query .
      OPTIONAL { ?action qt:data ?data } }
    """
GRAPH_DATA = NamedNode("http://www.w3.org/2001/sw/DataAccess/tests/test-query#graphData")
RESULT_SET = """
    PREFIX rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#>
    SELECT ?solution ?variable ?value {
      ?solution rs:binding ?binding . ?binding rs:variable ?variable ; rs:value ?value }
    """
TRUTH = (
    "PREFIX rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> "
    "ASK { { ?x rs:boolean true } UNION { ?x rs:solution ?empty } }"
)


@dataclass(frozen=True, slots=True)
class QueryTest:
    """One entry of a manifest."""

    query: Path
    data: Path | None
    result: Path
    graphs: tuple[Path, ...] = ()

    @property
    def base(self) -> str:
        return f"http://w3c.test/{self.query.name}"


@cache
def queries() -> dict[str, QueryTest]:
    """All tests of queries; none where the third-party data is not there."""
    root = Path(os.environ.get("LIVEFACTS_TEST_DATA", "")) / SPARQL
    folders = sorted(path.parent for path in root.glob("sparql1?/*/manifest.ttl"))
    return {name: test for folder in folders for name, test in _entries(folder)}


def _entries(folder: Path) -> Iterator[tuple[str, QueryTest]]:
    store = Store()
    store.load(path=str(folder / "manifest.ttl"), base_iri="http://w3c.test/manifest.ttl")
    for row in store.query(ENTRIES):  # type: ignore[union-attr]
        entry, query, data, result, action = row  # type: ignore[misc]
        name = f"{folder.parent.name}/{folder.name}/{entry.value.partition('#')[2]}"
        query, data, result = (
            folder / each.value.removeprefix("http://w3c.test/") if each else None
            for each in (query, data, result)
        )
        yield name, QueryTest(query, data, result, _graphs(folder, store, action, query))


def _graphs(folder: Path, store: Store, action: Any, query: Path) -> tuple[Path, ...]:
    """The named graphs of a test, and those of its FROM."""
    asserted = {
        quad.object.value
        for quad in store.quads_for_pattern(action, GRAPH_DATA, None)
        if isinstance(quad.object, NamedNode)
    }
    dataset = shape_of(query.read_text(encoding="utf-8"), {}, "http://w3c.test/").bound.dataset
    if dataset is not None:
        asserted |= {graph.value for graph in (*dataset.default, *dataset.named)}  # type: ignore[union-attr]
    names = sorted(name.rpartition("/")[2] for name in asserted)
    return tuple(folder / name for name in dict.fromkeys(names))


class Replay:
    """A query that is followed, and a store to ask it of anew."""

    def __init__(self, test: QueryTest, has_reference: bool = True) -> None:
        self._test = test
        self._has_reference = has_reference
        self.differences = 0
        self._text = test.query.read_text(encoding="utf-8")
        self._dictionary = Dictionary()
        self._flow = Dataflow(self._dictionary)
        plan = plan_of(self._text, test.base)
        self._standing: RunningQuery = self._flow.add(plan)
        self._variables = plan.variables
        self._store = Store()

    def run(self) -> None:
        """Every triple comes, and every triple goes."""
        self._compare()
        quads = quads_of(self._test)
        for quad in quads:
            self._store.add(quad)
            self._move(added=[quad])
        assert self._answers() == expected(self._test, self._variables), "in the end"
        for quad in reversed(quads):
            self._store.remove(quad)
            if next(self._store.quads_for_pattern(None, None, None, quad.graph_name), None) is None:
                self._store.remove_graph(quad.graph_name)
            self._move(removed=[quad])
        assert self._standing.answers == self._flow.add(self._standing.plan).answers

    def _move(self, added: Any = (), removed: Any = ()) -> None:
        triples = [self._ids(asserted, 3) for asserted in (added, removed)]
        self._flow.apply(*triples, *(self._ids(asserted, 4) for asserted in (added, removed)))
        self._compare()

    def _ids(self, quads: Any, width: int) -> Any:
        """The quads of the default graph as triples, or those of named graphs."""
        is_named = width == 4
        wanted = [q for q in quads if isinstance(q.graph_name, NamedNode) == is_named]
        terms = [term for quad in wanted for term in (*quad.triple, quad.graph_name)[:width]]
        return self._dictionary.encode(terms).reshape(-1, width)

    def _compare(self) -> None:
        found = self._store.query(self._text, base_iri=self._test.base)
        if self._has_reference:
            assert self._answers() == bag(found, self._variables), f"{len(self._store)} triples"
        else:
            self.differences += self._answers() != bag(found, self._variables)

    def _answers(self) -> Counter[Any]:
        found: Counter[Any] = Counter()
        for row, count in self._standing.answers.items():
            terms = [None if t == UNBOUND else self._dictionary.decode_one(t) for t in row]
            found[tuple(map(shown, terms))] += count
        return found


NOTHING = np.zeros((0, 3), np.int32)


def quads_of(test: QueryTest) -> list[Any]:
    """The data of a test, in their order."""
    found = set() if test.data is None else set(_read(test.data))
    for path in test.graphs:
        name = NamedNode(f"http://w3c.test/{path.name}")
        found |= {Quad(*quad.triple, name) for quad in _read(path)}
    return sorted(found, key=str)


def _read(path: Path) -> Iterator[Quad]:
    base = f"http://w3c.test/{path.name}"
    yield from parse(path=str(path), base_iri=base, rename_blank_nodes=True)


def bag(found: Any, variables: Sequence[str]) -> Counter[Any]:
    if isinstance(found, QueryBoolean):
        return Counter([()] if found else [])
    if isinstance(found, QueryTriples):
        return Counter(tuple(map(shown, triple)) for triple in dict.fromkeys(found))
    assert isinstance(found, QuerySolutions)
    # By name: the standard leaves the order of the columns of SELECT * open.
    return Counter(tuple(shown(row[name]) for name in variables) for row in found)


def shown(term: Any) -> str:
    """A term as text; blank nodes are all alike, values are in one form."""
    if term is None:
        return ""
    return "_:" if isinstance(term, BlankNode) else str(stored_form(term))


@cache
def stored_form(term: Any) -> Any:
    """The term that pyoxigraph hands back for this one: values are in one form."""
    store = Store()
    store.add(Quad(NamedNode("x:s"), NamedNode("x:p"), term))
    return next(iter(store)).object


def expected(test: QueryTest, variables: tuple[str, ...]) -> Counter[Any]:
    """What the W3C expects."""
    formats = {".srx": QueryResultsFormat.XML, ".srj": QueryResultsFormat.JSON}
    if test.result.suffix in formats:
        found = parse_query_results(path=str(test.result), format=formats[test.result.suffix])
        if isinstance(found, QueryBoolean):
            return Counter([()] if found else [])
        names = [variable.value for variable in found.variables]
        rows = ([*row] for row in found)
        return Counter(
            tuple(shown(row[names.index(name)]) if name in names else "" for name in variables)
            for row in rows
        )
    store = Store()
    store.load(path=str(test.result), base_iri=f"http://w3c.test/{test.result.name}")
    if variables == ("subject", "predicate", "object") and "result-set#" not in str(list(store)):
        return Counter(tuple(map(shown, quad.triple)) for quad in store)
    if not variables:
        return Counter([()] if store.query(TRUTH) else [])
    rows_by_solution: dict[Any, dict[str, Any]] = {}
    for solution, variable, value in store.query(RESULT_SET):  # type: ignore[union-attr, misc]
        rows_by_solution.setdefault(solution, {})[variable.value] = value
    return Counter(
        tuple(shown(row.get(name)) for name in variables) for row in rows_by_solution.values()
    )


NOT_FOLLOWED = {
    "sparql10/expr-builtin/case-insensitive-booleans": "pyoxigraph does not read it, either",
    "sparql11/functions/bnode": "BNODE gives another value each time",
    "sparql11/functions/now": "NOW gives another value each time",
    "sparql11/functions/rand": "RAND gives another value each time",
    "sparql11/functions/struuid": "STRUUID gives another value each time",
    "sparql11/functions/uuid": "UUID gives another value each time",
}
"""How the names of tests begin that are skipped, and why; any other form is to be followed."""
UNREAD = {"sparql10/expr-builtin/case-insensitive-booleans"}
"""Tests that pyoxigraph cannot read; `test_w3c_answers` has them."""


@cache
def plan_of(text: str, base: str) -> FlowPlan:
    """The flow of a query whose relative IRIs are relative to a base."""
    return flow_plan(refuse_times(shape_of(text, DECLARED, base).bound), text)


def is_followed(test: QueryTest) -> bool:
    """Whether a query is followed change by change; what is refused is refused by `query`, too."""
    try:
        plan_of(test.query.read_text(encoding="utf-8"), test.base)
    except QueryError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(queries()) or ["no data"])
def test_a_query_is_followed_as_the_w3c_says(name: str, third_party_data: Path) -> None:
    test = queries()[name]
    if not is_followed(test) or name in UNREAD:
        reasons = [why for names, why in NOT_FOLLOWED.items() if name.startswith(names)]
        assert reasons, "a form that was followed is refused"
        pytest.skip(reasons[0])
    if name in KNOWN_FAILURES:
        with pytest.raises(AssertionError):
            Replay(test).run()
        pytest.xfail(KNOWN_FAILURES[name])
    replay = Replay(test, has_reference=name not in NO_REFERENCE)
    replay.run()
    assert bool(replay.differences) == (name in NO_REFERENCE)


def test_nearly_all_queries_over_one_graph_are_followed(third_party_data: Path) -> None:
    assert sum(map(is_followed, queries().values())) >= FOLLOWED


def test_every_known_failure_is_the_name_of_a_test(third_party_data: Path) -> None:
    assert queries().keys() >= {*KNOWN_FAILURES, *NO_REFERENCE}


def test_blank_nodes_are_alike_and_other_terms_are_not() -> None:
    assert shown(BlankNode("a")) == shown(BlankNode("b")) != shown(None)
