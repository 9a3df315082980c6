"""Group totals: aggregates that are kept up to date by adding and taking away.

Counts and sums are additive; sums are exact, so that they end where they began.  For MIN,
MAX and SAMPLE the values of a group are kept in order; GROUP_CONCAT keeps them all, as its
answer does.  With DISTINCT, values are counted and only the first and the last of each
matter.  A value that is an error, or no number where one is needed, leaves its group
without a total for as long as it is there.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from typing import Any, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Store

from livefacts.engine.flow.bags import UNBOUND, Bag, Row, add_to, key_getter, nothing_kept
from livefacts.engine.flow.evaluator import NumberedTerms
from livefacts.model.facts import Term
from livefacts.model.numbers import (
    Number,
    NumberKind,
    calculate,
    literal_of,
    nearest_double,
    nearest_single,
)
from livefacts.model.values import Text, compare, value_of
from livefacts.plan.continuous.flow import Group, Total
from livefacts.store.terms.dictionary import Dictionary, inline_id, inline_value, is_inline


class Running(Protocol):
    """A total of one group."""

    def change(self, value: int, count: int) -> None:
        """A value comes so many times more, or less."""

    def total(self) -> int:
        """The id of the total; -1 where there is none."""

    def rows(self) -> Iterable[Row]:
        """The values that are kept, as rows."""


class CountTotal:
    """COUNT: of values that are no error."""

    rows = nothing_kept

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._count = 0

    def change(self, value: int, count: int) -> None:
        if value != UNBOUND:
            self._count += count

    def total(self) -> int:
        known = inline_id(self._count)
        return self._dictionary.encode_one(Literal(self._count)) if known is None else known


class Summing:
    """SUM and AVG: exact sums, and how many values there are of each kind of number."""

    rows = nothing_kept

    def __init__(self, dictionary: NumberedTerms, averages: bool) -> None:
        self._dictionary = dictionary
        self._averages = averages
        # An int as long as it can be one: fractions are slow.
        self._sum: int | Fraction = 0
        self._kinds = [0, 0, 0, 0]
        self._endless: dict[float, int] = {}
        self._nans = 0
        self._errors = 0

    def change(self, value: int, count: int) -> None:
        if is_inline(value):
            self._kinds[NumberKind.INTEGER] += count
            self._sum += count * inline_value(value)
            return
        term = None if value == UNBOUND else self._dictionary.decode_one(value)
        number = None if term is None else value_of(term)
        if not isinstance(number, Number):
            self._errors += count
            return
        amount = number.amount
        if isinstance(amount, float) and not math.isfinite(amount):
            self._kinds[number.kind] += count
            if math.isnan(amount):
                self._nans += count
            else:
                add_to(self._endless, amount, count)
        else:
            self.add(number.kind, count * Fraction(amount), count)

    def add(self, kind: NumberKind, amount: int | Fraction, count: int) -> None:
        """So many numbers of a kind come, which are this together."""
        self._kinds[kind] += count
        self._sum += amount

    def total(self) -> int:
        if self._errors:
            return UNBOUND
        if not self._averages and isinstance(self._sum, int) and not any(self._kinds[1:]):
            known = inline_id(self._sum)
            if known is not None:
                return known
        return self._dictionary.encode_one(self._literal())

    def _literal(self) -> Literal:
        """The total as the query engine computes and writes it, where it has such numbers."""
        found = self._number()
        if found.kind == NumberKind.INTEGER:
            return literal_of(found)
        if found.kind == NumberKind.DOUBLE:
            return Literal(float(found.amount))
        written = _computed(str(literal_of(found)))
        count = sum(self._kinds)
        if self._averages and found.kind == NumberKind.DECIMAL:
            kind = NumberKind.DECIMAL if self._kinds[NumberKind.DECIMAL] else NumberKind.INTEGER
            whole = literal_of(Number(kind, _exact(self._sum, kind)))
            written = _computed(f"{whole} / {count}")
        return literal_of(found) if written is None else written

    def _number(self) -> Number:
        count = sum(self._kinds)
        if not count:
            return Number(NumberKind.INTEGER, 0)
        kind = NumberKind(max(kind for kind, number in enumerate(self._kinds) if number))
        if not kind.is_exact:
            return self._rounded(kind, count if self._averages else 1)
        exact = Number(kind, _exact(self._sum, kind))
        if not self._averages:
            return exact
        quotient = calculate("/", exact, Number(NumberKind.INTEGER, count))
        assert quotient is not None, "an average is of at least one number"
        return quotient

    def _rounded(self, kind: NumberKind, divisor: int) -> Number:
        if self._nans or len(self._endless) > 1:
            return Number(kind, math.nan)
        if self._endless:
            return Number(kind, next(iter(self._endless)))
        exact = Fraction(self._sum) / divisor
        return Number(
            kind, nearest_single(exact) if kind == NumberKind.FLOAT else nearest_double(exact)
        )


def _exact(amount: int | Fraction, kind: NumberKind) -> int | Decimal:
    if kind == NumberKind.INTEGER:
        return int(amount)
    numerator, denominator = amount.as_integer_ratio()
    digits = 0
    while denominator != 1:
        numerator, digits = numerator * 10, digits + 1
        divisor = math.gcd(numerator, denominator)
        numerator, denominator = numerator // divisor, denominator // divisor
    return Decimal(numerator).scaleb(-digits)


@lru_cache(maxsize=1024)
def _computed(expression: str) -> Literal | None:
    """A number as pyoxigraph writes it; None where it is too large for it."""
    text = f"SELECT (({expression}) + 0 AS ?number) {{ }}"
    ((found,),) = Store().query(text)  # type: ignore[misc]
    return found if isinstance(found, Literal) else None


class Choosing:
    """MIN, MAX and SAMPLE: the values in their order, each once, with how often it is there."""

    def __init__(self, dictionary: Dictionary, function: str) -> None:
        self._dictionary = dictionary
        self._function = function
        self._counts: dict[int, int] = {}
        self._order: list[Any] = []
        self._ids: list[int] = []
        self._errors = 0

    def change(self, value: int, count: int) -> None:
        if value == UNBOUND:
            self._errors += count
            return
        before = value in self._counts
        add_to(self._counts, value, count)
        after = value in self._counts
        if before != after:
            key = _Rank(self._dictionary.decode_one(value))
            at = bisect_left(self._order, key)
            if after:
                self._order.insert(at, key)
                self._ids.insert(at, value)
            else:
                del self._order[at], self._ids[at]

    def total(self) -> int:
        if not self._ids or (self._errors and self._function != "SAMPLE"):
            return UNBOUND
        return self._ids[-1 if self._function == "MAX" else 0]

    def rows(self) -> Iterable[Row]:
        return ((value,) for value in self._ids)


class Concatenating:
    """GROUP_CONCAT: the strings of a group, in the order of their text."""

    def __init__(self, dictionary: Dictionary, separator: str) -> None:
        self._dictionary = dictionary
        self._separator = separator
        self._counts: dict[int, int] = {}
        self._errors = 0

    def change(self, value: int, count: int) -> None:
        text = None if value == UNBOUND else value_of(self._dictionary.decode_one(value))
        if isinstance(text, Text):
            add_to(self._counts, value, count)
        else:
            self._errors += count

    def total(self) -> int:
        if self._errors:
            return UNBOUND
        literals = self._dictionary.decode(list(self._counts)) if self._counts else []
        texts: list[str] = []
        languages = set()
        for literal, count in zip(literals, self._counts.values(), strict=True):
            assert isinstance(literal, Literal), "only strings are kept"
            texts += [literal.value] * count
            languages.add(literal.language)
        joined = self._separator.join(sorted(texts))
        language = languages.pop() if len(languages) == 1 else None
        made = Literal(joined, language=language) if language else Literal(joined)
        return self._dictionary.encode_one(made)

    def rows(self) -> Iterable[Row]:
        return ((value,) for value in self._counts)


class Distinctly:
    """DISTINCT: passes on a value when it comes first, and when its last one goes."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._counts: dict[Any, int] = {}

    def change(self, value: Any, count: int) -> None:
        before = value in self._counts
        add_to(self._counts, value, count)
        after = value in self._counts
        if before != after:
            passed = value if isinstance(value, int) else 0
            self._running.change(passed, 1 if after else -1)

    def total(self) -> int:
        return self._running.total()

    def rows(self) -> Iterable[Row]:
        return (each if isinstance(each, tuple) else (each,) for each in self._counts)


