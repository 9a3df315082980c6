"""Relations: steps of a flow with names for their columns, and how they are combined.

The names are those of the query's variables.  A name that begins with `#` is hidden: it
holds the value that a variable had at some point, bound or not, and agrees only with the
very same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from livefacts.language.expressions import Constant, QueryExpression, rewritten
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import (
    NEVER_BOUND,
    Choose,
    Combine,
    Compute,
    Condition,
    Constantly,
    FlowBuilder,
    Gather,
    Keep,
    Mark,
    Match,
    MatchNamed,
    Once,
    column,
)

HIDDEN = "#"


@dataclass(frozen=True, slots=True)
class Relation:
    """A step and the names of its columns; `certain` are those that are always bound."""

    step: int
    columns: tuple[str, ...]
    certain: frozenset[str]

    @property
    def visible(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if not name.startswith(HIDDEN))

    @property
    def hidden(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name.startswith(HIDDEN))

    def at(self, name: str) -> int:
        """The position of a column."""
        return self.columns.index(name)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which graphs triple patterns look at.

    Without any of this it is the default graph of everything; `graph` is one named graph,
    `among` some of them taken together, and `each` a hidden column that says in which of
    the named graphs something was found.
    """

    graph: Term | None = None
    among: tuple[Term, ...] | None = None
    each: str | None = None


EVERYTHING = Scope()


