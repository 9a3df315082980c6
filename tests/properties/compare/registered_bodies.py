"""Random bodies of registered queries: any form of SPARQL inside windows, against a store.

The window's arrivals and the background are closed by the oracle, and pyoxigraph is asked
about the result from nothing, at every report.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryTriples,
    Store,
    Triple,
)
from tests.properties.compare.registered_queries import Bag, RegisteredHistory, Window
from tests.properties.generate.queries import MessageMaker, QueryMaker

from livefacts.language.program import Program
from livefacts.model.facts import Fact
from livefacts.service.registered.reports import Report
from livefacts.syntax.rulelang.rule_parser import parse

RULES = [
    "[?x, <x:r>, ?y] :- [?x, <x:p>, ?y] .",
    "[?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .",
    "[?y, <x:q>, ?x] :- [?x, <x:q>, ?y], [?x, <x:r>, ?y] .",
    "[?x, <x:q>, <x:a>] :- [?x, <x:r>, ?y], not [?y, <x:p>, ?x] .",
    "[?x, <x:r>, ?n] :- ?n = count { ?y : [?x, <x:p>, ?y] } .",
]


ROWS = "SELECT * "


@dataclass(frozen=True, slots=True)
class Clause:
    """`AGGREGATE { (?name, function, {keys}) FILTER(?name > least) }`, and what it means."""

    name: str
    function: str
    value: str
    keys: tuple[str, ...]
    least: int | None = None

    def __str__(self) -> str:
        called = self.function.format(f"?{self.value}")
        keys = ", ".join(f"?{key}" for key in self.keys)
        condition = "" if self.least is None else f" FILTER(?{self.name} > {self.least})"
        return f"AGGREGATE {{ (?{self.name}, {called}, {{{keys}}}){condition} }}"

    def extended(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Every row, with the total of all rows that have its keys."""
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            groups.setdefault(self._key(row), []).append(row.get(self.value))
        totals = {key: self._total(values) for key, values in groups.items()}
        made = [{**row, self.name: totals[self._key(row)]} for row in rows]
        return [row for row in made if self.least is None or self._is_enough(row[self.name])]

    def _key(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row.get(key) for key in self.keys)

    def _is_enough(self, total: Any) -> bool:
        return total is not None and int(total.value) > (self.least or 0)

    def _total(self, values: list[Any]) -> Any:
        bound = [value for value in values if value is not None]
        match self.function:
            case "COUNT" | "COUNT(*)":
                return Literal(len(values))
            case "COUNT({})":
                return Literal(len(bound))
            case "COUNT(DISTINCT {})":
                return Literal(len(set(bound)))
        if any(isinstance(value, BlankNode) for value in values):
            return None
        cells = " ".join("UNDEF" if value is None else str(value) for value in values)
        called = self.function.format("?v")
        ((total,),) = Store().query(f"SELECT ({called} AS ?t) {{ VALUES ?v {{ {cells} }} }}")  # type: ignore[misc]
        return total


@dataclass(frozen=True, slots=True)
class Body:
    """A query of any form to register, and what it means."""

    name: str
    windows: tuple[Window, ...]
    every: int
    relation: str
    text: str
    clauses: tuple[Clause, ...] = ()

    def __str__(self) -> str:
        begins = "{" if self.text.startswith(("ASK", "SELECT *")) else "WHERE"
        head, _, rest = self.text.partition(begins)
        windows = " ".join(map(str, self.windows))
        return (
            f"REGISTER {self.relation} {self.name} COMPUTE EVERY {self.every} AS "
            f"{head}{windows} {begins}{rest} {' '.join(map(str, self.clauses))}"
        )

    def answers(self, triples: set[Triple], graphs: Mapping[str, set[Triple]]) -> Bag:
        """What pyoxigraph finds, as often as it does."""
        store = Store()
        store.extend(Quad(*triple) for triple in triples if _is_rdf(triple))
        for name, inside in graphs.items():
            graph = NamedNode(name)
            store.add_graph(graph)
            store.extend(Quad(*triple, graph) for triple in inside if _is_rdf(triple))
        return self._extended(store) if self.clauses else fresh(store, self.text)

    def _extended(self, store: Store) -> Bag:
        found: Any = store.query(self.text)
        names = [variable.value for variable in found.variables]
        rows = [dict(zip(names, row, strict=True)) for row in found]
        for clause in self.clauses:
            rows, names = clause.extended(rows), [*names, clause.name]
        return _bag(names, [[row.get(name) for name in names] for row in rows])

    def reported(self, report: Report) -> Bag:
        """The rows of a report."""
        if self.text.startswith("ASK"):
            return Counter([()] if report else [])
        return _bag(report.variables, report.rows)


