"""The laws of the contract, for every engine: sums, inverses, trials, failures, one answer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
import pytest
from pyoxigraph import NamedNode
from tests.properties.generate.seeds import chunks

from livefacts.engine.contract import (
    ASSERTED,
    HOLDS,
    IN_DEFAULT,
    TRIPLES,
    Change,
    Engine,
    Facts,
    IdDelta,
    Ids,
)
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.templates.axiom_engine import SpecialisedEngine
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import DECLARED
from livefacts.plan import compile_rules
from livefacts.plan.rules.operators import Plan
from livefacts.service.merging.merged_engine import Merged
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rule_sets import open_rules

Row = tuple[int, ...]
"""A shape and the ids of a fact of it."""
Asserters = dict[Row, frozenset[str]]
"""Who asserts a fact: the default graph, others, or both."""
Makes = Callable[[Dictionary], Engine]
NO_RULES = compile_rules(())

ROADS = """
    route(?x, ?y) :- road(?x, ?y) .
    route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
    lone(?x) :- town(?x), not route(?x, ?x) .
    ways(?x, ?n) :- ?n = count { ?y : route(?x, ?y) } .
    [?x, a, <x:Town>] :- town(?x) .
    [?x, <x:to>, ?y] :- route(?x, ?y) .
"""
MORE = "[?y, <x:from>, ?x] :- [?x, <x:to>, ?y] ."
PROGRAMS = {"roads": ROADS, "rdfs": "rdfs", "owl-rl": "owl-rl"}
THINGS, PLACES = ["ann", "bob", "cat", "dan", "eve"], ["oslo", "rome", "york"]
CLASSES, PROPERTIES = ["Cat", "Town", "Being"], ["to", "from", "likes"]


def embedded(maintenance: str, *, single_path: bool = True) -> Makes:
    return lambda dictionary: EmbeddedEngine(
        dictionary, NO_RULES, single_path=single_path, maintenance=maintenance
    )


def specialised(dictionary: Dictionary) -> SpecialisedEngine:
    return SpecialisedEngine(EmbeddedEngine(dictionary, NO_RULES))


def merged(dictionary: Dictionary) -> Merged:
    return Merged(specialised(dictionary))


ENGINES: Mapping[str, Makes] = {
    "embedded": embedded("counting-dred"),
    "without single triples": embedded("counting-dred", single_path=False),
    "drawing everything anew": embedded("recompute"),
    "specialised": specialised,
    "merged": merged,
}


class RefusalError(Exception):
    """Somebody has something against a change."""


class Histories:
    """Changes of facts, and what they mean for who asserts what."""

    def __init__(self, dictionary: Dictionary, seed: str) -> None:
        self._dictionary = dictionary
        self._random = random.Random(seed)
        self.asserters: Asserters = {}

    def next(self) -> tuple[Asserters, Change]:
        """Who asserts what after some step, and the change that leads there."""
        after = dict(self.asserters)
        for _ in range(self._random.randint(1, 6)):
            known = sorted(after)
            row = self._random.choice(known) if known and self._is_chance() else self._fact()
            who = frozenset({self._random.choice(["default", "other"])})
            after[row] = after.get(row, frozenset()) ^ who
        after = {row: who for row, who in after.items() if who}
        return after, change_to(self.asserters, after)

    def _is_chance(self) -> bool:
        return self._random.random() < 0.4

    def _fact(self) -> Row:
        pick = self._random.choice
        if self._is_chance():
            roads = [("road", pick(PLACES), pick(PLACES)), ("town", pick(PLACES))]
            name, *arguments = pick(roads)
            terms = [Symbol(name), *(NamedNode(f"x:{each}") for each in arguments)]
            return len(terms), *map(self._dictionary.encode_one, terms)
        one, other = self._random.sample(THINGS, 2)
        s, p, o = pick(
            [
                (pick(THINGS), pick(PROPERTIES), pick(THINGS)),
                (pick(THINGS), "rdf:type", pick(CLASSES)),
                (pick(CLASSES), "rdfs:subClassOf", pick(CLASSES)),
                (pick(PROPERTIES), "rdfs:domain", pick(CLASSES)),
                (pick(PROPERTIES), "rdf:type", "owl:TransitiveProperty"),
                (one, "owl:sameAs", other),
                (one, "owl:sameAs", other),
            ]
        )
        return TRIPLES, *(self._dictionary.encode_one(_iri(name)) for name in (s, p, o))


def _iri(name: str) -> NamedNode:
    prefix, _, local = name.rpartition(":")
    return NamedNode(DECLARED[prefix] + local if prefix else f"x:{local}")


def change_to(before: Asserters, after: Asserters) -> Change:
    """The change between two states of who asserts what, as the contract words it."""
    parts: dict[str, list[Row]] = {}
    for row in {**before, **after}:
        was, now = before.get(row, frozenset()), after.get(row, frozenset())
        if "default" in now - was:
            parts.setdefault("facts", []).append(row)
        if "other" in now - was:
            parts.setdefault("others", []).append(row)
        if "default" in was - now:
            kept = "other" in was & now
            parts.setdefault("unmarked" if kept else "retracted", []).append(row)
        if "other" in was - now:
            parts.setdefault("unnamed", []).append(row)
    return Change(**{part: by_shape(rows) for part, rows in parts.items()})


def by_shape(rows: list[Row]) -> Facts:
    found: dict[int, list[Row]] = {}
    for shape, *ids in sorted(rows):
        found.setdefault(shape, []).append(tuple(ids))
    return {shape: np.array(ids, np.int32) for shape, ids in found.items()}


class Seen:
    """What an engine says, without hidden predicates."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._names = KnownNames(engine.dictionary, lambda name: not name.startswith("_"))

    def rows(self, derived: bool | None = None) -> set[Row]:
        found = self.of({s: self.engine.rows(s, derived, self._names) for s in self._shapes()})
        assert found == self.of({s: self.engine.rows(s, derived) for s in self._shapes()})
        return found

    def _shapes(self) -> list[int]:
        return list(self.engine.shapes())

    def of(self, facts: Mapping[int, Ids]) -> set[Row]:
        """Facts as rows; each is there once."""
        found = [(shape, *row) for shape, ids in facts.items() for row in self._shown(shape, ids)]
        assert len(found) == len(set(found))
        return set(found)

    def _shown(self, shape: int, ids: Ids) -> Iterator[Row]:
        marks = np.ones(len(ids), np.bool_)
        if shape != TRIPLES:
            self._names.mark(ids, marks)
        return map(tuple, ids[marks].tolist())

    def state(self) -> tuple[object, ...]:
        """Everything that can be asked."""
        standing = {row: self.standing(row) for row in self.rows()}
        return self.rows(), self.rows(True), self.rows(False), standing

    def standing(self, row: Row) -> int:
        """How a fact stands, of what the contract speaks of."""
        shape, *ids = row
        flags = int(self.engine.standing(shape, np.array([ids], np.int32))[0])
        return flags & (HOLDS | ASSERTED | IN_DEFAULT)

    def delta(self, delta: IdDelta) -> tuple[set[Row], set[Row], set[Row]]:
        """What was added, what of that was derived, and what was removed."""
        derived = {shape: delta.added[shape][flags] for shape, flags in delta.derived.items()}
        return self.of(delta.added), self.of(derived), self.of(delta.removed)


