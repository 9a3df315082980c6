"""A store of rdflib: its graphs and datasets, read from a reasoner and written to it.

    Graph(store="livefacts")

What a graph adds is asserted, what it removes is no longer asserted, and what it reads is true:
conclusions are there, and go when they follow no longer.  Queries and updates are answered by
livefacts.  Whoever subscribes to the events of the store hears of every triple that becomes true
or ends, derived or not, whoever made the change.

A named graph has what it asserts.  A plain `Graph`, and the union of a dataset, have all that is
true; the default graph of a `Dataset` has what it asserts and the conclusions that no graph asserts.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple
from rdflib.events import Dispatcher
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, Graph
from rdflib.query import Result
from rdflib.store import VALID_STORE, Store, TripleAddedEvent, TripleRemovedEvent
from rdflib.term import BNode, Node, URIRef
from rdflib.term import Variable as RdflibVariable

from livefacts.errors import LivefactsError, QueryError
from livefacts.language.algebra import Dataset
from livefacts.service.change.arguments import as_rdf_term
from livefacts.service.change.rdflib_terms import for_rdflib, triple_for_rdflib
from livefacts.service.continuous.answers import CAME, Change
from livefacts.service.queries.fact_versions import GraphName
from livefacts.service.queries.results import Answer, QueryResult, Rows
from livefacts.service.reasoner.facade import Reasoner

if TYPE_CHECKING:
    from livefacts.service.continuous.watch import Watch
    from livefacts.service.reasoner.fact_snapshot import FactSnapshot

Pattern: TypeAlias = tuple[Any, Any, Any]
UNION = "__UNION__"
SETTINGS = "livefacts.json"
"""In every folder of livefacts."""
EVERY_TRIPLE = "SELECT ?s ?p ?o { ?s ?p ?o }"
DEFAULT = DefaultGraph()


class LivefactsStore(Store):
    """A reasoner as a store of rdflib; `store.reasoner` is the reasoner.

    It is `reasoner`, or a new one with `rules`; `open` gives it the one of a folder.
    """

    context_aware = True
    graph_aware = True
    formula_aware = False
    transaction_aware = False

    def __init__(
        self,
        configuration: str | None = None,
        identifier: Any = None,
        *,
        reasoner: Reasoner | None = None,
        rules: Any = (),
    ) -> None:
        self._reasoner = reasoner
        self._rules = rules
        self._empty_graphs: set[Node] = set()
        """Graphs that were made, whether they assert something or not."""
        self._namespaces: dict[str, URIRef] = {}
        super().__init__(configuration, identifier)
        self._events = TruthDispatcher(lambda: self.reasoner)
        self.dispatcher = self._events
        if reasoner is not None:
            self._take_prefixes(reasoner)

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner that holds the triples."""
        if self._reasoner is None:
            self._reasoner = Reasoner(self._rules)
            self._take_prefixes(self._reasoner)
        return self._reasoner

    def _take_prefixes(self, reasoner: Reasoner) -> None:
        for prefix, namespace in reasoner.prefixes.items():
            self.bind(prefix, URIRef(namespace))

    # the folder

    def open(self, configuration: Any, create: bool = False) -> int | None:
        """The knowledge base in a folder; it is made if it is not there."""
        if self._reasoner is not None:
            raise LivefactsError(
                "the store holds triples already, and cannot be opened",
                hint="open it before anything else: g.open(folder)",
            )
        if create and Path(configuration).exists():
            raise LivefactsError(
                f"{configuration} is there already", hint="open it without create=True"
            )
        self._reasoner = Reasoner.open(configuration, self._rules or None)
        self._take_prefixes(self._reasoner)
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Close the folder; what was added is on the disk already."""
        self._events.close()
        if self._reasoner is not None and hasattr(self._reasoner, "close"):
            self._reasoner.close()
        self._reasoner = None

    def destroy(self, configuration: str) -> None:
        """Delete a folder of livefacts that is closed."""
        if not (Path(configuration) / SETTINGS).is_file():
            raise LivefactsError(
                f"{configuration} is no folder of livefacts, and is not deleted",
                hint="name the folder that was opened",
            )
        shutil.rmtree(configuration)

    # changes

    def add(self, triple: Any, context: Any = None, quoted: bool = False) -> None:
        """Assert a triple."""
        if quoted:
            raise LivefactsError("quoted graphs of N3 cannot be kept", hint="rules go to add_rules")
        self.reasoner.add([_statement(triple, graph_of(context))])

    def addN(self, quads: Iterable[Any]) -> None:  # noqa: N802
        """Assert triples of several graphs, as one change."""
        self.reasoner.add([_statement((s, p, o), graph_of(c)) for s, p, o, c in quads])

    def remove(self, triple: Any, context: Any = None) -> None:
        """Retract what fits a pattern, in one graph or everywhere, as one change.

        What follows from rules is not asserted, and stays.
        """
        graph = None if context is None else graph_of(context) or DEFAULT
        with self.reasoner.snapshot() as snapshot:
            found = list(snapshot.asserted(*_terms(triple), graph=graph))
        if found:
            self.reasoner.remove(found)

    # reading

    def triples(
        self, triple_pattern: Any, context: Any = None
    ) -> Iterator[tuple[Any, Iterator[Any]]]:
        """The triples that are true, or those of a graph, each with the graphs that have it."""
        terms, graph = _terms(triple_pattern), read_graph_of(context)
        with self._snapshot(graph) as snapshot:
            found = list(snapshot.triples(*terms, graph=graph))
        if context is None:
            return self._with_graphs(terms, found)
        return ((triple_for_rdflib(triple), iter((context,))) for triple in found)

    def _with_graphs(
        self, terms: Pattern, found: Iterable[Triple]
    ) -> Iterator[tuple[Any, Iterator[Any]]]:
        """Triples with the graphs that assert them; conclusions are of the default graph."""
        graphs: dict[Triple, list[Graph]] = {}
        with self.reasoner.snapshot() as snapshot:
            for each in snapshot.asserted(*terms):
                named = each.graph_name if isinstance(each, Quad) else None
                triple = each.triple if isinstance(each, Quad) else each
                graphs.setdefault(triple, []).append(self._graph(named))
        for triple in found:
            yield triple_for_rdflib(triple), iter(graphs.get(triple) or [self._graph(None)])

    def __len__(self, context: Any = None) -> int:
        graph = read_graph_of(context)
        with self._snapshot(graph) as snapshot:
            return snapshot.count_triples(graph)

    def contexts(self, triple: Any = None) -> Generator[Any, None, None]:
        """The graphs, or those that have a triple."""
        if triple is not None:
            for _, graphs in self.triples(triple):
                yield from graphs
            return
        with self.reasoner.snapshot(whole=False) as snapshot:
            names = {for_rdflib(name) for name in snapshot.graph_names()}
        for name in sorted(names | self._empty_graphs):  # type: ignore[type-var]
            yield Graph(self, identifier=name)  # type: ignore[arg-type]

    def _graph(self, name: Any) -> Graph:
        identifier = DATASET_DEFAULT_GRAPH_ID if name is None else for_rdflib(name)
        return Graph(self, identifier=identifier)  # type: ignore[arg-type]

    def _snapshot(self, graph: GraphName | None) -> FactSnapshot:
        return self.reasoner.snapshot(whole=isinstance(graph, DefaultGraph))

    def add_graph(self, graph: Graph) -> None:
        """A graph is there from now on, although it is empty."""
        if graph_of(graph) is not None:
            self._empty_graphs.add(graph.identifier)

    def remove_graph(self, graph: Graph) -> None:
        """Retract all that a graph asserts; the default graph stays, empty."""
        self.remove((None, None, None), graph)
        self._empty_graphs.discard(graph.identifier)

    # SPARQL

    def query(
        self,
        query: Any,
        initNs: Mapping[str, Any],  # noqa: N803
        initBindings: Mapping[str, Any],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **kwargs: Any,
    ) -> Result:
        """Ask livefacts; queries that rdflib has prepared are answered by rdflib."""
        if not isinstance(query, str) or kwargs:
            # rdflib takes this for "evaluate it yourself".
            raise NotImplementedError
        bindings = {str(name): as_rdf_term(term) for name, term in (initBindings or {}).items()}
        with self.reasoner.snapshot(whole=False) as snapshot:
            dataset = _dataset(queryGraph, snapshot)
            text = self._declared(query, initNs)
            return result_for_rdflib(snapshot.query(text, bindings=bindings, dataset=dataset))

    def update(
        self,
        update: Any,
        initNs: Mapping[str, Any],  # noqa: N803
        initBindings: Mapping[str, Any],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **kwargs: Any,
    ) -> None:
        """Run an update, as one atomic change."""
        if not isinstance(update, str):
            raise NotImplementedError
        if initBindings or kwargs:
            raise QueryError(
                "an update takes no bindings here", hint="write the values into a VALUES clause"
            )
        if isinstance(queryGraph, URIRef) and queryGraph != DATASET_DEFAULT_GRAPH_ID:
            raise QueryError(
                f"an update of the graph {queryGraph} alone",
                hint=f"name the graph in the text: WITH <{queryGraph}> DELETE … INSERT … WHERE …",
            )
        self.reasoner.update(self._declared(update, initNs))

    def _declared(self, text: str, namespaces: Mapping[str, Any] | None) -> str:
        """The text with the prefixes in front that it uses and the reasoner does not know."""
        known = self.reasoner.prefixes
        wanted = {**self._namespaces, **(namespaces or {})}
        used = [
            f"PREFIX {prefix}: <{namespace}> "
            for prefix, namespace in wanted.items()
            if known.get(prefix) != str(namespace)
            and re.search(rf"(?<![\w-]){re.escape(prefix)}:", text)
        ]
        return "".join(used) + text

    # prefixes

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """A prefix for a namespace; each of them has one."""
        taken = self.prefix(namespace)
        if not override and (prefix in self._namespaces or taken is not None):
            return
        if taken is not None:
            del self._namespaces[taken]
        self._namespaces[prefix] = URIRef(namespace)

    def prefix(self, namespace: URIRef) -> str | None:
        return next((p for p, n in self._namespaces.items() if n == URIRef(namespace)), None)

    def namespace(self, prefix: str) -> URIRef | None:
        return self._namespaces.get(prefix)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        yield from list(self._namespaces.items())


class TruthDispatcher(Dispatcher):
    """Tells those who subscribe of every triple that becomes true or ends.

    The reasoner is watched from the first of them on.
    """

    def __init__(self, reasoner: Callable[[], Reasoner]) -> None:
        self._of = reasoner
        self._watch: Watch | None = None

    def subscribe(self, event_type: Any, handler: Any) -> Dispatcher:
        """Call the handler with each event of this type."""
        if self._watch is None:
            self._watch = self._of().watch(EVERY_TRIPLE, buffer=1)
            self._watch.on_change(self._tell)
        return super().subscribe(event_type, handler)  # type: ignore[no-any-return,no-untyped-call]

    def _tell(self, changes: list[Change]) -> None:
        known = self.get_map() or {}  # type: ignore[no-untyped-call]
        for change in changes:
            kind = TripleAddedEvent if change.op == CAME else TripleRemovedEvent
            triple = tuple(map(for_rdflib, change.row))
            for handler in known.get(kind, ()):
                handler(kind(triple=triple, context=None))

    def close(self) -> None:
        """Watch no longer."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None


