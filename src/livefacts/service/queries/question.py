"""The question: one query asked of one version of the facts, and its result.

The answers are found as ids, all of them, within the bounds that were set; terms are made of
them when they are read.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.engine.flow.evaluator import check_expression
from livefacts.engine.queries.evaluation import Evaluation
from livefacts.engine.queries.query_bounds import Bounds
from livefacts.engine.queries.query_terms import QueryTerms
from livefacts.engine.queries.solutions import UNBOUND, Ids, Solutions, together
from livefacts.errors import QueryError
from livefacts.language.algebra import (
    BLANK,
    Basic,
    Both,
    Chosen,
    Dataset,
    DistinctRows,
    Grouped,
    Listed,
    Ordered,
    Pattern,
    Query,
    ReducedRows,
    Slice,
    TripleTerm,
    Where,
    With,
    functions_in,
)
from livefacts.language.expressions import Call, Constant
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import DECLARED
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.results import Answer, IdRows, QueryResult, Rows, Triples, row_type
from livefacts.store.versions.snapshots import GraphSnapshots
from livefacts.syntax.sparql.query_shapes import QueryShape, ShapeKey, shape_of

Prefixes = Mapping[str, str]
MODIFIERS = (Slice, DistinctRows, ReducedRows, Chosen, Ordered, Grouped)


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a query is asked: within which bounds, with values for which variables."""

    timeout: float | None = None
    memory: int | None = None
    limit_rows: int | None = None
    bindings: Mapping[str, Term] = field(default_factory=dict)


NO_OPTIONS = QueryOptions()


def ask(
    text: str,
    prefixes: Prefixes,
    version: FactVersion,
    options: QueryOptions = NO_OPTIONS,
    graph: NamedNode | None = None,
    base: str = "",
) -> QueryResult:
    """The answers to a SELECT, ASK, CONSTRUCT or DESCRIBE query.

    Where it names no graph it sees everything, or only the given graph.  Relative IRIs
    are relative to `base`.
    """
    known = {**DECLARED, **prefixes}
    shape = shape_of(text, known, base)
    if _is_plain(shape):
        question = Question(shape.query, version, options, graph, known, shape.constants)
    else:
        question = Question(shape.bound, version, options, graph, known)
    return question.result()


_PLAIN: dict[ShapeKey, bool] = {}
"""The shapes of queries that were asked, and whether they are plain."""
MOST_SHAPES = 1024


def _is_plain(shape: QueryShape) -> bool:
    """Whether a query has constants in triple patterns alone: they are looked up in place."""
    found = _PLAIN.get(shape.key)
    if found is None:
        if len(_PLAIN) >= MOST_SHAPES:
            _PLAIN.clear()
        check_functions(shape.query)
        found = _PLAIN[shape.key] = _has_triples_alone(shape.query)
    return found


def check_functions(query: Query) -> None:
    """Refuse a query with a function that nobody knows, before there is a row."""
    for name in functions_in(query):
        check_expression(Call(name, (Constant(Literal("")),)), None)


def _has_triples_alone(query: Query) -> bool:
    if query.template or query.targets or query.dataset is not None:
        return False
    pattern = query.pattern
    while isinstance(pattern, Slice | DistinctRows | ReducedRows | Chosen):
        pattern = pattern.of
    if not isinstance(pattern, Basic):
        return False
    slots = [slot for atom in pattern.atoms for slot in atom.slots]
    are_triples = all(isinstance(atom, TripleAtom) for atom in pattern.atoms)
    return are_triples and not any(isinstance(slot, TripleTerm) for slot in slots)


