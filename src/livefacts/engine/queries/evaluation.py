"""The evaluation of a query: its algebra, from the inside out, in pieces of columns.

Every operator takes rows that are given, and yields its own joined with those, piece by piece:
who needs only some rows stops early, and no operator holds more than it must.  A part of a group
that may know what the others have found is told (`binding_scopes`); others are evaluated by
themselves and joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeAlias

import numpy as np
from pyoxigraph import Literal, NamedNode

from livefacts.engine.queries.basic_patterns import BasicPatterns
from livefacts.engine.queries.binding_scopes import (
    certain_in,
    ends_in,
    may_know,
    names_in,
    names_in_condition,
    names_in_scope,
    parts_of,
)
from livefacts.engine.queries.bounds import Bounds
from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.fresh_values import rows_for
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_groups import grouped
from livefacts.engine.queries.row_keys import row_keys
from livefacts.engine.queries.row_order import row_order
from livefacts.engine.queries.run_notes import QueryNotes
from livefacts.engine.queries.solution_joins import (
    bound_parts,
    distinct,
    joined,
    left_joined,
    minus,
)
from livefacts.engine.queries.solutions import (
    EMPTY_ROW,
    UNBOUND,
    Flags,
    Ids,
    Rows,
    Solutions,
    together,
)
from livefacts.language.algebra import (
    Basic,
    Both,
    Chosen,
    DistinctRows,
    Either,
    Grouped,
    InGraph,
    Listed,
    Optionally,
    Ordered,
    Pattern,
    ReducedRows,
    Slice,
    Where,
    With,
    Without,
    exists_in,
)
from livefacts.language.expressions import TRUE, Exists, QueryExpression, conjuncts
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.namespaces import XSD
from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.terms.text_table import BLANK
from livefacts.store.versions.snapshots import GraphSnapshots, Snapshot

ROW = "#row"
"""The column that numbers given rows, to find them again among the results."""

ABOUT = Basic((TripleAtom(Variable("s"), Variable("p"), Variable("o")),))
"""What is said of things."""

NO_TRIPLES = np.zeros((0, 3), np.int32)

MODIFIERS = (Chosen, DistinctRows, Grouped, Ordered, ReducedRows, Slice)
"""What makes an inner query, or the whole one, of a group."""

Pieces: TypeAlias = Iterator[Solutions]
Names: TypeAlias = frozenset[str]


class Evaluation:
    """Evaluates the patterns of one query over one version of the facts."""

    def __init__(
        self, graphs: GraphSnapshots, terms: QueryTerms, bounds: Bounds, base: str = ""
    ) -> None:
        self._graphs = graphs
        self._terms = terms
        self._bounds = bounds
        self.notes = QueryNotes(bounds.pause)
        self._basic = BasicPatterns(terms, bounds, self.notes)
        self._base = base
        self._asked_graph = graphs.everything
        self._substituted: Names = frozenset()
        """The variables in whose place all of a pattern of EXISTS has the values of the row."""
        self._known: dict[tuple[int, int, Names], Solutions] = {}

    @cached_property
    def _expressions(self) -> Expressions:
        terms = self._terms
        return Expressions(terms, self._exists, base=self._base, now=moment(), pause=terms.pause)

    def pieces(self, pattern: Pattern, needed: Collection[str]) -> Pieces:
        """The rows of a pattern, with the variables that are needed."""
        return self._pieces(pattern, EMPTY_ROW, frozenset(needed), self._graphs.everything)

    def statements_about(self, things: Collection[int]) -> Ids:
        """The triples that say something of things, and of the blank nodes that these lead to."""
        found, known = [NO_TRIPLES], set(things)
        waiting = np.array(sorted(known), np.int32)
        names = frozenset(["s", "p", "o"])
        while len(waiting):
            given = Solutions(len(waiting), {"s": waiting})
            rows = self._all(ABOUT, given, names, self._graphs.everything)
            found.append(np.column_stack([rows.column(name) for name in "spo"]))
            objects = distinct_ids(rows.column("o"))
            nodes = objects[self._terms.kinds(objects) == BLANK].tolist()
            waiting = np.array(sorted(set(nodes) - known), np.int32)
            known.update(nodes)
        return np.concatenate(found)

    def _alone(self, pattern: Pattern, needed: Names, graph: Snapshot) -> Solutions:
        """The rows of a pattern by itself, however often they are asked for."""
        key = id(pattern), id(graph), needed
        if key not in self._known:
            with self._substituting(frozenset()):
                self._known[key] = self._all(pattern, EMPTY_ROW, needed, graph)
        return self._known[key]

    def _all(self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot) -> Solutions:
        pieces, total = [], 0
        for piece in self._pieces(pattern, given, needed, graph):
            pieces.append(piece)
            total += piece.count
            self._bounds.room(total * max(1, len(piece.columns)))
        return together(pieces)

    def _pieces(self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        """Given rows, joined with those of a pattern in a graph; what it gives is noted."""
        if given is not EMPTY_ROW:
            if isinstance(pattern, MODIFIERS):
                return self._with_inner_query(pattern, given, needed, graph)
        elif isinstance(pattern, Chosen):
            names = needed.intersection([variable.name for variable in pattern.variables])
            return self._pieces(pattern.of, given, names, graph)
        return self.notes.follow(id(pattern), self._found(pattern, given, needed, graph))

    def _found(self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        match pattern:
            case Basic():
                return self._basic.pieces(pattern, given, needed, graph)
            case Both():
                return self._both(pattern, given, needed, graph)
            case Either():
                return self._either(pattern, given, needed, graph)
            case Optionally():
                return self._optionally(pattern, given, needed, graph)
            case Without():
                return self._without(pattern, given, needed, graph)
            case Where():
                return self._where(pattern, given, needed, graph)
            case With():
                return self._with(pattern, given, needed, graph)
            case Listed():
                return self._joined(given, self._listed(pattern), needed)
            case InGraph():
                return self._in_graph(pattern, given, needed)
            case _:
                return self._modified(pattern, given, needed, graph)

    def _joined(self, given: Solutions, other: Solutions, needed: Names) -> Pieces:
        if given is EMPTY_ROW:
            yield other.only(needed)
        else:
            yield joined(given, other, pause=self._bounds.pause, room=self._bounds.room).only(
                needed
            )

    # groups

    def _both(self, pattern: Both, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        parts = self.notes.groups.get(id(pattern))
        if parts is None:
            parts = self.notes.groups[id(pattern)] = parts_of(pattern)
        first, *rest = parts
        return self._sequence(first, rest, given, needed, graph)

    def _sequence(
        self,
        first: Pattern,
        rest: list[Pattern],
        given: Solutions,
        needed: Names,
        graph: Snapshot,
    ) -> Pieces:
        """The parts of a group, one after the other; each is told what was found before it."""
        if not rest:
            yield from self._told(first, given, needed, graph)
            return
        later = needed.union(*(names_in(part) for part in rest))
        for piece in self._told(first, given, later, graph):
            if piece.count:
                yield from self._sequence(rest[0], rest[1:], piece, needed, graph)

    def _told(self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        """A part of a group with rows of the others, which it knows of if it may."""
        if given is EMPTY_ROW or self._may_know(pattern, given):
            return self._pieces(pattern, given, needed, graph)
        return self._apart(pattern, given, needed, graph)

    def _may_know(self, pattern: Pattern, given: Solutions) -> bool:
        return may_know(pattern, given.columns.keys() - self._substituted)

    def _apart(self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        """A part of a group with rows of the others, which it must not know of."""
        for rows, found in self._without_others(pattern, given, needed, graph):
            yield from self._joined(rows, found, needed)

    def _without_others(
        self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot
    ) -> Iterator[tuple[Solutions, Solutions]]:
        """Given rows, and what a pattern finds by itself, or with the values of EXISTS alone."""
        names = frozenset(names_in_scope(pattern)) & (needed | set(given.columns))
        known = self._substituted & given.columns.keys() & names_in(pattern)
        if not known:
            yield given, self._alone(pattern, names, graph)
            return
        keys, places = numbered_rows(given.only(known))
        for number in range(keys.count):
            self._bounds.pause()
            row = keys.at(slice(number, number + 1))
            yield given.at(places == number), self._all(pattern, row, names | known, graph)

    def _either(self, pattern: Either, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        for side in (pattern.left, pattern.right):
            yield from self._told(side, given, needed, graph)

    def _optionally(
        self, pattern: Optionally, given: Solutions, needed: Names, graph: Snapshot
    ) -> Pieces:
        asked = names_in_condition(pattern.condition)
        more = needed | names_in(pattern.right) | asked
        for left in self._pieces(pattern.left, given, more, graph):
            if left.count:
                yield self._with_option(pattern, left, needed | asked, graph).only(needed)

    def _with_option(
        self, pattern: Optionally, left: Solutions, needed: Names, graph: Snapshot
    ) -> Solutions:
        names = frozenset(names_in_scope(pattern.right))
        if not self._may_know(pattern.right, left):
            found_apart = [
                left_joined(
                    rows,
                    right,
                    lambda rows: self._truths(pattern.condition, rows, graph),
                    pause=self._bounds.pause,
                    room=self._bounds.room,
                )
                for rows, right in self._without_others(pattern.right, left, needed, graph)
            ]
            return together(found_apart)
        asked = left.only(names_in(pattern.right))
        numbered = Solutions(left.count, {**asked.columns, ROW: _numbers(left.count)})
        found = self._all(pattern.right, numbered, (names & needed) | {ROW}, graph)
        rows = found.column(ROW)
        new = {name: column for name, column in found.columns.items() if name != ROW}
        matched = left.at(rows)
        matched = Solutions(found.count, {**matched.columns, **new}, matched.counts)
        matched = matched.times(found.counts)
        if pattern.condition != TRUE:
            fits = self._truths(pattern.condition, matched, graph)
            matched, rows = matched.at(fits), rows[fits]
        alone = np.ones(left.count, np.bool_)
        alone[rows] = False
        return together([matched, left.at(alone)])

    def _without(
        self, pattern: Without, given: Solutions, needed: Names, graph: Snapshot
    ) -> Pieces:
        # Values of EXISTS stand in the place of variables, which are shared no more then.
        known = self._substituted & names_in(pattern.right) & given.columns.keys()
        shared = frozenset(names_in_scope(pattern.left) & names_in_scope(pattern.right)) - known
        if not shared:
            yield from self._pieces(pattern.left, given, needed, graph)
            return
        is_plain = shared <= certain_in(pattern.left) & certain_in(pattern.right)
        is_plain = is_plain and may_know(pattern.right, shared)
        for left in self._pieces(pattern.left, given, needed | shared | known, graph):
            if is_plain:
                with self._substituting(known):
                    met = self._met(pattern.right, left.only(shared | known), graph)
                yield left.at(~met).only(needed)
                continue
            for rows, right in self._without_others(pattern.right, left, shared, graph):
                yield minus(rows, right.only(shared), pause=self._bounds.pause).only(needed)

    def _where(self, pattern: Where, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        more = needed | names_in_condition(pattern.condition)
        for piece in self._pieces(pattern.of, given, more, graph):
            if piece.count:
                rows = rows_for(piece, [pattern.condition])
                yield rows.at(self._truths(pattern.condition, rows, graph)).only(needed)

    def _with(self, pattern: With, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        computed, of = [pattern], pattern.of
        while isinstance(of, With):
            computed.append(of)
            of = of.of
        asked = (names_in_condition(each.value) for each in computed)
        more = needed.union(*asked) - {each.variable.name for each in computed}
        for piece in self._pieces(of, given, more, graph):
            rows = rows_for(piece, [each.value for each in computed])
            for each in reversed(computed):
                values = self._values(each.value, rows, graph)
                rows = rows.with_column(each.variable.name, values)
            yield rows.only(needed)

    def _listed(self, pattern: Listed) -> Solutions:
        columns = zip(*pattern.rows, strict=True) if pattern.rows else [()] * len(pattern.variables)
        ids = [self._terms.encode(column) for column in columns]
        names = [variable.name for variable in pattern.variables]
        return Solutions(len(pattern.rows), dict(zip(names, ids, strict=True)))

    def _in_graph(self, pattern: InGraph, given: Solutions, needed: Names) -> Pieces:
        slot = pattern.graph
        if not isinstance(slot, Variable):
            graph = self._graphs.named.get(self._terms.encode_one(slot))
            if graph is not None:
                yield from self._pieces(pattern.of, given, needed, graph)
            return
        asked = [self._terms.encode_one(each) for each in ends_in(pattern.of)]
        for name, graph in self._graphs.having(asked):
            before = given.column(slot.name)
            rows = given.at((before == name) | (before == UNBOUND))
            if rows.count:
                told = rows.with_column(slot.name, np.full(rows.count, name, np.int32))
                yield from self._told(pattern.of, told, needed, graph)

    # modifiers of solutions

    def _with_inner_query(
        self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot
    ) -> Pieces:
        """Given rows with those of an inner query."""
        if self._substituted & names_in_scope(pattern) & given.columns.keys():
            return self._row_by_row(pattern, given, needed, graph)
        alone = self._alone(pattern, needed | set(given.columns), graph)
        return self._joined(given, alone, needed)

    def _row_by_row(
        self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot
    ) -> Pieces:
        """What an inner query finds with the values of each row in the place of its variables."""
        names = self._substituted & names_in_scope(pattern)
        more = needed.union(given.columns)
        for number in range(given.count):
            row = given.at(slice(number, number + 1))
            self._bounds.pause()
            with self._substituting(names):
                pieces = self._modified(pattern, row.only(names), more, graph)
                found = together(list(self.notes.follow(id(pattern), pieces)))
            yield from self._joined(row, found, needed)

    def _modified(
        self, pattern: Pattern, given: Solutions, needed: Names, graph: Snapshot
    ) -> Pieces:
        """The rows of an inner query, of the whole one, or of a part of it.

        What is given is the empty row, or one with values for variables of the query.
        """
        match pattern:
            case Chosen():
                names = frozenset(variable.name for variable in pattern.variables)
                yield from self._pieces(pattern.of, given, needed & names, graph)
            case ReducedRows():
                yield from self._pieces(pattern.of, given, needed, graph)
            case DistinctRows():
                names = frozenset(names_in_scope(pattern.of))
                yield distinct(self._all(pattern.of, given, names, graph)).only(needed)
            case Slice():
                yield from self._slice(pattern, given, needed, graph)
            case Ordered():
                yield from self._ordered(pattern, given, needed, graph)
            case Grouped():
                yield self._grouped(pattern, given, graph).only(needed)
            case _:
                raise AssertionError(f"{type(pattern).__name__} is a part of a group")

    def _ordered(
        self,
        pattern: Ordered,
        given: Solutions,
        needed: Names,
        graph: Snapshot,
        most: int | None = None,
    ) -> Pieces:
        """Rows in their order, or at least the first so many of them."""
        asked = (names_in_condition(key.value) for key in pattern.keys)
        rows = self._all(pattern.of, given, needed.union(*asked), graph)
        rows = rows_for(rows, [key.value for key in pattern.keys])
        with self._asking(graph):
            order = row_order(rows, pattern.keys, self._expressions, most)
        yield rows.at(order).only(needed)

    def _first(self, pattern: Slice, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        """The rows that a slice is cut of, as far as it needs them."""
        match pattern:
            case Slice(Chosen(Ordered() as of, variables), start, int(length)):
                names = needed & {variable.name for variable in variables}
                first = self._ordered(of, given, names, graph, start + length)
                yield from self.notes.follow(id(of), first)
            case _:
                yield from self._pieces(pattern.of, given, needed, graph)

    def _slice(self, pattern: Slice, given: Solutions, needed: Names, graph: Snapshot) -> Pieces:
        start, left = pattern.start, pattern.length
        for piece in self._first(pattern, given, needed, graph):
            if left == 0:
                return
            if piece.total <= start:
                start -= piece.total
                continue
            stop = None if left is None else start + left
            rows = piece.expanded().at(slice(start, stop))
            start, left = 0, None if left is None else left - rows.count
            yield rows

    def _grouped(self, pattern: Grouped, given: Solutions, graph: Snapshot) -> Solutions:
        keys = [variable.name for variable in pattern.keys]
        aggregates = [(variable.name, each) for variable, each in pattern.aggregates]
        values = [value for _, each in aggregates for value in each.values]
        names = frozenset(keys).union(*map(names_in_condition, values))
        if any(each.value is None and each.distinct for _, each in aggregates):
            names |= names_in_scope(pattern.of)
        rows = rows_for(self._all(pattern.of, given, names, graph), values)
        with self._asking(graph):
            return grouped(rows, keys, aggregates, self._expressions)

    # expressions

    def _truths(self, condition: QueryExpression, rows: Solutions, graph: Snapshot) -> Flags:
        """For which rows a condition is true: part by part, those with EXISTS last."""
        parts = sorted(conjuncts(condition), key=lambda part: any(True for _ in exists_in(part)))
        left = np.arange(rows.count)
        for part in parts:
            if len(left):
                with self._asking(graph):
                    left = left[self._expressions.truths(part, rows.at(left))]
        truths = np.zeros(rows.count, np.bool_)
        truths[left] = True
        return truths

    def _values(self, expression: QueryExpression, rows: Solutions, graph: Snapshot) -> Ids:
        with self._asking(graph):
            return self._expressions.values(expression, rows)

    @contextmanager
    def _asking(self, graph: Snapshot) -> Iterator[None]:
        """While expressions are evaluated, their EXISTS look at a graph."""
        before, self._asked_graph = self._asked_graph, graph
        try:
            yield
        finally:
            self._asked_graph = before

    @contextmanager
    def _substituting(self, names: Names) -> Iterator[None]:
        """While a pattern is evaluated, the values of given rows stand in for these variables."""
        before, self._substituted = self._substituted, names
        try:
            yield
        finally:
            self._substituted = before

    def _exists(self, part: Exists, rows: Solutions) -> Flags:
        """For which rows an EXISTS is true, or a NOT EXISTS."""
        asked = rows.only(names_in(part.pattern))
        met = np.zeros(rows.count, np.bool_)
        for here, names in bound_parts(asked, list(asked.columns)):
            with self._substituting(frozenset(names)):
                met[here] = self._met(part.pattern, asked.at(here).only(names), self._asked_graph)
        return ~met if part.negated else met

    def _met(self, pattern: Pattern, rows: Solutions, graph: Snapshot) -> Flags:
        """Which rows a pattern has matches for."""
        keys, places = numbered_rows(rows)
        numbered = keys.with_column(ROW, _numbers(keys.count))
        met = np.zeros(keys.count, np.bool_)
        for piece in self._some(pattern, numbered, graph):
            met[piece.column(ROW)] = True
        found: Flags = met[places]
        return found

    def _some(self, pattern: Pattern, given: Solutions, graph: Snapshot) -> Pieces:
        """Given rows that a pattern has matches for, some of them repeatedly."""
        needed = frozenset([ROW])
        if isinstance(pattern, Basic):
            pieces = self._basic.pieces(pattern, given, needed, graph, first_only=True)
            return self.notes.follow(id(pattern), pieces)
        return self._pieces(pattern, given, needed, graph)


def moment() -> Literal:
    """The time of now."""
    text = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return Literal(text, datatype=NamedNode(XSD + "dateTime"))


def numbered_rows(rows: Solutions) -> tuple[Solutions, Rows]:
    """Each row once, and where each of the rows is among those."""
    keys = row_keys(list(rows.columns.values()), rows.count)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return Solutions(rows.count, rows.columns).at(first), places


def _numbers(count: int) -> Ids:
    return np.arange(count, dtype=np.int32)
