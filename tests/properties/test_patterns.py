"""Continuous patterns: the sum of the changes is what a fresh query answers, at any moment."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.properties.compare.graph_patterns import Bag, Fresh, Summed
from tests.properties.generate.graph_patterns import EX, Case, random_case, random_messages

from livefacts.service.continuous.answers import Answers
from livefacts.service.continuous.message_query import ContinuousQuery

QUERIES = 320
THOROUGH = 4000


def now(query: ContinuousQuery) -> Bag:
    answers = query.answers()
    if isinstance(answers, Answers):
        assert len(answers) == len(list(answers))
        return Counter(tuple(map(str, row)) for row in answers)
    return Counter([()] if answers else [])


def check_every_message(case: Case) -> None:
    query, fresh, summed = ContinuousQuery(case.text), Fresh(case.text), Summed()
    for number, message in enumerate(case.messages):
        summed.add(query.feed(messages=[(number, *message)]))
        fresh.tell(*message)
        wanted = fresh.answers()
        assert summed.bag == wanted, (case.text, number)
        assert now(query) == wanted, (case.text, number)


def check_batches(case: Case, size: int) -> None:
    query, fresh, summed = ContinuousQuery(case.text), Fresh(case.text), Summed()
    for first in range(0, len(case.messages), size):
        piece = case.messages[first : first + size]
        changes = query.feed(messages=piece)
        rows = [tuple(map(str, change.row)) for change in changes]
        assert len(rows) == len(set(rows)), "a row comes or goes once in a batch"
        summed.add(changes)
        for message in piece:
            fresh.tell(*message)
        assert summed.bag == fresh.answers(), (case.text, first)


@pytest.mark.parametrize("first", range(0, QUERIES, 40))
def test_after_every_message_the_sum_of_the_changes_is_the_fresh_answer(first: int) -> None:
    for seed in range(first, first + 40):
        check_every_message(random_case(seed))


def test_step_by_step_equals_one_batch() -> None:
    for seed in range(160):
        case = random_case(seed)
        check_batches(case, size=len(case.messages))
        check_batches(case, size=5)


P0, P1 = f"<{EX}p0>", f"<{EX}p1>"
BEYOND_PATTERNS = (
    f"SELECT ?x ?y {{ ?x {P0} ?y FILTER(?x != ?y) }}",
    f"SELECT ?x ?z {{ ?x {P0} ?y OPTIONAL {{ ?y {P1} ?z }} }}",
    f"SELECT ?x {{ {{ ?x {P0} ?y }} UNION {{ ?x {P1} ?y }} }}",
    f"SELECT ?x {{ ?x {P0} ?y MINUS {{ ?x {P1} ?y }} }}",
    f"SELECT ?x ?y {{ ?x ({P0}/{P1})+ ?y }}",
    f"SELECT ?x (COUNT(?y) AS ?n) {{ ?x {P0} ?y }} GROUP BY ?x",
    f"ASK {{ ?x {P0} ?y FILTER NOT EXISTS {{ ?y {P1} ?x }} }}",
    f"SELECT ?x ?y {{ ?x {P0} ?y }} ORDER BY ?x ?y LIMIT 2",
)


@pytest.mark.parametrize("text", BEYOND_PATTERNS)
def test_forms_beyond_patterns_follow_the_same_messages(text: str) -> None:
    rng = random.Random(text)
    pattern = ("?x", "?p", "?y")
    asserted = tuple(message for message in random_messages(rng, [pattern], 60))
    check_every_message(Case(text, asserted))
    check_batches(Case(text, asserted), size=6)


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(QUERIES, THOROUGH, 200))
def test_many_more_queries_agree_with_fresh_answers(first: int) -> None:
    for seed in range(first, first + 200):
        case = random_case(seed, messages=60)
        check_every_message(case)
        check_batches(case, size=7)


def test_the_order_of_messages_about_different_triples_does_not_matter() -> None:
    for seed in range(80):
        case = random_case(seed)
        last = {triple: operation for operation, triple in case.messages}
        settled = [(operation, triple) for triple, operation in last.items()]
        query, other = ContinuousQuery(case.text), ContinuousQuery(case.text)
        query.feed(messages=case.messages)
        other.feed(messages=settled[::-1])
        assert now(query) == now(other), case.text
