"""Triple sources: the triples that a pattern sees, and the graph that each of them is in.

A query sees everything, or the graphs that it names; inside of `GRAPH ?g` each triple brings
along its graph, and triples of one match are of one graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from livefacts.engine.spark.sparql.solution_frame import SolutionFrame, id_column
from livefacts.store.terms.hash_ids import HashIds

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

KEYS = ("s", "p", "o")
DEFAULT = 0
"""The graph of triples that the default graph asserts, in the table of named graphs."""
Slot = int | str
"""An id, or the name of a variable."""


@dataclass(frozen=True, slots=True)
class TripleSource:
    """Triples `s`, `p`, `o`; with `g` and the variable that stands for it in `GRAPH ?g`."""

    triples: DataFrame
    graph: str | None = None

    def matches(self, slots: tuple[Slot, ...]) -> SolutionFrame:
        """The rows of one triple pattern."""
        from pyspark.sql import functions as F  # noqa: N812

        columns: dict[str, str] = {}
        wanted: list[Column] = []
        pairs = list(zip(KEYS, slots, strict=True))
        if self.graph is not None:
            pairs.insert(0, ("g", self.graph))
        for key, slot in pairs:
            if isinstance(slot, int):
                wanted.append(F.col(key) == F.lit(slot))
            elif slot in columns:
                wanted.append(F.col(key) == F.col(columns[slot]))
            else:
                columns[slot] = key
        rows = self.triples.where(reduce(and_, wanted)) if wanted else self.triples
        named = [F.col(key).alias(id_column(name)) for name, key in columns.items()]
        return SolutionFrame(rows.select(*named), frozenset(columns))

    def nodes(self, name: str) -> SolutionFrame:
        """Everything that is a subject or an object."""
        from pyspark.sql import functions as F  # noqa: N812

        here = () if self.graph is None else ("g",)
        ends = [self.triples.select(*here, F.col(key).alias("node")) for key in ("s", "o")]
        rows = ends[0].union(ends[1]).distinct()
        names = [name] if self.graph is None else [self.graph, name]
        columns = [
            F.col(key).alias(id_column(each))
            for key, each in zip((*here, "node"), names, strict=True)
        ]
        return SolutionFrame(rows.select(*columns), frozenset(names))

    def presence(self) -> SolutionFrame:
        """The row without variables, if there is any triple."""
        return SolutionFrame(self.triples.limit(1).select(), frozenset())

    def graphs(self) -> SolutionFrame:
        """The graphs that there are, as values of the variable for them."""
        from pyspark.sql import functions as F  # noqa: N812

        assert self.graph is not None, "it is asked inside of GRAPH ?g alone"
        rows = self.triples.select(F.col("g").alias(id_column(self.graph))).distinct()
        return SolutionFrame(rows, frozenset([self.graph]))


@dataclass(frozen=True, slots=True)
class GraphSources:
    """What the patterns of one query see."""

    everything: TripleSource
    quads: DataFrame
    """The triples of named graphs: `s`, `p`, `o`, `g`."""

    def one(self, graph: int) -> TripleSource:
        """The triples of one graph."""
        from pyspark.sql import functions as F  # noqa: N812

        return TripleSource(self.quads.where(F.col("g") == F.lit(graph)).drop("g"))

    def each(self, variable: str) -> TripleSource:
        """The triples of all named graphs, each with its graph."""
        return TripleSource(self.quads, variable)

    def of_dataset(self, default: HashIds, named: HashIds) -> GraphSources:
        """What a query sees that says FROM and FROM NAMED."""
        from pyspark.sql import functions as F  # noqa: N812

        g = F.col("g")
        seen = self.quads.where(g.isin(default.tolist())).drop("g").distinct()
        return GraphSources(TripleSource(seen), self.quads.where(g.isin(named.tolist())))
