"""The fact snapshot: one committed version of a reasoner, to be read as long as one likes.

It has its own columns and terms, shared with the versions before and after it.  Any thread may
read it, however the reasoner changes meanwhile, and no change waits for those who do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Literal, overload

import numpy as np
from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from livefacts.engine.contract import TRIPLES
from livefacts.errors import LivefactsError
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.service.change.arguments import as_bindings, as_rdf_term, as_statement
from livefacts.service.change.delta import Violation
from livefacts.service.change.dump import NamedTriples, write_facts
from livefacts.service.change.fact_reader import FactView, check_derived
from livefacts.service.knowledge.violations import Violations
from livefacts.service.queries.fact_versions import FactVersion, GraphName, Pattern
from livefacts.service.queries.part_versions import FactPart

if TYPE_CHECKING:
    from typing import Self, Unpack

    from livefacts.language.algebra import Dataset
    from livefacts.service.queries.plan_tree import PlanTree
    from livefacts.service.queries.question import AskOptions
    from livefacts.service.queries.results import QueryResult

NO_QUADS = np.zeros((0, 4), np.int32)


class FactSnapshot(Collection[Triple | Fact]):
    """What was true after one change, and stays to be read: `with r.snapshot() as s:`.

    Iterating gives all facts; they are decoded in pieces.  Without `with`, `close()` gives back
    its memory, and so does letting it go.
    """

    def __init__(
        self, version: FactVersion, prefixes: Mapping[str, str], violations: Violations
    ) -> None:
        self._kept: FactVersion | None = version
        self._prefixes = prefixes
        self._violations = violations

    @property
    def _version(self) -> FactVersion:
        if self._kept is None:
            raise LivefactsError("the snapshot is closed", hint="take another one: r.snapshot()")
        return self._kept

    @property
    def _whole(self) -> FactVersion:
        if not self._version.is_whole:
            raise LivefactsError(
                "the snapshot is for queries alone", hint="take a whole one: r.snapshot()"
            )
        return self._version

    def close(self) -> None:
        """Give it back; it cannot be read any more."""
        self._kept = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def seq(self) -> int:
        """The number of the last change that is in it, as in `Delta.seq`."""
        return self._version.stamp.seq

    @property
    def now(self) -> int | None:
        """The time point that was evaluated last."""
        return self._version.stamp.now

    # facts

    def facts(self, pattern: str | None = None, *, derived: bool | None = None) -> FactView:
        """What is true, and fits a pattern; `derived=True`: only conclusions, `False`: only what was asserted."""
        check_derived(derived)
        found = FactView(self._whole.facts(derived), self._whole.terms)
        return found.matching(pattern, self._prefixes)

    def triples(
        self,
        subject: Any = None,
        predicate: Any = None,
        object: Any = None,
        *,
        graph: GraphName | None = None,
    ) -> Iterator[Triple]:
        """The triples that are true and have these terms; None is any.

        A named `graph` has what it asserts, `DefaultGraph()` what it asserts and the conclusions
        that no graph asserts.
        """
        version = self._whole if isinstance(graph, DefaultGraph) else self._version
        return version.true_in(graph, _pattern(subject, predicate, object))

    def asserted(
        self,
        subject: Any = None,
        predicate: Any = None,
        object: Any = None,
        *,
        graph: GraphName | None = None,
    ) -> Iterator[Triple | Quad]:
        """The triples that the default graph asserts and the quads of named graphs, or of one."""
        pattern = _pattern(subject, predicate, object)
        if not isinstance(graph, DefaultGraph):
            yield from self._version.asserted_in(graph, pattern)
        if graph is None or isinstance(graph, DefaultGraph):
            yield from self._whole.asserted_in(DefaultGraph(), pattern)

    def count_triples(self, graph: GraphName | None = None) -> int:
        """How many triples `triples` gives."""
        version = self._whole if isinstance(graph, DefaultGraph) else self._version
        return version.count_true_in(graph)

    def graph_names(self) -> list[NamedNode]:
        """The named graphs that assert something."""
        graphs = self._version.graphs.named.values()
        return [
            name
            for name, graph in zip(self._version.graph_names(), graphs, strict=True)
            if graph.size
        ]

    def __iter__(self) -> Iterator[Triple | Fact]:
        return iter(self.facts())

    def __len__(self) -> int:
        return self._version.stamp.size

    def __contains__(self, fact: object) -> bool:
        version = self._whole
        shape, terms = shape_and_terms(fact, self._prefixes)
        found = [version.terms.find(term) for term in terms]
        row = [each for each in found if each is not None]
        return len(row) == len(found) and version.holds(shape, row)

    def violations(self) -> list[Violation]:
        """The violations of constraints, with their bindings."""
        version = self._whole
        program = version.stamp.program
        return list(self._violations.among(version.rows(FactPart.VIOLATED), program, version.terms))

    # queries

    @overload
    def query(
        self, text: str, *, explain_only: Literal[False] = False, **options: Unpack[AskOptions]
    ) -> QueryResult: ...
    @overload
    def query(
        self, text: str, *, explain_only: Literal[True], **options: Unpack[AskOptions]
    ) -> PlanTree: ...
    @overload
    def query(
        self, text: str, *, explain_only: bool, **options: Unpack[AskOptions]
    ) -> QueryResult | PlanTree: ...
    def query(
        self,
        text: str,
        *,
        bindings: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        limit_rows: int | None = None,
        memory: int | None = None,
        dataset: Dataset | None = None,
        stop: threading.Event | None = None,
        base: str = "",
        explain_only: bool = False,
    ) -> QueryResult | PlanTree:
        """Ask a SPARQL 1.1 query of all triples that are true, as `Reasoner.query` does."""
        from livefacts.service.queries.question import QueryOptions, question_of

        values = {} if bindings is None else as_bindings(bindings)
        options = QueryOptions(timeout, memory, limit_rows, values, dataset, stop, base)
        question = question_of(text, self._prefixes, self._version, options)
        return question.plan() if explain_only else question.result()

    # writing

    def dump(
        self,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        derived: bool | None = None,
        format: str | None = None,
    ) -> None:
        """Write what is true to a file or stream, in an RDF format or as facts (.rules)."""
        version = self._whole
        quads = version.quads() if derived is not True else NO_QUADS
        elsewhere = version.rows(FactPart.ELSEWHERE).get(TRIPLES, quads[:0, :3])
        named = NamedTriples(quads, elsewhere)
        write_facts(target, format, version.facts(derived), named, version.terms, self._prefixes)


def _pattern(*terms: Any) -> Pattern:
    """What three arguments ask for, as terms of pyoxigraph."""
    return [None if term is None else as_rdf_term(term) for term in terms]


def shape_and_terms(fact: object, prefixes: Mapping[str, str]) -> tuple[int, list[Term]]:
    """The shape of a fact, given as an object or as text, and what it consists of."""
    statement = _one_fact(fact, prefixes) if isinstance(fact, str) else as_statement(fact)
    if isinstance(statement, Fact):
        terms: list[Term] = [Symbol(statement.name), *statement.arguments]
        return len(terms), terms
    return TRIPLES, [statement.subject, statement.predicate, statement.object]


def _one_fact(text: str, prefixes: Mapping[str, str]) -> Triple | Fact:
    from livefacts.service.explanations.questions import read_fact

    return read_fact(text, prefixes)
