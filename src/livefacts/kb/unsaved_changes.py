"""Unsaved changes: which facts have changed since the last version of a folder's tables.

Every change leaves the ids of the facts that it touched, and what it did to them.  How these facts
stand now is asked when the next version is captured; how they stood before follows from both.  So
the next version costs what has changed, unless that is a large part of all facts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import ASSERTED, IN_DEFAULT, TRIPLES, IdDelta, Ids
from livefacts.kb.compaction import FOLD_PART
from livefacts.store.facts.row_sets import distinct_rows, rows_among
from livefacts.store.terms.id_reader import TermReader

QUADS = -1
DEFAULT = -1
"""The default graph, where others have the number of their name."""
Signs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Quad = tuple[int, ...]
WIDTHS = {TRIPLES: 3, QUADS: 4}
OWN = ":"
"""What is in the names of predicates that no rule text can write, and in no others."""
NO_IDS = np.zeros(0, np.int32)
NO_SIGNS = np.zeros(0, np.int64)
NO_TRIPLES = np.zeros((0, 3), np.int32)
NO_QUADS = np.zeros((0, 4), np.int32)


class NetAssertions(Protocol):
    """What the default graph asserts and retracts by shape, and which quads come and go."""

    @property
    def asserted(self) -> Mapping[int, Ids]: ...
    @property
    def retracted(self) -> Mapping[int, Ids]: ...
    @property
    def came(self) -> Ids: ...
    @property
    def went(self) -> Ids: ...


class Touched(NamedTuple):
    """Facts, how often each became true and ended, and how often it was asserted and retracted."""

    facts: Ids
    true: Signs
    told: Signs


class NetChange(NamedTuple):
    """Facts of one shape, how their support and assertion change, and what becomes of them."""

    facts: Ids
    support: Signs
    told: Signs
    signs: Signs

    def chosen(self, flags: Flags) -> NetChange:
        others = (column[flags] for column in (self.support, self.told, self.signs))
        return NetChange(self.facts[flags], *others)


@dataclass(frozen=True, slots=True)
class ChangedFacts:
    """The facts that have changed by shape, with their signs, and which graphs assert them.

    Quads begin and cease to be noted; those of the default graph have `DEFAULT` for a graph.
    """

    signed: Mapping[int, NetChange]
    begins: Ids
    ceases: Ids

    @property
    def ids(self) -> list[Ids]:
        """All ids."""
        quads = [quads[quads >= 0] for quads in (self.begins, self.ceases)]
        return [*(each.facts for each in self.signed.values()), *quads]

    def __len__(self) -> int:
        return sum(len(each.signs) for each in self.signed.values())


class Look(NamedTuple):
    """Facts that changes have touched by shape, and how they stood when they were looked at."""

    touched: Mapping[int, Touched]
    flags: Mapping[int, Ids]
    named: Ids
    """The quads that there were of these triples."""


class Noted:
    """What changes did to facts, change by change, until somebody looks at it.

    Ids are put one behind the other at once: to put together those of many small changes would
    hold up every other thread.
    """

    def __init__(self) -> None:
        self._ids: dict[int, bytearray] = {}
        self._signs: dict[int, array[int]] = {}
        self.size = 0

    def add(self, shape: int, rows: Ids, true: int, told: int) -> None:
        """Facts of one shape, which all became true or ended, and were asserted or retracted."""
        if len(rows):
            self._ids.setdefault(shape, bytearray()).extend(rows.tobytes())
            self._signs.setdefault(shape, array("q")).extend((len(rows), true, told))
            self.size += len(rows)

    def ids(self) -> Iterator[Ids]:
        """The ids of these facts."""
        # What is looked at cannot grow, so others get a copy.
        return (np.frombuffer(bytes(ids), np.int32) for ids in self._ids.values())

    def touched(self) -> dict[int, Touched]:
        """All of it in columns, by shape; nothing can be added any more."""
        return {shape: self._touched(shape) for shape in self._ids}

    def _touched(self, shape: int) -> Touched:
        counts, true, told = np.frombuffer(self._signs[shape], np.int64).reshape(-1, 3).T
        facts = np.frombuffer(self._ids[shape], np.int32).reshape(-1, WIDTHS.get(shape, shape))
        return Touched(facts, np.repeat(true, counts), np.repeat(told, counts))


class UnsavedChanges:
    """What has changed since a version; or that so much has that all is to be written anew."""

    def __init__(self) -> None:
        self.is_whole = False
        """Whether the next version has to be written as a whole."""
        self._is_surveyed = False
        """Whether that is being captured: what changes meanwhile is noted, however much it is."""
        self._noted = Noted()

    @property
    def size(self) -> int:
        """How many facts are noted, each as often as it has changed."""
        return self._noted.size

    def take(self, ids: IdDelta, net: NetAssertions, facts: int) -> None:
        """A change was made; there are so many facts now."""
        if self.is_whole:
            return
        for part, sign in ((ids.added, 1), (ids.removed, -1)):
            for shape, rows in part.items():
                self._noted.add(shape, rows, sign, 0)
        if not self._is_surveyed and self.is_much(facts):
            self.lose()
            return
        for told, sign in ((net.asserted, 1), (net.retracted, -1)):
            for shape, rows in told.items():
                self._noted.add(shape, rows, 0, sign)
        for quads, sign in ((net.came, 1), (net.went, -1)):
            self._noted.add(QUADS, quads, 0, sign)
            self._noted.add(TRIPLES, quads[:, :3], 0, 0)

    def is_much(self, facts: int, before: int = 0) -> bool:
        """Whether these and so many changes before are a large part of so many facts."""
        return (self.size + before) * FOLD_PART > facts

    def lose(self) -> None:
        """It is not known any more what has changed."""
        self._noted = Noted()
        self.is_whole, self._is_surveyed = True, False

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts that have changed, and may be written."""
        return self._noted.ids()

    def turn_over(self, *, surveyed: bool) -> Noted:
        """What has changed; what comes from now on is noted anew, and may be `surveyed`, too."""
        noted, self._noted = self._noted, Noted()
        self.is_whole, self._is_surveyed = False, surveyed
        return noted


