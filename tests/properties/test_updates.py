"""Random SPARQL Updates: without rules they do what pyoxigraph's own store does."""

from __future__ import annotations

import random

import pytest
from pyoxigraph import Quad, Store
from tests.properties.generate.seeds import chunks

import livefacts as lf

UPDATES, CHUNKS = 400, 4
NODES = [f"<x:{name}>" for name in "abcd"]
EDGES = [f"<x:{name}>" for name in "pq"]
VARIABLES = ["?x", "?y", "?z", "?e"]


class Drawing:
    """Draws the parts of an update."""

    def __init__(self, seed: int) -> None:
        self._pick = random.Random(seed)

    def update(self) -> str:
        return " ;\n".join(self._operation() for _ in range(self._pick.randint(1, 4)))

    def _operation(self) -> str:
        kind = self._pick.randrange(6)
        if kind == 0:
            return f"INSERT DATA {{ {self._triples(3, NODES, EDGES)} }}"
        if kind == 1:
            return f"DELETE DATA {{ {self._triples(3, NODES, EDGES)} }}"
        where = self._triples(2)
        if kind == 2:
            return f"DELETE WHERE {{ {where} }}"
        deletes = f"DELETE {{ {self._triples(2)} }}" if kind != 3 else ""
        inserts = f"INSERT {{ {self._triples(2)} }}" if kind != 4 else ""
        return f"{deletes} {inserts} WHERE {{ {where} {self._more()} }}"

    def _more(self) -> str:
        choices = (
            "",
            f"OPTIONAL {{ {self._triples(1)} }}",
            "FILTER(?x != ?y)",
            "BIND(<x:d> AS ?w)",
        )
        return self._pick.choice(choices)

    def _triples(
        self, most: int, nodes: list[str] | None = None, edges: list[str] | None = None
    ) -> str:
        ends = nodes or NODES[:1] + VARIABLES[:3]
        middle = edges or [*EDGES, "?e"]
        pick = self._pick.choice
        count = self._pick.randint(1, most)
        return " . ".join(f"{pick(ends)} {pick(middle)} {pick(ends)}" for _ in range(count))


@pytest.mark.parametrize("chunk", chunks(CHUNKS, 2))
def test_an_update_does_what_the_store_does_and_one_delta_says_it(chunk: int) -> None:
    changed = 0
    for seed in range(chunk, UPDATES, CHUNKS):
        drawing = Drawing(seed)
        reasoner, store = lf.Reasoner(), Store()
        for _ in range(4):
            text = drawing.update()
            before = set(reasoner.facts())
            delta = reasoner.update(text)
            store.update(text)
            after = {Quad(*fact).triple for fact in reasoner.facts()}  # type: ignore[misc]
            assert after == {quad.triple for quad in store}, f"seed {seed}\n{text}"
            assert set(delta.added) == after - before, f"seed {seed}\n{text}"
            assert set(delta.removed) == before - after, f"seed {seed}\n{text}"
            changed += bool(delta)
    assert changed > UPDATES / CHUNKS
