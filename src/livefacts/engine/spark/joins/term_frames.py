"""Term frames: what rules need of the dictionary, and values of whole columns.

Joins compare ids.  Comparisons, arithmetic and aggregates look at terms: ids are decoded by
a join with the table of terms, and a function takes whole columns of texts, in which it
evaluates each different pair of operands once.

A term that a rule computes gets its id from its text, wherever that happens; the text
travels with the conclusion and is remembered at the end of the round.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, parse

from livefacts.model.facts import Symbol, Term
from livefacts.model.running_totals import IN_RULES, aggregate
from livefacts.model.values import apply_function, arithmetic, compare

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SYMBOL_MARK = "'"
_numbers = count()


class TermFrames(Protocol):
    """The dictionary, as far as rules need it."""

    def put(self, terms: set[Term]) -> None:
        """Make sure that the terms of a program are in the table."""

    def table(self) -> DataFrame:
        """All terms: `id` and `text`."""

    def remember(self, made: DataFrame) -> None:
        """Take in terms that rules have computed: `id` and `text`, in any number of rows."""

    @property
    def id_of(self) -> Callable[[str], int]:
        """The id of a text: a function that tasks can be sent."""


def text_of(term: Term) -> str:
    """The text that stands for a term in the table: N-Triples, or a marked symbol.

    >>> text_of(Symbol("kitchen")), text_of(NamedNode("http://e/a"))
    ("'kitchen", '<http://e/a>')
    """
    if isinstance(term, Symbol):
        return SYMBOL_MARK + term.name
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


@lru_cache(1 << 16)
def term_of(text: str) -> Term:
    """The term of a text.

    >>> term_of("'kitchen"), term_of('"x"@en').language
    (kitchen, 'en')
    """
    if text.startswith(SYMBOL_MARK):
        return Symbol(text[1:])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    if text.startswith("<") and not text.startswith("<<"):
        return NamedNode(text[1:-1])
    (quad,) = parse(f"<x:s> <x:p> {text} .", format=RdfFormat.N_TRIPLES)
    term: Term = quad.object
    return term


class ValueFunctions:
    """The functions on values, under names that SQL on Spark can use once they are asked for."""

    def __init__(self, session: SparkSession, id_of: Callable[[str], int]) -> None:
        self._session = session
        self._id_of = id_of
        self._number = next(_numbers)

    @cached_property
    def compare(self) -> str:
        return self._registered("compare", on_columns(_compared, "boolean"))

    @cached_property
    def compute(self) -> str:
        kind = "id bigint, text string"
        return self._registered("compute", on_columns(_computing(self._id_of), kind))

    @cached_property
    def aggregate(self) -> str:
        return self._registered("aggregate", _arrow_function(_aggregated, "string", "GROUPED_AGG"))

    @cached_property
    def named(self) -> str:
        return self._registered("named", on_columns(_naming(self._id_of), "bigint"))

    def _registered(self, what: str, function: Any) -> str:
        name = f"livefacts_{what}_{self._number}"
        self._session.udf.register(name, function)
        return name


def on_columns(function: Any, kind: str) -> Any:
    """A function on whole columns; a filter on its result is not pushed below it."""
    # Below, it would be computed again.
    return _arrow_function(function, kind, "SCALAR").asNondeterministic()


def _arrow_function(function: Any, kind: str, way: str) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    named: Any = F
    with warnings.catch_warnings():
        # Types as hints would need pyarrow wherever this module is read.
        warnings.simplefilter("ignore", UserWarning)
        return named.arrow_udf(function, kind, getattr(named.ArrowUDFType, way))


def _compared(operators: pa.Array, left: pa.Array, right: pa.Array) -> pa.Array:
    import pyarrow as pa

    def holds(operator: str, one: str, other: str) -> bool:
        return compare(operator, term_of(one), term_of(other))

    return pa.array(_each_once(holds, operators, left, right), pa.bool_())


def _computing(id_of: Callable[[str], int]) -> Callable[..., pa.Array]:
    def computed(operators: pa.Array, left: pa.Array, right: pa.Array) -> pa.Array:
        import pyarrow as pa

        def made(operator: str, one: str, other: str) -> dict[str, object] | None:
            term = _result(operator, term_of(one), term_of(other))
            if term is None:
                return None
            text = text_of(term)
            return {"id": id_of(text), "text": text}

        kind = pa.struct([("id", pa.int64()), ("text", pa.string())])
        return pa.array(_each_once(made, operators, left, right), kind)

    return computed


def _result(operator: str, left: Term, right: Term) -> Term | None:
    if operator in "+-*/":
        return arithmetic(operator, left, right)
    return apply_function(operator, left)


def _naming(id_of: Callable[[str], int]) -> Callable[..., pa.Array]:
    def named(texts: pa.Array) -> pa.Array:
        import pyarrow as pa

        return pa.array([None if t is None else id_of(t) for t in texts.to_pylist()], pa.int64())

    return named


def _aggregated(
    functions: pa.Array, parameters: pa.Array, texts: pa.Array, others: pa.Array
) -> str | None:
    """An aggregate of rules; `others` are what some look at beside the texts."""
    function = functions[0].as_py()
    keys: Iterable[Any] = map(term_of, texts.to_pylist())
    if IN_RULES[function].values > 1:
        keys = zip(keys, map(term_of, others.to_pylist()), strict=True)
    result = aggregate(function, keys, parameters[0].as_py())
    return None if result is None else text_of(result)


def _each_once(
    function: Callable[[str, str, str], object], *columns: pa.Array
) -> list[object | None]:
    """The function over columns, evaluated once for each different row."""
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    results = {row: function(*row) for row in set(rows)}
    return [results[row] for row in rows]
