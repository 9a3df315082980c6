"""Value tasks: expressions, totals of groups and keys of orders, computed over columns of texts.

They run inside of tasks of Spark and are the functions that the embedded engine has: each batch
of rows has a dictionary of its own, in which each different text is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.fresh_values import DRAWN
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_groups import grouped
from livefacts.engine.queries.solutions import UNBOUND, Flags, Ids, Solutions
from livefacts.engine.spark.joins.term_frames import term_of, text_of
from livefacts.errors import QueryError
from livefacts.language.algebra import QueryAggregate, exists_in, parts_in
from livefacts.language.expressions import Call, Exists, QueryExpression
from livefacts.model.facts import Symbol, Term
from livefacts.model.numbers import nearest_double
from livefacts.model.term_ranks import TermClass, rank_of
from livefacts.store.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from pyoxigraph import Literal

OTHER_ENGINE = "Reasoner.open(folder, read_only=True).query(...) answers it"
COUNT_COLUMN = "rows_"
KEY = "key "
"""Stands before the names of keys: a key is a number here, also where an aggregate wants its value."""
KEY_SCHEMA = "class tinyint, real double, rest double, text string"
KEY_TYPE = pa.struct(
    [
        ("class", pa.int8()),
        ("real", pa.float64()),
        ("rest", pa.float64()),
        ("text", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Computing:
    """What expressions of one query need beside their variables."""

    base: str
    now: Literal

    def expressions(self, terms: QueryTerms) -> Expressions:
        """Expressions over the terms of one batch."""
        return Expressions(terms, _no_exists, base=self.base, now=self.now)


def check_expression(expression: QueryExpression) -> None:
    """Refuse what a task cannot compute."""
    if any(True for _ in exists_in(expression)):
        raise not_here("EXISTS stands inside of an order or of an aggregate")
    for part, _ in parts_in(expression):
        if isinstance(part, Call) and part.name in DRAWN:
            raise not_here(f"{part.name}() would differ where Spark repeats a task")


def not_here(why: str) -> QueryError:
    """What is said of a query that Spark does not answer."""
    return QueryError(f"Spark does not answer this query: {why}", hint=OTHER_ENGINE)


def _no_exists(part: Exists, rows: Solutions) -> Flags:
    raise AssertionError("EXISTS is a join, and no expression of a task")


def _terms() -> QueryTerms:
    return QueryTerms(Dictionary().reader())


def _encoded(texts: pa.Array | pa.ChunkedArray, terms: QueryTerms) -> Ids:
    """The ids of texts in a batch's own terms; each different text is read once."""
    coded = _coded(texts)
    known: list[Term | None] = [term_of(text) for text in coded.dictionary.to_pylist()]
    found = np.append(terms.encode(_rdf(each) for each in known), np.int32(UNBOUND))
    places = coded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    ids: Ids = found[places]
    return ids


def _rdf(term: Term | None) -> Term | None:
    return None if isinstance(term, Symbol) else term


def _texts(ids: Ids, terms: QueryTerms) -> pa.Array:
    different, places = np.unique(ids, return_inverse=True)
    made = [None if each is None else text_of(each) for each in terms.decode(different)]
    return pa.array(made, pa.string()).take(pa.array(places))