class Question:
    """A query and the version that it is asked of."""

    def __init__(
        self,
        query: Query,
        version: FactVersion,
        options: QueryOptions,
        graph: NamedNode | None,
        prefixes: Prefixes,
        constants: Sequence[Term] = (),
    ) -> None:
        self._query = query
        self._version = version
        self._options = options
        self._prefixes = prefixes
        self._bounds = Bounds(options.timeout, options.memory)
        self._terms = QueryTerms(version.terms, constants)
        graphs = self._graphs(graph)
        self._evaluation = Evaluation(graphs, self._terms, self._bounds, query.base)

    def result(self) -> QueryResult:
        """The answers."""
        match self._query.form:
            case "SELECT":
                return self._rows()
            case "ASK":
                return Answer(any(piece.count for piece in self._pieces(())))
            case "CONSTRUCT":
                return self._triples(self._constructed())
            case _:
                return self._triples(self._described())

    # what it is asked of

    def _graphs(self, graph: NamedNode | None) -> GraphSnapshots:
        dataset = self._query.dataset
        if dataset is None:
            if graph is None:
                return self._version.graphs
            return self._version.seen_from((self._graph_id(graph),), None)
        check_graphs(dataset, self._version)
        default, named = (
            tuple(self._graph_id(each) for each in graphs)
            for graphs in (dataset.default, dataset.named)
        )
        return self._version.seen_from(default, named)

    def _graph_id(self, graph: Term) -> int:
        return self._terms.encode_one(graph)

    # rows

    def _pieces(self, names: tuple[str, ...]) -> Iterator[Solutions]:
        bindings = self._options.bindings
        pattern = self._query.pattern
        if bindings:
            pattern = _with_bindings(pattern, bindings)
        return self._evaluation.pieces(pattern, names)

    def _rows(self) -> Rows:
        names, most = self._query.selected, self._options.limit_rows
        pieces, count, is_complete = [], 0, True
        for piece in self._pieces(names):
            rows = piece.expanded()
            if most is not None and count + rows.count > most:
                rows, is_complete = rows.at(slice(0, most - count)), False
            pieces.append(rows)
            count += rows.count
            self._bounds.room(count * max(1, len(names)))
            if not is_complete:
                break
        found = together(pieces)
        columns = np.empty((len(names), found.count), np.int32)
        for column, name in zip(columns, names, strict=True):
            column[:] = found.column(name)
        made = IdRows(columns, self._terms, row_type(names))
        return Rows(names, made, self._prefixes, is_complete)

    # triples

    def _triples(self, rows: Ids) -> Triples:
        return Triples(IdRows(rows.T, self._terms, lambda terms: Triple(*terms)), self._prefixes)

    def _constructed(self) -> Ids:
        """The triples that a template makes of the rows, each once."""
        template = self._query.template
        names = {v.name for atom in template for v in atom.slots if isinstance(v, Variable)}
        made = [np.zeros((0, 3), np.int32)]
        for piece in self._pieces(tuple(names)):
            rows = piece.expanded()
            nodes: dict[str, Ids] = {}
            for atom in template:
                columns = [self._filled(slot, rows, nodes) for slot in atom.slots]
                made.append(np.column_stack(columns))
        return _each_once(self._statements(np.concatenate(made)))

    def _filled(self, slot: object, rows: Solutions, nodes: dict[str, Ids]) -> Ids:
        """The terms of a template for each row; a blank node is a new one for each."""
        if not isinstance(slot, Variable):
            return np.full(rows.count, self._terms.encode_one(slot), np.int32)  # type: ignore[arg-type]
        if not slot.name.startswith(BLANK):
            return rows.column(slot.name)
        if slot.name not in nodes:
            nodes[slot.name] = self._terms.encode(BlankNode() for _ in range(rows.count))
        return nodes[slot.name]

    def _statements(self, rows: Ids) -> Ids:
        """The triples that RDF knows."""
        return rows[self._terms.are_statements(rows)]

    def _described(self) -> Ids:
        """What is said of each thing, and of the blank nodes that this leads to."""
        targets = self._query.targets
        names = tuple(slot.name for slot in targets if isinstance(slot, Variable))
        found = [self._terms.encode_one(s) for s in targets if not isinstance(s, Variable)]
        for piece in self._pieces(names) if names else ():
            found += np.unique([piece.column(name) for name in names]).tolist()
        return self._evaluation.statements_about([each for each in found if each != UNBOUND])


def check_graphs(dataset: Dataset | None, version: FactVersion) -> None:
    """Refuse a query that names a graph in FROM which nobody has loaded."""
    for graph in () if dataset is None else (*dataset.default, *dataset.named):
        if version.terms.find(graph) not in version.graphs.named:
            name = graph.value  # type: ignore[union-attr]
            loaded = [each.value for each in version.graph_names()]
            near = difflib.get_close_matches(name, loaded, n=1) or loaded[:1]
            hint = "load(path, graph=...) loads into a graph; without FROM a query sees everything"
            if near:
                hint = f"there is <{near[0]}>; without FROM a query sees everything"
            raise QueryError(f"no graph <{name}> is loaded", hint=hint)


def _each_once(rows: Ids) -> Ids:
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)]


def _with_bindings(pattern: Pattern, bindings: Mapping[str, Term]) -> Pattern:
    """The pattern with values for some variables, beside what WHERE asks for."""
    if isinstance(pattern, MODIFIERS) or (isinstance(pattern, With | Where) and _groups(pattern)):
        return replace(pattern, of=_with_bindings(pattern.of, bindings))
    variables = tuple(Variable(name.lstrip("?$")) for name in bindings)
    return Both(Listed(variables, (tuple(bindings.values()),)), pattern)


def _groups(pattern: Pattern) -> bool:
    """Whether values and conditions are of groups, not of the rows of WHERE."""
    while isinstance(pattern, With | Where):
        pattern = pattern.of
    return isinstance(pattern, Grouped)
