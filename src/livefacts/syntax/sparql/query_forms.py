"""Query forms: what a query asks of its pattern, as the recommendation translates it (18.2.4).

In this order: groups and their aggregates, HAVING, VALUES at the end, what SELECT computes,
ORDER BY, the projection, DISTINCT or REDUCED, LIMIT and OFFSET.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from livefacts.language.algebra import (
    BLANK,
    UNNAMED,
    Basic,
    Chosen,
    Dataset,
    DistinctRows,
    Grouped,
    Ordered,
    OrderKey,
    PathAtom,
    Pattern,
    Query,
    QueryAggregate,
    ReducedRows,
    Slice,
    With,
    variables_in_scope,
)
from livefacts.language.expressions import QueryExpression, rewritten, variables_in_expression
from livefacts.language.formula import TripleAtom, Variable
from livefacts.syntax.sparql.aggregate_clauses import AggregateClause, with_totals
from livefacts.syntax.sparql.group_patterns import Extension, GroupPattern
from livefacts.syntax.sparql.lexemes import Lexeme, QueryMistakeError
from livefacts.syntax.sparql.triple_blocks import Atom
from livefacts.syntax.sparql.value_expressions import (
    AggregateCall,
    aggregates_in,
    refuse_aggregates,
)

MOST_DIGITS = 18


class Named(NamedTuple):
    """An expression and its name, if it has one: `(expression AS ?name)`."""

    value: QueryExpression
    name: Lexeme | None


class Selected(NamedTuple):
    """A SELECT clause; no items stand for all variables."""

    word: Lexeme
    kind: Lexeme | None
    items: tuple[Lexeme | Named, ...]


class GraphClause(NamedTuple):
    """FROM or FROM NAMED."""

    kind: str
    word: Lexeme
    name: Lexeme


class AskedQuery(NamedTuple):
    """A query, and everything that its FROMs say."""

    query: Query
    clauses: list[Any]


class Modifiers(NamedTuple):
    """What stands behind the pattern."""

    keys: list[Named] | None
    conditions: list[QueryExpression] | None
    order: list[OrderKey] | None
    rows: dict[str, int] | None

    def sliced(self, pattern: Pattern) -> Pattern:
        return pattern if self.rows is None else Slice(pattern, **self.rows)


# clauses


def select_clause(children: list[Any]) -> Selected:
    word, kind, *items = children
    is_all = isinstance(items[0], Lexeme) and items[0].type == "STAR"
    return Selected(word, kind, () if is_all else tuple(items))


def computed(children: list[Any]) -> Named:
    return Named(*children)


def modifiers(children: list[Any]) -> Modifiers:
    return Modifiers(*children)


def group_by(children: list[Any]) -> list[Named]:
    keys = [each if isinstance(each, Named) else Named(each, None) for each in children]
    for key in keys:
        refuse_aggregates(key.value, "GROUP BY")
    return keys


group_key = computed


def having(children: list[Any]) -> list[QueryExpression]:
    return children


def order_by(children: list[Any]) -> list[OrderKey]:
    return children


def order_key(children: list[Any]) -> OrderKey:
    *direction, value = children
    return OrderKey(value, bool(direction) and direction[0].type == "DESC")


def sliced(children: list[Any]) -> dict[str, int]:
    return {name: count for part in children if part is not None for name, count in part.items()}


def limit(children: list[Any]) -> dict[str, int]:
    return {"length": _count(children[0])}


def offset(children: list[Any]) -> dict[str, int]:
    return {"start": _count(children[0])}


def _count(number: Lexeme) -> int:
    if not number.text.isdecimal():
        raise QueryMistakeError(f"{number.text} is no number of rows", number.start_pos, "write 10")
    # More rows than there can be are as many as there are; Python reads no number of that length.
    digits = number.text.lstrip("0")
    return int(digits or "0") if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS


def dataset(children: list[Any]) -> list[Any]:
    return children


def default_graph(children: list[Any]) -> GraphClause:
    return GraphClause("default", *children)


def named_graph(children: list[Any]) -> GraphClause:
    return GraphClause("named", *children)


def _dataset(clauses: list[Any]) -> Dataset | None:
    graphs = [clause for clause in clauses if isinstance(clause, GraphClause)]
    if not graphs:
        return None
    default, named = (
        tuple(dict.fromkeys(graph.name.value for graph in graphs if graph.kind == kind))
        for kind in ("default", "named")
    )
    return Dataset(default, named)


def targets(children: list[Any]) -> tuple[Any, ...]:
    """What is described; nothing stands for all variables."""
    return tuple(each.value for each in children if each.value is not None)


def template(children: list[Any]) -> tuple[TripleAtom, ...]:
    opening, atoms = children
    return triples_alone(atoms or [], opening)


def triples_alone(atoms: list[Atom], opening: Lexeme) -> tuple[TripleAtom, ...]:
    """The triples of a template, which has no paths."""
    if any(isinstance(atom, PathAtom) for atom in atoms):
        raise QueryMistakeError("a path in a template", opening.start_pos, "name one predicate")
    return tuple(atom for atom in atoms if isinstance(atom, TripleAtom))


# queries


def select_query(children: list[Any]) -> AskedQuery:
    selected, graphs, group, clauses, ending, values = children
    pattern, names = _solved(selected, _totalled(group, clauses), ending, values)
    return _asked(Query("SELECT", pattern, tuple(v.name for v in names)), graphs)


def subselect(children: list[Any]) -> GroupPattern:
    selected, group, ending, values = children
    pattern, _ = _solved(selected, group, ending, values)
    return GroupPattern(pattern)


def ask_query(children: list[Any]) -> AskedQuery:
    graphs, group, clauses, ending, values = children
    return _asked(Query("ASK", _unselected(_totalled(group, clauses), ending, values)), graphs)


def construct_query(children: list[Any]) -> AskedQuery:
    made, graphs, group, clauses, ending, values = children
    pattern = _unselected(_totalled(group, clauses), ending, values)
    return _asked(Query("CONSTRUCT", pattern, template=tuple(map(_apart, made))), graphs)


def construct_where(children: list[Any]) -> AskedQuery:
    graphs, made, ending, values = children
    pattern = _unselected(GroupPattern(Basic(made)), ending, values)
    return _asked(Query("CONSTRUCT", pattern, template=made), graphs)


def describe_query(children: list[Any]) -> AskedQuery:
    described, graphs, group, ending, values = children
    pattern = _unselected(group or GroupPattern(Basic()), ending, values)
    if not described:
        described = _visible(pattern)
    return _asked(Query("DESCRIBE", pattern, targets=described), graphs)


def _totalled(group: GroupPattern, clauses: list[AggregateClause] | None) -> GroupPattern:
    """A group with the totals that stand behind it, if there are any."""
    return group if clauses is None else with_totals(group, clauses)


def _asked(query: Query, clauses: list[Any]) -> AskedQuery:
    return AskedQuery(replace(query, dataset=_dataset(clauses)), clauses)


def _apart(atom: TripleAtom) -> TripleAtom:
    """An atom of a template, whose blank nodes are others than those of the pattern."""

    def renamed(slot: Any) -> Any:
        is_blank = isinstance(slot, Variable) and slot.name.startswith(BLANK)
        return Variable(f"{BLANK}.new.{slot.name[2:]}") if is_blank else slot

    return TripleAtom(*map(renamed, atom.slots))


def _unselected(group: GroupPattern, ending: Modifiers, values: Extension | None) -> Pattern:
    """The pattern of a query that selects nothing."""
    solving = _Solving(group.whole, ending, ())
    return ending.sliced(solving.ordered(solving.grouped(values)))


def _solved(
    selected: Selected, group: GroupPattern, ending: Modifiers, values: Extension | None
) -> tuple[Pattern, tuple[Variable, ...]]:
    """The pattern of a SELECT, and its variables."""
    solving = _Solving(group.whole, ending, selected.items, selected.word)
    pattern = solving.extended(solving.grouped(values))
    names = solving.names(pattern)
    pattern = Chosen(solving.ordered(pattern), names)
    if selected.kind is not None:
        rows = DistinctRows if selected.kind.type == "DISTINCT" else ReducedRows
        pattern = rows(pattern)
    return ending.sliced(pattern), names


def _visible(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables of a pattern that have names, in the order in which it first binds them."""
    shown = (v for v in variables_in_scope(pattern) if not v.name.startswith((UNNAMED, BLANK)))
    return tuple(dict.fromkeys(shown))