@dataclass(frozen=True, slots=True)
class WholeFacts:
    """All facts, asserted and derived, and which graphs assert triples.

    `quads` are triples that named graphs assert, each with its graph; `shared` are those of
    them that the default graph asserts, too.
    """

    told: Mapping[int, Ids]
    derived: Mapping[int, Ids]
    quads: Ids
    shared: Ids

    @property
    def ids(self) -> list[Ids]:
        """All ids."""
        return [*self.told.values(), *self.derived.values(), self.quads]


@dataclass(frozen=True, slots=True)
class TouchedFacts:
    """Facts that changes have touched, looked at again and again: the last look at each counts."""

    looks: Sequence[Look]
    derived: bool
    """Whether conclusions are kept, and not only what is asserted."""

    def last(self, shape: int) -> tuple[Touched, Ids]:
        """All looks at the facts of a shape, one after the other, and how these stood."""
        looks = [look for look in self.looks if shape in look.touched]
        none = Touched(np.zeros((0, WIDTHS.get(shape, shape)), np.int32), NO_SIGNS, NO_SIGNS)
        parts = zip(none, *(look.touched[shape] for look in looks), strict=True)
        flags = [look.flags[shape] for look in looks if shape in look.flags]
        return Touched(*map(np.concatenate, parts)), np.concatenate([NO_IDS, *flags])

    def shapes(self) -> set[int]:
        """The shapes of these facts."""
        return {shape for look in self.looks for shape in look.touched} - {QUADS}

    def quads(self, before: Ids = NO_QUADS) -> Ids:
        """What named graphs assert of these triples; of others, what they did `before`."""
        for look in self.looks:
            if TRIPLES in look.touched:
                before = before[~rows_among(before[:, :3], look.touched[TRIPLES].facts)]
            before = np.concatenate([before, look.named])
        return before

    def net(self, terms: TermReader) -> ChangedFacts:
        """What differs from the version before."""
        after = set(map(tuple, self.quads().tolist()))
        before = self._before(after)
        named = {quad[:3] for quad in before}, {quad[:3] for quad in after}
        signed, shared = {}, (frozenset[Quad](), frozenset[Quad]())
        for shape in self.shapes():
            net = _Net.of(*self.last(shape), named if shape == TRIPLES else None)
            changes = net.changes(derived=self.derived)
            if shape == TRIPLES:
                shared = net.shared(named)
            else:
                changes = changes.chosen(~own(changes.facts, terms))
            if len(changes.signs):
                signed[shape] = changes
        old, new = (quads | each for quads, each in zip((before, after), shared, strict=True))
        return ChangedFacts(signed, _quads(new - old), _quads(old - new))

    def _before(self, after: set[Quad]) -> set[Quad]:
        """The quads that there were of the same triples."""
        found = set(after)
        touched, _ = self.last(QUADS)
        if len(touched.facts):
            quads = distinct_rows(touched.facts)
            sums = quads.sums(touched.told)
            found -= set(map(tuple, quads.rows[sums > 0].tolist()))
            found |= set(map(tuple, quads.rows[sums < 0].tolist()))
        return found


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """All facts, looked at piece by piece, and those that changes have touched meanwhile."""

    pieces: Mapping[int, Sequence[tuple[Ids, Ids]]]
    """Facts and how they stood, by shape."""
    quads: Sequence[Ids]
    touched: TouchedFacts
    counts: Mapping[int, int]
    """How many facts of each shape there were at the end."""

    def net(self, terms: TermReader) -> WholeFacts:
        """All of them as they stood at the end."""
        told, derived, default = {}, {}, NO_TRIPLES
        quads = self.touched.quads(np.concatenate([NO_QUADS, *self.quads]))
        for shape in {TRIPLES} | self.pieces.keys() | self.touched.shapes():
            facts, flags = self._standing(shape)
            assert len(facts) == self.counts.get(shape, 0), "no fact is missed, none is there twice"
            if shape == TRIPLES:
                default = facts[flags & IN_DEFAULT != 0] if len(quads) else NO_TRIPLES
            else:
                is_other = ~own(facts, terms)
                facts, flags = facts[is_other], flags[is_other]
            told[shape] = facts[flags & ASSERTED != 0]
            derived[shape] = facts[flags & ASSERTED == 0][: None if self.touched.derived else 0]
        triples = distinct_rows(quads[:, :3]).rows
        return WholeFacts(told, derived, quads, triples[rows_among(triples, default)])

    def _standing(self, shape: int) -> tuple[Ids, Ids]:
        """The facts of a shape, each once, and how they stood at the end."""
        touched, flags = self.touched.last(shape)
        found = distinct_rows(touched.facts)
        latest = flags[found.last()]
        holds = latest != 0
        pieces = self.pieces.get(shape, ())
        facts = np.concatenate([touched.facts[:0], *(rows for rows, _ in pieces)])
        stood = np.concatenate([NO_IDS, *(bits for _, bits in pieces)])
        is_same = ~rows_among(facts, found.rows)
        return (
            np.concatenate([facts[is_same], found.rows[holds]]),
            np.concatenate([stood[is_same], latest[holds]]),
        )