def _running(total: Total, dictionary: Dictionary) -> Running:
    made: Running
    match total.function:
        case "COUNT":
            made = CountTotal(dictionary)
        case "SUM" | "AVG":
            made = Summing(dictionary, total.function == "AVG")
        case "MIN" | "MAX" | "SAMPLE":
            made = Choosing(dictionary, total.function)
        case _:
            made = Concatenating(dictionary, total.separator)
    return Distinctly(made) if total.distinct else made


class _Group:
    """One group: how many rows it has, its totals, and the row that was passed on last."""

    __slots__ = ("rows", "shown", "totals")

    def __init__(self, totals: list[Running]) -> None:
        self.rows = 0
        self.totals = totals
        self.shown: Row | None = None


class Grouper:
    """Follows a `Group`."""

    def __init__(self, operator: Group, dictionary: Dictionary) -> None:
        self._operator = operator
        self._dictionary = dictionary
        self._key = key_getter(operator.keys)
        self._groups: dict[Any, _Group] = {}
        self.looked_at = 0

    def start(self) -> Bag:
        """Without keys there is a group even of nothing."""
        if self._operator.keys:
            return {}
        group = self._groups[()] = self._new_group()
        group.shown = tuple(running.total() for running in group.totals)
        return {group.shown: 1}

    def apply(self, *bags: Bag) -> Bag:
        """The rows of groups that come and go."""
        (rows,) = bags
        touched: dict[Any, _Group] = {}
        for row, count in rows.items():
            key = self._key(row)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = self._new_group()
            touched[key] = group
            self._count(group, row, count)
        made: Bag = {}
        for key, group in touched.items():
            self._show(key, group, made)
        return made

    def _new_group(self) -> _Group:
        return _Group([_running(total, self._dictionary) for total in self._operator.totals])

    def _count(self, group: _Group, row: Row, count: int) -> None:
        group.rows += count
        for total, running in zip(self._operator.totals, group.totals, strict=True):
            value: Any = row[total.column] if total.column is not None else 0
            if total.column is None and total.distinct:
                value = row
            running.change(value, count)

    def _show(self, key: Any, group: _Group, made: Bag) -> None:
        if group.shown is not None:
            add_to(made, group.shown, -1)
        if group.rows or not self._operator.keys:
            keys = key if len(self._operator.keys) != 1 else (key,)
            group.shown = (*keys, *(running.total() for running in group.totals))
            add_to(made, group.shown, 1)
        else:
            del self._groups[key]

    def rows(self) -> Iterable[Row]:
        """The row of each group, and the values that its totals keep."""
        for group in self._groups.values():
            yield group.shown or ()
            for running in group.totals:
                yield from running.rows()

    @property
    def size(self) -> int:
        """How many groups are kept, and how many values for their totals."""
        return sum(1 for _ in self.rows())


def _class_of(term: Term) -> int:
    """Where a term stands among others: blank nodes, IRIs, numbers, strings, the rest."""
    if isinstance(term, BlankNode):
        return 0
    if isinstance(term, NamedNode):
        return 1
    value = value_of(term)
    if isinstance(value, Number):
        return 3 if value.amount != value.amount else 2
    if isinstance(value, Text):
        return 4
    return 5 if isinstance(value, bool) else 6


def _order_of(left: Term, right: Term) -> int:
    first, second = _class_of(left), _class_of(right)
    if first != second:
        return first - second
    if first in (2, 4, 6):
        if compare("<", left, right):
            return -1
        if compare(">", left, right):
            return 1
    one, other = str(left), str(right)
    return (one > other) - (one < other)


_Rank: Callable[[Term], Any] = cmp_to_key(_order_of)
