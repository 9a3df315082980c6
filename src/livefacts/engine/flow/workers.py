"""Workers: what carries out the steps of a flow, each with the state that it needs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Protocol, runtime_checkable

import numpy as np
from pyoxigraph import BlankNode

from livefacts.engine.flow.bags import (
    UNBOUND,
    Bag,
    Row,
    add_to,
    nothing_kept,
    summed,
    tuple_getter,
)
from livefacts.engine.flow.evaluator import BoundedEvaluator, Ordering, Truths
from livefacts.engine.flow.first_rows import CountTable, FirstRows, told_apart
from livefacts.engine.flow.group_totals import Grouper
from livefacts.engine.flow.join_workers import joiner_of
from livefacts.engine.flow.reachability import Reacher, ReacherApart
from livefacts.engine.patterns.signed_rows import SignedRows, added_up, consolidated
from livefacts.plan.continuous.flow import (
    Choose,
    Combine,
    Compute,
    Condition,
    Constantly,
    Cut,
    Gather,
    Group,
    Joined,
    Keep,
    Mark,
    Match,
    MatchNamed,
    Once,
    Operator,
    Reach,
    Stamp,
    Statements,
    positions_in,
)
from livefacts.store.terms.dictionary import Dictionary


class Worker(Protocol):
    """Carries out one step."""

    @property
    def looked_at(self) -> int:
        """How many rows of its state it has looked at so far."""

    @property
    def size(self) -> int:
        """How many rows it keeps."""

    def apply(self, *bags: Bag) -> Bag:
        """The change of its rows, from the changes of its inputs' rows."""

    def rows(self) -> Iterable[Row]:
        """The rows that it keeps, whole or in parts: whose ids must go on to mean what they do."""


@runtime_checkable
class Fillable(Protocol):
    """A worker that takes what is there when it begins as columns."""

    def fill(self, *rows: SignedRows) -> SignedRows:
        """All its rows, from those of its inputs; as `apply` for the first change."""


class Lister:
    """Follows a `Constantly`."""

    looked_at = 0

    def __init__(self, operator: Constantly, dictionary: Dictionary) -> None:
        self._rows = [
            tuple(UNBOUND if term is None else dictionary.encode_one(term) for term in row)
            for row in operator.rows
        ]
        self.size = len(self._rows)

    def start(self) -> Bag:
        """The rows, which are there from the beginning."""
        return dict(Counter(self._rows))

    def apply(self, *bags: Bag) -> Bag:
        """Nothing ever changes."""
        return {}

    def rows(self) -> Iterable[Row]:
        """The rows, which stay."""
        return self._rows


class Chooser:
    """Follows a `Choose`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Choose, width: int, dictionary: Dictionary) -> None:
        columns = [each for each in operator.sources if isinstance(each, int)]
        self._get = tuple_getter(columns)
        self._is_plain = len(columns) == len(operator.sources)
        self._tells_apart = set(columns) == set(range(width))
        self._sources = [
            (False, source)
            if isinstance(source, int)
            else (True, UNBOUND if source is None else dictionary.encode_one(source))
            for source in operator.sources
        ]

    def fill(self, found: SignedRows) -> SignedRows:
        """The rows that are there when it begins, with other columns."""
        rows = np.empty((len(found.counts), len(self._sources)), np.int32)
        for at, (fixed, source) in enumerate(self._sources):
            rows[:, at] = source if fixed else found.rows[:, source]
        made = SignedRows(rows, found.counts)
        return made if self._tells_apart else consolidated(made)

    def apply(self, *bags: Bag) -> Bag:
        """Rows with other columns; those that become equal are counted together."""
        (rows,) = bags
        chosen = map(self._get if self._is_plain else self._filled, rows)
        if self._tells_apart:
            return dict(zip(chosen, rows.values(), strict=True))
        made: Bag = {}
        for row, count in zip(chosen, rows.values(), strict=True):
            add_to(made, row, count)
        return made

    def _filled(self, row: Row) -> Row:
        return tuple(each if fixed else row[each] for fixed, each in self._sources)


class Gatherer:
    """Follows a `Gather`."""

    looked_at = size = 0
    rows = nothing_kept

    def fill(self, *several: SignedRows) -> SignedRows:
        """The rows of all that are there when it begins."""
        return added_up(several, several[0].rows.shape[1])

    def apply(self, *bags: Bag) -> Bag:
        """The sum of the changes."""
        return summed(bags)


class Oncer:
    """Follows a `Once`: counts rows, and passes on the first and the last of each."""

    looked_at = 0

    def __init__(self) -> None:
        self._counts = CountTable()

    @property
    def size(self) -> int:
        """How many different rows there are."""
        return self._counts.size

    def fill(self, found: SignedRows) -> SignedRows:
        """The rows that are there when it begins, each once."""
        self._counts.first = FirstRows(found, range(found.rows.shape[1]))
        return SignedRows(found.rows, np.ones_like(found.counts))

    def apply(self, *bags: Bag) -> Bag:
        """Rows that were not there, and rows that are there no longer."""
        made: Bag = {}
        self._counts.expect(len(bags[0]))
        for row, count in bags[0].items():
            if self._counts.change(row, count):
                made[row] = 1 if row in self._counts else -1
        return made

    def rows(self) -> Iterable[Row]:
        """The different rows."""
        return self._counts.rows()


class Conditioner:
    """Follows a `Condition`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Condition, dictionary: Dictionary, base: str) -> None:
        self._truths = Truths(operator.expression, dictionary, base)
        self._used = positions_in(operator.expression)

    def fill(self, found: SignedRows) -> SignedRows:
        """The rows that are there when it begins and for which the condition is true."""
        rows, places = told_apart(found.rows, self._used)
        kept = np.array(self._truths.of(rows), np.bool_)[places]
        return SignedRows(found.rows[kept], found.counts[kept])

    def apply(self, *bags: Bag) -> Bag:
        """The rows for which the condition is true."""
        rows = list(bags[0])
        truths = self._truths.of(rows)
        return {row: bags[0][row] for row, truth in zip(rows, truths, strict=True) if truth}


