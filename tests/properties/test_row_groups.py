"""Random groups have the totals that are kept of them change by change, and a fitting order."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Store
from tests.properties.generate.expressions import NUMBERS, OTHERS, typed
from tests.properties.generate.seeds import chunks

from livefacts.engine.flow.first_rows import bag_of, rows_of
from livefacts.engine.flow.group_totals import Grouper
from livefacts.engine.queries.column_expressions import Expressions
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.row_groups import grouped
from livefacts.engine.queries.row_order import row_order
from livefacts.engine.queries.solutions import UNBOUND, Solutions
from livefacts.language.algebra import OrderKey, QueryAggregate
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.running_totals import IN_SPARQL
from livefacts.plan.continuous.flow import Group, Total
from livefacts.store.terms.dictionary import Dictionary

CHUNK = 200
FUNCTIONS = tuple(name for name in IN_SPARQL if name != "SAMPLE")
TEXTS = tuple(term for term in OTHERS if isinstance(term, Literal) and term.value in "abcé")
# Which of a date, a time and a duration is the least, nobody says.
PLAIN = tuple(term for term in OTHERS if "2026" not in str(term) and "P1" not in str(term))
NAMES = ("k", "l", "v", "w")


@pytest.mark.parametrize("chunk", chunks(30, 2))
def test_groups_have_the_totals_of_continuous_queries(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(seed)
        dictionary = Dictionary()
        rows = draw_rows(pick, dictionary)
        keys = tuple(range(pick.randrange(3)))
        totals = [draw_total(pick) for _ in range(3)]
        found = grouped_bag(rows, keys, totals, dictionary)
        expected = Grouper(Group(keys, tuple(totals)), dictionary)
        shown = bag_of(expected.fill(rows_of(rows, len(NAMES))))
        assert found == +Counter(shown), f"seed {seed}: {totals}"


def draw_rows(pick: Random, dictionary: Dictionary) -> Counter:
    """Rows of two keys and two values, and how often each is there."""
    pool = pick.choice([NUMBERS[:10], NUMBERS[16:24], NUMBERS, TEXTS, (*NUMBERS, *PLAIN)])
    ids = [dictionary.encode_one(term) for term in pick.sample(pool, min(len(pool), 8))]
    cells = [*ids, *ids, UNBOUND] if pick.random() < 0.4 else ids
    keys = [*dictionary.encode([Literal(1), Literal("x")]).tolist(), UNBOUND]
    rows: Counter = Counter()
    for _ in range(pick.choice([0, 3, 12])):
        rows[(*pick.choices(keys, k=2), *pick.choices(cells, k=2))] += pick.choice([1, 1, 3])
    return rows


def draw_total(pick: Random) -> Total:
    distinct = pick.random() < 0.4
    if pick.random() < 0.2:
        return Total("COUNT", (), distinct)
    function = pick.choice(FUNCTIONS)
    sort = IN_SPARQL[function]
    columns = tuple(pick.choices([2, 3], k=sort.values))
    parameters = {"separator": [" ", "--"], "percent": ["0", "33.3", "50", "100"]}
    return Total(function, columns, distinct, pick.choice(parameters.get(sort.parameter, [None])))


def grouped_bag(
    rows: Counter, keys: tuple[int, ...], totals: list[Total], dictionary: Dictionary
) -> Counter:
    cells = np.array(list(rows), np.int32).reshape(-1, len(NAMES)).T
    columns = dict(zip(NAMES, cells, strict=True))
    solutions = Solutions(len(rows), columns, np.array(list(rows.values()), np.int64))
    aggregates = [(f"total{number}", aggregate_of(total)) for number, total in enumerate(totals)]
    terms = QueryTerms(dictionary.reader())
    expressions = Expressions(terms, never)
    found = grouped(solutions, [NAMES[key] for key in keys], aggregates, expressions)
    names = [NAMES[key] for key in keys] + [name for name, _ in aggregates]
    decoded = zip(*(terms.decode(found.column(name)) for name in names), strict=True)
    return Counter(tuple(encoded(term, dictionary) for term in row) for row in decoded)


def aggregate_of(total: Total) -> QueryAggregate:
    value, by, *_ = (*(Variable(NAMES[column]) for column in total.columns), None, None)
    return QueryAggregate(total.function, value, total.distinct, total.parameter, by)


def encoded(term: Term | None, dictionary: Dictionary) -> int:
    return UNBOUND if term is None else dictionary.encode_one(term)


def never(*_: object) -> None:
    raise AssertionError("no expression here has an EXISTS")


@pytest.mark.parametrize("are_known", [True, False])
def test_terms_are_in_the_order_that_sparql_defines(are_known: bool) -> None:
    # These are equal to several numbers that are not equal to each other.
    rounded = (Literal(2.0**53), typed("0.1", "float"))
    pool = [term for term in (*NUMBERS, *OTHERS) if term not in rounded]
    dictionary = Dictionary()
    if are_known:
        dictionary.encode(pool)
    terms = QueryTerms(dictionary.reader())
    ids = terms.encode(pool)
    ranks, places = Expressions(terms, never).term_order.of(ids)
    assert sorted(places.tolist()) == list(range(len(pool)))
    for one, other in combinations(range(len(pool)), 2):
        wanted = defined_order(pool[one], pool[other])
        found = int(np.sign(ranks[one] - ranks[other]))
        assert wanted in (None, found), f"{pool[one]} and {pool[other]}"
        assert found in (0, int(np.sign(places[one] - places[other])))


def defined_order(left: Term, right: Term) -> int | None:
    """The order of two terms where SPARQL has one, by pyoxigraph."""
    classes = [kind_of(left), kind_of(right)]
    if classes[0] != classes[1]:
        return -1 if classes[0] < classes[1] else 1
    if isinstance(left, BlankNode) or isinstance(right, BlankNode):
        return None
    if isinstance(left, NamedNode):
        return -1 if str(left) < str(right) else 1
    for sign, operator in ((-1, "<"), (1, ">"), (0, "=")):
        if Store().query(f"ASK {{ FILTER({left} {operator} {right}) }}"):
            return sign
    return None


def kind_of(term: Term) -> int:
    return [BlankNode, NamedNode, Literal].index(type(term))


@pytest.mark.parametrize("chunk", chunks(10, 1))
def test_rows_are_ordered_by_their_keys_and_stay_in_order_otherwise(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        pick = Random(seed)
        dictionary = Dictionary()
        bag = draw_rows(pick, dictionary)
        cells = np.array(list(bag), np.int32).reshape(-1, len(NAMES)).T
        rows = Solutions(len(bag), dict(zip(NAMES, cells, strict=True)))
        terms = QueryTerms(dictionary.reader())
        expressions = Expressions(terms, never)
        chosen = pick.sample(NAMES, pick.randrange(3))
        keys = [OrderKey(Variable(name), pick.random() < 0.5) for name in chosen]
        expected = list(range(rows.count))
        for key in reversed(keys):
            ids = rows.column(key.value.name)
            different = np.unique(ids)
            ranks = dict(
                zip(
                    different.tolist(),
                    expressions.term_order.of(different).ranks.tolist(),
                    strict=True,
                )
            )
            # Sorting in reverse would turn equal rows round.
            sign = -1 if key.descending else 1
            expected.sort(key=lambda row, ids=ids, ranks=ranks, sign=sign: sign * ranks[ids[row]])
        assert row_order(rows, keys, expressions).tolist() == expected, f"seed {seed}"
        for most in (0, 1, 5):
            found = row_order(rows, keys, expressions, most).tolist()
            assert found == expected[:most], f"seed {seed}"
