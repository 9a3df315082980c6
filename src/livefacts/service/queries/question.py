"""The question: one query asked of one version of the facts, and its result.

The answers are found as ids, all of them, within the bounds that were set; terms are made of
them when they are read.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.engine.flow.evaluator import check_expression
from livefacts.engine.queries.bounds import Bounds
from livefacts.engine.queries.evaluation import MODIFIERS, Evaluation
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_keys import row_keys
from livefacts.engine.queries.solutions import UNBOUND, Ids, Solutions, together
from livefacts.errors import InputError, QueryError
from livefacts.language.algebra import (
    BLANK,
    Basic,
    Both,
    Chosen,
    Dataset,
    DistinctRows,
    Grouped,
    Listed,
    Optionally,
    Ordered,
    Pattern,
    Query,
    ReducedRows,
    Slice,
    TripleTerm,
    Where,
    With,
    Without,
    calls_in,
    parts_in,
)
from livefacts.language.arrival_times import refuse_times
from livefacts.language.expressions import Call, Constant
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import DECLARED
from livefacts.service.queries.fact_versions import FactVersion
from livefacts.service.queries.plan_joins import FutureJoins
from livefacts.service.queries.plan_source import PlanSource, asked_names
from livefacts.service.queries.plan_tree import PlanTree
from livefacts.service.queries.results import Answer, IdRows, QueryResult, Rows, Triples, row_type
from livefacts.store.versions.snapshots import GraphSnapshots
from livefacts.syntax.sparql.query_shapes import SHORT, QueryShape, ShapeKey, shape_of

Prefixes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a query is asked: within which bounds, with values for which variables."""

    timeout: float | None = None
    memory: int | None = None
    limit_rows: int | None = None
    bindings: Mapping[str, Term] = field(default_factory=dict)
    dataset: Dataset | None = None
    """The graphs that are asked, whatever FROM says."""
    stop: threading.Event | None = None
    """Set by another thread when the query is to be given up."""
    base: str = ""
    """What relative IRIs are relative to."""

    def __post_init__(self) -> None:
        for name, kind in (("timeout", int | float), ("memory", int), ("limit_rows", int)):
            value = getattr(self, name)
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            if value is not None and not (is_number and value >= 0):
                what = "whole number" if kind is int else "number"
                raise InputError(f"{name} is {value!r}", hint=f"give a {what} that is not below 0")


class AskOptions(TypedDict, total=False):
    """The same, as users write it."""

    bindings: Mapping[str, Any] | None
    timeout: float | None
    limit_rows: int | None
    memory: int | None
    dataset: Dataset | None
    stop: threading.Event | None
    base: str


NO_OPTIONS = QueryOptions()


def ask(
    text: str,
    prefixes: Prefixes,
    version: FactVersion,
    options: QueryOptions = NO_OPTIONS,
    graph: NamedNode | None = None,
) -> QueryResult:
    """The answers to a SELECT, ASK, CONSTRUCT or DESCRIBE query."""
    return question_of(text, prefixes, version, options, graph).result()


def question_of(
    text: str,
    prefixes: Prefixes,
    version: FactVersion,
    options: QueryOptions = NO_OPTIONS,
    graph: NamedNode | None = None,
) -> Question:
    """A query that is ready to be asked.

    Where it names no graph it sees everything, or only the given graph.
    """
    known = {**DECLARED, **prefixes}
    shape = shape_of(text, known, options.base)
    is_plain = _is_plain(shape)
    if options.dataset is not None:
        asked = replace(shape.bound, dataset=options.dataset)
        question = Question(asked, version, options, graph, known, text)
    elif is_plain:
        question = Question(shape.query, version, options, graph, known, text, shape.constants)
    else:
        question = Question(shape.bound, version, options, graph, known, text)
    return question


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
        found = _has_triples_alone(shape.query)
        if len(shape.key.text) <= SHORT:
            _PLAIN[shape.key] = found
    return found