class Computer:
    """Follows a `Compute`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Compute, dictionary: Dictionary, base: str) -> None:
        self._values = BoundedEvaluator(operator.expression, dictionary, base)
        self._used = positions_in(operator.expression)

    def fill(self, found: SignedRows) -> SignedRows:
        """The rows that are there when it begins, with their values."""
        rows, places = told_apart(found.rows, self._used)
        values = np.array(self._values.values(rows), np.int32)[places]
        return SignedRows(np.column_stack([found.rows, values]), found.counts)

    def apply(self, *bags: Bag) -> Bag:
        """The rows with their values."""
        rows = list(bags[0])
        values = self._values.values(rows)
        return {(*row, v): bags[0][row] for row, v in zip(rows, values, strict=True)}


class Stamper:
    """Follows a `Stamp`: the blank node of a row is the same whenever the row comes."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, operator: Stamp, dictionary: Dictionary) -> None:
        self._name = operator.name
        self._dictionary = dictionary

    def apply(self, *bags: Bag) -> Bag:
        """The rows with their blank nodes."""
        return {(*row, self._node(row)): count for row, count in bags[0].items()}

    def _node(self, row: Row) -> int:
        texts = self._dictionary.texts([each for each in row if each != UNBOUND])
        bound = "".join("." if each == UNBOUND else "x" for each in row)
        digest = hashlib.blake2b("\n".join([self._name, bound, *texts]).encode(), digest_size=12)
        return self._dictionary.encode_one(BlankNode(f"w{digest.hexdigest()}"))


class StatementFilter:
    """Follows a `Statements`."""

    looked_at = size = 0
    rows = nothing_kept

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary

    def fill(self, found: SignedRows) -> SignedRows:
        """The triples of RDF that are there when it begins."""
        kept = (found.rows != UNBOUND).all(axis=1)
        marks = np.empty(int(kept.sum()), np.bool_)
        self._dictionary.mark_statements(np.ascontiguousarray(found.rows[kept]), marks)
        kept[kept] = marks
        return SignedRows(found.rows[kept], found.counts[kept])

    def apply(self, *bags: Bag) -> Bag:
        """The rows that are triples of RDF."""
        rows = [row for row in bags[0] if UNBOUND not in row]
        if not rows:
            return {}
        marks = np.empty(len(rows), np.bool_)
        self._dictionary.mark_statements(np.array(rows, np.int32), marks)
        return {row: bags[0][row] for row, fits in zip(rows, marks.tolist(), strict=True) if fits}


class Cutter:
    """Follows a `Cut`: keeps all rows, and orders those of a group anew after every change."""

    def __init__(self, operator: Cut, dictionary: Dictionary, base: str) -> None:
        self._operator = operator
        self._ordering = Ordering(operator.order, dictionary, base)
        self._key = tuple_getter(operator.keys)
        self._rows: dict[Row, Bag] = {}
        self._shown: dict[Row, Bag] = {}
        self.looked_at = 0

    @property
    def size(self) -> int:
        """How many rows there are before the cut, and how many after it."""
        return sum(len(bag) for bags in (self._rows, self._shown) for bag in bags.values())

    def apply(self, *bags: Bag) -> Bag:
        """The difference between the rows that are shown now and those that were."""
        touched = {}
        for row, count in bags[0].items():
            key = self._key(row)
            touched[key] = self._rows.setdefault(key, {})
            add_to(touched[key], row, count)
        made: list[Bag] = []
        for key, rows in touched.items():
            self.looked_at += len(rows)
            before, now = self._shown.pop(key, {}), self._cut(rows)
            made += [now, {row: -count for row, count in before.items()}]
            if rows:
                self._shown[key] = now
            else:
                del self._rows[key]
        return summed(made)

    def rows(self) -> Iterable[Row]:
        """The rows before the cut."""
        return chain.from_iterable(self._rows.values())

    def _cut(self, rows: Bag) -> Bag:
        start = self._operator.start
        length = self._operator.length
        skipped, found = start, {}
        room = float("inf") if length is None else length
        for row in self._ordering.sorted(list(rows)):
            count = rows[row]
            passed = min(skipped, count)
            skipped -= passed
            taken = min(count - passed, room)
            if taken:
                found[row] = int(taken)
                room -= taken
        return found


def worker_of(operator: Operator, width: int, dictionary: Dictionary, base: str) -> Worker:
    """The worker of an operator whose first input is so wide; triple patterns have none."""
    match operator:
        case Constantly():
            return Lister(operator, dictionary)
        case Combine() | Keep() | Mark():
            return joiner_of(operator, dictionary)
        case Condition():
            return Conditioner(operator, dictionary, base)
        case Compute():
            return Computer(operator, dictionary, base)
        case Stamp():
            return Stamper(operator, dictionary)
        case Choose():
            return Chooser(operator, width, dictionary)
        case Gather():
            return Gatherer()
        case Once():
            return Oncer()
        case Statements():
            return StatementFilter(dictionary)
        case Group():
            return Grouper(operator, dictionary)
        case Reach():
            return ReacherApart() if operator.apart else Reacher()
        case Cut():
            return Cutter(operator, dictionary, base)
        case Match() | MatchNamed() | Joined():
            raise AssertionError("triple patterns have no inputs")
