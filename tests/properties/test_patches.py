"""Random changes told to a second reasoner as patches: both know the same after every step."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from pyoxigraph import NamedNode, Quad, Triple
from tests.properties.compare.histories import LIMIT, Change, draw_history
from tests.properties.generate.seeds import chunks
from tests.properties.generate.vocabulary import EX

import livefacts as lf
from livefacts.language.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

HISTORIES, CHUNKS = 120, 6
GRAPHS = (None, NamedNode(EX + "g1"), NamedNode(EX + "g2"))


def in_graphs(facts: Iterable[object], pick: random.Random) -> list[object]:
    """The facts, some of the triples in named graphs instead."""
    placed = []
    for fact in sorted(facts, key=str):
        graph = pick.choice(GRAPHS) if isinstance(fact, Triple) else None
        placed.append(
            Quad(*fact, graph) if graph is not None and isinstance(fact, Triple) else fact
        )
    return placed


def applied(reasoner: lf.Reasoner, change: Change, pick: random.Random) -> lf.Delta:
    true = [fact for fact in reasoner.facts() if pick.random() < 0.1]
    return reasoner.apply(
        add=in_graphs([*change.added, *true[:2]], pick),
        remove=in_graphs([*change.removed, *true[1:3]], pick),
        add_rules=Program(change.rules_added, limit=LIMIT),
        remove_rules=known(reasoner, change),
    )


def known(reasoner: lf.Reasoner, change: Change) -> list[object]:
    keys = {rule.key() for rule in change.rules_removed}
    return [rule for rule in reasoner.rules if rule.key() in keys]


def follow(seed: int) -> tuple[int, int]:
    """How many facts the asserted patches had, and how many of them made nothing true."""
    history, pick = draw_history(seed), random.Random(seed)
    first, second = lf.Reasoner(), lf.Reasoner()
    summed: set[object] = set()
    rows = silent = 0
    for reasoner in (first, second):
        delta = reasoner.add_rules(Program(history.start, limit=LIMIT))
    summed |= set(delta.added)
    for change in history.changes:
        rules = {"remove_rules": known(second, change)}
        try:
            delta = applied(first, change, pick)
        except lf.RuleError:
            break
        patch = delta.to_patch(asserted=True)
        second.apply(patch=patch, add_rules=Program(change.rules_added, limit=LIMIT), **rules)
        summed = (summed - set(delta.removed)) | set(delta.added)
        check(seed, first, second, delta, summed)
        rows += delta.counts["asserted"]
        silent += delta.counts["asserted"] - len(delta.added) + len(delta.derived)
    return rows, silent


def check(
    seed: int, first: lf.Reasoner, second: lf.Reasoner, delta: lf.Delta, summed: set[object]
) -> None:
    assert set(second.facts()) == set(first.facts()) == summed, seed
    for derived in (True, False):
        assert set(second.facts(derived=derived)) == set(first.facts(derived=derived)), seed
    assert sorted(map(str, quads(first))) == sorted(map(str, quads(second))), seed
    # What the shown patch adds to nothing is what became true.
    mirror = lf.Reasoner()
    mirror.add(list(delta.removed))
    mirror.apply(patch=delta.to_patch())
    assert set(mirror.facts()) == set(delta.added), seed


def quads(reasoner: lf.Reasoner) -> list[object]:
    state = reasoner._state
    return [Quad(*state.dictionary.decode(row)) for row in state.graphs.quads()]


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_a_reasoner_that_is_told_every_asserted_patch_knows_the_same(chunk: int) -> None:
    asserted = [follow(seed) for seed in range(chunk, HISTORIES, CHUNKS)]
    assert sum(rows for rows, _ in asserted) > 100
    assert sum(silent for _, silent in asserted) > 10
