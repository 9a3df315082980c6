"""Pattern frames: the rows of triple patterns, joined pair by pair, and of property paths.

A path of any length is followed in rounds: what is new in one round is joined with the steps, and
a round that finds nothing new is the last.  Each round is a job, and its result is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from livefacts.engine.queries.basic_parts import PartReader, PathPattern
from livefacts.engine.spark.sparql.solution_frame import (
    SolutionFrame,
    computed,
    distinct,
    id_column,
    joined,
    united,
)
from livefacts.engine.spark.sparql.triple_source import Slot, TripleSource
from livefacts.errors import QueryError
from livefacts.language.algebra import Alternative, Basic, NoneOf, Repeated
from livefacts.model.facts import Term
from livefacts.model.namespaces import RDF

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Pattern = tuple[Slot, Slot, Slot]
TYPE = RDF + "type"
ONE_OR_MORE, ZERO_OR_ONE = "+", "?"
KEPT_ROUNDS = 16
"""After so many rounds of a path, all that was found is kept as one."""


class PatternFrames:
    """The basic graph patterns of one query, over the triples of a source."""

    def __init__(self, session: SparkSession, id_of: Callable[[Term], int]) -> None:
        from pyoxigraph import NamedNode

        self._session = session
        self._reader = PartReader(id_of)
        self._id_of = id_of
        self._type = id_of(NamedNode(TYPE))

    def rows(self, pattern: Basic, source: TripleSource) -> SolutionFrame:
        """The rows of a basic graph pattern."""
        parts = self._reader.parts(pattern)
        if parts.nested:
            raise QueryError(
                "Spark does not look inside of triple terms",
                hint="Reasoner.open(folder, read_only=True).query(...) does",
            )
        frames = [self._joined(parts.triples, source)] if parts.triples else []
        frames += [self._path(path, source) for path in parts.paths]
        frames = frames or [source.graphs() if source.graph is not None else self.one_row()]
        shown = reduce(joined, frames)
        return shown.only([name for name in shown.names if not name.startswith("#")])

    def one_row(self) -> SolutionFrame:
        """The row without variables."""
        return SolutionFrame(self._session.range(1).select(), frozenset())

    # triple patterns

    def _joined(self, patterns: Sequence[Pattern], source: TripleSource) -> SolutionFrame:
        """All patterns joined: the most selective first, each next one tied to those before."""
        waiting = sorted(patterns, key=self._expected)
        found = source.matches(waiting.pop(0))
        while waiting:
            tied = (each for each in waiting if found.names.intersection(each))
            next_ = next(tied, waiting[0])
            waiting.remove(next_)
            found = joined(found, source.matches(next_))
        return found

    def _expected(self, pattern: Pattern) -> tuple[int, ...]:
        """Patterns with fewer matches, as far as one can see, have smaller keys."""
        subject, predicate, value = (isinstance(slot, int) for slot in pattern)
        is_class = value and pattern[1] == self._type
        return (-2 * (subject + value) - predicate + is_class, -subject)

    # paths

    def _path(self, path: PathPattern, source: TripleSource) -> SolutionFrame:
        match path.path:
            case Alternative():
                sides = [
                    self._staged(PathPattern(path.subject, each, path.object), source)
                    for each in path.path.paths
                ]
                return reduce(united, sides)
            case NoneOf():
                return self._other_predicates(path, path.path, source)
            case Repeated():
                return self._repeated(path, path.path, source)
            case _:
                return self._staged(path, source)

    def _staged(self, path: PathPattern, source: TripleSource) -> SolutionFrame:
        """A path as triple patterns and other paths, joined; what is between them is dropped."""
        frames = [
            self._joined(stage, source) if isinstance(stage, list) else self._path(stage, source)
            for _, stage in self._reader.stages(path)
            if isinstance(stage, list | PathPattern)
        ]
        ends = [slot for slot in path.slots if isinstance(slot, str)]
        names = ends if source.graph is None else [source.graph, *ends]
        return reduce(joined, frames).only(names)

    def _other_predicates(
        self, path: PathPattern, none_of: NoneOf, source: TripleSource
    ) -> SolutionFrame:
        from pyspark.sql import functions as F  # noqa: N812

        name = self._reader.new_name()
        found = source.matches((path.subject, name, path.object))
        excluded = [self._id_of(each) for each in none_of.predicates]
        rows = found.rows.where(~F.col(id_column(name)).isin(excluded))
        kept_rows = SolutionFrame(rows, found.certain)
        return kept_rows.only(found.names - {name})

    def _repeated(
        self, path: PathPattern, repeated: Repeated, source: TripleSource
    ) -> SolutionFrame:
        """The pairs that a repeated path connects, each once."""
        first, last = self._reader.new_name(), self._reader.new_name()
        steps = distinct(self._staged(PathPattern(first, repeated.path, last), source))
        subject, value = path.slots
        if repeated.mark == ZERO_OR_ONE:
            found = steps
        elif isinstance(value, int) and not isinstance(subject, int):
            found = self._closure(steps, last, value, first, source)
        else:
            start = subject if isinstance(subject, int) else None
            found = self._closure(steps, first, start, last, source)
        if repeated.mark != ONE_OR_MORE:
            found = distinct(united(found, self._no_steps(path, (first, last), source)))
        return _between(found, path, (first, last))

    def _no_steps(
        self, path: PathPattern, ends: tuple[str, str], source: TripleSource
    ) -> SolutionFrame:
        """Every node with itself; a constant at one end is enough of a node."""
        from pyspark.sql import functions as F  # noqa: N812

        fixed = [slot for slot in path.slots if isinstance(slot, int)]
        first, last = ends
        if not fixed:
            nodes = source.nodes(first)
        else:
            begin = self.one_row() if source.graph is None else source.graphs()
            rows = begin.rows.withColumn(id_column(first), F.lit(fixed[0]).cast("long"))
            nodes = SolutionFrame(rows, begin.certain | {first})
        rows = nodes.rows.withColumn(id_column(last), F.col(id_column(first)))
        return SolutionFrame(rows, nodes.certain | {last})

    def _closure(
        self, steps: SolutionFrame, near: str, start: int | None, far: str, source: TripleSource
    ) -> SolutionFrame:
        """What one or more steps connect, from one end on; from `start` alone if it is known."""
        from pyspark.sql import functions as F  # noqa: N812

        here = [] if source.graph is None else [id_column(source.graph)]
        names = [*here, id_column(near), id_column(far)]
        all_steps = computed(steps.rows.select(*names))
        begin = all_steps
        if start is not None:
            begin = begin.where(F.col(id_column(near)) == F.lit(start))
        step = all_steps.select(
            *(F.col(each).alias(f"step_{each}") for each in here),
            F.col(id_column(near)).alias("step_from"),
            F.col(id_column(far)).alias("step_to"),
        )
        reached, found, new = begin, [begin], begin
        tied = [F.col(each) == F.col(f"step_{each}") for each in here]
        while not new.isEmpty():
            ends = [F.col(id_column(far)) == F.col("step_from"), *tied]
            next_ = new.join(step, ends).select(
                *here, id_column(near), F.col("step_to").alias(id_column(far))
            )
            new = computed(next_.distinct().join(reached, names, "left_anti").select(*names))
            found.append(new)
            if len(found) > KEPT_ROUNDS:
                found = [computed(reduce(_union, found))]
            reached = reduce(_union, found)
        return SolutionFrame(reached, steps.certain)


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.union(other)


def _between(found: SolutionFrame, path: PathPattern, ends: tuple[str, str]) -> SolutionFrame:
    """Pairs as rows of what stands at the ends of a path."""
    from pyspark.sql import functions as F  # noqa: N812

    rows, others = found.rows, sorted(found.names - set(ends))
    columns = {name: F.col(id_column(name)) for name in others}
    for slot, end in zip(path.slots, ends, strict=True):
        column = F.col(id_column(end))
        if isinstance(slot, int):
            rows = rows.where(column == F.lit(slot))
        elif slot in columns:
            rows = rows.where(column == columns[slot])
        else:
            columns[slot] = column
    named = [column.alias(id_column(name)) for name, column in columns.items()]
    return SolutionFrame(rows.select(*named), frozenset(columns))
