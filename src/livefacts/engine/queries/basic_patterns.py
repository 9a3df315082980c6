"""Basic graph patterns: triple patterns joined at once, and property paths around them.

What paths say about single triples becomes triple patterns.  Paths with a known end come first,
then all triple patterns together, then the other paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from livefacts.engine.queries.join_steps import COUNT, EXIST
from livefacts.engine.queries.path_search import HELD, Link, as_triples, links_of, reachable, turned
from livefacts.engine.queries.pattern_join import IdPattern, Slot, planned, run
from livefacts.engine.queries.query_bounds import Bounds
from livefacts.engine.queries.query_terms import QueryTerms
from livefacts.engine.queries.solution_joins import joined
from livefacts.engine.queries.solutions import EMPTY_ROW, UNBOUND, Flags, Ids, Solutions, together
from livefacts.language.algebra import (
    Alternative,
    Basic,
    InversePath,
    NoneOf,
    Path,
    PredicatePath,
    Repeated,
    TripleTerm,
)
from livefacts.language.algebra import Sequence as PathSequence
from livefacts.language.formula import TripleAtom, Variable
from livefacts.store.versions.snapshots import Snapshot
from livefacts.store.versions.sorted_orders import PSO

Pieces: TypeAlias = Iterator[Solutions]
Names: TypeAlias = frozenset[str]
ONE_OR_MORE, ZERO_OR_MORE, ZERO_OR_ONE = "+", "*", "?"


class PathPattern(NamedTuple):
    """A path that is not a triple pattern, with an id or a name at each end."""

    subject: Slot
    path: Path
    object: Slot

    @property
    def slots(self) -> tuple[Slot, Slot]:
        return self.subject, self.object


class NestedTerm(NamedTuple):
    """A variable that stands for a triple term with variables in it."""

    name: str
    slots: tuple[Slot, ...]


class BasicPatterns:
    """Evaluates basic graph patterns over one version of the facts."""

    def __init__(self, terms: QueryTerms, bounds: Bounds) -> None:
        self._terms = terms
        self._bounds = bounds
        self._fresh = count()

    def pieces(
        self,
        pattern: Basic,
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
        *,
        first_only: bool = False,
    ) -> Pieces:
        """Given rows with the matches of a pattern; with `first_only`, some match for each row."""
        triples, paths, nested = self._parts(pattern)
        if not paths and not nested:
            yield from self._join(triples, given, needed, snapshot, first_only)
            return
        known = set(given.columns)
        early = [
            each for each in paths if any(isinstance(s, int) or s in known for s in each.slots)
        ]
        late = [each for each in paths if each not in early]
        stages: list[list[IdPattern] | PathPattern | NestedTerm]
        stages = [*early, *([triples] if triples else []), *late, *nested]
        yield from self._staged(stages, given, needed, snapshot)

    # what a pattern consists of

    def _parts(self, pattern: Basic) -> tuple[list[IdPattern], list[PathPattern], list[NestedTerm]]:
        triples: list[IdPattern] = []
        paths: list[PathPattern] = []
        nested: list[NestedTerm] = []
        for atom in pattern.atoms:
            if isinstance(atom, TripleAtom):
                first, second, third = (self._slot(slot, nested) for slot in atom.slots)
                triples.append((first, second, third))
            else:
                ends = self._slot(atom.subject, nested), self._slot(atom.object, nested)
                self._take_path(ends[0], atom.path, ends[1], triples, paths)
        return triples, paths, nested

    def _slot(self, slot: object, nested: list[NestedTerm]) -> Slot:
        if isinstance(slot, Variable):
            return slot.name
        if isinstance(slot, TripleTerm):
            name = self._new_name()
            nested.append(NestedTerm(name, tuple(self._slot(part, nested) for part in slot.slots)))
            return name
        return self._terms.encode_one(slot)  # type: ignore[arg-type]

    def _new_name(self) -> str:
        return f"#{next(self._fresh)}"

    def _take_path(
        self,
        subject: Slot,
        path: Path,
        value: Slot,
        triples: list[IdPattern],
        paths: list[PathPattern],
    ) -> None:
        """Take a path apart into triple patterns, and what is none."""
        match path:
            case PredicatePath():
                triples.append((subject, self._terms.encode_one(path.predicate), value))
            case InversePath():
                self._take_path(value, path.path, subject, triples, paths)
            case PathSequence():
                middles = [self._new_name() for _ in path.paths[1:]]
                ends = [subject, *middles, value]
                for part, first, last in zip(path.paths, ends, ends[1:], strict=False):
                    self._take_path(first, part, last, triples, paths)
            case _:
                paths.append(PathPattern(subject, path, value))

    # stages

    def _staged(
        self,
        stages: Sequence[list[IdPattern] | PathPattern | NestedTerm],
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
    ) -> Pieces:
        if not stages:
            yield given.only(needed)
            return
        stage, *rest = stages
        later = needed | {name for each in rest for name in _names_of(each)}
        if isinstance(stage, list):
            pieces = self._join(stage, given, later, snapshot, first_only=False)
        elif isinstance(stage, NestedTerm):
            pieces = iter([self._unnested(stage, given, later)])
        else:
            pieces = self._path(stage, given, later, snapshot)
        for piece in pieces:
            if piece.count:
                yield from self._staged(rest, piece, needed, snapshot)

    def _join(
        self,
        patterns: Sequence[IdPattern],
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
        first_only: bool,
    ) -> Pieces:
        """Given rows with the matches of triple patterns."""
        if not patterns:
            yield given.only(needed)
            return
        slots = {slot for each in patterns for slot in each}
        if any(isinstance(slot, int) and slot < 0 for slot in slots):
            return
        known = [name for name in given.columns if name in slots]
        for rows, bound in _by_bound_names(given, known):
            wanted = (needed & slots) - set(bound)
            rest = EXIST if first_only else COUNT
            plan = planned(snapshot, patterns, bound, () if first_only else wanted, rest)
            columns = [rows.columns[name] for name in bound]
            kept = rows.only(needed)
            found = run(
                plan,
                snapshot,
                columns,
                rows.count,
                first_only=first_only,
                pause=self._bounds.pause,
            )
            for piece in found:
                more = dict(zip(plan.program.shown, piece.columns, strict=True))
                matched = kept.at(piece.rows)
                yield Solutions(matched.count, {**matched.columns, **more}, matched.counts).times(
                    piece.counts
                )

    def _unnested(self, term: NestedTerm, given: Solutions, needed: Names) -> Solutions:
        """The rows whose triple term has parts that fit."""
        rows = given
        ids, places = np.unique(rows.column(term.name), return_inverse=True)
        terms = self._terms.decode(ids)
        fits = np.array([hasattr(each, "subject") for each in terms], np.bool_)
        parts = [
            [getattr(each, name) if fit else None for each, fit in zip(terms, fits, strict=True)]
            for name in ("subject", "predicate", "object")
        ]
        keep: Flags = fits[places]
        for slot, column in zip(term.slots, parts, strict=True):
            values = self._terms.encode(column)[places]
            if isinstance(slot, int):
                keep = keep & (values == slot)
            else:
                before = rows.column(slot)
                keep = keep & ((before == values) | (before == UNBOUND))
                rows = rows.with_column(slot, values)
        return rows.at(keep).only(needed)

    # paths

    def _path(
        self, path: PathPattern, given: Solutions, needed: Names, snapshot: Snapshot
    ) -> Pieces:
        match path.path:
            case Alternative():
                for each in path.path.paths:
                    atoms = self._taken(PathPattern(path.subject, each, path.object))
                    yield from self._staged(atoms, given, needed, snapshot)
            case NoneOf():
                yield from self._other_predicates(path, path.path, given, needed, snapshot)
            case Repeated():
                pairs = self._repeated(path, _once_repeated(path.path), given, snapshot)
                found = joined(given, pairs, pause=self._bounds.pause, room=self._bounds.room)
                yield found.only(needed)
            case _:
                yield from self._staged(self._taken(path), given, needed, snapshot)

    def _taken(self, path: PathPattern) -> list[list[IdPattern] | PathPattern | NestedTerm]:
        triples: list[IdPattern] = []
        paths: list[PathPattern] = []
        self._take_path(*path, triples, paths)
        return [*([triples] if triples else []), *paths]

    def _other_predicates(
        self,
        path: PathPattern,
        none_of: NoneOf,
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
    ) -> Pieces:
        name = self._new_name()
        excluded = self._terms.encode(none_of.predicates)
        pattern = (path.subject, name, path.object)
        for piece in self._join([pattern], given, needed | {name}, snapshot, first_only=False):
            yield piece.at(~np.isin(piece.columns[name], excluded)).only(needed)

    def _repeated(
        self, path: PathPattern, repeated: Repeated, given: Solutions, snapshot: Snapshot
    ) -> Solutions:
        """The pairs that a repeated path connects, each once, of those that can matter."""
        subjects, objects = (self._known_end(slot, given, path, snapshot) for slot in path.slots)
        links = links_of(repeated.path, self._terms.encode_one)
        searched = snapshot
        if links is None:
            searched, links = self._held(repeated.path, snapshot), [(PSO, HELD)]
        if subjects is None and objects is not None:
            ends, starts = self._from(objects, turned(links), repeated.mark, searched)
        else:
            if subjects is None:
                subjects = self._all_starts(repeated, links, snapshot, searched)
            starts, ends = self._from(subjects, links, repeated.mark, searched)
        return _pairs(path, starts, ends)

    def _known_end(
        self, slot: Slot, given: Solutions, path: PathPattern, snapshot: Snapshot
    ) -> Ids | None:
        """The terms at one end of a path, if they are known.

        A path of no steps leads from a constant to itself, and else from the nodes of the graph.
        """
        if isinstance(slot, int):
            return np.array([slot], np.int32)
        if not given.is_certain(slot):
            return None
        known = np.unique(given.columns[slot])
        is_fixed = any(isinstance(each, int) for each in path.slots)
        return known if is_fixed else known[snapshot.are_nodes(known)]

    def _held(self, path: Path, snapshot: Snapshot) -> Snapshot:
        """The pairs that a path connects, to be searched."""
        first, last = self._new_name(), self._new_name()
        stages = self._taken(PathPattern(first, path, last))
        found = together(list(self._staged(stages, EMPTY_ROW, frozenset([first, last]), snapshot)))
        return as_triples((found.column(first), found.column(last)))

    def _all_starts(
        self, repeated: Repeated, links: Sequence[Link], snapshot: Snapshot, searched: Snapshot
    ) -> Ids:
        """Where a path can begin if neither of its ends is known: anywhere, if it may be empty."""
        if repeated.mark != ONE_OR_MORE:
            return snapshot.nodes()
        firsts = [searched.firsts(order, predicate) for order, predicate in links]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *firsts]))

    def _from(
        self, starts: Ids, links: Sequence[Link], mark: str, snapshot: Snapshot
    ) -> tuple[Ids, Ids]:
        """Where paths lead from their starts."""
        if mark == ZERO_OR_ONE:
            numbers, nodes = self._one_step(starts, links, snapshot)
        else:
            numbers, nodes = reachable(
                snapshot,
                links,
                starts,
                self._terms.numbers,
                self._bounds.pause,
                self._bounds.room,
            )
        firsts = starts[numbers]
        if mark == ONE_OR_MORE:
            return firsts, nodes
        others = firsts != nodes
        return (
            np.concatenate([starts, firsts[others]]),
            np.concatenate([starts, nodes[others]]),
        )

    def _one_step(self, starts: Ids, links: Sequence[Link], snapshot: Snapshot) -> tuple[Ids, Ids]:
        """The number of each start with every node that a single step leads to, each pair once."""
        found = [np.zeros((0, 2), np.int32)]
        for order, predicate in links:
            ends = ("start", predicate, "end") if order == PSO else ("end", predicate, "start")
            given = Solutions(
                len(starts), {"start": starts, "#": np.arange(len(starts), dtype=np.int32)}
            )
            for piece in self._join([ends], given, frozenset(["#", "end"]), snapshot, False):
                found.append(np.column_stack([piece.columns["#"], piece.columns["end"]]))
        pairs = np.unique(np.concatenate(found), axis=0)
        return pairs[:, 0], pairs[:, 1]


def _once_repeated(path: Repeated) -> Repeated:
    """A path that repeats what is repeated, without the inner marks: `((p)+)?` is `p*`."""
    while isinstance(path.path, Repeated):
        inner = path.path
        path = Repeated(inner.path, path.mark if inner.mark == path.mark else ZERO_OR_MORE)
    return path


def _pairs(path: PathPattern, starts: Ids, ends: Ids) -> Solutions:
    """Pairs as rows of the variables at the ends of a path."""
    fits = np.ones(len(starts), np.bool_)
    columns: dict[str, Ids] = {}
    for slot, column in zip(path.slots, (starts, ends), strict=True):
        if isinstance(slot, int):
            fits &= column == slot
        elif slot in columns:
            fits &= columns[slot] == column
        else:
            columns[slot] = column
    return Solutions(len(starts), columns).at(fits)


def _names_of(stage: list[IdPattern] | PathPattern | NestedTerm) -> set[str]:
    if isinstance(stage, list):
        return {slot for each in stage for slot in each if isinstance(slot, str)}
    names = {slot for slot in stage.slots if isinstance(slot, str)}
    return names | {stage.name} if isinstance(stage, NestedTerm) else names


def _by_bound_names(
    given: Solutions, names: Sequence[str]
) -> Iterator[tuple[Solutions, tuple[str, ...]]]:
    """The given rows, apart by which of some variables have a value in them."""
    if all(given.is_certain(name) for name in names):
        yield given, tuple(names)
        return
    bound = np.column_stack([given.columns[name] != UNBOUND for name in names])
    kinds, places = np.unique(bound, axis=0, return_inverse=True)
    for number, kind in enumerate(kinds):
        yield (
            given.at(np.flatnonzero(places.reshape(-1) == number)),
            tuple(name for name, is_bound in zip(names, kind, strict=True) if is_bound),
        )
