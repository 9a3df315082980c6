"""Keeping: a reasoner opened from the folder of a Spark pipeline, and written back to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.errors import LivefactsError
from livefacts.service.intake import Intake
from livefacts.store.rows import TRIPLES

if TYPE_CHECKING:
    from livefacts.engine.spark.tables import KnowledgeBase
    from livefacts.service.reasoner import Reasoner


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder that a reasoner was opened from, and the version that it goes on from."""

    base: KnowledgeBase
    seq: int


def opened(kind: type[Reasoner], path: str | os.PathLike[str]) -> Reasoner:
    """A reasoner with the rules and the told facts of a knowledge base."""
    from livefacts.engine.spark.checkpoint import read_base
    from livefacts.engine.spark.session import require_extra
    from livefacts.engine.spark.tables import KnowledgeBase

    require_extra()
    reasoner = kind()
    base = KnowledgeBase(path)
    stored = read_base(base, reasoner._dictionary)
    intake = Intake(reasoner._dictionary)
    intake.take_program(stored.program)
    intake.take_rows(stored.facts, np.zeros((0, 4), np.int32))
    reasoner._take(intake)
    reasoner._seq = stored.commit.seq
    reasoner._base = Kept(base, stored.commit.seq)
    return reasoner


def written(reasoner: Reasoner) -> int:
    """Write a reasoner's facts as the next version of the folder that it was opened from."""
    from livefacts.engine.spark.checkpoint import write_base

    kept = reasoner._base
    if kept is None:
        raise LivefactsError(
            "this reasoner was not opened from a folder", hint="Reasoner.open(path)"
        )
    with kept.base.writing() as start:
        if start.seq != kept.seq:
            raise LivefactsError(
                f"version {start.seq} of {kept.base.path} was written since version {kept.seq} "
                "was opened",
                hint="open it again, and make the changes there",
            )
        told, derived = (_visible(reasoner, flag) for flag in (False, True))
        program = reasoner._program
        commit = write_base(kept.base, start, program, reasoner._dictionary, told, derived)
    reasoner._base = Kept(kept.base, commit.seq)
    return commit.seq


def _visible(reasoner: Reasoner, derived: bool) -> Mapping[int, Ids]:
    """Told or derived facts; of hidden predicates none, which every closing makes again."""
    facts = dict(reasoner._chosen(derived))
    shown = reasoner._reader.shown({s: ids for s, ids in facts.items() if s != TRIPLES})
    triples = facts.get(TRIPLES, np.zeros((0, 3), np.int32))
    return {**shown, TRIPLES: triples}
