"""Running totals: the aggregates of a group, kept up to date by adding and taking away.

One table for rules, continuous queries and queries: `IN_RULES` and `IN_SPARQL` say which
aggregates there are, and who keeps them.  Counts, sums and averages are additive, sums and
squares exact, so that they end where they began.  What depends on the order of a group (the
least, the greatest, the one of a percentage, that which belongs to the least) is looked up in an
ordered bag.  A value that is of no use to an aggregate leaves its group without a total for as
long as it is there.

Totals speak of keys, which stand for terms: ids in an engine, elsewhere their places in a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from pyoxigraph import Literal, Store

from livefacts.model.facts import Term
from livefacts.model.numbers import Number, NumberKind, literal_of
from livefacts.model.ordered_bags import OrderedBag
from livefacts.model.term_ranks import rank_of
from livefacts.model.totals import ExactSpread, ExactSum, truncated_quotient
from livefacts.model.values import Text, value_of

Changes: TypeAlias = Sequence[tuple[Any, int]]
"""Keys, each with how many times more or less often it is there."""


class TermKeys(Protocol):
    """What keys stand for; keys can be compared."""

    error: Any
    """The key of what has no value."""

    def whole(self, key: Any, /) -> int | None:
        """The integer of a key that is seen to be one at a glance."""

    def number(self, key: Any, /) -> Number | None:
        """The number of a key; None for anything else."""

    def term(self, key: Any, /) -> Term | None:
        """The term of a key; None for an error."""

    def rank(self, key: Any, /) -> tuple[Any, ...]:
        """Where the term of a key stands in the order of SPARQL."""

    def key(self, term: Term, /) -> Any:
        """The key of a term that was computed."""

    def key_of_whole(self, number: int, /) -> Any:
        """The key of an integer."""


class ListedTerms:
    """Terms whose keys are their numbers in a list."""

    error = -1

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}
        self._terms: list[Term] = []

    def whole(self, key: int, /) -> int | None:
        return None

    def number(self, key: int, /) -> Number | None:
        value = value_of(self._terms[key])
        return value if isinstance(value, Number) else None

    def term(self, key: int, /) -> Term | None:
        return None if key == self.error else self._terms[key]

    def rank(self, key: int, /) -> tuple[Any, ...]:
        return rank_of(self._terms[key])

    def key(self, term: Term, /) -> int:
        number = self._numbers.setdefault(term, len(self._terms))
        if number == len(self._terms):
            self._terms.append(term)
        return number

    def key_of_whole(self, number: int, /) -> int:
        return self.key(literal_of(Number(NumberKind.INTEGER, number)))


class Running(Protocol):
    """A total of one group."""

    def take(self, changes: Changes) -> None:
        """Keys come so many times more, or less."""

    def total(self) -> Any:
        """The key of the total, or that of an error."""

    def kept(self) -> Iterable[Any]:
        """The keys that are kept."""


class CountTotal:
    """How many there are that are no error."""

    def __init__(self, terms: TermKeys) -> None:
        self._terms = terms
        self._count = 0

    def take(self, changes: Changes) -> None:
        error = self._terms.error
        self._count += sum([count for key, count in changes if key != error])

    def total(self) -> Any:
        return self._terms.key_of_whole(self._count)

    def kept(self) -> Iterable[Any]:
        return ()


class Summing:
    """The exact sum of numbers, or their average; `written` says how it is written."""

    def __init__(self, terms: TermKeys, written: Callable[[ExactSum], Literal]) -> None:
        self._terms = terms
        self._written = written
        self.sum = ExactSum()
        self._errors = 0

    def take(self, changes: Changes) -> None:
        whole, number = self._terms.whole, self._terms.number
        wholes = total = 0
        for key, count in changes:
            if (amount := whole(key)) is not None:
                wholes += count
                total += amount * count
            elif (found := number(key)) is not None:
                self.sum.add(found, count)
            else:
                self._errors += count
        self.sum.add_wholes(total, wholes)

    def total(self) -> Any:
        if self._errors:
            return self._terms.error
        if self._written is sum_written or self._written is sum_of_query:
            known = self.sum.whole()
            if known is not None:
                return self._terms.key_of_whole(known)
        return self._terms.key(self._written(self.sum))

    def kept(self) -> Iterable[Any]:
        return ()


def sum_written(total: ExactSum) -> Literal:
    """The sum in rules: a canonical literal."""
    return _signed(total, total.sum())


def average_written(total: ExactSum) -> Literal:
    """The average in rules, likewise."""
    return _signed(total, total.average())


def _signed(total: ExactSum, found: Number) -> Literal:
    return literal_of(Number(found.kind, -0.0) if total.is_minus_zero else found)


def sum_of_query(total: ExactSum) -> Literal:
    """The sum as the query engine writes it."""
    return _computed_number(total.sum())


def average_of_query(total: ExactSum) -> Literal:
    """The average as the query engine writes it; of nothing, it is 0."""
    found = total.sum()
    if not total.count:
        return literal_of(found)
    if not found.kind.is_exact:
        return _computed_number(total.average())
    quotient = truncated_quotient(found, total.count)
    return literal_of(total.average() if quotient is None else quotient)


def _computed_number(number: Number) -> Literal:
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


class Spreading:
    """The standard deviation of a sample of numbers, an xsd:double; none of a single number."""

    def __init__(self, terms: TermKeys) -> None:
        self._terms = terms
        self._spread = ExactSpread()
        self._errors = 0

    def take(self, changes: Changes) -> None:
        for key, count in changes:
            found = self._terms.number(key)
            if found is None:
                self._errors += count
            else:
                self._spread.add(found, count)

    def total(self) -> Any:
        found = None if self._errors else self._spread.deviation()
        if found is None:
            return self._terms.error
        return self._terms.key(literal_of(Number(NumberKind.DOUBLE, found)))

    def kept(self) -> Iterable[Any]:
        return ()


class Choosing:
    """MIN, MAX and SAMPLE of SPARQL: of terms of any sort, in its order."""

    def __init__(self, terms: TermKeys, *, greatest: bool = False, any_will_do: bool = False):
        self._terms = terms
        self._is_greatest = greatest
        self._any_will_do = any_will_do
        self._bag: OrderedBag[Any] = OrderedBag(terms.rank)
        self._errors = 0

    def take(self, changes: Changes) -> None:
        error = self._terms.error
        known = [change for change in changes if change[0] != error]
        if len(known) < len(changes):
            self._errors += sum(count for key, count in changes if key == error)
        self._bag.change(known)

    def total(self) -> Any:
        if not self._bag or (self._errors and not self._any_will_do):
            return self._terms.error
        return self._bag.last if self._is_greatest else self._bag.first

    def kept(self) -> Iterable[Any]:
        return self._bag


def upward(number: Number) -> tuple[Any, ...]:
    """Where a number stands when the least comes first; NaN comes before all.

    Of equal ones the narrowest comes first: integer before decimal before float before double.
    """
    amount = number.amount
    if amount != amount:
        return 0, number.kind
    return 1, amount, number.kind, math.copysign(1.0, amount) if amount == 0 else 0


def downward(number: Number) -> tuple[Any, ...]:
    """Where a number stands when the greatest comes first, otherwise as `upward`."""
    amount = number.amount
    if amount != amount:
        return 0, number.kind
    negative = amount.copy_negate() if not isinstance(amount, int | float) else -amount
    return 1, negative, number.kind, -math.copysign(1.0, amount) if amount == 0 else 0


class ChoosingNumber:
    """The least or the greatest number in rules, or that at a percentage of them from below."""

    def __init__(
        self,
        terms: TermKeys,
        order: Callable[[Number], tuple[Any, ...]],
        percent: str | None = None,
    ) -> None:
        self._terms = terms
        self._share = None if percent is None else Fraction(percent) / 100
        self._order = order
        self._bag: OrderedBag[Any] = OrderedBag(self._rank)
        self._errors = 0

    def _rank(self, key: Any) -> tuple[Any, ...]:
        number = self._terms.number(key)
        assert number is not None, "only numbers are kept"
        return self._order(number)

    def take(self, changes: Changes) -> None:
        whole, number = self._terms.whole, self._terms.number
        known = []
        for change in changes:
            key, count = change
            if whole(key) is not None or number(key) is not None:
                known.append(change)
            else:
                self._errors += count
        self._bag.change(known)

    def total(self) -> Any:
        if self._errors or not self._bag:
            return self._terms.error
        found = self._bag.first if self._share is None else self._with_share(self._share)
        if self._terms.whole(found) is not None:
            return found
        number = self._terms.number(found)
        assert number is not None, "only numbers are kept"
        return self._terms.key(literal_of(number))

    def _with_share(self, share: Fraction) -> Any:
        """The nearest rank: the least number that such a share of all are not above."""
        first = self._terms.number(self._bag.first)
        if first is not None and first.amount != first.amount:
            return self._bag.first
        return self._bag.at(max(0, math.ceil(share * len(self._bag)) - 1))

    def kept(self) -> Iterable[Any]:
        return self._bag


class Belonging:
    """The term that belongs to the least or greatest number: keys are pairs of both.

    Of several, it is the first in the order of SPARQL.
    """

    def __init__(self, terms: TermKeys, order: Callable[[Number], tuple[Any, ...]]) -> None:
        self._terms = terms
        self._order = order
        self._bag: OrderedBag[Any] = OrderedBag(self._rank)
        self._errors = 0

    def _rank(self, pair: Any) -> tuple[Any, ...]:
        number = self._terms.number(pair[1])
        assert number is not None, "only numbers are compared"
        place, *amount = self._order(number)
        # Equal numbers of different kinds are equal here.
        return place, *amount[: 1 if place else 0], self._terms.rank(pair[0])

    def take(self, changes: Changes) -> None:
        number, error = self._terms.number, self._terms.error
        known = []
        for change in changes:
            (term, by), count = change
            if term != error and number(by) is not None:
                known.append(change)
            else:
                self._errors += count
        self._bag.change(known)

    def total(self) -> Any:
        if self._errors or not self._bag:
            return self._terms.error
        return self._bag.first[0]

    def kept(self) -> Iterable[Any]:
        return (key for pair in self._bag for key in pair)


class Concatenating:
    """The strings of a group, in the order of their text; their language, if all have the same."""

    def __init__(self, terms: TermKeys, separator: str | None) -> None:
        self._terms = terms
        self._separator = " " if separator is None else separator
        self._bag: OrderedBag[Any] = OrderedBag(self._rank)
        self._errors = 0

    def _text(self, key: Any) -> Text | None:
        term = self._terms.term(key)
        value = None if term is None else value_of(term)
        return value if isinstance(value, Text) else None

    def _rank(self, key: Any) -> tuple[Any, ...]:
        text = self._text(key)
        assert text is not None, "only strings are kept"
        return text.text, text.language or ""

    def take(self, changes: Changes) -> None:
        known = []
        for change in changes:
            if self._text(change[0]) is None:
                self._errors += change[1]
            else:
                known.append(change)
        self._bag.change(known)

    def total(self) -> Any:
        if self._errors:
            return self._terms.error
        texts: list[str] = []
        languages: set[str] = set()
        for (text, language, _), count in self._bag.ranked():
            texts += [text] * count
            languages.add(language)
        joined = self._separator.join(texts)
        language = languages.pop() if len(languages) == 1 else None
        return self._terms.key(Literal(joined, language=language) if language else Literal(joined))

    def kept(self) -> Iterable[Any]:
        return self._bag


class Distinctly:
    """DISTINCT: passes on a key when it comes first, and when its last one goes."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._counts: dict[Any, int] = {}

    def take(self, changes: Changes) -> None:
        passed = []
        counts = self._counts
        for key, count in changes:
            before = counts.get(key, 0)
            if before + count:
                counts[key] = before + count
            else:
                counts.pop(key, None)
            if (before != 0) != (before + count != 0):
                passed.append((key, -1 if before else 1))
        self._running.take(passed)

    def total(self) -> Any:
        return self._running.total()

    def kept(self) -> Iterable[Any]:
        return (
            key for each in self._counts for key in (each if isinstance(each, tuple) else (each,))
        )


