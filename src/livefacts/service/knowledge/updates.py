"""Updates: SPARQL Update, as one change of what is asserted.

A WHERE sees everything that is true, conclusions too, after the operations before it.
What the operations delete and insert is netted in their order: the last one to name a
statement counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from livefacts.errors import QueryError
from livefacts.language.algebra import BLANK, Dataset, TripleTerm
from livefacts.language.formula import Variable
from livefacts.service.knowledge.draft import Draft, draft_of, trial
from livefacts.service.queries.question import QueryOptions
from livefacts.service.queries.results import QueryResult, Rows
from livefacts.syntax.sparql.query_reader import parse_update
from livefacts.syntax.sparql.update_operations import (
    GraphName,
    GraphOperation,
    Operation,
    QuadTemplate,
)

if TYPE_CHECKING:
    from livefacts.service.knowledge.state import State

Statement: TypeAlias = Triple | Quad
Binding: TypeAlias = Mapping[str, object]
Net: TypeAlias = dict[Statement, bool]
"""Statements that an update names, and whether they are asserted after it."""


@dataclass(frozen=True, slots=True)
class UpdateTarget:
    """What an update needs to know of the reasoner that it changes."""

    ask: Callable[[str, NamedNode | None], QueryResult]
    """Ask a query of everything that is true, or of one graph."""
    after: Callable[[Net], AbstractContextManager[object]]
    """The world as it will be after these changes, for a while."""
    contents: Callable[[GraphName], Iterable[Statement]]
    """What a graph asserts, or all named graphs."""
    scope: Callable[[], str]
    """A new scope for blank nodes."""


def drafted_update(state: State, text: str, base: str, dataset: Dataset | None) -> Draft:
    """The change that an update comes down to; `dataset` is where its WHERE looks."""
    prefixes = state.known_prefixes()
    operations = parse_update(text, prefixes, base)
    if dataset is not None and any(
        isinstance(each, Operation) and each.names_graphs for each in operations
    ):
        raise QueryError(
            "the update has WITH or USING, and its graphs are named beside it, too",
            hint="name them in one of both places",
        )
    target = UpdateTarget(
        partial(state.ask, prefixes=prefixes, options=QueryOptions(dataset=dataset, base=base)),
        partial(trial, state),
        lambda graph: _asserted_in(state, graph),
        lambda: state.scope("u").decode(),
    )
    return draft_of(state, net_of(operations, target))


def _asserted_in(state: State, graph: GraphName) -> Iterator[Statement]:
    # What the default graph asserts is known to a whole version alone.
    return state.versions.version(whole=isinstance(graph, DefaultGraph)).asserted_in(graph)


def net_of(operations: Iterable[Operation | GraphOperation], world: UpdateTarget) -> Net:
    """What the operations come down to, one after the other."""
    net: Net = {}
    for operation in operations:
        is_data = isinstance(operation, Operation) and operation.where is None
        if is_data or not net:
            _run(operation, world, net)
            continue
        with world.after(net):
            found = dict(net)
            _run(operation, world, found)
        net = found
    return net


def _run(operation: Operation | GraphOperation, world: UpdateTarget, net: Net) -> None:
    if isinstance(operation, GraphOperation):
        _transfer(operation, world, net)
        return
    bindings: list[Binding] = [{}]
    if operation.where is not None:
        rows = world.ask(operation.where, operation.graph)
        assert isinstance(rows, Rows), "the query of an update is a SELECT"
        bindings = [row.as_dict() for row in rows]
    deleted = list(_deleted(operation, bindings))
    inserted = list(_inserted(operation, bindings, world.scope()))
    net.update(dict.fromkeys(deleted, False))
    net.update(dict.fromkeys(inserted, True))


def _transfer(operation: GraphOperation, world: UpdateTarget, net: Net) -> None:
    """Empty graphs, and put what another one asserted into one."""
    target = operation.target
    moved = [] if target is None else list(world.contents(operation.source))
    if operation.must_exist and not moved:
        raise QueryError(
            f"there is nothing in the graph {operation.source}",
            hint="SILENT takes an empty graph for what it is",
        )
    for name in operation.emptied:
        net.update((statement, False) for statement in world.contents(name))
    for each in moved:
        net[_statement(Quad(each.subject, each.predicate, each.object, target))] = True


def _deleted(operation: Operation, bindings: list[Binding]) -> Iterator[Statement]:
    for binding in bindings:
        for template in operation.deletes:
            quad = _filled(template, binding, None)
            if quad is not None:
                yield _statement(quad)


def _inserted(operation: Operation, bindings: list[Binding], scope: str) -> Iterator[Statement]:
    for number, binding in enumerate(bindings, 1):
        mine = scope if operation.where is None else f"{scope}-{number}"
        nodes = _Nodes(f"{mine}_")
        for template in operation.inserts:
            quad = _filled(template, binding, nodes)
            if quad is not None:
                yield _statement(quad)


@dataclass(slots=True)
class _Nodes:
    """Blank nodes of a template: new ones for every solution."""

    prefix: str
    made: dict[str, BlankNode] = field(default_factory=dict)

    def node(self, label: str) -> BlankNode:
        if label not in self.made:
            self.made[label] = BlankNode(f"{self.prefix}{len(self.made) + 1}")
        return self.made[label]


def _filled(template: QuadTemplate, binding: Binding, nodes: _Nodes | None) -> Quad | None:
    """The quad that a template makes; None if it makes none, or none that RDF knows."""
    slots = template[:3] if template.graph is None else template
    terms = [_term(slot, binding, nodes) for slot in slots]
    try:
        return None if None in terms else Quad(*terms)  # type: ignore[arg-type]
    except TypeError:
        return None


def _term(slot: object, binding: Binding, nodes: _Nodes | None) -> object:
    if isinstance(slot, Variable):
        is_new = nodes is not None and slot.name.startswith(BLANK)
        return nodes.node(slot.name) if is_new else binding.get(slot.name)  # type: ignore[union-attr]
    if isinstance(slot, TripleTerm):
        parts = [_term(part, binding, nodes) for part in slot.slots]
        try:
            return None if None in parts else Triple(*parts)  # type: ignore[arg-type]
        except TypeError:
            return None
    return slot


def _statement(quad: Quad) -> Statement:
    return quad.triple if isinstance(quad.graph_name, DefaultGraph) else quad
