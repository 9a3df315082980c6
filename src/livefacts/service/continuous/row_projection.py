"""Row projection: from the matches of a query's patterns to the rows that it reports.

The patterns of a query are the body of a rule, whose head has every variable of them: each
match is one fact.  Rules also make triples that RDF cannot write, and matches of those are
no answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.language.formula import Formula, PredicateAtom, TripleAtom, Variable
from livefacts.language.graph_pattern import BasicQuery
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.service.continuous.findings import Found
from livefacts.service.queries.results import Row, row_type
from livefacts.store.terms.dictionary import BLANK, IRI, SYMBOL, Dictionary, Loan

ANSWERS = "_answers:"
"""What the predicates of queries begin with."""
TRIPLE_NAMES = ("subject", "predicate", "object")


class Projection:
    """What a query of patterns and comparisons makes of their matches."""

    def __init__(self, query: BasicQuery, number: int, dictionary: Dictionary) -> None:
        self.query = query
        self._dictionary = dictionary
        self.variables = query.variables
        name = f"{ANSWERS}{number}"
        body: tuple[Formula, ...] = (*query.patterns, *query.comparisons)
        self.rule = Rule(PredicateAtom(name, self.variables), body, id=name)
        self._name = self.id_of(name)
        self.shape = 1 + len(self.variables)
        self._columns = [self._places(slots) for slots in self._asked()]
        self.is_distinct = query.distinct or query.form != "SELECT"
        self.can_repeat = query.form != "SELECT" or set(query.selected) != set(self.variables)
        """Whether several matches may give the same row."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of a report."""
        if self.query.form == "CONSTRUCT":
            return TRIPLE_NAMES
        return tuple(variable.name for variable in self.query.selected)

    def _asked(self) -> Iterator[tuple[object, ...]]:
        match self.query.form:
            case "SELECT":
                yield self.query.selected
            case "CONSTRUCT":
                yield from (atom.slots for atom in self.query.template)
            case _:
                yield ()

    def _places(self, slots: tuple[object, ...]) -> list[tuple[bool, int]]:
        """For each place, whether it is a column of the matches, and which column or term."""
        return [
            (True, 1 + self.variables.index(slot))
            if isinstance(slot, Variable)
            else (False, self._dictionary.encode_one(slot))  # type: ignore[arg-type]
            for slot in slots
        ]

    def matches(self, facts: Ids) -> Flags:
        """Which facts of the shape are matches of this query, of triples that RDF can write."""
        right: Flags = facts[:, 0] == self._name
        columns = {variable: 1 + at for at, variable in enumerate(self.variables)}
        return right & self.can_be_read(facts, self.query.patterns, columns)

    def can_be_read(
        self, facts: Ids, patterns: Iterable[TripleAtom], columns: Mapping[Variable, int]
    ) -> Flags:
        """Which facts are about triples that RDF can write, as far as variables have columns."""
        right: Flags = np.ones(len(facts), np.bool_)
        for pattern in patterns:
            for place, slot in enumerate(pattern.slots):
                if isinstance(slot, Variable):
                    right &= self._may_stand(facts[:, columns[slot]], place)
        return right

    def id_of(self, name: str) -> int:
        """The id of a predicate."""
        return self._dictionary.encode_one(Symbol(name))

    def answers(self, matches: Ids) -> Ids:
        """The rows that matches give, in ids."""
        parts = [self._projected(matches, columns) for columns in self._columns]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _projected(self, matches: Ids, columns: list[tuple[bool, int]]) -> Ids:
        made = np.empty((len(matches), len(columns)), np.int32)
        for at, (is_column, value) in enumerate(columns):
            made[:, at] = matches[:, value] if is_column else value
        if self.query.form != "CONSTRUCT":
            return made
        right = np.ones(len(made), np.bool_)
        for place in range(3):
            right &= self._may_stand(made[:, place], place)
        return made[right]

    def _may_stand(self, ids: Ids, place: int) -> Flags:
        kinds = self._dictionary.kinds(np.ascontiguousarray(ids))
        allowed: Flags = kinds == IRI
        if place == 0:
            allowed = allowed | (kinds == BLANK)
        return kinds != SYMBOL if place == 2 else allowed

    def lend(self, ids: Ids) -> Loan:
        """Keep the terms of answers as long as the loan is kept."""
        return self._dictionary.lend(ids)

    def rows(self, answers: Ids) -> list[Row]:
        """Rows of ids, as they are reported."""
        width = answers.shape[1]
        if not width:
            return [Row.of(self.names, ())] * len(answers)
        terms: list[Any] = self._dictionary.decode(answers.reshape(-1)) if answers.size else []
        columns = (terms[place::width] for place in range(width))
        return list(map(row_type(self.names), zip(*columns, strict=True)))

    def found(self, answers: Sequence[tuple[int, ...]]) -> Found:
        """Rows of ids, which are read when somebody wants that."""
        width = len(answers[0]) if answers else 0
        ids = np.array(answers, np.int32).reshape(len(answers), width)
        count, read = (lambda: len(ids)), (lambda: self.rows(ids))
        return Found(self.names, not answers, count, read, self.lend(ids))
