"""A reasoner in a folder: everything is there again, and nobody else writes."""

from __future__ import annotations

import errno
import gc
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import livefacts as lf
from livefacts.errors import StoppedError
from livefacts.journal import fact_texts, file_operations
from livefacts.journal.change_log import JournalReader
from livefacts.kb.tables import Commit
from livefacts.service.folder.checkpoints import Kept
from livefacts.service.folder.saved_state import SavedFolder
from livefacts.service.knowledge import recorder
from livefacts.service.reasoner.durable import DurableReasoner

pytestmark = pytest.mark.slow
"""Every test has a folder, and syncs what it writes there."""

FAMILY = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
"""
SEEN = "seen(?s) :- sometime reading(?s) in [3] ."
ANN, BEN = "parent(ann, ben) .", "parent(ben, cleo) ."
MIXED = '@prefix ex: <x:> . _:a ex:says "Grüße"@de, 5, 01, [ ex:in <x:b> ] .'


def opened(folder: Path, rules: Any = None, **options: Any) -> DurableReasoner:
    return lf.Reasoner.open(folder / "kb", rules, **options)


def facts(reasoner: lf.Reasoner, derived: bool | None = None) -> list[str]:
    return sorted(map(str, reasoner.facts(derived=derived)))


CHANGES: dict[str, Callable[[lf.Reasoner], Any]] = {
    "add": lambda r: r.add(BEN),
    "blank nodes": lambda r: r.add(MIXED),
    "remove": lambda r: r.remove(ANN),
    "what is derived": lambda r: r.add("ancestor(ann, ben) ."),
    "nothing new": lambda r: r.add(ANN),
    "apply": lambda r: r.apply(add=BEN, remove=ANN, add_rules="@id one p(?x) :- parent(?x, ?y) ."),
    "patch": lambda r: r.apply(patch="TX .\nA <x:a> <x:b> _:c .\nD parent(ann, ben) .\nTC ."),
    "update": lambda r: r.update("INSERT DATA { GRAPH <x:g> { <x:a> <x:b> [] } }"),
    "rules": lambda r: (r.add_rules("q(?x) :- parent(?x, ?y) ."), r.remove_rules("r1")),
    "hidden": lambda r: r.add("_marked(door) ."),
    "prefixes": lambda r: setattr(r, "prefixes", {"ex": "http://example.org/"}),
    "nested": lambda r: r.add("<x:a> <x:b> <<( <x:c> <x:d> 5 )>> ."),
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("folds", [False, True])
def test_every_kind_of_change_is_there_again(tmp_path: Path, kind: str, folds: bool) -> None:
    with opened(tmp_path, FAMILY) as first:
        first.add(ANN)
        CHANGES[kind](first)
        if folds:
            first.checkpoint()
    with opened(tmp_path, FAMILY) as again:
        for derived in (True, False):
            assert facts(again, derived) == facts(first, derived)
        assert [(rule.id, rule.key()) for rule in again.rules] == [
            (rule.id, rule.key()) for rule in first.rules
        ]
        assert (again.seq, again.prefixes) == (first.seq, first.prefixes)
        asked = "SELECT * { GRAPH ?g { ?s ?p ?o } }"
        assert again.query(asked).to_csv() == first.query(asked).to_csv()
        assert again.verify()


def test_a_load_of_many_facts_is_a_file_beside_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_texts, "MANY", 10)
    lines = [f"<x:s{n}> <x:p> {n} ." for n in range(20)]
    (tmp_path / "many.ttl").write_text("\n".join(lines), encoding="utf-8")
    with opened(tmp_path) as first:
        first.load(tmp_path / "many.ttl")
        (large,) = (tmp_path / "kb" / "journal").glob("*.parquet")
    with opened(tmp_path) as again:
        assert facts(again) == facts(first)
        (delta,) = again.changes_since(0)
        assert len(delta.added) == 20
    large.write_bytes(large.read_bytes()[:-1] + b"?")
    with pytest.raises(lf.DamageError, match="parquet is not as it was written"):
        opened(tmp_path)


@pytest.mark.parametrize("folds", [False, True])
def test_time_goes_on_where_it_was(tmp_path: Path, folds: bool) -> None:
    with opened(tmp_path, SEEN) as first:
        first.push("reading(s1) .", at=3)
        first.advance(4)
        first.push("reading(s2) .", at=6)
        first.retract("reading(s9) .", at=6)
        if folds:
            first.checkpoint()
    with opened(tmp_path, SEEN) as again:
        assert (again.now, facts(again), again.seq) == (4, ["seen(s1)"], first.seq)
        assert str(again.explain("seen(s1)")) == str(first.explain("seen(s1)"))
        assert [str(fact) for fact in again.advance(6).added] == ["reading(s2)", "seen(s2)"]
        assert [str(fact) for fact in again.advance(7).removed] == ["reading(s2)", "seen(s1)"]


READINGS = "REGISTER ISTREAM hot AS SELECT ?s FROM STREAM <x:s> [RANGE 5 STEP 1] { ?s <x:is> ?v }"


@pytest.mark.parametrize("folds", [False, True])
def test_registered_queries_go_on_with_their_next_report(tmp_path: Path, folds: bool) -> None:
    with opened(tmp_path) as first:
        query, other = first.register(READINGS), first.register(READINGS.replace("hot", "cold"))
        first.push("<x:a> <x:is> 1 .", at=1, stream="x:s")
        first.advance(2)
        assert [len(report) for report in query.results()] == [1, 0]
        other.close()
        first.push("<x:a> <x:is> 1 . <x:b> <x:is> 2 .", at=3, stream="x:s")
        if folds:
            first.checkpoint()
    with opened(tmp_path) as again:
        assert list(again.registered()) == ["hot"]
        query = again.register(READINGS)
        assert query is again.registered()["hot"]
        again.advance(3)
        (report,) = query.results()
        assert (report.time, [str(row[0]) for row in report]) == (3, ["<x:b>"])
        with pytest.raises(lf.LivefactsError, match="registered already"):
            again.register(READINGS)
        query.close()
    assert not opened(tmp_path).registered()


@pytest.mark.parametrize("folds", [False, True])
def test_event_time_goes_on_where_it_was(tmp_path: Path, folds: bool) -> None:
    given: dict[str, Any] = {"lateness": 2, "max_ahead": 10}
    with opened(tmp_path, SEEN) as first:
        events = first.event_time(**given)
        for at in (3, 7, 1, 50, 6):
            events.push(f"reading(s{at}) .", at=at)
        stats, now = events.stats(), first.now
        if folds:
            first.checkpoint()
    with opened(tmp_path, SEEN) as again:
        events = again.event_time(**given)
        assert (events.stats(), again.now) == (stats, now)
        assert events.push("reading(late) .", at=5)
        assert not events.push("reading(late) .", at=4)
        assert not events.push("reading(far) .", at=18)
        assert again.event_time(lateness=3).stats()["watermark"] is None


def test_changes_go_on_while_a_checkpoint_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def add_meanwhile(step: str, path: Path) -> None:
        if step == "before sync" and path.parent.name == "facts_3" and not made:
            made.append(0)
            writer = threading.Thread(target=lambda: made.append(first.add(BEN).seq))
            writer.start()
            writer.join()

    with opened(tmp_path, FAMILY) as first:
        first.add(ANN)
        monkeypatch.setattr(file_operations, "on_step", add_meanwhile)
        first.checkpoint()
        assert made == [0, 2]
    with opened(tmp_path) as again:
        assert (again.seq, facts(again)) == (2, facts(first))


def rows_of_changes(reasoner: DurableReasoner) -> list[int]:
    """How many rows each version has added to what was there; all of them are new in a whole one."""
    commits = SavedFolder(reasoner.path)._base.commits()
    tables = ("facts_3", "facts_n", "changes", "changes_n", "graphs")
    return [sum(commit.rows.get(name, 0) for name in tables) for commit in commits]


@pytest.mark.parametrize("has_time", [False, True])
def test_a_version_costs_what_has_changed_until_that_is_a_quarter(
    tmp_path: Path, has_time: bool
) -> None:
    many = "".join(f"<x:a{n}> <x:p> <x:b{n}> .\n" for n in range(100))
    with opened(tmp_path / "with spaces", SEEN + FAMILY, keep=None) as first:
        first.add(many)
        if has_time:
            first.push("reading(s1) .", at=1)
        first.checkpoint()
        first.apply(add=ANN, remove="<x:a1> <x:p> <x:b1> .")
        first.update("INSERT DATA { GRAPH <x:g> { <x:a2> <x:p> <x:b2> } }")
        first.checkpoint()
        first.add_rules("@id copy [?y, <x:q>, ?x] :- [?x, <x:p>, ?y] .")
        first.checkpoint()
        for number in range(99):
            first.remove(f"<x:a{number}> <x:p> <x:b{number}> .")
        first.checkpoint()
        first.checkpoint()
        # parent, its conclusion, the triple that went; a quad, and that the default graph has it
        small = 4 if has_time else 5
        rows = rows_of_changes(first)
        assert rows[1] == small
        assert (rows[0], rows[4]) == (100, 0)
        expected = facts(first), facts(first, derived=False), first.now
    with opened(tmp_path / "with spaces") as again:
        assert (facts(again), facts(again, derived=False), again.now) == expected
        assert again.verify()


@pytest.mark.parametrize("place", ["journal", "changes"])
def test_nothing_is_lost_with_a_version_that_failed(tmp_path: Path, place: str) -> None:
    with opened(tmp_path) as first:
        first.add("".join(f"<x:a{n}> <x:p> <x:b> .\n" for n in range(50)))
        first.checkpoint()
        first.add("<x:more> <x:p> <x:b> .")

        def fail(step: str, path: Path) -> None:
            if place in path.parts:
                raise OSError(errno.ENOSPC, "no room")

        file_operations.on_step = fail
        try:
            with pytest.raises(lf.LivefactsError):
                first.checkpoint()
        finally:
            file_operations.on_step = file_operations._go_on
        first.remove("<x:a3> <x:p> <x:b> .")
        first.checkpoint()
        assert rows_of_changes(first)[-1] == 50
        expected = facts(first)
    with opened(tmp_path) as again:
        assert facts(again) == expected


def test_terms_that_are_long_gone_leave_the_tables(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        for number in range(7):
            many = "".join(f"<x:a{number}n{n}> <x:p> <x:b> .\n" for n in range(50))
            first.add(many)
            first.checkpoint()
            first.remove(many)
        base = SavedFolder(first.path)._base
        assert base.count("terms", base.last()) < 160


def test_a_journal_that_has_grown_is_folded_by_itself(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY, fold_after=1) as first:
        for number in range(100):
            first.add(f"parent(p{number}, {'q' * 1000}) .")
        assert first._checkpoints is not None
        first._checkpoints.wait()
    rows = JournalReader(tmp_path / "kb", SavedFolder(tmp_path / "kb").log_number).rows()
    assert len(list(rows)) < 100
    with opened(tmp_path) as again:
        assert (again.seq, facts(again)) == (100, facts(first))


def test_a_checkpoint_that_fails_by_itself_is_a_warning_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(step: str, path: Path) -> None:
        if path.parent.name == "facts_n":
            raise OSError(errno.ENOSPC, "No space left on device")

    with opened(tmp_path, FAMILY, fold_after=1_000_000) as first:
        monkeypatch.setattr(file_operations, "on_step", full)
        first.add(ANN)
        assert first._checkpoints is not None
        first._checkpoints._after = 0
        with pytest.warns(lf.LivefactsWarning, match="was not folded: .*full"):
            first._checkpoints.write_quietly()
        first._checkpoints._after = None
        first.add(BEN)
    monkeypatch.undo()
    with opened(tmp_path) as again:
        assert (again.seq, facts(again)) == (2, facts(first))
        assert again.checkpoint() == 1


def test_history_that_is_not_to_be_kept_goes_with_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_texts, "MANY", 3)
    with opened(tmp_path, SEEN, keep=4) as first:
        for number in range(6):
            first.add([lf.Fact("p", (lf.Symbol(f"s{number}_{n}"),)) for n in range(5)])
            first.push("reading(s) .", at=number)
            first.checkpoint()
    with opened(tmp_path, keep=4) as again:
        assert [delta.seq for delta in again.changes_since(8)] == [9, 10, 11, 12]
        assert len(again.at(8)) == 20
        for asked in (lambda: list(again.changes_since(7)), lambda: again.at(7)):
            with pytest.raises(lf.LivefactsError, match="no longer kept"):
                asked()
        again.verify()
    left = [len(list((tmp_path / "kb" / name).glob("*.*"))) for name in ("journal", "time")]
    assert left == [5, 3]


@pytest.mark.parametrize("keep", [0, "0 s", (0, "0 s")])
def test_a_folder_that_keeps_nothing_has_one_version_and_one_log(tmp_path: Path, keep: Any) -> None:
    with opened(tmp_path, SEEN, keep=keep) as first:
        for number in range(4):
            first.add(f"p(s{number}) .")
            first.push("reading(s) .", at=number)
            first.checkpoint()
            with pytest.raises(lf.LivefactsError, match="no longer kept"):
                first.at(first.seq - 1)
            assert facts(first.at(first.seq)) == facts(first)
    left = [len(list((tmp_path / "kb" / name).glob("*.*"))) for name in ("journal", "time")]
    assert left == [1, 1]
    with opened(tmp_path, keep=keep) as again:
        assert list(again.changes_since(again.seq)) == []
        assert (facts(again), again.verify().ok) == (facts(first), True)


def test_how_much_is_kept_is_a_number_a_length_of_time_or_the_longer_of_both() -> None:
    assert Kept.of(5) == Kept(5)
    assert Kept.of("2 h") == Kept(None, 7200)
    assert Kept.of((5, "1 min")) == Kept(5, 60)
    assert Kept.of(None) == Kept()
    for wrong in (-1, "5"):
        with pytest.raises(lf.LivefactsError, match="keep="):
            Kept.of(wrong)
    now = datetime(2026, 1, 9, tzinfo=UTC)
    commits = [
        Commit(n, notes={"journal": {"seq": 10 * n, "log": n, "commit": n}}, time=now - days)
        for n, days in ((1, timedelta(8)), (2, timedelta(6)), (3, timedelta(1)))
    ]
    for keep, oldest in ((5, 3), (15, 2), (31, None), ("7 days", 1), ((5, "2 d"), 2), (None, None)):
        found = Kept.of(keep).oldest(commits, 35, now)
        assert (found and found.seq) == oldest


def test_what_happened_can_be_asked_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY + "@id both false :- parent(?x, ?y), parent(?y, ?x) .") as first:
        deltas = [first.add(ANN), first.add(BEN), first.add("parent(ben, ann) ."), first.add(ANN)]
        deltas.append(first.remove("parent(ben, ann) ."))
        first.checkpoint()
    with opened(tmp_path) as again:
        found = list(again.changes_since(1))
        for delta, known in zip(found, deltas[1:], strict=True):
            assert delta.seq == known.seq
            for part in ("added", "removed", "derived"):
                assert set(getattr(delta, part)) == set(getattr(known, part))
            assert delta.violations == known.violations
            assert delta.resolved == known.resolved
            assert delta.counts == known.counts
            assert delta.to_patch(asserted=True) == known.to_patch(asserted=True)
        assert list(again.changes_since(5)) == []
        with pytest.raises(lf.LivefactsError, match="no change 6 yet"):
            list(again.changes_since(6))


def test_a_preview_and_a_refused_change_leave_no_row(tmp_path: Path) -> None:
    with opened(tmp_path, "false :- p(?x) .", on_violation="refuse") as first:
        first.preview(add="p(a) .")
        with pytest.raises(lf.ViolationError):
            first.add("p(a) .")
        first.update("INSERT DATA { <x:a> <x:b> <x:c> } ; INSERT { ?s <x:d> 1 } WHERE { ?s ?p ?o }")
    with opened(tmp_path) as again:
        assert (again.seq, len(again)) == (1, 2)


# who may write


def test_a_folder_has_one_writer_until_it_is_closed_or_dropped(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(lf.ConflictError, match=r"process \d+, since 20"):
        opened(tmp_path)
    first.close()
    second = opened(tmp_path)
    gc.disable()
    try:
        del second
        opened(tmp_path).close()
    finally:
        gc.enable()
    with pytest.raises(lf.LivefactsError, match="was closed"):
        first.add(ANN)
    assert facts(first) == []


def test_a_reader_beside_the_writer_is_refused_changes(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as writer:
        writer.add(ANN)
        reader = opened(tmp_path, read_only=True)
        assert facts(reader) == facts(writer)
        for change in (
            lambda: reader.add(BEN),
            lambda: reader.add_rules("p(?x) :- q(?x) ."),
            lambda: reader.push(BEN, at=1),
            lambda: reader.advance(1),
            lambda: reader.checkpoint(),
        ):
            with pytest.raises(lf.LivefactsError, match="read only"):
                change()
    with pytest.raises(lf.LivefactsError, match="no knowledge base"):
        lf.Reasoner.open(tmp_path / "none", read_only=True)
    assert not (tmp_path / "none").exists()


def test_a_folder_where_no_file_can_be_made_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a medium that is mounted to be read only."""
    with opened(tmp_path, [FAMILY, SEEN]) as writer:
        writer.add(ANN)
        writer.checkpoint()
        writer.add(BEN)
        writer.push("reading(s1) .", at=1)
        writer.advance(1)
    system = os.open

    def open_unless_written(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if str(path).startswith(str(tmp_path)) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return system(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", open_unless_written)
    reader = opened(tmp_path, read_only=True)
    assert (facts(reader), reader.refresh(), reader.verify().ok) == (facts(writer), 4, True)
    assert [delta.seq for delta in reader.changes_since(0)] == [1, 2, 3, 4]
    assert len(reader.at(1)) == 2
    for refused in (lambda: reader.add(ANN), reader.checkpoint, lambda: reader.undo(1)):
        with pytest.raises(StoppedError, match="to be read only") as error:
            refused()
        assert "without read_only" in str(error.value.hint)
    with pytest.raises(lf.LivefactsError, match="cannot be written to: Read-only") as told:
        opened(tmp_path)
    assert "read_only=True" in str(told.value.hint)


def test_other_rules_than_those_of_the_folder_are_refused_with_the_difference(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, [FAMILY, "p(a) ."]) as first:
        first.add_rules("q(?x) :- parent(?x, ?y) .")
    opened(tmp_path, [FAMILY, "p(a) ."]).close()
    opened(tmp_path).close()
    with pytest.raises(lf.LivefactsError, match="made with other rules") as refused:
        opened(tmp_path, "ancestor(?a, ?b) :- parent(?a, ?b) .\np(b) .")
    assert refused.value.message.splitlines()[1:] == [
        "- ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .",
        "- p(a)",
        "+ p(b)",
    ]


# a disk that fails


class Disk:
    """Fails at the step that is named, as often as it is told."""

    def __init__(self, step: str, times: int, error: int) -> None:
        self._step, self._times, self._error = step, times, error

    def __call__(self, step: str, path: Path) -> None:
        if step == self._step and path.suffix == ".log" and self._times:
            self._times -= 1
            raise OSError(self._error, "so said the disk")


@pytest.mark.parametrize("step", ["before write", "after write"])
def test_a_full_disk_undoes_the_change_and_the_next_one_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with opened(tmp_path, FAMILY) as first:
        first.add(ANN)
        monkeypatch.setattr(file_operations, "on_step", Disk(step, 1, 28))
        before = facts(first)
        with pytest.raises(lf.LivefactsError, match="disk is full"):
            first.add(BEN)
        assert (facts(first), first.seq) == (before, 1)
        first.add("parent(cleo, dan) .")
        assert first.verify()
    with opened(tmp_path) as again:
        assert facts(again) == facts(first)


@pytest.mark.parametrize("step", ["before sync", "after sync", "before write"])
def test_a_failing_disk_stops_changes_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    first = opened(tmp_path, FAMILY)
    first.add(ANN)
    monkeypatch.setattr(file_operations, "on_step", Disk(step, 1, 5))
    before = facts(first)
    for _ in range(2):
        with pytest.raises(lf.LivefactsError, match="no more changes"):
            first.add(BEN)
        assert (facts(first), first.seq) == (before, 1)
    first.close()
    with opened(tmp_path) as again:
        assert again.seq in (1, 2)
        assert set(before) <= set(facts(again))
        assert again.verify()


def test_time_that_could_not_be_written_stops_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(tmp_path, SEEN)
    first.push("reading(s1) .", at=3)
    monkeypatch.setattr(file_operations, "on_step", Disk("before sync", 1, 5))
    for _ in range(2):
        with pytest.raises(lf.LivefactsError, match="no more changes"):
            first.advance(4)
    first.close()
    with opened(tmp_path) as again:
        assert again.now in (None, 3, 4)


# several writers


@pytest.mark.parametrize("durability", ["sync", "group", "none"])
def test_changes_of_many_threads_are_all_there(tmp_path: Path, durability: str) -> None:
    first = opened(tmp_path, durability=durability)
    numbers: list[int] = []

    def write(name: int) -> None:
        for number in range(5):
            numbers.append(first.add(f"said(t{name}, {number}) .").seq)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 41))
    first.close()
    with opened(tmp_path) as again:
        assert (len(again), again.seq) == (40, 40)


