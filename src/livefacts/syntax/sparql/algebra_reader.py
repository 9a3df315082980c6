"""The algebra reader: SPARQL queries as data, by way of rdflib's grammar and algebra.

rdflib reads the text and translates it as the recommendation says; nothing of it is
evaluated there.  What comes out is `livefacts.language.algebra`.  Literals stay as they are
written.  Forms that cannot be followed change by change are refused with the reason.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from contextlib import contextmanager
from typing import Any

from livefacts.errors import NotIncrementalError
from livefacts.language.algebra import (
    Basic,
    Both,
    Chosen,
    Dataset,
    Either,
    Grouped,
    InGraph,
    Listed,
    Optionally,
    OrderedSlice,
    OrderKey,
    Pattern,
    Query,
    QueryAggregate,
    Where,
    With,
    Without,
    variables_in,
    variables_in_condition,
)
from livefacts.language.expressions import TRUE, QueryExpression
from livefacts.language.formula import TripleAtom, Variable
from livefacts.syntax.sparql.expression_reader import atom_of, expression_of, slot_of, term_of
from livefacts.syntax.sparql.rdflib_tree import NOTHING, translated

FORMS = {"SelectQuery": "SELECT", "AskQuery": "ASK", "ConstructQuery": "CONSTRUCT"}
UNNAMED_KEY = ".key"
"""What the names of keys begin with that the query gives none."""
_ONE_AT_A_TIME = threading.Lock()


def parse_query(text: str, prefixes: Mapping[str, str], base: str = "") -> Query:
    """The query of a text that is known to be correct SPARQL."""
    with _literals_as_written():
        try:
            found, groups = translated(text, base, prefixes)
        except RecursionError:
            raise NotIncrementalError("the query is nested too deeply") from None
        except Exception as error:
            # The text is correct, so this is something that rdflib's grammar does not know.
            raise NotIncrementalError(f"a part of the query is not understood: {error}") from error
    return _Reader(str(found.prologue.base or base), groups).query(found.algebra)


@contextmanager
def _literals_as_written() -> Iterator[None]:
    """rdflib's parser rewrites "01" to "1" unless a switch of the whole module is off."""
    import rdflib

    with _ONE_AT_A_TIME:
        before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before


