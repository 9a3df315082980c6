"""Update operations: what a SPARQL Update inserts and deletes, and where it looks.

LOAD, which reaches out of the process, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from pyoxigraph import DefaultGraph, NamedNode

from livefacts.language.algebra import BLANK, Pattern, TripleTerm, variables_in_slots
from livefacts.language.formula import Slot
from livefacts.syntax.sparql.lexemes import Lexeme, QueryMistakeError, QueryRefusedError
from livefacts.syntax.sparql.query_forms import triples_alone

GraphName: TypeAlias = NamedNode | DefaultGraph | None
"""A graph; None stands for all named ones."""


class QuadTemplate(NamedTuple):
    """A quad with variables; blank nodes are variables, too.  No graph: the default graph."""

    subject: Slot | TripleTerm
    predicate: Slot
    object: Slot | TripleTerm
    graph: Slot | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """Templates of quads that go and come, and the query that fills in their variables."""

    deletes: tuple[QuadTemplate, ...] = ()
    inserts: tuple[QuadTemplate, ...] = ()
    where: str | None = None
    """A SELECT; None if the templates are the data."""
    graph: NamedNode | None = None
    """The graph that WITH names, in which the pattern is looked for."""
    names_graphs: bool = False
    """Whether WITH or USING names the graphs in which it is looked for."""


@dataclass(frozen=True, slots=True)
class GraphOperation:
    """Graphs that are emptied, and one whose triples then go into another."""

    emptied: tuple[GraphName, ...] = ()
    source: GraphName = None
    target: GraphName = None
    must_exist: bool = False
    """Whether it is an error if there is nothing in the source."""


class Quads(NamedTuple):
    """A block of quads, and where its braces are."""

    templates: tuple[QuadTemplate, ...]
    opening: Lexeme
    closing: Lexeme

    def without_new_nodes(self) -> tuple[QuadTemplate, ...]:
        """The templates: a new node cannot be deleted."""
        if any(name.startswith(BLANK) for name in self._names()):
            raise QueryRefusedError(
                "a blank node cannot be deleted by name here",
                self.opening.start_pos,
                "find it with a variable and WHERE; Reasoner.remove and patches take "
                "the labels that facts show",
            )
        return self.templates

    def without_variables(self, form: str) -> Quads:
        """The same block, which is data."""
        for name in self._names():
            if not name.startswith(BLANK):
                raise QueryMistakeError(
                    f"Variables are not allowed in {form}, and there is ?{name}",
                    self.opening.start_pos,
                    "INSERT { } WHERE { } and DELETE { } WHERE { } have variables",
                )
        return self

    def inside(self, graph: NamedNode | None) -> Quads:
        """The same block, its triples in the graph that WITH names."""
        if graph is None:
            return self
        return self._replace(
            templates=tuple(t if t.graph else t._replace(graph=graph) for t in self.templates)
        )

    def _names(self) -> list[str]:
        slots = [slot for quad in self.templates for slot in quad if slot is not None]
        return [variable.name for variable in variables_in_slots(slots)]


class UpdateDraft(NamedTuple):
    """An operation whose query is still a part of the text: what is between its braces."""

    operation: Operation | GraphOperation
    opening: Lexeme | None = None
    closing: Lexeme | None = None
    graphs: tuple[tuple[str, NamedNode], ...] = ()
    """What USING names."""
    pattern: Pattern | None = None

    def drafted(self, text: str, declared: list[tuple[int, str]]) -> Operation | GraphOperation:
        """The operation, with the query as a text of its own."""
        operation = self.operation
        if self.opening is None or self.closing is None or isinstance(operation, GraphOperation):
            return operation
        first, last = self.opening.start_pos, self.closing.start_pos + 1
        prologue = "".join(f"{each}\n" for position, each in declared if position < first)
        named = {"default": "FROM", "named": "FROM NAMED"}
        graphs = "".join(f"{named[kind]} {graph} " for kind, graph in self.graphs)
        where = f"{prologue}SELECT * {graphs}WHERE {text[first:last]}"
        names_graphs = bool(self.graphs) or operation.graph is not None
        return replace(operation, where=where, names_graphs=names_graphs)


def update(children: list[Any]) -> list[UpdateDraft]:
    return [each for each in children if each is not None]


def insert_data(children: list[Any]) -> UpdateDraft:
    return UpdateDraft(Operation(inserts=children[1].without_variables("INSERT DATA").templates))


def delete_data(children: list[Any]) -> UpdateDraft:
    return UpdateDraft(Operation(children[1].without_variables("DELETE DATA").without_new_nodes()))


def delete_where(children: list[Any]) -> UpdateDraft:
    quads = children[1]
    return UpdateDraft(Operation(quads.without_new_nodes()), quads.opening, quads.closing)


def modify(children: list[Any]) -> UpdateDraft:
    graph, *clauses, graphs, _, (opening, group, closing) = children
    blocks = {word: quads.inside(graph) for word, quads in filter(None, clauses)}
    deletes = blocks["DELETE"].without_new_nodes() if "DELETE" in blocks else ()
    inserts = blocks["INSERT"].templates if "INSERT" in blocks else ()
    operation = Operation(deletes, inserts, graph=graph)
    return UpdateDraft(operation, opening, closing, tuple(graphs), group.whole)


def with_graph(children: list[Any]) -> Any:
    return children[1].value


def delete_clause(children: list[Any]) -> tuple[str, Quads]:
    word, quads = children
    return word.type, quads


insert_clause = delete_clause


def using(children: list[Any]) -> list[tuple[str, NamedNode]]:
    return children


def using_default(children: list[Any]) -> tuple[str, NamedNode]:
    return "default", children[0].value


def using_named(children: list[Any]) -> tuple[str, NamedNode]:
    return "named", children[0].value


def block(children: list[Any]) -> list[Any]:
    return children


def quads(children: list[Any]) -> Quads:
    opening, *parts, closing = children
    found: list[QuadTemplate] = []
    for part in parts:
        graph, atoms = part if isinstance(part, tuple) else (None, part or [])
        for atom in triples_alone(atoms, opening):
            found.append(QuadTemplate(atom.subject, atom.predicate, atom.object, graph))
    return Quads(tuple(found), opening, closing)


def quads_in(children: list[Any]) -> tuple[Any, list[Any]]:
    name, atoms = children
    return name, atoms or []


def emptied(children: list[Any]) -> UpdateDraft:
    """CLEAR and DROP: a graph without triples is none."""
    which = children[-1]
    graphs = {"DEFAULT": (DefaultGraph(),), "NAMED": (None,), "ALL": (None, DefaultGraph())}
    return UpdateDraft(GraphOperation(graphs.get(which.type) or (which.value,)))


def created(children: list[Any]) -> UpdateDraft:
    """CREATE: a graph is there as soon as something is inserted into it."""
    del children
    return UpdateDraft(GraphOperation())


def transferred(children: list[Any]) -> UpdateDraft:
    """ADD, COPY and MOVE."""
    word, silent, *ends = children
    source, target = (DefaultGraph() if end.type == "DEFAULT" else end.value for end in ends)
    if source == target:
        return UpdateDraft(GraphOperation())
    gone = {"ADD": (), "COPY": (target,), "MOVE": (target, source)}[word.type]
    return UpdateDraft(GraphOperation(gone, source, target, silent is None))


def refused(children: list[Any]) -> UpdateDraft:
    hint = "load the file with Reasoner.load, or livefacts add"
    raise QueryRefusedError("LOAD is refused", children[0].start_pos, hint)
