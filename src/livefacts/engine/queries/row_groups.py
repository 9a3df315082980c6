"""Groups of rows, and aggregates over them, as section 18.5 of SPARQL 1.1 has them.

Each different value of a group is looked at once, with how often it is there: rows that stand
for several are never written out.  Sums are exact and rounded once, as those of continuous
queries are (`flow.group_totals`): exact numbers are added by NumPy, doubles by their exponents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.column_operators import IS_EXACT, IS_ROUNDED
from livefacts.engine.queries.pyoxigraph_values import too_long
from livefacts.engine.queries.row_keys import row_keys
from livefacts.engine.queries.solutions import UNBOUND, Counts, Flags, Ids, Rows, Solutions
from livefacts.engine.queries.value_columns import ValueColumn, computed
from livefacts.engine.queries.value_lines import (
    FLOAT,
    INTEGER,
    MOST_DIGITS,
    POWERS,
)
from livefacts.language.algebra import QueryAggregate
from livefacts.language.expressions import Call
from livefacts.language.formula import Variable
from livefacts.model.numbers import NumberKind
from livefacts.model.running_totals import IN_SPARQL, Summing, average_of_query, sum_of_query
from livefacts.model.values import Text, value_of
from livefacts.store.terms.known_numbers import IdTerms, NumberedTerms

HALF = 27
"""Bits of a double that are added by themselves, so that no sum of them overflows."""
MANTISSA = 53
SUM, COUNT = Variable("sum"), Variable("count")


class GroupValues(NamedTuple):
    """The values of groups: each different one of a group once, and how often it is there."""

    size: int
    """The number of groups."""
    groups: Rows
    ids: Ids
    counts: Counts

    def at(self, rows: Flags) -> GroupValues:
        """Some of the values."""
        return GroupValues(self.size, self.groups[rows], self.ids[rows], self.counts[rows])

    def totals(self, amounts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of amounts, one for each value, by group."""
        found = np.zeros(self.size, np.int64)
        np.add.at(found, self.groups, amounts)
        return found


def grouped(
    rows: Solutions,
    keys: Sequence[str],
    aggregates: Sequence[tuple[str, QueryAggregate]],
    expressions: Expressions,
) -> Solutions:
    """A row for each group; without keys there is one group, even of nothing."""
    codes = row_keys([rows.column(name) for name in keys], rows.count)
    _, first, groups = np.unique(codes, return_index=True, return_inverse=True)
    size = len(first) if keys else 1
    columns = {name: rows.column(name)[first] for name in keys}
    counts = np.ones(rows.count, np.int64) if rows.counts is None else rows.counts
    for name, aggregate in aggregates:
        expressions.pause()
        if aggregate.by is not None:
            columns[name] = _pairwise(aggregate, rows, (groups, counts, size), expressions)
            continue
        if aggregate.value is not None:
            ids = expressions.values(aggregate.value, rows)
        elif aggregate.distinct:
            ids = _numbered(rows)
        else:
            ids = np.zeros(rows.count, np.int32)
        bag = _bag(size, groups, ids, counts, aggregate.distinct)
        columns[name] = _Totals(expressions, bag).of(aggregate)
    return Solutions(size, columns)


def _numbered(rows: Solutions) -> Ids:
    """A number for each row, equal for equal rows."""
    keys = row_keys(list(rows.columns.values()), rows.count)
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def _bag(size: int, groups: Rows, ids: Ids, counts: Counts, distinct: bool) -> GroupValues:
    keys = (groups << 32) | (ids.astype(np.int64) & 0xFFFFFFFF)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    times = np.zeros(len(first), np.int64)
    np.add.at(times, places, counts)
    return GroupValues(size, groups[first], ids[first], np.minimum(times, 1) if distinct else times)


def _pairwise(
    aggregate: QueryAggregate,
    rows: Solutions,
    bag: tuple[Rows, Counts, int],
    expressions: Expressions,
) -> Ids:
    """The total of each group of what looks at two values of a row."""
    groups, counts, size = bag
    of, by = (expressions.values(each, rows) for each in aggregate.values)
    pairs = (of.astype(np.int64) << 32) | (by.astype(np.int64) & 0xFFFFFFFF)
    different, places = np.unique(pairs, return_inverse=True)
    found = _bag(size, groups, places.astype(np.int32), counts, aggregate.distinct)
    # The low half of a pair as a number with a sign.
    halves = (different >> 32).tolist(), different.astype(np.int32).tolist()
    keys = list(zip(*halves, strict=True))
    return _kept(aggregate, found, [keys[each] for each in found.ids.tolist()], expressions.terms)