# how things were


def test_nobody_is_called_of_a_change_that_is_not_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, seen = list[bool](), list[bool]()
    monkeypatch.setattr(
        file_operations, "on_step", lambda step, path: synced.append(step == "after sync")
    )
    with opened(tmp_path) as reasoner:
        heard = lambda changes: seen.append(synced[-1])  # noqa: E731
        reasoner.watch("SELECT ?s { ?s <x:p> ?o }", on_change=heard)
        others = [
            threading.Thread(target=lambda n=n: reasoner.add(f"<x:s{n}> <x:p> {n} ."))
            for n in range(6)
        ]
        with reasoner._state.changing:
            for other in others:
                other.start()
            while reasoner._state.recorder._waiting < len(others):  # type: ignore[union-attr]
                others[0].join(0.001)
        for other in others:
            other.join()
    assert len(seen) == 7
    assert all(seen[1:])


def test_an_interrupt_in_a_call_of_a_watch_carries_the_change_that_was_made() -> None:
    reasoner = lf.Reasoner()

    def stop(changes: list[Any]) -> None:
        if changes:
            raise KeyboardInterrupt

    reasoner.watch("SELECT ?s { ?s ?p ?o }", on_change=stop)
    with pytest.raises(lf.InterruptAfterChange) as error:
        reasoner.add("<x:a> <x:b> <x:c> .")
    assert (error.value.delta.seq, len(reasoner)) == (1, 1)