class Relations:
    """Makes relations out of relations, in one flow."""

    def __init__(self, known: tuple[Term, ...] = ()) -> None:
        self.flow = FlowBuilder()
        self.scope = EVERYTHING
        self._known = known
        """Graphs that are there even while they are empty."""
        self._fresh = count(1)

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """While this is entered, patterns look at other graphs."""
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before

    @property
    def apart(self) -> tuple[str, ...]:
        """The hidden column that keeps graphs apart, if one does."""
        return () if self.scope.each is None else (self.scope.each,)

    def graphs(self) -> Relation:
        """The graphs that are looked at and are there: one empty row, or one row for each."""
        scope = self.scope
        if scope.graph is None and scope.each is None:
            return self.listed((), ((),))
        triple = self.triples(TripleAtom(Variable("s"), Variable("p"), Variable("o")))
        known = [t for t in self._known if scope.among is None or t in scope.among]
        if scope.graph is not None:
            always = self.listed((), tuple(() for term in known if term == scope.graph))
        else:
            always = self.listed(self.apart, tuple((term,) for term in known))
        return self.once(self.gathered([self.chosen(triple, self.apart), always]))

    def fresh(self, kind: str = "..") -> str:
        """A name that no query has."""
        return f"{kind}{next(self._fresh)}"

    def listed(self, names: Sequence[str], rows: tuple[tuple[Term | None, ...], ...]) -> Relation:
        """Constant rows."""
        step = self.flow.step(Constantly(rows), (), len(names))
        bound = (name for at, name in enumerate(names) if all(row[at] is not None for row in rows))
        return Relation(step, tuple(names), frozenset(bound))

    def triples(self, atom: TripleAtom) -> Relation:
        """What matches a triple pattern."""
        names: list[str] = []
        slots: list[Term | int] = []
        for slot in atom.slots:
            if not isinstance(slot, Variable):
                slots.append(slot)
                continue
            if slot.name not in names:
                names.append(slot.name)
            slots.append(names.index(slot.name))
        subject, predicate, value = slots
        scope = self.scope
        if scope == EVERYTHING:
            step = self.flow.step(Match((subject, predicate, value)), (), len(names))
            return Relation(step, tuple(names), frozenset(names))
        graph = scope.graph if scope.each is None else len(names)
        names += self.apart
        operator = MatchNamed((subject, predicate, value, graph), scope.among)
        step = self.flow.step(operator, (), len(names))
        found = Relation(step, tuple(names), frozenset(names))
        return self.once(found) if graph is None and len(scope.among or ()) > 1 else found

    def joined(self, left: Relation, right: Relation) -> Relation:
        """Pairs of rows that agree."""
        shared = [name for name in left.columns if name in right.columns]
        pairs = [(left.at(name), right.at(name)) for name in shared]
        exact = {n for n in shared if n[0] == HIDDEN or n in left.certain & right.certain}
        agreeing = [p for p, name in zip(pairs, shared, strict=True) if name not in exact]
        equal = [p for p, name in zip(pairs, shared, strict=True) if name in exact]
        rest = [name for name in right.columns if name not in left.columns]
        only = tuple(map(right.at, rest))
        operator = Combine(tuple(agreeing), tuple(equal), only)
        names = (*left.columns, *rest)
        step = self.flow.step(operator, (left.step, right.step), len(names))
        return Relation(step, names, left.certain | right.certain)

    def chosen(self, relation: Relation, names: Sequence[str]) -> Relation:
        """These columns, in this order; a name that is not there is an unbound column."""
        names = tuple(names)
        if names == relation.columns:
            return relation
        sources = tuple(relation.at(n) if n in relation.columns else None for n in names)
        step = self.flow.step(Choose(sources), (relation.step,), len(names))
        return Relation(step, names, relation.certain & set(names))

    def renamed(self, relation: Relation, names: Sequence[str]) -> Relation:
        """Other names for the columns."""
        new = dict(zip(relation.columns, names, strict=True))
        certain = frozenset(new[name] for name in relation.certain)
        return Relation(relation.step, tuple(names), certain)

    def copied(self, relation: Relation, names: Iterable[str]) -> tuple[Relation, dict[str, str]]:
        """With hidden copies of some columns; what each copy is called."""
        number = self.fresh(HIDDEN)
        copies = {name: f"{number}.{name}" for name in names}
        if not copies:
            return relation, {}
        sources = (*range(len(relation.columns)), *map(relation.at, copies))
        columns = (*relation.columns, *copies.values())
        step = self.flow.step(Choose(sources), (relation.step,), len(columns))
        certain = relation.certain | {new for old, new in copies.items() if old in relation.certain}
        return Relation(step, columns, certain), copies

    def once(self, relation: Relation) -> Relation:
        """Every row once."""
        step = self.flow.step(Once(), (relation.step,), len(relation.columns))
        return Relation(step, relation.columns, relation.certain)

    def gathered(self, relations: Sequence[Relation]) -> Relation:
        """The rows of all of them, with all their columns."""
        if len(relations) == 1:
            return relations[0]
        names = tuple(dict.fromkeys(name for each in relations for name in each.columns))
        parts = tuple(self.chosen(each, names).step for each in relations)
        certain = frozenset.intersection(*(each.certain for each in relations))
        return Relation(self.flow.step(Gather(), parts, len(names)), names, certain)

    def kept(
        self, relation: Relation, support: Relation, keys: dict[str, str], present: bool
    ) -> Relation:
        """Rows whose columns are, or are not, a row of the support; `keys` pairs the names."""
        chosen = self.chosen(support, tuple(keys.values()))
        operator = Keep(tuple(map(relation.at, keys)), present)
        step = self.flow.step(operator, (relation.step, chosen.step), len(relation.columns))
        return Relation(step, relation.columns, relation.certain)

    def marked(
        self, relation: Relation, support: Relation, keys: dict[str, str], name: str
    ) -> Relation:
        """Rows with true or false as a new column: whether they are a row of the support."""
        chosen = self.chosen(support, tuple(keys.values()))
        names = (*relation.columns, name)
        operator = Mark(tuple(map(relation.at, keys)))
        step = self.flow.step(operator, (relation.step, chosen.step), len(names))
        return Relation(step, names, relation.certain | {name})

    def filtered(self, relation: Relation, expression: QueryExpression) -> Relation:
        """Rows for which the expression, which has no EXISTS, is true."""
        operator = Condition(self.placed(relation, expression))
        step = self.flow.step(operator, (relation.step,), len(relation.columns))
        return Relation(step, relation.columns, relation.certain)

    def extended(self, relation: Relation, name: str, expression: QueryExpression) -> Relation:
        """Rows with the value of an expression, which has no EXISTS, as a new column."""
        names = (*relation.columns, name)
        operator: Choose | Compute = Compute(self.placed(relation, expression))
        if isinstance(expression, Variable) and expression.name in relation.columns:
            operator = Choose((*range(len(relation.columns)), relation.at(expression.name)))
        step = self.flow.step(operator, (relation.step,), len(names))
        is_certain = isinstance(expression, Constant) or (
            isinstance(expression, Variable) and expression.name in relation.certain
        )
        return Relation(step, names, relation.certain | ({name} if is_certain else set()))

    def placed(self, relation: Relation, expression: QueryExpression) -> QueryExpression:
        """The expression with columns for variables."""

        def place(part: QueryExpression) -> QueryExpression | None:
            if isinstance(part, Variable):
                known = part.name in relation.columns
                return column(relation.at(part.name)) if known else NEVER_BOUND
            return None

        return rewritten(expression, place)
