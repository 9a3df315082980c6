"""Expressions over columns: the value of an expression, or whether it is true, for all rows.

Comparisons, arithmetic, logic and tests of terms are computed a column at a time, on what the
terms stand for.  Functions of one term are computed once for each different term; everything
else, and what a column cannot decide, is asked of pyoxigraph, once for each different row of
arguments.  An operator asks for its second side only where the first has decided nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pyoxigraph import Literal, NamedNode

from livefacts.engine.flow.large_integers import answer_of
from livefacts.engine.flow.string_bounds import MOST_STRING_BYTES
from livefacts.engine.queries import column_operators as operators
from livefacts.engine.queries.column_operators import (
    ERROR,
    FALSE,
    IS_BLANK,
    IS_IRI,
    IS_LITERAL,
    IS_NUMBER,
    OPEN,
    TRUE,
    TRUTHS,
    Truth,
    truth_of,
)
from livefacts.engine.queries.fresh_values import DRAWN, FreshValues
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.pyoxigraph_values import PyoxigraphValues
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids, Rows, Solutions
from livefacts.engine.queries.term_order import TermOrder
from livefacts.engine.queries.value_columns import AT_ONCE, TermValues, ValueColumn
from livefacts.engine.queries.value_lines import (
    NOTHING,
    OTHER,
    STRING,
)
from livefacts.language.algebra import exists_in
from livefacts.language.expressions import (
    Call,
    Constant,
    Exists,
    QueryExpression,
    rewritten,
    variables_in_expression,
)
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.values import Text, value_of

TESTS = {
    "isIRI": IS_IRI,
    "isURI": IS_IRI,
    "isBLANK": IS_BLANK,
    "isLITERAL": IS_LITERAL,
}
LOGICAL = frozenset(
    [
        "&&",
        "||",
        "!",
        "IN",
        "NOT IN",
        "BOUND",
        "sameTerm",
        "isNUMERIC",
        *operators.COMPARISONS,
        *TESTS,
    ]
)
LEFT, RIGHT = Variable("left"), Variable("right")


def _str(term: Term) -> Term | None:
    return Literal(term.value) if isinstance(term, Literal | NamedNode) else None


def _lang(term: Term) -> Term | None:
    return Literal(term.language or "") if isinstance(term, Literal) else None


def _datatype(term: Term) -> Term | None:
    return term.datatype if isinstance(term, Literal) else None


def _length(term: Term) -> Term | None:
    value = value_of(term)
    return Literal(len(value.text)) if isinstance(value, Text) else None


OF_ONE_TERM: dict[str, Callable[[Term], Term | None]] = {
    "STR": _str,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "STRLEN": _length,
}


class Expressions:
    """The expressions of one query.

    `exists` says for which rows an EXISTS is true, or a NOT EXISTS; `now` is what NOW() gives.
    Equal rows that stand together have one value: see `fresh_values.rows_for`.
    """

    def __init__(
        self,
        terms: QueryTerms,
        exists: Callable[[Exists, Solutions], Flags],
        *,
        base: str = "",
        now: Literal | None = None,
        pause: Callable[[], None] = lambda: None,
        most_string_bytes: int = MOST_STRING_BYTES,
    ) -> None:
        self.terms = terms
        self._exists = exists
        self.most_string_bytes = most_string_bytes
        self._now = now
        self.pause = pause
        self.term_values = TermValues(terms, pause)
        self.term_order = TermOrder(terms, self.term_values)
        self._pyoxigraph = PyoxigraphValues(terms, base, pause, most_string_bytes)
        self._fresh = FreshValues(terms)
        self._truth_ids = terms.encode([Literal(False), Literal(True), None])

    def values(self, expression: QueryExpression, rows: Solutions) -> Ids:
        """The id of the value for each row; unbound where it is an error."""
        self.pause()
        return self._ids(*self._settled(expression, rows))

    def truths(self, expression: QueryExpression, rows: Solutions) -> Flags:
        """Whether the effective boolean value is true, for each row; an error is not."""
        true: Flags = self._truth(*self._settled(expression, rows)) == TRUE
        return true

    def _settled(
        self, expression: QueryExpression, rows: Solutions
    ) -> tuple[QueryExpression, Solutions]:
        """The expression without the functions that depend on more than their arguments."""
        made = rows

        def settle(part: QueryExpression) -> QueryExpression | None:
            nonlocal made
            if not isinstance(part, Call) or part.name not in (*DRAWN, "NOW"):
                return None
            if part.name == "NOW":
                assert self._now is not None, "a query knows when it is asked"
                return Constant(self._now)
            name = f".fresh{len(made.columns)}"
            if part.arguments:
                column = self._fresh.nodes(self.values(part.arguments[0], rows), rows)
            else:
                column = self._fresh.drawn(part.name, rows)
            made = made.with_column(name, column)
            return Variable(name)

        return rewritten(expression, settle), made

    def _truth(self, expression: QueryExpression, rows: Solutions) -> Truth:
        match expression:
            case Exists():
                return truth_of(self._exists(expression, rows))
            case Call("&&" | "||" as name, arguments):
                return self._chained(arguments, rows, TRUE if name == "||" else FALSE)
            case Call("!", (argument,)):
                return operators.negation(self._truth(argument, rows))
            case Call("IN", (wanted, *listed)):
                return self._among(wanted, listed, rows)
            case Call("NOT IN", (wanted, *listed)):
                return operators.negation(self._among(wanted, listed, rows))
            case Call("BOUND", (argument,)):
                return truth_of(self._ids(argument, rows) != UNBOUND)
            case Call("sameTerm", (left, right)):
                return self._same(self._ids(left, rows), self._ids(right, rows))
            case Call(name, (left, right)) if name in operators.COMPARISONS:
                return self._compared(name, self._column(left, rows), self._column(right, rows))
            case Call("isNUMERIC", (argument,)):
                return self._are_numbers(self._column(argument, rows))
            case Call(name, (argument,)) if name in TESTS:
                sorts = self.term_values.kinds(self._ids(argument, rows))
                return np.where(sorts == NOTHING, ERROR, TESTS[name][sorts]).astype(np.uint8)
        return self._effective(self._column(expression, rows))

    def _chained(
        self, arguments: Sequence[QueryExpression], rows: Solutions, deciding: int
    ) -> Truth:
        """`||` where true decides, `&&` where false does."""
        truth = self._truth(arguments[0], rows)
        for argument in arguments[1:]:
            here = np.flatnonzero(truth != deciding)
            other = self._truth(argument, _some(rows, argument, here))
            error = (truth[here] == ERROR) | (other == ERROR)
            truth[here] = np.where(other == deciding, deciding, np.where(error, ERROR, other))
        return truth

    def _among(
        self, wanted: QueryExpression, listed: Sequence[QueryExpression], rows: Solutions
    ) -> Truth:
        """Whether a value is equal to one of several."""
        if not all(isinstance(each, Constant) for each in listed):
            return self._chained([Call("=", (wanted, each)) for each in listed], rows, TRUE)
        terms = [each.term for each in listed if isinstance(each, Constant)]
        things = [term for term in terms if isinstance(term, NamedNode)]
        ids, places = np.unique(self._ids(wanted, rows), return_inverse=True)
        truth = truth_of(np.isin(ids, self.terms.encode(things)))
        values = self.term_values.of(ids)
        for term in terms:
            if not isinstance(term, NamedNode):
                self.pause()
                here = np.flatnonzero(truth != TRUE)
                other = self._compared("=", values.at(here), self._constant(term, len(here)))
                errors = (truth[here] == ERROR) & (other != TRUE)
                truth[here] = np.where(errors, ERROR, other)
        truth[(ids == UNBOUND) & bool(terms)] = ERROR
        found: Truth = truth[places]
        return found

    def _same(self, left: Ids, right: Ids) -> Truth:
        truth = truth_of(left == right)
        truth[(left == UNBOUND) | (right == UNBOUND)] = ERROR
        return truth

    def _are_numbers(self, column: ValueColumn) -> Truth:
        truth = truth_of(IS_NUMBER[column.sorts])
        truth[column.sorts == NOTHING] = ERROR
        truth[column.sorts == OTHER] = OPEN
        return self._decided(truth, Call("isNUMERIC", (LEFT,)), column)

    def _effective(self, column: ValueColumn) -> Truth:
        truth = operators.effective(column)
        yes, no = Constant(Literal(True)), Constant(Literal(False))
        return self._decided(truth, Call("IF", (LEFT, yes, no)), column)

    def _compared(self, name: str, left: ValueColumn, right: ValueColumn) -> Truth:
        truth = operators.compared(name, left, right)
        strings = (truth == OPEN) & (left.sorts == STRING) & (right.sorts == STRING)
        if strings.any():
            both = np.concatenate([left.ids[strings], right.ids[strings]])
            different, places = np.unique(both, return_inverse=True)
            ranks = self.term_order.text_places(different)[places].reshape(2, -1)
            truth[strings] = truth_of(operators.COMPARISONS[name](*ranks))
        return self._decided(truth, Call(name, (LEFT, RIGHT)), left, right)

    def _decided(self, truth: Truth, call: Call, *operands: ValueColumn) -> Truth:
        """Truth that is no longer open."""
        here = np.flatnonzero(truth == OPEN)
        if len(here):
            found = self._answered(call, here, operands)
            truth[here] = np.select([found == each for each in self._truth_ids], TRUTHS, ERROR)
        return truth

    def _answered(self, call: Call, rows: Rows, operands: Sequence[ValueColumn]) -> Ids:
        """What pyoxigraph says to a call for some rows of its operands."""
        columns = {
            name: self.term_values.made(operand.at(rows))
            for name, operand in zip((LEFT, RIGHT), operands, strict=False)
        }
        found = self._pyoxigraph.of(call, columns, len(rows))
        is_open = found != self._truth_ids[TRUE] if call.name == "isNUMERIC" else found == UNBOUND
        here = np.flatnonzero(is_open)
        if len(here):
            found[here] = self._exactly(
                call.name, [ids[here] for ids in columns.values()], found[here]
            )
        return found

    def _exactly(self, name: str, columns: Sequence[Ids], otherwise: Ids) -> Ids:
        """What calls give that large integers have to do with, for each different row once."""
        rows, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        answers = [self._exact_answer(name, row) for row in rows.tolist()]
        found = self.terms.encode(answers)[places.reshape(-1)]
        return np.where(found == UNBOUND, otherwise, found)

    def _exact_answer(self, name: str, row: Sequence[int]) -> Term | None:
        terms = [term for term in self.terms.decode(row) if term is not None]
        return answer_of(name, terms) if len(terms) == len(row) else None

    def _column(self, expression: QueryExpression, rows: Solutions) -> ValueColumn:
        match expression:
            case Constant(term):
                return self._constant(term, rows.count)
            case Call(name, (left, right)) if name in operators.CALCULATIONS:
                operands = self._column(left, rows), self._column(right, rows)
                return self._computed(operators.calculated(name, *operands), expression, operands)
            case Call("u-", (argument,)):
                operand = self._column(argument, rows)
                return self._computed(operators.negated(operand), expression, (operand,))
        return self.term_values.of(self._ids(expression, rows))

    def _constant(self, term: Term, count: int) -> ValueColumn:
        return self.term_values.of(self.terms.encode([term])).repeated(count)

    def _computed(
        self, found: tuple[ValueColumn, Flags], call: Call, operands: Sequence[ValueColumn]
    ) -> ValueColumn:
        """Results of which none is open."""
        column, still = found
        here = np.flatnonzero(still)
        if not len(here):
            return column
        asked = Call(call.name, (LEFT, RIGHT)[: len(operands)])
        return column.filled(here, self.term_values.of(self._answered(asked, here, operands)))

    def _ids(self, expression: QueryExpression, rows: Solutions) -> Ids:
        match expression:
            case Variable(name):
                return rows.column(name)
            case Constant(term):
                return np.full(rows.count, self.terms.encode_one(term), np.int32)
            case Exists():
                return self._truth_ids[self._truth(expression, rows)]
            case Call(name) if name in LOGICAL:
                return self._truth_ids[self._truth(expression, rows)]
            case Call(name) if name in operators.CALCULATIONS or name == "u-":
                return self.term_values.made(self._column(expression, rows))
            case Call("IF", (condition, one, other)):
                truth = self._truth(condition, rows)
                found = np.full(rows.count, UNBOUND, np.int32)
                for branch, wanted in ((one, TRUE), (other, FALSE)):
                    here = np.flatnonzero(truth == wanted)
                    found[here] = self._ids(branch, _some(rows, branch, here))
                return found
            case Call("COALESCE", arguments):
                return self._first_bound(arguments, rows)
            case Call(name, (argument,)) if name in OF_ONE_TERM:
                return self._of_one_term(OF_ONE_TERM[name], self._ids(argument, rows))
        assert isinstance(expression, Call), "nothing else is left"
        return self._asked(expression, rows)

    def _first_bound(self, arguments: Sequence[QueryExpression], rows: Solutions) -> Ids:
        found = np.full(rows.count, UNBOUND, np.int32)
        for argument in arguments:
            here = np.flatnonzero(found == UNBOUND)
            found[here] = self._ids(argument, _some(rows, argument, here))
        return found

    def _of_one_term(self, function: Callable[[Term], Term | None], ids: Ids) -> Ids:
        different, places = np.unique(ids, return_inverse=True)
        made: list[Ids] = []
        for some in np.split(different, range(AT_ONCE, len(different), AT_ONCE)):
            terms = self.terms.decode(some)
            made.append(self.terms.encode(None if t is None else function(t) for t in terms))
            self.pause()
        found: Ids = np.concatenate(made)[places]
        return found

    def _asked(self, expression: Call, rows: Solutions) -> Ids:
        """What pyoxigraph says; an EXISTS in it becomes a column first, and so do calculations."""
        columns: dict[Variable, Ids] = {}

        def decide(part: QueryExpression) -> QueryExpression | None:
            is_calculation = isinstance(part, Call) and part.name in operators.CALCULATIONS
            if not isinstance(part, Exists) and not is_calculation:
                return None
            name = Variable(f".part{len(columns)}")
            columns[name] = self._ids(part, rows)
            return name

        decided = rewritten(expression, decide)
        for variable in variables_in_expression(expression):
            columns[variable] = rows.column(variable.name)
        return self._pyoxigraph.of(decided, columns, rows.count)


def _some(rows: Solutions, expression: QueryExpression, numbers: Rows) -> Solutions:
    """Some rows, with what an expression needs of them."""
    if len(numbers) == rows.count:
        return rows
    if next(exists_in(expression), None) is None:
        rows = rows.only({variable.name for variable in variables_in_expression(expression)})
    return rows.at(numbers)
