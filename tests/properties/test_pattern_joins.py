"""Patterns joined over versions of random triples are what nested loops find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

import numpy as np
import pytest
from tests.properties.generate.seeds import chunks
from tests.properties.generate.versions import RandomJoin, Row, draw_join, draw_versions

from livefacts.engine.queries.joins.leapfrog import COUNT, EXIST
from livefacts.engine.queries.joins.step_tables import Planned, run
from livefacts.engine.queries.joins.variable_order import IdPattern, join_shape, lifted
from livefacts.store.versions import snapshots
from livefacts.store.versions.snapshots import Snapshot, Versions

CHUNK = 150


@pytest.mark.parametrize("chunk", chunks(20, 2))
def test_patterns_match_what_nested_loops_find(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SHORT", 0)
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(seed)
        monkeypatch.setattr(snapshots, "RATIO", random.choice([0, 1, 8]))
        terms = random.choice([3, 5, 8])
        triples, snapshot = last_version(random, terms)
        asked = draw_join(random, terms)
        shown, found = joined(snapshot, asked)
        expected = Counter(
            (number, *(values[name] for name in shown))
            for number, row in enumerate(asked.rows)
            for values in matches(triples, asked.patterns, dict(zip(asked.given, row, strict=True)))
        )
        assert found == expected, f"seed {seed}: {asked}"
        matched = {number for number, *_ in expected}
        assert given_rows_that_match(snapshot, asked) == matched, f"seed {seed}: {asked}"


def test_a_snapshot_stays_as_it_is() -> None:
    versions = Versions(lambda: rows_of([(1, 2, 3), (4, 5, 6)]))
    before = versions.snapshot()
    versions.note(rows_of([(7, 8, 9)]), rows_of([(1, 2, 3)]))
    after = versions.snapshot()
    assert before.rows().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert sorted(after.rows().tolist()) == [[4, 5, 6], [7, 8, 9]]


def last_version(random: Random, terms: int) -> tuple[frozenset[Row], Snapshot]:
    drawn = draw_versions(random, terms)
    now = drawn.first
    versions = Versions(lambda: rows_of(now))
    versions.snapshot()
    for added, removed in drawn.changes:
        now = (now - removed) | added
        versions.note(rows_of(added), rows_of(removed))
        if random.random() < 0.8:
            assert set(map(tuple, versions.snapshot().rows().tolist())) == now
    return now, versions.snapshot()


def rows_of(triples: Iterable[Row]) -> np.ndarray:
    return np.array(sorted(triples), np.int32).reshape(-1, 3)


def joined(snapshot: Snapshot, asked: RandomJoin) -> tuple[tuple[str, ...], Counter]:
    plan = _planned(snapshot, asked, asked.wanted, COUNT)
    found: Counter = Counter()
    for piece in run(plan, snapshot, columns_of(asked), len(asked.rows)):
        counts = np.ones(len(piece.rows), int) if piece.counts is None else piece.counts
        for row, count in zip(zip(piece.rows, *piece.columns, strict=True), counts, strict=True):
            found[tuple(map(int, row))] += int(count)
    return plan.program.shown, found


def _planned(snapshot: Snapshot, asked: RandomJoin, wanted: Iterable[str], rest: int) -> Planned:
    patterns, constants = lifted(asked.patterns)
    return join_shape(patterns, asked.given, frozenset(wanted), rest).planned(snapshot, constants)


def given_rows_that_match(snapshot: Snapshot, asked: RandomJoin) -> set[int]:
    plan = _planned(snapshot, asked, (), EXIST)
    pieces = run(plan, snapshot, columns_of(asked), len(asked.rows), first_only=True)
    rows = [int(row) for piece in pieces for row in piece.rows]
    assert len(rows) == len(set(rows)), "each given row is found once"
    return set(rows)


def columns_of(asked: RandomJoin) -> list[np.ndarray]:
    return [np.array(column, np.int32) for column in zip(*asked.rows, strict=True)]


def matches(
    triples: Iterable[Row], patterns: tuple[IdPattern, ...], values: dict[str, int]
) -> Iterator[dict[str, int]]:
    if not patterns:
        yield values
        return
    for triple in triples:
        more = dict(values)
        if all(
            slot == term if isinstance(slot, int) else more.setdefault(slot, term) == term
            for slot, term in zip(patterns[0], triple, strict=True)
        ):
            yield from matches(triples, patterns[1:], more)