class _Reader:
    """Reads one algebra tree."""

    def __init__(self, base: str, groups: SequenceOf[Any]) -> None:
        self._base = base
        self._groups = groups
        self._unnamed: list[QueryExpression] = []
        """What GROUP BY computes without a name for it."""

    def query(self, node: Any) -> Query:
        form = FORMS.get(node.name)
        if form is None:
            raise NotIncrementalError("DESCRIBE is not followed change by change")
        template = tuple(_template(node)) if form == "CONSTRUCT" else ()
        selected = tuple(str(variable) for variable in node.PV or ()) if form == "SELECT" else ()
        order: tuple[OrderKey, ...] = ()
        if form == "SELECT":
            whole = node.p.p if node.p.name == "Slice" else node.p
            order = _order_below(whole, self.expression)
        dataset = _dataset(node.datasetClause)
        return Query(form, self.pattern(node.p), selected, template, order, self._base, dataset)

    def expression(self, node: Any) -> QueryExpression:
        return expression_of(node, self._group)

    def _group(self, number: int) -> Pattern:
        """What stands inside of an EXISTS."""
        return self.pattern(self._groups[number])

    def pattern(self, node: Any) -> Pattern:
        reader = getattr(self, f"_{node.name.lower()}", None)
        if reader is None:
            raise NotIncrementalError(f"{node.name.upper()} is not followed change by change")
        found: Pattern = reader(node)
        return found

    def _bgp(self, node: Any) -> Pattern:
        return Basic(tuple(atom_of(triple) for triple in node.triples))

    def _join(self, node: Any) -> Pattern:
        return Both(self.pattern(node.p1), self.pattern(node.p2))

    def _union(self, node: Any) -> Pattern:
        return Either(self.pattern(node.p1), self.pattern(node.p2))

    def _minus(self, node: Any) -> Pattern:
        return Without(self.pattern(node.p1), self.pattern(node.p2))

    def _leftjoin(self, node: Any) -> Pattern:
        condition = TRUE if node.expr.name == "TrueFilter" else self.expression(node.expr)
        return Optionally(self.pattern(node.p1), self.pattern(node.p2), condition)

    def _graph(self, node: Any) -> Pattern:
        return InGraph(slot_of(node.term), self.pattern(node.p))

    def _filter(self, node: Any) -> Pattern:
        return Where(self.pattern(node.p), self.expression(node.expr))

    def _extend(self, node: Any) -> Pattern:
        of, value = self.pattern(node.p), self.expression(node.expr)
        if node.var is None:
            self._unnamed.append(value)
            return of
        variable = Variable(str(node.var))
        return of if _is_known_key(of, variable) else With(of, variable, value)

    def _tomultiset(self, node: Any) -> Pattern:
        return Listed((), ()) if isinstance(node.p, list) else self.pattern(node.p)

    def _values(self, node: Any) -> Pattern:
        listed = dict.fromkeys(name for row in node.res for name in row)
        names = [name for name in listed if str(name) != NOTHING]
        rows = (tuple(_value(row.get(name)) for name in names) for row in node.res)
        return Listed(tuple(Variable(str(name)) for name in names), tuple(rows))

    def _aggregatejoin(self, node: Any) -> Pattern:
        group = node.p
        before, self._unnamed = self._unnamed, []
        of, unnamed = self.pattern(group.p), iter(self._unnamed)
        self._unnamed = before
        keys = []
        for number, key in enumerate(group.expr or ()):
            value = next(unnamed) if key is None else self.expression(key)
            if not isinstance(value, Variable):
                of = With(of, Variable(f"{UNNAMED_KEY}{number}"), value)
                value = Variable(f"{UNNAMED_KEY}{number}")
            keys.append(value)
        aggregates = [(Variable(str(each.res)), self._aggregate(each)) for each in node.A]
        if self._groups:
            aggregates += [(key, QueryAggregate("SAMPLE", key)) for key in keys if _is_named(key)]
        return Grouped(of, tuple(keys), tuple(aggregates))

    def _aggregate(self, node: Any) -> QueryAggregate:
        function = node.name.removeprefix("Aggregate_").upper()
        counted = node.vars == "*" and not hasattr(node.vars, "n3")
        value = None if counted else self.expression(node.vars)
        separator = " " if node.separator is None else str(node.separator)
        return QueryAggregate(function, value, bool(node.distinct), separator)

    def _project(self, node: Any) -> Pattern:
        of = node.p.p if node.p.name == "OrderBy" else node.p
        return Chosen(self.pattern(of), tuple(Variable(str(each)) for each in node.PV))

    def _distinct(self, node: Any) -> Pattern:
        chosen = self.pattern(node.p)
        assert isinstance(chosen, Chosen), "DISTINCT stands around a projection"
        return Chosen(chosen.of, chosen.variables, distinct=True)

    def _reduced(self, node: Any) -> Pattern:
        return self.pattern(node.p)

    def _slice(self, node: Any) -> Pattern:
        order = _order_below(node.p, self.expression)
        chosen = self.pattern(node.p)
        assert isinstance(chosen, Chosen), "LIMIT stands around a projection"
        if not chosen.distinct:
            cut = OrderedSlice(chosen.of, order, node.start or 0, node.length)
            return Chosen(cut, chosen.variables)
        used = {v for key in order for v in variables_in_condition(key.value)}
        if used & set(variables_in(chosen.of)) - set(chosen.variables):
            raise NotIncrementalError("the order of distinct rows uses what is not selected")
        return OrderedSlice(chosen, order, node.start or 0, node.length)


def _is_named(key: Variable) -> bool:
    """Whether a key is a variable of the query, which an EXISTS above the groups can see."""
    return not key.name.startswith(UNNAMED_KEY)


def _is_known_key(pattern: Pattern, variable: Variable) -> bool:
    """Whether groups, perhaps with values computed of them, have a key of this name already."""
    while isinstance(pattern, With):
        pattern = pattern.of
    return isinstance(pattern, Grouped) and variable in dict(pattern.aggregates)


def _order_below(node: Any, read: Any) -> tuple[OrderKey, ...]:
    """The order keys of a projection, if it has some."""
    while node.name in ("Distinct", "Reduced", "Project"):
        node = node.p
    if node.name != "OrderBy":
        return ()
    return tuple(OrderKey(read(each.expr), each.order == "DESC") for each in node.expr)


def _template(node: Any) -> Iterator[TripleAtom]:
    triples = node.template
    if triples is None:
        # CONSTRUCT WHERE: the pattern is the template.
        below = node.p
        while below.name != "BGP":
            below = below.p
        triples = below.triples
    for triple in triples:
        subject, predicate, value = map(slot_of, triple)
        yield TripleAtom(subject, predicate, value)


def _dataset(clauses: Any) -> Dataset | None:
    """What FROM and FROM NAMED say."""
    if not clauses:
        return None
    default, named = (
        tuple(dict.fromkeys(term_of(dict.get(each, kind)) for each in clauses if kind in each))
        for kind in ("default", "named")
    )
    return Dataset(default, named)


def _value(node: Any) -> Any:
    return None if node is None or type(node) is str else term_of(node)
