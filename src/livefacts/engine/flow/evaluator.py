"""The evaluator of expressions over rows of ids: every function of SPARQL, by pyoxigraph in batches.

What only compares small integers, IRIs and blank nodes, or asks what is bound, is decided
here.  Everything else becomes one query over the values of all rows of a change, and its
answers are remembered: a row that goes is asked what it was asked when it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store, Triple

from livefacts.engine.contract import Ids
from livefacts.engine.flow.bags import UNBOUND, Row
from livefacts.engine.flow.conditions import UNDECIDED, Decide, decider
from livefacts.engine.flow.large_integers import folded, is_long, may_become_large, ordered_alike
from livefacts.engine.flow.pattern_bounds import PatternBounds
from livefacts.engine.flow.string_bounds import MOST_STRING_BYTES, builds_strings, most_bytes
from livefacts.errors import QueryError
from livefacts.language.expressions import (
    Call,
    Constant,
    QueryExpression,
    rewritten,
    written,
)
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.numbers import Number
from livefacts.model.values import value_of
from livefacts.model.work_bounds import look
from livefacts.plan.continuous.flow import NEVER_BOUND, column, position_of, positions_in
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.known_numbers import NumberedTerms

REMEMBERED = 1 << 16
"""How many values an expression remembers."""
BATCH = 4096
FALSE = Constant(Literal(False))
_HERE = NamedNode("urn:livefacts:row")


class Evaluator:
    """The values of one expression."""

    def __init__(
        self,
        expression: QueryExpression,
        dictionary: NumberedTerms,
        base: str = "",
        pause: Callable[[], None] = look,
    ) -> None:
        self._plain = expression
        self._is_growing = may_become_large(expression)
        self._expression = _asked_for(expression)
        self._dictionary = dictionary
        self._base = base or None
        self._positions = positions_in(expression)
        self._known: dict[Row, int] = {}
        self._epoch = dictionary.epoch
        self._store = Store()
        self._pause = pause
        self._patterns = PatternBounds(expression)
        self._parts: dict[QueryExpression, Evaluator] = {}
        """Evaluators of what regular expressions and their texts are computed by."""
        self.asked = 0
        check_expression(expression, self._base)

    def values(self, rows: Sequence[Row]) -> list[int]:
        """The id of the value for each row; -1 where it is an error."""
        plain = self._plain
        if isinstance(plain, Variable):
            if plain == NEVER_BOUND:
                return [UNBOUND] * len(rows)
            at = position_of(plain)
            return [row[at] for row in rows]
        if isinstance(plain, Constant):
            return [self._dictionary.encode_one(plain.term)] * len(rows)
        if self._epoch != self._dictionary.epoch:
            self._known, self._epoch = {}, self._dictionary.epoch
        keys = [tuple(row[at] for at in self._positions) for row in rows]
        known, new = self._known, dict.fromkeys(keys)
        found = {key: known[key] for key in new if key in known}
        missing = [key for key in new if key not in known]
        for first in range(0, len(missing), BATCH):
            found.update(self._asked(missing[first : first + BATCH]))
        self._remember(found)
        return [found[key] for key in keys]

    def _remember(self, found: dict[Row, int]) -> None:
        if len(self._known) + len(found) > REMEMBERED:
            self._known.clear()
        self._known.update(islice(found.items(), REMEMBERED))

    def _asked(self, keys: Sequence[Row]) -> Iterator[tuple[Row, int]]:
        """The values for rows of used columns, from one query."""
        self.asked += len(keys)
        terms = [self._terms(key) for key in keys]
        for plain, numbers in self._pieces(terms):
            piece = [terms[number] for number in numbers]
            asked = self._expression if plain is self._plain else _asked_for(plain)
            answers = self._answered(asked, piece)
            for at, row in enumerate(piece):
                if self._is_growing or any(map(is_long, row)):
                    self._answer_exactly(plain, at, row, answers)
            for at, number in enumerate(numbers):
                yield keys[number], answers.get(at, UNBOUND)

    def _pieces(
        self, rows: Sequence[Sequence[Any]]
    ) -> Iterator[tuple[QueryExpression, Sequence[int]]]:
        """What is asked about which rows: without regular expressions all at once."""
        if not self._patterns.matches:
            yield self._plain, range(len(rows))
            return
        named = [dict(zip(map(column, self._positions), row, strict=True)) for row in rows]
        for piece in self._patterns.pieces(named, self._values_of):
            yield piece
            self._pause()

    def _values_of(
        self, part: QueryExpression, rows: Sequence[Mapping[Variable, Any]]
    ) -> list[Term | None]:
        """The values of a part of the expression, for rows of terms."""
        if part not in self._parts:
            made = Evaluator(part, self._dictionary, self._base or "", self._pause)
            made._parts = self._parts
            self._parts[part] = made
        evaluator = self._parts[part]
        width = max(evaluator._positions, default=-1) + 1
        ids = [[UNBOUND] * width for _ in rows]
        for cells, row in zip(ids, rows, strict=True):
            for at in evaluator._positions:
                term = row[column(at)]
                cells[at] = UNBOUND if term is None else self._dictionary.encode_one(term)
        found = evaluator.values([tuple(cells) for cells in ids])
        return [None if each == UNBOUND else self._dictionary.decode_one(each) for each in found]

    def _answered(
        self, expression: QueryExpression, terms: Sequence[Sequence[object]]
    ) -> dict[int, int]:
        """The values that rows have, by the numbers of the rows."""
        if any(_has_blank(term) for row in terms for term in row):
            text, store = self._over_a_store(expression, terms)
        else:
            text, store = self._over_values(expression, terms), self._store
        return {
            int(number.value): self._dictionary.encode_one(value)
            for number, value in store.query(text, base_iri=self._base)  # type: ignore[union-attr]
            if value is not None
        }

    def _answer_exactly(
        self, plain: QueryExpression, number: int, row: Sequence[Any], answers: dict[int, int]
    ) -> None:
        """Replace the answer of a row where integers have to do with it that pyoxigraph has not."""
        named = zip(map(column, self._positions), row, strict=True)
        bound = {each: term for each, term in named if term is not None}
        exact = folded(plain, bound, lambda part: self._one(part, row))
        if isinstance(exact, Constant):
            answers[number] = self._dictionary.encode_one(exact.term)
        elif exact != plain:
            answers.pop(number, None)
            for value in self._answered(_asked_for(exact), [row]).values():
                answers[number] = value

    def _one(self, expression: QueryExpression, row: Sequence[object]) -> Term | None:
        """The value of an expression for one row."""
        ids = self._answered(_asked_for(expression), [row]).values()
        return next((self._dictionary.decode_one(each) for each in ids), None)

    def _terms(self, key: Row) -> list[object]:
        bound = [each for each in key if each != UNBOUND]
        terms = iter(self._dictionary.decode(bound) if bound else ())
        return [None if each == UNBOUND else next(terms) for each in key]

    def _over_values(self, expression: QueryExpression, rows: Sequence[Sequence[object]]) -> str:
        names = " ".join(f"?c{at} {written(_text_of(at))}" for at in self._positions)
        lines = "\n".join(
            f"({number} {' '.join(f'{_shown(term)} {_shown(_text(term))}' for term in row)})"
            for number, row in enumerate(rows)
        )
        return (
            f"SELECT ?number ({written(expression)} AS ?value) "
            f"{{ VALUES (?number {names}) {{ {lines} }} }}"
        )

    def _over_a_store(
        self, expression: QueryExpression, rows: Sequence[Sequence[object]]
    ) -> tuple[str, Store]:
        """The same for rows with blank nodes, which cannot be written as VALUES."""
        store = Store()
        for number, row in enumerate(rows):
            subject = BlankNode(f"row{number}")
            store.add(Quad(subject, _HERE, Literal(number)))
            for at, term in zip(self._positions, row, strict=True):
                if term is not None:
                    store.add(Quad(subject, _column(at), term))  # type: ignore[arg-type]
                if (text := _text(term)) is not None:
                    store.add(Quad(subject, _column(at, "text"), text))
        parts = " ".join(
            f"OPTIONAL {{ ?row {_column(at)} ?c{at} }} "
            f"OPTIONAL {{ ?row {_column(at, 'text')} {written(_text_of(at))} }}"
            for at in self._positions
        )
        value = written(expression)
        return f"SELECT ?number ({value} AS ?value) {{ ?row {_HERE} ?number {parts} }}", store


class BoundedEvaluator(Evaluator):
    """The same for what is followed, where a string that may pass the limit is an error.

    Nobody asked for the change in which it comes, so there is nobody to tell.
    """

    def _asked(self, keys: Sequence[Row]) -> Iterator[tuple[Row, int]]:
        if not builds_strings(self._plain):
            yield from super()._asked(keys)
            return
        short = [key for key in keys if self._most_bytes(key) <= MOST_STRING_BYTES]
        yield from dict.fromkeys(keys, UNBOUND).items()
        yield from super()._asked(short)

    def _most_bytes(self, key: Row) -> int:
        places = {
            column(at): term for at, term in zip(self._positions, self._terms(key), strict=True)
        }

        def length(leaf: QueryExpression) -> int:
            term = leaf.term if isinstance(leaf, Constant) else places.get(leaf)  # type: ignore[arg-type]
            return len(getattr(term, "value", "").encode())

        return most_bytes(self._plain, length)


def _asked_for(expression: QueryExpression) -> QueryExpression:
    """What pyoxigraph is asked, so that its answer is that of the expression."""
    return adding_durations(reading_texts(expression))


def reading_texts(expression: QueryExpression) -> QueryExpression:
    """The same expression with the texts of columns for STR of them, as they are written.

    pyoxigraph would write the value of a number anew: `2.50` as `2.5`.
    """

    def text_of(part: QueryExpression) -> QueryExpression | None:
        told = part.arguments[0] if isinstance(part, Call) and part.name == "STR" else None
        is_column = isinstance(told, Variable) and told != NEVER_BOUND
        return _text_of(position_of(told)) if is_column else None  # type: ignore[arg-type]

    return rewritten(expression, text_of)


def _text_of(at: int) -> Variable:
    """The variable that has the text of a column."""
    return Variable(f"t{at}")


def _text(term: object) -> Literal | None:
    return Literal(term.value) if isinstance(term, Literal | NamedNode) else None


MOST_SUMS = 4
"""Sums of an expression that may be of dates; each is written out three times."""


def adding_durations(expression: QueryExpression) -> QueryExpression:
    """The same expression where pyoxigraph adds a duration to a date or a time, too.

    It takes one away from a variable date, and adds none: `?t + ?d` is tried as `?t - -?d`.

    >>> written(adding_durations(Call("+", (Variable("t"), Variable("d")))))
    'COALESCE((?t + ?d), (?t - (-?d)), (?d - (-?t)))'
    """
    sums = 0

    def spelled(part: QueryExpression) -> QueryExpression | None:
        nonlocal sums
        if not isinstance(part, Call) or part.name != "+" or any(map(_is_number, part.arguments)):
            return None
        sums += 1
        one, other = (rewritten(each, spelled) for each in part.arguments)
        turned = (Call("-", (one, Call("u-", (other,)))), Call("-", (other, Call("u-", (one,)))))
        return Call("COALESCE", (Call("+", (one, other)), *turned))

    found = rewritten(expression, spelled)
    return found if sums <= MOST_SUMS else expression


def _is_number(expression: QueryExpression) -> bool:
    return isinstance(expression, Constant) and isinstance(value_of(expression.term), Number)


class Truths:
    """For which rows a condition is true."""

    def __init__(self, expression: QueryExpression, dictionary: Dictionary, base: str = "") -> None:
        self._decide: Decide | None = decider(expression, dictionary)
        truth = Call("IF", (expression, Constant(Literal(True)), FALSE))
        self._values = BoundedEvaluator(truth, dictionary, base)
        self._true = dictionary.encode_one(Literal(True))

    @property
    def asked(self) -> int:
        """How many rows pyoxigraph was asked about."""
        return self._values.asked

    def of(self, rows: Sequence[Row]) -> list[bool]:
        """Whether it is true, for each row; an error is not."""
        if self._decide is None:
            return [value == self._true for value in self._values.values(rows)]
        decided = [self._decide(row) for row in rows]
        open_rows = [row for row, truth in zip(rows, decided, strict=True) if truth is UNDECIDED]
        rest: Iterator[int] = iter(self._values.values(open_rows) if open_rows else ())
        return [
            next(rest) == self._true if truth is UNDECIDED else truth is True for truth in decided
        ]


class Ordering:
    """Rows in the order of a query; rows that are equal there are in the order of their terms."""

    def __init__(
        self,
        order: Sequence[tuple[QueryExpression, bool]],
        dictionary: Dictionary,
        base: str = "",
    ) -> None:
        self._dictionary = dictionary
        self._keys = [BoundedEvaluator(expression, dictionary, base) for expression, _ in order]
        self._descending = [descending for _, descending in order]
        self._store = Store()

    def sorted(self, rows: Sequence[Row]) -> list[Row]:
        """The rows, first things first."""
        if len(rows) < 2:
            return list(rows)
        return [rows[at] for at in self.order(np.array(rows, np.int32)).tolist()]

    def order(self, rows: Ids) -> NDArray[np.int64]:
        """The places of rows, first things first."""
        by = self._by_texts(rows)
        if not self._keys or len(rows) < 2:
            return by
        in_order = list(map(tuple, rows[by].tolist()))
        store = Store()
        for number in range(len(rows)):
            store.add(Quad(BlankNode(f"row{number}"), _HERE, Literal(number)))
        for at, key in enumerate(self._keys):
            found = key.values(in_order)
            bound = [number for number, value in enumerate(found) if value != UNBOUND]
            terms = [self._dictionary.decode_one(found[number]) for number in bound]
            for number, term, place in zip(bound, *ordered_alike(terms), strict=True):
                store.add(Quad(BlankNode(f"row{number}"), _column(at), term))  # type: ignore[arg-type]
                store.add(Quad(BlankNode(f"row{number}"), _column(at, "place"), Literal(place)))
        return by[[int(number.value) for (number,) in store.query(self._text())]]  # type: ignore[union-attr]

    def _text(self) -> str:
        numbers = range(len(self._descending))
        parts = " ".join(
            f"OPTIONAL {{ ?row {_column(at)} ?c{at} ; {_column(at, 'place')} ?p{at} }}"
            for at in numbers
        )
        ways = ["DESC" if descending else "ASC" for descending in self._descending]
        keys = " ".join(f"{way}(?c{at}) {way}(?p{at})" for at, way in enumerate(ways))
        return f"SELECT ?number {{ ?row {_HERE} ?number {parts} }} ORDER BY {keys} ?number"

    def _by_texts(self, rows: Ids) -> NDArray[np.int64]:
        if not rows.size:
            return np.arange(len(rows))
        ids, places = np.unique(rows, return_inverse=True)
        unbound = int(ids[0] == UNBOUND)
        texts = [""] * unbound + self._dictionary.texts(ids[unbound:])
        ranks = np.empty(len(ids), np.int64)
        ranks[sorted(range(len(ids)), key=texts.__getitem__)] = np.arange(len(ids))
        return np.lexsort(ranks[places].reshape(rows.shape).T[::-1])


def check_expression(expression: QueryExpression, base: str | None) -> None:
    """Refuse an expression that pyoxigraph does not know, before there is a row."""
    text = f"SELECT ({written(expression)} AS ?value) {{ }} LIMIT 0"
    try:
        list(Store().query(text, base_iri=base))  # type: ignore[arg-type]
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:
        raise QueryError(f"an expression of the query cannot be evaluated: {error}") from None


def _column(at: int, what: str = "column") -> NamedNode:
    return NamedNode(f"urn:livefacts:{what}:{at}")


def _shown(term: object) -> str:
    if term is None:
        return "UNDEF"
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


def _has_blank(term: object) -> bool:
    if isinstance(term, Triple):
        return any(map(_has_blank, (term.subject, term.predicate, term.object)))
    return isinstance(term, BlankNode)
