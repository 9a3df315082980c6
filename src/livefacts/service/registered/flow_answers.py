"""Flow answers: any query inside windows, followed change by change by a dataflow.

What windows bring and take between two reports goes once through the steps of a flow, so a
report costs what has changed since the last one, whatever the windows hold.  Answers are
bags of rows of ids, which become terms when a report is read; a row that stays from report
to report becomes terms once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import UNBOUND, Bag, add_to
from livefacts.engine.flow.bags import Row as IdRow
from livefacts.engine.flow.dataflow import Dataflow
from livefacts.engine.flow.evaluator import Ordering
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.registration import StreamOperator
from livefacts.plan.continuous.flow import FlowPlan
from livefacts.plan.continuous.flow_text import PlanWords, words_of
from livefacts.service.continuous.findings import Found, found_answer
from livefacts.service.queries.results import Row
from livefacts.service.registered.query_input import QueryInput
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.versions.snapshots import graphs_of


def looked_up(plan: FlowPlan) -> tuple[TripleAtom, ...]:
    """The triple patterns of a plan, each once."""
    return tuple(dict.fromkeys(TripleAtom(*map(_slot, slots)) for slots in plan.patterns()))


def _slot(slot: Any) -> Any:
    return Variable(f"c{slot}") if isinstance(slot, int) else slot


class FlowedAnswers:
    """The answers of a query that a flow follows, in step with its world."""

    def __init__(
        self, plan: FlowPlan, source: QueryInput, relation: StreamOperator, dictionary: Dictionary
    ) -> None:
        self._source = source
        self._relation = relation
        self._dictionary = dictionary
        self._flow = Dataflow(dictionary)
        self._standing = self._flow.add(plan, graphs_of(source.triples()))
        self._changed: Bag = dict(self._standing.answers)
        self._rows = DecodedRows(plan, dictionary)
        source.follow()

    @property
    def plan(self) -> PlanWords:
        """How the answers are found, in words."""
        return words_of(self._standing.plan)

    def resume(self, reported: Iterable[IdRow]) -> None:
        """Compare the next report with rows that were reported elsewhere."""
        self._feed()
        self._changed = dict(self._standing.answers)
        for row in reported:
            add_to(self._changed, row, -1)

    def reported(self) -> Iterable[IdRow]:
        """The rows of the last report, before it was compared with another."""
        self._feed()
        bag = Counter(self._standing.answers)
        bag.subtract(self._changed)
        return bag.elements()

    def held_ids(self) -> Iterator[Ids]:
        """The ids that the flow keeps, and of answers that came or went."""
        yield from self._flow.held_ids()
        yield np.array([each for row in self._changed for each in row], np.int32)

    def _feed(self) -> None:
        changes = self._source.changes()
        if not any(map(len, changes)):
            return
        with self._dictionary.passing:
            found = self._flow.apply(*changes)
        for _, bag in found:
            self._rows.forget(bag)
            for row, count in bag.items():
                add_to(self._changed, row, count)

    # reports

    def report(self) -> Found:
        """The answers to report now; the next report is compared with this one."""
        self._feed()
        changed, self._changed = self._changed, {}
        if self._standing.plan.form == "ASK":
            return found_answer(bool(self._standing.answers))
        reported, answers = self._reported(changed), self._standing.answers
        if self._relation is StreamOperator.ALL and self._standing.plan.is_ordered_by_more:
            return self._rows.found(reported, answers, dict(self._standing.ordered))
        return self._rows.found(reported, answers)

    def _reported(self, changed: Bag) -> Bag:
        if self._relation is StreamOperator.ALL:
            return dict(self._standing.answers)
        sign = 1 if self._relation is StreamOperator.NEW else -1
        return {row: sign * count for row, count in changed.items() if sign * count > 0}


class DecodedRows:
    """Rows of ids as terms; those of answers that stay are decoded once."""

    def __init__(self, plan: FlowPlan, dictionary: Dictionary) -> None:
        self._names = plan.variables
        self._dictionary = dictionary
        self._by_all, self._by_shown = (
            Ordering(order, dictionary, plan.base) if order else None
            for order in (plan.order, plan.shown_order)
        )
        self._known: dict[IdRow, Row] = {}

    def forget(self, gone: Iterable[IdRow]) -> None:
        """These answers have come or gone."""
        for row in gone:
            self._known.pop(row, None)

    def found(self, bag: Bag, answers: Bag, ordered: Bag | None = None) -> Found:
        """A report of some rows; those of `answers` are remembered when they are read.

        `ordered` are the rows with all that they are ordered by, where that is known.
        """
        loan = self._dictionary.lend_later(lambda: [_ids_of(ordered or bag)])
        count, read = (lambda: sum(bag.values())), (lambda: self._read(bag, answers, ordered))
        return Found(self._names, not bag, count, read, loan)

    def _read(self, bag: Bag, answers: Bag, ordered: Bag | None) -> Iterator[Row]:
        rows = self._known
        missing = [row for row in bag if row not in rows]
        found = decoded_rows(self._names, missing, self._dictionary)
        decoded = dict(zip(missing, found, strict=True))
        self._known.update((row, decoded[row]) for row in missing if row in answers)
        counts, width = ordered or bag, len(self._names)
        ordering = self._by_shown if ordered is None else self._by_all
        for key in self._ordered(list(counts), ordering):
            row = key[:width]
            yield from [decoded.get(row) or rows[row]] * counts[key]

    def _ordered(self, rows: list[IdRow], ordering: Ordering | None) -> list[IdRow]:
        if ordering is None:
            return rows
        with self._dictionary.passing:
            return ordering.sorted(rows)


def decoded_rows(
    names: tuple[str, ...], rows: Sequence[IdRow], dictionary: Dictionary
) -> Iterator[Row]:
    """Rows of ids as terms, but for what is unbound."""
    ids = [each for row in rows for each in row]
    bound = [each for each in ids if each != UNBOUND]
    terms: Any = iter(dictionary.decode(bound) if bound else ())
    cells = [None if each == UNBOUND else next(terms) for each in ids]
    for at in range(len(rows)):
        yield Row.of(names, cells[at * len(names) : (at + 1) * len(names)])


def _ids_of(bag: Bag) -> Ids:
    return np.array([each for row in bag for each in row], np.int32)
