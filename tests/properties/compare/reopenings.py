"""Reopenings: a reasoner in a folder, which ends at random points and is opened again.

It is closed, or its process is killed, which is what a copy of the folder at that moment shows;
sometimes the journal is folded into the tables before, and sometimes by itself all the time.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import livefacts as lf
from livefacts.kb import predicate_rows
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.consequences import columns_of
from livefacts.kb.graph_rows import quads_at
from livefacts.kb.predicate_rows import CountedRows
from livefacts.kb.rule_table import stored_program
from livefacts.kb.tables import (
    DERIVED,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    TERMS,
    Commit,
    KnowledgeBase,
)
from livefacts.service.reasoner.durable import DurableReasoner

SHARE = 0.3
"""So many of the steps end the process."""


class Home:
    """The folder of a reasoner that is opened again and again."""

    def __init__(self, folder: Path, seed: object, **options: Any) -> None:
        self._folder = folder
        self._pick = random.Random(f"reopenings {seed}")
        folds = self._pick.choice((None, None, 2_000))
        self._options = {"durability": "none", "fold_after": folds, **options}
        self._moves = 0
        self.reopened = 0

    def open(self, rules: Any = None) -> DurableReasoner:
        """The reasoner in the folder."""
        return lf.Reasoner.open(self._place, rules, **self._options)

    @property
    def _place(self) -> Path:
        return self._folder / str(self._moves)

    def again(self, reasoner: lf.Reasoner) -> lf.Reasoner:
        """The same reasoner, or what another process finds of it."""
        assert isinstance(reasoner, DurableReasoner)
        if self._pick.random() > SHARE:
            return reasoner
        if self._pick.random() < 0.5:
            self._checkpoint(reasoner)
        assert reasoner._checkpoints is not None
        reasoner._checkpoints.wait()
        seq, rules = reasoner.seq, [rule.id for rule in reasoner.rules]
        if self._pick.random() < 0.5:
            place = self._place
            self._moves += 1
            shutil.copytree(place, self._place)
        else:
            reasoner.close()
        self.reopened += 1
        found = self.open()
        assert (found.seq, [rule.id for rule in found.rules]) == (seq, rules)
        assert found.now == reasoner.now
        return found

    def _checkpoint(self, reasoner: DurableReasoner) -> None:
        """The next version of the folder says what a folder says that is written anew."""
        reasoner.checkpoint()
        copy = self._folder / f"copy {reasoner.seq} {self._moves} {self._pick.random()}"
        reasoner.checkpoint(copy)
        found, expected = content(self._place), content(copy)
        for part in expected:
            more, fewer = found[part] - expected[part], expected[part] - found[part]
            assert not more | fewer, f"{part}: too many {more}, too few {fewer}"


def content(folder: Path) -> dict[str, set[Any]]:
    """What the tables of a folder say, whatever the order in which it was written."""
    base = KnowledgeBase(folder)
    commit = base.last()
    terms = base.read(TERMS, commit)
    texts = dict(zip(terms["id"].to_pylist(), terms["text"].to_pylist(), strict=True))
    assert len(texts) == len(terms), "every term is there once"
    found = {row for each in _facts(base, commit) for row in _rows(each, texts)}
    quads = {tuple(texts.get(id, "") for id in quad) for quad in quads_at(base, commit).tolist()}
    rules = {(rule.id, rule.key()) for rule in stored_program(base, commit).rules}
    derived = sum(not is_told for _, is_told in found)
    assert derived == commit.notes[DERIVED]
    return {"facts": found, "quads": quads, "rules": rules}


def _facts(base: KnowledgeBase, commit: Commit) -> list[CountedRows]:
    buckets = bucket_files(base, commit, int(base.settings["buckets"]))
    triples = [columns_of(bucket.read_facts()) for bucket in buckets]
    files = (base.files(name, commit) for name in (PREDICATES_TABLE, PREDICATE_CHANGES))
    others = predicate_rows.summed(predicate_rows.by_shape(predicate_rows.read_files(*files)))
    return [CountedRows(np.stack(t[:3], axis=1), t.support, t.asserted) for t in triples] + others


def _rows(rows: CountedRows, texts: Mapping[int, str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Facts, each of them asserted or derived."""
    for fact, support, told in zip(rows.facts.tolist(), rows.support, rows.told, strict=True):
        assert (support, told) in ((0, 1), (1, 0))
        yield tuple(texts[id] for id in fact), bool(told)
