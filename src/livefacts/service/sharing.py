"""Shared worlds: queries over the same windows have one world, which runs what one of them needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.needed import needed_rules
from livefacts.rules.program import Program, Rule
from livefacts.rules.query import BasicQuery
from livefacts.service.answering import FollowedAnswers
from livefacts.service.streamlog import StreamLog
from livefacts.service.windowing import Extent
from livefacts.service.worlds import Background, EngineWorld
from livefacts.store.dictionary import Dictionary

ANY_TRIPLE = TripleAtom(Variable("s"), Variable("p"), Variable("o"))


@dataclass(frozen=True, slots=True)
class Needs:
    """What a query asks of its world: the atoms it looks up, and a rule that finds its answers."""

    atoms: tuple[TripleAtom, ...] = (ANY_TRIPLE,)
    rule: Rule | None = None
    full: bool = False
    """Whether all rules are wanted, not only those that can matter."""


@dataclass(slots=True)
class SharedWorld:
    """A world and the queries that share it."""

    world: EngineWorld
    needs: dict[int, Needs] = field(default_factory=dict)
    """By the numbers of the queries."""
    rules: tuple[Rule, ...] = ()
    followed: dict[BasicQuery, FollowedAnswers] = field(default_factory=dict)
    """Answers that queries of the same body, which report all of them, have in common."""

    def forget_answers(self) -> None:
        """Follow no answers that no query has any more."""
        needed = {need.rule for need in self.needs.values()}
        for body, answers in list(self.followed.items()):
            if answers.rule not in needed:
                self.world.unfollow(answers.follow)
                del self.followed[body]


class SharedWorlds:
    """All worlds of a reasoner's registered queries."""

    def __init__(
        self,
        dictionary: Dictionary,
        background: Background,
        program: Program,
        logs: dict[str, StreamLog],
    ) -> None:
        self._dictionary = dictionary
        self._background = background
        self.program = program
        self.logs = logs
        self._worlds: dict[tuple[Extent, ...], SharedWorld] = {}

    def __iter__(self) -> Iterator[EngineWorld]:
        return (shared.world for shared in self._worlds.values())

    def extents(self) -> Iterator[Extent]:
        """The windows of all worlds."""
        return (extent for key in self._worlds for extent in key)

    def log(self, stream: str) -> StreamLog:
        """What has arrived on a stream."""
        return self.logs.setdefault(stream, StreamLog())

    def world_of(self, extents: Sequence[Extent]) -> SharedWorld:
        """The world of these windows, made if it is not there."""
        key = tuple(sorted(set(extents)))
        if key not in self._worlds:
            windows = [(extent, self.log(extent.stream)) for extent in key]
            world = EngineWorld(self._dictionary, self._background, windows, self.program.limit)
            world.fill()
            self._worlds[key] = SharedWorld(world)
        return self._worlds[key]

    def need(self, shared: SharedWorld, number: int, needs: Needs) -> None:
        """A query needs this of its world."""
        shared.needs[number] = needs
        self._require(shared)

    def release(self, number: int) -> None:
        """A query needs nothing any more."""
        for key, shared in list(self._worlds.items()):
            needed = shared.needs.pop(number, None)
            shared.forget_answers()
            if not shared.needs:
                del self._worlds[key]
            elif needed is not None:
                self._require(shared)

    def change_rules(self, program: Program) -> None:
        """The rules have changed."""
        before, self.program = self.program, program
        if before.rules != program.rules:
            for shared in self._worlds.values():
                self._require(shared)

    def _require(self, shared: SharedWorld) -> None:
        """Let the rules run that some query of this world needs."""
        needs = shared.needs.values()
        if any(need.full for need in needs):
            rules = tuple(rule for rule in self.program.rules if not rule.is_constraint)
        else:
            atoms = [atom for need in needs for atom in need.atoms]
            rules = needed_rules(self.program.rules, atoms)
        answers = dict.fromkeys(need.rule for need in needs if need.rule is not None)
        shared.world.require([*rules, *answers])
        shared.rules = rules