@dataclass(frozen=True, slots=True)
class ExpressionTask:
    """The values of an expression, or whether it is true, over columns of texts."""

    expression: QueryExpression
    names: tuple[str, ...]
    computing: Computing
    is_condition: bool = False

    def __call__(self, *columns: pa.Array) -> pa.Array:
        terms = _terms()
        given = {n: _encoded(each, terms) for n, each in zip(self.names, columns, strict=False)}
        rows = Solutions(len(columns[0]), given)
        expressions = self.computing.expressions(terms)
        if self.is_condition:
            return pa.array(expressions.truths(self.expression, rows))
        return _texts(expressions.values(self.expression, rows), terms)


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The columns of groups, by the variables that they stand for."""

    keys: Mapping[str, str]
    """Ids of keys."""
    key_texts: Mapping[str, str]
    """Texts of those keys that the query has computed."""
    values: Mapping[str, str]
    """Texts of what aggregates look at."""
    totals: Mapping[str, str]
    """Texts of totals."""


@dataclass(frozen=True, slots=True)
class TotalsTask:
    """The totals of the groups in a table, whose rows stand for as many as they count."""

    columns: GroupColumns
    aggregates: tuple[tuple[str, QueryAggregate], ...]
    computing: Computing

    def __call__(self, table: pa.Table) -> pa.Table:
        terms, columns = _terms(), self.columns
        keys = {name: _coded(table[column]) for name, column in columns.keys.items()}
        given = {KEY + name: _codes(coded) for name, coded in keys.items()}
        given |= {name: _encoded(table[column], terms) for name, column in columns.values.items()}
        rows = Solutions(len(table), given, table[COUNT_COLUMN].to_numpy().astype(np.int64))
        names = [KEY + name for name in keys]
        found = grouped(rows, names, self.aggregates, self.computing.expressions(terms))
        made = {}
        for name, column in columns.keys.items():
            places = _places(found.column(KEY + name))
            made[column] = keys[name].dictionary.take(places)
            if name in columns.key_texts:
                texts = table[columns.key_texts[name]].combine_chunks()
                made[columns.key_texts[name]] = _by_code(texts, given[KEY + name]).take(places)
        for name, column in columns.totals.items():
            made[column] = _texts(found.column(name), terms)
        return pa.table(made)

    def of_nothing(self) -> list[str | None]:
        """The totals of no rows."""
        texts = [*self.columns.key_texts.values(), *self.columns.values.values()]
        none = {column: pa.array([], pa.string()) for column in texts}
        none |= {c: pa.array([], pa.int64()) for c in (*self.columns.keys.values(), COUNT_COLUMN)}
        found = self(pa.table(none))
        return [found[column][0].as_py() for column in self.columns.totals.values()]


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    coded = pc.dictionary_encode(column)
    return coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded


def _codes(coded: pa.DictionaryArray) -> Ids:
    codes: Ids = coded.indices.fill_null(UNBOUND).to_numpy(zero_copy_only=False)
    return codes


def _by_code(texts: pa.Array, codes: Ids) -> pa.Array:
    """The text that belongs to each code."""
    different, first = np.unique(codes, return_index=True)
    return texts.take(pa.array(first[different != UNBOUND]))


def _places(ids: Ids) -> pa.Array:
    return pa.array(ids, pa.int32(), mask=ids == UNBOUND)


def order_keys(texts: pa.Array) -> pa.Array:
    """Keys that Spark orders as SPARQL orders the terms of texts; terms of one value have one key."""
    coded = pc.dictionary_encode(texts)
    keys = pa.array([_key(term_of(text)) for text in coded.dictionary.to_pylist()], KEY_TYPE)
    return keys.take(coded.indices)


def _key(term: Term) -> dict[str, Any]:
    kind, *value = rank_of(term)[:-1]
    numbers = [each for each in value if not isinstance(each, str)]
    texts: Sequence[str] = [each for each in value if isinstance(each, str)]
    real, rest = _parts(numbers[0]) if numbers else (0.0, 0.0)
    if kind == TermClass.TEXT:
        texts = texts[:1]  # whatever its language
    return {"class": int(kind), "real": real, "rest": rest, "text": "\0".join(texts)}


def _parts(value: Any) -> tuple[float, float]:
    """A number as the nearest double, and what that leaves out."""
    if isinstance(value, float):
        return value, 0.0
    real = nearest_double(Fraction(value))
    is_finite = abs(real) != float("inf")
    return real, float(Fraction(value) - Fraction(real)) if is_finite else 0.0
