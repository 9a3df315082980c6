"""Random histories of registered queries under rules that read a schema, look at time, or merge.

The definition is that of other histories: what streams bring belongs to windows, the schema to
whoever tells it, and the windows of rules look at the streams themselves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pyoxigraph import NamedNode, Triple
from tests.oracle.naive import row_of
from tests.oracle.reports import stepped
from tests.oracle.streams import Arrival, model_at
from tests.properties.compare.registered_queries import (
    EX,
    PLACES,
    STREAMS,
    Asked,
    Pattern,
    Places,
    Question,
    RegisteredHistory,
    Window,
    places,
)
from tests.properties.generate.timed_rules import fits as fits_in_time

from livefacts.language.program import Program
from livefacts.language.windows import PastWindow
from livefacts.language.windows import Window as AnyWindow
from livefacts.model.durations import Duration
from livefacts.model.facts import Fact
from livefacts.service.registered.reports import Report
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse

DENIALS = (
    "[?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .",
    "[?x, :near, ?y] :- [?x, :in, ?z], [?y, :in, ?z] .",
    "[?x, :alone, ?z] :- [?x, :in, ?z], not [?z, :has, ?x] .",
    "[?x, :alone, ?z] :- [?x, :near, ?y], [?y, :has, ?z], not [?y, :in, ?z] .",
    "[?x, :alone, ?x] :- [?x, :has, ?y], not [?y, :near, ?x], ?x is not ?y .",
    "[?x, :alone, :a] :- inside(?x, ?y), not [?y, :in, :d] .",
    "[:a, :alone, :b] :- not [:c, :has, :d] .",
    "[?x, :apart, ?y] :- [?x, :alone, ?z], [?y, :alone, ?z] .",
    "[?x, :quiet, ?z] :- [?x, :alone, ?z], not inside(?x, ?z), not [?x, :has, ?x] .",
    "[?x, :loud, ?z] :- [?x, :in, ?z], not [?x, :alone, ?z] .",
    "[?x, :apart, ?z] :- [?x, :apart, ?y], [?y, :apart, ?z] .",
)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SUB_CLASS, SUB_PROPERTY = RDFS + "subClassOf", RDFS + "subPropertyOf"
DOMAIN, RANGE = RDFS + "domain", RDFS + "range"
SCHEMA = (
    f"{EX}C {SUB_CLASS} {EX}D",
    f"{EX}D {SUB_CLASS} {EX}E",
    f"{EX}E {SUB_CLASS} {EX}C",
    f"{EX}in {DOMAIN} {EX}C",
    f"{EX}has {RANGE} {EX}D",
    f"{EX}near {DOMAIN} {EX}E",
    f"{EX}in {SUB_PROPERTY} {EX}near",
    f"{EX}near {SUB_PROPERTY} {EX}has",
    f"{EX}C {RDF}type {RDFS}Class",
)
STRANGE = (
    f"{EX}near {SUB_PROPERTY} {SUB_CLASS}",
    f"{EX}C {SUB_CLASS} {RDFS}Class",
    f"{EX}has {SUB_PROPERTY} {DOMAIN}",
    f"{RDFS}Resource {SUB_CLASS} {EX}E",
    f"{SUB_PROPERTY} {DOMAIN} {EX}D",
    f"{RDF}Property {SUB_CLASS} {EX}D",
    f"{RDF}type {DOMAIN} {EX}D",
)
TIMED = (
    "[?x, :in, ?y] :- sometime [?x, :has, ?y] in [2] .",
    "[?x, :near, ?y] :- always [?x, :in, ?y] in [1] .",
    "at ?t [?x, :seen, ?y] :- at ?t [?x, :in, ?y] in [3] .",
    "[?x, :was, ?y] :- [?y, :has, ?x], not sometime [?x, :in, ?y] in [2] .",
    "[?x, :later, ?y] :- sometime [?x, :in, ?y] in [range 3 step 2] .",
    "[?x, :lately, ?y] :- sometime [?x, :in, ?y] in [2 facts] .",
    "[?x, :seen, ?z] :- sometime [?x, :seen, ?y] in [2], [?y, :in, ?z] .",
)
SAME = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
EQUALITY = open_rules("owl-same-as")
TELLING = (
    "many(?n) :- ?n = count { ?x : [?x, :in, ?y] } .",
    "apart(?x, ?y) :- [?x, :in, ?y], not [?x, owl:sameAs, ?y] .",
)
ABOUT_SCHEMA = (
    "[?x, :in, ?c] :- [?x, a, ?c], [?c, rdfs:subClassOf, :E] .",
    "[?p, :near, ?p] :- [?p, a, rdf:Property] .",
    "[?x, a, :C] :- [?x, a, :D], [:D, rdfs:subClassOf, :C] .",
    "[?c, rdfs:subClassOf, :E] :- [?x, a, ?c], [?x, :in, ?x] .",
)


class Schemas(Places):
    """Things, what is told of their classes and properties, and rules that read it."""

    def program(self, pick: random.Random, seed: int) -> Program:
        ready = open_rules("rdfs").rules
        chosen = ready if pick.random() < 0.5 else pick.sample(ready, pick.randint(3, len(ready)))
        positive = [rule for rule in PLACES if "not" not in rule and "count" not in rule]
        own = pick.sample([*positive, *ABOUT_SCHEMA], pick.choice((0, 1, 2)))
        return parse(f"@prefix : <{EX}> .\n" + "\n".join(own)).plus(chosen)

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        schema = pick.sample(SCHEMA, 6) + (pick.sample(STRANGE, 1) if pick.random() < 0.3 else [])
        nodes = [NamedNode(EX + name) for name in "abc"]
        verbs = [NamedNode(EX + name) for name in ("in", "has", "near")]
        asserted = [
            Triple(pick.choice(nodes), pick.choice(verbs), n) for n in nodes for _ in range(2)
        ]
        classes = [NamedNode(EX + name) for name in "CDE"]
        typed = [Triple(n, NamedNode(RDF + "type"), pick.choice(classes)) for n in nodes]
        return list(dict.fromkeys([*asserted, *typed, *map(_schema_triple, schema)]))


class Remembering(Places):
    """Who is in what, and rules that remember it."""

    def program(self, pick: random.Random, seed: int) -> Program:
        while True:
            chosen = pick.sample(PLACES, pick.choice((0, 1, 2)))
            chosen += pick.sample(TIMED, pick.choice((1, 1, 2, 3)))
            program = parse(f"@prefix : <{EX}> .\n" + "\n".join(chosen))
            if fits_in_time(program.rules):
                return program

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        return places(pick)


class Equals(Places):
    """Who is in what, where some are the same."""

    def program(self, pick: random.Random, seed: int) -> Program:
        positive = [rule for rule in PLACES if "not" not in rule and "count" not in rule]
        chosen = pick.sample(positive, pick.choice((1, 2)))
        chosen += pick.sample(TELLING, pick.choice((0, 0, 1)))
        return parse(f"@prefix : <{EX}> .\n" + "\n".join(chosen)).plus(EQUALITY.rules)

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        nodes = [NamedNode(EX + name) for name in "abcdef"]
        pairs = [Triple(x, SAME, y) for x, y in pairwise(pick.sample(nodes, 6))]
        return [*places(pick), *pairs, Triple(*pick.choices(nodes, k=1), SAME, pick.choice(nodes))]


class Denials(Places):
    """Who is in what, and what follows while something is absent."""

    def program(self, pick: random.Random, seed: int) -> Program:
        rules = pick.sample(DENIALS[2:6], pick.choice((1, 2, 3)))
        rules += pick.sample([*DENIALS[:2], *DENIALS[6:]], pick.choice((1, 2, 3)))
        return parse(f"@prefix : <{EX}> .\n" + "\n".join(rules))

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        a, b, d, alone = (NamedNode(EX + name) for name in ("a", "b", "d", "alone"))
        return [*places(pick), Triple(a, alone, b), Triple(b, alone, d)]

    def question(self, history: RegisteredHistory, number: int) -> Question:
        question, pick = history.patterns(number), history.pick
        absent = tuple(
            (pick.choice(("FILTER NOT EXISTS", "MINUS")), (history._pattern(),))
            for _ in range(pick.choice((0, 0, 1, 1, 2)))
        )
        return replace(question, absent=absent)


class DeniedHistory(RegisteredHistory):
    """Queries side by side, with windows of many lengths, about what is absent in them."""

    def __init__(self, seed: int, *, folder: Path | None = None) -> None:
        self.denied = 0
        super().__init__(seed, Denials(), folder=folder)
        for number in range(10, 14):
            self.register(number)

    def _window(self) -> Window:
        if self.kinds.random() < 0.2:
            return super()._window()
        return Window(STREAMS[self.kinds.random() < 0.2], self.kinds.randint(1, 7), 1)

    def _compare_at(self, asked: Asked, report: Report, time: int) -> Iterator[str]:
        self.denied += "what denies them" in asked.registration.plan and bool(report)
        yield from super()._compare_at(asked, report, time)


class SchemaHistory(RegisteredHistory):
    """A history with rules that read a schema; mostly, streams leave it alone."""

    def __init__(self, seed: int, *, folder: Path | None = None) -> None:
        self.narrowed = self.widened = 0
        super().__init__(seed, Schemas(), folder=folder)
        if self.pick.random() < 0.8:
            schema = {NamedNode(name) for name in (SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE)}
            meta = {NamedNode(RDFS + "Class"), NamedNode(RDF + "Property")}
            self.streamed = [
                fact
                for fact in self.pool
                if isinstance(fact, Triple)
                and fact.predicate not in schema
                and fact.object not in meta
            ]

    def _pattern(self) -> Pattern:
        if self.pick.random() < 0.6:
            named = NamedNode(EX + self.pick.choice("CDE"))
            return ("x", NamedNode(RDF + "type"), named)
        return super()._pattern()

    def _compare(self, asked: Asked) -> Iterator[str]:
        is_narrowed = "made for the schema" in asked.registration.plan
        self.narrowed += is_narrowed
        self.widened += not is_narrowed
        return super()._compare(asked)


def _schema_triple(text: str) -> Triple:
    return Triple(*(NamedNode(name) for name in text.split()))  # type: ignore[arg-type]


def _declared(window: Window) -> AnyWindow:
    """The window of a query, as it would be declared."""
    if not window.until:
        return stepped(window.range, window.step, closed=window.closed)
    length = window.range - (0 if window.closed else 1)
    return PastWindow(Duration(length), Duration(window.until))


class EqualHistory(RegisteredHistory):
    """A history in which equal things are merged; mostly, many are the same from the beginning."""

    same_as = "merge"

    def __init__(self, seed: int) -> None:
        self.merged = 0
        super().__init__(seed, Equals())
        if self.pick.random() < 0.8:
            equal = [t for t in self.pool if isinstance(t, Triple) and t.predicate == SAME]
            self.lines.append(f"add({equal})")
            self.reasoner.add(equal)
            self.background.update(equal)

    def _compare(self, asked: Asked) -> Iterator[str]:
        self.merged += self.reasoner.stats()["merged_groups"]
        return super()._compare(asked)


class TimedHistory(RegisteredHistory):
    """A history whose rules look at time themselves, beside the windows of queries."""

    def __init__(self, seed: int, *, folder: Path | None = None) -> None:
        super().__init__(seed, Remembering(), folder=folder)

    def register(self, number: int) -> None:
        super().register(number)
        if self.now >= 0 and any("facts]" in str(rule) for rule in self.program.rules):
            self.asked[-1].is_compared = False

    def come_and_go(self) -> None:
        before = self.program
        super().come_and_go()
        if self.program is not before:
            for asked in self.asked:
                asked.since = max(asked.since, self.now + 9)

    def _window(self) -> Window:
        window = super()._window()
        step = 1 if window.until else window.step
        return replace(window, counts=False, session=False, step=step)

    def patterns(self, number: int) -> Question:
        question = super().patterns(number)
        windows = {window.stream: window for window in question.windows}
        return replace(question, windows=tuple(windows.values()))

    def _closure(self, windows: tuple[Window, ...], time: int) -> set[Triple]:
        seen = {window.stream: window for window in windows}
        declared = tuple((NamedNode(name), _declared(w)) for name, w in seen.items())
        unseen = tuple((NamedNode(s), stepped(0, 1)) for s in STREAMS if s not in seen)
        arrivals = [
            Arrival(row_of(fact), at, NamedNode(stream), number)
            for number, (stream, at, fact) in enumerate(self.order)
        ]
        program = replace(self.program, streams=declared + unseen)
        model = model_at(program, time, first=0, arrivals=arrivals, background=self.background)
        return {fact for fact in model.facts if isinstance(fact, Triple)}
