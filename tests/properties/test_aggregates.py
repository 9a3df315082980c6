"""Groups that change have the totals of what is in them, in rules, watches and windows."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle import values
from tests.oracle.solutions import Answers
from tests.properties.generate.expressions import NUMBERS
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.model.facts import Term
from livefacts.model.running_totals import IN_RULES, IN_SPARQL
from livefacts.syntax.sparql.query_reader import parse_query

CHUNK, CHANGES, ITEMS = 12, 14, 7
GROUPS = [NamedNode(f"x:g{number}") for number in range(3)]
WRITTEN = {"percentile": ["0", "37.5", "50", "100"], "group_concat": ['", "']}
TEXTS = [Literal("b"), Literal("a"), Literal("a", language="en")]
LISTED = {"argmin": "?e, ?v", "argmax": "?e, ?v"}
SMALL = {number / 4 for number in range(-(2**12), 2**12)}
"""Those that pyoxigraph adds and divides without an error."""
IN, HAS = NamedNode("x:in"), NamedNode("x:has")

Pair = tuple[NamedNode, NamedNode]


class World:
    """What is asserted, and what every group has of it."""

    def __init__(self, pick: Random, *, equal: bool = True) -> None:
        """`equal` allows for numbers that are equal and no same term."""
        self._pick = pick
        numbers = pick.choice([NUMBERS[:10], NUMBERS[16:24], NUMBERS])
        # The oracle has no minus zero; in SPARQL it takes any of equal numbers, and no large ones.
        numbers = [n for n in numbers if not (n.value.startswith("-0") and float(n.value) == 0)]
        if not equal:
            amounts = {float(n.value.replace("INF", "inf")): n for n in numbers}
            numbers = [n for amount, n in amounts.items() if amount in SMALL]
        self._values = [*pick.sample(numbers, min(pick.choice([4, 9]), len(numbers)))]
        if pick.random() < 0.3:
            self._values += [*TEXTS, GROUPS[0]] if pick.random() < 0.5 else TEXTS[:1]
        self.facts: set[Triple] = set()

    def drawn(self) -> Triple:
        """A fact about an item: the group that it is in, or a value that it has."""
        item = NamedNode(f"x:e{self._pick.randrange(ITEMS)}")
        if self._pick.random() < 0.35:
            return Triple(item, IN, self._pick.choice(GROUPS))
        return Triple(item, HAS, self._pick.choice(self._values))  # type: ignore[arg-type]

    def change(self) -> tuple[set[Triple], set[Triple]]:
        """Facts that come, and facts that go."""
        count = self._pick.choice([1, 1, 1, 3, 12])
        come = {self.drawn() for _ in range(count)} - self.facts
        known = sorted(self.facts, key=str)
        gone = set(self._pick.sample(known, min(len(known), self._pick.choice([0, 1, 1, 4]))))
        return come, gone


def members(facts: set[Triple]) -> dict[Term, list[tuple[Term, Term]]]:
    """By group, the values that its items have, each with the item."""
    found: dict[Term, list[tuple[Term, Term]]] = defaultdict(list)
    for place in facts:
        if place.predicate == IN:
            for fact in facts:
                if fact.predicate == HAS and fact.subject == place.subject:
                    found[place.object].append((fact.object, fact.subject))  # type: ignore[arg-type]
    return found


def told(pick: Random, function: str) -> str | None:
    return pick.choice(WRITTEN[function]) if function in WRITTEN else None


def rule(number: int, function: str, parameter: str | None, body: str) -> str:
    name = function if parameter is None else f"{function}({parameter})"
    listed = LISTED.get(function, "?v, ?e")
    return f"@id of_{number} total(?g, {number}, ?n) :- ?n = {name} {{ {listed} : {body} }} ."


def expected(rules: dict[int, tuple[str, str | None]], facts: set[Triple]) -> set[tuple[Term, ...]]:
    found = set()
    for number, (function, parameter) in rules.items():
        for group, pairs in members(facts).items():
            tuples = [
                (item, value) if function in LISTED else (value, item) for value, item in pairs
            ]
            total = values.aggregate(function, tuples, parameter and parameter.strip('"'))
            if total is not None:
                found.add((group, Literal(number), total))
    return found


def shown(reasoner: lf.Reasoner) -> set[tuple[Term, ...]]:
    return {fact.arguments for fact in reasoner.facts("total(?g, ?k, ?n)")}


def drawn_rules(pick: Random) -> dict[int, tuple[str, str | None]]:
    functions = pick.sample(list(IN_RULES), 5)
    return {number: (name, told(pick, name)) for number, name in enumerate(functions)}


BODY = "[?e, <x:in>, ?g], [?e, <x:has>, ?v]"


@pytest.mark.parametrize("chunk", chunks(40, 2))
@pytest.mark.filterwarnings("ignore::livefacts.errors.LivefactsWarning")
def test_rules_have_the_totals_of_their_groups_after_every_change(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(f"rules {seed}")
        world, known = World(pick), drawn_rules(pick)
        rules = dict(list(known.items())[:4])
        reasoner = lf.Reasoner(
            rules="\n".join(rule(n, *told, BODY) for n, told in rules.items())
            + "\nfalse :- [?e, <x:in>, <x:nowhere>] .",
            on_violation="refuse",
        )
        for _ in range(CHANGES):
            come, gone = world.change()
            draw = pick.random()
            if draw < 0.2:
                reasoner.preview(add=come, remove=gone)
            elif draw < 0.4:
                bad = {*come, Triple(NamedNode("x:e0"), IN, NamedNode("x:nowhere"))}
                with pytest.raises(lf.ViolationError):
                    reasoner.apply(add=bad, remove=gone)
            elif draw < 0.55:
                number = pick.choice(list(known))
                told_of = known[number]
                remove = [f"of_{number}"] if rules.pop(number, None) else []
                add = "" if remove else rule(number, *told_of, BODY)
                if add:
                    rules[number] = told_of
                reasoner.apply(add=come, remove=gone, add_rules=add, remove_rules=remove)
                world.facts = (world.facts - gone) | come
            else:
                reasoner.apply(add=come, remove=gone)
                world.facts = (world.facts - gone) | come
            assert shown(reasoner) == expected(rules, world.facts), f"seed {seed}"
        assert reasoner.verify(), f"seed {seed}"


@pytest.mark.parametrize("chunk", chunks(40, 2))
@pytest.mark.filterwarnings("ignore::livefacts.errors.LivefactsWarning")
def test_windows_of_rules_have_the_totals_of_what_is_in_them(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(f"windows {seed}")
        world, rules, length = World(pick), drawn_rules(pick), pick.randrange(1, 5)
        body = f"[?e, <x:in>, ?g], sometime [?e, <x:has>, ?v] in [{length}]"
        reasoner = lf.Reasoner(rules="\n".join(rule(n, *told, body) for n, told in rules.items()))
        arrived: list[tuple[int, Triple]] = []
        asserted: set[Triple] = set()
        now = 0
        for _ in range(CHANGES):
            now += pick.choice([0, 1, 1, 2])
            for fact in (world.drawn() for _ in range(pick.randrange(4))):
                if fact.predicate == HAS:
                    reasoner.push([fact], at=now)
                    arrived.append((now, fact))
                else:
                    reasoner.add([fact])
                    asserted.add(fact)
            reasoner.advance(now)
            inside = {fact for at, fact in arrived if now - length <= at}
            assert shown(reasoner) == expected(rules, asserted | inside), f"seed {seed} at {now}"


def call(pick: Random, function: str) -> str:
    """An aggregate of SPARQL, by its name or its IRI."""
    distinct = pick.choice(["", "", "DISTINCT "])
    name = function if function in ("COUNT", "SUM", "AVG", "MIN", "MAX") else (
        f"<urn:livefacts:{function.lower()}>"
    )  # fmt: skip
    if IN_SPARQL[function].values == 2:
        return f"{name}({distinct}?e, ?v)"
    return f"{name}({distinct}?v{', 60' if function == 'PERCENTILE' else ''})"


def asked(pick: Random, where: str) -> str:
    functions = pick.sample([name for name in IN_SPARQL if name != "SAMPLE"], 4)
    totals = " ".join(f"({call(pick, name)} AS ?t{n})" for n, name in enumerate(functions))
    by = pick.choice(["GROUP BY ?g", ""])
    return f"SELECT {'?g ' if by else ''}{totals} {where} {{ ?e <x:in> ?g . ?e <x:has> ?v }} {by}"


def texts(rows: Any) -> list[tuple[str, ...]]:
    return sorted(tuple("" if cell is None else str(cell) for cell in row) for row in rows)


def answers(text: str, facts: set[Triple]) -> list[tuple[str, ...]]:
    return sorted(Answers(facts, {}).of(parse_query(text, {})).elements())


@pytest.mark.parametrize("chunk", chunks(40, 2))
def test_watches_have_the_totals_of_their_groups_after_every_change(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(f"watches {seed}")
        world, reasoner = World(pick, equal=False), lf.Reasoner()
        text = asked(pick, "WHERE")
        watch = None
        for turn in range(CHANGES):
            come, gone = world.change()
            reasoner.apply(add=come, remove=gone)
            world.facts = (world.facts - gone) | come
            if turn == 2:
                watch = reasoner.watch(text)
            if watch is not None:
                wanted = answers(text, world.facts)
                assert texts(watch.answers()) == wanted, f"seed {seed}: {text}"
                assert texts(reasoner.query(text)) == wanted, f"seed {seed}: {text}"


@pytest.mark.parametrize("chunk", chunks(40, 2))
def test_registered_queries_have_the_totals_of_their_windows(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(f"registered {seed}")
        world, reasoner, length = World(pick, equal=False), lf.Reasoner(), pick.randrange(1, 5)
        window = f"FROM STREAM <x:s> [RANGE {length}s STEP 1s]"
        text = asked(pick, f"{window} WHERE")
        query = reasoner.register(f"REGISTER QUERY q COMPUTED EVERY 1s AS {text}")
        plain = text.replace(window, "")
        arrived: list[tuple[int, Triple]] = []
        for now in range(1, CHANGES):
            for fact in {world.drawn() for _ in range(pick.randrange(5))}:
                reasoner.push([fact], at=now, stream="x:s")
                arrived.append((now, fact))
            reasoner.advance(now)
            for report in query.results():
                inside = {fact for at, fact in arrived if report.time - length < at <= report.time}
                assert texts(report.rows) == answers(plain, inside), f"seed {seed} at {now}: {text}"
