"""One writer at a time on a store: a lease is taken, put off, let go, and runs out."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
from tests.system.store_servers import StoreServer
from tests.unit.kb.test_tables import made_newer, texts, two_tables

import livefacts as lf
from livefacts.kb.stores import write_lease
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.kb.stores.write_lease import SECONDS, WriteLease
from livefacts.kb.tables import TERMS, KnowledgeBase


class Clock:
    """A clock that goes on when it is told to."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def place(each_store: StoreServer) -> StorePath:
    return store_path(each_store.place(), each_store.options)


@pytest.fixture
def base(s3: StoreServer) -> KnowledgeBase:
    made = KnowledgeBase(s3.place(), s3.options)
    with made.writing(new=True) as start:
        made.create({"buckets": 1})
        two_tables(made, start, "first")
    return made


def test_a_lease_is_refused_to_others_until_it_is_let_go(place: StorePath) -> None:
    clock = Clock()
    held = WriteLease(place, clock=clock, renews=False)
    with pytest.raises(lf.ConflictError, match="someone else is writing") as refused:
        WriteLease(place, clock=clock, renews=False)
    assert "process" in refused.value.message
    held.check()
    held.release()
    WriteLease(place, clock=clock, renews=False).check()


def test_a_lease_that_was_not_put_off_belongs_to_the_next(place: StorePath) -> None:
    clock = Clock()
    late = WriteLease(place, clock=clock, renews=False)
    clock.now += SECONDS + 1
    with pytest.raises(lf.ConflictError, match="ran out"):
        late.check()
    next_one = WriteLease(place, clock=clock, renews=False)
    with pytest.raises(lf.ConflictError, match="someone else has it"):
        late.check()
    late.release()
    next_one.check()


def test_a_clock_that_is_late_does_not_keep_a_lease(place: StorePath) -> None:
    late, other = Clock(), Clock()
    held = WriteLease(place, clock=late, renews=False)
    other.now += SECONDS + 1
    WriteLease(place, clock=other, renews=False)
    with pytest.raises(lf.ConflictError, match="someone else has it"):
        held.check()


def test_leases_of_before_are_removed(place: StorePath) -> None:
    for _ in range(write_lease.MOST_OLDER + 3):
        WriteLease(place, renews=False).release()
    assert len((place / write_lease.FOLDER).list()) <= 2


def test_of_writers_who_come_at_once_one_has_the_lease(place: StorePath) -> None:
    for _ in range(5):
        together, won, lost = threading.Barrier(3), list[WriteLease](), list[Exception]()

        def take(together: threading.Barrier = together) -> None:
            together.wait()
            try:
                won.append(WriteLease(place, renews=False))  # noqa: B023
            except lf.ConflictError as error:
                lost.append(error)  # noqa: B023

        threads = [threading.Thread(target=take) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(won), len(lost)) == (1, 2)
        won[0].release()


def test_a_second_writer_is_refused_and_the_first_one_goes_on(base: KnowledgeBase) -> None:
    other = KnowledgeBase(base.path)
    with base.writing() as start:
        with pytest.raises(lf.ConflictError, match="someone else is writing"), other.writing():
            pass
        two_tables(base, start, "second")
    assert texts(other, TERMS) == ["first", "second"]
    with other.writing() as start:
        two_tables(other, start, "third")
    assert texts(base, TERMS) == ["first", "second", "third"]


def test_who_lives_after_the_lease_has_run_out_commits_nothing(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = KnowledgeBase(base.path)
    with ExitStack() as change:
        with monkeypatch.context() as late:
            # It has run out when it is taken, and nobody puts it off.
            late.setattr(write_lease, "SECONDS", -1.0)
            start = change.enter_context(base.writing())
        with other.writing() as now:
            two_tables(other, now, "second")
        with pytest.raises(lf.ConflictError, match="ran out while the change was made"):
            two_tables(base, start, "late")
    assert texts(base, TERMS) == texts(KnowledgeBase(base.path), TERMS) == ["first", "second"]


def test_a_table_of_a_newer_delta_on_a_store_is_said_to_be_one(base: KnowledgeBase) -> None:
    made_newer(base)
    with pytest.raises(lf.InputError, match="newer version of Delta"):
        lf.Reasoner.open(base.path, read_only=True)


@pytest.mark.parametrize("step", ["data written", "terms committed", "rules committed"])
def test_of_two_writers_without_a_lease_one_loses_nothing_and_one_is_told(
    base: KnowledgeBase, step: str
) -> None:
    """Whatever clocks say, a store takes one commit of a version."""
    first, second = KnowledgeBase(base.path), KnowledgeBase(base.path)

    def between(reached: str) -> None:
        if reached == step:
            first.reached = lambda reached: None
            two_tables(second, second.last(), "second")

    first.reached = between
    with pytest.raises(lf.ConflictError, match="meanwhile"):
        two_tables(first, first.last(), "late")
    assert texts(KnowledgeBase(base.path), TERMS) == ["first", "second"]
    with first.writing() as start:
        two_tables(first, start, "third")
    assert texts(KnowledgeBase(base.path), TERMS) == ["first", "second", "third"]


def test_writers_who_race_lose_no_version(base: KnowledgeBase) -> None:
    won = list[str]()

    def write(name: str) -> None:
        mine = KnowledgeBase(base.path)
        for number in range(4):
            try:
                with mine.writing() as start:
                    two_tables(mine, start, f"{name} {number}")
                won.append(f"{name} {number}")
            except lf.ConflictError:
                continue

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = KnowledgeBase(base.path)
    assert won
    assert texts(again, TERMS) == sorted(["first", *won])
    assert again.last().seq == 1 + len(won)
