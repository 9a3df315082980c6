"""Shared worlds: queries over the same streams have one state, or one world, in common.

Where the rules that a query needs are positive, all windows over a stream read one state,
whatever their lengths.  Every other query has a world of its windows, which it shares with
queries over the very same ones.

Where too much is derived in a world that several queries share, they part: first by the
rules that they need, then each from all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from pyoxigraph import NamedNode

from livefacts.engine.contract import Ids
from livefacts.errors import LimitError
from livefacts.language.checks.relevance import RulesByHead
from livefacts.language.formula import Atom, TripleAtom, Variable
from livefacts.language.graph_pattern import BasicQuery
from livefacts.language.program import Program, Rule
from livefacts.language.windows import Extent, TimeExtent
from livefacts.model.durations import Duration
from livefacts.model.facts import Symbol
from livefacts.plan.rules.unfolding import MatchWay, negating_rules, ways_to
from livefacts.plan.time_lowering import looks_at_time
from livefacts.service.registered.background import Background
from livefacts.service.registered.stream_state import (
    Offsets,
    StreamState,
    WindowView,
    offsets_of,
    stream_of,
)
from livefacts.service.registered.timed_matches import KeptMatches
from livefacts.service.registered.world import FollowedWorld, World
from livefacts.service.streams.arrival_log import ArrivalChunk, ArrivalLog, ArrivalView
from livefacts.service.streams.fact_rows import Rows
from livefacts.service.streams.timeline import NO_STREAM, name_of_stream
from livefacts.service.streams.window_contents import (
    FAR,
    Contents,
    LatestContents,
    TimeContents,
    contents_of,
)
from livefacts.store.terms.dictionary import Dictionary

Graphs = tuple[str, ...]
"""The named graphs that a query takes its background from; none means all that is asserted."""
Place = TypeVar("Place", bound=FollowedWorld[Any])
ANY_TRIPLE = TripleAtom(Variable("s"), Variable("p"), Variable("o"))


@dataclass(frozen=True, slots=True)
class Needs:
    """What a query asks of its world: the atoms it looks up, and rules that find its answers."""

    atoms: tuple[Atom, ...] = (ANY_TRIPLE,)
    rules: tuple[Rule, ...] = ()
    full: bool = False
    """Whether all rules are wanted, not only those that can matter."""
    goal: MatchWay | None = None
    """What is looked for, if its matches can be followed by rules."""
    ways: tuple[MatchWay, ...] = ()
    """How it is found where rules that negate are not followed."""


@dataclass(frozen=True, slots=True)
class PartedQueries:
    """Queries that no longer share a world with others; those of the same rules, or one alone."""

    rules: tuple[str, ...]
    number: int | None
    replaced: int = field(compare=False)
    """How many conclusions the world had that they shared before."""


@dataclass(slots=True)
class Shared(Generic[Place]):
    """A world or a state, and the queries that share it."""

    place: Place
    """Where facts are."""
    needs: dict[int, Needs] = field(default_factory=dict)
    """By the numbers of the queries."""
    kept: dict[BasicQuery, KeptMatches] = field(default_factory=dict)
    """Matches that queries of the same body have in common, in a state."""
    views: dict[int, WindowView] = field(default_factory=dict)
    """The windows of each query, of a state."""

    def keep(self, body: BasicQuery, kept: KeptMatches) -> None:
        """Something is in step with the place from now on."""
        self.kept[body] = kept
        self.place.follow(kept.follow)

    def release(self, number: int) -> bool:
        """A query is gone; whether it was one of these."""
        was_here = self.needs.pop(number, None) is not None
        self.views.pop(number, None)
        needed = {rule for need in self.needs.values() for rule in need.rules}
        for body, kept in list(self.kept.items()):
            if needed.isdisjoint(kept.rules):
                self.place.unfollow(kept.follow)
                del self.kept[body]
        return was_here


SharedWorld: TypeAlias = Shared[World]
SharedState: TypeAlias = Shared[StreamState]
AnyShared: TypeAlias = SharedWorld | SharedState


class SharedWorlds:
    """All states and worlds of a reasoner's registered queries."""

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        program: Program,
        log: ArrivalLog,
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self._program = program
        self._sort_rules()
        self.log = log
        self.tick: Duration | None = None
        self._limit: int | None = None
        self._parts: dict[int, PartedQueries] = {}
        """The queries that have parted from others, by number."""
        self._worlds: dict[
            tuple[Graphs, tuple[Extent, ...], PartedQueries | None], SharedWorld
        ] = {}
        self._states: dict[tuple[Graphs, Offsets, PartedQueries | None], SharedState] = {}

    def lane(self, stream: str) -> int:
        """Where the log has what arrives on a stream; what a query makes for it is at `~` of it."""
        term = NamedNode(stream) if ":" in stream else Symbol(NO_STREAM.name + stream)
        return int(self._dictionary.encode_one(term))

    def name(self, lane: int) -> str:
        """The stream of a lane."""
        return name_of_stream(self._dictionary.decode_one(lane if lane >= 0 else ~lane))

    def view(self, streams: Iterable[NamedNode | None]) -> ArrivalView:
        """What somebody sees who reads these streams."""
        made = {self.lane(stream.value) for stream in streams if stream is not None}
        return ArrivalView(self.log, None, made)

    def stream(self, name: str) -> ArrivalView:
        """What has arrived on a stream, pushed or made."""
        lane = self.lane(name)
        return ArrivalView(self.log, lane, {lane})

    @property
    def program(self) -> Program:
        """The rules that may matter."""
        return self._program

    @program.setter
    def program(self, program: Program) -> None:
        before, self._program = self._program, program
        if program.rules != before.rules:
            self._sort_rules()

    def _sort_rules(self) -> None:
        rules = self._program.rules
        self._negating = frozenset(negating_rules(rules))
        """The rules that no state follows."""
        self._every_rule = RulesByHead(rules)
        self._positive = RulesByHead(rule for rule in rules if rule not in self._negating)

    @property
    def limit(self) -> int | None:
        """The largest number of facts that a change of one of them may derive."""
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        if limit != self._limit:
            self._limit = limit
            for world in self:
                world.limit = limit

    # who needs what

    def world_of(self, extents: Sequence[Extent], graphs: Graphs, number: int) -> SharedWorld:
        """The world of these windows, made if it is not there."""
        distinct, part = tuple(sorted(set(extents), key=str)), self._parts.get(number)
        key = graphs, distinct, part
        if key not in self._worlds:
            background = self._background.narrowed(graphs)
            view = self.view(extent.stream for extent in distinct)
            replaced = None if part is None else part.replaced
            about = self.program, self.tick, self._limit, replaced
            world = World(self._dictionary, background, distinct, view, *about)
            self._worlds[key] = Shared(world)
        return self._worlds[key]

    def state_of(self, extents: Sequence[Extent], graphs: Graphs, number: int) -> SharedState:
        """The state of these streams, made if it is not there, with a view for a query."""
        by_time = [extent for extent in extents if isinstance(extent, TimeExtent)]
        offsets, reach = offsets_of(by_time)
        seen = {stream: self.stream(stream.value) for stream, _ in offsets}
        part = self._parts.get(number)
        key = graphs, offsets, part
        if key not in self._states:
            streams = [(offset, seen[stream]) for stream, offset in offsets]
            replaced = None if part is None else part.replaced
            background = self._background.narrowed(graphs)
            state = StreamState(self._dictionary, background, streams, self._limit, replaced)
            self._states[key] = Shared(state)
        shared = self._states[key]
        shared.place.reach_back(reach)
        windows = [TimeContents(extent, seen[stream_of(extent)]) for extent in by_time]
        shared.views[number] = WindowView(shared.place, windows, offsets, reach)
        return shared

    def contents(self, extent: Extent) -> Contents:
        """What a window of a query has inside."""
        return contents_of(extent, self._view_of(extent), self._dictionary)

    def _view_of(self, extent: Extent) -> ArrivalView:
        return self.stream("" if extent.stream is None else extent.stream.value)

    def lasting(self, extents: Sequence[Extent], every: int, needs: Needs) -> Needs | None:
        """What a query asks of a state, if it can be answered from one.

        Its windows move whenever it reports, and its rules are positive, or can be left out.
        """
        moves = all(
            isinstance(extent, TimeExtent) and not extent.newer and every % extent.step == 0
            for extent in extents
        )
        return self._lasting(needs) if moves and extents else None

    def _lasting(self, needs: Needs) -> Needs | None:
        goal = needs.goal
        if goal is not None:
            needs = replace(needs, atoms=goal.atoms(), ways=(goal,))
        if not self._negating:
            return needs
        negating = [rule for rule in self._needed([needs]) if rule in self._negating]
        if not negating:
            return needs
        ways = None if goal is None or needs.full else ways_to(goal, negating)
        if ways is None:
            return None
        atoms = dict.fromkeys(atom for way in ways for atom in way.atoms())
        return replace(needs, atoms=tuple(atoms), ways=ways)

    def timed_rule(self, needs: Needs) -> Rule | None:
        """A rule that a query needs and that looks at time itself, if there is one."""
        return next(filter(looks_at_time, self._needed([needs])), None)

    def need(self, shared: AnyShared, number: int, needs: Needs) -> None:
        """A query needs this of its world."""
        shared.needs[number] = needs
        self._require(shared)

    def release(self, *numbers: int) -> None:
        """Some queries need nothing any more."""
        for shared in list(self._all()):
            was_here = [shared.release(number) for number in numbers]
            if any(was_here) and shared.needs:
                self._require(shared)
        self._worlds = {key: world for key, world in self._worlds.items() if world.needs}
        self._states = {key: state for key, state in self._states.items() if state.needs}

    def part(self, failed: Iterable[AnyShared]) -> set[int]:
        """The queries of these worlds shall not share them any more; returns their numbers."""
        parted: dict[int, PartedQueries] = {}
        for shared in failed:
            replaced = shared.place.conclusions()
            for number, needs in shared.needs.items():
                rules = tuple(rule.id for rule in self._needed([needs]))
                alone = number if len(shared.needs) == 1 or number in self._parts else None
                parted[number] = PartedQueries(rules, alone, replaced)
        self._parts |= parted
        return set(parted)

    def of(self, number: int) -> list[AnyShared]:
        """The worlds that a query has, the largest last."""
        mine = [shared for shared in self._all() if number in shared.needs]
        return sorted(mine, key=lambda shared: shared.place.conclusions())

    def end(self, number: int) -> None:
        """A query has ended."""
        self.release(number)
        self._parts.pop(number, None)

    def _all(self) -> Iterator[AnyShared]:
        yield from self._worlds.values()
        yield from self._states.values()

    def unlasting(self, program: Program) -> set[int]:
        """The queries whose state or world cannot be kept under the rules of another program."""
        self.program = program
        return {
            number
            for shared in self._states.values()
            for number, needs in shared.needs.items()
            if (lasting := self._lasting(needs)) is None or lasting.ways != needs.ways
        }

    def timed(self) -> set[int]:
        """The queries that have a world and need a rule that looks at time."""
        return {
            number
            for shared in self._worlds.values()
            for number, needs in shared.needs.items()
            if self.timed_rule(needs) is not None
        }

    def change_rules(self) -> list[AnyShared]:
        """The rules have changed; returns the worlds in which that derives too much."""
        return self._each_told(self._require)

    def _each_told(self, tell: Callable[[AnyShared], None]) -> list[AnyShared]:
        """Change all worlds; returns those in which that derives too much."""
        failed = []
        for shared in self._all():
            try:
                tell(shared)
            except LimitError:
                failed.append(shared)
        return failed

    def _require(self, shared: AnyShared) -> None:
        """Let the rules run that some query of this world needs."""
        needs = list(shared.needs.values())
        is_full = True in [need.full for need in needs]
        asked = None if is_full else [atom for need in needs for atom in need.atoms]
        if isinstance(shared.place, World):
            shared.place.require(self._needed(needs), asked)
            return
        answers = dict.fromkeys([rule for need in needs for rule in need.rules])
        rules = self._needed(needs, self._positive)
        is_whole = rules == self._needed(needs)
        shared.place.require(rules, list(answers), asked, is_whole)

    def _needed(self, needs: Sequence[Needs], rules: RulesByHead | None = None) -> tuple[Rule, ...]:
        rules = rules or self._every_rule
        if True in [need.full for need in needs]:
            return rules.rules
        return rules.needed([atom for need in needs for atom in need.atoms])

    def held_ids(self) -> Iterator[Ids]:
        """The ids that states and worlds keep."""
        for world in self:
            yield from world.held_ids()
        for shared in self._states.values():
            for view in shared.views.values():
                yield from view.held_ids()

    # what happens

    def __iter__(self) -> Iterator[World | StreamState]:
        yield from (shared.place for shared in self._all())

    def arrived(self, chunks: Sequence[ArrivalChunk]) -> list[AnyShared]:
        """Facts have come or gone; returns the worlds in which that derives too much."""
        return self._each_told(lambda shared: shared.place.arrived(chunks))

    def background_changed(self, touched: Rows) -> list[AnyShared]:
        """The background may have changed for these facts, and for no others.

        Returns the worlds in which that derives too much.
        """
        return self._each_told(lambda shared: shared.place.background_changed(touched))

    def forget(self, now: int) -> None:
        """Drop what can no longer matter at a time."""
        for shared in self._states.values():
            after = min(view.unneeded(now) for view in shared.views.values())
            shared.place.forget(after)
            for matches in shared.kept.values():
                matches.forget(after)

    def _readers(self) -> Iterator[World | WindowView]:
        yield from (shared.place for shared in self._worlds.values())
        for shared in self._states.values():
            yield from shared.views.values()

    def needed(self, lane: int, oldest: int, unsettled: Iterable[Extent] = ()) -> int:
        """The time from which on arrivals can matter to reports that are not older than one.

        Windows of queries that are to have a world again, `unsettled`, matter, too.
        """
        found = [reader.needed(lane, oldest) for reader in self._readers()]
        for extent in unsettled:
            if isinstance(extent, TimeExtent) and self._view_of(extent).sees(lane):
                found.append(extent.bounds(oldest)[0])
        return min(found, default=FAR)

    def latest(self, unsettled: Iterable[Extent] = ()) -> Iterator[LatestContents]:
        """Windows whose facts are kept by their number."""
        for reader in self._readers():
            yield from reader.latest()
        for extent in unsettled:
            contents = self.contents(extent)
            if isinstance(contents, LatestContents):
                yield contents