def check_functions(query: Query) -> None:
    """Refuse a query with a function that nobody knows, before there is a row."""
    calls = calls_in(query)
    refuse_times(query, calls)
    for call in calls:
        if call.name.startswith("<"):
            check_expression(Call(call.name, (Constant(Literal("")),)), None)


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
        text: str,
        constants: Sequence[Term] = (),
    ) -> None:
        self._query = query
        self._text = text
        self._constants = constants
        self._version = version
        self._options = options
        self._prefixes = prefixes
        self._bounds = Bounds(options.timeout, options.memory, options.stop)
        self._terms = QueryTerms(version.terms, constants, self._bounds)
        graphs = self._graphs(graph)
        self._seen = graphs
        self._evaluation = Evaluation(graphs, self._terms, self._bounds, query.base)
        self._pattern = query.pattern
        if options.bindings:
            _check_names(query, options.bindings)
            self._pattern = _with_bindings(query, options.bindings)

    def plan(self) -> PlanTree:
        """How the answers would be found; nothing is looked for."""
        return self._noted().tree(FutureJoins(self._seen, self._terms))

    def _noted(self, rows: int | None = None, seconds: float | None = None) -> PlanSource:
        notes, prefixes = self._evaluation.notes, self._prefixes
        return PlanSource(
            self._text, prefixes, self._query, self._pattern, self._constants, notes, rows, seconds
        )

    def result(self) -> QueryResult:
        """The answers."""
        match self._query.form:
            case "SELECT":
                return self._rows()
            case "ASK":
                return self._answer()
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
        return self._evaluation.pieces(self._pattern, names)

    def _answer(self) -> Answer:
        value = any(piece.count for piece in self._pieces(()))
        return Answer(value, self._noted(int(value), self._bounds.seconds()))

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
        columns = [found.column(name) for name in names]
        made = IdRows(columns, found.count, self._terms, row_type(names))
        noted = self._noted(found.count, self._bounds.seconds())
        return Rows(names, made, self._prefixes, is_complete, noted)

    # triples

    def _triples(self, rows: Ids) -> Triples:
        most = self._options.limit_rows
        is_complete = most is None or len(rows) <= most
        columns = [np.ascontiguousarray(column) for column in rows[:most].T]
        made = IdRows(columns, len(rows[:most]), self._terms, lambda terms: Triple(*terms))
        noted = self._noted(len(made), self._bounds.seconds())
        return Triples(made, self._prefixes, is_complete, noted)

    def _constructed(self) -> Ids:
        """The triples that a template makes of the rows, each once."""
        template = self._query.template
        made = [np.zeros((0, 3), np.int32)]
        for piece in self._pieces(asked_names(self._query)):
            rows = piece.expanded()
            nodes: dict[str, Ids] = {}
            for atom in template:
                columns = [self._filled(slot, rows, nodes) for slot in atom.slots]
                made.append(np.column_stack(columns))
                self._bounds.room(sum(each.size for each in made))
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
        names = asked_names(self._query)
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
    keys = row_keys(list(rows.T), len(rows))
    _, first = np.unique(keys, return_index=True)
    return rows[np.sort(first)]


def _check_names(query: Query, names: Collection[str]) -> None:
    """Refuse values of variables that a query does not have."""
    known = {part.name for part, _ in parts_in(query) if isinstance(part, Variable)}
    for name in names:
        if name not in known and name not in query.selected:
            hint = difflib.get_close_matches(name, known, n=1)
            raise QueryError(
                f"the query has no variable ?{name}",
                hint=f"did you mean ?{hint[0]}?" if hint else "bindings= are values of variables",
            )


OUTSIDE = (Slice, DistinctRows, ReducedRows, Chosen, Ordered, Grouped)
"""What may be around the WHERE of a query, from the outside in; the same again is an inner query."""


def _with_bindings(query: Query, bindings: Mapping[str, Term]) -> Pattern:
    """The pattern of a query with `VALUES` for some variables at the beginning of WHERE."""
    variables = tuple(Variable(name) for name in bindings)
    listed = Listed(variables, (tuple(bindings.values()),))
    around = OUTSIDE if query.form == "SELECT" else (Slice, Ordered, Grouped)
    return _begun_with(listed, query.pattern, around)


def _begun_with(listed: Listed, pattern: Pattern, around: Sequence[type]) -> Pattern:
    """A pattern whose first part is this; `around` it there may still be such modifiers."""
    match pattern:
        case With() | Where():
            if isinstance(pattern, With) and pattern.variable in listed.variables:
                raise QueryError(
                    f"{pattern.variable} is computed by the query, and cannot be given a value"
                )
            inner = around if _groups(pattern) else ()
            return replace(pattern, of=_begun_with(listed, pattern.of, inner))
        case Optionally() | Without() | Both():
            return replace(pattern, left=_begun_with(listed, pattern.left, ()))
    if type(pattern) in around:
        assert isinstance(pattern, MODIFIERS), "it is around WHERE"
        left = around[list(around).index(type(pattern)) + 1 :]
        return replace(pattern, of=_begun_with(listed, pattern.of, left))
    return Both(listed, pattern)


def _groups(pattern: Pattern) -> bool:
    """Whether values and conditions are of groups, not of the rows of WHERE."""
    while isinstance(pattern, With | Where):
        pattern = pattern.of
    return isinstance(pattern, Grouped)
