"""Conditions on rows that ids alone decide, without an evaluator.

A condition of comparisons, BOUND, sameTerm, IN and their combinations is decided by ids
alone where the ids are small integers, IRIs or blank nodes.  Other terms leave it undecided.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from livefacts.engine.flow.bags import UNBOUND, Row
from livefacts.language.expressions import Call, Constant, QueryExpression
from livefacts.language.formula import Variable
from livefacts.plan.continuous.flow import NEVER_BOUND, position_of
from livefacts.store.terms.dictionary import BLANK, IRI, Dictionary
from livefacts.store.terms.text_table import INLINE_FIRST

UNDECIDED = object()
ERROR = None
Decide: TypeAlias = Callable[[Row], Any]
"""True, False, ERROR or UNDECIDED for a row."""
Read: TypeAlias = Callable[[Row], int]

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MOST_KINDS = 1 << 16


def decider(expression: QueryExpression, dictionary: Dictionary) -> Decide | None:
    """How to decide a condition, or None if there is nothing in it to decide by ids."""
    return _Maker(dictionary).decide(expression)


class _Maker:
    """Makes functions of conditions."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._things: dict[int, bool] = {}
        self._epoch = dictionary.epoch

    def decide(self, expression: QueryExpression) -> Decide | None:
        if isinstance(expression, Constant):
            return self._constant(expression)
        if not isinstance(expression, Call):
            return self._flag(expression) if isinstance(expression, Variable) else None
        name, arguments = expression.name, expression.arguments
        if name == "BOUND":
            read = self._read(arguments[0])
            return None if read is None else lambda row: read(row) != UNBOUND
        if name in ("&&", "||", "!"):
            parts = [self.decide(argument) for argument in arguments]
            known = [part for part in parts if part is not None]
            return self._combined(name, known) if len(known) == len(parts) else None
        if name in ("IN", "NOT IN"):
            return self._among(name, arguments)
        if name in COMPARISONS or name == "sameTerm":
            return self._compared(name, arguments)
        return None

    def _constant(self, expression: Constant) -> Decide | None:
        known = {"true": True, "false": False}
        truth = known.get(getattr(expression.term, "value", ""))
        is_boolean = "boolean" in str(expression.term)
        return (lambda row: truth) if truth is not None and is_boolean else None

    def _flag(self, variable: Variable) -> Decide | None:
        """A column that a step has filled with true or false."""
        if variable == NEVER_BOUND:
            return lambda row: ERROR
        from pyoxigraph import Literal

        true = self._dictionary.encode_one(Literal(True))
        false = self._dictionary.encode_one(Literal(False))
        truths = {true: True, false: False, UNBOUND: ERROR}
        at = position_of(variable)
        return lambda row: truths.get(row[at], UNDECIDED)

    def _combined(self, name: str, parts: Sequence[Decide]) -> Decide:
        if name == "!":
            (inner,) = parts
            return lambda row: _not(inner(row))
        deciding = name == "||"
        return lambda row: _chained([part(row) for part in parts], deciding)

    def _among(self, name: str, arguments: Sequence[QueryExpression]) -> Decide | None:
        wanted, *listed = arguments
        parts = [self._compared("=", (wanted, each)) for each in listed]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if name == "IN":
            return lambda row: _chained([part(row) for part in known], True)
        return lambda row: _not(_chained([part(row) for part in known], True))

    def _compared(self, name: str, arguments: Sequence[QueryExpression]) -> Decide | None:
        left, right = (self._read(argument) for argument in arguments)
        if left is None or right is None:
            return None
        if name == "sameTerm":
            return lambda row: _same(left(row), right(row))
        compare, is_equality = COMPARISONS[name], name in ("=", "!=")

        def decide(row: Row) -> Any:
            a, b = left(row), right(row)
            if a == UNBOUND or b == UNBOUND:
                return ERROR
            if a >= INLINE_FIRST and b >= INLINE_FIRST:
                return compare(a, b)
            if is_equality and (self._is_thing(a) or self._is_thing(b)):
                return compare(a, b)
            return UNDECIDED

        return decide

    def _is_thing(self, term: int) -> bool:
        """Whether a term is an IRI or a blank node, which is equal to itself alone."""
        if self._epoch != self._dictionary.epoch:
            self._things, self._epoch = {}, self._dictionary.epoch
        known = self._things.get(term)
        if known is None:
            if len(self._things) >= MOST_KINDS:
                self._things.clear()
            kind = int(self._dictionary.kinds([term])[0])
            known = self._things[term] = kind in (IRI, BLANK)
        return known

    def _read(self, expression: QueryExpression) -> Read | None:
        if isinstance(expression, Constant):
            term = self._dictionary.encode_one(expression.term)
            return lambda row: term
        if not isinstance(expression, Variable):
            return None
        if expression == NEVER_BOUND:
            return lambda row: UNBOUND
        at = position_of(expression)
        return lambda row: row[at]


def _same(left: int, right: int) -> Any:
    return ERROR if UNBOUND in (left, right) else left == right


def _not(truth: Any) -> Any:
    return truth if truth is ERROR or truth is UNDECIDED else not truth


def _chained(truths: Sequence[Any], deciding: bool) -> Any:
    """`||` where true decides, `&&` where false does."""
    if deciding in truths:
        return deciding
    if UNDECIDED in truths:
        return UNDECIDED
    return ERROR if ERROR in truths else not deciding
