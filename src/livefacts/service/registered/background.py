"""The background: what is asserted for all time, as the worlds of registered queries see it.

A world has no more of it than its rules and queries look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pyoxigraph import NamedNode, Quad

from livefacts.engine.contract import IN_DEFAULT, TRIPLES, Engine, Facts, Flags, Ids
from livefacts.language.checks.strata import body_atoms
from livefacts.language.formula import Atom, Family, family_of
from livefacts.language.program import Rule
from livefacts.service.streams.window_contents import Choice
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.facts.selection import KnownNames

OWN = ":"
"""What is in the names of predicates that no rule text can write, and in no others."""


class Background:
    """What a reasoner asserts for all time, or what some of its named graphs alone assert."""

    def __init__(
        self,
        engine: Engine,
        graphs: NamedGraphs,
        names: Iterable[str] = (),
        is_alone: Callable[[], bool] = lambda: False,
    ) -> None:
        self.engine = engine
        self._graphs = graphs
        self._is_alone = is_alone
        self._written = KnownNames(engine.dictionary, lambda name: OWN not in name)
        self._wanted = [engine.dictionary.encode_one(NamedNode(name)) for name in names]

    def narrowed(self, graphs: tuple[str, ...]) -> Background:
        """What these named graphs alone assert; everything, if there are none."""
        return Background(self.engine, self._graphs, graphs) if graphs else self

    def facts(self) -> Facts:
        """All of it."""
        if self._wanted:
            quads = self._graphs.quads()
            return {TRIPLES: np.unique(quads[np.isin(quads[:, 3], self._wanted)][:, :3], axis=0)}
        found: dict[int, Ids] = {}
        for shape in self.engine.shapes():
            ids = self.engine.rows(shape, False, self._written)
            if len(ids):
                ids = ids[self.holds(shape, ids)]
            if len(ids):
                found[shape] = ids
        return found

    @property
    def is_known(self) -> bool:
        """Whether the reasoner concludes from this alone: it has all of it, and nothing of streams."""
        return not self._wanted and self._is_alone()

    def concluded(self) -> Facts:
        """What the reasoner has concluded, and nothing asserts."""
        found: dict[int, Ids] = {}
        for shape in self.engine.shapes():
            ids = self.engine.rows(shape, None, self._written)
            found[shape] = ids[~self.holds(shape, ids)]
        return found

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are part of it."""
        if self._wanted:
            asserted = np.zeros(len(ids), np.bool_)
            for graph in self._wanted if shape == TRIPLES and len(ids) else ():
                asserted |= self._graphs.asserts(graph, ids)
            return asserted
        told: Flags = self.engine.standing(shape, ids) & IN_DEFAULT != 0
        if shape == TRIPLES and len(self._graphs):
            told |= self._graphs.others(ids, ids[:0])
        return told

    def conclusions(self) -> int:
        """How many conclusions the reasoner has drawn from it, or more: some come from streams."""
        return sum(map(len, self.engine.derived().values()))

    def graph_names(self) -> set[str]:
        """The named graphs that assert something."""
        if not len(self._graphs):
            return set()
        names = np.unique(self._graphs.quads()[:, 3])
        return {name.value for name in self.engine.dictionary.decode(names)}  # type: ignore[union-attr]

    def quads(self) -> Iterator[Quad]:
        """What named graphs assert, of which it may be a part."""
        return self.decoded(self._graphs.quads())

    def decoded(self, quads: Ids) -> Iterator[Quad]:
        """Quads of ids as terms."""
        for row in quads:
            yield Quad(*self.engine.dictionary.decode(row))  # type: ignore[arg-type]


@dataclass(frozen=True)
class BackgroundPart:
    """What the rules and queries of one world look at."""

    whole: Background
    families: frozenset[Family] | None = frozenset()
    """What it is about; None for all of it."""

    @property
    def is_known(self) -> bool:
        """Whether the reasoner has concluded all that follows, and nothing of it is here yet."""
        return self.families == frozenset() and self.whole.is_known

    @cached_property
    def _choice(self) -> Choice:
        families = ((family, 0) for family in self.families or ())
        return Choice(families, self.whole.engine.dictionary)

    def _chooses(self, shape: int, ids: Ids) -> Flags:
        return np.ones(len(ids), np.bool_) if self.families is None else self._choice(shape, ids)

    def holds(self, shape: int, ids: Ids) -> Flags:
        """Which of these facts are part of it."""
        flags: Flags = self._chooses(shape, ids) & self.whole.holds(shape, ids)
        return flags

    def widened(
        self, rules: Iterable[Rule], asked: Iterable[Atom] | None
    ) -> tuple[BackgroundPart, Facts]:
        """What these look at, too, or all of it, if that is None; and the facts that this adds."""
        if self.families is None:
            return self, {}
        read = [atom for rule in rules for atom, _ in body_atoms(rule.body)]
        families = None if asked is None else self.families.union(map(family_of, (*asked, *read)))
        if families == self.families:
            return self, {}
        part, added = BackgroundPart(self.whole, families), dict[int, Ids]()
        for shape, ids in self.whole.facts().items():
            new = ids[part._chooses(shape, ids) & ~self._chooses(shape, ids)]
            if len(new):
                added[shape] = new
        return part, added

    def concluded(self) -> Facts:
        """Of what these look at, what the reasoner has concluded."""
        whole = self.whole.concluded().items()
        found = {shape: ids[self._chooses(shape, ids)] for shape, ids in whole if len(ids)}
        return {shape: ids for shape, ids in found.items() if len(ids)}
