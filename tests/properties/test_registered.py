"""Random registered queries: every report is what its definition says."""

from __future__ import annotations

import pytest
from tests.properties.compare.registered_bodies import AggregateBodies, Bodies
from tests.properties.compare.registered_queries import (
    CorrectedHistory,
    Places,
    RegisteredHistory,
    SharedHistory,
    Theme,
)
from tests.properties.compare.registered_themes import (
    DeniedHistory,
    EqualHistory,
    SchemaHistory,
    TimedHistory,
)
from tests.properties.generate.seeds import chunks

from livefacts.model.namespaces import DECLARED
from livefacts.service.registered.registry import Registrations
from livefacts.syntax.sparql.csparql import WINDOW_BASE, parse_registration
from livefacts.syntax.sparql.query_reader import parse_query

HISTORIES, BODIES, CHUNKS = 300, 60, 20


def play(seed: int, history: RegisteredHistory) -> None:
    """Run a history; what differs from the definition fails the test."""
    found = history.run()
    if found:
        pytest.fail("\n".join([f"seed {seed}", *history.lines, *found]), pytrace=False)


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 6))
def test_reports_are_what_the_definition_says(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        history = RegisteredHistory(seed)
        play(seed, history)


def test_the_histories_bite() -> None:
    """Most histories report something, change their answers on the way, and share a state."""
    answered = changed = lasting = resettled = 0
    for seed in range(60):
        history = RegisteredHistory(seed)
        history.run()
        answered += history.answered > 2
        changed += history.changed > 2
        lasting += history.lasting > 1
        resettled += history.resettled
    assert answered >= 27
    assert changed >= 30
    assert lasting >= 20
    assert resettled >= 1


@pytest.mark.parametrize(
    ("most", "theme"),
    [
        (0, Places()),
        (1, Places()),
        (2, Places()),
        pytest.param(0, Bodies(), marks=pytest.mark.thorough),
        pytest.param(1, Bodies(), marks=pytest.mark.thorough),
    ],
)
def test_reports_are_right_or_say_that_too_much_is_derived(
    most: int, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worlds of queries may derive next to nothing, while the reasoner's own has no limit."""
    limit = property(
        lambda queries: most, lambda queries, _: setattr(queries._worlds, "limit", most)
    )
    monkeypatch.setattr(Registrations, "limit", limit)
    answered = unmade = 0
    for seed in range(most, 100, 7):
        history = RegisteredHistory(seed, theme)
        play(seed, history)
        answered, unmade = answered + history.answered, unmade + history.unmade
    assert answered > 5
    assert unmade > 3


@pytest.mark.parametrize("chunk", chunks(5, 3))
def test_reports_are_what_the_definition_says_where_rules_read_a_schema(chunk: int) -> None:
    narrowed = widened = 0
    for seed in range(chunk, 100, 10):
        history = SchemaHistory(seed)
        play(seed, history)
        narrowed, widened = narrowed + history.narrowed, widened + history.widened
    assert narrowed > 10
    assert widened > 10


@pytest.mark.parametrize("chunk", chunks(10, 5))
def test_reports_are_what_the_definition_says_where_something_is_absent(chunk: int) -> None:
    """Queries with windows of many lengths share a state, with `not`, NOT EXISTS and MINUS."""
    denied = 0
    for seed in range(chunk, 150, 10):
        history = DeniedHistory(seed)
        play(seed, history)
        denied += history.denied
    assert denied > 20


@pytest.mark.filterwarnings("ignore")
def test_reports_are_what_the_definition_says_where_equal_things_are_merged() -> None:
    answered = merged = 0
    for seed in range(8):
        history = EqualHistory(seed)
        play(seed, history)
        answered, merged = answered + history.answered, merged + history.merged
    assert answered > 20
    assert merged > 20


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(5))
def test_reports_are_what_the_definition_says_in_many_worlds_of_equals(chunk: int) -> None:
    for seed in range(100 + chunk, 200, 5):
        play(seed, EqualHistory(seed))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", chunks(5, 3))
def test_reports_are_what_the_definition_says_where_rules_look_at_time(chunk: int) -> None:
    answered = 0
    for seed in range(chunk, 100, 10):
        history = TimedHistory(seed)
        play(seed, history)
        answered += history.answered
    assert answered > 20


@pytest.mark.parametrize("chunk", chunks(5, 2))
def test_queries_that_share_a_state_report_what_each_reports_alone(chunk: int) -> None:
    for seed in range(chunk, 60, 5):
        shared = SharedHistory(seed)
        for together, alone in shared.run():
            assert together == alone, f"seed {seed}"


@pytest.mark.parametrize("chunk", chunks(4, 2))
def test_reports_of_any_body_are_what_a_store_of_the_window_answers(chunk: int) -> None:
    answered = followed = 0
    for seed in range(chunk, BODIES, 4):
        history = RegisteredHistory(seed, Bodies())
        play(seed, history)
        answered += history.answered > 2
        followed += all("asked anew" not in each.registration.plan for each in history.asked)
    assert answered >= 0.2 * BODIES / 4
    assert followed == BODIES / 4


def test_what_a_random_text_asks_is_what_its_body_says() -> None:
    for seed in range(80):
        kind = AggregateBodies() if seed % 2 else Bodies()
        text = str(kind.question(RegisteredHistory(seed, kind), 0))
        query = parse_registration(text, DECLARED)
        assert query.asked == parse_query(query.body, DECLARED, WINDOW_BASE), text


@pytest.mark.parametrize("chunk", chunks(4, 1))
def test_rows_have_the_totals_that_aggregate_clauses_give_them(chunk: int) -> None:
    clauses = answered = 0
    for seed in range(chunk, BODIES, 4):
        history = RegisteredHistory(seed, AggregateBodies())
        play(seed, history)
        clauses += any(each.question.clauses for each in history.asked)
        answered += history.answered > 2
    assert clauses >= 0.7 * BODIES / 4
    assert answered >= 0.2 * BODIES / 4


@pytest.mark.parametrize("chunk", chunks(5, 3))
def test_reports_that_are_corrected_are_right_in_the_end(chunk: int) -> None:
    for seed in range(chunk, 50, 5):
        history = CorrectedHistory(seed)
        play(seed, history)


def test_reports_are_corrected_in_many_histories() -> None:
    histories = [CorrectedHistory(seed) for seed in range(20)]
    for history in histories:
        history.run()
    assert sum(history.corrections > 2 for history in histories) >= 5