def own(facts: Ids, terms: TermReader) -> Flags:
    """Which facts of predicates are an engine's own, which it will find again."""
    names = np.sort(facts[:, 0])
    names = names[np.flatnonzero(np.diff(names, prepend=-1))]
    are_own = [OWN in text for text in terms.texts(names)] if len(names) else []
    return np.isin(facts[:, 0], names[np.array(are_own, np.bool_)])


class _Net(NamedTuple):
    """Facts, each once, and how they stood before and stand now: true, and asserted by whom."""

    facts: Ids
    true: tuple[Flags, Flags]
    default: tuple[Flags, Flags]
    told: tuple[Flags, Flags]

    @classmethod
    def of(cls, touched: Touched, flags: Ids, named: tuple[set[Quad], set[Quad]] | None) -> _Net:
        found = distinct_rows(touched.facts)
        facts, latest = found.rows, flags[found.last()]
        holds, default = latest != 0, latest & IN_DEFAULT != 0
        held = _undone(holds, found.sums(touched.true))
        had = _undone(default, found.sums(touched.told))
        told = had, default
        if named is not None and (named[0] or named[1]):
            told = had | _are_among(facts, named[0]), default | _are_among(facts, named[1])
        return cls(facts, (held, holds), (had, default), told)

    def changes(self, *, derived: bool) -> NetChange:
        told = _difference(self.told)
        support, signs = np.zeros_like(told), told
        if derived:
            held, holds = self.true
            support = _difference((held & ~self.told[0], holds & ~self.told[1]))
            signs = _difference(self.true)
        found = NetChange(self.facts, support, told, signs)
        return found.chosen((support != 0) | (told != 0))

    def shared(self, named: tuple[set[Quad], set[Quad]]) -> tuple[frozenset[Quad], frozenset[Quad]]:
        """The triples that the default graph asserts beside named ones, before and now."""
        before, after = (
            frozenset(
                (*triple, DEFAULT)
                for triple in map(tuple, self.facts[flags].tolist())
                if triple in among
            )
            if among
            else frozenset[Quad]()
            for flags, among in zip(self.default, named, strict=True)
        )
        return before, after


def _undone(flags: Flags, sums: Signs) -> Flags:
    """How facts stood before changes that come to these sums."""
    before = flags.astype(np.int64) - sums
    assert ((before == 0) | (before == 1)).all(), "what becomes true or asserted was not"
    return before > 0


def _difference(pair: tuple[Flags, Flags]) -> Signs:
    before, after = pair
    return after.astype(np.int64) - before.astype(np.int64)


def _are_among(facts: Ids, triples: set[Quad]) -> Flags:
    return rows_among(facts, np.array(list(triples), np.int32).reshape(-1, 3))


def _quads(quads: set[Quad]) -> Ids:
    return np.array(sorted(quads), np.int32).reshape(-1, 4)
