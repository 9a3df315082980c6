"""Term columns: texts get their ids from Spark's own hash, and ids their texts by a join.

A term that a query computes has the id that the tables would give it, so that equal terms have
equal ids wherever they come from; its text travels along, as the tables may not know it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from livefacts.kb.term_encoding import Encoding
from livefacts.store.terms.hash_ids import KIND_BITS
from livefacts.store.terms.text_table import BLANK, IRI, LITERAL, SYMBOL, TRIPLE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class TermColumns:
    """The terms of a knowledge base, and how texts become ids there."""

    encoding: Encoding
    terms: DataFrame
    """All terms: `id` and `text`."""
    named: dict[int, str] = field(default_factory=dict)
    """The terms that the query names: a path of length zero has them, though the tables may not."""

    def ids_of(self, text: Column) -> Column:
        """The ids of texts; null stays null."""
        from pyspark.sql import functions as F  # noqa: N812

        kept = ((1 << self.encoding.bits) - 1) << KIND_BITS
        signed = kept - (1 << 64) if kept >> 63 else kept
        kind = (
            F.when(text.startswith("<<("), F.lit(TRIPLE))
            .when(text.startswith("<"), F.lit(IRI))
            .when(text.startswith("_"), F.lit(BLANK))
            .when(text.startswith('"'), F.lit(LITERAL))
            .otherwise(F.lit(SYMBOL))
        )
        hashed = F.xxhash64(text).bitwiseAND(F.lit(signed)).bitwiseOR(kind.cast("long"))
        if self.encoding.exceptions:
            pairs = chain.from_iterable(self.encoding.exceptions.items())
            known = F.create_map(*map(F.lit, pairs))
            hashed = F.coalesce(F.try_element_at(known, text), hashed)
        return F.when(text.isNotNull(), hashed)

    def texts_for(self, rows: DataFrame, id_column: str, text_column: str) -> DataFrame:
        """Rows with the texts of the ids in a column; texts that travel along come first."""
        from pyspark.sql import functions as F  # noqa: N812

        named = self.terms.select(F.col("id").alias("_id"), F.col("text").alias("_text"))
        found = rows.join(named, F.col(id_column) == F.col("_id"), "left").drop("_id")
        texts = F.col("_text")
        if self.named:
            names = F.create_map(*map(F.lit, chain.from_iterable(self.named.items())))
            texts = F.coalesce(texts, F.try_element_at(names, F.col(id_column)))
        if text_column in rows.columns:
            texts = F.coalesce(F.col(text_column), texts)
        return found.withColumn(text_column, texts).drop("_text")
