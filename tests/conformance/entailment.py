"""Entailment: the generalized closure of a graph, and whether it entails another graph.

Generalized triples are not shown to users, but rules see them; a rule that copies every
triple into a predicate makes them visible here, through nothing but the public API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import BlankNode, Triple

import livefacts as lf
from livefacts.language.program import Program
from livefacts.model.facts import Fact, Term
from livefacts.syntax.rulelang.rule_parser import parse

Terms = tuple[Term, Term, Term]
COPY = parse("@id copy everything(?s, ?p, ?o) :- [?s, ?p, ?o] .")


@dataclass(frozen=True, slots=True)
class Closure:
    """All triples that follow, generalized ones too, and whether a constraint is violated."""

    triples: frozenset[Terms]
    is_consistent: bool


def closure_of(program: Program, facts: Iterable[Triple | Fact]) -> Closure:
    reasoner = lf.Reasoner(rules=[program, COPY])
    reasoner.add(list(facts))
    rows = (f for f in reasoner.facts() if isinstance(f, Fact) and f.name == "everything")
    triples = frozenset(row.arguments for row in rows)
    return Closure(triples, not list(reasoner.violations()))  # type: ignore[arg-type]


def terms_of(triples: Iterable[Triple]) -> list[Terms]:
    return [(triple.subject, triple.predicate, triple.object) for triple in triples]


def simply_entails(graph: frozenset[Terms], conclusion: list[Terms]) -> bool:
    """Whether some choice of terms for the blank nodes puts the conclusion into the graph."""
    return _extends({}, sorted(conclusion, key=_blank_nodes), graph)


def _extends(chosen: Mapping[BlankNode, Term], left: list[Terms], graph: frozenset[Terms]) -> bool:
    if not left:
        return True
    return any(
        _extends(more, left[1:], graph)
        for triple in graph
        if (more := _matched(left[0], triple, chosen)) is not None
    )


def _matched(
    pattern: Terms, triple: Terms, chosen: Mapping[BlankNode, Term]
) -> dict[BlankNode, Term] | None:
    more = dict(chosen)
    for wanted, found in zip(pattern, triple, strict=True):
        if isinstance(wanted, BlankNode):
            wanted = more.setdefault(wanted, found)
        if wanted != found:
            return None
    return more


def _blank_nodes(triple: Terms) -> int:
    return sum(isinstance(term, BlankNode) for term in triple)
