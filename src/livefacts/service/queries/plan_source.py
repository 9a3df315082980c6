"""The source of a plan: what is kept of a query to tell how it was answered.

The query and the notes of its evaluation: no rows, no terms of the facts, no version of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from livefacts.engine.queries.evaluation import ABOUT
from livefacts.engine.queries.run_notes import QueryNotes
from livefacts.language.algebra import Pattern, Query
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.service.queries.plan_joins import JoinSource, NotedJoins, PlanScope
from livefacts.service.queries.plan_outline import Outline
from livefacts.service.queries.plan_tree import PlanTree
from livefacts.service.queries.sparql_words import QueryWords
from livefacts.syntax.sparql.query_shapes import prefixes_in


class PlanSource(NamedTuple):
    """A query and what was noted of it; its plan is made when somebody looks."""

    text: str
    prefixes: Mapping[str, str]
    query: Query
    pattern: Pattern
    """That of the query, with values that were given for its variables."""
    constants: Sequence[Term]
    notes: QueryNotes
    rows: int | None = None
    seconds: float | None = None

    def tree(self, joins: JoinSource | None = None) -> PlanTree:
        """The plan of the query, joined as was noted or as is told."""
        words = QueryWords(self.query, prefixes_in(self.text, self.prefixes), self.constants)
        outline = Outline(words, self.notes, joins or NotedJoins(self.notes))
        title = " ".join([self.query.form, *map(words.slot, self.query.selected)])
        below = tuple(self._below(outline))
        return PlanTree(title, below=below, rows=self.rows, seconds=self.seconds)

    def _below(self, outline: Outline) -> Iterator[PlanTree]:
        names = asked_names(self.query)
        if self.query.form != "DESCRIBE":
            yield outline.tree(self.pattern, PlanScope(frozenset(names)))
            return
        if names:
            yield outline.tree(self.pattern, PlanScope(frozenset(names)))
        yield outline.tree(ABOUT, PlanScope(frozenset("spo"), frozenset("s")))


def asked_names(query: Query) -> tuple[str, ...]:
    """The variables that are asked of the pattern of a query."""
    match query.form:
        case "SELECT":
            return query.selected
        case "CONSTRUCT":
            slots = [slot for atom in query.template for slot in atom.slots]
        case _:
            slots = list(query.targets)
    return tuple(dict.fromkeys(slot.name for slot in slots if isinstance(slot, Variable)))
