"""The saved folder: a reasoner's state read from it, and written to it as the next version."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from livefacts.engine.contract import IN_DEFAULT, TRIPLES
from livefacts.errors import LivefactsError
from livefacts.service.change.assertions import distinct
from livefacts.service.merging.equality import RULES, with_equality
from livefacts.service.reasoner.draft import Draft
from livefacts.service.reasoner.state import State

if TYPE_CHECKING:
    from livefacts.kb.checkpoint import SavedState
    from livefacts.kb.tables import KnowledgeBase

SAME_AS = "same as"
"""What a commit notes of how equality is treated."""


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """The folder that a state was read from, and the version that it goes on from."""

    base: KnowledgeBase
    seq: int


class SavedFolder:
    """A knowledge base in a folder, to be read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from livefacts.kb.tables import KnowledgeBase

        self._base = KnowledgeBase(path)
        self.same_as: str = self._base.last().notes.get(SAME_AS, RULES)
        """How equality was treated by the reasoner that wrote it."""

    def read_into(self, state: State) -> None:
        """Give a new state the rules and the asserted facts of the last version."""
        from livefacts.kb.checkpoint import read_base

        stored = read_base(self._base, state.dictionary)
        draft = Draft(state)
        draft.intake.take_program(with_equality(stored.program, state.same_as))
        draft.intake.take_rows(stored.facts, stored.quads)
        draft.apply()
        # Labels of blank nodes that come later must not be those that are there already.
        state.scopes = (f"{stored.commit.seq}r{number}" for number in count(1))
        state.seq = stored.commit.seq
        state.folder = OpenFolder(self._base, stored.commit.seq)


def write_state(state: State, path: str | os.PathLike[str] | None) -> int:
    """Write a state as the next version of its folder, or into a new one; the version's number."""
    from livefacts.kb.checkpoint import write_base

    kept = state.folder if path is None else _new_folder(path)
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
        commit = write_base(kept.base, start, state.dictionary, _saved(state))
    state.folder = OpenFolder(kept.base, commit.seq)
    return commit.seq


def _new_folder(path: str | os.PathLike[str]) -> OpenFolder:
    """A folder that is no knowledge base yet."""
    from livefacts.kb.tables import KnowledgeBase

    base = KnowledgeBase(path)
    if base.last().seq:
        raise LivefactsError(
            f"{base.path} is a knowledge base already", hint="open it, and make the changes there"
        )
    return OpenFolder(base, 0)


def _saved(state: State) -> SavedState:
    """What a state asserts and derives."""
    from livefacts.kb.checkpoint import SavedState

    none = {TRIPLES: np.zeros((0, 3), np.int32)}
    asserted = {**none, **state.truth.asserted()}
    derived = {**none, **state.truth.derived()}
    quads = state.graphs.quads()
    triples = distinct(quads[:, :3])
    in_default = state.truth.standing(TRIPLES, triples) & IN_DEFAULT != 0
    notes = {SAME_AS: state.same_as}
    return SavedState(state.program, asserted, derived, quads, triples[in_default], notes)