def test_every_version_that_is_kept_can_be_asked(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as reasoner:
        states = [facts(reasoner)]
        for number, change in enumerate((ANN, BEN, "parent(cleo, dan) .", "parent(dan, eve) .")):
            reasoner.add(change)
            states.append(facts(reasoner))
            if number == 1:
                reasoner.checkpoint()
        reasoner.remove(ANN)
        states.append(facts(reasoner))
        for seq, expected in enumerate(states):
            then = reasoner.at(seq)
            assert facts(then) == expected, seq
            assert then.verify()
        with pytest.raises(lf.LivefactsError, match="read only"):
            then.add(ANN)
        with pytest.raises(lf.LivefactsError, match="no change 9"):
            reasoner.at(9)


def test_a_change_is_undone_by_another(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as reasoner:
        reasoner.add(ANN)
        reasoner.apply(add=BEN, remove=ANN, add_rules="@id own p(?x) :- parent(?x, ?y) .")
        reasoner.remove_rules("own")
        preview = reasoner.undo(2, preview=True)
        assert reasoner.seq == 3
        made = reasoner.undo(2)
        assert set(made.added) == set(preview.added)
        assert facts(reasoner) == ["ancestor(ann, ben)", "parent(ann, ben)"]
        reasoner.undo(3)
        assert "p(ann)" in facts(reasoner)
        reasoner.advance(1)
        with pytest.raises(lf.LivefactsError, match="cannot be undone"):
            reasoner.undo(reasoner.seq)


def test_what_was_taken_back_already_makes_no_change(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as reasoner:
        reasoner.add(ANN)
        reasoner.apply(
            add=BEN,
            remove=ANN,
            patch="A <x:s> <x:p> 1 <x:g> .",
            add_rules="@id own p(?x) :- parent(?x, ?y) .",
        )
        reasoner.remove_rules("own")
        reasoner.record(lambda: reasoner.undo(2), author="ann")
        before = facts(reasoner)
        for preview in (True, False):
            again = reasoner.undo(2, preview=preview)
            assert (again.seq, len(again.added), len(again.removed)) == (4, 0, 0)
            assert list(again.hints) == ["nothing of change 2 is left to take back"]
        assert (reasoner.seq, facts(reasoner)) == (4, before)
        reasoner.undo(3)
        assert reasoner.undo(3).hints
        reasoner.remove_rules("own")
        reasoner.add(BEN)
        assert [len(reasoner.undo(2).removed), reasoner.seq] == [3, 8]
        said = [(r.last, r.content.get("author"), r.content.get("note")) for r in reasoner.log()]
    assert [each for each in said if each[2]] == [
        (4, "ann", "takes back change 2"),
        (5, None, "takes back change 3"),
        (8, None, "takes back change 2"),
    ]


@pytest.mark.parametrize("end", range(1, 18))
def test_a_folder_whose_making_was_cut_off_can_be_made_again(
    tmp_path: Path, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = count(1)

    def cut_off(step: str, path: Path) -> None:
        if next(steps) == end:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(file_operations, "on_step", cut_off)
        opened(tmp_path, FAMILY).close()
    assert next(steps) >= end
    with opened(tmp_path, FAMILY) as reasoner:
        assert reasoner.add(ANN).seq == 1


def test_a_reader_follows_the_writer(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as writer:
        reader = opened(tmp_path, read_only=True)
        for change in (ANN, BEN, "parent(cleo, dan) ."):
            writer.add(change)
            if change == BEN:
                writer.checkpoint()
            assert reader.refresh() == writer.seq
            assert facts(reader) == facts(writer)


def test_a_number_that_no_change_has_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as reasoner:
        reasoner.add(ANN)
        for call in (reasoner.changes_since, reasoner.at):
            with pytest.raises(lf.LivefactsError, match="there is no change -1") as error:
                list(call(-1))
            assert "numbered from 1" in error.value.hint


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("at", lambda r: r.at(0)),
        ("undo", lambda r: r.undo(1)),
        ("changes_since", lambda r: r.changes_since(0)),
        ("refresh", lambda r: r.refresh()),
        ("record", lambda r: r.record(lambda: r.add(ANN), key="k")),
    ],
)
def test_what_needs_a_journal_says_so_in_memory(name: str, call: Callable[..., object]) -> None:
    with pytest.raises(lf.LivefactsError, match=f"{name} needs the journal") as error:
        call(lf.Reasoner())
    assert "Reasoner.open(folder)" in error.value.hint


@pytest.mark.parametrize("before", [0, 1])
def test_a_reader_that_stays_behind_what_is_kept_is_told_to_open_again(
    tmp_path: Path, before: int
) -> None:
    with opened(tmp_path, FAMILY, keep=0) as writer:
        writer.add(ANN)
        for number in range(3):
            if number == before:
                reader = opened(tmp_path, read_only=True)
                there = facts(reader)
            writer.add(f"parent(cleo, child{number}) .")
            writer.checkpoint()
        for _ in range(2):
            with pytest.raises(lf.LivefactsError, match="no longer kept") as told:
                reader.refresh()
            assert "open the folder again" in str(told.value.hint)
            assert not isinstance(told.value, lf.DamageError)
            assert facts(reader) == there
        again = opened(tmp_path, read_only=True)
        assert (again.seq, facts(again)) == (writer.seq, facts(writer))


def test_a_log_that_is_lost_is_damage_to_its_reader(tmp_path: Path) -> None:
    with opened(tmp_path, FAMILY) as writer:
        writer.add(ANN)
        reader = opened(tmp_path, read_only=True)
        for log in (tmp_path / "kb" / "journal").glob("*.log"):
            log.unlink()
        with pytest.raises(lf.DamageError, match="cannot be read"):
            reader.refresh()


def test_the_garbage_collector_is_on_after_a_journal_was_repeated(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        first.add(ANN)
    assert gc.isenabled()
    opened(tmp_path).close()
    assert gc.isenabled()


PARENTS = "SELECT ?x WHERE { ?x <x:p> ?y }"


def said(watch: Any) -> list[tuple[str, str, int]]:
    return [(change.op, str(change.row[0]), change.count) for change in watch.changes()]


@pytest.mark.parametrize("folds", [False, True])
def test_a_watch_with_a_name_goes_on_with_what_was_not_read(tmp_path: Path, folds: bool) -> None:
    with opened(tmp_path) as first:
        first.add("<x:a> <x:p> <x:b> .")
        watch = first.watch(PARENTS, name="parents")
        assert first.watch(PARENTS, name="parents") is watch
        first.add("<x:c> <x:p> <x:b> .")
        assert said(watch) == [("+", "<x:c>", 1)]
        first.apply(add="<x:d> <x:p> <x:b> .", remove="<x:a> <x:p> <x:b> .")
        if folds:
            first.checkpoint()
    with opened(tmp_path) as again:
        again.add("<x:e> <x:p> <x:b> .")
        again.remove("<x:d> <x:p> <x:b> .")
        watch = again.watch(PARENTS, name="parents")
        again.add("<x:f> <x:p> <x:b> .")
        assert said(watch) == [("-", "<x:a>", 1), ("+", "<x:e>", 1), ("+", "<x:f>", 1)]
        assert said(watch) == []
        with pytest.raises(lf.LivefactsError, match="another query"):
            again.watch("SELECT ?y WHERE { ?x <x:p> ?y }", name="parents")
    with opened(tmp_path) as third:
        watch = third.watch(PARENTS, name="parents")
        assert said(watch) == []
        watch.close()
        third.add("<x:g> <x:p> <x:b> .")
    with opened(tmp_path) as last:
        assert said(last.watch(PARENTS, name="parents")) == []


def test_a_watch_whose_past_is_not_kept_says_that_something_was_lost(tmp_path: Path) -> None:
    with opened(tmp_path, keep=0) as first:
        first.watch(PARENTS, name="parents")
        for number in range(4):
            first.add(f"<x:c{number}> <x:p> <x:b> .")
            first.checkpoint()
    with opened(tmp_path) as again:
        assert [c.op for c in again.watch(PARENTS, name="parents").changes()] == ["lagged"]


@pytest.mark.parametrize("folds", [False, True])
def test_reports_that_nobody_has_read_are_there_after_a_restart(
    tmp_path: Path, folds: bool
) -> None:
    text = "REGISTER QUERY q AS SELECT ?s FROM STREAM <x:s> [RANGE 2 STEP 1] { ?s <x:in> ?room }"

    def reports(query: Any) -> list[tuple[int, int, list[str]]]:
        return [(each.time, each.last, sorted(map(str, each))) for each in query.results()]

    def begin(reasoner: lf.Reasoner) -> Any:
        found = reasoner.register(text)
        reasoner.push("<x:cup> <x:in> <x:hall> .", at=1, stream="x:s")
        reasoner.advance(1)
        return found

    twin = lf.Reasoner()
    query = begin(twin)
    expected = [reports(query)]
    with opened(tmp_path) as first:
        query = begin(first)
        assert [reports(query)] == expected
        for reasoner in (twin, first):
            reasoner.push("<x:pan> <x:in> <x:hall> .", at=2, stream="x:s")
            reasoner.advance(2)
        if folds:
            first.checkpoint()
        for reasoner in (twin, first):
            reasoner.advance(6)
    with opened(tmp_path) as again:
        found = reports(again.register(text))
        assert found == reports(twin.registered()["q"])
        assert len(found) > 1
    with opened(tmp_path) as last:
        assert reports(last.register(text)) == []


def test_a_tail_gives_the_rows_that_are_new_and_says_what_time_it_was(tmp_path: Path) -> None:
    with lf.Reasoner.open(tmp_path / "kb", rules="hot(?s) :- sometime reading(?s) in [5 s] .") as r:
        r.add("reading(a) .")
        tail = r.tail(0)
        assert [row.last for row in tail.rows()] == [1]
        r.push("reading(b) .", at=3)
        r.advance(3)
        r.checkpoint()
        r.add("reading(c) .")
        rows = list(tail.rows())
        assert [row.last for row in rows] == [2, 3, 4]
        assert [row.content.get("now", row.content.get("to")) for row in rows] == [None, 3, 3]
        with pytest.raises(lf.LivefactsError, match="no change 9 yet"):
            r.tail(9)


def test_a_reader_looks_again_when_the_writer_has_removed_what_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, keep=0) as writer:
        writer.add(ANN)
        writer.checkpoint()
        read = SavedFolder.read_into
        is_first = [True]

        def read_late(saved: SavedFolder, state: Any) -> None:
            if is_first.pop() if is_first else False:
                for name in ("x", "y", "z"):
                    writer.add(f"parent(ann, {name}) .")
                    writer.checkpoint()
            read(saved, state)

        monkeypatch.setattr(SavedFolder, "read_into", read_late)
        with opened(tmp_path, read_only=True) as reader:
            assert facts(reader) == facts(writer)
        assert not is_first


def test_changes_are_read_again_while_others_are_made(tmp_path: Path) -> None:
    with opened(tmp_path, durability="none") as r:
        writer = threading.Thread(
            target=lambda: [r.add(f"<x:s{n}> <x:p> <x:o{n}> .") for n in range(300)]
        )
        writer.start()
        while writer.is_alive():
            for delta in r.changes_since(max(0, r.snapshot().seq - 5)):
                (triple,) = delta.added
                assert triple.subject.value[3:] == triple.object.value[3:]
        writer.join()
        assert r.verify()


SIGNED: dict[str, Callable[[lf.Reasoner], lf.Delta]] = {
    "add": lambda r: r.add(BEN),
    "nothing new": lambda r: r.add(ANN),
    "update": lambda r: r.update(
        "INSERT DATA { <x:a> <x:b> <x:c> } ; INSERT DATA { <x:a> <x:b> 1 }"
    ),
    "push": lambda r: r.push("reading(s1) .", at=1),
    "past": lambda r: r.push("reading(s1) .", at=0),
    "advance": lambda r: r.advance(5),
}


@pytest.mark.parametrize("kind", SIGNED)
@pytest.mark.parametrize("folds", [None, "after", "before and after"])
def test_a_change_with_a_key_is_made_once_also_after_a_restart(
    tmp_path: Path, kind: str, folds: str | None
) -> None:
    def made(reasoner: DurableReasoner) -> lf.Delta:
        return reasoner.record(lambda: SIGNED[kind](reasoner), key="k1", author="ann", note="why")

    with opened(tmp_path, [FAMILY, SEEN]) as first:
        first.add(ANN)
        first.advance(0)
        if folds == "before and after":
            first.checkpoint()
        delta = made(first)
        there, seq = facts(first), first.seq
        assert made(first).seq == delta.seq
        if folds:
            first.checkpoint()
    with opened(tmp_path) as again:
        found = made(again)
        assert (found.seq, again.seq, facts(again)) == (delta.seq, seq, there)
        if kind != "advance":  # of which a journal has each tick
            assert (found.to_patch(), found.counts) == (delta.to_patch(), delta.counts)
        (row, *_) = [row for row in again.log() if "author" in row.content]
        assert (row.content["author"], row.content["note"]) == ("ann", "why")
        assert again.record(lambda: again.add("parent(x, y) ."), key="k2").seq == seq + 1


def test_of_two_threads_with_one_key_one_makes_the_change(tmp_path: Path) -> None:
    with opened(tmp_path) as reasoner:
        begin, seen = threading.Barrier(8), list[int]()

        def make(number: int) -> None:
            begin.wait()
            call = lambda: reasoner.add(f"by({number}) .")  # noqa: E731
            seen.append(reasoner.record(call, key="k").seq)

        threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (seen, len(reasoner), reasoner.seq) == ([1] * 8, 1, 1)


def test_a_key_is_of_one_change_and_of_one_that_was_made(tmp_path: Path) -> None:
    with opened(tmp_path, "false :- p(?x) .", on_violation="refuse") as reasoner:
        with pytest.raises(lf.ViolationError):
            reasoner.record(lambda: reasoner.add("p(1) ."), key="k")
        assert reasoner.record(lambda: reasoner.add("q(1) ."), key="k").seq == 1

        def two() -> lf.Delta:
            reasoner.add("q(2) .")
            return reasoner.add("q(3) .")

        with pytest.raises(lf.LivefactsError, match="has the key 'k2', and this is another"):
            reasoner.record(two, key="k2")
        assert facts(reasoner) == ["q(1)", "q(2)"]
        assert reasoner.record(two, author="ann").seq == 4
        with pytest.raises(lf.LivefactsError, match="is no text of up to"):
            reasoner.record(two, key="")
        with pytest.raises(lf.LivefactsError, match="lone surrogate"):
            reasoner.record(two, note="\ud800")


def test_a_watch_makes_changes_of_its_own_beside_one_with_a_key(tmp_path: Path) -> None:
    with opened(tmp_path) as reasoner:

        def heard(changes: list[lf.Change]) -> None:
            if changes:
                reasoner.add("<x:log> <x:saw> <x:a> .")

        reasoner.watch("SELECT ?s { ?s <x:p> ?o }", on_change=heard)

        def call() -> lf.Delta:
            return reasoner.add("<x:a> <x:p> <x:b> .")

        for _ in range(2):
            assert reasoner.record(call, key="k", author="ann").seq == 1
        assert [row.content.get("author") for row in reasoner.log()] == ["ann", None]


def test_the_last_keys_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "KEYS_KEPT", 3)
    with opened(tmp_path, keep=0) as reasoner:
        for number in range(5):
            reasoner.record(lambda n=number: reasoner.add(f"q({n}) ."), key=f"k{number}")
            reasoner.checkpoint()
    with opened(tmp_path) as again:
        delta = again.record(lambda: again.add("q(9) ."), key="k4")
        assert (delta.seq, list(delta.added), again.seq) == (5, [], 5)
        assert again.record(lambda: again.add("q(9) ."), key="k1").seq == 6