@dataclass(slots=True)
class _Solving:
    """Takes the steps from a pattern to its solutions."""

    pattern: Pattern
    ending: Modifiers
    items: tuple[Lexeme | Named, ...]
    word: Lexeme | None = None
    aggregates: dict[Variable, QueryAggregate] = field(default_factory=dict)
    is_grouped: bool = False
    keys: list[Variable] = field(default_factory=list)
    order: tuple[OrderKey, ...] = ()

    def grouped(self, values: Extension | None) -> Pattern:
        """Groups, what HAVING says of them, and the VALUES at the end."""
        conditions = self.ending.conditions or []
        order = self.ending.order or []
        computed = [item.value for item in self.items if isinstance(item, Named)]
        parts = [*computed, *conditions, *(key.value for key in order)]
        has_aggregates = any(True for part in parts for _ in aggregates_in(part))
        self.is_grouped = self.ending.keys is not None or has_aggregates
        if self.is_grouped:
            for key in self.ending.keys or ():
                self._add_key(key)
            conditions = [self._sampled(each) for each in conditions]
            order = [OrderKey(self._sampled(key.value), key.descending) for key in order]
            self._check_selected()
            self.items = tuple(map(self._aggregated_item, self.items))
            self.pattern = Grouped(self.pattern, tuple(self.keys), tuple(self.aggregates.items()))
        self.order = tuple(order)
        found = GroupPattern(self.pattern, tuple(conditions)).whole
        return found if values is None else values(found)

    def _add_key(self, key: Named) -> None:
        if key.name is None and isinstance(key.value, Variable):
            self.keys.append(key.value)
            return
        variable = Variable(f"{UNNAMED}key{len(self.keys)}")
        if key.name is not None:
            variable = key.name.value
            if variable in variables_in_scope(self.pattern):
                raise QueryMistakeError(
                    f"GROUP BY computes {key.name.text}, which the pattern has",
                    key.name.start_pos,
                    "choose another name after AS",
                )
        self.pattern = With(self.pattern, variable, key.value)
        self.keys.append(variable)

    def _check_selected(self) -> None:
        """What is selected of groups must be the same for all rows of one."""
        assert self.word is not None or not self.items, "only a SELECT has items"
        if self.word is not None and not self.items:
            raise QueryMistakeError(
                "SELECT * does not go with GROUP BY",
                self.word.start_pos,
                "select the variables of GROUP BY, and aggregates",
            )
        known = set(self.keys)
        for item in self.items:
            value = item.value
            used = variables_in_expression(value)
            if not known.issuperset(used):
                raise QueryMistakeError(
                    "SELECT has a variable that is neither grouped nor counted",
                    self.word.start_pos if self.word else 0,
                    "add it to GROUP BY, or select an aggregate of it such as SAMPLE",
                )
            if isinstance(item, Named) and item.name is not None:
                known.add(item.name.value)

    def _aggregated_item(self, item: Lexeme | Named) -> Lexeme | Named:
        if not isinstance(item, Named):
            return item
        return Named(self._aggregated(item.value), item.name)

    def _aggregated(self, expression: QueryExpression) -> QueryExpression:
        """The expression with variables for its aggregates."""

        def replaced(part: Any) -> QueryExpression | None:
            if not isinstance(part, AggregateCall):
                return None
            self.aggregates[part.variable] = part.aggregate
            return part.variable

        return rewritten(expression, replaced)

    def _sampled(self, expression: QueryExpression) -> QueryExpression:
        """The same, where a variable that is no key stands for one of its values."""
        named = (item.name for item in self.items if isinstance(item, Named))
        known = {*self.keys, *(name.value for name in named if name is not None)}
        scope = set(variables_in_scope(self.pattern))

        def replaced(part: Any) -> QueryExpression | None:
            if isinstance(part, Variable) and part in scope and part not in known:
                sample = Variable(f"{UNNAMED}{part.name}")
                self.aggregates[sample] = QueryAggregate("SAMPLE", part)
                return sample
            return None

        return self._aggregated(rewritten(expression, replaced))

    def extended(self, pattern: Pattern) -> Pattern:
        """The pattern with what SELECT computes."""
        for item in self.items:
            if isinstance(item, Named) and item.name is not None:
                if item.name.value in variables_in_scope(pattern):
                    raise self._override(item.name)
                pattern = With(pattern, item.name.value, item.value)
        return pattern

    def _override(self, name: Lexeme) -> QueryMistakeError:
        return QueryMistakeError(
            "SELECT computes a variable that the pattern has",
            self.word.start_pos if self.word else name.start_pos,
            "choose another name after AS",
        )

    def names(self, pattern: Pattern) -> tuple[Variable, ...]:
        """The variables that are selected."""
        if not self.items:
            return _visible(pattern)
        found: list[Variable] = []
        for item in self.items:
            lexeme = item.name if isinstance(item, Named) else item
            assert lexeme is not None, "what SELECT computes has a name"
            if lexeme.value in found:
                raise QueryMistakeError(f"SELECT has {lexeme.text} twice", lexeme.start_pos)
            found.append(lexeme.value)
        return tuple(found)

    def ordered(self, pattern: Pattern) -> Pattern:
        return Ordered(pattern, self.order) if self.order else pattern
