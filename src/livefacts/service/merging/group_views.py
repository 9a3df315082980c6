"""Group views: two states with different groups, seen so that they can be compared.

Members that had the same stand-in before a change and have the same after it are alike in both
states.  Two of each such kind are enough to compare the states; what differs is then said of
all of the kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from livefacts.engine.contract import Flags, Ids
from livefacts.service.merging.expansion import Roles, StandIns
from livefacts.service.merging.group_steps import GroupStep, have_any
from livefacts.service.merging.groups import EqualGroup
from livefacts.store.facts.row_sets import rows_without


@dataclass(frozen=True, slots=True)
class Lens:
    """How members of changed groups are looked at: before, after, and as kinds."""

    terms: Ids
    before: Roles
    after: Roles
    kinds: Roles

    def concerned(self, rows: Ids) -> Flags:
        """Which rows speak of members of groups that have changed."""
        return have_any(rows, self.terms)

    def difference(
        self, before: Ids, gone: Ids, come: Ids, *, are_triples: bool
    ) -> tuple[Ids, Ids]:
        """What came and what went, of rows about changed groups: those there were, and their change."""
        after = np.concatenate([rows_without(before, gone), come])
        old = self.before.expanded(before, are_triples=are_triples)
        new = self.after.expanded(after, are_triples=are_triples)
        came, went = rows_without(new, old), rows_without(old, new)
        return (
            self.kinds.expanded(came, are_triples=are_triples),
            self.kinds.expanded(went, are_triples=are_triples),
        )


def changed_terms(step: GroupStep, plain: Mapping[int, EqualGroup]) -> tuple[Ids, Ids]:
    """The plain members of groups that change, and those of them that facts may speak of now."""
    members = {term for group in step.gone + step.come for term in group.plain}
    spoken = {term for group in step.gone for term in group.stand_ins}
    spoken |= {term for term in members if term not in plain}
    return _ids(members), _ids(spoken)


def lens_of(step: GroupStep, present: set[int]) -> Lens:
    """The view in which the states before and after a step can be compared;
    `present` are terms that facts spoke of before."""
    old = {term: group.plain[0] for group in step.gone for term in group.plain}
    new = {term: group.plain[0] for group in step.come for term in group.plain}
    kinds: dict[tuple[int, int], list[int]] = {}
    for term in sorted(old.keys() | new.keys()):
        was = old.get(term, term if term in present else ABSENT)
        kinds.setdefault((was, new.get(term, ~term)), []).append(term)
    seen = {term for members in kinds.values() for term in members[:2]}
    return Lens(
        _ids(old.keys() | new.keys()),
        Roles(_narrowed(group, seen) for group in step.gone),
        Roles(_narrowed(group, seen) for group in step.come),
        Roles(
            StandIns(members[0], members[1], _ids(members))
            for members in kinds.values()
            if len(members) > 2
        ),
    )


ABSENT = -1


def _narrowed(group: EqualGroup, seen: set[int]) -> StandIns:
    return StandIns(*group.stand_ins, _ids(term for term in group.plain if term in seen))


def _ids(terms: object) -> Ids:
    return np.array(sorted(terms), np.int32)  # type: ignore[call-overload]
