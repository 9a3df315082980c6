"""Group steps: a change of assertions, as a change of what the engine is given.

Equalities come and go, and with them groups.  Where a term has another stand-in than before, what
was asserted of it is given to the engine of the new one; all else is given as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from livefacts.engine.contract import (
    IN_DEFAULT,
    NO_TRIPLES,
    TRIPLES,
    Change,
    Engine,
    Facts,
    Flags,
    Ids,
)
from livefacts.service.merging.equality_support import Pair, Support
from livefacts.service.merging.groups import (
    ELSEWHERE,
    HERE,
    RETRACTED,
    EqualGroup,
    Groups,
    stand_in,
)
from livefacts.service.merging.indistinguishability import Plainness, asserted_of
from livefacts.service.merging.member_assertions import MemberAssertions, Row, image, is_special

AFTER = {
    "retracted": (RETRACTED, ELSEWHERE, RETRACTED),
    "unmarked": (RETRACTED, ELSEWHERE, ELSEWHERE),
    "unnamed": (RETRACTED, RETRACTED, HERE),
    "facts": (HERE, HERE, HERE),
    "others": (ELSEWHERE, ELSEWHERE, HERE),
}
"""The parts of a change in their order, and how a fact is asserted after each of them."""
FEW = 1000
"""Up to so many rows are looked at one by one."""
Plain = Mapping[int, EqualGroup]


@dataclass(slots=True)
class GroupStep:
    """A change on its way: what becomes of groups and assertions, and what the engine is given."""

    change: Change
    gone: list[EqualGroup] = field(default_factory=list)
    come: list[EqualGroup] = field(default_factory=list)
    before: dict[Pair, int] = field(default_factory=dict)
    """How equalities were asserted."""
    lost: Mapping[Pair, Support] = field(default_factory=dict)
    """Equalities whose proofs go."""
    found: Mapping[Pair, Support] = field(default_factory=dict)
    """Equalities that are proven."""
    plain: Plain = field(default_factory=dict)
    """The groups of plain members afterwards."""
    forgotten: list[Row] = field(default_factory=list)
    remembered: dict[Row, int] = field(default_factory=dict)
    counts: dict[Row, int] = field(default_factory=dict)
    new: set[Row] = field(default_factory=set)
    """Facts that are asserted now and were not, of those that the engine is not given as they are."""


class _After(Mapping[int, EqualGroup]):
    """The groups of plain members after a step."""

    def __init__(self, before: Plain, step: GroupStep) -> None:
        self._before = before
        self._gone = {term for group in step.gone for term in group.plain}
        self._come = {term: group for group in step.come for term in group.plain}

    def __getitem__(self, term: int) -> EqualGroup:
        found = self._come.get(term)
        if found is not None:
            return found
        if term in self._gone:
            raise KeyError(term)
        return self._before[term]

    def __contains__(self, term: object) -> bool:
        return term in self._come or (term in self._before and term not in self._gone)

    def __iter__(self) -> Iterator[int]:
        yield from self._come
        yield from (t for t in self._before if t not in self._gone and t not in self._come)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Stepping:
    """Makes steps of changes."""

    def __init__(self, engine: Engine, groups: Groups, assertions: MemberAssertions) -> None:
        self._engine = engine
        self._groups = groups
        self._assertions = assertions
        self.plainness = Plainness(engine)
        self.is_active = False
        """Whether the rules of equality are there."""
        self.doubted: set[int] = set()
        """Terms whose groups are to be looked at again."""

    # groups

    def step(
        self, change: Change, lost: Mapping[Pair, Support], found: Mapping[Pair, Support]
    ) -> GroupStep:
        """What a change means; equalities are known by then, groups not yet changed.

        Proofs of equalities are lost with the change, and others are found.
        """
        rows, rest = self._taken(change, lambda ids: _equates(ids, self.plainness.same_as))
        states = _states(rows, lambda row: self._groups.asserted.get((row[0], row[2]), RETRACTED))
        pairs = {(x, y): state for (x, _, y), state in states.items()}
        step = GroupStep(rest, before=self._groups.tell(pairs), lost=lost, found=found)
        self._groups.prove(lost, found)
        try:
            self._regroup(step, pairs, change)
            step.plain = self._plain_after(step)
            self._retell(step, step.plain)
            self._relink(step, pairs)
        except BaseException:
            self.leave(step)
            raise
        return step

    def leave(self, step: GroupStep) -> None:
        """What is the same is what it was before the step."""
        self._groups.prove(step.found, step.lost)
        self._groups.tell(step.before)

    def _regroup(self, step: GroupStep, pairs: Mapping[Pair, int], change: Change) -> None:
        """Which groups go, and which come instead."""
        moved = [pair for pair, state in pairs.items() if bool(state) != bool(step.before[pair])]
        self._doubt(change)
        starts = {term for pair in (*moved, *step.lost, *step.found) for term in pair}
        starts |= self.doubted
        if not starts:
            return
        components = list(self._groups.connected(starts))
        terms = [term for members in components for term in members]
        asked = [term for term in terms if term not in self._groups.plain or term in self.doubted]
        plain = self.plainness.plain(asked, change) if self.is_active else set()
        if self.is_active:
            plain |= {term for term in terms if term in self._groups.plain} - self.doubted
        gone = dict.fromkeys(self._groups.of[term] for term in terms if term in self._groups.of)
        come = [self._groups.grouped(m, plain.intersection(m)) for m in components]
        same = {frozenset(g.plain): g for g in gone}
        for group in come:
            if group is None:
                continue
            old = same.get(frozenset(group.plain))
            if old is not None and old.others == group.others and old.stand_ins == group.stand_ins:
                del gone[old]
            else:
                step.come.append(group)
        step.gone = list(gone)

    def _doubt(self, change: Change) -> None:
        """Members that a change speaks of so that they must stay themselves."""
        if not self._groups.plain:
            return
        for ids in asserted_of(change, self.plainness.same_as):
            found = [term for term in np.unique(ids).tolist() if term in self._groups.plain]
            self.plainness.known.update(found)
            self.doubted.update(found)

    def _plain_after(self, step: GroupStep) -> Plain:
        if not step.gone and not step.come:
            return self._groups.plain
        return _After(self._groups.plain, step)

    # what is asserted of members

    def _retell(self, step: GroupStep, after: Plain) -> None:
        """Give the engine of the new stand-ins what it was given of the old ones."""
        before = self._groups.plain
        if not before and not after:
            return
        changed = [term for group in step.gone + step.come for term in group.plain]
        moved = {
            term
            for term in changed
            if (term in before) != (term in after)
            or stand_in(term, before) != stand_in(term, after)
        }
        known = {row: self._assertions.states[row] for row in self._assertions.of(moved)}
        known |= self._asserted_in_store({term for term in moved if term not in before})
        parts, step.change = self._taken(
            step.change, lambda ids: _mentions(ids, before) | _mentions(ids, after)
        )
        states = dict(known)
        old = self._assertions.states
        states |= _states(parts, lambda row: known.get(row, old.get(row, RETRACTED)))
        self._assert(
            step, states, {row: known.get(row, old.get(row, RETRACTED)) for row in states}, after
        )

    def _assert(
        self, step: GroupStep, states: Mapping[Row, int], known: Mapping[Row, int], after: Plain
    ) -> None:
        """Work out what the engine is given, from how facts were asserted and are asserted."""
        before = self._groups.plain
        asserted: dict[Row, int] = {}
        tell: dict[Row, int] = {}
        counts: Counter[Row] = Counter()
        for row, state in known.items():
            if state and is_special(row, before):
                counts[image(row, before)] -= 1
                step.forgotten.append(row)
            elif state:
                asserted[row] = state
        for row, state in states.items():
            if state and is_special(row, after):
                counts[image(row, after)] += 1
                step.remembered[row] = state
            elif state:
                tell[row] = state
        for row, more in counts.items():
            count = self._assertions.counts.get(row, 0)
            step.counts[row] = count + more
            if count:
                asserted[row] = HERE
            if count + more:
                tell[row] = HERE
        step.new |= {row for row, state in states.items() if state and not known[row]}
        step.change = _emitted(step.change, asserted, tell)

    def _asserted_in_store(self, terms: set[int]) -> dict[Row, int]:
        """What the engine was given of terms that come to be members."""
        if not terms:
            return {}
        rows = self._engine.rows(TRIPLES, derived=False)
        wanted = have_any(rows, np.array(sorted(terms), np.int32))
        wanted &= ~_equates(rows, self.plainness.same_as)
        wanted[wanted] = ~_mentions(rows[wanted], self._groups.plain)
        rows = rows[wanted]
        is_here = self._engine.standing(TRIPLES, rows) & IN_DEFAULT != 0
        states = np.where(is_here, HERE, ELSEWHERE).tolist()
        return dict(zip(map(_as_row, rows.tolist()), states, strict=True))

    # equalities

    def _relink(self, step: GroupStep, pairs: Mapping[Pair, int]) -> None:
        """Give the engine the equalities that hold groups together, instead of those asserted."""
        same = self.plainness.same_as
        gone = {term: group for group in step.gone for term in group.plain + group.others}
        come = {term: group for group in step.come for term in group.plain + group.others}
        touched = set(pairs) | set(self._groups.pairs_of(gone.keys() | come.keys()))
        asserted = {p: step.before.get(p, self._groups.asserted.get(p, RETRACTED)) for p in touched}
        old = {p: state for p, state in asserted.items() if state and p[0] not in self._groups.of}
        old |= {link: HERE for group in step.gone for link in group.links()}
        new = {
            p: state
            for p in touched
            if (state := self._groups.asserted.get(p, RETRACTED))
            and p[0] not in come
            and (p[0] in gone or p[0] not in self._groups.of)
        }
        new |= {link: HERE for group in step.come for link in group.links()}
        step.new |= {
            (x, same, y)
            for (x, y), state in asserted.items()
            if not state and (x, y) in self._groups.asserted
        }
        step.change = _emitted(
            step.change,
            {(x, same, y): state for (x, y), state in old.items()},
            {(x, same, y): state for (x, y), state in new.items()},
        )

    def _taken(
        self, change: Change, chosen: Callable[[Ids], Flags]
    ) -> tuple[dict[str, list[Row]], Change]:
        """The chosen triples of each part of a change, and the change without them."""
        rows: dict[str, list[Row]] = {}
        rest: dict[str, Facts] = {}
        for part in AFTER:
            facts: Facts = getattr(change, part)
            ids = facts.get(TRIPLES)
            if ids is None or not len(ids):
                continue
            is_chosen = chosen(ids)
            if is_chosen.any():
                rows[part] = list(map(_as_row, ids[is_chosen].tolist()))
                rest[part] = {**facts, TRIPLES: ids[~is_chosen]}
        return rows, replace(change, **rest) if rest else change  # type: ignore[arg-type]


def have_any(rows: Ids, terms: Ids) -> Flags:
    """Which rows speak of one of these terms."""
    found = np.zeros(len(rows), np.bool_)
    for column in range(rows.shape[1]):
        found |= np.isin(rows[:, column], terms)
    return found


def _as_row(cells: list[int]) -> Row:
    return cells[0], cells[1], cells[2]


def _equates(rows: Ids, same_as: int) -> Flags:
    """Which triples say that two things are the same."""
    found: Flags = (rows[:, 1] == same_as) & (rows[:, 0] != rows[:, 2])
    return found


def _mentions(rows: Ids, plain: Plain) -> Flags:
    """Which triples speak of plain members."""
    if not plain:
        return np.zeros(len(rows), np.bool_)
    if len(rows) <= FEW:
        return np.array([is_special(_as_row(row), plain) for row in rows.tolist()], np.bool_)
    members = np.fromiter(plain, np.int32, len(plain))
    return have_any(rows, members)


def _states(parts: Mapping[str, Iterable[Row]], before: Callable[[Row], int]) -> dict[Row, int]:
    """How triples are asserted after a change."""
    states: dict[Row, int] = {}
    for part, after in AFTER.items():
        for row in parts.get(part, ()):
            states[row] = after[states[row] if row in states else before(row)]
    return states


def _emitted(change: Change, asserted: Mapping[Row, int], tell: Mapping[Row, int]) -> Change:
    """The change, and what makes triples asserted as they are to be."""
    parts: dict[str, list[Row]] = {}
    for row in asserted.keys() | tell.keys():
        before, after = asserted.get(row, RETRACTED), tell.get(row, RETRACTED)
        if before != after:
            for part in MOVES[before, after]:
                parts.setdefault(part, []).append(row)
    more: dict[str, Facts] = {}
    for part, rows in parts.items():
        facts: Facts = getattr(change, part)
        ids = np.array(sorted(rows), np.int32)
        more[part] = {**facts, TRIPLES: np.concatenate([facts.get(TRIPLES, NO_TRIPLES), ids])}
    return replace(change, **more) if more else change  # type: ignore[arg-type]


MOVES = {
    (RETRACTED, ELSEWHERE): ("others",),
    (RETRACTED, HERE): ("facts",),
    (ELSEWHERE, RETRACTED): ("unnamed",),
    (ELSEWHERE, HERE): ("facts",),
    (HERE, RETRACTED): ("retracted",),
    (HERE, ELSEWHERE): ("unmarked",),
}
"""By which part of a change a fact comes to be asserted as it is to be."""