def _kept(
    aggregate: QueryAggregate, bag: GroupValues, keys: Sequence[Any], terms: NumberedTerms
) -> Ids:
    """The totals of groups as continuous queries keep them."""
    reader, sort = IdTerms(terms), IN_SPARQL[aggregate.function]
    reader.learn({key[-1] if isinstance(key, tuple) else key for key in keys})
    totals = [sort.running(reader, aggregate.parameter) for _ in range(bag.size)]
    changes: list[list[tuple[Any, int]]] = [[] for _ in totals]
    for group, key, count in zip(bag.groups.tolist(), keys, bag.counts.tolist(), strict=True):
        changes[group].append((key, count))
    for total, given in zip(totals, changes, strict=True):
        total.take(given)
    return np.array([total.total() for total in totals], np.int32)


class _Totals:
    """The totals of one bag."""

    def __init__(self, expressions: Expressions, bag: GroupValues) -> None:
        self._expressions = expressions
        self._terms = expressions.terms
        self._bag = bag
        self._bound = bag.at(bag.ids != UNBOUND)
        self._has_error = np.zeros(bag.size, np.bool_)
        self._has_error[bag.groups[bag.ids == UNBOUND]] = True

    def of(self, aggregate: QueryAggregate) -> Ids:
        """The id of the total of each group; unbound where there is none."""
        match aggregate.function:
            case "COUNT":
                return self._integers(self._bound.totals(self._bound.counts))
            case "SUM" | "AVG":
                return self._sums(averages=aggregate.function == "AVG")
            case "MIN" | "MAX":
                found = self._extremes(aggregate.function == "MIN")
                return np.where(self._has_error, UNBOUND, found).astype(np.int32)
            case "SAMPLE":
                found = np.full(self._bag.size, UNBOUND, np.int32)
                found[self._bound.groups] = self._bound.ids
                return found
            case "GROUP_CONCAT":
                return self._joined(" " if aggregate.parameter is None else aggregate.parameter)
        return _kept(aggregate, self._bag, self._bag.ids.tolist(), self._terms)

    def _integers(self, numbers: NDArray[np.int64]) -> Ids:
        zeros = np.zeros(len(numbers), np.uint8)
        return self._expressions.term_values.made(
            computed(zeros + np.uint8(INTEGER), zeros, numbers)
        )

    def _extremes(self, least: bool) -> Ids:
        bag = self._bound
        different, places = np.unique(bag.ids, return_inverse=True)
        order = self._expressions.term_order.of(different).places
        by_place = np.append(different[np.argsort(order)], np.int32(UNBOUND))
        found = np.full(bag.size, len(different) if least else -1, np.int64)
        (np.minimum if least else np.maximum).at(found, bag.groups, order[places])
        return by_place[found]

    def _sums(self, *, averages: bool) -> Ids:
        column = self._expressions.term_values.of(self._bag.ids)
        sums, plain = self._exact_sums(column)
        found = self._expressions.term_values.made(sums)
        if averages:
            counts = self._bag.totals(self._bag.counts)
            rows = Solutions(
                self._bag.size,
                {SUM.name: found, COUNT.name: self._integers(np.maximum(counts, 1))},
            )
            means = self._expressions.values(Call("/", (SUM, COUNT)), rows)
            # Of nothing, the average is 0 like the sum.
            found = np.where(counts == 0, found, means)
            plain &= found != UNBOUND
        found[~plain] = UNBOUND
        here = ~plain[self._bag.groups]
        for group, total in self._other_sums(column.at(here), self._bag.at(here), averages).items():
            found[group] = total.total()
        return found

    def _exact_sums(self, column: ValueColumn) -> tuple[ValueColumn, Flags]:
        """The sums of groups of small exact numbers, and which groups are of these."""
        bag = self._bag
        scales = np.zeros(bag.size, np.uint8)
        np.maximum.at(scales, bag.groups, column.scales)
        is_exact = IS_EXACT[column.sorts]
        plain = np.ones(bag.size, np.bool_)
        plain[bag.groups[~is_exact]] = False
        amounts = column.wholes * bag.counts * POWERS[scales[bag.groups] - column.scales]
        reals = np.where(is_exact, np.abs(column.reals), 0.0)
        weights = reals * bag.counts * POWERS[scales[bag.groups]]
        sizes = np.bincount(bag.groups, weights, minlength=bag.size)
        sorts = np.full(bag.size, INTEGER, np.uint8)
        np.maximum.at(sorts, bag.groups, np.where(is_exact, column.sorts, np.uint8(INTEGER)))
        return computed(sorts, scales, bag.totals(amounts)), plain & (sizes < MOST_DIGITS)

    def _other_sums(
        self, column: ValueColumn, bag: GroupValues, averages: bool
    ) -> dict[int, Summing]:
        """The sums of groups with doubles, large numbers, or what is no number."""
        terms, written = IdTerms(self._terms), average_of_query if averages else sum_of_query
        groups = np.unique(bag.groups).tolist()
        totals = {group: Summing(terms, written) for group in groups}
        rounded = IS_ROUNDED[column.sorts]
        for group, kind, amount, count in _sums_of_doubles(column.at(rounded), bag.at(rounded)):
            totals[group].sum.add_rounded(kind, amount.as_integer_ratio(), 1, count)
        others = bag.at(~rounded)
        terms.learn(others.ids.tolist())
        for group, value, count in zip(others.groups, others.ids, others.counts, strict=True):
            totals[int(group)].take([(int(value), int(count))])
        return totals

    def _joined(self, separator: str) -> Ids:
        """GROUP_CONCAT: the strings of each group in the order of their texts."""
        texts: list[list[tuple[str, int]]] = [[] for _ in range(self._bag.size)]
        languages: list[set[str | None]] = [set() for _ in texts]
        terms = self._terms.decode(self._bound.ids)
        bag = zip(self._bound.groups.tolist(), terms, self._bound.counts.tolist(), strict=True)
        for group, term, count in bag:
            value = None if term is None else value_of(term)
            if isinstance(value, Text) and isinstance(term, Literal):
                texts[group].append((value.text, count))
                languages[group].add(term.language)
            else:
                self._has_error[group] = True
        made = (
            None if is_error else self._concatenated(parts, separator, tags)
            for is_error, parts, tags in zip(self._has_error, texts, languages, strict=True)
        )
        return self._terms.encode(made)

    def _concatenated(
        self, parts: list[tuple[str, int]], separator: str, tags: set[str | None]
    ) -> Literal:
        self._expressions.pause()
        between = len(separator.encode())
        size = sum((len(text.encode()) + between) * count for text, count in parts)
        if size > self._expressions.most_string_bytes:
            raise too_long(size, self._expressions.most_string_bytes)
        whole = separator.join(text for text, count in sorted(parts) for _ in range(count))
        language = tags.pop() if len(tags) == 1 else None
        return Literal(whole, language=language) if language else Literal(whole)


def _sums_of_doubles(
    column: ValueColumn, bag: GroupValues
) -> Iterator[tuple[int, NumberKind, Fraction, int]]:
    """Group, kind, sum and number of doubles, and of floats, that have one exponent."""
    mantissas, exponents = np.frexp(column.reals)
    wholes = (mantissas * 2.0**MANTISSA).astype(np.int64)
    codes = (
        (bag.groups << 16) | ((exponents.astype(np.int64) + 4096) << 1) | (column.sorts == FLOAT)
    )
    different, places = np.unique(codes, return_inverse=True)
    sums = np.zeros((3, len(different)), np.int64)
    halves = (wholes >> HALF, wholes & ((1 << HALF) - 1), np.ones_like(wholes))
    for row, amounts in zip(sums, halves, strict=True):
        np.add.at(row, places, amounts * bag.counts)
    for code, high, low, count in zip(different.tolist(), *sums.tolist(), strict=True):
        kind = NumberKind.FLOAT if code & 1 else NumberKind.DOUBLE
        power = Fraction(2) ** (((code >> 1) & 0x7FFF) - 4096 - MANTISSA)
        yield code >> 16, kind, ((high << HALF) + low) * power, count
