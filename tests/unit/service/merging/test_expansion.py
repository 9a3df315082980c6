"""Facts about stand-ins become facts about members, and two worlds are compared by kinds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from livefacts.service.merging import expansion
from livefacts.service.merging.expansion import Roles, StandIns
from livefacts.service.merging.group_steps import GroupStep
from livefacts.service.merging.group_views import lens_of
from livefacts.service.merging.groups import EqualGroup
from livefacts.store.facts.row_sets import rows_among

FIRST, SECOND, MEMBERS = 1, 2, (1, 2, 3, 4)
Facts = set[tuple[int, ...]]


def ids(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, np.int32)


def expanded(*rows: tuple[int, ...], are_triples: bool = True) -> Facts:
    roles = Roles([StandIns(FIRST, SECOND, np.array(MEMBERS, np.int32))])
    found = [tuple(row) for row in roles.expanded(ids(*rows), are_triples=are_triples).tolist()]
    assert len(found) == len(set(found))
    return set(found)


@pytest.fixture(params=[0, 4096], ids=["in arrays", "one by one"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "FEW", request.param)


@pytest.mark.usefixtures("few")
def test_what_holds_of_the_first_holds_of_all_and_the_second_says_no_more() -> None:
    assert expanded((FIRST, 7, 8), (SECOND, 7, 8)) == {(member, 7, 8) for member in MEMBERS}


@pytest.mark.usefixtures("few")
def test_a_fact_of_both_holds_of_any_two_that_differ() -> None:
    off = {(x, 7, y) for x, y in product(MEMBERS, MEMBERS) if x != y}
    assert expanded((FIRST, 7, SECOND), (SECOND, 7, FIRST)) == off
    assert expanded((FIRST, 7, FIRST), (SECOND, 7, SECOND)) == {(x, 7, x) for x in MEMBERS}


def test_a_triple_of_one_member_holds_of_any_three() -> None:
    rows = product((FIRST, SECOND), repeat=3)
    assert expanded(*rows) == set(product(MEMBERS, repeat=3))


def test_of_a_predicate_members_differ_where_stand_ins_do() -> None:
    found = expanded((9, FIRST, FIRST, SECOND), (9, SECOND, SECOND, FIRST), are_triples=False)
    assert found == {(9, x, y, z) for x, y, z in product(MEMBERS, repeat=3) if z not in (x, y)}


def test_a_member_that_leaves_a_group_loses_what_was_said_of_the_others() -> None:
    step = GroupStep.__new__(GroupStep)
    step.gone, step.come = [EqualGroup((1, 2, 3, 4, 5), ())], [EqualGroup((1, 2, 3, 4), ())]
    lens = lens_of(step, {1, 2})
    said = ids((1, 7, 8), (2, 7, 8))
    came, went = lens.difference(said, said[:0], said[:0], are_triples=True)
    assert not len(came)
    assert went.tolist() == [[5, 7, 8]]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "terms"), [(3, 30), (40_000, 30), (40_000, 2)])
def test_rows_are_found_among_others_whatever_their_number(size: int, terms: int) -> None:
    draw = np.random.default_rng(size)
    rows, others = (draw.integers(0, terms, (count, 3)).astype(np.int32) for count in (size, 20))
    for some, many in ((rows, others), (others, rows)):
        known = set(map(tuple, many.tolist()))
        assert rows_among(some, many).tolist() == [tuple(row) in known for row in some.tolist()]
