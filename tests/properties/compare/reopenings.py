"""Reopenings: a reasoner in a folder, which ends at random points and is opened again.

It is closed, or its process is killed, which is what a copy of the folder at that moment shows;
sometimes the journal is folded into the tables before, and sometimes by itself all the time.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import livefacts as lf
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
        if self._pick.random() < 0.3:
            reasoner.checkpoint()
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
