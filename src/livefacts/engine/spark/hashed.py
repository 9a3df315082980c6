"""Terms whose ids are hashes: the dictionary of a knowledge base, as rules use it.

The table of terms stays where it is.  Beside it are the terms of rules, and those that
rules have computed, which a commit adds to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from livefacts.engine.spark.encode import Encoding
from livefacts.engine.spark.terms import text_of
from livefacts.model.facts import Term

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
MOST_PARTS = 8


class HashedTerms:
    """The terms of `known` (id, text) under an encoding, and those that come to them."""

    def __init__(self, session: SparkSession, known: DataFrame, encoding: Encoding) -> None:
        self._session = session
        self._known = known.select("id", "text")
        self._encoding = encoding
        self._put: dict[int, str] = {}
        self._made: list[DataFrame] = []

    @property
    def id_of(self) -> Callable[[str], int]:
        """The id of a text: a function that tasks can be sent."""
        return self._encoding.id_of

    def put(self, terms: Iterable[Term]) -> None:
        """Make sure that the terms of a program are in the table."""
        texts = map(text_of, terms)
        self._put |= {self.id_of(text): text for text in texts}

    def remember(self, made: DataFrame) -> None:
        """Take in terms that rules have computed."""
        self._made.append(made.select("id", "text"))
        if len(self._made) > MOST_PARTS:
            gathered = reduce(DataFrame.unionAll, self._made).distinct()
            self._made = [gathered.localCheckpoint()]

    def table(self) -> DataFrame:
        """All terms: `id` and `text`."""
        return self._known.unionAll(self.new())

    def new(self) -> DataFrame:
        """The terms of rules, and those computed, that the table of terms lacks; each once."""
        columns = {"id": list(self._put), "text": list(self._put.values())}
        put = self._session.createDataFrame(pa.table(columns, SCHEMA))
        beside = reduce(DataFrame.unionAll, [put, *self._made]).distinct()
        return beside.join(self._known.select("id"), "id", "left_anti").select("id", "text")
