"""Answers of registered queries: kept true change by change, or asked anew at each report.

A query of triple patterns and comparisons is a rule: its head has every variable of the
patterns, so each match is one fact, and what comes and goes of them are the changes of the
answers.  Every other query is put to a store that holds the world.

Both give bags of rows; the rows of the first kind are ids, and become terms when they are
read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from pyoxigraph import Literal, Triple

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.model.facts import Symbol
from livefacts.rules.formula import Formula, PredicateAtom, TripleAtom, Variable
from livefacts.rules.program import Rule
from livefacts.rules.query import BasicQuery
from livefacts.rules.registration import Relation
from livefacts.service.results import Answer, QueryResult, RdfTerm
from livefacts.store.dictionary import BLANK, IRI, SYMBOL, Dictionary

Bag: TypeAlias = Counter[tuple[int, ...]]
Terms: TypeAlias = tuple[RdfTerm | None, ...]
ANSWERS = "_answers:"
"""What the predicates of queries begin with."""
TRIPLE_NAMES = ("subject", "predicate", "object")
ASKED = ("answer",)


@dataclass(frozen=True, slots=True)
class Found:
    """What a report has found: the names of its columns and a way to its rows."""

    names: tuple[str, ...]
    count: int
    rows: Callable[[], Iterator[Terms]]


class Answers(Protocol):
    """The answers of a query, in step with its world."""

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        ...


class FollowedAnswers:
    """The answers of a query of patterns and comparisons."""

    def __init__(
        self, query: BasicQuery, relation: Relation, number: int, dictionary: Dictionary
    ) -> None:
        self._query = query
        self._relation = relation
        self._dictionary = dictionary
        self._variables = query.variables
        name = f"{ANSWERS}{number}"
        body: tuple[Formula, ...] = (*query.patterns, *query.comparisons)
        self.rule = Rule(PredicateAtom(name, self._variables), body, id=name)
        self._name = dictionary.encode_one(Symbol(name))
        self._shape = 1 + len(self._variables)
        self._projections = [self._columns(slots) for slots in self._asked()]
        self._is_distinct = query.distinct or query.form != "SELECT"
        self._now: Bag = Counter()
        self._changed: Bag = Counter()

    @property
    def patterns(self) -> tuple[TripleAtom, ...]:
        """What the query looks up."""
        return self._query.patterns

    def _asked(self) -> Iterator[tuple[object, ...]]:
        match self._query.form:
            case "SELECT":
                yield self._query.selected
            case "CONSTRUCT":
                yield from (atom.slots for atom in self._query.template)
            case _:
                yield ()

    def _columns(self, slots: tuple[object, ...]) -> list[tuple[bool, int]]:
        """For each place, whether it is a column of the answers, and which column or term."""
        return [
            (True, 1 + self._variables.index(slot))
            if isinstance(slot, Variable)
            else (False, self._dictionary.encode_one(slot))  # type: ignore[arg-type]
            for slot in slots
        ]

    def follow(self, delta: IdDelta) -> None:
        """The world has changed."""
        self._take(delta.added, 1)
        self._take(delta.removed, -1)

    def _take(self, facts: Mapping[int, Ids], sign: int) -> None:
        rows = facts.get(self._shape)
        if rows is None or not len(rows):
            return
        rows = rows[rows[:, 0] == self._name]
        rows = rows[self._are_rdf(rows)]
        for columns in self._projections:
            answers = self._projected(rows, columns)
            if self._relation is not Relation.ALL:
                self._note(answers, sign)
            elif sign > 0:
                self._now.update(answers)
            else:
                self._remove(answers)

    def _remove(self, answers: list[tuple[int, ...]]) -> None:
        now = self._now
        for answer in answers:
            left = now[answer] - 1
            if left:
                now[answer] = left
            else:
                now.pop(answer)

    def _note(self, answers: list[tuple[int, ...]], sign: int) -> None:
        """Take answers in, and what that changes since the last report."""
        for answer in answers:
            was = self._now[answer]
            self._now[answer] = was + sign
            if not was + sign:
                self._now.pop(answer)
            if self._is_distinct and was and was + sign:
                continue
            self._changed[answer] += sign
            if not self._changed[answer]:
                self._changed.pop(answer)

    def _projected(self, rows: Ids, columns: list[tuple[bool, int]]) -> list[tuple[int, ...]]:
        if not columns:
            return [()] * len(rows)
        made = np.empty((len(rows), len(columns)), np.int32)
        for at, (is_column, value) in enumerate(columns):
            made[:, at] = rows[:, value] if is_column else value
        if self._query.form == "CONSTRUCT":
            made = made[self._are_triples(made)]
        return list(map(tuple, made.tolist()))

    def _are_rdf(self, rows: Ids) -> Flags:
        """Which matches are of triples that RDF can write: rules also make others."""
        right = np.ones(len(rows), np.bool_)
        for pattern in self._query.patterns:
            for place, slot in enumerate(pattern.slots):
                if isinstance(slot, Variable):
                    column = rows[:, 1 + self._variables.index(slot)]
                    right &= self._may_stand(column, place)
        return right

    def _are_triples(self, rows: Ids) -> Flags:
        right = np.ones(len(rows), np.bool_)
        for place in range(3):
            right &= self._may_stand(rows[:, place], place)
        return right

    def _may_stand(self, ids: Ids, place: int) -> Flags:
        kinds = self._dictionary.kinds(np.ascontiguousarray(ids))
        allowed: Flags = kinds == IRI
        if place == 0:
            allowed = allowed | (kinds == BLANK)
        return kinds != SYMBOL if place == 2 else allowed

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        if self._query.form == "ASK":
            return asked(bool(self._now))
        bag = self._reported()
        self._changed = Counter()
        count = len(bag) if self._is_distinct else sum(bag.values())
        return Found(_names(self._query), count, lambda: self._decoded(bag))

    def _decoded(self, bag: dict[tuple[int, ...], int]) -> Iterator[Terms]:
        width = len(next(iter(bag), ()))
        ids = np.array(list(bag), np.int32).reshape(-1)
        terms: list[Any] = self._dictionary.decode(ids) if len(ids) else []
        for number, times in enumerate(bag.values()):
            row = tuple(terms[number * width : (number + 1) * width])
            for _ in range(1 if self._is_distinct else times):
                yield row

    def _reported(self) -> dict[tuple[int, ...], int]:
        if self._relation is Relation.ALL:
            return dict(self._now)
        sign = 1 if self._relation is Relation.NEW else -1
        return {row: n * sign for row, n in self._changed.items() if n * sign > 0}


class AskedAnswers:
    """The answers of any query, asked anew at each report."""

    def __init__(self, ask: Callable[[], QueryResult], relation: Relation) -> None:
        self._ask = ask
        self._relation = relation
        self._before: list[Terms] = []

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        result = self._ask()
        if isinstance(result, Answer):
            return asked(bool(result))
        rows: list[Terms] = [tuple(row) for row in result]
        before, self._before = self._before, rows
        if self._relation is Relation.NEW:
            rows = _minus(rows, before)
        elif self._relation is Relation.GONE:
            rows = _minus(before, rows)
        return Found(tuple(result.variables), len(rows), lambda: iter(rows))


def asked(answer: bool) -> Found:
    """The answer of ASK: one row if it is yes."""
    row: Terms = (Literal(answer),)
    return Found(ASKED, int(answer), lambda: iter([row] if answer else []))


def _names(query: BasicQuery) -> tuple[str, ...]:
    if query.form == "CONSTRUCT":
        return TRIPLE_NAMES
    return tuple(variable.name for variable in query.selected)


def _minus(rows: Iterable[Terms], others: Iterable[Terms]) -> list[Terms]:
    """The rows of one bag without those of another, in their order."""
    left = Counter(others)
    found = []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            found.append(row)
    return found


def triples_of(found: Found) -> list[Triple]:
    """The rows of a CONSTRUCT as triples."""
    return [Triple(*row) for row in found.rows()]  # type: ignore[arg-type]
