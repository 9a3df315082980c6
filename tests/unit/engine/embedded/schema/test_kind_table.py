"""Kinds of triples: a table that forgets what was removed from it."""

from __future__ import annotations

import random

from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.registers import SUBJECT
from livefacts.engine.embedded.schema.chase import ClosedSchema
from livefacts.engine.embedded.schema.kind_table import FEWEST, Kind, KindTable


def heads_of(table: KindTable, kind: Kind) -> list[tuple[int, ...]]:
    """The consequences that the kernel finds for a kind."""
    keys, heads = table.arrays
    predicate, obj = kind
    at = code.lookup_entry(keys, predicate + 1, 0 if obj is None else obj + 1)
    first, count = keys[at, code.KEY_FIRST], keys[at, code.KEY_COUNT]
    return [tuple(row) for row in heads[first : first + count].tolist()]


def test_kinds_that_are_left_keep_their_consequences_when_a_table_shrinks() -> None:
    pick, table, known = random.Random(1), KindTable(), dict[Kind, list[tuple[int, ...]]]()
    for step in range(400):
        kind = (pick.randrange(30), pick.choice((None, pick.randrange(9))))
        if kind in known and pick.random() < 0.6:
            table.remove(kind)
            del known[kind]
        else:
            heads = [(SUBJECT, step, number) for number in range(pick.randrange(4))]
            table.put(kind, heads, 0)  # type: ignore[arg-type]
            known[kind] = list(heads)
        if step % 25 == 0:
            table.shrink()
        assert {kind: heads_of(table, kind) for kind in known} == known


def test_a_table_of_kinds_that_come_and_go_stays_small() -> None:
    table = KindTable()
    for number in range(1000):
        table.put((number, None), [(SUBJECT, number, number)], 0)
        table.remove((number, None))
    assert len(table.arrays.keys) <= 4 * FEWEST
    table.shrink()
    assert not table.arrays.keys.any()
    assert len(table.arrays.heads) <= 2 * FEWEST


def test_a_schema_keeps_nothing_of_triples_that_have_gone() -> None:
    schema = ClosedSchema()
    for number in range(5):
        schema.add([(number, 7, number + 1)])
        schema.remove([(number, 7, number + 1), (8, 8, 8)])
    assert not any(vars(schema)[name] for name in ("_by_subject", "_by_object", "_by_predicate"))
