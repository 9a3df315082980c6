"""The query frame: the answers of a query over a knowledge base, as a DataFrame of texts.

SELECT has a column for each variable, CONSTRUCT and DESCRIBE have `s`, `p` and `o`, ASK has one
row with `answer`.  Terms are N-Triples text, and null is unbound.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from livefacts.engine.queries.evaluation import moment
from livefacts.engine.spark.jobs import frames
from livefacts.engine.spark.joins.term_frames import text_of
from livefacts.engine.spark.sparql.algebra_frames import AlgebraFrames
from livefacts.engine.spark.sparql.solution_frame import SolutionFrame, text_column
from livefacts.engine.spark.sparql.term_columns import TermColumns
from livefacts.engine.spark.sparql.triple_source import DEFAULT, GraphSources, TripleSource
from livefacts.engine.spark.sparql.value_tasks import Computing
from livefacts.errors import QueryError
from livefacts.kb.tables import Commit, KnowledgeBase
from livefacts.kb.term_rows import encoding_of
from livefacts.language.algebra import BLANK, Dataset, Query
from livefacts.language.formula import Slot, Variable
from livefacts.model.namespaces import DECLARED
from livefacts.syntax.sparql.query_shapes import shape_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ROW = "row_"


def query_frame(
    session: SparkSession,
    base: KnowledgeBase,
    commit: Commit,
    text: str,
    prefixes: Mapping[str, str] | None = None,
) -> DataFrame:
    """The answers of a query at a commit."""
    query = shape_of(text, {**DECLARED, **(prefixes or {})}).bound
    return answer_frame(session, base, commit, query)


def answer_frame(
    session: SparkSession, base: KnowledgeBase, commit: Commit, query: Query
) -> DataFrame:
    """The same of a query that was read."""
    terms = TermColumns(encoding_of(base, commit), frames.terms_frame(session, base, commit))
    answers = AlgebraFrames(
        session,
        _graphs(session, base, commit, query, terms),
        terms,
        Computing(query.base, moment()),
    )
    match query.form:
        case "SELECT":
            return _selected(answers, query)
        case "ASK":
            return _asked(answers, query)
        case "CONSTRUCT":
            return _constructed(answers, query)
    raise QueryError(
        "Spark does not answer DESCRIBE", hint="CONSTRUCT { ?s ?p ?o } says which triples are meant"
    )


def _graphs(
    session: SparkSession, base: KnowledgeBase, commit: Commit, query: Query, terms: TermColumns
) -> GraphSources:
    """What the query sees."""
    facts = frames.shown(frames.facts_frame(session, base, commit)).select("s", "p", "o")
    quads = frames.shown(frames.graphs_frame(session, base, commit)).where(f"g <> {DEFAULT}")
    graphs = GraphSources(TripleSource(facts), quads)
    if query.dataset is None:
        return graphs
    default, named = (
        np.array([terms.encoding.id_of(text_of(each)) for each in names], np.int64)
        for names in (query.dataset.default, query.dataset.named)
    )
    _check_graphs(query.dataset, quads, terms)
    return graphs.of_dataset(default, named)


def _check_graphs(dataset: Dataset, quads: DataFrame, terms: TermColumns) -> None:
    for graph in (*dataset.default, *dataset.named):
        number = terms.encoding.id_of(text_of(graph))
        if quads.where(f"g = {number}").isEmpty():
            raise QueryError(
                f"no graph {graph} is loaded", hint="without FROM a query sees everything"
            )


def _selected(answers: AlgebraFrames, query: Query) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    found = answers.rows(query.pattern).only(query.selected)
    rows = answers.with_texts(found, query.selected)
    if found.order:
        rows = rows.orderBy(*found.sorted_by())
    columns = [_text(found, name).alias(f"column_{n}") for n, name in enumerate(query.selected)]
    if not columns:
        return rows.select(F.lit(None).cast("string").alias(ROW)).drop(ROW)
    return rows.select(*columns).toDF(*query.selected)


def _text(found: SolutionFrame, name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if name in found.names:
        return F.col(text_column(name))
    return F.lit(None).cast("string")


def _asked(answers: AlgebraFrames, query: Query) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    some = answers.rows(query.pattern).only(()).rows.limit(1)
    return some.agg((F.count(F.lit(1)) > 0).alias("answer"))


def _constructed(answers: AlgebraFrames, query: Query) -> DataFrame:
    """The triples that the template makes of the rows, each once; blank nodes are new for each row."""
    from pyspark.sql import functions as F  # noqa: N812

    names = {
        slot.name
        for atom in query.template
        for slot in atom.slots
        if isinstance(slot, Variable) and not slot.name.startswith(BLANK)
    }
    found = answers.rows(query.pattern).only(names)
    rows = answers.with_texts(found, names).withColumn(ROW, F.monotonically_increasing_id())
    triples = [
        F.struct(
            *(_filled(slot, found).alias(key) for slot, key in zip(atom.slots, "spo", strict=True))
        )
        for atom in query.template
    ]
    made = rows.select(F.explode(F.array(*triples)).alias("triple")).select("triple.*")
    is_subject = F.col("s").startswith("<") | F.col("s").startswith("_:")
    fits = [is_subject & ~F.col("s").startswith("<<"), F.col("p").startswith("<")]
    fits += [~F.col("p").startswith("<<"), F.col("o").isNotNull()]
    return made.where(reduce(lambda one, other: one & other, fits)).distinct()


def _filled(slot: Slot, found: SolutionFrame) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    if not isinstance(slot, Variable):
        return F.lit(text_of(slot))
    if slot.name.startswith(BLANK):
        label = "".join(each for each in slot.name if each.isalnum())
        return F.concat(F.lit(f"_:row{label}x"), F.col(ROW).cast("string"))
    return _text(found, slot.name)
