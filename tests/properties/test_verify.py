"""Random changes, and `verify` between them: it agrees with a sound engine, and with no other."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.properties.compare.histories import LIMIT, applied, draw_history
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.language.program import Program
from livefacts.store.facts.bits import ASSERTED, IN_DEFAULT
from livefacts.store.facts.layout import FLAGS, PLAIN

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")

HISTORIES, CHUNKS = 120, 10
COMPARED = 20
EVERY = 3


def check(seed: int, maintenance: str, every: int = EVERY) -> None:
    """Follow a history, and verify after every so many steps; refused rules end it."""
    history = draw_history(seed, graphs=True)
    reasoner = lf.Reasoner(maintenance=maintenance, single_path=history.single_path)
    try:
        reasoner.add_rules(Program(history.start, limit=LIMIT))
        for number, change in enumerate(history.changes):
            applied(reasoner, change)
            if (number + seed) % every == 0:
                report = reasoner.verify()
                if not report:
                    pytest.fail(f"{history}\nafter step {number}: {report}", pytrace=False)
    except lf.RuleError:
        return


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 4))
def test_what_changes_have_left_is_what_verify_computes(chunk: int) -> None:
    for seed in range(chunk, HISTORIES, CHUNKS):
        check(seed, "counting-dred")


@pytest.mark.parametrize("maintenance", ["dred", "counting", "recompute"])
def test_every_way_of_maintenance_passes(maintenance: str) -> None:
    for seed in range(7_000, 7_000 + COMPARED):
        check(seed, maintenance)


@pytest.mark.parametrize("seed", range(60))
def test_no_damage_passes(seed: int) -> None:
    history, pick = draw_history(seed, steps=4), random.Random(seed)
    reasoner = lf.Reasoner(single_path=history.single_path)
    reasoner.add_rules(Program(history.start, limit=LIMIT))
    for change in history.changes:
        reasoner.add(list(change.added))
    if not len(reasoner):
        return
    _damage(reasoner, pick)
    assert not reasoner.verify()


def _damage(reasoner: lf.Reasoner, pick: random.Random) -> None:
    """Remove a row, turn a flag, or move a counter, at random."""
    store = reasoner._state.engine.store
    shapes = [s for s, relation in store.relations.items() if store.live(relation) and s != 1]
    relation = store.relation(pick.choice(shapes))
    row = pick.choice(store.with_flags(relation).tolist())
    cells = store.cells(relation)[row]
    match pick.randrange(4):
        case 0 if not np.any(cells[FLAGS] & IN_DEFAULT):
            store.remove(relation, row)
        case 1:
            cells[FLAGS] ^= ASSERTED
        case _:
            cells[PLAIN + pick.randrange(3)] += pick.choice((-1, 1))
