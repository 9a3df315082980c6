"""Unsaved changes: which facts have changed since the last version of a folder's tables.

Every change leaves the ids of the facts that it touched, and what it did to them.  How these facts
stand now is asked when the next version is captured; how they stood before follows from both.  So
the next version costs what has changed, unless that is a large part of all facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import IN_DEFAULT, TRIPLES, IdDelta, Ids
from livefacts.kb.compaction import FOLD_PART
from livefacts.store.facts.named_graphs import NamedGraphs

QUADS = -1
DEFAULT = -1
"""The default graph, where others have the number of their name."""
Signs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Quad = tuple[int, ...]
NO_NAMES = np.zeros(0, np.int32)


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


class _Touched(NamedTuple):
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


class UnsavedChanges:
    """What has changed since a version; or that so much has that all is to be written anew."""

    def __init__(self, *, is_whole: bool = False) -> None:
        self.is_whole = is_whole
        """Whether the next version has to be written as a whole."""
        self._parts: dict[int, list[Ids]] = {}
        self._signs: dict[int, list[tuple[int, int, int]]] = {}
        self.size = 0

    def take(self, ids: IdDelta, net: NetAssertions, facts: int) -> None:
        """A change was made; there are so many facts now."""
        if self.is_whole:
            return
        for part, sign in ((ids.added, 1), (ids.removed, -1)):
            for shape, rows in part.items():
                self._note(shape, rows, sign, 0)
        if self.is_much(facts):
            self.lose()
            return
        for told, sign in ((net.asserted, 1), (net.retracted, -1)):
            for shape, rows in told.items():
                self._note(shape, rows, 0, sign)
        for quads, sign in ((net.came, 1), (net.went, -1)):
            self._note(QUADS, quads, 0, sign)
            self._note(TRIPLES, quads[:, :3], 0, 0)

    def _note(self, shape: int, rows: Ids, true: int, told: int) -> None:
        if len(rows):
            self._parts.setdefault(shape, []).append(rows)
            self._signs.setdefault(shape, []).append((len(rows), true, told))
            self.size += len(rows)

    def is_much(self, facts: int, before: int = 0) -> bool:
        """Whether these and so many changes before are a large part of so many facts."""
        return (self.size + before) * FOLD_PART > facts

    def lose(self) -> None:
        """It is not known any more what has changed."""
        self._begin()
        self.is_whole = True

    def _begin(self) -> None:
        self._parts, self._signs, self.size = {}, {}, 0

    def held_ids(self) -> Iterator[Ids]:
        """The ids of all facts that have changed."""
        for parts in self._parts.values():
            yield from parts

    def begin_next(
        self, standing: Callable[[int, Ids], Ids], graphs: NamedGraphs, *, derived: bool
    ) -> TouchedFacts | None:
        """What has changed, and how that stands now; what comes from now on is noted anew.

        None where all is to be written.
        """
        touched = {shape: self._touched(shape) for shape in self._parts}
        is_whole, self.is_whole = self.is_whole, False
        self._begin()
        if is_whole:
            return None
        quads = touched.pop(QUADS, None)
        flags = {shape: standing(shape, each.facts) for shape, each in touched.items()}
        triples = touched[TRIPLES].facts if TRIPLES in touched else np.zeros((0, 3), np.int32)
        named = graphs.of(np.unique(triples, axis=0)) if len(graphs) else np.zeros((0, 4), np.int32)
        return TouchedFacts(touched, flags, quads, named, derived)

    def _touched(self, shape: int) -> _Touched:
        counts, true, told = np.array(self._signs[shape], np.int64).T
        facts = np.concatenate(self._parts[shape])
        return _Touched(facts, np.repeat(true, counts), np.repeat(told, counts))


@dataclass(frozen=True, slots=True)
class TouchedFacts:
    """Facts that changes have touched by shape, and how they stand; named graphs apart."""

    touched: Mapping[int, _Touched]
    flags: Mapping[int, Ids]
    quads: _Touched | None
    named: Ids
    """The quads that there are of these triples."""
    derived: bool
    """Whether conclusions are kept, and not only what is asserted."""
    own: Ids = field(default_factory=lambda: NO_NAMES)
    """Predicates that are an engine's own: their facts are left out."""

    def names(self) -> Ids:
        """The predicates of these facts."""
        facts = [each.facts for shape, each in self.touched.items() if shape != TRIPLES]
        return np.unique(np.concatenate([NO_NAMES, *(each[:, 0] for each in facts)]))

    def net(self) -> ChangedFacts:
        """What differs from the version before."""
        after = set(map(tuple, self.named.tolist()))
        before = self._before(after)
        named = {quad[:3] for quad in before}, {quad[:3] for quad in after}
        signed, shared = {}, (frozenset[Quad](), frozenset[Quad]())
        for shape, touched in self.touched.items():
            net = _Net.of(touched, self.flags[shape], named if shape == TRIPLES else None)
            changes = net.changes(derived=self.derived)
            if shape == TRIPLES:
                shared = net.shared(named)
            else:
                changes = changes.chosen(~np.isin(changes.facts[:, 0], self.own))
            if len(changes.signs):
                signed[shape] = changes
        old, new = (quads | each for quads, each in zip((before, after), shared, strict=True))
        return ChangedFacts(signed, _quads(new - old), _quads(old - new))

    def _before(self, after: set[Quad]) -> set[Quad]:
        """The quads that there were of the same triples."""
        found = set(after)
        if self.quads is not None:
            quads, places = np.unique(self.quads.facts, axis=0, return_inverse=True)
            sums = _sums(self.quads.told, places, len(quads))
            found -= set(map(tuple, quads[sums > 0].tolist()))
            found |= set(map(tuple, quads[sums < 0].tolist()))
        return found


class _Net(NamedTuple):
    """Facts, each once, and how they stood before and stand now: true, and asserted by whom."""

    facts: Ids
    true: tuple[Flags, Flags]
    default: tuple[Flags, Flags]
    told: tuple[Flags, Flags]

    @classmethod
    def of(cls, touched: _Touched, flags: Ids, named: tuple[set[Quad], set[Quad]] | None) -> _Net:
        facts, first, places = np.unique(
            touched.facts, axis=0, return_index=True, return_inverse=True
        )
        holds, default = flags[first] != 0, flags[first] & IN_DEFAULT != 0
        held = _undone(holds, _sums(touched.true, places, len(facts)))
        had = _undone(default, _sums(touched.told, places, len(facts)))
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


def _sums(signs: Signs, places: NDArray[np.intp], count: int) -> Signs:
    return np.bincount(places.reshape(-1), signs, count).astype(np.int64)


def _undone(flags: Flags, sums: Signs) -> Flags:
    """How facts stood before changes that come to these sums."""
    before = flags.astype(np.int64) - sums
    assert ((before == 0) | (before == 1)).all(), "what becomes true or asserted was not"
    return before > 0


def _difference(pair: tuple[Flags, Flags]) -> Signs:
    before, after = pair
    return after.astype(np.int64) - before.astype(np.int64)


def _are_among(facts: Ids, triples: set[Quad]) -> Flags:
    return np.array([fact in triples for fact in map(tuple, facts.tolist())], np.bool_)


def _quads(quads: set[Quad]) -> Ids:
    return np.array(sorted(quads), np.int32).reshape(-1, 4)
