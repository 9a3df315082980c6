"""Random SPARQL queries, of every form that is followed change by change, and random data.

Data and queries are small and alike, so that most patterns match something.  Literals are
canonical: the query engine that answers are compared with knows no others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.model.namespaces import XSD

NODES = [NamedNode(f"x:{name}") for name in "abcd"]
HERE = NamedNode("x:here")
EDGES = [NamedNode(f"x:{name}") for name in "pqr"]
VALUES = [
    Literal(1),
    Literal(2),
    Literal(17),
    Literal("2.5", datatype=NamedNode(XSD + "decimal")),
    Literal("x"),
    Literal("xyz"),
    Literal("x", language="en"),
    Literal(True),
    Literal("2026-11-16", datatype=NamedNode(XSD + "date")),
    BlankNode("thing"),
]
VARIABLES = ["?v", "?w", "?x", "?y", "?z"]
NOT_P_NOT_Q = "!(<x:q>|<x:p>|<x:here>)"
"""One predicate is left: how often a pair counts that several connect, engines do not agree on.
Alternatives are repeated, which counts a pair once."""
FUNCTIONS = [
    "isIRI({})",
    "isLITERAL({})",
    "BOUND({})",
    "STRLEN(STR({})) > 2",
    "DATATYPE({}) = <http://www.w3.org/2001/XMLSchema#integer>",
    'REGEX(STR({}), "[a-c]$")',
    'LANG({}) = "en"',
    '{} IN (1, "x", <x:a>)',
    "{} NOT IN (2, <x:b>)",
    "!({} > 1)",
    "COALESCE({} + 1, 0) > 2",
    "isBLANK({})",
]
TOTALS = [
    "COUNT(*)",
    "COUNT({})",
    "COUNT(DISTINCT {})",
    "SUM({})",
    "SUM(DISTINCT {})",
    "AVG({})",
    "MIN(STR({}))",
    "MAX(STR({}))",
    "MIN({} + 1)",
    "MAX(DISTINCT {} + 1)",
    "COUNT(DISTINCT *)",
    "SUM({} + 1)",
]
OWN_TOTALS = [
    "<urn:livefacts:stddev>({})",
    "<urn:livefacts:stddev>(DISTINCT {})",
    "<urn:livefacts:percentile>({}, 50)",
    "<urn:livefacts:percentile>(STRLEN(STR({})), 90)",
    "<urn:livefacts:argmin>({0}, STRLEN(STR({0})))",
    "<urn:livefacts:argmax>(STR({0}), {0})",
]
"""Those that pyoxigraph does not have."""
ELSEWHERE = ["?k", "?l", "?m"]
"""Variables of some groups of MINUS that the rest of a query does not speak of."""


class QueryMaker:
    """Draws queries; with graphs, some of their parts are looked for there."""

    drawn_totals = TOTALS

    def __init__(self, seed: int | str, graphs: Sequence[NamedNode] = ()) -> None:
        self._random = random.Random(seed)
        self._more = random.Random(f"more of {seed}")
        """What is drawn from here changes nothing else of a query."""
        self._graphs = graphs
        self._computed = 0
        self._inside = 0
        """How many EXISTS are around what is drawn."""
        self._known = ""
        """A variable that surely has a value in the group that is drawn."""
        self._names = self._random.sample(VARIABLES, self._random.randint(2, 5))
        """The variables that this query mostly speaks of."""

    def query(self) -> str:
        """A query of any form."""
        kind = self._random.randrange(10)
        group = self.group(2)
        if self._sometimes(6):
            group = f"{group[:-1]}{self.minus_elsewhere()} }}"
        if kind == 0:
            return f"ASK {group}"
        if kind == 1:
            first, second = self._some(self._names, 2)
            return f"CONSTRUCT {{ {first} <x:made> {second} . <x:a> <x:of> {first} }} WHERE {group}"
        if kind in (2, 3):
            return self.totals(group)
        if kind == 4:
            return f"SELECT * {group}"
        chosen = " ".join(self._some(self._names, self._random.randint(1, 2)))
        asked = f"SELECT {self._pick(['', '', 'DISTINCT '])}{chosen}"
        if self._sometimes(4):
            asked += f" (IF({self._there()}, {self._name()}, 0) AS ?there)"
        order = f" ORDER BY {self._there()} {self._name()}" if self._sometimes(6) else ""
        return f"{asked} WHERE {group}{order}"

    def totals(self, group: str) -> str:
        """An aggregating query."""
        keys = self._some(self._names, self._random.randrange(3))
        total = self._pick(self.drawn_totals).format(self._name())
        having = f" HAVING (COUNT(*) > {self._random.randrange(3)})" if self._once_in(3) else ""
        asked, by = " ".join(keys), " ".join(keys)
        if self._sometimes(4):
            total = f"SUM(IF({self._there()}, 1, 0))"
        if self._sometimes(6):
            asked, by = f"{asked} ?there", f"{by} ({self._there()} AS ?there)"
        if self._sometimes(4):
            having = f" HAVING ({self._there()} || COUNT(*) = 2)"
        if self._sometimes(6):
            asked += f" ({self._there()} AS ?also)"
        grouping = f" GROUP BY {by}" if by else ""
        return f"SELECT {asked} ({total} AS ?total) WHERE {group}{grouping}{having}"

    def group(self, depth: int) -> str:
        """A group of patterns."""
        parts = [self.triples()]
        around = self._known
        self._known = next(iter(re.findall(r"[?]\w+", parts[0])), "")
        for _ in range(self._random.randint(0, 2)):
            parts.append(self._part(depth))
        self._known = around
        if self._once_in(8) and not self._inside:
            self._random.shuffle(parts)
        return f"{{ {' '.join(parts)} }}"

    def triples(self) -> str:
        """Triple patterns that have something to do with each other."""
        count = self._pick([1, 1, 1, 2, 2, 3])
        names = self._names if self._random.random() < 0.9 else VARIABLES
        return " ".join(self._triple(names) for _ in range(count))

    def _triple(self, names: list[str]) -> str:
        subject = self._pick([*names, *names, str(self._pick(NODES))])
        edge = self._pick([*map(str, EDGES), *map(str, EDGES), *map(str, EDGES), "?e"])
        if self._once_in(6):
            edge = self.path(2)
        value = self._pick([*names, *names, *names, str(self._pick(NODES)), "1"])
        return f"{subject} {edge} {value} ."

    def path(self, depth: int) -> str:
        """A property path."""
        step = str(self._pick(EDGES))
        if not depth:
            return step
        inner = self.path(depth - 1)
        other = str(self._pick(EDGES))
        forms = ["({0})+", "({0})*", "({0})?", "^({0})", "({0})/{1}", "{1}/({0})", "(({0})|{1})+"]
        return self._pick([*forms, NOT_P_NOT_Q, f"^({NOT_P_NOT_Q})"]).format(inner, other)

    def _part(self, depth: int) -> str:
        plain = [self.filter, self.filter, self.values, self.bind, self.triples]
        if not depth:
            return self._pick(plain)()
        nested = [self.optional, self.optional, self.union, self.minus, self.exists, self.inner]
        if self._graphs:
            nested += [self.in_graph] * 12
        make = self._pick([*plain, *nested, *nested])
        return make(depth - 1) if make in nested else make()  # type: ignore[operator]

    def filter(self) -> str:
        """A condition."""
        return f"FILTER({self._condition(2)})"

    def _condition(self, depth: int) -> str:
        if depth and self._once_in(4):
            operator = self._pick(["&&", "||"])
            return f"({self._condition(depth - 1)} {operator} {self._condition(depth - 1)})"
        if depth and self._sometimes(12):
            return self._there()
        if self._once_in(2):
            return self._pick(FUNCTIONS).format(self._name())
        other = self._pick([*self._names, "1", "2.0", '"x"', "<x:a>"])
        operator = self._pick(["=", "!=", "<", ">", "<=", ">="])
        return f"{self._name()} {operator} {other}"

    def values(self) -> str:
        """Rows that are written in the query."""
        names = self._some(self._names, 2)
        cells = [*map(str, NODES), "1", "UNDEF"]
        rows = " ".join(f"({self._pick(cells)} {self._pick(cells)})" for _ in range(3))
        if self._sometimes(12):
            return self._more.choice(["VALUES () { () () }", "VALUES () { }", "VALUES ?x { }"])
        return f"VALUES ({' '.join(names)}) {{ {rows} }}"

    def bind(self) -> str:
        """A computed value."""
        self._computed += 1
        value = self._pick(["{} + 1", "STR({})", "IF({} = 1, <x:a>, 2)", "CONCAT(STR({}), 'b')"])
        if self._sometimes(6):
            return f"BIND(IF({self._there()}, {self._name()}, false) AS ?made{self._computed})"
        return f"BIND({value.format(self._name())} AS ?made{self._computed})"

    def optional(self, depth: int) -> str:
        """OPTIONAL."""
        return f"OPTIONAL {self.group(depth)}"

    def union(self, depth: int) -> str:
        """UNION."""
        return f"{self.group(depth)} UNION {self.group(depth)}"

    def minus(self, depth: int) -> str:
        """MINUS; inside of EXISTS of something that a variable of the rest has, for sure.

        There a fresh evaluation takes all rows away that have nothing in common with others.
        """
        group = self.group(depth)
        if not self._inside:
            return f"MINUS {group}"
        return (
            f"MINUS {{ {self._known} {self._more.choice(EDGES)} ?m . {group[1:]}"
            if self._known
            else ""
        )

    def minus_elsewhere(self) -> str:
        """MINUS of a group that has no variable in common with the rest, or one, often unbound."""
        first, second = self._more.sample(ELSEWHERE, 2)
        known = self._more.choice([first, first, *self._names])
        edges = [self._more.choice(EDGES) for _ in range(2)]
        if self._sometimes(2):
            return (
                f"MINUS {{ {first} {edges[0]} {second} OPTIONAL {{ {known} {edges[1]} {first} }} }}"
            )
        return f"MINUS {{ {known} {edges[0]} {second} }}"

    def _there(self) -> str:
        """Whether there is something, as a value."""
        return f"{self._more.choice(['', 'NOT '])}EXISTS {self._group_inside(0)}"

    def _group_inside(self, depth: int) -> str:
        self._inside += 1
        group = self.group(depth)
        self._inside -= 1
        return group

    def exists(self, depth: int) -> str:
        """A condition on what there is."""
        there = f"{self._pick(['', 'NOT '])}EXISTS {self._group_inside(depth)}"
        if self._once_in(3):
            return f"FILTER({self._condition(1)} || {there})"
        return f"FILTER {there}"

    def in_graph(self, depth: int) -> str:
        """A part that is looked for in a named graph, or in each of them."""
        graph = self._pick([*map(str, self._graphs), "?g", "?g", "?g", self._name()])
        return f"GRAPH {graph} {self.group(depth)}"

    def inner(self, depth: int) -> str:
        """A query inside the query."""
        group = self.group(depth)
        if self._once_in(2):
            key = self._name()
            self._computed += 1
            total = f"(COUNT({self._name()}) AS ?made{self._computed})"
            # In each of several graphs it is another total, to us; not to a fresh evaluation.
            if not self._graphs and self._sometimes(4):
                total = (
                    f"({self._more.choice(self.drawn_totals).format(key)} AS ?made{self._computed})"
                )
                return f"{{ SELECT {total} WHERE {group} }}"
            return f"{{ SELECT {key} {total} WHERE {group} GROUP BY {key} }}"
        chosen = " ".join(self._some(self._names, 2))
        return f"{{ SELECT {self._pick(['', 'DISTINCT '])}{chosen} WHERE {group} }}"

    def _pick(self, choices):  # type: ignore[no-untyped-def]
        return self._random.choice(choices)

    def _name(self) -> str:
        """A variable, most often one that the query speaks of."""
        return self._pick(self._names if self._random.random() < 0.9 else VARIABLES)

    def _some(self, choices: list[str], number: int) -> list[str]:
        return self._random.sample(choices, number)

    def _sometimes(self, number: int) -> bool:
        return not self._more.randrange(number)

    def _once_in(self, number: int) -> bool:
        return not self._random.randrange(number)


class LiteralQueryMaker(QueryMaker):
    """Draws queries that engines do not agree on, and the recommendation is clear about.

    MINUS stands inside of EXISTS, and EXISTS in what it takes away; rows of inner queries are
    cut and counted; parts of EXISTS do not bind what they ask about; FROM leaves some graphs.
    """

    drawn_totals = TOTALS + OWN_TOTALS

    def query(self) -> str:
        """A query of any form, or a small one about EXISTS and MINUS."""
        if self._sometimes(3):
            return f"SELECT * {{ {self._small()} FILTER {self._taken_inside()} }}"
        text = super().query()
        asked, where, group = text.partition(" WHERE ")
        if not (self._graphs and where and asked.startswith("SELECT") and self._sometimes(4)):
            return text
        if "{" in asked:
            return text
        named = [f"FROM NAMED {graph}" for graph in self._graphs if self._sometimes(2)]
        return " ".join([asked, f"FROM {self._more.choice(self._graphs)}", *named, "WHERE", group])

    def _small(self) -> str:
        """A triple pattern, or one and an option."""
        first, other = self._triple(self._names[:3]), self._triple(self._names[:3])
        return f"{first} OPTIONAL {{ {other} }}" if self._sometimes(2) else first

    def _taken_inside(self) -> str:
        word = self._more.choice(["EXISTS", "NOT EXISTS"])
        taken = self._small()
        if self._sometimes(4):
            taken = f"{taken} FILTER {self._more.choice(['', 'NOT '])}EXISTS {{ {self._small()} }}"
        return f"{word} {{ {self._small()} MINUS {{ {taken} }} }}"

    def group(self, depth: int) -> str:
        """A group; inside of EXISTS it has parts that ask about what they do not bind."""
        group = super().group(depth)
        if not self._inside:
            return group
        if depth and self._sometimes(3):
            group = f"{group[:-1]} {self.minus(0)} }}"
        if self._sometimes(6):
            group = f"{{ {self._more.choice([self.values, self.filter])()} {group[1:]}"
        return f"{{ {self.optional(0)} {group[1:]}" if depth and self._sometimes(3) else group

    def minus(self, depth: int) -> str:
        """MINUS of any group, wherever it stands."""
        return f"MINUS {self.group(depth)}"

    def inner(self, depth: int) -> str:
        """Also the number of rows that a cut leaves, which does not depend on their order."""
        if not self._sometimes(3):
            return super().inner(depth)
        names, group = " ".join(self._some(self._names, 2)), self.group(depth)
        cut = self._more.choice(["LIMIT 0", "LIMIT 1", "LIMIT 3", "OFFSET 1", "LIMIT 2 OFFSET 1"])
        self._computed += 1
        rows = f"{{ SELECT {self._more.choice(['', 'DISTINCT '])}{names} WHERE {group} {cut} }}"
        return f"{{ SELECT (COUNT(*) AS ?made{self._computed}) WHERE {{ {rows} }} }}"


class MessageMaker:
    """Draws messages: triples that come and triples that go."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)
        self.present: set[Triple] = set()
        # Paths of length zero lead from constants to themselves: those are in the graph.
        self.always = [Triple(node, HERE, value) for node in NODES for value in (node, Literal(1))]

    def message(self) -> tuple[list[Triple], list[Triple]]:
        """Triples that were not there, and triples that were."""
        added: set[Triple] = set()
        removed: set[Triple] = set()
        added.update(self.always)
        many = self._random.choice([1, 1, 1, 2, 5]) if self.present else 25
        for _ in range(many):
            if self._random.random() < 0.55 or not self.present:
                added.add(self._triple())
            else:
                removed.add(self._random.choice(sorted(self.present, key=str)))
        removed -= set(self.always)
        added, removed = added - self.present, removed & self.present
        self.present = self.present - removed | added
        return sorted(added, key=str), sorted(removed, key=str)

    def _triple(self) -> Triple:
        pick = self._random.choice
        subject = pick([*NODES, *NODES, BlankNode("thing")])
        return Triple(subject, pick(EDGES), pick([*NODES, *NODES, *VALUES]))