@cache
def plan_of(program: str, *more: str) -> Plan:
    return compile_rules([r for text in (PROGRAMS[program], *more) for r in open_rules(text)])


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest) -> Makes:
    return ENGINES[request.param]


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Course:
    """One engine through one history, and all that it is asked at each step."""

    def __init__(self, make: Makes, program: str, seed: int) -> None:
        self.dictionary = Dictionary()
        self.engine = make(self.dictionary)
        self.engine.apply(Change(plan=plan_of(program)))
        self.seen = Seen(self.engine)
        self.histories = Histories(self.dictionary, f"{program} {seed}")

    def steps(self, count: int = 8) -> Iterator[tuple[Asserters, Change]]:
        """Each step, before it is made; who asks makes it."""
        for _ in range(count):
            after, change = self.histories.next()
            yield after, change
            self.histories.asserters = after


SEEDS = chunks(4, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_facts_are_the_sum_of_the_deltas(make: Makes, program: str, seed: int) -> None:
    course = Course(make, program, seed)
    held = course.seen.rows()
    for _, change in course.steps():
        added, derived, removed = course.seen.delta(course.engine.apply(change))
        assert not added & held
        assert removed <= held
        held = (held | added) - removed
        assert held == course.seen.rows()
        assert derived == added & course.seen.rows(derived=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_and_its_inverse_leave_what_there_was(
    make: Makes, program: str, seed: int
) -> None:
    course = Course(make, program, seed)
    for after, change in course.steps():
        before = course.seen.state()
        there = course.seen.delta(course.engine.apply(change))
        inverse = change_to(after, course.histories.asserters)
        back = course.seen.delta(course.engine.apply(inverse))
        assert (back[0], back[2]) == (there[2], there[0])
        assert course.seen.state() == before
        course.engine.apply(change)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_that_is_not_kept_leaves_everything_as_it_was(
    make: Makes, program: str, seed: int
) -> None:
    course = Course(make, program, seed)
    for _, change in course.steps():
        before = course.seen.state()
        tried = course.seen.delta(course.engine.apply(change, keep=False))
        assert course.seen.state() == before
        assert course.seen.delta(course.engine.apply(change)) == tried


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_that_is_refused_leaves_everything_as_it_was(
    make: Makes, program: str, seed: int
) -> None:
    course = Course(make, program, seed)
    heard: list[tuple[object, object]] = []

    def refuse(delta: IdDelta) -> None:
        heard.append((course.seen.delta(delta), course.seen.rows()))
        raise RefusalError

    for _, change in course.steps():
        before, accept = course.seen.state(), course.engine.before_commit
        course.engine.before_commit = refuse
        with pytest.raises(RefusalError):
            course.engine.apply(change)
        course.engine.before_commit = accept
        assert course.seen.state() == before
        made = course.seen.delta(course.engine.apply(change))
        assert heard.pop()[0] == made


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_answers_for_the_change_while_it_is_asked_about_it(
    make: Makes, program: str, seed: int
) -> None:
    if make is merged:
        pytest.skip("members of a merged group are answered for when the change is complete")
    course = Course(make, program, seed)
    for _, change in course.steps():
        heard: list[bool] = []

        def ask(delta: IdDelta, heard: list[bool] = heard) -> None:
            derived = {shape: delta.added[shape][flags] for shape, flags in delta.derived.items()}
            for shape, *ids in course.seen.of(derived):
                heard.append(course.engine.holds(shape, np.array([ids], np.int32)))

        course.engine.before_commit = ask
        course.engine.apply(change)
        assert all(heard)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_questions_have_one_answer(make: Makes, program: str, seed: int) -> None:
    course = Course(make, program, seed)
    asked: set[Row] = set()
    for after, change in course.steps():
        course.engine.apply(change)
        seen, engine = course.seen, course.engine
        assert seen.rows() == seen.of(engine.facts())
        assert seen.rows(derived=False) == seen.of(engine.asserted()) == set(after)
        assert seen.rows(derived=True) == seen.of(engine.derived()) == seen.rows() - set(after)
        asked |= seen.rows()
        for row in asked:
            shape, *ids = row
            expected = HOLDS if row in seen.rows() else 0
            expected |= ASSERTED if row in after else 0
            expected |= IN_DEFAULT if "default" in after.get(row, ()) else 0
            assert seen.standing(row) == expected
            assert engine.holds(shape, np.array([ids], np.int32)) == (row in seen.rows())


@pytest.mark.parametrize("seed", SEEDS)
def test_what_holds_is_what_follows_from_what_is_asserted(
    make: Makes, program: str, seed: int
) -> None:
    course = Course(make, program, seed)
    for after, change in course.steps():
        course.engine.apply(change)
        plain = EmbeddedEngine(course.dictionary, plan_of(program), single_path=False)
        plain.apply(change_to({}, after))
        assert course.seen.rows() == Seen(plain).rows()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_beside_another_holds_the_same_when_it_is_told_the_same(
    make: Makes, program: str, seed: int
) -> None:
    course = Course(make, program, seed)
    for _, change in course.steps(4):
        course.engine.apply(change)
    beside = course.engine.beside()
    assert course.seen.rows() >= Seen(beside).rows()
    beside.apply(change_to({}, course.histories.asserters))
    assert Seen(beside).state() == course.seen.state()
    for _, change in course.steps(4):
        course.engine.apply(change)
        beside.apply(change)
        assert Seen(beside).state() == course.seen.state()


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_come_and_go_as_facts_do(make: Makes, program: str, seed: int) -> None:
    course = Course(make, program, seed)
    for _, change in course.steps(4):
        course.engine.apply(change)
    before = course.seen.state()
    for plan in (plan_of(program, MORE), NO_RULES):
        tried = course.seen.delta(course.engine.apply(Change(plan=plan), keep=False))
        assert course.seen.state() == before
        assert course.seen.delta(course.engine.apply(Change(plan=plan))) == tried
        course.engine.apply(Change(plan=plan_of(program)))
        assert course.seen.state() == before


def test_the_specialised_engine_is_specialised_and_the_merged_one_merges() -> None:
    course = Course(merged, "owl-rl", 0)
    figures = []
    for _, change in course.steps(20):
        course.engine.apply(change)
        figures.append(course.engine.figures())
    assert any(each["specialised"] for each in figures)
    assert any(each["merged_groups"] for each in figures)
