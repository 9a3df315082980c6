"""Basic graph patterns: triple patterns joined at once, and property paths around them.

All of the triple patterns are one stage, each path is one; what one stage finds the next is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from livefacts.engine.queries.basic_parts import (
    BasicParts,
    NestedTerm,
    Numbered,
    PartReader,
    PathPattern,
    names_of,
)
from livefacts.engine.queries.bounds import Bounds
from livefacts.engine.queries.joins.leapfrog import COUNT, EXIST
from livefacts.engine.queries.joins.step_tables import JoinPiece, Slot, run
from livefacts.engine.queries.joins.variable_order import IdPattern, join_shape, lifted
from livefacts.engine.queries.local_terms import QueryTerms
from livefacts.engine.queries.paths.links import (
    HELD,
    Link,
    as_triples,
    links_of,
    reachable,
    turned,
)
from livefacts.engine.queries.run_notes import QueryNotes
from livefacts.engine.queries.solution_joins import joined
from livefacts.engine.queries.solutions import EMPTY_ROW, UNBOUND, Flags, Ids, Solutions, together
from livefacts.language.algebra import (
    Alternative,
    Basic,
    NoneOf,
    Path,
    Repeated,
)
from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.versions.snapshots import Snapshot
from livefacts.store.versions.sorted_orders import PSO

Pieces: TypeAlias = Iterator[Solutions]
Names: TypeAlias = frozenset[str]
ONE_OR_MORE, ZERO_OR_ONE = "+", "?"


class BasicPatterns:
    """Evaluates basic graph patterns over one version of the facts."""

    def __init__(self, terms: QueryTerms, bounds: Bounds, notes: QueryNotes) -> None:
        self._terms = terms
        self._bounds = bounds
        self._notes = notes
        self._parts: dict[int, BasicParts] = {}

    @cached_property
    def _reader(self) -> PartReader:
        return PartReader(self._terms.encode_one)

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
        lifted = pattern.lifted
        if lifted is not None:
            constants = [self._terms.encode_one(each) for each in lifted.constants]
            return self._match(
                lifted.patterns, constants, given, needed, snapshot, first_only, id(pattern)
            )
        parts = self._parts.get(id(pattern))
        if parts is None:
            parts = self._parts[id(pattern)] = self._reader.parts(pattern)
        return self._staged(parts.stages(given.columns), given, needed, snapshot, id(pattern))

    # stages

    def _staged(
        self,
        stages: Sequence[Numbered],
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
        noted: int | None = None,
    ) -> Pieces:
        """One stage after the other; `noted` is the pattern that they are the stages of."""
        if not stages:
            yield given.only(needed)
            return
        (number, stage), *rest = stages
        later = needed | {name for _, each in rest for name in names_of(each)}
        if isinstance(stage, list):
            pieces = self._join(stage, given, later, snapshot, noted)
        elif isinstance(stage, NestedTerm):
            pieces = iter([self._unnested(stage, given, later)])
        else:
            pieces = self._path(stage, given, later, snapshot)
        if noted is not None:
            pieces = self._notes.follow((noted, number), pieces)
        for piece in pieces:
            if piece.count:
                yield from self._staged(rest, piece, needed, snapshot, noted)

    def _join(
        self,
        patterns: Sequence[IdPattern],
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
        noted: int | None = None,
    ) -> Pieces:
        """Given rows with the matches of triple patterns."""
        return self._match(
            *lifted(patterns), given, needed, snapshot, first_only=False, noted=noted
        )

    def _match(
        self,
        patterns: Sequence[IdPattern],
        constants: Sequence[int],
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
        first_only: bool,
        noted: int | None,
    ) -> Pieces:
        """Given rows with the matches of triple patterns whose constants are apart."""
        if not patterns:
            yield given.only(needed)
            return
        if constants and min(constants) < 0:
            return
        names = {slot for slots in patterns for slot in slots}
        known = [name for name in given.columns if name in names]
        for rows, bound in _by_bound_names(given, known):
            wanted = frozenset() if first_only else frozenset(needed & names).difference(bound)
            shape = join_shape(patterns, bound, wanted, EXIST if first_only else COUNT)
            plan = shape.planned(snapshot, constants)
            columns = [rows.columns[name] for name in bound]
            found = run(
                plan,
                snapshot,
                columns,
                rows.count,
                first_only=first_only,
                pause=self._bounds.pause,
                noted=None if noted is None else self._notes.joins.setdefault(noted, {}),
            )
            kept = rows.only(needed)
            for piece in found:
                yield _with_matches(kept, plan.program.shown, piece)

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
                    atoms = self._reader.stages(PathPattern(path.subject, each, path.object))
                    yield from self._staged(atoms, given, needed, snapshot)
            case NoneOf():
                yield from self._other_predicates(path, path.path, given, needed, snapshot)
            case Repeated():
                pairs = self._repeated(path, path.path, given, snapshot)
                found = joined(given, pairs, pause=self._bounds.pause, room=self._bounds.room)
                yield found.only(needed)
            case _:
                yield from self._staged(self._reader.stages(path), given, needed, snapshot)

    def _other_predicates(
        self,
        path: PathPattern,
        none_of: NoneOf,
        given: Solutions,
        needed: Names,
        snapshot: Snapshot,
    ) -> Pieces:
        name = self._reader.new_name()
        excluded = self._terms.encode(none_of.predicates)
        pattern = (path.subject, name, path.object)
        for piece in self._join([pattern], given, needed | {name}, snapshot):
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
        known = distinct_ids(given.columns[slot])
        is_fixed = any(isinstance(each, int) for each in path.slots)
        return known if is_fixed else known[snapshot.are_nodes(known)]

    def _held(self, path: Path, snapshot: Snapshot) -> Snapshot:
        """The pairs that a path connects, to be searched."""
        first, last = self._reader.new_name(), self._reader.new_name()
        stages = self._reader.stages(PathPattern(first, path, last))
        found = together(list(self._staged(stages, EMPTY_ROW, frozenset([first, last]), snapshot)))
        return as_triples((found.column(first), found.column(last)))

    def _all_starts(
        self, repeated: Repeated, links: Sequence[Link], snapshot: Snapshot, searched: Snapshot
    ) -> Ids:
        """Where a path can begin if neither of its ends is known: anywhere, if it may be empty."""
        if repeated.mark != ONE_OR_MORE:
            return snapshot.nodes()
        firsts = [searched.firsts(order, predicate) for order, predicate in links]
        return distinct_ids(np.concatenate([np.zeros(0, np.int32), *firsts]))

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
            for piece in self._join([ends], given, frozenset(["#", "end"]), snapshot):
                found.append(np.column_stack([piece.columns["#"], piece.columns["end"]]))
        pairs = np.unique(np.concatenate(found), axis=0)
        return pairs[:, 0], pairs[:, 1]


def _with_matches(given: Solutions, names: Sequence[str], piece: JoinPiece) -> Solutions:
    """Given rows, each with its matches in a piece."""
    more = dict(zip(names, piece.columns, strict=True))
    if not given.columns and given.counts is None:
        return Solutions(len(piece.rows), more, piece.counts)
    matched = given.at(piece.rows)
    return Solutions(matched.count, {**matched.columns, **more}, matched.counts).times(piece.counts)


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
