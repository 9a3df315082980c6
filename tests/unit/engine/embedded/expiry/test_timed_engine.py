"""Facts that hold until a time: the worked examples, what is refused, and what is undone."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable

import numpy as np
import pytest
from pyoxigraph import NamedNode

from livefacts.engine.contract import Change, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.expiry import lifetime_kernels as kernels
from livefacts.engine.embedded.expiry import timed_layout, timed_rows
from livefacts.engine.embedded.expiry.runs import Runs
from livefacts.engine.embedded.expiry.timed_engine import (
    FOREVER,
    NEVER,
    BrokenEngineError,
    ExpiringEngine,
    ExpiryDelta,
)
from livefacts.errors import LimitError
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.plan import compile_rules
from livefacts.plan.rules.expiry_plans import NotPositiveError
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rulelang.rule_parser import parse

PAIRS = 3
"""The shape of predicate facts of two arguments."""
IS_IN = "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) ."
ARRIVALS = {1: "AB", 2: "BC", 3: "CD", 4: "AE ED"}


class Places:
    """An engine of isIn, spoken to in pairs of letters: `AB BC`."""

    def __init__(self, rules: str = IS_IN) -> None:
        self.dictionary = Dictionary()
        self.engine = ExpiringEngine(self.dictionary, parse(rules).rules)

    def pairs(self, text: str, name: str = "isIn") -> dict[int, Ids]:
        words = [[name, *pair] for pair in text.split()]
        ids = [[self.dictionary.encode_one(Symbol(word)) for word in each] for each in words]
        return {PAIRS: np.array(ids, np.int32).reshape(-1, 3)}

    def give(self, text: str, until: int) -> ExpiryDelta:
        return self.engine.give(self.pairs(text), until)

    def lower(self, text: str, until: int = NEVER) -> ExpiryDelta:
        return self.engine.lower(self.pairs(text), until)

    def now(self, after: int = NEVER, name: str = "isIn") -> dict[str, int]:
        """What holds, and until when."""
        facts, until = self.engine.rows(PAIRS, after, where={0: self.id_of(name)})
        return dict(zip(self.written(facts), until.tolist(), strict=True))

    def id_of(self, name: str) -> int:
        return int(self.dictionary.encode_one(Symbol(name)))

    def written(self, facts: Ids) -> list[str]:
        return ["".join(str(self.dictionary.decode_one(i)) for i in ids[1:]) for ids in facts]

    def came(self, delta: ExpiryDelta, after: int = NEVER) -> set[str]:
        return {pair for facts in delta.came(after).values() for pair in self.written(facts)}

    def went(self, delta: ExpiryDelta, after: int = NEVER) -> set[str]:
        return {pair for facts in delta.went(after).values() for pair in self.written(facts)}

    def moved(self, delta: ExpiryDelta) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for changed in delta.shapes.values():
            before, until = changed.before.tolist(), changed.until.tolist()
            every = zip(self.written(changed.facts), before, until, changed.moved(), strict=True)
            found |= {pair: (old, new) for pair, old, new, has_moved in every if has_moved}
        return found


def ends(text: str) -> dict[str, int]:
    """`AB11 BC12` as pairs with the time at which each ends."""
    return {word[:2]: int(word[2:]) for word in text.split()}


WHOLE = ends("AB11 BC12 CD13 AE14 ED14 AC11 BD12 AD14")


class TestWindowOfTenTimePoints:
    """A range of ten, a step of one: a fact of time T ends at T + 10."""

    @pytest.fixture
    def places(self) -> Places:
        return Places()

    def test_each_time_point_has_its_facts_and_their_ends(self, places: Places) -> None:
        expected = {
            1: ends("AB11"),
            2: ends("AB11 BC12 AC11"),
            3: ends("AB11 BC12 CD13 AC11 BD12 AD11"),
            **dict.fromkeys(range(4, 11), WHOLE),
            11: ends("BC12 CD13 AE14 ED14 BD12 AD14"),
            12: ends("CD13 AE14 ED14 AD14"),
            13: ends("AE14 ED14 AD14"),
            14: {},
        }
        for now in range(1, 15):
            places.engine.expire(now)
            places.give(ARRIVALS.get(now, ""), now + 10)
            assert places.now() == expected[now], f"at {now}"

    def test_a_better_derivation_raises_a_time(self, places: Places) -> None:
        for now in range(1, 4):
            places.give(ARRIVALS[now], now + 10)
        delta = places.give("AE ED", 14)
        assert places.came(delta) == {"AE", "ED"}
        assert places.moved(delta) == {"AD": (11, 14)}
        assert places.went(delta) == set()

    def test_closed_bounds_end_one_later(self, places: Places) -> None:
        self._arrive(places, 11)
        went = {now: places.went(places.engine.expire(now)) for now in range(11, 16)}
        assert went[11] == set()
        assert went[12] == {"AB", "AC"}
        assert went[13] == {"BC", "BD"}
        assert went[14] == {"CD"}
        assert went[15] == {"AE", "ED", "AD"}

    def test_a_renewal_goes_as_far_as_the_premise_that_ends_first(self, places: Places) -> None:
        self._arrive(places, 10)
        assert places.moved(places.give("AB", 16)) == {"AB": (11, 16), "AC": (11, 12)}
        delta = places.lower("ED")
        assert places.went(delta) == {"ED"}
        assert places.moved(delta) == {"AD": (14, 12)}
        went = {now: places.went(places.engine.expire(now)) for now in (11, 12, 13, 14, 15, 16)}
        assert went[12] == {"BC", "AC", "BD", "AD"}
        assert (went[13], went[14], went[16]) == ({"CD"}, {"AE"}, {"AB"})
        assert went[11] == went[15] == set()

    def test_one_state_of_arrival_times_serves_every_window(self, places: Places) -> None:
        self._arrive(places, 0)
        assert places.now() == ends("AB1 BC2 CD3 AE4 ED4 AC1 BD2 AD4")
        seen = {length: set(places.now(after=5 - length)) for length in (10, 3, 2, 1)}
        assert seen[10] == WHOLE.keys()
        assert seen[3] == {"CD", "AE", "ED", "AD"}
        assert seen[2] == {"AE", "ED", "AD"}
        assert seen[1] == set()

    def test_a_change_is_read_through_every_window(self, places: Places) -> None:
        self._arrive(places, 0)
        delta = places.give("AB", 6)
        assert places.moved(delta) == {"AB": (1, 6), "AC": (1, 2)}
        assert places.came(delta, after=3) == {"AB"}
        assert places.came(delta, after=1) == {"AB", "AC"}
        assert places.came(delta, after=0) == places.came(delta) == set()

    @staticmethod
    def _arrive(places: Places, length: int) -> None:
        for now, text in ARRIVALS.items():
            places.give(text, now + length)


def test_background_never_ends() -> None:
    places = Places()
    places.give("AB", FOREVER)
    places.give("BC", 7)
    assert places.now() == {"AB": FOREVER, "BC": 7, "AC": 7}
    assert places.went(places.engine.expire(10**15)) == {"BC", "AC"}


def test_times_of_today_in_milliseconds_are_kept_exactly() -> None:
    places, today = Places(), 1_794_000_000_123
    places.give("AB", today)
    places.give("BC", -today)
    assert places.now() == {"AB": today, "BC": -today, "AC": -today}


def test_what_has_ended_already_comes_too_late() -> None:
    places = Places()
    places.engine.expire(5)
    assert places.came(places.give("AB", 5)) == set()
    assert places.came(places.give("AB", 6)) == {"AB"}


def test_a_time_given_earlier_than_the_one_that_is_there_changes_nothing() -> None:
    places = Places()
    places.give("AB BC", 9)
    assert places.give("AB", 4).shapes == {}
    assert places.now() == ends("AB9 BC9 AC9")


def test_a_fact_that_is_told_and_derived_outlives_either() -> None:
    places = Places()
    places.give("AB BC", 9)
    places.give("AC", 12)
    assert places.moved(places.lower("AC")) == {"AC": (12, 9)}
    places.give("AC", 5)
    assert places.now()["AC"] == 9
    assert places.moved(places.lower("BC")) == {"AC": (9, 5)}


def test_what_was_told_and_has_passed_is_nothing_to_fall_back_to() -> None:
    places = Places()
    places.give("AB BC", 9)
    places.give("AC", 5)
    places.engine.expire(6)
    assert places.went(places.lower("BC")) == {"BC", "AC"}


def test_a_fact_is_lowered_to_the_next_arrival() -> None:
    places = Places()
    places.give("AB", 12)
    places.give("BC", 11)
    delta = places.lower("AB", 8)
    assert places.moved(delta) == {"AB": (12, 8), "AC": (11, 8)}
    assert places.lower("AB", 10).shapes == {}, "later than what it has"


def test_an_engine_begins_with_what_was_concluded_elsewhere_and_follows_it_from_there() -> None:
    places = Places("")
    places.engine.found(parse(IS_IN).rules, places.pairs("AB BC"), places.pairs("AC"))
    assert places.engine.store.live(places.engine.store.relation(PAIRS)) == 3
    assert places.engine._runs.derivations == 0, "nothing was looked for"
    places.give("CD", 9)
    assert places.now() == {"AB": FOREVER, "BC": FOREVER, "AC": FOREVER} | ends("CD9 BD9 AD9")
    assert places.went(places.lower("BC")) == {"BC", "AC", "BD", "AD"}
    assert places.moved(places.lower("AB")) == {}
    assert places.now() == ends("CD9")


def test_pairs_that_hold_up_each_other_fall_together() -> None:
    places = Places()
    places.give("AB BA", 9)
    assert places.went(places.lower("AB")) == {"AB", "AA", "BB"}
    assert places.now() == ends("BA9")


def test_going_and_coming_in_one_change_is_told_net() -> None:
    places = Places()
    places.give("AB BC", 9)
    change = places.engine.change(lower=(places.pairs("AB"), NEVER), give=(places.pairs("AB"), 9))
    assert change.shapes == {}


def test_endings_are_listed_once_and_put_right_when_their_time_comes() -> None:
    places = Places()
    runs = places.engine._runs
    for until in range(3, 60):
        places.give("AB BC CD", until)
    assert runs.listed == len(places.now()) == 6
    assert places.engine.expire(58).shapes == {}
    assert runs.listed == 6
    assert places.went(places.engine.expire(59)) == {"AB", "BC", "CD", "AC", "BD", "AD"}
    assert runs.listed == 0


def test_reading_goes_by_time_and_by_column() -> None:
    places = Places("near(?y, ?x) :- isIn(?x, ?y) .")
    for until, pair in enumerate(("AB", "AC", "BC"), 1):
        places.give(pair, until)
    engine, a = places.engine, places.id_of("A")
    assert places.now(name="near") == ends("BA1 CA2 CB3")
    assert places.written(engine.rows(PAIRS, after=1, where={1: a})[0]) == ["AC"]
    assert sorted(places.written(engine.rows(PAIRS, after=1, upto=2)[0])) == ["AC", "CA"]
    assert engine.rows(7)[0].shape == (0, 7)
    facts = places.pairs("AB BA")[PAIRS]
    assert engine.until(PAIRS, facts).tolist() == [1, NEVER]
    assert engine.asserted(PAIRS, facts).tolist() == [1, NEVER]


class TestRules:
    def test_a_rule_that_comes_finds_what_is_there(self) -> None:
        places = Places("")
        places.give("AB", 9)
        places.give("BC", 7)
        delta = places.engine.change_rules(parse(IS_IN).rules)
        assert places.came(delta) == {"AC"}
        assert places.now()["AC"] == 7

    def test_a_rule_that_goes_takes_what_only_it_derived(self) -> None:
        places = Places()
        places.give("AB BC", 9)
        places.give("AC", 5)
        delta = places.engine.change_rules(removed=parse(IS_IN).rules)
        assert places.moved(delta) == {"AC": (9, 5)}
        places.give("CD", 9)
        assert places.now() == ends("AB9 BC9 CD9 AC5")

    def test_what_another_rule_derives_stays(self) -> None:
        near, far = parse("near(?x, ?y) :- isIn(?x, ?y) . near(?x, ?y) :- isIn(?y, ?x) .").rules
        places = Places("")
        places.engine.change_rules([near, far])
        places.give("AB", 9)
        places.give("BA", 7)
        assert places.now(name="near") == ends("AB9 BA9")
        assert places.moved(places.engine.change_rules(removed=[far])) == {"BA": (9, 7)}

    def test_a_rule_without_atoms_holds_forever(self) -> None:
        places = Places("isIn(?x, B) :- ?x = 1 .")
        assert list(places.now().values()) == [FOREVER]

    def test_values_that_only_python_knows_are_asked_for(self) -> None:
        places = Places("big(?x, ?m) :- size(?x, ?n), ?n > 1.5, ?m = ?n * 2.5 .")
        words = [Symbol("size"), Symbol("A"), *(f.arguments[0] for f in parse("n(3.0) .").facts)]
        ids = [[places.dictionary.encode_one(word) for word in words]]
        places.engine.give({PAIRS: np.array(ids, np.int32)}, 4)
        (found,), _ = places.engine.rows(PAIRS, where={0: places.id_of("big")})
        assert str(places.dictionary.decode_one(found[2])).startswith('"7.5')

    @pytest.mark.parametrize(
        "text",
        [
            "hot(?x) :- isIn(?x, ?y), not cold(?x) .",
            "busy(?y, ?n) :- ?n = count { ?x : isIn(?x, ?y) } .",
            "hot(?x) :- sometime isIn(?x, ?y) in [5] .",
            "at ?t hot(?x) :- at ?t isIn(?x, ?y) in [5] .",
        ],
    )
    def test_what_has_no_end_that_is_known_is_refused(self, text: str) -> None:
        rules = parse(text).rules
        with pytest.raises(NotPositiveError, match="not known beforehand"):
            Places().engine.change_rules(rules)
        with pytest.raises(NotPositiveError):
            ExpiringEngine(Dictionary(), rules)

    def test_a_refused_rule_leaves_the_others(self) -> None:
        places = Places()
        with pytest.raises(NotPositiveError):
            places.engine.change_rules(parse("hot(?x) :- isIn(?x, ?y), not cold(?x) .").rules)
        places.give("AB BC", 9)
        assert places.now() == ends("AB9 BC9 AC9")


class TestFailing:
    """A change that fails leaves everything as it was."""

    @pytest.fixture
    def places(self) -> Places:
        places = Places()
        places.give("AB BC", 9)
        places.give("CD DA", 7)
        return places

    def test_a_change_beyond_the_limit_is_undone(self, places: Places) -> None:
        before = places.now()
        places.engine.limit = 2
        change = {"lower": (places.pairs("AB"), 3), "give": (places.pairs("DE EF"), 20)}
        with pytest.raises(LimitError, match="more than 2 facts"):
            places.engine.change(**change)
        assert places.now() == before
        places.engine.limit = None
        twin = Places()
        twin.give("BC", 9)
        twin.give("CD DA", 7)
        twin.give("AB", 3)
        twin.give("DE EF", 20)
        places.engine.change(**change)
        assert places.now() == twin.now()

    @pytest.mark.parametrize("stop_at", range(1, 12))
    def test_an_interrupt_anywhere_is_undone(self, places: Places, stop_at: int) -> None:
        before, calls = places.now(), 0

        def interrupt(made: int) -> None:
            nonlocal calls
            calls += 1
            if calls == stop_at:
                raise KeyboardInterrupt

        places.engine._runs.budget = 1  # type: ignore[misc]
        places.engine.on_progress = interrupt
        with pytest.raises(KeyboardInterrupt):
            places.engine.change(lower=(places.pairs("AB"), 3), give=(places.pairs("DE"), 20))
        assert places.now() == before
        places.engine.on_progress = lambda made: None
        assert places.went(places.lower("AB BC CD DA")) == before.keys()

    def test_an_undo_that_is_interrupted_is_done_before_the_next_change(
        self, places: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = places.now()
        places.engine.limit = 0
        with monkeypatch.context() as broken:
            broken.setattr(Runs, "undo", _fail)
            with pytest.raises(MemoryError):
                places.give("DE", 9)
        places.engine.limit = None
        assert places.engine.expire(0).shapes == {}
        assert places.now() == before

    def test_a_change_that_could_not_be_reported_breaks_the_engine(
        self, places: Places, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(Runs, "settle", _fail)
            with pytest.raises(MemoryError):
                places.give("DE", 9)
        with pytest.raises(BrokenEngineError, match="make the engine anew"):
            places.give("DE", 9)
        with pytest.raises(BrokenEngineError):
            places.engine.expire(3)


def _fail(runs: Runs) -> None:
    raise MemoryError


class TestKernels:
    def test_a_heap_gives_back_the_least_first(self) -> None:
        pick, state = random.Random(1), np.zeros(timed_layout.STATE_FIELDS, np.int64)
        heap, twin = np.zeros((300, 2), np.int64), list[int]()
        for _ in range(2000):
            if twin and (len(twin) == 300 or pick.random() < 0.45):
                assert timed_rows.pop(heap, state, timed_layout.HEAPED) == -heapq.heappop(twin)
            else:
                key = pick.randrange(50)
                heapq.heappush(twin, key)
                timed_rows.push(heap, state, timed_layout.HEAPED, key, -key)
        assert state[timed_layout.HEAPED] == len(twin)

    @pytest.mark.parametrize("budget", [50, 300_000])
    def test_a_long_chain_closes_as_it_does_without_times(
        self, budget: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Runs, "budget", budget)
        rules = parse("[?x, <x:p>, ?z] :- [?x, <x:p>, ?y], [?y, <x:p>, ?z] .").rules
        dictionary = Dictionary()
        p = dictionary.encode_one(NamedNode("x:p"))
        chain = np.array([[n, p, n + 1] for n in range(1000, 1120)], np.int32)
        engine = ExpiringEngine(dictionary, rules)
        ending = {TRIPLES: np.arange(len(chain), dtype=np.int64)[::-1] % 7}
        engine.give({TRIPLES: chain}, ending)
        assert _same(engine.rows(TRIPLES)[0], _closed(rules, dictionary, chain))
        engine.expire(4)
        assert _same(
            engine.rows(TRIPLES)[0], _closed(rules, dictionary, chain[ending[TRIPLES] > 4])
        )
        assert len(chain) ** 2 / 2 > 5 * kernels.MOST_OUT, "the buffer was emptied many times"


def _closed(rules: Iterable[Rule], dictionary: Dictionary, triples: Ids) -> Ids:
    engine = EmbeddedEngine(dictionary, compile_rules(rules))
    engine.apply(Change({TRIPLES: triples}))
    return engine.facts()[TRIPLES]


def _same(one: Ids, other: Ids) -> bool:
    return sorted(map(tuple, one.tolist())) == sorted(map(tuple, other.tolist()))