def graph_for_rdflib(reasoner: Reasoner) -> Graph:
    """A graph of rdflib that reads from a reasoner and writes to it."""
    return Graph(store=LivefactsStore(reasoner=reasoner))


def graph_of(context: Any) -> NamedNode | BlankNode | None:
    """The named graph that a context of rdflib is written to; None is the default graph.

    A plain graph has a blank node for its name.
    """
    name = getattr(context, "identifier", context)
    if name is None or isinstance(name, BNode) or name == DATASET_DEFAULT_GRAPH_ID:
        return None
    return NamedNode(str(name))


def read_graph_of(context: Any) -> GraphName | None:
    """The graph that a context reads; None is all that is true."""
    name = getattr(context, "identifier", context)
    return DEFAULT if name == DATASET_DEFAULT_GRAPH_ID else graph_of(context)


def _statement(triple: Any, graph: NamedNode | BlankNode | None) -> Triple | Quad:
    subject, predicate, object_ = map(as_rdf_term, triple)
    try:
        found = Triple(subject, predicate, object_)
    except (TypeError, ValueError) as error:
        raise LivefactsError(
            f"{triple!r} is no triple of RDF: {error}",
            hint="a predicate is an IRI, and a subject no literal",
        ) from None
    return found if graph is None else Quad(subject, predicate, object_, graph)


def _terms(pattern: Any) -> Pattern:
    subject, predicate, object_ = pattern
    return subject, predicate, object_


def _dataset(graph: Any, snapshot: FactSnapshot) -> Dataset | None:
    """What a query sees that is asked of one graph; None is all that is true."""
    name = graph_of(graph) if isinstance(graph, URIRef) else None
    return None if name is None else Dataset((name,), tuple(snapshot.graph_names()))


def result_for_rdflib(result: QueryResult) -> Result:
    """The answers as rdflib gives them."""
    if isinstance(result, Answer):
        found = Result("ASK")
        found.askAnswer = bool(result)
    elif isinstance(result, Rows):
        found = Result("SELECT")
        found.vars = [RdflibVariable(name) for name in result.variables]
        found.bindings = [
            {RdflibVariable(name): for_rdflib(term) for name, term in row.as_dict().items()}  # type: ignore[misc]
            for row in result
        ]
    else:
        found = Result("CONSTRUCT")
        found.graph = Graph()
        for triple in result:
            found.graph.add(triple_for_rdflib(triple))
    return found
