"""Saving: a reasoner opened from a folder, and written back to it as the next version."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from livefacts.errors import LivefactsError
from livefacts.service.change.assertions import distinct
from livefacts.service.change.intake import Intake
from livefacts.service.merging.equality import RULES, with_equality
from livefacts.store.facts.layout import IN_DEFAULT
from livefacts.store.facts.row_store import TRIPLES

if TYPE_CHECKING:
    from livefacts.kb.checkpoint import SavedState
    from livefacts.kb.tables import KnowledgeBase
    from livefacts.service.reasoner.reasoner import Reasoner

SAME_AS = "same as"
"""What a commit notes of how equality is treated."""


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """The folder that a reasoner was opened from, and the version that it goes on from."""

    base: KnowledgeBase
    seq: int


def opened(
    kind: type[Reasoner], path: str | os.PathLike[str], same_as: str | None = None
) -> Reasoner:
    """A reasoner with the rules and the told facts of a knowledge base.

    Equality is treated as it was by the one that was kept, unless `same_as` says otherwise.
    """
    from livefacts.kb.checkpoint import read_base
    from livefacts.kb.tables import KnowledgeBase

    base = KnowledgeBase(path)
    reasoner = kind(same_as=same_as or base.last().notes.get(SAME_AS, RULES))
    stored = read_base(base, reasoner._dictionary)
    intake = Intake(reasoner._dictionary)
    intake.take_program(with_equality(stored.program, reasoner._same_as))
    intake.take_rows(stored.facts, stored.quads)
    reasoner._take(intake)
    # Labels of blank nodes that come later must not be those that are there already.
    reasoner._scopes = (f"{stored.commit.seq}r{number}" for number in count(1))
    reasoner._seq = stored.commit.seq
    reasoner._base = OpenFolder(base, stored.commit.seq)
    return reasoner


def written(reasoner: Reasoner, path: str | os.PathLike[str] | None) -> int:
    """Write a reasoner's facts as the next version of its folder, or into a new one."""
    from livefacts.kb.checkpoint import write_base

    kept = reasoner._base if path is None else _new_base(path)
    if kept is None:
        raise LivefactsError(
            "this reasoner was not opened from a folder",
            hint="Reasoner.open(path), or checkpoint(path) to make one",
        )
    with kept.base.writing(new=True) as start:
        kept.base.create({"buckets": 2 * (os.cpu_count() or 1)})
        if start.seq != kept.seq:
            raise LivefactsError(
                f"version {start.seq} of {kept.base.path} was written since version {kept.seq} "
                "was opened",
                hint="open it again, and make the changes there",
            )
        commit = write_base(kept.base, start, reasoner._dictionary, _state(reasoner))
    reasoner._base = OpenFolder(kept.base, commit.seq)
    return commit.seq


def _new_base(path: str | os.PathLike[str]) -> OpenFolder:
    """A folder that is no knowledge base yet."""
    from livefacts.kb.tables import KnowledgeBase

    base = KnowledgeBase(path)
    if base.last().seq:
        raise LivefactsError(
            f"{base.path} is a knowledge base already", hint="open it, and make the changes there"
        )
    return OpenFolder(base, 0)


def _state(reasoner: Reasoner) -> SavedState:
    """What a reasoner tells and concludes."""
    from livefacts.kb.checkpoint import SavedState

    none = {TRIPLES: np.zeros((0, 3), np.int32)}
    asserted = {**none, **reasoner._chosen(False)}
    derived = {**none, **reasoner._chosen(True)}
    quads = reasoner._graphs.quads()
    triples = distinct(quads[:, :3])
    in_default = reasoner._truth.standing(TRIPLES, triples) & IN_DEFAULT != 0
    notes = {SAME_AS: reasoner._same_as}
    return SavedState(reasoner._program, asserted, derived, quads, triples[in_default], notes)
