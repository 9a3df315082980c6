"""A knowledge base as its tables have it, read without Spark."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pyoxigraph import Quad, Triple
from tests.oracle import Row, shown

from livefacts.engine.spark.joins.term_frames import term_of
from livefacts.kb.graph_rows import quads_at
from livefacts.kb.tables import (
    CHANGES,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    KnowledgeBase,
)
from livefacts.model.facts import Fact

Facts = dict[Triple | Fact, bool]
"""What holds, and whether it is told."""


def stored_facts(base: KnowledgeBase, commit: Commit) -> Facts:
    """Everything that holds, told or not."""
    counts: dict[Row, list[int]] = {}
    for table in (TRIPLES_TABLE, CHANGES, PREDICATES_TABLE, PREDICATE_CHANGES):
        for row, each in _rows(base, table, commit):
            known = counts.setdefault(row, [0, 0])
            known[0] += each["support"]
            known[1] += each["told"]
    assert all(support >= 0 and told in (0, 1) for support, told in counts.values())
    holding = {row: told > 0 for row, (support, told) in counts.items() if support + told}
    return {fact: told for row, told in holding.items() if (fact := _shown(row)) is not None}


def stored_delta(base: KnowledgeBase, commit: Commit) -> dict[Triple | Fact, int]:
    """What a change has noted: facts that came and went."""
    assert commit.notes["delta"] == commit.seq
    signs: Counter[Row] = Counter()
    for table in (CHANGES, PREDICATE_CHANGES):
        for row, each in _rows(base, table, commit):
            signs[row] += each["sign"] if each["seq"] == commit.seq else 0
    found = {_shown(row): sign for row, sign in signs.items() if sign}
    return {fact: sign for fact, sign in found.items() if fact is not None}


def stored_graphs(base: KnowledgeBase, commit: Commit) -> set[Quad]:
    """Triples and the graphs that tell them, of triples that a named graph tells."""
    texts = dict(base.read(TERMS, commit).select(["id", "text"]).to_pandas().to_numpy().tolist())
    return {
        Quad(*(term_of(texts[id]) for id in row[:3]), term_of(texts[row[3]]) if row[3] else None)
        for row in quads_at(base, commit).tolist()
    }


def _rows(base: KnowledgeBase, table: str, commit: Commit) -> list[tuple[Row, Any]]:
    texts = dict(base.read(TERMS, commit).select(["id", "text"]).to_pandas().to_numpy().tolist())
    found = []
    for each in base.read(table, commit).to_pylist():
        if "pred" in each:
            name = texts[each["pred"]].removeprefix("'")
            row: Row = (name, tuple(term_of(texts[id]) for id in each["arguments"]))
        else:
            row = ("[]", tuple(term_of(texts[each[place]]) for place in "spo"))
        found.append((row, each))
    return found


def _shown(row: Row) -> Triple | Fact | None:
    return None if row[0].startswith("_") else shown(row)
