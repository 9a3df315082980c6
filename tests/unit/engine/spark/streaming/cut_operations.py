"""Random operations on facts, as rows of RDF Patch, and their cuts into files."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import livefacts as lf
from livefacts.syntax.rdf.patch import parse_patch

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
SCHEMA = "http://www.w3.org/2000/01/rdf-schema#"
TOLD = f"<urn:p0> <{SCHEMA}domain> <urn:C0> .\n<urn:i0> <urn:p0> <urn:i1> .\n"


def draw_operations(pick: random.Random, count: int) -> list[str]:
    """Rows that add and remove, of facts, of schema, in graphs, and of predicates."""
    return [f"{pick.choice('AAD')} {_fact(pick)} ." for _ in range(count)]


def _fact(pick: random.Random) -> str:
    one, other, size = pick.randrange(6), pick.randrange(6), pick.randrange(3)
    graph = pick.choice(("", "", "", " <urn:g>"))
    return pick.choice(
        (
            f"<urn:i{one}> <urn:p{size}> <urn:i{other}>{graph}",
            f"<urn:i{one}> {TYPE} <urn:C{size}>{graph}",
            f'<urn:i{one}> <urn:p{size}> "text {other}"',
            f"<urn:p{size}> <{SCHEMA}{pick.choice(('domain', 'range'))}> <urn:C{other % 4}>",
            f"<urn:C{size}> <{SCHEMA}subClassOf> <urn:C{other % 4}>",
            f"near(i{one}, i{other})",
        )
    )


def cut(pick: random.Random, rows: Sequence[str], parts: int) -> list[list[str]]:
    """The same rows in so many pieces, some of which may be empty."""
    places = sorted(pick.randrange(len(rows) + 1) for _ in range(parts - 1))
    return [list(rows[i:j]) for i, j in zip([0, *places], [*places, len(rows)], strict=True)]


def write_files(folder: Path, batches: Sequence[Sequence[str]]) -> None:
    """A file of each, a second apart."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(batches):
        path = folder / f"{number:03d}.rdfp"
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def net(rows: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """What rows come to, as one change: facts that come, and facts that go."""
    last = {row.statement: row.adds for row in parse_patch("\n".join(rows)).rows}
    return [f for f, adds in last.items() if adds], [f for f, adds in last.items() if not adds]


def shown(facts: Any) -> set[str]:
    """Facts of a reasoner as a table of deltas writes them."""
    return {str(fact) for fact in facts}


def undisturbed(rules: str, batches: Sequence[Sequence[str]]) -> lf.Reasoner:
    """A reasoner after the same batches."""
    reasoner = lf.Reasoner(rules=rules)
    reasoner.add(TOLD)
    for rows in batches:
        come, go = net(rows)
        reasoner.apply(add=come, remove=go)
    return reasoner
