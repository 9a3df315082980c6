"""Calls of tasks and threads have their turns: none is lost, and each is one change."""

from __future__ import annotations

import asyncio
from pathlib import Path

import livefacts as lf

RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
"""
TASKS = 30


async def lead(reasoner: lf.Reasoner) -> tuple[list[int], list[int]]:
    """Many tasks change and read; the numbers of the changes, and how many facts readers saw."""
    changes = [asyncio.to_thread(reasoner.add, f"parent(p{n}, p{n + 1}) .") for n in range(TASKS)]
    reads = [asyncio.to_thread(lambda: len(reasoner.snapshot())) for _ in range(TASKS)]
    deltas, seen = await asyncio.gather(asyncio.gather(*changes), asyncio.gather(*reads))
    return [delta.seq for delta in deltas], list(seen)


def test_tasks_share_a_reasoner(tmp_path: Path) -> None:
    with lf.Reasoner.open(tmp_path / "kb", RULES) as reasoner:
        numbers, seen = asyncio.run(lead(reasoner))
        assert sorted(numbers) == list(range(1, TASKS + 1))
        sizes, size = {0}, 0
        for delta in reasoner.changes_since(0):
            size += len(delta.added)
            sizes.add(size)
        assert set(seen) <= sizes
        assert len(reasoner) == size == TASKS + TASKS * (TASKS + 1) // 2
    with lf.Reasoner.open(tmp_path / "kb") as again:
        assert len(again) == size


def test_tasks_hear_of_changes_in_their_loop() -> None:
    async def follow() -> list[str]:
        reasoner, heard = lf.Reasoner(RULES), asyncio.Queue[str]()
        loop = asyncio.get_running_loop()

        def tell(change: object) -> None:
            loop.call_soon_threadsafe(heard.put_nowait, str(change))

        watch = reasoner.watch("SELECT ?x { ?x <x:knows> ?y }", on_change=tell)
        await heard.get()
        await asyncio.to_thread(reasoner.add, "<x:ann> <x:knows> <x:ben> .")
        found = [await heard.get()]
        watch.close()
        return found

    assert "x:ann" in asyncio.run(follow())[0]
