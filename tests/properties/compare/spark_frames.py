"""Many worlds on Spark: rules followed side by side, each world with its own facts.

A job on Spark costs much more than a few facts; so knowledge bases are put beside each
other in one table, told apart by a number that every join carries.  Each of them is then
compared with the oracle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyoxigraph import Triple
from pyspark.sql import DataFrame, SparkSession
from tests.oracle import Row, row_of

from livefacts.engine.spark.joins.fact_frame import columns_of, shapes_in
from livefacts.engine.spark.joins.materialization import Closure
from livefacts.engine.spark.joins.rounds import Setting
from livefacts.engine.spark.joins.term_frames import term_of, text_of
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.store.facts.row_store import TRIPLES

TINY = {
    # Tables here have some dozens of rows: plans are made often and run shortly.
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
}
FactsByWorld = Mapping[int, Iterable[Triple | Fact]]


@contextmanager
def tiny(session: SparkSession) -> Iterator[SparkSession]:
    """The session, set up for tables of a few rows; afterwards as it was."""
    before = {name: session.conf.get(name) for name in TINY}
    for name, value in TINY.items():
        session.conf.set(name, value)
    yield session
    for name, value in before.items():
        session.conf.set(name, str(value))


class SmallTerms:
    """A dictionary in the driver, with ids that tasks can compute."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.texts: dict[int, str] = {}
        self._id_of = _hashing()

    def put(self, terms: Iterable[Term]) -> None:
        for term in terms:
            self.texts[self.id_of(text_of(term))] = text_of(term)

    def remember(self, made: DataFrame) -> None:
        for row in made.distinct().collect():
            self.texts[row.id] = row.text

    def table(self) -> DataFrame:
        columns = {"id": list(self.texts), "text": list(self.texts.values())}
        schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
        return self.session.createDataFrame(pa.table(columns, schema)).coalesce(1)

    @property
    def id_of(self) -> Callable[[str], int]:
        return self._id_of

    def term(self, id: int) -> Term:
        return term_of(self.texts[id])


def _hashing() -> Callable[[str], int]:
    def hashed(text: str) -> int:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)

    return hashed


def frames(setting: Setting, worlds: FactsByWorld) -> dict[int, DataFrame]:
    """Facts by shape, as the engine takes them."""
    rows: dict[int, list[tuple[int, ...]]] = {}
    for world, facts in worlds.items():
        for fact in facts:
            shape, ids = _encoded(setting.terms, fact)
            rows.setdefault(shape, []).append((world, *ids))
    return {shape: _frame(setting.session, shape, listed) for shape, listed in rows.items()}


def _encoded(terms: Any, fact: Triple | Fact) -> tuple[int, list[int]]:
    name, parts = row_of(fact)
    row = parts if isinstance(fact, Triple) else (Symbol(name), *parts)
    terms.put(row)
    shape = TRIPLES if isinstance(fact, Triple) else len(row)
    return shape, [terms.id_of(text_of(term)) for term in row]


def _frame(session: SparkSession, shape: int, rows: list[tuple[int, ...]]) -> DataFrame:
    columns = zip(*rows, strict=True)
    names = ("k", *columns_of(shape))
    arrays = [pa.array(column, pa.int64()) for column in columns]
    return session.createDataFrame(pa.table(dict(zip(names, arrays, strict=True))))


def found(closure: Closure) -> dict[int, dict[Row, tuple[int, int]]]:
    """By world, every fact with whether it is told and how many instances derive it."""
    worlds: dict[int, dict[Row, tuple[int, int]]] = {}
    for row in closure.rows.collect():
        counts = int(row.told), int(row.plain + row.recursive)
        worlds.setdefault(row.k, {})[decoded(closure, row)] = counts
    return worlds


def decoded(closure: Closure, row: Any) -> Row:
    width = next(len(columns_of(s)) for s in shapes_in(closure.form) if s == row.f)
    terms = [closure.setting.terms.term(row[f"c{n}"]) for n in range(width)]  # type: ignore[attr-defined]
    return ("[]", tuple(terms)) if row.f == TRIPLES else (terms[0].name, tuple(terms[1:]))


def is_inner(row: Row) -> bool:
    """Whether a fact is the engine's own."""
    return ":" in row[0]
