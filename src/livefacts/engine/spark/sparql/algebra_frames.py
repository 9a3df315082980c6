"""Algebra frames: every operator of a query as what Spark does with DataFrames.

Parts are evaluated by themselves and joined, as the recommendation has it.  What compares ids is
Spark's own: joins, groups, counting.  What looks at values goes to tasks (`value_tasks`), with
the texts of the variables that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any

from pyoxigraph import Literal

from livefacts.engine.queries.binding_scopes import (
    may_know,
    names_in,
    names_in_condition,
    parts_of,
)
from livefacts.engine.spark.joins.term_frames import on_columns, text_of
from livefacts.engine.spark.sparql.group_frames import GroupFrames
from livefacts.engine.spark.sparql.pattern_frames import PatternFrames
from livefacts.engine.spark.sparql.solution_frame import (
    OrderColumn,
    SolutionFrame,
    computed,
    distinct,
    id_column,
    joined,
    left_joined,
    matched,
    same_rows,
    text_column,
    united,
    without,
)
from livefacts.engine.spark.sparql.term_columns import TermColumns
from livefacts.engine.spark.sparql.triple_source import GraphSources, TripleSource
from livefacts.engine.spark.sparql.value_tasks import (
    KEY_SCHEMA,
    Computing,
    ExpressionTask,
    check_expression,
    not_here,
    order_keys,
)
from livefacts.language.algebra import (
    Basic,
    Both,
    Chosen,
    DistinctRows,
    Either,
    Grouped,
    InGraph,
    Listed,
    Optionally,
    Ordered,
    Pattern,
    ReducedRows,
    Slice,
    Where,
    With,
    Without,
    exists_in,
    parts_in,
)
from livefacts.language.expressions import (
    TRUE,
    Call,
    Exists,
    QueryExpression,
    conjuncts,
    rewritten,
)
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.facts import Term

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TRUE_TEXT, FALSE_TEXT = str(Literal(True)), str(Literal(False))


class AlgebraFrames:
    """The patterns of one query as DataFrames."""

    def __init__(
        self,
        session: SparkSession,
        graphs: GraphSources,
        terms: TermColumns,
        computing: Computing,
    ) -> None:
        self._session = session
        self._graphs = graphs
        self._terms = terms
        self._computing = computing
        self._basic = PatternFrames(session, self.id_of)
        self._groups = GroupFrames(session, terms, computing)
        self._numbers = count()

    def id_of(self, term: Term) -> int:
        """The id of a term, whose text the tables may not have."""
        text = text_of(term)
        number = self._terms.encoding.id_of(text)
        self._terms.named[number] = text
        return number

    def rows(self, pattern: Pattern) -> SolutionFrame:
        """The rows of a pattern, over what the whole query sees."""
        return self._rows(pattern, self._graphs.everything)

    def _rows(self, pattern: Pattern, source: TripleSource) -> SolutionFrame:
        match pattern:
            case Basic():
                return self._basic.rows(pattern, source)
            case Both():
                return reduce(joined, [self._rows(each, source) for each in parts_of(pattern)])
            case Either():
                return united(self._rows(pattern.left, source), self._rows(pattern.right, source))
            case Optionally():
                return self._optionally(pattern, source)
            case Without():
                apart = () if source.graph is None else (source.graph,)
                right = self._rows(pattern.right, source)
                return without(self._rows(pattern.left, source), right, apart)
            case Where():
                return self._where(self._rows(pattern.of, source), pattern.condition, source)
            case With():
                return self._with(self._rows(pattern.of, source), pattern, source)
            case Listed():
                return self._listed(pattern)
            case InGraph():
                return self._in_graph(pattern)
            case _:
                return self._modified(pattern, source)

    def _modified(self, pattern: Pattern, source: TripleSource) -> SolutionFrame:
        """The rows of an inner query, of the whole one, or of a part of it."""
        match pattern:
            case Chosen():
                return self._rows(pattern.of, source).only([v.name for v in pattern.variables])
            case DistinctRows():
                return distinct(self._rows(pattern.of, source))
            case ReducedRows():
                return self._rows(pattern.of, source)
            case Ordered():
                return self._ordered(self._rows(pattern.of, source), pattern)
            case Slice():
                return self._slice(self._rows(pattern.of, source), pattern)
            case Grouped():
                return self._groups.rows(self._rows(pattern.of, source).unordered(), pattern)
        raise AssertionError(f"{type(pattern).__name__} is no pattern")

    # groups

    def _optionally(self, pattern: Optionally, source: TripleSource) -> SolutionFrame:
        left, right = (self._rows(each, source) for each in (pattern.left, pattern.right))
        if pattern.condition == TRUE:
            return left_joined(left, right)
        left = self._settled(left, pattern.left)
        fitting = self._where(joined(left, right), pattern.condition, source)
        return united(fitting, same_rows(left, fitting, negated=True))

    def _settled(self, frame: SolutionFrame, pattern: Pattern) -> SolutionFrame:
        """Rows that are the same wherever they are used; some of many may be others each time."""
        if any(isinstance(part, Slice) for part, _ in parts_in(pattern)):
            return replace(frame, rows=computed(frame.rows))
        return frame

    def _where(
        self, rows: SolutionFrame, condition: QueryExpression, source: TripleSource
    ) -> SolutionFrame:
        plain: list[QueryExpression] = []
        asked: list[Exists] = []
        for part in conjuncts(condition):
            exists = _as_exists(part)
            if exists is not None:
                asked.append(exists)
            else:
                plain.append(part)
        if plain:
            condition = reduce(lambda one, other: Call("&&", (one, other)), plain)
            rows = self._filtered(rows, condition, source)
        for exists in asked:
            rows = self._existing(rows, exists, source)
        return rows

    def _filtered(
        self, rows: SolutionFrame, condition: QueryExpression, source: TripleSource
    ) -> SolutionFrame:
        from pyspark.sql import functions as F  # noqa: N812

        if isinstance(condition, Call) and condition.name == "BOUND":
            (variable,) = condition.arguments
            if isinstance(variable, Variable) and variable.name in rows.names:
                column = F.col(id_column(variable.name))
                return replace(rows, rows=rows.rows.where(column.isNotNull()))
        known, flagged = self._flagged(rows, condition, source)
        found = self._computed(known, flagged, "boolean", is_condition=True)
        return replace(known, rows=found.where("value_").drop("value_")).only(rows.names)

    def _flagged(
        self, rows: SolutionFrame, expression: QueryExpression, source: TripleSource
    ) -> tuple[SolutionFrame, QueryExpression]:
        """Rows that know whether each EXISTS of an expression is true, and where it asks for that."""
        from pyspark.sql import functions as F  # noqa: N812

        known: dict[Exists, Variable] = {}
        for exists in exists_in(expression):
            if exists not in known:
                known[exists] = flag = Variable(f"#exists{next(self._numbers)}")
                rows = self._settled(rows, exists.pattern)
                sides = []
                for text, negated in ((TRUE_TEXT, False), (FALSE_TEXT, True)):
                    asked = replace(exists, negated=exists.negated ^ negated)
                    some = self._existing(rows, asked, source)
                    sides.append(
                        some.with_text(flag.name, self._terms.ids_of(F.lit(text)), F.lit(text))
                    )
                rows = united(*sides)
        if not known:
            return rows, expression
        return rows, rewritten(
            expression, lambda part: known[part] if isinstance(part, Exists) else None
        )

    def _existing(self, rows: SolutionFrame, exists: Exists, source: TripleSource) -> SolutionFrame:
        pattern, shared = exists.pattern, rows.names & names_in(exists.pattern)
        if isinstance(pattern, Where) and not may_know(pattern, shared):
            if not may_know(pattern.of, shared):
                raise not_here("this EXISTS asks about variables that it does not bind")
            keys = self._settled(rows, pattern).unordered().only(shared)
            fitting = self._where(
                joined(distinct(keys), self._rows(pattern.of, source)), pattern.condition, source
            )
            return self._having(rows, fitting.only(shared), negated=exists.negated)
        if not may_know(pattern, shared):
            raise not_here("this EXISTS asks about variables that it does not bind")
        return matched(rows, self._rows(pattern, source), negated=exists.negated)

    def _having(self, rows: SolutionFrame, keys: SolutionFrame, *, negated: bool) -> SolutionFrame:
        """The rows whose values of some variables are among those of the keys, or are not."""
        from pyspark.sql import functions as F  # noqa: N812

        names = sorted(keys.names)
        other = keys.rows.select(
            *(F.col(id_column(name)).alias(f"key_{id_column(name)}") for name in names)
        )
        ties = [
            F.col(id_column(name)).eqNullSafe(F.col(f"key_{id_column(name)}")) for name in names
        ]
        how = "left_anti" if negated else "left_semi"
        condition = reduce(lambda one, more: one & more, ties) if ties else F.lit(True)
        return replace(rows, rows=rows.rows.join(other, condition, how))

    def _with(self, rows: SolutionFrame, pattern: With, source: TripleSource) -> SolutionFrame:
        from pyspark.sql import functions as F  # noqa: N812

        name, value = pattern.variable.name, pattern.value
        if isinstance(value, Variable):
            return _copied(rows, value.name, name)
        known, flagged = self._flagged(rows, value, source)
        found = replace(known, rows=self._computed(known, flagged, "string"))
        text = F.col("value_")
        return found.with_text(name, self._terms.ids_of(text), text).only({*rows.names, name})

    def _listed(self, pattern: Listed) -> SolutionFrame:
        names = [variable.name for variable in pattern.variables]
        if not names:
            return SolutionFrame(self._session.range(len(pattern.rows)).select(), frozenset())
        rows = []
        for terms in pattern.rows:
            row: list[Any] = []
            for term in terms:
                row += [None, None] if term is None else [self.id_of(term), text_of(term)]
            rows.append(tuple(row))
        columns = (f"`{id_column(n)}` long, `{text_column(n)}` string" for n in names)
        frame = self._session.createDataFrame(rows, ", ".join(columns))
        certain = frozenset(
            name
            for number, name in enumerate(names)
            if all(row[number] is not None for row in pattern.rows)
        )
        return SolutionFrame(frame, certain, frozenset(names) - certain, frozenset(names))

    def _in_graph(self, pattern: InGraph) -> SolutionFrame:
        slot = pattern.graph
        if not isinstance(slot, Variable):
            source = self._graphs.one(self.id_of(slot))
            found = self._rows(pattern.of, source)
            # A graph that is not there has no rows, not even those that no triple is needed for.
            atoms = pattern.of.atoms if isinstance(pattern.of, Basic) else ()
            needs_triples = any(isinstance(atom, TripleAtom) for atom in atoms)
            return found if needs_triples else joined(found, source.presence())
        if not may_know(pattern.of, [slot.name]):
            raise not_here(f"what GRAPH {slot} contains is asked of each graph by itself")
        source = self._graphs.each(slot.name)
        found = self._rows(pattern.of, source)
        return found if slot.name in found.certain else joined(found, source.graphs())

    # modifiers of solutions

    def _ordered(self, rows: SolutionFrame, pattern: Ordered) -> SolutionFrame:
        from pyspark.sql import functions as F  # noqa: N812

        frame, order = rows.unordered(), []
        key_of = on_columns(lambda texts: order_keys(texts), KEY_SCHEMA)
        for key in pattern.keys:
            column = f"order_{next(self._numbers)}"
            found = self._texts_of(frame, key.value)
            keyed = found.withColumn(column, key_of(F.col("value_"))).drop("value_")
            names = frozenset(names_in_condition(key.value))
            order.append(OrderColumn(column, key.descending, names))
            frame = replace(frame, rows=keyed)
            frame = replace(frame, order=tuple(order))
        return frame

    def _texts_of(self, rows: SolutionFrame, value: QueryExpression) -> DataFrame:
        """The rows with a column `value_`, the texts of an expression."""
        from pyspark.sql import functions as F  # noqa: N812

        if isinstance(value, Variable) and value.name in rows.names:
            column = text_column(value.name)
            found = self._terms.texts_for(rows.rows, id_column(value.name), column)
            found = found.withColumn("value_", F.col(column))
            return found if value.name in rows.computed else found.drop(column)
        return self._computed(rows, value, "string")

    def _slice(self, rows: SolutionFrame, pattern: Slice) -> SolutionFrame:
        frame = rows.rows.orderBy(*rows.sorted_by()) if rows.order else rows.rows
        if pattern.start:
            frame = frame.offset(pattern.start)
        if pattern.length is not None:
            frame = frame.limit(pattern.length)
        return replace(rows, rows=frame)

    # values

    def with_texts(self, rows: SolutionFrame, names: Iterable[str]) -> DataFrame:
        """The rows with the texts of some of their variables."""
        found = rows.rows
        for name in sorted(set(names) & rows.names):
            found = self._terms.texts_for(found, id_column(name), text_column(name))
        return found

    def _computed(
        self,
        rows: SolutionFrame,
        expression: QueryExpression,
        kind: str,
        *,
        is_condition: bool = False,
    ) -> DataFrame:
        """The rows with a column `value_`, computed in tasks."""
        from pyspark.sql import functions as F  # noqa: N812

        check_expression(expression)
        names = sorted(names_in_condition(expression) & rows.names)
        found = self.with_texts(rows, names)
        task = ExpressionTask(expression, tuple(names), self._computing, is_condition)
        columns = [F.col(text_column(name)) for name in names] or [F.lit("")]
        valued = found.withColumn("value_", on_columns(lambda *texts: task(*texts), kind)(*columns))
        return valued.drop(*(text_column(name) for name in names if name not in rows.computed))


def _as_exists(part: QueryExpression) -> Exists | None:
    if isinstance(part, Exists):
        return part
    if isinstance(part, Call) and part.name == "!" and isinstance(part.arguments[0], Exists):
        inner = part.arguments[0]
        return replace(inner, negated=not inner.negated)
    return None


def _copied(rows: SolutionFrame, source: str, name: str) -> SolutionFrame:
    """The rows with the value of one variable for another one, too."""
    from pyspark.sql import functions as F  # noqa: N812

    if source not in rows.names:
        return rows
    columns = {id_column(name): F.col(id_column(source))}
    if source in rows.computed:
        columns[text_column(name)] = F.col(text_column(source))
    more = {name} if source in rows.computed else set()
    found = replace(rows, rows=rows.rows.withColumns(columns), computed=rows.computed | more)
    if source in rows.certain:
        return replace(found, certain=rows.certain | {name})
    return replace(found, possible=rows.possible | {name})
