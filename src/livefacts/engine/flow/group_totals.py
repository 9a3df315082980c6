"""Group totals: aggregates that are kept up to date by adding and taking away.

Counts and sums are additive; sums are exact, so that they end where they began.  For MIN,
MAX and SAMPLE the values of a group are kept in order, in chunks, and one that comes or goes
costs some twenty comparisons, however many there are; GROUP_CONCAT keeps them all, as its
answer does.  With DISTINCT, values are counted and only the first and the last of each
matter.  A value that is an error, or no number where one is needed, leaves its group
without a total for as long as it is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from pyoxigraph import Literal, Store

from livefacts.engine.flow.bags import UNBOUND, Bag, Row, add_to, key_getter, nothing_kept
from livefacts.engine.flow.evaluator import REMEMBERED, NumberedTerms
from livefacts.engine.flow.first_rows import bag_of, rows_of
from livefacts.engine.flow.ordered_values import OrderedValues
from livefacts.engine.patterns.signed_rows import SignedRows, consolidated
from livefacts.model.namespaces import XSD
from livefacts.model.numbers import Number, NumberKind, literal_of, parse_double
from livefacts.model.term_ranks import rank_of, rank_of_whole
from livefacts.model.totals import ExactSum, truncated_quotient
from livefacts.model.values import Text, value_of
from livefacts.plan.continuous.flow import Group, Total
from livefacts.store.terms.dictionary import Dictionary, inline_id, inline_value, is_inline

DOUBLE = f'"^^<{XSD}double>'.encode()
"""The end of the text of a double."""
Changes: TypeAlias = Sequence[tuple[Any, int]]
"""Values, each with how many times more or less often it is there."""


class Running(Protocol):
    """A total of one group."""

    def take(self, changes: Changes) -> None:
        """Values come so many times more, or less."""

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

    def take(self, changes: Changes) -> None:
        self._count += sum([count for value, count in changes if value != UNBOUND])

    def total(self) -> int:
        known = inline_id(self._count)
        return self._dictionary.encode_one(Literal(self._count)) if known is None else known


class KnownNumbers:
    """The numbers that terms stand for, read once: what comes into a window goes again."""

    def __init__(self, dictionary: NumberedTerms) -> None:
        self._dictionary = dictionary
        self._known: dict[int, Number | None] = {UNBOUND: None}
        self._epoch = dictionary.epoch

    def learn(self, values: set[int]) -> None:
        """Read the numbers of several ids at once, which is cheaper than one by one."""
        if self._epoch != self._dictionary.epoch or len(self._known) > REMEMBERED:
            self._known = {UNBOUND: None}
            self._epoch = self._dictionary.epoch
        missing = [each for each in values.difference(self._known) if not is_inline(each)]
        if not missing:
            return
        others = self._learn_doubles([each for each in missing if each > UNBOUND])
        others += [each for each in missing if each < UNBOUND]
        for value, term in zip(others, self._dictionary.decode(others), strict=True):
            number = None if term is None else value_of(term)
            self._known[value] = number if isinstance(number, Number) else None

    def _learn_doubles(self, stored: list[int]) -> list[int]:
        """Read doubles off their texts, without a term for each; the ids of what is none."""
        texts, ends = self._dictionary.packed_texts(stored)
        packed, start, others = texts.tobytes(), 0, []
        for value, end in zip(stored, ends.tolist(), strict=True):
            if packed.endswith(DOUBLE, start, end):
                self._known[value] = parse_double(packed[start + 1 : end - len(DOUBLE)].decode())
            else:
                others.append(value)
            start = end
        return others

    def of(self, value: int) -> Number | None:
        """The number of an id; None for anything else."""
        if self._epoch != self._dictionary.epoch or value not in self._known:
            self.learn({value})
        return self._known[value]


class Summing:
    """SUM and AVG: an exact sum, written as the query engine writes it."""

    rows = nothing_kept

    def __init__(self, dictionary: NumberedTerms, averages: bool, numbers: KnownNumbers) -> None:
        self._dictionary = dictionary
        self._averages = averages
        self._numbers = numbers
        self.sum = ExactSum()
        self._errors = 0

    def take(self, changes: Changes) -> None:
        of, add = self._numbers.of, self.sum.add
        for value, count in changes:
            if is_inline(value):
                self.sum.add_whole(inline_value(value), count)
            elif (number := of(value)) is not None:
                add(number, count)
            else:
                self._errors += count

    def total(self) -> int:
        if self._errors:
            return UNBOUND
        found = self.sum.sum()
        if self._averages and self.sum.count:
            return self._dictionary.encode_one(self._average(found))
        known = inline_id(found.amount) if isinstance(found.amount, int) else None
        return self._dictionary.encode_one(_written(found)) if known is None else known

    def _average(self, total: Number) -> Literal:
        if not total.kind.is_exact:
            return _written(self.sum.average())
        quotient = truncated_quotient(total, self.sum.count)
        return literal_of(self.sum.average() if quotient is None else quotient)


def _written(number: Number) -> Literal:
    """A number as the query engine writes it, where it has such numbers."""
    if number.kind == NumberKind.DOUBLE:
        return Literal(float(number.amount))
    written = _computed(str(literal_of(number))) if number.kind == NumberKind.FLOAT else None
    return literal_of(number) if written is None else written


@lru_cache(maxsize=1024)
def _computed(expression: str) -> Literal | None:
    """A number as pyoxigraph writes it; None where it is too large for it."""
    text = f"SELECT (({expression}) + 0 AS ?number) {{ }}"
    ((found,),) = Store().query(text)  # type: ignore[misc]
    return found if isinstance(found, Literal) else None


class Choosing:
    """MIN, MAX and SAMPLE: the values in their order, each once, with how often it is there."""

    def __init__(self, dictionary: NumberedTerms, function: str) -> None:
        self._dictionary = dictionary
        self._function = function
        self._counts: dict[int, int] = {}
        self._entries: dict[int, tuple[Any, ...]] = {}
        """Where each value stands in the order."""
        self._order = OrderedValues()
        self._errors = 0

    def take(self, changes: Changes) -> None:
        for value, count in changes:
            if value == UNBOUND:
                self._errors += count
                continue
            add_to(self._counts, value, count)
            is_there, was_there = value in self._counts, value in self._entries
            if is_there and not was_there:
                entry = self._entries[value] = self._entry(value)
                self._order.add(entry)
            elif was_there and not is_there:
                self._order.remove(self._entries.pop(value))

    def _entry(self, value: int) -> tuple[Any, ...]:
        if is_inline(value):
            return *rank_of_whole(inline_value(value)), value
        term = self._dictionary.decode_one(value)
        assert term is not None, "a value is a term"
        return *rank_of(term), value

    def total(self) -> int:
        if not self._order or (self._errors and self._function != "SAMPLE"):
            return UNBOUND
        entry = self._order.last if self._function == "MAX" else self._order.first
        return int(entry[-1])

    def rows(self) -> Iterable[Row]:
        return ((value,) for value in self._counts)


class Concatenating:
    """GROUP_CONCAT: the strings of a group, in the order of their text."""

    def __init__(self, dictionary: Dictionary, separator: str) -> None:
        self._dictionary = dictionary
        self._separator = separator
        self._counts: dict[int, int] = {}
        self._errors = 0

    def take(self, changes: Changes) -> None:
        for value, count in changes:
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

    def take(self, changes: Changes) -> None:
        passed = []
        for value, count in changes:
            before = value in self._counts
            add_to(self._counts, value, count)
            after = value in self._counts
            if before != after:
                passed.append((value if isinstance(value, int) else 0, 1 if after else -1))
        self._running.take(passed)

    def total(self) -> int:
        return self._running.total()

    def rows(self) -> Iterable[Row]:
        return (each if isinstance(each, tuple) else (each,) for each in self._counts)


def _running(total: Total, dictionary: Dictionary, numbers: KnownNumbers) -> Running:
    made: Running
    match total.function:
        case "COUNT":
            made = CountTotal(dictionary)
        case "SUM" | "AVG":
            made = Summing(dictionary, total.function == "AVG", numbers)
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
        self._numbers = KnownNumbers(dictionary)
        self._key = key_getter(operator.keys)
        summed = [each.column for each in operator.totals if each.function in ("SUM", "AVG")]
        self._summed = {column for column in summed if column is not None}
        self._groups: dict[Any, _Group] = {}
        self.looked_at = 0

    def fill(self, found: SignedRows) -> SignedRows:
        """The groups of the rows that are there when it begins; without keys there is always one."""
        keys, totals = self._operator.keys, self._operator.totals
        if not keys:
            self._groups[()] = self._new_group()
        made = self.apply(bag_of(self._thinned(found)))
        if not keys and not made:
            self._show((), self._groups[()], made)
        return rows_of(made, len(keys) + len(totals))

    def _thinned(self, found: SignedRows) -> SignedRows:
        """Rows that are equal where the totals look at them, together."""
        totals = self._operator.totals
        if any(total.distinct and total.column is None for total in totals):
            return found
        looked_at = {each.column for each in totals if each.distinct or each.function != "COUNT"}
        rows = np.zeros_like(found.rows)
        for column in {each.column for each in totals} - {None}:
            # Of what is only counted it matters whether it is bound.
            rows[:, column] = np.minimum(found.rows[:, column], 0)
        for column in {*self._operator.keys, *looked_at} - {None}:
            rows[:, column] = found.rows[:, column]
        return consolidated(SignedRows(rows, found.counts))

    def apply(self, *bags: Bag) -> Bag:
        """The rows of groups that come and go."""
        (rows,) = bags
        for column in self._summed:
            self._numbers.learn({row[column] for row in rows})
        touched: defaultdict[Any, list[tuple[Row, int]]] = defaultdict(list)
        for row, count in rows.items():
            touched[self._key(row)].append((row, count))
        made: Bag = {}
        for key, changes in touched.items():
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = self._new_group()
            self._take(group, changes)
            self._show(key, group, made)
        return made

    def _new_group(self) -> _Group:
        totals, numbers = self._operator.totals, self._numbers
        return _Group([_running(total, self._dictionary, numbers) for total in totals])

    def _take(self, group: _Group, changes: list[tuple[Row, int]]) -> None:
        group.rows += sum([count for _, count in changes])
        for total, running in zip(self._operator.totals, group.totals, strict=True):
            column = total.column
            if column is not None:
                running.take([(row[column], count) for row, count in changes])
            else:
                running.take(changes if total.distinct else [(0, n) for _, n in changes])

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
