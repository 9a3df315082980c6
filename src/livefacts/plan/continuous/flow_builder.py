"""The flow builder: from the algebra of a query to a flow.

Most operators become steps as they are.  Three are put together from others:

- OPTIONAL: the pairs that fit, and the left rows of which no pair is made (an anti-join);
- MINUS: the left rows of which no pair is made that shares a value;
- EXISTS: what stands inside is asked of all rows at once.  The values that the pattern can
  see go in as a relation of their own, beside hidden copies; the copies that come out again
  are the values for which there is an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyoxigraph import Literal

from livefacts.errors import NotIncrementalError
from livefacts.language import algebra
from livefacts.language.algebra import (
    BLANK,
    Dataset,
    OrderKey,
    Pattern,
    Query,
    TripleTerm,
    exists_in,
    variables_in,
    variables_in_condition,
    variables_in_scope,
)
from livefacts.language.expressions import (
    Call,
    Constant,
    Exists,
    QueryExpression,
    conjuncts,
    rewritten,
    variables_in_expression,
)
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import (
    NEVER_BOUND,
    Choose,
    Cut,
    FlowPlan,
    Group,
    Order,
    Stamp,
    Statements,
    Total,
)
from livefacts.plan.continuous.fusion import needed, shortened
from livefacts.plan.continuous.relations import HIDDEN, Relation, Relations, Scope
from livefacts.plan.continuous.triple_patterns import basic

FALSE = Constant(Literal(False))
MODIFIERS = (algebra.Chosen, algebra.DistinctRows, algebra.ReducedRows, algebra.Slice)
EMPTY_TOTALS = {
    "COUNT": Literal(0),
    "SUM": Literal(0),
    "AVG": Literal(0),
    "GROUP_CONCAT": Literal(""),
}
"""The aggregates of nothing; MIN, MAX and SAMPLE have no value."""


def flow_of(query: Query, known: tuple[Term, ...] = ()) -> FlowPlan:
    """The plan of a query; `known` are named graphs that are there even while they are empty."""
    if query.form == "DESCRIBE":
        raise NotIncrementalError("DESCRIBE is not followed change by change")
    planner = _Planner(query.dataset, known)
    relations = planner.relations
    order: Order = ()
    if query.form == "SELECT":
        found, order = planner.selected(query)
        names = query.selected
    else:
        found = planner.of(query.pattern, None)
        if query.form == "ASK":
            found = relations.once(relations.chosen(found, ()))
        else:
            found = planner.constructed(found, query.template)
        names = found.columns
    steps = needed(relations.flow.steps, found.step)
    return shortened(FlowPlan(steps, query.form, names, order, query.base))


class _Planner:
    """Makes relations of patterns."""

    def __init__(self, dataset: Dataset | None = None, known: tuple[Term, ...] = ()) -> None:
        self.relations = Relations(known)
        self._named = None if dataset is None else dataset.named
        if dataset is not None:
            self.relations.scope = Scope(among=dataset.default)

    def of(self, pattern: Pattern, given: Relation | None) -> Relation:
        """The rows of a pattern; inside EXISTS for the given values."""
        match pattern:
            case algebra.Basic():
                return basic(self.relations, _without_triple_terms(pattern), given)
            case algebra.Both():
                return self._both(pattern, given)
            case algebra.Either():
                sides = [self.of(side, given) for side in (pattern.left, pattern.right)]
                return self.relations.gathered(sides)
            case algebra.Optionally():
                return self._optionally(pattern, given)
            case algebra.Without():
                return self._without(pattern, given)
            case algebra.Where():
                return self.filtered(self.of(pattern.of, given), pattern.condition)
            case algebra.With():
                return self._with(pattern, given)
            case algebra.Listed():
                return self._listed(pattern, given)
            case algebra.Grouped():
                return self._grouped(pattern, given)
            case algebra.Chosen():
                return self._chosen(pattern, given)
            case algebra.DistinctRows():
                return self.relations.once(self.of(pattern.of, given))
            case algebra.Ordered() | algebra.ReducedRows():
                return self.of(pattern.of, given)
            case algebra.Slice():
                return self._slice(pattern, given)
            case algebra.InGraph():
                return self._in_graph(pattern, given)

    def _in_graph(self, pattern: algebra.InGraph, given: Relation | None) -> Relation:
        """What is found in a graph, or in each, with the graph as a column."""
        relations, graph = self.relations, pattern.graph
        with relations.within(self._scope(graph)):
            if given is not None and relations.apart:
                given = relations.joined(given, relations.graphs())
            found = self.of(pattern.of, given)
            if isinstance(graph, Variable):
                found = self._with_graph(found, graph.name)
        if relations.apart:
            found = relations.joined(found, relations.graphs())
        return found

    def _scope(self, graph: Slot) -> Scope:
        if isinstance(graph, Variable):
            return Scope(among=self._named, each=self.relations.fresh(HIDDEN))
        is_known = self._named is None or graph in self._named
        return Scope(graph=graph, among=None if is_known else ())

    def _with_graph(self, found: Relation, name: str) -> Relation:
        """Rows whose hidden graph becomes a variable, or agrees with it where it has a value."""
        relations = self.relations
        (hidden,) = relations.apart
        others = [each for each in found.columns if each != hidden]
        if name not in others:
            found = relations.chosen(found, (*others, hidden))
            return relations.renamed(found, (*others, name))
        graphs, copies = relations.copied(relations.graphs(), (hidden,))
        graphs = relations.renamed(graphs, (hidden, name))
        assert copies, "there is a hidden column"
        return relations.chosen(relations.joined(found, graphs), others)

    def _listed(self, pattern: algebra.Listed, given: Relation | None) -> Relation:
        names = [variable.name for variable in pattern.variables]
        listed = self.relations.listed(names, pattern.rows)
        if given is None and not self.relations.apart:
            return listed
        return self.relations.joined(self.relations.graphs() if given is None else given, listed)

    def _both(self, pattern: algebra.Both, given: Relation | None) -> Relation:
        nothing = algebra.Basic()
        if pattern.left == nothing or pattern.right == nothing:
            return self.of(pattern.right if pattern.left == nothing else pattern.left, given)
        left, right = self.of(pattern.left, given), self.of(pattern.right, given)
        return self.relations.joined(left, right)

    def _optionally(self, pattern: algebra.Optionally, given: Relation | None) -> Relation:
        left, right = self.of(pattern.left, given), self.of(pattern.right, given)
        lacking = [n for n in left.visible if n in right.columns and n not in left.certain]
        marked, copies = self.relations.copied(left, lacking)
        pairs = self.filtered(self.relations.joined(marked, right), pattern.condition)
        keys = {copies.get(name, name): copies.get(name, name) for name in left.columns}
        alone = self.relations.kept(marked, pairs, keys, present=False)
        both = self.relations.gathered([pairs, alone])
        dropped = set(copies.values())
        return self.relations.chosen(both, [n for n in both.columns if n not in dropped])

    def _without(self, pattern: algebra.Without, given: Relation | None) -> Relation:
        left, right = self.of(pattern.left, given), self.of(pattern.right, given)
        # Values of EXISTS stand in the place of variables, which are shared no more then.
        told = {} if given is None else _told(given)
        always = set() if given is None else given.certain
        shared = [n for n in left.visible if n in right.visible and n not in always]
        if not shared:
            return left
        right = self.relations.once(self.relations.chosen(right, [*shared, *right.hidden]))
        certain = left.certain & right.certain
        surely = any(name in certain and name not in told for name in shared)
        open_names = [name for name in left.visible if name not in left.certain]
        marked, copies = self.relations.copied(left, [n for n in open_names if n in shared])
        other, others = self.relations.copied(right, () if surely else shared)
        pairs = self.relations.joined(marked, other)
        if not surely:
            tests = (_both_bound(copies.get(n, n), others[n], told.get(n)) for n in shared)
            pairs = self.relations.filtered(pairs, Call("||", (FALSE, *tests)))
        keys = {copies.get(name, name): copies.get(name, name) for name in left.columns}
        return self.relations.chosen(
            self.relations.kept(marked, pairs, keys, present=False), left.columns
        )

    def _with(self, pattern: algebra.With, given: Relation | None) -> Relation:
        found = self.of(pattern.of, given)
        name = pattern.variable.name
        if name in found.columns:
            raise NotIncrementalError(f"?{name} is computed where it has a value already")
        columns = (*found.columns, name)
        marked, value = self._without_exists(found, pattern.value)
        return self.relations.chosen(self.relations.extended(marked, name, value), columns)

    def filtered(self, found: Relation, condition: QueryExpression) -> Relation:
        """Rows for which a condition is true."""
        columns = found.columns
        for part in conjuncts(condition):
            if isinstance(part, Exists):
                answers, keys = self._answers_inside(found, part)
                found = self.relations.kept(found, answers, keys, present=not part.negated)
            else:
                found, part = self._without_exists(found, part)
                found = self.relations.filtered(found, part)
        return self.relations.chosen(found, columns)

    def _answers_inside(self, found: Relation, part: Exists) -> tuple[Relation, dict[str, str]]:
        """What is found inside of an EXISTS, and which of its columns say for which rows."""
        used = {variable.name for variable in variables_in(part.pattern)}
        seen = [name for name in found.visible if name in used]
        apart = self.relations.apart
        keys = self.relations.once(self.relations.chosen(found, (*seen, *apart)))
        given, copies = self.relations.copied(keys, seen)
        answers = self.of(part.pattern, given if seen else None)
        return answers, {**copies, **{name: name for name in apart}}

    def _without_exists(
        self, found: Relation, expression: QueryExpression
    ) -> tuple[Relation, QueryExpression]:
        """Rows with a column for each EXISTS of an expression, which then speaks of these."""
        for part in dict.fromkeys(exists_in(expression)):
            name = self.relations.fresh()
            found = self.relations.marked(found, *self._answers_inside(found, part), name)
            value: QueryExpression = Variable(name)
            value = Call("!", (value,)) if part.negated else value
            expression = rewritten(expression, partial(_replaced, part, value))
        return found, expression

    def _grouped(self, pattern: algebra.Grouped, given: Relation | None) -> Relation:
        found = self.of(pattern.of, given)
        keys = [variable.name for variable in pattern.keys]
        unknown = [name for name in keys if name not in found.columns]
        found = self.relations.chosen(found, (*found.columns, *unknown))
        known = list(dict.fromkeys((*found.hidden, *keys)))
        outputs = {name: name for name in known}
        totals: dict[Total, str] = {}
        for variable, aggregate in pattern.aggregates:
            columns: tuple[int, ...] = ()
            for value in aggregate.values:
                found, place = self._totalled(found, value)
                columns += (place,)
            total = Total(aggregate.function, columns, aggregate.distinct, aggregate.parameter)
            outputs[variable.name] = totals.setdefault(total, variable.name)
        operator = Group(tuple(map(found.at, known)), tuple(totals))
        names = (*known, *totals.values())
        step = self.relations.flow.step(operator, (found.step,), len(names))
        grouped = Relation(step, names, found.certain & set(known))
        if not keys and known:
            grouped = self._with_empty_groups(grouped, tuple(totals), given)
        chosen = self.relations.chosen(grouped, tuple(outputs.values()))
        certain = frozenset(new for new, old in outputs.items() if old in grouped.certain)
        return Relation(chosen.step, tuple(outputs), certain)

    def _with_empty_groups(
        self, grouped: Relation, totals: tuple[Total, ...], given: Relation | None
    ) -> Relation:
        """An aggregate of everything has a row for each given one, even where there is nothing."""
        relations, hidden = self.relations, grouped.hidden
        asked = relations.graphs() if given is None else given
        asked = relations.once(relations.chosen(asked, hidden))
        empty = relations.kept(
            asked, grouped, dict(zip(hidden, hidden, strict=True)), present=False
        )
        for name, total in zip(grouped.columns[len(hidden) :], totals, strict=True):
            value = EMPTY_TOTALS.get(total.function)
            nothing = NEVER_BOUND if value is None else Constant(value)
            empty = relations.extended(empty, name, nothing)
        return relations.gathered([grouped, empty])

    def _totalled(self, found: Relation, aggregated: QueryExpression) -> tuple[Relation, int]:
        """Rows with the value that is aggregated, and its column."""
        if isinstance(aggregated, Variable) and aggregated.name in found.columns:
            return found, found.at(aggregated.name)
        found, value = self._without_exists(found, aggregated)
        found = self.relations.extended(found, self.relations.fresh(), value)
        return found, len(found.columns) - 1

    def _chosen(self, pattern: algebra.Chosen, given: Relation | None) -> Relation:
        names = [variable.name for variable in pattern.variables]
        inner = given
        if given is not None:
            inner = self.relations.chosen(
                given, [n for n in given.columns if n in names or n[0] == HIDDEN]
            )
        found = self.of(pattern.of, inner)
        hidden = inner.hidden if inner is not None else self.relations.apart
        kept = [n for n in (*hidden, *names) if n in found.columns]
        found = self.relations.chosen(found, tuple(dict.fromkeys(kept)))
        return found if given is None else self.relations.joined(given, found)

    def _slice(self, pattern: algebra.Slice, given: Relation | None) -> Relation:
        inner = _cut_inside(pattern)
        if isinstance(inner, algebra.Chosen):
            return self._chosen(inner, given)
        keys, order = _order_of(pattern.of), []
        _check_order(pattern.of, keys)
        found = self.of(pattern.of, given)
        for key in keys:
            found, value = self._without_exists(found, key.value)
            order.append((self.relations.placed(found, value), key.descending))
        apart = tuple(map(found.at, found.hidden))
        operator = Cut(tuple(order), pattern.start, pattern.length, apart)
        step = self.relations.flow.step(operator, (found.step,), len(found.columns))
        return Relation(step, found.columns, found.certain)

    def selected(self, query: Query) -> tuple[Relation, Order]:
        """The rows of a SELECT, and by what they are ordered.

        Behind the selected columns stand those that only the order needs.
        """
        relations, pattern = self.relations, _cut_inside(query.pattern)
        found = self.of(pattern.of if isinstance(pattern, algebra.Chosen) else pattern, None)
        keys: list[QueryExpression] = []
        hidden: list[str] = []
        order = _order_of(pattern)
        for key in order:
            found, value = self._without_exists(found, key.value)
            used = {variable.name for variable in variables_in_expression(value)}
            if not used.isdisjoint(set(found.columns) - set(query.selected)):
                name = relations.fresh()
                found = relations.extended(found, name, value)
                hidden.append(name)
                value = Variable(name)
            keys.append(value)
        found = relations.chosen(found, (*query.selected, *hidden))
        pairs = zip(keys, order, strict=True)
        return found, tuple((relations.placed(found, v), k.descending) for v, k in pairs)

    def constructed(self, found: Relation, template: tuple[TripleAtom, ...]) -> Relation:
        """The triples of a template, each once."""
        found = self.relations.chosen(found, found.visible)
        slots = [slot for atom in template for slot in atom.slots]
        names = [slot.name for slot in slots if isinstance(slot, Variable)]
        made = [n for n in names if n.startswith(BLANK) and n not in found.columns]
        for number, name in enumerate(dict.fromkeys(made)):
            columns = (*found.columns, name)
            # The same text read again gives its nodes other names: their order stays.
            stamp = Stamp(f"{BLANK}{number}")
            step = self.relations.flow.step(stamp, (found.step,), len(columns))
            found = Relation(step, columns, found.certain | {name})
        parts = [self._statements(found, atom) for atom in dict.fromkeys(template)]
        return self.relations.once(self.relations.gathered(parts))

    def _statements(self, found: Relation, atom: TripleAtom) -> Relation:
        names = ("subject", "predicate", "object")
        sources: list[Term | int | None] = []
        for slot in atom.slots:
            if not isinstance(slot, Variable):
                sources.append(slot)
            else:
                sources.append(found.at(slot.name) if slot.name in found.columns else None)
        step = self.relations.flow.step(Choose(tuple(sources)), (found.step,), 3)
        step = self.relations.flow.step(Statements(), (step,), 3)
        return Relation(step, names, frozenset(names))


def _without_triple_terms(pattern: algebra.Basic) -> algebra.Basic:
    if any(isinstance(slot, TripleTerm) for atom in pattern.atoms for slot in atom.slots):
        raise NotIncrementalError("triple terms are not followed change by change")
    return pattern


def _cut_inside(pattern: Pattern) -> Pattern:
    """The same pattern with its projection outside, if rows need not be distinct before it."""
    if isinstance(pattern, algebra.ReducedRows):
        return _cut_inside(pattern.of)
    if not isinstance(pattern, algebra.Slice):
        return pattern
    inner = _cut_inside(pattern.of)
    if not isinstance(inner, algebra.Chosen):
        return pattern
    return algebra.Chosen(replace(pattern, of=inner.of), inner.variables)


def _order_of(pattern: Pattern) -> tuple[OrderKey, ...]:
    """By what the rows of a pattern are ordered."""
    while isinstance(pattern, MODIFIERS):
        pattern = pattern.of
    return pattern.keys if isinstance(pattern, algebra.Ordered) else ()


def _check_order(pattern: Pattern, order: Sequence[OrderKey]) -> None:
    """Refuse to cut distinct rows in an order that they do not show."""
    chosen = pattern.of if isinstance(pattern, algebra.DistinctRows) else None
    if isinstance(chosen, algebra.Chosen):
        used = {v for key in order for v in variables_in_condition(key.value)}
        if used & set(variables_in_scope(chosen.of)) - set(chosen.variables):
            raise NotIncrementalError("the order of distinct rows uses what is not selected")


def _replaced(
    part: Exists, value: QueryExpression, expression: QueryExpression
) -> QueryExpression | None:
    return value if expression == part else None


def _told(given: Relation) -> dict[str, str]:
    """The values that an EXISTS is told of, and the hidden copies of them."""
    copies = {name.partition(".")[2]: name for name in given.hidden}
    return {name: copies[name] for name in given.visible}


def _both_bound(left: str, right: str, told: str | None) -> QueryExpression:
    """Whether both sides have a value, which they were not told of."""
    bound = tuple(Call("BOUND", (Variable(name),)) for name in (left, right))
    unknown = () if told is None else (Call("!", (Call("BOUND", (Variable(told),)),)),)
    return Call("&&", (*bound, *unknown))
