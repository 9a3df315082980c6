"""The oracle's answers of queries: section 18 of SPARQL 1.1, read literally, a row at a time.

A row is a dict; rows of a bag are repeated.  EXISTS is what the recommendation writes: the values
of a row take the place of its variables everywhere in the pattern, and where a variable was there
is then none.  So what MINUS shares are the other variables, a group keeps no key that is a
constant, and what an inner query does not select is another variable of the same name.

Single calls of functions are asked of pyoxigraph; numbers without rounding are fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product

from pyoxigraph import BlankNode, Literal, NamedNode, Store, Triple
from pyoxigraph import Variable as Name
from tests.oracle import values

from livefacts.language import algebra
from livefacts.language.algebra import Path, PathAtom, Pattern, Query
from livefacts.language.expressions import Call, Constant, Exists, QueryExpression, written
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term

Row = dict[str, Term]
Graph = frozenset[Triple]
OWN_AGGREGATES = ("GROUP_CONCAT", "STDDEV", "PERCENTILE", "ARGMIN", "ARGMAX")
TRUE, FALSE = Literal(True), Literal(False)
NOTHING = Store()


class Answers:
    """Answers queries over a default graph and named ones."""

    def __init__(self, default: Iterable[Triple], named: Mapping[Term, Iterable[Triple]]) -> None:
        self._default: Graph = frozenset(default)
        self._named = {name: frozenset(graph) for name, graph in named.items()}

    def _seen_by(self, query: Query) -> Answers:
        """What FROM and FROM NAMED leave of it."""
        if query.dataset is None:
            return self
        default = (self._named.get(name, frozenset()) for name in query.dataset.default)
        named = {name: self._named[name] for name in query.dataset.named if name in self._named}
        return Answers(frozenset().union(*default), named)

    def of(self, query: Query) -> Counter[tuple[str, ...]]:
        """The rows of a query as texts, each as often as it is there; "" is unbound."""
        seen = self._seen_by(query)
        rows = seen._rows(query.pattern, {}, seen._default)
        if query.form == "ASK":
            return Counter([()] if rows else [])
        if query.form == "CONSTRUCT":
            made = (_filled(atom, row) for row in rows for atom in query.template)
            return Counter(dict.fromkeys((each for each in made if each), 1))
        texts = ({name: str(term) for name, term in row.items()} for row in rows)
        return Counter(tuple(row.get(name, "") for name in query.selected) for row in texts)

    def _rows(self, pattern: Pattern, env: Row, graph: Graph) -> list[Row]:
        """The rows of a pattern in which the values of `env` have taken the place of variables."""
        match pattern:
            case algebra.Basic(atoms):
                rows: list[Row] = [{}]
                for atom in atoms:
                    rows = [more for row in rows for more in _matches(atom, row, env, graph)]
                return rows
            case algebra.Both(left, right):
                return _joined(self._rows(left, env, graph), self._rows(right, env, graph))
            case algebra.Either(left, right):
                return self._rows(left, env, graph) + self._rows(right, env, graph)
            case algebra.Optionally(left, right, condition):
                found, others = self._rows(left, env, graph), self._rows(right, env, graph)
                rows = []
                for row in found:
                    pairs = _joined([row], others)
                    fits = [pair for pair in pairs if self._is(condition, pair, env, graph)]
                    rows += fits or [row]
                return rows
            case algebra.Without(left, right):
                others = self._rows(right, env, graph)
                found = self._rows(left, env, graph)
                return [row for row in found if not any(_takes(other, row) for other in others)]
            case algebra.Where(of, condition):
                found = self._rows(of, env, graph)
                return [row for row in found if self._is(condition, row, env, graph)]
            case algebra.With(of, variable, value):
                assert variable.name not in env, "the recommendation does not say what this means"
                found = self._rows(of, env, graph)
                return [self._extended(row, variable.name, value, env, graph) for row in found]
            case algebra.Listed(variables, listed):
                return list(_listed([v.name for v in variables], listed, env))
            case algebra.InGraph(slot, of):
                return self._in_graph(slot, of, env)
            case algebra.Chosen(of, variables):
                names = [variable.name for variable in variables]
                rows = self._rows(of, {n: env[n] for n in names if n in env}, graph)
                return [{n: row[n] for n in names if n in row} for row in rows]
            case algebra.DistinctRows(of):
                unique = dict.fromkeys(
                    tuple(sorted(row.items(), key=str)) for row in self._rows(of, env, graph)
                )
                return [dict(items) for items in unique]
            case algebra.ReducedRows(of) | algebra.Ordered(of):
                return self._rows(of, env, graph)
            case algebra.Slice(of, start, length):
                rows = self._rows(of, env, graph)
                return rows[start:] if length is None else rows[start : start + length]
            case algebra.Grouped():
                return list(self._grouped(pattern, env, graph))

    def _in_graph(self, slot: Slot, of: Pattern, env: Row) -> list[Row]:
        name = env.get(slot.name, slot) if isinstance(slot, Variable) else slot
        if not isinstance(name, Variable):
            return self._rows(of, env, self._named[name]) if name in self._named else []
        rows = []
        for each, graph in self._named.items():
            rows += _joined(self._rows(of, env, graph), [{name.name: each}])
        return rows

    def _grouped(self, pattern: algebra.Grouped, env: Row, graph: Graph) -> Iterator[Row]:
        keys = [v.name for v in pattern.keys if v.name not in env]
        groups: dict[tuple[Term | None, ...], list[Row]] = {} if pattern.keys else {(): []}
        for row in self._rows(pattern.of, env, graph):
            groups.setdefault(tuple(row.get(key) for key in keys), []).append(row)
        for key, rows in groups.items():
            made = {name: term for name, term in zip(keys, key, strict=True) if term is not None}
            for variable, aggregate in pattern.aggregates:
                total = self._total(aggregate, rows, env, graph)
                if total is not None:
                    made[variable.name] = total
            yield made

    def _total(
        self, aggregate: algebra.QueryAggregate, rows: list[Row], env: Row, graph: Graph
    ) -> Term | None:
        if aggregate.value is None:
            unique = {tuple(sorted(row.items(), key=str)) for row in rows}
            return Literal(len(unique) if aggregate.distinct else len(rows))
        if aggregate.function in OWN_AGGREGATES:
            return self._own_total(aggregate, rows, env, graph)
        terms = [self._value(aggregate.value, row, env, graph) for row in rows]
        if aggregate.distinct:
            terms = list(dict.fromkeys(terms))
        if aggregate.function == "COUNT":
            return Literal(sum(term is not None for term in terms))
        if None in terms:
            return None
        return _folded(aggregate.function, terms)  # type: ignore[arg-type]

    def _own_total(
        self, aggregate: algebra.QueryAggregate, rows: list[Row], env: Row, graph: Graph
    ) -> Term | None:
        """What pyoxigraph does not have, or in any order, is what it is in rules."""
        found = [tuple(self._value(v, row, env, graph) for v in aggregate.values) for row in rows]
        found = list(dict.fromkeys(found)) if aggregate.distinct else found
        if not found or any(None in each for each in found):
            is_text = aggregate.function == "GROUP_CONCAT" and not found
            return Literal("") if is_text else None
        return values.aggregate(aggregate.function.lower(), found, aggregate.parameter)  # type: ignore[arg-type]

    # expressions

    def _extended(self, row: Row, name: str, value: QueryExpression, env: Row, graph: Graph) -> Row:
        term = self._value(value, row, env, graph)
        return row if term is None else {**row, name: term}

    def _is(self, condition: QueryExpression, row: Row, env: Row, graph: Graph) -> bool:
        return _truth(self._value(condition, row, env, graph)) is True

    def _value(self, expression: QueryExpression, row: Row, env: Row, graph: Graph) -> Term | None:
        """The value of an expression; None is an error."""

        def value(part: QueryExpression) -> Term | None:
            return self._value(part, row, env, graph)

        match expression:
            case Variable(name):
                return env.get(name, row.get(name))
            case Constant(term):
                return term
            case Exists(pattern, negated):
                found = self._rows(pattern, {**row, **env}, graph)
                return Literal(bool(found) is not negated)
            case Call("BOUND", (argument,)):
                return Literal(value(argument) is not None)
            case Call("&&" | "||" as name, arguments):
                return _logic(name == "||", [_truth(value(each)) for each in arguments])
            case Call("!", (argument,)):
                truth = _truth(value(argument))
                return None if truth is None else Literal(not truth)
            case Call("IN" | "NOT IN" as name, (wanted, *listed)):
                equal = [_truth(value(Call("=", (wanted, each)))) for each in listed]
                among = _logic(True, equal)
                return among if among is None or name == "IN" else Literal(among == FALSE)
            case Call("IF", (condition, one, other)):
                truth = _truth(value(condition))
                return None if truth is None else value(one if truth else other)
            case Call("COALESCE", arguments):
                return next((t for each in arguments if (t := value(each)) is not None), None)
            case Call(name, arguments):
                terms = [value(each) for each in arguments]
                return None if None in terms else _called(name, tuple(terms))  # type: ignore[arg-type]


def _truth(term: Term | None) -> bool | None:
    """The effective boolean value; None is an error."""
    found = None if term is None else _asked("IF({}, true, false)", (term,))
    return None if found is None else found == TRUE


def _logic(deciding: bool, truths: list[bool | None]) -> Literal | None:
    if deciding in truths:
        return Literal(deciding)
    return None if None in truths else Literal(not deciding)


def _called(name: str, terms: tuple[Term, ...]) -> Term | None:
    if name == "STR":
        (term,) = terms
        return Literal(term.value) if isinstance(term, Literal | NamedNode) else None
    if name == "sameTerm":
        return Literal(terms[0] == terms[1])
    if name in ("+", "-", "*", "/") and all(isinstance(t, Literal) for t in terms):
        found = values.arithmetic(name, *terms)
        if found is not None:
            return found
    pattern = written(Call(name, tuple(Variable(f"{{{at}}}") for at in range(len(terms)))))
    return _asked(pattern.replace("?{", "{"), terms)


@lru_cache(maxsize=200_000)
def _asked(pattern: str, terms: tuple[Term, ...]) -> Term | None:
    """What pyoxigraph says of one call."""
    names = [f"a{number}" for number in range(len(terms))]
    shown = " ".join(f"?{name}" for name in names)
    text = f"SELECT {shown} ({pattern.format(*(f'?{n}' for n in names))} AS ?value) {{}}"
    given = {Name(name): term for name, term in zip(names, terms, strict=True)}
    (row,) = NOTHING.query(text, substitutions=given)  # type: ignore[union-attr, arg-type]
    return row["value"]  # type: ignore[no-any-return, index]


def _folded(function: str, terms: list[Term]) -> Term | None:
    store = Store()
    for number, term in enumerate(terms):
        store.add(_quad(number, term))
    text = f"SELECT ({function}(?v) AS ?total) {{ ?row <urn:v> ?v }}"
    (row,) = store.query(text)  # type: ignore[union-attr]
    return row["total"]  # type: ignore[no-any-return, index]


def _quad(number: int, term: Term):  # type: ignore[no-untyped-def]
    from pyoxigraph import Quad

    return Quad(BlankNode(f"row{number}"), NamedNode("urn:v"), term)  # type: ignore[arg-type]


# rows


def _agree(row: Row, other: Row) -> bool:
    return all(other[name] == term for name, term in row.items() if name in other)


def _joined(rows: list[Row], others: list[Row]) -> list[Row]:
    return [{**row, **other} for row, other in product(rows, others) if _agree(row, other)]


def _takes(other: Row, row: Row) -> bool:
    """Whether MINUS takes a row away for another one."""
    return bool(row.keys() & other.keys()) and _agree(row, other)


def _listed(names: list[str], rows: tuple[tuple[Term | None, ...], ...], env: Row) -> Iterator[Row]:
    for listed in rows:
        row = {name: term for name, term in zip(names, listed, strict=True) if term is not None}
        if _agree(row, env):
            yield {name: term for name, term in row.items() if name not in env}


def _filled(atom: TripleAtom, row: Row) -> tuple[str, ...] | None:
    terms = [row.get(slot.name) if isinstance(slot, Variable) else slot for slot in atom.slots]
    try:
        Triple(*terms)  # type: ignore[arg-type]
    except TypeError:
        return None
    return tuple(map(str, terms))


# triple patterns and paths


def _matches(atom: TripleAtom | PathAtom, row: Row, env: Row, graph: Graph) -> Iterator[Row]:
    """The rows that agree with a row, and have what matches a pattern."""
    known = {**row, **env}
    slots = [known.get(s.name, s) if isinstance(s, Variable) else s for s in atom.slots]
    if isinstance(atom, PathAtom):
        ends = [None if isinstance(slot, Variable) else slot for slot in slots]
        found: Iterable[tuple[Term, ...]] = _pairs(atom.path, *ends, graph)
    else:
        found = ((t.subject, t.predicate, t.object) for t in graph)
    for terms in found:
        new: Row = {}
        if all(_fits(slot, term, new) for slot, term in zip(slots, terms, strict=True)):
            yield {**row, **new}


def _fits(slot: Slot, term: Term, new: Row) -> bool:
    if isinstance(slot, Variable):
        return new.setdefault(slot.name, term) == term
    return slot == term


Pairs = list[tuple[Term, Term]]


def _pairs(path: Path, start: Term | None, end: Term | None, graph: Graph) -> Pairs:
    """What a path connects; an end that is given may lie outside of the graph."""
    match path:
        case algebra.PredicatePath(predicate):
            return [(t.subject, t.object) for t in graph if t.predicate == predicate]
        case algebra.InversePath(inner):
            return [(one, other) for other, one in _pairs(inner, end, start, graph)]
        case algebra.NoneOf(predicates):
            return [(t.subject, t.object) for t in graph if t.predicate not in predicates]
        case algebra.Alternative(paths):
            return [pair for each in paths for pair in _pairs(each, start, end, graph)]
        case algebra.Sequence((first, *rest)):
            if not rest:
                return _pairs(first, start, end, graph)
            before = _pairs(first, start, None, graph)
            after = _pairs(algebra.Sequence(tuple(rest)), None, end, graph)
            return [(one, b) for one, a in before for c, b in after if a == c]
        case algebra.Repeated(inner, mark):
            return _repeated(inner, mark, {start, end} - {None}, graph)  # type: ignore[arg-type]


def _repeated(inner: Path, mark: str, ends: set[Term], graph: Graph) -> Pairs:
    nodes = {end for t in graph for end in (t.subject, t.object)} | ends
    pairs = set(_pairs(inner, None, None, graph)) | {
        pair
        for end in ends
        for pair in (*_pairs(inner, end, None, graph), *_pairs(inner, None, end, graph))
    }
    found = set(pairs)
    while mark != "?":
        more = {(a, d) for a, b in found for c, d in pairs if b == c} - found
        if not more:
            break
        found |= more
    if mark != "+":
        found |= {(node, node) for node in nodes}
    return list(found)