@dataclass(frozen=True, slots=True)
class AggregateSort:
    """An aggregate: who keeps it, how many values of a row it looks at, and what it is told."""

    running: Callable[[TermKeys, str | None], Running]
    values: int = 1
    parameter: str = ""
    """What stands in brackets behind its name; empty if nothing does."""
    fewest: int = 1
    """A group with fewer values has no total."""
    needs: str = "is not a number"
    """What is said of values of no use."""


_SHARED: Mapping[str, AggregateSort] = {
    "count": AggregateSort(lambda terms, _: CountTotal(terms)),
    "stddev": AggregateSort(lambda terms, _: Spreading(terms), fewest=2),
    "percentile": AggregateSort(
        lambda terms, percent: ChoosingNumber(terms, upward, percent), parameter="percent"
    ),
    "group_concat": AggregateSort(Concatenating, parameter="separator", needs="is not a string"),
    "argmin": AggregateSort(lambda terms, _: Belonging(terms, upward), values=2),
    "argmax": AggregateSort(lambda terms, _: Belonging(terms, downward), values=2),
}
IN_RULES: Mapping[str, AggregateSort] = {
    "count": _SHARED["count"],
    "sum": AggregateSort(lambda terms, _: Summing(terms, sum_written)),
    "min": AggregateSort(lambda terms, _: ChoosingNumber(terms, upward)),
    "max": AggregateSort(lambda terms, _: ChoosingNumber(terms, downward)),
    "avg": AggregateSort(lambda terms, _: Summing(terms, average_written)),
    **_SHARED,
}
"""The aggregates of rules, by name."""
IN_SPARQL: Mapping[str, AggregateSort] = {
    **{name.upper(): sort for name, sort in _SHARED.items()},
    "SUM": AggregateSort(lambda terms, _: Summing(terms, sum_of_query)),
    "AVG": AggregateSort(lambda terms, _: Summing(terms, average_of_query)),
    "MIN": AggregateSort(lambda terms, _: Choosing(terms)),
    "MAX": AggregateSort(lambda terms, _: Choosing(terms, greatest=True)),
    "SAMPLE": AggregateSort(lambda terms, _: Choosing(terms, any_will_do=True)),
}
"""The aggregates of SPARQL, by name; those that it does not have itself are asked for by IRI."""


def percentage(term: Term) -> str | None:
    """The text of a number from 0 to 100; None for anything else."""
    value = value_of(term)
    if not isinstance(value, Number) or not isinstance(term, Literal):
        return None
    if not 0 <= value.amount <= 100:
        return None
    # What a double means and not what is written: of that, the exponent has no bound.
    return term.value if value.kind.is_exact else repr(float(value.amount))


def aggregate(function: str, given: Iterable[Any], parameter: str | None = None) -> Term | None:
    """An aggregate of rules over terms, or pairs of them; None for no terms, or one of no use.

    >>> aggregate("avg", [Literal(1), Literal(2)]).value
    '1.5'
    """
    terms = ListedTerms()
    changes: list[tuple[Any, int]] = [
        (tuple(map(terms.key, each)) if isinstance(each, tuple) else terms.key(each), 1)
        for each in given
    ]
    if not changes:
        return None
    running = IN_RULES[function].running(terms, parameter)
    running.take(changes)
    return terms.term(running.total())
