"""Graph patterns as queries: one group of triple patterns with comparisons, and its projection.

These are the queries that can be followed change by change: a pattern is a rule body, so
the engine that keeps conclusions true keeps their answers true, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from livefacts.language.formula import Comparison, TripleAtom, Variable, variables_of


@dataclass(frozen=True, slots=True)
class BasicQuery:
    """Triple patterns and comparisons that must all hold.

    `form` is SELECT, ASK or CONSTRUCT; `selected` are the variables of a SELECT in their
    order, `template` the triples of a CONSTRUCT.  Blank nodes of the patterns are variables
    whose names no text can write.
    """

    form: str
    patterns: tuple[TripleAtom, ...]
    comparisons: tuple[Comparison, ...] = ()
    selected: tuple[Variable, ...] = ()
    distinct: bool = False
    template: tuple[TripleAtom, ...] = ()
    name: str = ""
    """A number for queries of the same text, where they must differ."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the patterns, each once, in the order of the text."""
        found = (v for pattern in self.patterns for v in variables_of(pattern))
        return tuple(dict.fromkeys(found))