def _is_rdf(triple: Any) -> bool:
    return not any(type(term).__name__ == "Symbol" for term in triple)


def fresh(store: Store, text: str) -> Bag:
    """The answers of a query, as bags of texts."""
    found = store.query(text)
    if isinstance(found, QueryBoolean):
        return Counter([()] if found else [])
    if isinstance(found, QueryTriples):
        return Counter({(str(t.object), str(t.predicate), str(t.subject)) for t in found})
    return _bag([variable.value for variable in found.variables], found)


def _bag(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> Bag:
    """Rows as texts, with their columns in the order of the names: `*` says nothing of theirs."""
    order = sorted(range(len(names)), key=names.__getitem__)
    texts = ([None if term is None else str(term) for term in row] for row in rows)
    return Counter(tuple(row[at] for at in order) for row in texts)


class Bodies:
    """Small graphs that come and go in windows, asked for in every form."""

    most = 16
    named = 0.4
    """How often windows have names, which bodies speak of."""

    def program(self, pick: random.Random, seed: int) -> Program:
        return parse("\n".join(pick.sample(RULES, pick.choice((0, 1, 1, 2, 3)))))

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        assertion = MessageMaker(f"pool {seed}")
        assertion.message()
        asserted = sorted(assertion.present - set(assertion.always), key=str)
        # Labels of blank nodes are those of a text, and not the reasoner's; booleans have an
        # order in rules, which triple patterns with comparisons are, and none in pyoxigraph.
        other = (BlankNode("thing"), Literal(True))
        return [t for t in asserted if t.subject not in other and t.object not in other]

    def always(self) -> list[Triple | Fact]:
        return list(MessageMaker(0).always)

    def text(self, pick: random.Random, names: list[NamedNode]) -> str:
        """The query without its windows."""
        return QueryMaker(f"body {pick.random()}", names).query()

    def question(self, history: RegisteredHistory, number: int) -> Body:
        pick = history.pick
        windows = history.windows()
        if pick.random() < self.named:
            windows = tuple(replace(w, name=f"x:{n}") for n, w in zip("ab", windows, strict=False))
        names = [NamedNode(window.name) for window in windows if window.name]
        text = self.text(pick, names)
        relation = pick.choice(("QUERY", "QUERY", "QUERY", "ISTREAM", "DSTREAM"))
        return Body(
            f"q{number}",
            windows,
            pick.choice((1, 2, 3, 6)),
            "QUERY" if text.startswith("ASK") else relation,
            text,
            tuple(draw_clauses(text)),
        )


CALLS = [
    *("COUNT", "COUNT", "COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})"),
    *("SUM({})", "AVG({})", "MIN(STR({}))", "MAX(STR({}))"),
]


def draw_clauses(text: str) -> Iterator[Clause]:
    """Clauses of AGGREGATE behind a query of all variables; each may look at those before it."""
    pick = random.Random(f"clauses of {text}")
    if not text.startswith(ROWS) or pick.random() < 0.3:
        return
    found: Any = Store().query(text)
    names = [variable.value for variable in found.variables]
    for number in range(pick.choice((1, 1, 2, 3)) if names else 0):
        keys = tuple(pick.sample(names, min(len(names), pick.choice((1, 1, 2)))))
        function = pick.choice(CALLS)
        least = pick.choice((None, 0, 1)) if function.startswith("COUNT") else None
        yield Clause(f"total{number}", function, pick.choice(names), keys, least)
        names.append(f"total{number}")


class AggregateBodies(Bodies):
    """Bodies of all variables, mostly with clauses of AGGREGATE."""

    def text(self, pick: random.Random, names: list[NamedNode]) -> str:
        return ROWS + QueryMaker(f"body {pick.random()}", names).group(2)
